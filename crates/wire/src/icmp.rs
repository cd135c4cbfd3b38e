//! ICMP (RFC 792) and ICMPv6 (RFC 4443).

use crate::checksum::Checksum;
use crate::error::{WireError, split};

/// The first eight bytes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcmpHeader {
    /// Type of the message.
    pub kind: u8,
    /// Code within the type.
    pub code: u8,
    /// The parsed checksum; [`IcmpHeader::emit`] computes its own.
    pub checksum: u16,
    /// Four bytes whose meaning depends on the type.
    pub rest: [u8; 4],
}

impl IcmpHeader {
    /// Bytes of the header.
    pub const LEN: usize = 8;
    /// Destination unreachable (RFC 792).
    pub const UNREACHABLE: u8 = 3;
    /// Source quench (RFC 792; deprecated by RFC 6633).
    pub const SOURCE_QUENCH: u8 = 4;

    /// Parses a header; returns it and the following bytes, in an error message the original datagram.
    ///
    /// # Errors
    /// If the bytes end inside it.
    pub fn parse(bytes: &[u8]) -> Result<(IcmpHeader, &[u8]), WireError> {
        let (b, rest) = split::<{ IcmpHeader::LEN }>(bytes, "ICMP")?;
        let checksum = u16::from_be_bytes([b[2], b[3]]);
        Ok((IcmpHeader { kind: b[0], code: b[1], checksum, rest: [b[4], b[5], b[6], b[7]] }, rest))
    }

    /// Appends the header. `sum` is the sum of the data, and for ICMPv6 also of the pseudo-header (RFC 4443 §2.3).
    pub fn emit(&self, sum: Checksum, out: &mut Vec<u8>) {
        let checksum = sum.bytes(&[self.kind, self.code]).bytes(&self.rest).value();
        out.extend([self.kind, self.code]);
        out.extend(checksum.to_be_bytes());
        out.extend(self.rest);
    }
}
