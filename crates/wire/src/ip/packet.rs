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
    /// Destination address.
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

impl<'a> IpPacket<'a> {
    /// Parses an IP packet of either version, skipping its options or extension headers.
    ///
    /// # Errors
    /// If the bytes are not an IP packet or end inside its headers.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<IpPacket<'a>, WireError> {
        match bytes.first().map(|b| b >> 4) {
            Some(6) => IpPacket::parse_v6(bytes),
            _ => IpPacket::parse_v4(bytes),
        }
    }

    #[inline]
    fn parse_v4(bytes: &'a [u8]) -> Result<IpPacket<'a>, WireError> {
        let (header, rest) = Ipv4Header::parse(bytes)?;
        let announced = match header.payload_len() {
            Some(len) => len,
            // The length field is zero before segmentation offload: the captured length counts.
            None if header.total_len == 0 => rest.len(),
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
        Ok(IpPacket {
            source: header.source.into(),
            destination: header.destination.into(),
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
    fn parse_v6(bytes: &'a [u8]) -> Result<IpPacket<'a>, WireError> {
        let (header, rest) = Ipv6Header::parse(bytes)?;
        let announced = if header.payload_len == 0 { rest.len() } else { usize::from(header.payload_len) };
        let mut payload = &rest[..rest.len().min(announced)];
        let (mut protocol, mut fragment, mut skipped) = (header.next_header, None, 0);
        while let Some((extension, behind)) = Extension::parse(protocol, payload)? {
            skipped += payload.len() - behind.len();
            payload = behind;
            protocol = extension.next_header();
            if let Extension::Fragment { offset, more, id, .. } = extension {
                fragment = Some(Fragment { offset: u32::from(offset) * 8, more, id });
                if offset > 0 {
                    break; // what is behind it belongs into the middle of the packet
                }
            }
        }
        Ok(IpPacket {
            source: header.source.into(),
            destination: header.destination.into(),
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
