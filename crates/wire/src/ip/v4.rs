//! IPv4 (RFC 791).

use std::net::Ipv4Addr;

use crate::checksum::Checksum;
use crate::error::{WireError, split, take};
use crate::{Ecn, IPV4_HEADER};

const HEADER: &str = "IPv4";
/// Bytes without options.
const MIN: usize = IPV4_HEADER as usize;
const DONT_FRAGMENT: u16 = 0x4000;
const MORE_FRAGMENTS: u16 = 0x2000;

/// An IPv4 header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4Header<'a> {
    /// Differentiated services (RFC 2474 §3): the six high bits of the TOS octet, from 0 to 63.
    pub dscp: u8,
    /// The two low bits of the TOS octet (RFC 3168 §5).
    pub ecn: Ecn,
    /// Bytes of header and payload. Zero if a host passed a packet of more than 65535 bytes to its network card.
    pub total_len: u16,
    /// Identification of the datagram to which a fragment belongs.
    pub id: u16,
    /// Routers must not fragment it.
    pub dont_fragment: bool,
    /// More fragments of the same datagram follow.
    pub more_fragments: bool,
    /// Offset of its payload in the datagram, in units of 8 bytes, less than 8192.
    pub fragment_offset: u16,
    /// Time to live.
    pub ttl: u8,
    /// Protocol of the payload (IANA protocol numbers).
    pub protocol: u8,
    /// The parsed checksum; [`Ipv4Header::emit`] computes its own.
    pub checksum: u16,
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// Options, padded to a multiple of four; at most 40 bytes.
    pub options: &'a [u8],
}

impl<'a> Ipv4Header<'a> {
    /// Parses a header; returns it and the following bytes, which may be fewer than the header announces (a truncated
    /// capture) or more (the padding of a short Ethernet frame).
    ///
    /// # Errors
    /// If the bytes are not an IPv4 header or end inside it. The checksum is not verified.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<(Ipv4Header<'a>, &'a [u8]), WireError> {
        let (b, _) = split::<MIN>(bytes, HEADER)?;
        let bad = |field, value: u8| WireError::Field { header: HEADER, field, value: value.into() };
        // RFC 791 §3.1: version, and the length of the header in words of 32 bits.
        let (version, words) = (b[0] >> 4, b[0] & 0xf);
        if version != 4 {
            return Err(bad("version", version));
        }
        let len = usize::from(words) * 4;
        if len < MIN {
            return Err(bad("length in words", words));
        }
        let options = &take(bytes, len, HEADER)?[MIN..];
        let word = |i: usize| u16::from_be_bytes([b[i], b[i + 1]]);
        let fragment = word(6);
        let header = Ipv4Header {
            dscp: b[1] >> 2,
            ecn: Ecn::from_bits(b[1]),
            total_len: word(2),
            id: word(4),
            dont_fragment: fragment & DONT_FRAGMENT != 0,
            more_fragments: fragment & MORE_FRAGMENTS != 0,
            fragment_offset: fragment & 0x1fff,
            ttl: b[8],
            protocol: b[9],
            checksum: word(10),
            source: Ipv4Addr::new(b[12], b[13], b[14], b[15]),
            destination: Ipv4Addr::new(b[16], b[17], b[18], b[19]),
            options,
        };
        Ok((header, &bytes[len..]))
    }

    /// Appends the header with a correct checksum. Options beyond 40 bytes are dropped; options are padded with
    /// end-of-options (RFC 791 §3.1) to a multiple of four.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let options = &self.options[..self.options.len().min(40)];
        let words = (MIN + options.len()).div_ceil(4);
        out.extend([0x40 | words as u8, (self.dscp << 2) | self.ecn.bits()]);
        out.extend(self.total_len.to_be_bytes());
        out.extend(self.id.to_be_bytes());
        let flags =
            if self.dont_fragment { DONT_FRAGMENT } else { 0 } | if self.more_fragments { MORE_FRAGMENTS } else { 0 };
        out.extend((flags | (self.fragment_offset & 0x1fff)).to_be_bytes());
        out.extend([self.ttl, self.protocol, 0, 0]);
        out.extend(self.source.octets());
        out.extend(self.destination.octets());
        out.extend(options);
        out.resize(start + 4 * words, 0);
        let checksum = Checksum::new().bytes(&out[start..]).value();
        out[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());
    }

    /// The destination of a packet with a source route that has not reached its last address (RFC 791 §3.1); `None`
    /// without such a route.
    #[cold]
    pub fn routed_to(&self) -> Option<Ipv4Addr> {
        const LOOSE: u8 = 131;
        const STRICT: u8 = 137;
        let mut rest = self.options;
        loop {
            rest = match *rest {
                [0, ..] | [] => return None,
                [1, ..] => &rest[1..],
                [LOOSE | STRICT, len, pointer, ..] if pointer <= len => {
                    let last = rest.get(usize::from(len).checked_sub(4)?..)?.first_chunk::<4>()?;
                    return Some(Ipv4Addr::from(*last));
                }
                [_, len, ..] if len >= 2 => rest.get(usize::from(len)..)?,
                _ => return None,
            };
        }
    }

    /// Bytes of the header.
    #[inline]
    pub fn len(&self) -> usize {
        MIN + self.options.len()
    }
    /// Always false: a header has at least 20 bytes.
    pub fn is_empty(&self) -> bool {
        false
    }
    /// Bytes of payload announced by the header; `None` if `total_len` is shorter than the header.
    #[inline]
    pub fn payload_len(&self) -> Option<usize> {
        usize::from(self.total_len).checked_sub(self.len())
    }
    /// Returns whether this is a fragment.
    #[inline]
    pub fn is_fragment(&self) -> bool {
        self.more_fragments || self.fragment_offset > 0
    }
    /// Returns whether the checksum of `header`, the bytes of a complete header, is correct.
    pub fn is_intact(header: &[u8]) -> bool {
        Checksum::new().bytes(header).is_valid()
    }
}
