//! A segment outstanding, and why one is sent again.

/// Segments remembered until they are acknowledged. Of a capture without ACKs the oldest are forgotten.
pub(crate) const MOST_SEGMENTS: usize = 1 << 15;
/// Duplicate ACKs that begin a fast retransmit (RFC 5681 §3.2).
pub(crate) const DUPLICATES: u32 = 3;

/// Why a segment was sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Three duplicate ACKs, or SACK's word for them: the first of a recovery (RFC 5681 §3.2, RFC 6675 §5).
    Fast,
    /// Later in a recovery, of a hole that SACK shows.
    Sack,
    /// Later in a recovery, without SACK: a partial ACK (RFC 6582 §3.2). Also a SYN-ACK, for a SYN that came again.
    Partial,
    /// The timer, or what is sent again after it (RFC 6298 §5).
    Timeout,
    /// The last segment outstanding, well before a timeout: a probe for a lost tail (RFC 8985 §7.3).
    Tail,
}

/// A segment outstanding.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub start: u64,
    pub end: u64,
    /// When last sent.
    pub time: u64,
    /// Sent again, or acknowledged in part: no round-trip time can be taken of it.
    pub spoilt: bool,
    /// Sent again in the recovery going on.
    pub resent: bool,
    /// And that as the last of all, with nothing above it that SACK had reported.
    pub rescue: bool,
    // What a reading by RACK knows of it: reported by SACK, taken for lost, a copy in flight, sent more than once.
    pub held: bool,
    pub lost: bool,
    pub copy: bool,
    pub twice: bool,
}
