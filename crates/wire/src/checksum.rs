//! The Internet checksum (RFC 1071).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A running sum: 16-bit words, one's complement, most significant byte first (RFC 1071 §1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum(u32);

impl Checksum {
    /// The empty sum.
    pub const fn new() -> Checksum {
        Checksum(0)
    }
    /// Adds `bytes`, whose first is at an even offset; an odd last byte is padded with zero (RFC 1071 §4.1).
    #[must_use]
    pub fn bytes(self, bytes: &[u8]) -> Checksum {
        let words = bytes.chunks_exact(2);
        let odd = words.remainder().first().map_or(0, |b| u32::from(*b) << 8);
        let fold = |sum: u32, word: &[u8]| Checksum::fold(sum + u32::from(u16::from_be_bytes([word[0], word[1]])));
        Checksum(Checksum::fold(words.fold(self.0, fold) + odd))
    }
    /// Adds one word.
    #[must_use]
    pub fn word(self, word: u16) -> Checksum {
        Checksum(Checksum::fold(self.0 + u32::from(word)))
    }
    /// Value of the checksum field: the complement of the sum.
    pub fn value(self) -> u16 {
        !(self.0 as u16)
    }
    /// Returns whether the summed data, including its checksum field, is intact (RFC 1071 §1).
    pub fn is_valid(self) -> bool {
        self.0 == 0xffff
    }

    /// Sum of the IPv4 pseudo-header (RFC 9293 §3.1): addresses, protocol, length of header and data.
    pub fn pseudo_ipv4(source: Ipv4Addr, destination: Ipv4Addr, protocol: u8, len: u32) -> Checksum {
        Checksum::new().bytes(&source.octets()).bytes(&destination.octets()).word(protocol.into()).length(len)
    }
    /// Sum of the IPv6 pseudo-header (RFC 8200 §8.1).
    pub fn pseudo_ipv6(source: Ipv6Addr, destination: Ipv6Addr, protocol: u8, len: u32) -> Checksum {
        Checksum::new().bytes(&source.octets()).bytes(&destination.octets()).length(len).word(protocol.into())
    }
    /// Sum of the pseudo-header of either version; empty for addresses of different versions.
    pub fn pseudo(source: IpAddr, destination: IpAddr, protocol: u8, len: u32) -> Checksum {
        match (source, destination) {
            (IpAddr::V4(a), IpAddr::V4(b)) => Checksum::pseudo_ipv4(a, b, protocol, len),
            (IpAddr::V6(a), IpAddr::V6(b)) => Checksum::pseudo_ipv6(a, b, protocol, len),
            _ => Checksum::new(),
        }
    }

    fn length(self, len: u32) -> Checksum {
        self.word((len >> 16) as u16).word(len as u16)
    }

    const fn fold(sum: u32) -> u32 {
        (sum & 0xffff) + (sum >> 16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071() {
        // RFC 1071 §3: 0001 f203 f4f5 f6f7 sum to ddf2.
        let sum = Checksum::new().bytes(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.value(), !0xddf2);
    }

    #[test]
    fn an_odd_byte_is_padded_and_zeros_change_nothing() {
        assert_eq!(Checksum::new().bytes(&[0xab]), Checksum::new().bytes(&[0xab, 0]));
        assert_eq!(Checksum::new().bytes(&[0xab, 0, 0, 0, 0]), Checksum::new().bytes(&[0xab]));
    }
}
