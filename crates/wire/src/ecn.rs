//! The ECN field of the IP header.

use serde::{Deserialize, Serialize};

/// The two low bits of the IPv4 TOS octet or the IPv6 traffic class (RFC 3168 §5, figure 1).
///
/// RFC 2481 names the same bits ECT (0x2) and CE (0x1); its "ECT set, CE unset" is ECT(0).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable transport: the router can only drop.
    #[default]
    NotEct = 0b00,
    /// ECN-capable, codepoint ECT(1).
    Ect1 = 0b01,
    /// ECN-capable, codepoint ECT(0).
    Ect0 = 0b10,
    /// Congestion experienced.
    Ce = 0b11,
}

impl Ecn {
    /// Returns whether a router may mark this packet instead of dropping it: ECT(0), ECT(1) and CE.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }
    /// The two bits.
    pub const fn bits(self) -> u8 {
        self as u8
    }
    /// Returns the codepoint in the two low bits of a TOS octet.
    pub const fn from_bits(tos: u8) -> Ecn {
        match tos & 0b11 {
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            0b11 => Ecn::Ce,
            _ => Ecn::NotEct,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codepoints_are_those_of_rfc_3168() {
        for (bits, ecn) in [(0, Ecn::NotEct), (1, Ecn::Ect1), (2, Ecn::Ect0), (3, Ecn::Ce)] {
            assert_eq!(Ecn::from_bits(bits | 0b1011_1000), ecn);
            assert_eq!(ecn.bits(), bits);
        }
    }
}
