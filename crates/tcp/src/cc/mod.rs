//! Window laws. TCP decides when (once per window of data), the law how much. One law per file.

// The registry's rows make all else. They do not declare modules, for rustfmt follows none that a macro declares.
pub mod cubic;
pub mod dctcp;
pub mod ecn_alpha_beta;
pub mod reno;

use ecnlab_base::{Dur, Time};

pub use crate::ack_sample::{AckSample, Amount, Sent};
use crate::config::{Config, Invalid};
use crate::registry::{WindowLaw, window_laws};

/// Why a law is told to slow down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// A loss that duplicate ACKs or SACKs told of.
    Loss,
    /// ECN-Echo.
    Ecn,
    /// A retransmission timeout: the window falls to one segment.
    Timeout,
}

/// Congestion, at most once for each window of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionEvent {
    /// What told of it.
    pub why: Congestion,
    /// When.
    pub now: Time,
    /// Bytes that the profile reduces from ([`crate::config::ReduceFrom`]).
    pub in_flight: u64,
}

/// A law's window and threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CcState {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow-start threshold in bytes; `u64::MAX` is none.
    pub ssthresh: u64,
}

/// How fast segments may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// Bytes of payload a second.
    pub rate: u64,
    /// Bytes that may leave at once.
    pub quantum: u64,
}

impl Pacing {
    /// The rate at which Linux paces a window (tcp_update_pacing_rate), a segment of `mss` bytes at a time; none before there
    /// is an RTT.
    pub fn of_window(window: CcState, srtt: Dur, mss: u64) -> Option<Pacing> {
        let percent = if window.cwnd < window.ssthresh / 2 { 200 } else { 120 };
        let bytes_ps = u128::from(window.cwnd) * percent * 10_000_000_000;
        let rate = bytes_ps.checked_div(u128::from(srtt.ps()))?;
        Some(Pacing { rate: u64::try_from(rate).unwrap_or(u64::MAX), quantum: mss })
    }
}

/// A window law. All windows are bytes, whatever the law counts in. TCP decides when a window may open and when it must be
/// reduced; a law that wants more has samples of every ACK.
pub trait CongestionControl {
    /// Whether the law hears [`on_feedback`](Self::on_feedback), [`on_ack`](Self::on_ack) and [`on_sent`](Self::on_sent).
    /// They cost each ACK and each segment something.
    const SAMPLES: bool = false;

    /// The congestion window.
    fn cwnd(&self) -> u64;
    /// An ACK of `acked` new bytes may open the window: no recovery, no ECN-Echo and no idle window forbids it.
    fn grow(&mut self, acked: u64);
    /// Congestion.
    fn on_congestion(&mut self, event: &CongestionEvent);
    /// A loss that reduces nothing: ECN or an earlier timeout has done so for this window of data.
    fn on_further_loss(&mut self) {}
    /// Each ACK, in every state, before recovery looks at it: losses and recovery are as the ACK before left them.
    fn on_feedback(&mut self, _: &AckSample) {}
    /// Each ACK, in every state, when recovery has decided; [`grow`](Self::grow) follows if the window may open.
    fn on_ack(&mut self, _: &AckSample) {}
    /// Each segment that leaves.
    fn on_sent(&mut self, _: &Sent) {}
    /// At which rate segments leave; none sends what the window admits at once.
    fn pacing(&self) -> Option<Pacing> {
        None
    }
    /// A reduction was for nothing: before it the window was `before`. The window does not fall.
    fn on_undo(&mut self, before: CcState) {
        let now = self.state();
        self.set_cwnd(now.cwnd.max(before.cwnd));
        self.set_ssthresh(now.ssthresh.max(before.ssthresh));
    }
    /// Sending begins again after more than one retransmission timeout of silence: the window is `restart` at most
    /// (RFC 5681 §4.1).
    fn on_idle_restart(&mut self, restart: u64) {
        if self.cwnd() > restart {
            self.set_cwnd(restart);
        }
    }
    /// Recovery sets the window and leaves ssthresh alone.
    fn set_cwnd(&mut self, cwnd: u64);
    /// Recovery takes `bytes` off the window, down to one segment (RFC 6582 §3.2 step 3).
    fn deflate(&mut self, bytes: u64);
    /// The slow-start threshold's first value is known only with the peer's window.
    fn set_ssthresh(&mut self, ssthresh: u64);
    /// Window and threshold.
    fn state(&self) -> CcState;
    /// Further values for the trace, each with the name of its column.
    fn columns(&self, _: &mut dyn FnMut(&'static str, f64)) {}
}

/// A window law's parameters, as [`WindowLaw`] holds them.
pub(crate) trait Params {
    /// The law that they are of.
    type Law: CongestionControl;
    /// Whether there are any.
    const ANY: bool = true;

    /// Refuses what the law cannot do.
    fn check(&self) -> Result<(), Invalid>;
    /// The law, for segments of `mss` bytes of payload.
    fn law(&self, config: &Config, mss: u32) -> Self::Law;
}

/// The law in use, from the rows of the registry.
macro_rules! in_use {
    ($($law:ident($module:ident::$params:ident), $name:literal, $summary:literal;)+) => {
        /// The law in use.
        #[derive(Clone, Debug)]
        pub(crate) enum Law { $($law(<$module::$params as Params>::Law)),+ }

        impl Law {
            /// The law that `config` names, for segments of `mss` bytes of payload.
            pub fn new(config: &Config, mss: u32) -> Law {
                match &config.congestion { $(WindowLaw::$law(params) => Law::$law(params.law(config, mss))),+ }
            }

            /// [`CongestionControl::SAMPLES`].
            #[inline]
            pub fn wants_samples(&self) -> bool {
                match self { $(Law::$law(_) => <<$module::$params as Params>::Law as CongestionControl>::SAMPLES),+ }
            }
        }
    };
}
window_laws! { in_use! {} }

/// Calls a method of the law in use: a match on an enum, which the hot path can inline.
macro_rules! of_law {
    ($value:expr, $law:ident => $what:expr) => {
        window_laws! { methods! { $value, $law => $what; } }
    };
}
macro_rules! methods {
    ($value:expr, $bound:ident => $what:expr;
     $($law:ident($module:ident::$params:ident), $name:literal, $summary:literal;)+) => {
        match $value { $(Law::$law($bound) => $what),+ }
    };
}

impl CongestionControl for Law {
    #[inline]
    fn cwnd(&self) -> u64 {
        of_law!(self, law => law.cwnd())
    }
    #[inline]
    fn grow(&mut self, acked: u64) {
        of_law!(self, law => law.grow(acked))
    }
    fn on_congestion(&mut self, event: &CongestionEvent) {
        of_law!(self, law => law.on_congestion(event))
    }
    fn on_further_loss(&mut self) {
        of_law!(self, law => law.on_further_loss())
    }
    fn on_feedback(&mut self, sample: &AckSample) {
        of_law!(self, law => law.on_feedback(sample))
    }
    fn on_ack(&mut self, sample: &AckSample) {
        of_law!(self, law => law.on_ack(sample))
    }
    fn on_sent(&mut self, sent: &Sent) {
        of_law!(self, law => law.on_sent(sent))
    }
    #[inline]
    fn pacing(&self) -> Option<Pacing> {
        of_law!(self, law => law.pacing())
    }
    fn on_undo(&mut self, before: CcState) {
        of_law!(self, law => law.on_undo(before))
    }
    fn on_idle_restart(&mut self, restart: u64) {
        of_law!(self, law => law.on_idle_restart(restart))
    }
    fn set_cwnd(&mut self, cwnd: u64) {
        of_law!(self, law => law.set_cwnd(cwnd))
    }
    fn deflate(&mut self, bytes: u64) {
        of_law!(self, law => law.deflate(bytes))
    }
    fn set_ssthresh(&mut self, ssthresh: u64) {
        of_law!(self, law => law.set_ssthresh(ssthresh))
    }
    fn state(&self) -> CcState {
        of_law!(self, law => law.state())
    }
    fn columns(&self, f: &mut dyn FnMut(&'static str, f64)) {
        of_law!(self, law => law.columns(f))
    }
}

/// Congestion at time zero, for the laws' tests.
#[cfg(test)]
pub(crate) fn event(why: Congestion, in_flight: u64) -> CongestionEvent {
    CongestionEvent { why, now: Time::ZERO, in_flight }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;

    /// The law of a profile with another window law.
    fn law(congestion: WindowLaw) -> Law {
        let config = Config { congestion, ..profile("modern").unwrap().config };
        Law::new(&config, 1_000)
    }

    #[test]
    fn a_law_in_use_hears_what_is_sent_and_what_recovery_takes_away() {
        let at = |ms| Time::ZERO + Dur::from_ms(ms);
        let mut law = law(WindowLaw::Cubic(cubic::Params::default()));
        law.set_cwnd(100_000);
        law.deflate(30_000);
        assert_eq!(law.cwnd(), 70_000);
        law.set_ssthresh(70_000);
        let ack = |law: &mut Law, ms| {
            let one = Amount::of(1_000, 1_000);
            law.on_ack(&AckSample {
                now: at(ms),
                acked: one,
                delivered: one,
                marked: Amount::default(),
                lost: Amount::default(),
                in_flight: 0,
                rtt: None,
                min_rtt: Dur::from_ms(100),
                srtt: Dur::from_ms(100),
                cwnd_limited: true,
                round: 1,
                in_recovery: false,
            });
            law.grow(1_000);
        };
        ack(&mut law, 1_000);
        // CUBIC does not count the ten seconds in which nothing is outstanding (RFC 9438 §5.8). Another 0.1 s on it is still
        // where Reno is: 70 segments and 2/70. With them it would head for 1.5 · 70, a 70th part of the way.
        law.on_sent(&Sent { now: at(11_000), bytes: 1_000, outstanding: 0, again: false });
        ack(&mut law, 11_100);
        assert_eq!(law.cwnd(), 70_028);
    }
}
