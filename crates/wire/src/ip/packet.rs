//! An IP packet of either version, as used by the transport layer.

use std::net::IpAddr;

use super::{Extension, Ipv4Header, Ipv6Header};
use crate::Ecn;
use crate::error::WireError;

/// Position of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Offset in the datagram, in bytes.
    pub offset: u32,
    /// More fragments follow.
    pub more: bool,
    /// Identification of the datagram.
    pub id: u32,
}

/// An IP packet: addresses, codepoint and payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpPacket<'a> {
    /// Source address.
    pub source: IpAddr,
    /// Destination address: the last one of a packet with a source route.
    pub destination: IpAddr,
    /// ECN codepoint.
    pub ecn: Ecn,
    /// IPv4 identification; 0 in IPv6, and from hosts that do not number unfragmentable packets (RFC 6864 §4).
    pub id: u16,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// Protocol of the payload.
    pub protocol: u8,
    /// Set if the packet is a fragment.
    pub fragment: Option<Fragment>,
    /// Bytes of the transport header and data according to the IP header; `payload` may be shorter.
    pub payload_len: u32,
    /// The captured payload bytes, without padding.
    pub payload: &'a [u8],
}

/// Maximum length in bytes of a packet whose length field is zero: far above any segment that a host passes to its
/// network card (Linux: GSO_MAX_SIZE, 512 KB).
const LONGEST: usize = 1 << 24;

impl<'a> IpPacket<'a> {
    /// Parses a complete IP packet of either version, skipping its options or extension headers.
    ///
    /// # Errors
    /// If the bytes are not an IP packet or end inside its headers.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<IpPacket<'a>, WireError> {
        IpPacket::parse_cut(bytes, bytes.len())
    }

    /// Parses the first bytes of an IP packet of `wire_len` bytes. `wire_len` counts if the length field is zero: the
    /// packet is captured before segmentation offload, or is longer than 65535 bytes.
    ///
    /// # Errors
    /// If the bytes are not an IP packet or end inside its headers.
    #[inline]
    pub fn parse_cut(bytes: &'a [u8], wire_len: usize) -> Result<IpPacket<'a>, WireError> {
        match bytes.first().map(|b| b >> 4) {
            Some(6) => IpPacket::parse_v6(bytes, wire_len),
            _ => IpPacket::parse_v4(bytes, wire_len),
        }
    }

    #[inline]
    fn parse_v4(bytes: &'a [u8], wire_len: usize) -> Result<IpPacket<'a>, WireError> {
        let (header, rest) = Ipv4Header::parse(bytes)?;
        let announced = match header.payload_len() {
            Some(len) => len,
            None if header.total_len == 0 => unannounced(rest, wire_len, header.len())?,
            None => {
                let value = header.total_len.into();
                return Err(WireError::Field { header: "IPv4", field: "total length", value });
            }
        };
        let fragment = header.is_fragment().then(|| Fragment {
            offset: u32::from(header.fragment_offset) * 8,
            more: header.more_fragments,
            id: header.id.into(),
        });
        let routed = if header.options.is_empty() { None } else { header.routed_to() };
        Ok(IpPacket {
            source: header.source.into(),
            destination: routed.unwrap_or(header.destination).into(),
            ecn: header.ecn,
            id: header.id,
            ttl: header.ttl,
            protocol: header.protocol,
            fragment,
            payload_len: announced as u32,
            payload: &rest[..rest.len().min(announced)],
        })
    }

    #[inline(never)]
    fn parse_v6(bytes: &'a [u8], wire_len: usize) -> Result<IpPacket<'a>, WireError> {
        let (header, rest) = Ipv6Header::parse(bytes)?;
        let announced = match (header.payload_len, header.jumbo_len(rest)) {
            (0, Some(len)) => bounded(len as usize)?,
            (0, None) => unannounced(rest, wire_len, Ipv6Header::LEN)?,
            (len, _) => usize::from(len),
        };
        let mut payload = &rest[..rest.len().min(announced)];
        let mut destination = header.destination;
        let (mut protocol, mut fragment, mut skipped) = (header.next_header, None, 0);
        while let Some((extension, behind)) = Extension::parse(protocol, payload)? {
            skipped += payload.len() - behind.len();
            payload = behind;
            protocol = extension.next_header();
            // RFC 8200 §8.1: the transport layer's destination is the last one.
            destination = extension.final_destination().unwrap_or(destination);
            if let Extension::Fragment { offset, more, id, .. } = extension {
                fragment = Some(Fragment { offset: u32::from(offset) * 8, more, id });
                if offset > 0 {
                    break; // what is behind it belongs into the middle of the packet
                }
            }
        }
        Ok(IpPacket {
            source: header.source.into(),
            destination: destination.into(),
            ecn: header.ecn,
            id: 0,
            ttl: header.hop_limit,
            protocol,
            fragment,
            payload_len: (announced - skipped) as u32,
            payload,
        })
    }
}

/// Returns the payload bytes of a packet whose length field is zero: `wire_len` without `header` bytes, at least those
/// captured.
#[cold]
fn unannounced(captured: &[u8], wire_len: usize, header: usize) -> Result<usize, WireError> {
    bounded(wire_len.saturating_sub(header).max(captured.len()))
}

fn bounded(len: usize) -> Result<usize, WireError> {
    if len <= LONGEST { Ok(len) } else { Err(WireError::Field { header: "IP", field: "length", value: len as u32 }) }
}
