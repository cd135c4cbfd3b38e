//! Loss recovery: what duplicate ACKs, SACKs and partial ACKs make a sender do. One scheme per file.

pub mod fack;
pub mod newreno;
pub mod rack;
pub mod reno;
pub mod sack;
pub mod tahoe;

use crate::config::Config;
use crate::registry::RecoveryKind;
use crate::sender::{Chunk, Cx, Sender};

pub(crate) use rack::RackState;

/// Duplicate ACKs that mean a loss (RFC 5681 §3.2).
pub(crate) const DUP_THRESH: u32 = 3;

/// What a scheme decides. Its state is the sender's [`Recovery`] and scoreboard, which all schemes share.
pub(crate) trait Scheme {
    /// A duplicate ACK, already counted in [`Recovery::dupacks`].
    fn on_dupack(tx: &mut Sender, cx: &mut Cx);
    /// An ACK of `acked` new bytes during recovery, of which the sender's una already tells.
    fn on_ack(tx: &mut Sender, acked: u64, cx: &mut Cx) -> Progress;
    /// A burst of sending begins during recovery.
    fn begin_burst(_tx: &mut Sender, _config: &Config) {}
    /// What to send next during recovery.
    fn next(tx: &mut Sender, config: &Config) -> Option<Chunk> {
        tx.next_in_window(config)
    }
}

/// What an ACK during recovery does besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// It opens the window too.
    pub grow: bool,
    /// It restarts the retransmission timer.
    pub rearm: bool,
}

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
    /// Between a fast retransmit and the ACK that ends its recovery; with RACK, always: it says all the time what to
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

/// Calls `$method` of the scheme that `$kind` names.
macro_rules! dispatch {
    ($kind:expr, $method:ident ( $($arg:expr),* )) => {
        match $kind {
            RecoveryKind::Tahoe => tahoe::Tahoe::$method($($arg),*),
            RecoveryKind::Reno => reno::Reno::$method($($arg),*),
            RecoveryKind::NewReno => newreno::NewReno::$method($($arg),*),
            RecoveryKind::Sack => sack::Sack::$method($($arg),*),
            RecoveryKind::Fack => fack::Fack::$method($($arg),*),
            RecoveryKind::Rack => rack::Rack::$method($($arg),*),
        }
    };
}

pub(crate) fn on_dupack(tx: &mut Sender, cx: &mut Cx) {
    dispatch!(tx.scheme, on_dupack(tx, cx))
}

pub(crate) fn on_ack(tx: &mut Sender, acked: u64, cx: &mut Cx) -> Progress {
    dispatch!(tx.scheme, on_ack(tx, acked, cx))
}

pub(crate) fn begin_burst(tx: &mut Sender, config: &Config) {
    dispatch!(tx.scheme, begin_burst(tx, config))
}

pub(crate) fn next(tx: &mut Sender, config: &Config) -> Option<Chunk> {
    dispatch!(tx.scheme, next(tx, config))
}
