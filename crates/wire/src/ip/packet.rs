//! An IP packet of either version, as the transport layer sees it.

use std::net::IpAddr;

use super::{Extension, Ipv4Header, Ipv6Header};
use crate::Ecn;
use crate::error::WireError;

/// Where a fragment belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Bytes of the datagram before it.
    pub offset: u32,
    /// Whether more come behind it.
    pub more: bool,
    /// Identification of the datagram.
    pub id: u32,
}

/// An IP packet: addresses, codepoint, and what it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpPacket<'a> {
    /// Who sent it.
    pub source: IpAddr,
    /// Who is to receive it.
    pub destination: IpAddr,
    /// The codepoint.
    pub ecn: Ecn,
    /// IPv4's identification; 0 in IPv6, and where a host does not number packets that may not be cut (RFC 6864 §4).
    pub id: u16,
    /// Time to live, or hops left.
    pub ttl: u8,
    /// The protocol of the payload.
    pub protocol: u8,
    /// Set if it is part of a datagram.
    pub fragment: Option<Fragment>,
    /// Bytes of the protocol's header and data, as announced; those there may be fewer.
    pub payload_len: u32,
    /// The bytes of the payload that are there, padding cut off.
    pub payload: &'a [u8],
}

impl<'a> IpPacket<'a> {
    /// Reads an IP packet of either version and walks over its options or extension headers.
    ///
    /// # Errors
    /// If the bytes are no IP packet or end inside its headers.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<IpPacket<'a>, WireError> {
        match bytes.first().map(|b| b >> 4) {
            Some(6) => IpPacket::parse_v6(bytes),
            _ => IpPacket::parse_v4(bytes),
        }
    }

    fn parse_v4(bytes: &'a [u8]) -> Result<IpPacket<'a>, WireError> {
        let (header, rest) = Ipv4Header::parse(bytes)?;
        let announced = match header.payload_len() {
            Some(len) => len,
            // A packet that segmentation offload has yet to cut up is as long as what was captured.
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
