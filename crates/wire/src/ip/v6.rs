//! IPv6 and its extension headers (RFC 8200).

use std::net::Ipv6Addr;

use crate::Ecn;
use crate::error::{WireError, split, take};
use crate::ip::protocol;

const HEADER: &str = "IPv6";
/// Options of a hop-by-hop header: one byte of padding (RFC 8200 §4.2), the length of a jumbogram (RFC 2675 §2).
const PAD1: u8 = 0;
const JUMBO: u8 = 0xc2;

/// An IPv6 header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv6Header {
    /// Differentiated services: the six high bits of the traffic class (RFC 2474 §3).
    pub dscp: u8,
    /// The two low bits of the traffic class (RFC 3168 §5).
    pub ecn: Ecn,
    /// Flow label, 20 bits.
    pub flow_label: u32,
    /// Bytes after this header, including extension headers. Zero also means a jumbogram (RFC 2675 §3).
    pub payload_len: u16,
    /// Type of the next header: an extension header or a protocol.
    pub next_header: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// Source address.
    pub source: Ipv6Addr,
    /// Destination address.
    pub destination: Ipv6Addr,
}

impl Ipv6Header {
    /// Bytes of the header.
    pub const LEN: usize = 40;

    /// Parses a header; returns it and the following bytes.
    ///
    /// # Errors
    /// If the bytes are not an IPv6 header or end inside it.
    pub fn parse(bytes: &[u8]) -> Result<(Ipv6Header, &[u8]), WireError> {
        let (b, rest) = split::<{ Ipv6Header::LEN }>(bytes, HEADER)?;
        let first = u32::from_be_bytes([b[0], b[1], b[2], b[3]]);
        // RFC 8200 §3: version, traffic class, flow label.
        if first >> 28 != 6 {
            return Err(WireError::Field { header: HEADER, field: "version", value: first >> 28 });
        }
        let class = (first >> 20) as u8;
        let address = |start: usize| {
            let mut octets = [0; 16];
            octets.copy_from_slice(&b[start..start + 16]);
            Ipv6Addr::from(octets)
        };
        let header = Ipv6Header {
            dscp: class >> 2,
            ecn: Ecn::from_bits(class),
            flow_label: first & 0xf_ffff,
            payload_len: u16::from_be_bytes([b[4], b[5]]),
            next_header: b[6],
            hop_limit: b[7],
            source: address(8),
            destination: address(24),
        };
        Ok((header, rest))
    }

    /// Bytes after this header according to the jumbo payload option (RFC 2675 §2) of a hop-by-hop header that begins
    /// `rest`; `None` without the option, or if the option's length is at most 65535, which RFC 2675 forbids.
    pub fn jumbo_len(&self, rest: &[u8]) -> Option<u32> {
        if self.payload_len > 0 {
            return None;
        }
        let Ok(Some((Extension::Other { kind: protocol::HOP_BY_HOP, body, .. }, _))) =
            Extension::parse(self.next_header, rest)
        else {
            return None;
        };
        jumbo_option(body).filter(|&len| len > u32::from(u16::MAX))
    }

    /// Appends the header.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let class = u32::from((self.dscp << 2) | self.ecn.bits());
        out.extend(((6 << 28) | (class << 20) | (self.flow_label & 0xf_ffff)).to_be_bytes());
        out.extend(self.payload_len.to_be_bytes());
        out.extend([self.next_header, self.hop_limit]);
        out.extend(self.source.octets());
        out.extend(self.destination.octets());
    }
}

/// Returns the value of the jumbo payload option among the options of a hop-by-hop header.
fn jumbo_option(mut options: &[u8]) -> Option<u32> {
    loop {
        options = match *options {
            [JUMBO, 4, a, b, c, d, ..] => return Some(u32::from_be_bytes([a, b, c, d])),
            [PAD1, ref rest @ ..] => rest,
            [_, len, ref rest @ ..] => rest.get(usize::from(len)..)?,
            _ => return None,
        };
    }
}

/// One extension header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension<'a> {
    /// Hop-by-hop options, destination options, routing, mobility, HIP, Shim6: the body after the first two bytes. Its
    /// length is six bytes plus a multiple of eight (RFC 8200 §4.2).
    Other {
        /// Type of this header.
        kind: u8,
        /// Type of the next header.
        next_header: u8,
        /// The bytes after `next_header` and the length.
        body: &'a [u8],
    },
    /// A fragment (RFC 8200 §4.5).
    Fragment {
        /// Type of the next header.
        next_header: u8,
        /// Offset of its payload in the packet, in units of 8 bytes, less than 8192.
        offset: u16,
        /// More fragments of the same packet follow.
        more: bool,
        /// Identification of the packet.
        id: u32,
    },
    /// Authentication (RFC 4302 §2): the body after the first two bytes, six bytes plus a multiple of four.
    Authentication {
        /// Type of the next header.
        next_header: u8,
        /// The bytes after `next_header` and the length.
        body: &'a [u8],
    },
}

impl<'a> Extension<'a> {
    /// Parses the extension header of type `kind`; returns it and the following bytes, or `None` if `kind` is a
    /// protocol or ESP (RFC 4303), whose contents are encrypted.
    ///
    /// # Errors
    /// If the bytes end inside the header.
    pub fn parse(kind: u8, bytes: &'a [u8]) -> Result<Option<(Extension<'a>, &'a [u8])>, WireError> {
        const NAME: &str = "IPv6 extension";
        let other = matches!(
            kind,
            protocol::HOP_BY_HOP | protocol::ROUTING | protocol::DESTINATION | protocol::MOBILITY | 139 | 140
        );
        if !other && kind != protocol::FRAGMENT && kind != protocol::AUTHENTICATION {
            return Ok(None);
        }
        let (b, _) = split::<8>(bytes, NAME)?;
        let len = match kind {
            protocol::FRAGMENT => 8,
            // RFC 4302 §2.2: in units of 32 bits, minus two.
            protocol::AUTHENTICATION => (usize::from(b[1]) + 2) * 4,
            // RFC 8200 §4.3: in units of 8 bytes, without the first.
            _ => (usize::from(b[1]) + 1) * 8,
        };
        let whole = take(bytes, len.max(8), NAME)?;
        let (next_header, body) = (b[0], &whole[2..]);
        let extension = match kind {
            protocol::FRAGMENT => {
                let offset = u16::from_be_bytes([b[2], b[3]]);
                let id = u32::from_be_bytes([b[4], b[5], b[6], b[7]]);
                Extension::Fragment { next_header, offset: offset >> 3, more: offset & 1 != 0, id }
            }
            protocol::AUTHENTICATION => Extension::Authentication { next_header, body },
            _ => Extension::Other { kind, next_header, body },
        };
        Ok(Some((extension, &bytes[whole.len()..])))
    }

    /// The destination of a packet that has not reached its last segment: of routing headers of type 0 (RFC 2460
    /// §4.4), 2 (RFC 6275 §6.4) and 4 (RFC 8754 §2). `None` for other headers, or if the bytes end before it.
    pub fn final_destination(&self) -> Option<Ipv6Addr> {
        let Extension::Other { kind: protocol::ROUTING, body: &[kind, left, ..], .. } = *self else { return None };
        let addresses = self.addresses().filter(|_| left > 0)?;
        let bytes = match kind {
            0 => addresses.last(),
            // Segments are listed from the last one.
            2 | 4 => addresses.first(),
            _ => None,
        };
        bytes.map(|bytes| Ipv6Addr::from(*bytes))
    }

    /// The addresses of a routing header.
    fn addresses(&self) -> Option<&'a [[u8; 16]]> {
        let Extension::Other { kind: protocol::ROUTING, body, .. } = *self else { return None };
        Some(body.get(6..)?.as_chunks().0)
    }

    /// Appends the header; a body is padded with zeros to a valid length, or truncated to the maximum.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let start = out.len();
        match *self {
            Extension::Fragment { next_header, offset, more, id } => {
                out.extend([next_header, 0]);
                out.extend(((offset << 3) | u16::from(more)).to_be_bytes());
                out.extend(id.to_be_bytes());
            }
            Extension::Other { next_header, body, .. } => {
                let units = (body.len() + 2).div_ceil(8).clamp(1, 256);
                out.extend([next_header, (units - 1) as u8]);
                out.extend(body);
                out.resize(start + 8 * units, 0);
            }
            Extension::Authentication { next_header, body } => {
                let words = (body.len() + 2).div_ceil(4).clamp(2, 257);
                out.extend([next_header, (words - 2) as u8]);
                out.extend(body);
                out.resize(start + 4 * words, 0);
            }
        }
    }

    /// Type of the next header.
    pub fn next_header(&self) -> u8 {
        match *self {
            Extension::Other { next_header, .. }
            | Extension::Fragment { next_header, .. }
            | Extension::Authentication { next_header, .. } => next_header,
        }
    }
}
