//! The TCP segment of a capture record and the key of its connection.

use std::net::{IpAddr, Ipv6Addr};

use ecnlab_wire::{Ecn, Flags, IpPacket, Seq, TcpHeader, TcpOptions, protocol};

use crate::container::Record;

/// An endpoint: the upper and the lower half of its address, and its port.
type Endpoint = ([u64; 2], u16);

/// Addresses and ports of a connection, identical for both directions: the lesser endpoint comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    low: Endpoint,
    high: Endpoint,
}

impl Key {
    /// Returns the key of a packet, and whether its sender is the first endpoint.
    #[inline]
    pub fn new(source: (IpAddr, u16), destination: (IpAddr, u16)) -> (Key, bool) {
        let [a, b] = [source, destination].map(|(address, port)| (number(address), port));
        if a <= b { (Key { low: a, high: b }, true) } else { (Key { low: b, high: a }, false) }
    }
    /// The two endpoints.
    pub fn endpoints(&self) -> [(IpAddr, u16); 2] {
        [self.low, self.high].map(|(address, port)| (whole(address), port))
    }
    /// Ports and the lower halves of the addresses of both endpoints, combined.
    #[inline]
    pub(crate) fn mixed(&self) -> u32 {
        (u32::from(self.low.1) << 16) ^ u32::from(self.high.1) ^ (self.low.0[1] ^ self.high.0[1]) as u32
    }
    /// Returns a hash: one multiplication suffices, because addresses and ports already differ.
    #[inline]
    pub fn hash64(&self) -> u64 {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let fold = |([upper, lower], port): Endpoint| lower ^ upper ^ (u64::from(port) << 48);
        (fold(self.low).wrapping_mul(ODD).rotate_left(29) ^ fold(self.high)).wrapping_mul(ODD)
    }
}

/// Maps IPv4 addresses to IPv6 (RFC 4291 §2.5.5.2).
#[inline]
fn number(address: IpAddr) -> [u64; 2] {
    match address {
        IpAddr::V4(address) => [0, 0xffff_0000_0000 | u64::from(u32::from(address))],
        IpAddr::V6(address) => [(address.to_bits() >> 64) as u64, address.to_bits() as u64],
    }
}

fn whole([upper, lower]: [u64; 2]) -> IpAddr {
    Ipv6Addr::from_bits(u128::from(upper) << 64 | u128::from(lower)).to_canonical()
}

/// A TCP segment of a capture.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// Packet number in the file.
    pub number: u64,
    /// Capture time in nanoseconds since 1970; if not `timed`, that of the packets before it.
    pub time: u64,
    /// The capture has its time.
    pub timed: bool,
    /// Number of its interface in the file.
    pub interface: u32,
    /// Interface index of Linux in its cooked header (version 2); otherwise `interface`.
    pub device: u32,
    /// Key of its connection.
    pub key: Key,
    /// The key's first endpoint sent it.
    pub from_low: bool,
    /// ECN codepoint.
    pub ecn: Ecn,
    /// IPv4 identification; 0 if the packet has none.
    pub id: u16,
    /// Sequence number.
    pub seq: Seq,
    /// Acknowledgement number.
    pub ack: Seq,
    /// Flags.
    pub flags: Flags,
    /// Window field.
    pub window: u16,
    /// Payload bytes, according to the headers.
    pub len: u32,
    /// The captured option bytes.
    pub options: &'a [u8],
    /// The capture marks it as dropped after this point.
    pub dropped: bool,
}

impl Segment<'_> {
    /// Returns the length in sequence space.
    #[inline]
    pub fn seq_len(&self) -> u32 {
        self.len + u32::from(self.flags.contains(Flags::SYN)) + u32::from(self.flags.contains(Flags::FIN))
    }
    /// Parses its options, except options with only timestamps: most packets have these, and they need no parsing here.
    #[inline]
    pub fn parsed_options(&self) -> TcpOptions {
        match self.options {
            [] | [1, 1, 8, 10, _, _, _, _, _, _, _, _] => TcpOptions::default(),
            options => TcpOptions::parse(options),
        }
    }
}

/// Returns the TCP segment in `ip`, the complete IP packet of `record`; `None` if the packet has another protocol or an
/// invalid TCP header.
#[inline]
pub fn segment<'a>(ip: &IpPacket<'a>, record: &Record<'_>) -> Option<Segment<'a>> {
    if ip.protocol != protocol::TCP {
        return None;
    }
    let (tcp, header_len) = TcpHeader::parse_cut(ip.payload).ok()?;
    let len = ip.payload_len.checked_sub(header_len as u32)?;
    let (key, from_low) = Key::new((ip.source, tcp.source), (ip.destination, tcp.destination));
    Some(Segment {
        number: record.number,
        time: record.time_ns,
        timed: record.timed,
        interface: record.interface,
        device: record.device,
        key,
        from_low,
        ecn: ip.ecn,
        id: ip.id,
        seq: tcp.seq,
        ack: tcp.ack,
        flags: tcp.flags,
        window: tcp.window,
        len,
        options: tcp.options,
        dropped: record.dropped,
    })
}

/// Formats an endpoint: `10.0.0.1:5001`, `[::1]:5001`.
pub fn endpoint((address, port): (IpAddr, u16)) -> String {
    match address {
        IpAddr::V4(address) => format!("{address}:{port}"),
        IpAddr::V6(address) => format!("[{address}]:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(source: &str, destination: &str) -> (Key, bool) {
        let [source, destination] = [source, destination].map(|address| (address.parse().unwrap(), 80));
        Key::new(source, destination)
    }

    #[test]
    fn an_ipv4_address_and_the_ipv6_address_it_maps_to_are_one() {
        let (key, from_low) = between("10.0.0.2", "10.0.0.1");
        assert_eq!(between("::ffff:10.0.0.2", "::ffff:a00:1"), (key, from_low));
        assert!(!from_low);
        assert_eq!(key.endpoints().map(endpoint), ["10.0.0.1:80", "10.0.0.2:80"]);
    }

    #[test]
    fn other_ipv6_addresses_that_end_like_an_ipv4_address_stay_what_they_are() {
        let (key, _) = between("::10.0.0.1", "10.0.0.1");
        assert_eq!(key.endpoints().map(endpoint), ["[::a00:1]:80", "10.0.0.1:80"]);
    }
}
