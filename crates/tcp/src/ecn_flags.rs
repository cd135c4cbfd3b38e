//! Interpretation of the ECN flags of a segment.

use ecnlab_wire::Flags;

/// Meaning of the flags AE, CWR and ECE of a segment after the handshake in the scheme in use, as
/// [`Feedback::read`](crate::ecn::Feedback::read) interprets them: two flags or a number.
///
/// One byte: bits 6 and 7 are ECE and CWR as in the header, bits 0 to 2 the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnFlags(u8);

/// Place of the ACE field in the header (RFC 9768 §3.2): ECE is its lowest bit.
const SHIFT: u32 = Flags::ECE.bits().trailing_zeros();
const ECHO: u8 = Flags::ECE.bits() as u8;
const CWR: u8 = Flags::CWR.bits() as u8;
const NUMBER: u8 = 7;

impl EcnFlags {
    /// No flag is set.
    pub const NONE: EcnFlags = EcnFlags(0);

    /// ECE and CWR as two flags (RFC 3168 §6.1).
    #[inline(always)]
    pub const fn separate(flags: Flags) -> EcnFlags {
        EcnFlags(flags.bits() as u8 & (ECHO | CWR))
    }

    /// All three as a number (RFC 9768 §3.2).
    #[inline(always)]
    pub const fn number(flags: Flags) -> EcnFlags {
        EcnFlags::count((flags.bits() >> SHIFT) as u8)
    }

    /// The number `ace`, modulo 8.
    #[inline(always)]
    pub const fn count(ace: u8) -> EcnFlags {
        EcnFlags(ace & NUMBER)
    }

    /// The flags that are set in the header.
    #[inline(always)]
    pub const fn in_header(self) -> Flags {
        let number = (self.0 & NUMBER) as u16;
        Flags::from_bits_truncate((self.0 & (ECHO | CWR)) as u16 | number << SHIFT)
    }

    /// Whether a segment with these flags has none of the three.
    #[inline(always)]
    pub const fn are_clear(flags: Flags) -> bool {
        !flags.intersects(Flags::AE.union(Flags::CWR).union(Flags::ECE))
    }

    /// ECN-Echo: the receiver has seen a mark (RFC 3168 §6.1.3).
    #[inline(always)]
    pub const fn echo(self) -> bool {
        self.0 & ECHO != 0
    }

    /// The same without ECN-Echo.
    pub const fn without_echo(self) -> EcnFlags {
        EcnFlags(self.0 & !ECHO)
    }

    /// The sender has reduced its window (RFC 3168 §6.1.2).
    #[inline(always)]
    pub const fn cwr(self) -> bool {
        self.0 & CWR != 0
    }

    /// Number of marked packets modulo 8; zero in schemes without that number.
    #[inline(always)]
    pub const fn ace(self) -> u8 {
        self.0 & NUMBER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACE: Flags = Flags::AE.union(Flags::CWR).union(Flags::ECE);

    #[test]
    fn two_flags_are_no_number_and_a_number_has_no_flags() {
        let parts = |flags: EcnFlags| (flags.echo(), flags.cwr(), flags.ace());
        assert_eq!(parts(EcnFlags::separate(Flags::all())), (true, true, 0));
        assert_eq!(parts(EcnFlags::separate(Flags::ACK | Flags::AE | Flags::ECE)), (true, false, 0));
        assert_eq!(parts(EcnFlags::separate(Flags::ACK | Flags::AE | Flags::CWR)), (false, true, 0));
        assert_eq!(parts(EcnFlags::number(Flags::all())), (false, false, 7));
        assert_eq!(EcnFlags::separate(Flags::all() - ACE), EcnFlags::NONE);
        assert_eq!(EcnFlags::number(Flags::all() - ACE), EcnFlags::NONE);
    }

    #[test]
    fn the_ace_field_is_ae_cwr_ece() {
        // RFC 9768 §3.2, figure 2: AE is the most significant bit.
        for (ace, flags) in [(1, Flags::ECE), (2, Flags::CWR), (4, Flags::AE), (5, Flags::AE | Flags::ECE), (7, ACE)] {
            assert_eq!((EcnFlags::count(ace).in_header(), EcnFlags::number(flags)), (flags, EcnFlags::count(ace)));
        }
        assert_eq!(EcnFlags::separate(Flags::all()).in_header(), Flags::ECE | Flags::CWR);
    }
}
