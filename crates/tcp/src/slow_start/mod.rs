//! Rules that end slow start before a loss or a mark does. One rule per file, independent of the window law.

pub mod hystart;
pub mod hystart_plus_plus;

use crate::cc::{AckSample, CcState};
use crate::hooks::{dispatch, law_trait};
use crate::registry::{SlowStartKind, slow_start_exits};

/// State of the window law when an ACK arrives.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// Congestion window and slow-start threshold.
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

/// The hooks of the rules that end slow start.
macro_rules! exit_hooks {
    ($make:ident! { $($head:tt)* }) => { $make! { $($head)*
        hot {}
        required {
                /// Called for each ACK, in every state, before it may open the window. Returns whether slow start ends.
                fn on_ack(&mut self, ack: &AckSample, opening: &Opening) -> bool;
        }
        provided {
                /// Growth of the window in slow start on an ACK of `acked` new bytes, in 2^-16 bytes; `None` leaves it
                /// to the law.
                fn growth(&self, acked: u64, opening: &Opening) -> Option<u64> {
                    None
                }
                /// Called on a retransmission timeout that reduces the window.
                fn on_timeout(&mut self) {}
        }
        more {}
    } };
}

exit_hooks! { law_trait! { {
    /// A rule that ends slow start: ssthresh is set to the window. The law determines the window afterwards.
    #[expect(unused_variables, reason = "defaults that do nothing")]
    pub trait SlowStartExit
} } }

/// The trait is object-safe.
const _: Option<&dyn SlowStartExit> = None;

/// Only a loss, a mark or the threshold ends slow start.
#[derive(Clone, Debug)]
pub(crate) struct Standard;

impl SlowStartExit for Standard {
    fn on_ack(&mut self, _: &AckSample, _: &Opening) -> bool {
        false
    }
}

/// Generates the enum of rules from the rows of the registry.
macro_rules! exits {
    ($($exit:ident, $module:ident, $name:literal, $facts:ident;)+) => {
        /// The rule in use.
        #[derive(Clone, Debug)]
        pub(crate) enum Exit { Standard(Standard), $($exit($module::$exit)),+ }

        impl Exit {
            pub fn new(kind: SlowStartKind) -> Exit {
                match kind {
                    SlowStartKind::Standard | SlowStartKind::Law => Exit::Standard(Standard),
                    $(SlowStartKind::$exit => Exit::$exit(Default::default())),+
                }
            }
        }

        impl SlowStartKind {
            /// [`Facts::only_without_threshold`](crate::Facts::only_without_threshold).
            pub const fn only_without_threshold(self) -> bool {
                match self {
                    SlowStartKind::Standard | SlowStartKind::Law => false,
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
    /// Whether only a loss, a mark or the threshold ends slow start.
    #[inline]
    pub fn is_standard(&self) -> bool {
        matches!(self, Exit::Standard(_))
    }
}

/// An ACK sample at `ms` milliseconds with an RTT in microseconds, for the rules' tests.
#[cfg(test)]
pub(crate) fn sample(ms: f64, rtt_us: u64, round: u64) -> AckSample {
    use crate::cc::Amount;
    use ecnlab_base::{Dur, Time};

    let (one, rtt) = (Amount::of(1_000, 1_000), Dur::from_us(rtt_us));
    AckSample {
        now: Time::ZERO + Dur::from_us((ms * 1_000.0) as u64),
        acked: one.bytes,
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
