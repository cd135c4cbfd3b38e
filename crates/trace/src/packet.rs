//! A record's TCP segment, and what it belongs to.

use std::net::{IpAddr, Ipv6Addr};

use ecnlab_wire::{Ecn, Flags, IpPacket, Seq, TcpHeader, TcpOptions, WireError};

/// An address, its upper and its lower half, and a port.
type Endpoint = ([u64; 2], u16);

/// A connection's addresses and ports, the same for both directions: the lesser endpoint stands first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    low: Endpoint,
    high: Endpoint,
}

impl Key {
    /// The key of a packet, and whether its sender is the first endpoint.
    #[inline]
    pub fn new(source: (IpAddr, u16), destination: (IpAddr, u16)) -> (Key, bool) {
        let [a, b] = [source, destination].map(|(address, port)| (number(address), port));
        if a <= b { (Key { low: a, high: b }, true) } else { (Key { low: b, high: a }, false) }
    }
    /// Both endpoints.
    pub fn endpoints(&self) -> [(IpAddr, u16); 2] {
        [self.low, self.high].map(|(address, port)| (whole(address), port))
    }
    /// A hash: addresses and ports are already as different as they can be, and a multiplication spreads them.
    #[inline]
    pub fn hash64(&self) -> u64 {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let fold = |([upper, lower], port): Endpoint| lower ^ upper ^ (u64::from(port) << 48);
        (fold(self.low).wrapping_mul(ODD).rotate_left(29) ^ fold(self.high)).wrapping_mul(ODD)
    }
}

/// IPv4 addresses as IPv6 maps them (RFC 4291 §2.5.5.2).
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
    /// The packet's number in the file.
    pub number: u64,
    /// Nanoseconds since 1970.
    pub time: u64,
    /// The number of its interface.
    pub interface: u32,
    /// Which connection it is of.
    pub key: Key,
    /// Whether the key's first endpoint sent it.
    pub from_low: bool,
    /// The codepoint.
    pub ecn: Ecn,
    /// IPv4's identification; 0 where packets have none.
    pub id: u16,
    /// Sequence number.
    pub seq: Seq,
    /// Acknowledgement number.
    pub ack: Seq,
    /// Flags.
    pub flags: Flags,
    /// Window field.
    pub window: u16,
    /// Payload bytes, as the headers have it.
    pub len: u32,
    /// The options that are there.
    pub options: &'a [u8],
    /// Whether the capture says that it was dropped behind this point.
    pub dropped: bool,
}

impl Segment<'_> {
    /// Sequence space it takes.
    #[inline]
    pub fn seq_len(&self) -> u32 {
        self.len + u32::from(self.flags.contains(Flags::SYN)) + u32::from(self.flags.contains(Flags::FIN))
    }
    /// Its options, read. Those with nothing but timestamps, which most packets have, are not worth it.
    #[inline]
    pub fn parsed_options(&self) -> TcpOptions {
        match self.options {
            [] | [1, 1, 8, 10, _, _, _, _, _, _, _, _] => TcpOptions::default(),
            options => TcpOptions::parse(options),
        }
    }
}

/// Reads the TCP header in an IP packet that is no fragment.
#[inline]
pub fn segment<'a>(ip: &IpPacket<'a>) -> Result<Segment<'a>, WireError> {
    let (tcp, header_len) = TcpHeader::parse_cut(ip.payload)?;
    let Some(len) = ip.payload_len.checked_sub(header_len as u32) else {
        return Err(WireError::Field { header: "TCP", field: "data offset", value: header_len as u32 / 4 });
    };
    let (key, from_low) = Key::new((ip.source, tcp.source), (ip.destination, tcp.destination));
    Ok(Segment {
        number: 0,
        time: 0,
        interface: 0,
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
        dropped: false,
    })
}

/// How an endpoint is written: `10.0.0.1:5001`, `[::1]:5001`.
pub fn endpoint((address, port): (IpAddr, u16)) -> String {
    match address {
        IpAddr::V4(address) => format!("{address}:{port}"),
        IpAddr::V6(address) => format!("[{address}]:{port}"),
    }
}
