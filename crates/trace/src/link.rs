//! Link-layer headers: finds the IP packet in a frame.

/// Link types (IANA, pcap registry).
mod link_type {
    pub const NULL: u16 = 0;
    pub const ETHERNET: u16 = 1;
    pub const RAW_BSD: [u16; 2] = [12, 14];
    pub const RAW: u16 = 101;
    pub const LOOP: u16 = 108;
    pub const LINUX_SLL: u16 = 113;
    pub const IPV4: u16 = 228;
    pub const IPV6: u16 = 229;
    pub const LINUX_SLL2: u16 = 276;
}

/// Payload of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// An IP packet, possibly truncated.
    Ip(&'a [u8]),
    /// Another protocol, such as ARP.
    Other,
    /// The frame is truncated before its payload type.
    Cut,
    /// The link type is unknown.
    Unknown,
}

/// Returns the IP packet in a frame of link type `kind`.
#[inline]
pub fn ip_of(kind: u16, bytes: &[u8]) -> Frame<'_> {
    let at = |i: usize| bytes.get(i..i + 2).map(|b| u16::from_be_bytes([b[0], b[1]]));
    match kind {
        link_type::ETHERNET => ethernet(bytes, 12),
        link_type::RAW | link_type::IPV4 | link_type::IPV6 => Frame::Ip(bytes),
        kind if link_type::RAW_BSD.contains(&kind) => Frame::Ip(bytes),
        // The address family is in the byte order of the capturing host (NULL) or of the network (LOOP); only its
        // length matters.
        link_type::NULL | link_type::LOOP => bytes.get(4..).map_or(Frame::Cut, Frame::Ip),
        link_type::LINUX_SLL => by_protocol(at(14), bytes.get(16..)),
        link_type::LINUX_SLL2 => by_protocol(at(0), bytes.get(20..)),
        _ => Frame::Unknown,
    }
}

/// Returns the payload after the EtherType at `place`, skipping VLAN tags (IEEE 802.1Q, 802.1ad).
fn ethernet(bytes: &[u8], mut place: usize) -> Frame<'_> {
    loop {
        let Some(kind) = bytes.get(place..place + 2) else { return Frame::Cut };
        match u16::from_be_bytes([kind[0], kind[1]]) {
            0x8100 | 0x88a8 | 0x9100 => place += 4,
            kind => return by_protocol(Some(kind), bytes.get(place + 2..)),
        }
    }
}

fn by_protocol(kind: Option<u16>, rest: Option<&[u8]>) -> Frame<'_> {
    match (kind, rest) {
        (Some(0x0800 | 0x86dd), Some(rest)) => Frame::Ip(rest),
        (Some(0x8100 | 0x88a8), Some(rest)) => ethernet(rest, 2),
        (Some(_), Some(_)) => Frame::Other,
        _ => Frame::Cut,
    }
}
