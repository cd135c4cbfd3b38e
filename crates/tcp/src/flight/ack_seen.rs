//! What an ACK says to the sender.

use crate::ecn::Marks;

/// What an acceptable ACK says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckSeen {
    /// Offset it acknowledges, at most `max`.
    pub ack: u64,
    /// Bytes that it newly delivers ([`crate::ecn::Acked::delivered`]).
    pub delivered: u64,
    /// It reports congestion by ECN.
    pub echo: bool,
    /// How many marks it tells of.
    pub marks: Marks,
    /// The window does not grow on it, says the feedback scheme.
    pub no_growth: bool,
    /// It has what a duplicate ACK must have, but for its number (RFC 5681 §2).
    pub bare: bool,
    /// Its SACK blocks told of bytes not known before.
    pub new_sack: bool,
    /// The timestamp it echoes, where timestamps are in use.
    pub echoed: Option<u32>,
}
