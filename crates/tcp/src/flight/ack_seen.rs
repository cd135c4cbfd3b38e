//! Contents of an ACK, as seen by the sender.

use crate::ecn::Marks;

/// Contents of an acceptable ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckSeen {
    /// Offset that it acknowledges, at most `max`.
    pub ack: u64,
    /// Bytes newly delivered ([`crate::ecn::Acked::delivered`]).
    pub delivered: u64,
    /// The ACK reports congestion by ECN.
    pub echo: bool,
    /// Marks that the ACK reports.
    pub marks: Marks,
    /// The feedback scheme does not let the window grow on this ACK.
    pub no_growth: bool,
    /// The ACK meets the conditions of a duplicate ACK, except for its acknowledgement number (RFC 5681 §2).
    pub bare: bool,
    /// The SACK blocks report bytes not reported before.
    pub new_sack: bool,
    /// Echoed timestamp, if timestamps are in use.
    pub echoed: Option<u32>,
}
