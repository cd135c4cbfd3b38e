//! Link-layer headers: finds the IP packet in a frame.

/// Link types (IANA, pcap registry).
pub(crate) mod link_type {
    pub const NULL: u16 = 0;
    pub const ETHERNET: u16 = 1;
    pub const PPP: u16 = 9;
    pub const RAW_BSD: [u16; 2] = [12, 14];
    pub const PPP_HDLC: u16 = 50;
    pub const PPP_ETHER: u16 = 51;
    pub const RAW: u16 = 101;
    pub const C_HDLC: u16 = 104;
    pub const LOOP: u16 = 108;
    pub const LINUX_SLL: u16 = 113;
    pub const PPP_WITH_DIR: u16 = 204;
    pub const IPV4: u16 = 228;
    pub const IPV6: u16 = 229;
    pub const LINUX_SLL2: u16 = 276;
}

/// Types of payload (IEEE 802 EtherTypes).
pub(crate) mod ether_type {
    /// Up to here the field is the length of an IEEE 802.3 frame.
    pub const LENGTH: u16 = 1500;
    pub const IPV4: u16 = 0x0800;
    pub const IPV6: u16 = 0x86dd;
    /// Transparent Ethernet bridging: an Ethernet frame.
    pub const ETHERNET: u16 = 0x6558;
    pub const MPLS: u16 = 0x8847;
    pub const MPLS_UPSTREAM: u16 = 0x8848;
    pub const PPPOE: u16 = 0x8864;
    pub const PPP: u16 = 0x880b;
    /// VLAN tags: IEEE 802.1Q, 802.1ad, and two in use before 802.1ad.
    pub const VLANS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
}

/// Payload of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// An IP packet, possibly truncated: the last bytes of the frame.
    Ip(&'a [u8]),
    /// Another protocol: its EtherType, such as 0x0806 for ARP; 0 if it has none.
    Other(u16),
    /// The frame is truncated before its payload type.
    Cut,
    /// The link type is unknown.
    Unknown,
}

/// Returns the IP packet in a frame of link type `kind`.
#[inline]
pub fn ip_of(kind: u16, bytes: &[u8]) -> Frame<'_> {
    match kind {
        link_type::ETHERNET => typed(bytes, 12),
        link_type::RAW | link_type::IPV4 | link_type::IPV6 => Frame::Ip(bytes),
        kind => rare(kind, bytes),
    }
}

/// Returns the IP packet in a frame of a link type other than Ethernet and raw IP.
#[inline(never)]
fn rare(kind: u16, bytes: &[u8]) -> Frame<'_> {
    match kind {
        kind if link_type::RAW_BSD.contains(&kind) => Frame::Ip(bytes),
        // The address family is in the byte order of the capturing host (NULL) or of the network (LOOP); only its
        // length matters.
        link_type::NULL | link_type::LOOP => bytes.get(4..).map_or(Frame::Cut, Frame::Ip),
        link_type::LINUX_SLL => typed(bytes, 14),
        link_type::LINUX_SLL2 => match (u16_at(bytes, 0), bytes.get(20..)) {
            (Some(kind), Some(rest)) => payload(kind, rest),
            _ => Frame::Cut,
        },
        link_type::PPP | link_type::PPP_HDLC | link_type::C_HDLC => match *bytes {
            // Cisco's HDLC: an address (unicast or multicast), zero, an EtherType.
            [0x0f | 0x8f, 0, ..] => typed(bytes, 2),
            _ => ppp(bytes),
        },
        link_type::PPP_WITH_DIR => bytes.get(1..).map_or(Frame::Cut, ppp),
        link_type::PPP_ETHER => payload(ether_type::PPPOE, bytes),
        _ => Frame::Unknown,
    }
}

/// Returns the interface index of Linux in a cooked header of version 2.
#[inline]
pub fn device_of(bytes: &[u8]) -> Option<u32> {
    bytes.get(4..)?.first_chunk().map(|index| u32::from_be_bytes(*index))
}

/// Returns the IP packet behind the EtherType at `place`.
#[inline]
fn typed(bytes: &[u8], place: usize) -> Frame<'_> {
    match (u16_at(bytes, place), bytes.get(place + 2..)) {
        (Some(ether_type::IPV4 | ether_type::IPV6), Some(rest)) => Frame::Ip(rest),
        (Some(kind), Some(rest)) => payload(kind, rest),
        _ => Frame::Cut,
    }
}

/// Returns the IP packet in a payload with EtherType `kind`, behind VLAN tags, MPLS labels, PPP and LLC headers in any
/// order. Each header takes bytes, so the loop ends.
#[inline(never)]
pub(crate) fn payload(mut kind: u16, mut bytes: &[u8]) -> Frame<'_> {
    loop {
        let behind = match kind {
            ether_type::IPV4 | ether_type::IPV6 => return Frame::Ip(bytes),
            ether_type::MPLS | ether_type::MPLS_UPSTREAM => labelled(bytes),
            ether_type::PPPOE => session(bytes),
            ether_type::PPP => of_ppp(bytes),
            ether_type::ETHERNET => u16_at(bytes, 12).zip(bytes.get(14..)),
            kind if ether_type::VLANS.contains(&kind) => u16_at(bytes, 2).zip(bytes.get(4..)),
            length if length <= ether_type::LENGTH => match *bytes {
                // IEEE 802.2 with SNAP (RFC 1042).
                [0xaa, 0xaa, 3, 0, 0, 0, ..] => u16_at(bytes, 6).zip(bytes.get(8..)),
                _ => return Frame::Other(0),
            },
            kind => return Frame::Other(kind),
        };
        let Some(next) = behind else { return Frame::Cut };
        (kind, bytes) = next;
        if kind == 0 {
            return Frame::Other(0);
        }
    }
}

/// Returns EtherType and payload behind an MPLS label stack (RFC 3032); type 0 if the first four bits are not those of
/// IP. `None` if it is truncated.
fn labelled(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let (labels, _) = bytes.as_chunks::<4>();
    let bottom = labels.iter().position(|label| label[2] & 1 == 1)?;
    let rest = &bytes[4 * (bottom + 1)..];
    Some((by_version(*rest.first()?), rest))
}

/// Returns the EtherType of the IP version in the first four bits of a packet; 0 if they are not those of IP.
fn by_version(first: u8) -> u16 {
    match first >> 4 {
        4 => ether_type::IPV4,
        6 => ether_type::IPV6,
        _ => 0,
    }
}

/// Returns EtherType and payload of a PPPoE session packet (RFC 2516); type 0 for a packet of another code.
fn session(bytes: &[u8]) -> Option<(u16, &[u8])> {
    match bytes.get(..6)? {
        [0x11, 0, ..] => of_ppp(&bytes[6..]),
        _ => Some((0, bytes)),
    }
}

fn ppp(bytes: &[u8]) -> Frame<'_> {
    match of_ppp(bytes) {
        Some((0, _)) => Frame::Other(0),
        Some((kind, rest)) => payload(kind, rest),
        None => Frame::Cut,
    }
}

/// Returns EtherType and payload of a PPP frame (RFC 1661), with or without the address and control fields of HDLC
/// (RFC 1662); type 0 for protocols other than IP and MPLS.
fn of_ppp(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let bytes = bytes.strip_prefix(&[0xff, 3]).unwrap_or(bytes);
    // RFC 1661: a compressed protocol field is one odd byte.
    let (protocol, rest) = match bytes.split_first()? {
        (first, rest) if first & 1 == 1 => (u16::from(*first), rest),
        _ => (u16_at(bytes, 0)?, &bytes[2..]),
    };
    let kind = match protocol {
        0x0021 => ether_type::IPV4,
        0x0057 => ether_type::IPV6,
        0x0281 => ether_type::MPLS,
        0x0283 => ether_type::MPLS_UPSTREAM,
        _ => 0,
    };
    Some((kind, rest))
}

#[inline]
pub(crate) fn u16_at(bytes: &[u8], place: usize) -> Option<u16> {
    bytes.get(place..)?.first_chunk().map(|word| u16::from_be_bytes(*word))
}
