//! A UDP datagram with its IP codepoint.

use crate::{Ecn, IpVersion, UdpHeader};

/// Bytes of a UDP header (RFC 768).
pub const UDP_HEADER: u32 = UdpHeader::LEN as u32;

/// A UDP datagram with its IP codepoint. The payload is only counted, except for a sequence number from which a
/// receiver can detect losses. Laid out like a [`Segment`](crate::Segment).
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
    /// Returns the datagram that fills `wire_len` bytes over `ip`; below the 28 bytes of the headers, 48 with IPv6, it has
    /// no payload.
    pub const fn filling(ip: IpVersion, wire_len: u32, seq: u32, ecn: Ecn) -> Datagram {
        Datagram { seq, len: wire_len.saturating_sub(ip.header_len() + UDP_HEADER), wire_len, ecn }
    }
}
