//! The state of loss recovery that all schemes share.

/// Duplicate ACKs that mean a loss (RFC 5681 §3.2).
pub(crate) const DUP_THRESH: u32 = 3;

/// The last reason to reduce the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Cause {
    #[default]
    None,
    Loss,
    Ecn,
    Timeout,
}

/// The state of loss recovery.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recovery {
    /// Between a fast retransmit and the ACK that ends its recovery; always, if the scheme says all the time what to
    /// send.
    pub active: bool,
    /// Duplicate ACKs in a row.
    pub dupacks: u32,
    /// Everything sent before the last reduction lies below: there is one reduction a window (RFC 6582's
    /// recover, RFC 6675's RecoveryPoint, RFC 3168 §6.1.2's window of data).
    pub recover: u64,
    /// Why the window was last reduced.
    pub cause: Cause,
    /// Why all was last to be sent again in order; ECN may have reduced the window since.
    pub stepped_back: Cause,
    /// Bytes by which the window is inflated (RFC 5681 §3.2 steps 3 and 4).
    pub inflation: u64,
    /// The first unacknowledged segment is to be sent again, whatever the window.
    pub head_due: bool,
    /// A partial ACK has come in this recovery.
    pub partial_seen: bool,
    /// Bytes sent by limited transmit since the first duplicate ACK.
    pub limited_sent: u64,
    /// Segments that may still be sent for this ACK.
    pub burst_left: u32,
    /// Estimate of the bytes in flight during a SACK or FACK recovery.
    pub pipe: u64,
    /// The end of what this recovery has sent again (RFC 6675's HighRxt).
    pub high_rxt: u64,
    /// The rescue retransmission was used (RFC 6675's RescueRxt).
    pub rescued: bool,
}
