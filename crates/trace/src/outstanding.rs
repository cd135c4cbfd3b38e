//! An outstanding segment, and the causes of retransmissions.

/// Maximum number of unacknowledged segments stored. In a capture without ACKs the oldest are dropped.
pub(crate) const MOST_SEGMENTS: usize = 1 << 15;
/// Duplicate ACKs that trigger a fast retransmit (RFC 5681 §3.2).
pub(crate) const DUPLICATES: u32 = 3;

/// Cause of a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Fast retransmit: three duplicate ACKs or the equivalent SACK information; the first retransmission of a recovery
    /// (RFC 5681 §3.2, RFC 6675 §5).
    Fast,
    /// A later retransmission of a recovery, for a hole reported by SACK.
    Sack,
    /// A later retransmission of a recovery without SACK, after a partial ACK (RFC 6582 §3.2). Also a SYN-ACK sent for
    /// a repeated SYN.
    Partial,
    /// Retransmission timeout, including the retransmissions that follow it (RFC 6298 §5).
    Timeout,
    /// Tail loss probe: the last outstanding segment, sent well before a timeout (RFC 8985 §7.3).
    Tail,
}

/// An outstanding segment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub start: u64,
    pub end: u64,
    /// Time of the last transmission.
    pub time: u64,
    /// Retransmitted or partly acknowledged: it gives no RTT sample.
    pub spoilt: bool,
    /// Retransmitted in the current recovery.
    pub resent: bool,
    /// Retransmitted as a rescue retransmission: the last segment, with no SACKed data above it.
    pub rescue: bool,
    // State of the RACK interpretation: SACKed, marked lost, a copy in flight, retransmitted more than once; the last
    // transmission found lost by its send time.
    pub held: bool,
    pub lost: bool,
    pub copy: bool,
    pub twice: bool,
    pub judged: bool,
}
