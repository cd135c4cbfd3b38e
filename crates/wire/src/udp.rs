//! UDP (RFC 768).

use crate::checksum::Checksum;
use crate::error::{WireError, split};

/// A UDP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpHeader {
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
    /// Bytes of header and data.
    pub len: u16,
    /// The parsed checksum, zero for none; [`UdpHeader::emit`] computes its own.
    pub checksum: u16,
}

impl UdpHeader {
    /// Bytes of the header.
    pub const LEN: usize = 8;

    /// Parses a header; returns it and the following bytes.
    ///
    /// # Errors
    /// If the bytes end inside it.
    pub fn parse(bytes: &[u8]) -> Result<(UdpHeader, &[u8]), WireError> {
        let (b, rest) = split::<{ UdpHeader::LEN }>(bytes, "UDP")?;
        let word = |i: usize| u16::from_be_bytes([b[i], b[i + 1]]);
        Ok((UdpHeader { source: word(0), destination: word(2), len: word(4), checksum: word(6) }, rest))
    }

    /// Appends the header. `sum` is the sum of pseudo-header and data, from which the checksum is computed.
    pub fn emit(&self, sum: Checksum, out: &mut Vec<u8>) {
        let words = [self.source, self.destination, self.len];
        let checksum = match words.iter().fold(sum, |sum, &word| sum.word(word)).value() {
            // RFC 768: a checksum of zero is sent as all ones, because zero means no checksum.
            0 => u16::MAX,
            value => value,
        };
        words.iter().chain([&checksum]).for_each(|word| out.extend(word.to_be_bytes()));
    }
}
