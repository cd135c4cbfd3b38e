//! Loss recovery state shared by all schemes.

/// Number of duplicate ACKs that indicate a loss (RFC 5681 §3.2).
pub(crate) const DUP_THRESH: u32 = 3;

/// Cause of the last window reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Cause {
    #[default]
    None,
    Loss,
    Ecn,
    Timeout,
}

/// Loss recovery state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recovery {
    /// True between a fast retransmit and the ACK that ends its recovery; always true with schemes that select every
    /// segment to send.
    pub active: bool,
    /// Consecutive duplicate ACKs.
    pub dupacks: u32,
    /// End of the data sent before the last reduction. The window is reduced once per window of data (RFC 6582's
    /// recover, RFC 6675's RecoveryPoint, RFC 3168 §6.1.2's window of data).
    pub recover: u64,
    /// Cause of the last window reduction.
    pub cause: Cause,
    /// Cause of the last go-back-N; ECN may have reduced the window since.
    pub stepped_back: Cause,
    /// Bytes by which the window is inflated (RFC 5681 §3.2 steps 3 and 4).
    pub inflation: u64,
    /// The first unacknowledged segment is retransmitted next, regardless of the window.
    pub head_due: bool,
    /// A partial ACK was received in this recovery.
    pub partial_seen: bool,
    /// Bytes sent by limited transmit since the first duplicate ACK.
    pub limited_sent: u64,
    /// Segments that may still be sent for this ACK.
    pub burst_left: u32,
    /// Estimate of the bytes in flight during a SACK or FACK recovery.
    pub pipe: u64,
    /// End of the data retransmitted in this recovery (RFC 6675's HighRxt).
    pub high_rxt: u64,
    /// The rescue retransmission was used (RFC 6675's RescueRxt).
    pub rescued: bool,
}
