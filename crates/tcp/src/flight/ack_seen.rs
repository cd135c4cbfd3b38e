//! Contents of an ACK, as seen by the sender.

use crate::ecn::Marks;

/// Contents of an acceptable ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckSeen {
    /// Offset it acknowledges, at most `max`.
    pub ack: u64,
    /// Bytes that it newly delivers ([`crate::ecn::Acked::delivered`]).
    pub delivered: u64,
    /// It reports congestion by ECN.
    pub echo: bool,
    /// Number of marks that it reports.
    pub marks: Marks,
    /// The feedback scheme reports that the window does not grow on it.
    pub no_growth: bool,
    /// It has what a duplicate ACK must have, but for its number (RFC 5681 §2).
    pub bare: bool,
    /// Its SACK blocks report bytes not known before.
    pub new_sack: bool,
    /// The timestamp it echoes, where timestamps are in use.
    pub echoed: Option<u32>,
}
