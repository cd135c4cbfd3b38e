//! A UDP datagram, with the IP codepoint it travels under.

use crate::{Ecn, IPV4_HEADER, UdpHeader};

/// Bytes of a UDP header (RFC 768).
pub const UDP_HEADER: u32 = UdpHeader::LEN as u32;

/// A UDP datagram and the IP codepoint it travels under. The payload is counted; of its contents
/// there is a sequence number, by which a receiver could tell what it missed. Laid out as a
/// [`Segment`](crate::Segment) is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Datagram {
    /// Bytes on the wire: payload, UDP and IP headers.
    pub wire_len: u32,
    /// The codepoint in the IP header.
    pub ecn: Ecn,
    /// Payload bytes.
    pub len: u32,
    /// Number of the datagram in its flow, from 0.
    pub seq: u32,
}

impl Datagram {
    /// The datagram that fills `wire_len` bytes over IPv4; of fewer than the headers' 28, all are header.
    pub const fn filling(wire_len: u32, seq: u32, ecn: Ecn) -> Datagram {
        Datagram { seq, len: wire_len.saturating_sub(IPV4_HEADER + UDP_HEADER), wire_len, ecn }
    }
}
