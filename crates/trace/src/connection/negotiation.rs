//! What a handshake agrees on.

use ecnlab_wire::Flags;

use super::ECHO;
use crate::counted::ACE as ACCURATE;

/// Result of the ECN negotiation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Negotiation {
    /// The handshake is not in the capture.
    #[default]
    Unknown,
    /// The SYN did not offer ECN.
    NotOffered,
    /// The SYN offered ECN; the capture has no SYN-ACK.
    Unanswered,
    /// The SYN offered ECN; the SYN-ACK declined.
    Refused,
    /// The SYN-ACK reflected the SYN's flags, which RFC 3168 §6.1.1 defines as a refusal.
    Reflected,
    /// The SYN offered ECN; its retransmission did not (RFC 3168 §6.1.1.1).
    FellBack,
    /// RFC 3168 ECN.
    Accepted,
    /// RFC 9768 (AccECN).
    AccEcn,
    /// The SYN offered AccECN, the SYN-ACK agreed to RFC 3168 ECN.
    AccEcnToClassic,
}

impl Negotiation {
    /// Name of the state in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Negotiation::Unknown => "unknown",
            Negotiation::NotOffered => "not offered",
            Negotiation::Unanswered => "unanswered",
            Negotiation::Refused => "refused",
            Negotiation::Reflected => "reflected",
            Negotiation::FellBack => "fell back",
            Negotiation::Accepted => "accepted",
            Negotiation::AccEcn => "AccECN",
            Negotiation::AccEcnToClassic => "AccECN to RFC 3168",
        }
    }
    /// Returns whether ECE and CWR have the meaning of RFC 3168, which is assumed if the capture lacks the handshake.
    pub const fn is_classic(self) -> bool {
        matches!(self, Negotiation::Accepted | Negotiation::AccEcnToClassic | Negotiation::Unknown)
    }
    /// Returns whether the handshake shows that ECN is not in use.
    pub const fn is_off(self) -> bool {
        matches!(self, Negotiation::NotOffered | Negotiation::Refused | Negotiation::Reflected | Negotiation::FellBack)
    }
}

/// Returns the negotiation agreed by the flags of SYN and SYN-ACK: RFC 3168 §6.1.1, RFC 9768 §3.1.2 table 2.
pub(super) fn agree(offered: Flags, answered: Flags) -> Negotiation {
    let accurate = offered.contains(ACCURATE);
    if offered & ACCURATE == Flags::empty() {
        return Negotiation::NotOffered;
    }
    if !offered.contains(ECHO) {
        return Negotiation::Refused;
    }
    match (accurate, answered.contains(Flags::AE), answered.contains(Flags::CWR), answered.contains(Flags::ECE)) {
        (_, false, false, false) => Negotiation::Refused,
        (true, true, true, true) | (false, _, true, true) => Negotiation::Reflected,
        (true, false, false, true) => Negotiation::AccEcnToClassic,
        (true, ..) => Negotiation::AccEcn,
        (false, _, false, true) => Negotiation::Accepted,
        (false, ..) => Negotiation::Refused,
    }
}

/// Returns the negotiation of a simultaneous open whose SYNs are answered by plain ACKs: each end has received the
/// other's offer.
pub(super) fn agree_by_syns(first: Flags, second: Flags) -> Negotiation {
    match (first & second & ACCURATE, first | second) {
        (ACCURATE, _) => Negotiation::AccEcn,
        (both, _) if both.contains(ECHO) => Negotiation::Accepted,
        (_, either) if (either & ACCURATE).is_empty() => Negotiation::NotOffered,
        _ => Negotiation::Refused,
    }
}
