//! Loss recovery: what duplicate ACKs, SACKs and partial ACKs make a sender do. One scheme per file.

// The registry's rows make all else. They do not declare modules, for rustfmt follows none that a macro declares.
pub mod fack;
pub mod linux;
pub mod newreno;
pub mod reno;
pub mod sack;
pub mod tahoe;

use ecnlab_base::{Dur, Time};

use crate::cc::{CongestionControl, Law};
use crate::config::{Config, Invalid};
use crate::registry::{RecoveryKind, recovery_schemes};
use crate::sender::{AckSeen, Chunk, Cx, Flight};

/// Duplicate ACKs that mean a loss (RFC 5681 §3.2).
pub(crate) const DUP_THRESH: u32 = 3;

/// What a scheme decides. All schemes share the flight's [`Recovery`]; what one keeps for itself is in its own value.
///
/// An ACK goes through [`Scheme::deliver`], [`Scheme::rtt`], [`Scheme::decide`] and [`Scheme::open`], in that order
/// ([`Flight::on_ack`]). The schemes of the textbook leave these to the sender, and say what duplicate ACKs and the ACKs
/// after them mean; Linux's decide for themselves.
pub(crate) trait Scheme: Default {
    /// What stands in for it where the peer does not permit SACK, if it lives on the receiver's SACKs.
    const WITHOUT_SACK: Option<RecoveryKind> = None;
    /// Whether only ACKs with new SACK information count as duplicates (RFC 6675 §2).
    const COUNTS_SACKS: bool = false;
    /// What the scheme gathers of one ACK.
    type Delivery: Default;

    // ---- the steps of an ACK ----

    /// Takes in the ACK's number and what SACK has reported.
    #[inline]
    fn deliver(&mut self, tx: &mut Flight, seen: &AckSeen, _cx: &Cx) -> Self::Delivery {
        if seen.ack > tx.una {
            tx.acknowledge(seen.ack);
        }
        Self::Delivery::default()
    }
    /// The RTT that the ACK shows. Before it all up to `una` was acknowledged.
    #[inline]
    fn rtt(
        &mut self,
        tx: &mut Flight,
        seen: &AckSeen,
        una: u64,
        _delivery: &mut Self::Delivery,
        cx: &Cx,
    ) -> Option<Dur> {
        if seen.ack > una { tx.rtt_of(seen, una, cx) } else { None }
    }
    /// What is lost, and what of ECN-Echo is answered. Returns by how many bytes the window may open.
    #[inline(always)]
    fn decide(&mut self, tx: &mut Flight, seen: &AckSeen, una: u64, _delivery: Self::Delivery, cx: &mut Cx) -> u64 {
        tx.decide(self, seen, una, cx)
    }
    /// Opens the window by up to `acked` bytes.
    #[inline]
    fn open(law: &mut Law, acked: u64) {
        law.grow(acked);
    }

    // ---- what the textbook's schemes say ----

    /// A duplicate ACK, already counted in [`Recovery::dupacks`].
    fn on_dupack(&mut self, _tx: &mut Flight, _cx: &mut Cx) {}
    /// An ACK of `acked` new bytes during recovery, of which the sender's una already tells.
    fn on_new_ack(&mut self, _tx: &mut Flight, _acked: u64, _cx: &mut Cx) -> Progress {
        Progress { grow: true, rearm: true }
    }
    /// An ACK of new data after which no recovery is going on.
    fn outside(&mut self, _tx: &mut Flight, _config: &Config) {}
    /// A burst of sending begins during recovery.
    fn begin_burst(&mut self, _tx: &mut Flight, _config: &Config) {}
    /// What to send next during recovery.
    fn next(&mut self, tx: &mut Flight, config: &Config) -> Option<Chunk> {
        tx.next_in_window(config)
    }

    // ---- what all leave to the sender but those that see to more ----

    /// Refuses what the scheme cannot be combined with.
    fn check(_config: &Config) -> Result<(), Invalid> {
        Ok(())
    }
    /// Data may flow. The handshake took `rtt`, if it was timed.
    fn on_established(&mut self, _tx: &mut Flight, _rtt: Option<Dur>) {}
    /// SACK reports `start..end`, of which `new` bytes were not known. The ACK itself follows.
    fn on_sacked(&mut self, _tx: &mut Flight, _start: u64, _end: u64, _new: u64) {}
    /// A chunk leaves, for the first time or again; whether the scheme keeps the time of a new one itself.
    fn on_sent(&mut self, _tx: &mut Flight, _chunk: Chunk, _cx: &Cx) -> bool {
        false
    }
    /// What has just been sent wants the retransmission timer.
    fn arm(&mut self, tx: &mut Flight, cx: &Cx) {
        tx.arm(cx.config, cx.now);
    }
    /// A burst of sending has ended.
    fn end_burst(&mut self, _tx: &mut Flight, _config: &Config, _now: Time) {}
    /// The deadline has come; whether it was the scheme's own and no retransmission timeout.
    fn on_timer(&mut self, _tx: &mut Flight, _cx: &mut Cx) -> bool {
        false
    }
    /// The retransmission timer has fired with data outstanding.
    fn on_timeout(&mut self, tx: &mut Flight, cx: &mut Cx) {
        tx.on_timeout(cx);
    }
    /// ECN-Echo on an ACK of `acked` new bytes, or a source quench, has told of congestion.
    fn reduce_for_ecn(&mut self, tx: &mut Flight, acked: u64, cx: &mut Cx) {
        tx.reduce_for_ecn(acked, cx);
    }
    /// Whether a recovery is going on, for time series and source quenches.
    fn in_recovery(&self, tx: &Flight) -> bool {
        tx.recovery.active
    }
    /// Bytes taken for lost in total. Without a scoreboard they are known as lost when they are sent again.
    fn lost(&self, tx: &Flight) -> u64 {
        tx.resent
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

/// The scheme in use, from the rows of the registry.
macro_rules! in_use {
    ($($scheme:ident, $module:ident $(/ $part:ident)?, $name:literal, $summary:literal;)+) => {
        /// The scheme in use, with what it keeps for itself.
        #[derive(Clone, Debug)]
        pub(crate) enum InUse { $($scheme($module$(::$part)?::$scheme)),+ }

        impl InUse {
            /// The scheme of that name, at the beginning.
            pub fn new(kind: RecoveryKind) -> InUse {
                match kind { $(RecoveryKind::$scheme => InUse::$scheme(Default::default())),+ }
            }
        }
    };
}
recovery_schemes! { in_use! {} }

/// Evaluates `$what` with `$S` standing for the scheme that `$value`, of the enum `$of`, names.
macro_rules! with_scheme {
    ($of:ident, $value:expr, $S:ident => $what:expr) => {
        recovery_schemes! { arms! { $of, $value, $S => $what; } }
    };
}
macro_rules! arms {
    ($of:ident, $value:expr, $S:ident => $what:expr;
     $($scheme:ident, $module:ident $(/ $part:ident)?, $name:literal, $summary:literal;)+) => {
        match $value { $($of::$scheme { .. } => { type $S = $module$(::$part)?::$scheme; $what })+ }
    };
}

impl RecoveryKind {
    /// Whether it lives on the receiver's SACKs.
    pub const fn needs_sack(self) -> bool {
        with_scheme!(RecoveryKind, self, S => S::WITHOUT_SACK.is_some())
    }

    /// The scheme itself, or [`Scheme::WITHOUT_SACK`] if SACK is not `permitted`.
    pub(crate) fn with_sack(self, permitted: bool) -> RecoveryKind {
        let stand_in = with_scheme!(RecoveryKind, self, S => S::WITHOUT_SACK);
        stand_in.filter(|_| !permitted).unwrap_or(self)
    }

    /// Refuses a configuration that the scheme cannot work with.
    pub(crate) fn check(self, config: &Config) -> Result<(), Invalid> {
        with_scheme!(RecoveryKind, self, S => S::check(config))
    }
}

/// Calls a method of the scheme in use.
macro_rules! of_scheme {
    ($value:expr, $scheme:ident => $what:expr) => {
        recovery_schemes! { methods! { $value, $scheme => $what; } }
    };
}
macro_rules! methods {
    ($value:expr, $bound:ident => $what:expr;
     $($scheme:ident, $module:ident $(/ $part:ident)?, $name:literal, $summary:literal;)+) => {
        match $value { $(InUse::$scheme($bound) => $what,)+ }
    };
}

impl InUse {
    /// [`Scheme::COUNTS_SACKS`].
    pub fn counts_sacks(&self) -> bool {
        with_scheme!(InUse, self, S => S::COUNTS_SACKS)
    }

    /// [`Flight::on_ack`] with the scheme in use.
    #[inline]
    pub fn on_ack(&mut self, tx: &mut Flight, seen: &AckSeen, cx: &mut Cx) {
        of_scheme!(self, scheme => tx.on_ack(scheme, seen, cx))
    }

    /// [`Scheme::begin_burst`].
    pub fn begin_burst(&mut self, tx: &mut Flight, config: &Config) {
        of_scheme!(self, scheme => scheme.begin_burst(tx, config))
    }

    /// [`Scheme::next`].
    pub fn next(&mut self, tx: &mut Flight, config: &Config) -> Option<Chunk> {
        of_scheme!(self, scheme => scheme.next(tx, config))
    }

    /// [`Scheme::on_established`].
    pub fn on_established(&mut self, tx: &mut Flight, rtt: Option<Dur>) {
        of_scheme!(self, scheme => scheme.on_established(tx, rtt))
    }

    /// [`Scheme::on_sacked`].
    pub fn on_sacked(&mut self, tx: &mut Flight, start: u64, end: u64, new: u64) {
        of_scheme!(self, scheme => scheme.on_sacked(tx, start, end, new))
    }

    /// [`Scheme::on_sent`].
    #[inline]
    pub fn on_sent(&mut self, tx: &mut Flight, chunk: Chunk, cx: &Cx) -> bool {
        of_scheme!(self, scheme => scheme.on_sent(tx, chunk, cx))
    }

    /// [`Scheme::arm`].
    pub fn arm(&mut self, tx: &mut Flight, cx: &Cx) {
        of_scheme!(self, scheme => scheme.arm(tx, cx))
    }

    /// [`Scheme::end_burst`].
    #[inline]
    pub fn end_burst(&mut self, tx: &mut Flight, config: &Config, now: Time) {
        of_scheme!(self, scheme => scheme.end_burst(tx, config, now))
    }

    /// [`Scheme::on_timer`].
    pub fn on_timer(&mut self, tx: &mut Flight, cx: &mut Cx) -> bool {
        of_scheme!(self, scheme => scheme.on_timer(tx, cx))
    }

    /// [`Scheme::on_timeout`].
    pub fn on_timeout(&mut self, tx: &mut Flight, cx: &mut Cx) {
        of_scheme!(self, scheme => scheme.on_timeout(tx, cx))
    }

    /// [`Scheme::reduce_for_ecn`].
    pub fn reduce_for_ecn(&mut self, tx: &mut Flight, acked: u64, cx: &mut Cx) {
        of_scheme!(self, scheme => scheme.reduce_for_ecn(tx, acked, cx))
    }

    /// [`Scheme::in_recovery`].
    pub fn in_recovery(&self, tx: &Flight) -> bool {
        of_scheme!(self, scheme => scheme.in_recovery(tx))
    }
}
