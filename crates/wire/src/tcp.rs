//! TCP headers as bytes (RFC 9293 §3.1).

use crate::checksum::Checksum;
use crate::error::{WireError, split, take};
use crate::{Flags, Seq, TCP_HEADER};

const HEADER: &str = "TCP";
/// Bytes without options.
const MIN: usize = TCP_HEADER as usize;
/// Maximum bytes of options: the data offset has four bits.
const MAX_OPTIONS: usize = 40;

/// A TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpHeader<'a> {
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
    /// Sequence number of the first byte of data, or of the SYN.
    pub seq: Seq,
    /// Next byte expected; significant with [`Flags::ACK`].
    pub ack: Seq,
    /// Flags, including AE (RFC 9768 §3.1).
    pub flags: Flags,
    /// The window field, not scaled.
    pub window: u16,
    /// The parsed checksum; [`TcpHeader::emit`] computes its own.
    pub checksum: u16,
    /// Urgent pointer; significant with [`Flags::URG`].
    pub urgent: u16,
    /// Options, padded to a multiple of four; at most 40 bytes.
    pub options: &'a [u8],
}

impl<'a> TcpHeader<'a> {
    /// Parses a header; returns it and the following bytes. If a capture is truncated inside the options, the available
    /// ones are returned ([`TcpHeader::parse_cut`] gives the announced length).
    ///
    /// # Errors
    /// If the bytes are not a TCP header or end inside it.
    pub fn parse(bytes: &'a [u8]) -> Result<(TcpHeader<'a>, &'a [u8]), WireError> {
        let (header, len) = TcpHeader::parse_cut(bytes)?;
        take(bytes, len, HEADER)?;
        Ok((header, &bytes[len..]))
    }

    /// Parses a header whose options may be truncated; returns it and the header length that it announces.
    ///
    /// # Errors
    /// If there are fewer than 20 bytes or the announced length is less.
    #[inline]
    pub fn parse_cut(bytes: &'a [u8]) -> Result<(TcpHeader<'a>, usize), WireError> {
        let (b, behind) = split::<MIN>(bytes, HEADER)?;
        let len = usize::from(b[12] >> 4) * 4;
        let Some(options) = len.checked_sub(MIN) else {
            return Err(WireError::Field { header: HEADER, field: "data offset", value: u32::from(b[12] >> 4) });
        };
        let word = |i: usize| u16::from_be_bytes([b[i], b[i + 1]]);
        let long = |i: usize| u32::from_be_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]]);
        let header = TcpHeader {
            source: word(0),
            destination: word(2),
            seq: Seq(long(4)),
            ack: Seq(long(8)),
            // RFC 9768 §3.1: AE is the last of the bits reserved in RFC 793.
            flags: Flags::from_bits_truncate(word(12) & 0x1ff),
            window: word(14),
            checksum: word(16),
            urgent: word(18),
            options: &behind[..behind.len().min(options)],
        };
        Ok((header, len))
    }

    /// Appends the header. `sum` is the sum of pseudo-header and data, from which the checksum is computed. Options
    /// beyond 40 bytes are dropped; options are padded with end-of-options to a multiple of four (RFC 9293 §3.1).
    pub fn emit(&self, sum: Checksum, out: &mut Vec<u8>) {
        let start = out.len();
        let options = &self.options[..self.options.len().min(MAX_OPTIONS)];
        let words = (MIN + options.len()).div_ceil(4);
        TcpStart { source: self.source, destination: self.destination, seq: self.seq }.emit(out);
        out.extend(self.ack.0.to_be_bytes());
        out.extend((((words as u16) << 12) | self.flags.bits()).to_be_bytes());
        out.extend(self.window.to_be_bytes());
        out.extend([0, 0]);
        out.extend(self.urgent.to_be_bytes());
        out.extend(options);
        out.resize(start + 4 * words, 0);
        let checksum = sum.bytes(&out[start..]).value();
        out[start + 16..start + 18].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// The first 64 bits of a TCP header, the minimum that an ICMP error returns of a datagram's data (RFC 792).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpStart {
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
    /// Sequence number.
    pub seq: Seq,
}

impl TcpStart {
    /// Length in bytes.
    pub const LEN: usize = 8;

    /// Parses it; following bytes are ignored.
    ///
    /// # Errors
    /// If there are fewer than 8 bytes.
    pub fn parse(bytes: &[u8]) -> Result<TcpStart, WireError> {
        let (&[a, b, c, d, seq @ ..], _) = split::<{ TcpStart::LEN }>(bytes, HEADER)?;
        let (source, destination) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        Ok(TcpStart { source, destination, seq: Seq(u32::from_be_bytes(seq)) })
    }

    /// Appends it.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend(self.source.to_be_bytes());
        out.extend(self.destination.to_be_bytes());
        out.extend(self.seq.0.to_be_bytes());
    }
}
