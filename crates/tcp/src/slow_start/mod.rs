//! Where slow start ends before a loss or a mark ends it. One rule per file; window laws know none of them.

pub mod hystart;
pub mod hystart_plus_plus;

use crate::cc::{AckSample, CcState};
use crate::hooks::{dispatch, law_trait};
use crate::registry::{SlowStartKind, slow_start_exits};

/// The window law in use, as an ACK finds it.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// Window and threshold.
    pub window: CcState,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Whether segments are paced.
    pub paced: bool,
}

impl Opening {
    /// Whether the window is in slow start.
    pub fn in_slow_start(&self) -> bool {
        self.window.cwnd < self.window.ssthresh
    }
}

/// The hooks of the rules by which slow start ends.
macro_rules! exit_hooks {
    ($make:ident! { $($head:tt)* }) => { $make! { $($head)*
        hot {}
        required {
                /// Each ACK, in every state, before it may open the window. Whether slow start is over.
                fn on_ack(&mut self, ack: &AckSample, opening: &Opening) -> bool;
        }
        provided {
                /// By how much an ACK of `acked` new bytes opens the window in slow start, in 2^-16 bytes; none leaves
                /// it to the law.
                fn growth(&self, acked: u64, opening: &Opening) -> Option<u64> {
                    None
                }
                /// The retransmission timer has reduced the window.
                fn on_timeout(&mut self) {}
        }
        more {}
    } };
}

exit_hooks! { law_trait! { {
    /// A rule by which slow start ends: ssthresh becomes the window. What the window does then is its law's.
    #[expect(unused_variables, reason = "defaults that do nothing")]
    pub trait SlowStartExit
} } }

/// The trait is object-safe.
const _: Option<&dyn SlowStartExit> = None;

/// Slow start ends by a loss, a mark or the threshold alone.
#[derive(Clone, Debug)]
pub(crate) struct Standard;

impl SlowStartExit for Standard {
    fn on_ack(&mut self, _: &AckSample, _: &Opening) -> bool {
        false
    }
}

/// The rule in use, from the rows of the registry.
macro_rules! exits {
    ($($exit:ident, $module:ident, $name:literal, $facts:ident;)+) => {
        /// The rule in use.
        #[derive(Clone, Debug)]
        pub(crate) enum Exit { Standard(Standard), $($exit($module::$exit)),+ }

        impl Exit {
            pub fn new(kind: SlowStartKind) -> Exit {
                match kind {
                    SlowStartKind::Standard => Exit::Standard(Standard),
                    $(SlowStartKind::$exit => Exit::$exit(Default::default())),+
                }
            }
        }

        impl SlowStartKind {
            /// [`Facts::only_without_threshold`](crate::Facts::only_without_threshold).
            pub const fn only_without_threshold(self) -> bool {
                match self {
                    SlowStartKind::Standard => false,
                    $(SlowStartKind::$exit => $module::$facts.only_without_threshold),+
                }
            }
        }
    };
}
slow_start_exits! { exits! {} }

/// Evaluates an expression for the rule in use.
macro_rules! of_exit {
    ($value:expr, $exit:ident => $what:expr) => {
        slow_start_exits! { arms! { $value, $exit => $what; } }
    };
}
macro_rules! arms {
    ($value:expr, $bound:ident => $what:expr; $($exit:ident, $module:ident, $name:literal, $facts:ident;)+) => {
        match $value { Exit::Standard($bound) => $what, $(Exit::$exit($bound) => $what),+ }
    };
}
exit_hooks! { dispatch! { { impl SlowStartExit for Exit } of_exit } }

impl Exit {
    /// Whether slow start ends by a loss, a mark or the threshold alone.
    #[inline]
    pub fn is_standard(&self) -> bool {
        matches!(self, Exit::Standard(_))
    }
}

/// An ACK of a segment at `ms` milliseconds, with an RTT in microseconds, for the rules' tests.
#[cfg(test)]
pub(crate) fn sample(ms: f64, rtt_us: u64, round: u64) -> AckSample {
    use crate::cc::Amount;
    use ecnlab_base::{Dur, Time};

    let (one, rtt) = (Amount::of(1_000, 1_000), Dur::from_us(rtt_us));
    AckSample {
        now: Time::ZERO + Dur::from_us((ms * 1_000.0) as u64),
        acked: one,
        delivered: one,
        rtt: Some(rtt),
        last_rtt: Some(rtt),
        min_rtt: rtt,
        srtt: rtt,
        cwnd_limited: true,
        round,
        ..AckSample::default()
    }
}
