//! Window laws. TCP decides when (once per window of data), the law how much. One law per file.

// A window law has two lines in this file: its module and its row. A row declares no module, since rustfmt does not follow
// modules that a macro declares.
pub mod bbr;
pub mod bbr3;
pub mod cubic;
pub mod dctcp;
pub mod ecn_alpha_beta;
pub mod highspeed;
pub mod ledbat;
pub mod prague;
pub mod reno;
pub mod scalable;
pub mod user_defined;
pub mod vegas;

/// The rows of the window laws: name in the code, module and type of the parameters, name in scenarios, facts. `$make` gets
/// them behind `$head`: `crate::registry` derives the names from them, `crate::law` the law in use.
macro_rules! window_laws {
    ($make:ident! { $($head:tt)* }) => {
        $make! { $($head)*
            Reno(reno::Params), "reno", FACTS;
            EcnAlphaBeta(ecn_alpha_beta::Params), "ecn-alpha-beta", FACTS;
            Abe(ecn_alpha_beta::AbeParams), "abe", ABE;
            Cubic(cubic::Params), "cubic", FACTS;
            Dctcp(dctcp::Params), "dctcp", FACTS;
            Bbr(bbr::Params), "bbr", FACTS;
            Bbr3(bbr3::Params), "bbr3", FACTS;
            HighSpeed(highspeed::Params), "highspeed", FACTS;
            Scalable(scalable::Params), "scalable", FACTS;
            Vegas(vegas::Params), "vegas", FACTS;
            Ledbat(ledbat::Params), "ledbat", FACTS;
            Prague(prague::Params), "prague", FACTS;
            UserDefined(user_defined::Params), "user-defined", FACTS;
        }
    };
}
pub(crate) use window_laws;

use std::fmt;

use ecnlab_base::{Dur, Time, UserLaw};
use ecnlab_wire::Ecn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::ack_sample::{AckSample, Amount, Established, Lost, RateSample, Sent};
use crate::hooks::law_trait;
use crate::invalid::Invalid;
pub use crate::rules::{Rules, Start};
pub use crate::window::{CcState, Window};

/// Reason of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// A loss detected by duplicate ACKs or SACKs.
    Loss,
    /// ECN-Echo.
    Ecn,
    /// A retransmission timeout: the window falls to one segment.
    Timeout,
}

/// A congestion event, at most once per window of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionEvent {
    /// The signal.
    pub why: Congestion,
    /// When.
    pub now: Time,
    /// Bytes that the profile reduces from ([`crate::config::ReduceFrom`]).
    pub in_flight: u64,
}

/// Pacing of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// Rate in bytes of payload per second.
    pub rate: u64,
    /// Maximum burst in bytes.
    pub quantum: u64,
}

impl Pacing {
    /// All that the window admits at once.
    pub const UNLIMITED: Pacing = Pacing { rate: u64::MAX, quantum: u64::MAX };

    /// The rate at which Linux paces a window of which `outstanding` bytes are not acknowledged (tcp_update_pacing_rate), a
    /// segment of `mss` bytes at a time; none before there is an RTT.
    pub fn of_window(window: CcState, outstanding: u64, srtt: Dur, mss: u64) -> Option<Pacing> {
        let percent = if window.cwnd < window.ssthresh / 2 { 200 } else { 120 };
        let bytes_ps = u128::from(window.cwnd.max(outstanding)) * percent * 10_000_000_000;
        let rate = bytes_ps.checked_div(u128::from(srtt.ps()))?;
        Some(Pacing { rate: u64::try_from(rate).unwrap_or(u64::MAX), quantum: mss })
    }
}

/// The codepoint of ECN-capable packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Codepoint {
    /// ECT(0): a mark is equivalent to a loss (RFC 3168 §5).
    #[default]
    Ect0,
    /// ECT(1): marks are early and frequent (L4S, RFC 9331 §4.1).
    Ect1,
}

impl From<Codepoint> for Ecn {
    fn from(codepoint: Codepoint) -> Ecn {
        match codepoint {
            Codepoint::Ect0 => Ecn::Ect0,
            Codepoint::Ect1 => Ecn::Ect1,
        }
    }
}

/// The hooks of window laws.
macro_rules! window_hooks {
    ($make:ident! { $($head:tt)* }) => { $make! { $($head)*
        hot {}
        required {
            /// Returns the law's window and threshold.
            fn window(&self) -> &Window;
            /// The same, for recovery to set.
            fn window_mut(&mut self) -> &mut Window;
            /// Handles an ACK of `acked` new bytes that may open the window: not in recovery or with ECN-Echo, and cwnd-limited.
            fn grow(&mut self, acked: u64);
            /// Congestion.
            fn on_congestion(&mut self, event: &CongestionEvent);
        }
        provided {
            /// Handles a loss without a reduction: ECN or an earlier timeout has reduced the window for this window of data.
            fn on_further_loss(&mut self) {}
            /// Handles a loss detected during the reduction for a mark, in recovery schemes with Linux's states. Returns
            /// whether the law has set another threshold for it.
            fn on_loss_after_mark(&mut self) -> bool {
                false
            }
            /// Called when the connection is established.
            fn on_established(&mut self, established: &Established) {}
            /// Called for each ACK, in every state, before loss recovery: losses and recovery are as the previous ACK
            /// left them.
            fn on_feedback(&mut self, sample: &AckSample) {}
            /// Called for each ACK that comes before any data were written, in place of `on_feedback` and `on_ack`; not for
            /// the ACK of the handshake.
            #[inline]
            fn on_idle_ack(&mut self) {}
            /// Called for each ACK, in every state, after loss recovery; [`grow`](Self::grow) follows if the window may
            /// open.
            fn on_ack(&mut self, sample: &AckSample) {}
            /// Called for each segment that loss detection has marked lost, in the order of marking: before
            /// [`on_ack`](Self::on_ack), and after [`on_congestion`](Self::on_congestion) of the same event. Only with
            /// [`crate::Facts::rates`].
            fn on_lost(&mut self, lost: &Lost, now: Time) {}
            /// Called for each segment sent.
            #[inline]
            fn on_sent(&mut self, sent: &Sent) {}
            /// The codepoint of the packets that the feedback scheme makes ECN-capable. If the ends agree on feedback
            /// that does not count marks, it is ECT(0) whatever the law (RFC 9331 §4.2).
            #[inline]
            fn codepoint(&self) -> Codepoint {
                Codepoint::Ect0
            }
            /// Whether marks reduce what the law sends; false if its parameters make it ignore them.
            fn answers_marks(&self) -> bool {
                true
            }
            /// Returns the pacing; `None` sends all that the window admits at once. Only called with [`crate::Facts::paces`].
            #[inline]
            fn pacing(&self) -> Option<Pacing> {
                None
            }
            /// Returns whether the law has kept its window below its estimate of the path's capacity, so that delivery
            /// rates of the data now in flight do not measure the path. Called after [`on_ack`](Self::on_ack) for laws
            /// with [`crate::Facts::rates`].
            #[inline]
            fn limits_rate(&self) -> bool {
                false
            }
            /// Undoes a spurious reduction: before it the window was `before`. The window never decreases here.
            fn on_undo(&mut self, before: CcState) {
                self.window_mut().undo(before);
            }
            /// Called when sending resumes after an idle time of more than one RTO: the window becomes `restart` at
            /// most (RFC 5681 §4.1).
            fn on_idle_restart(&mut self, restart: u64) {
                self.window_mut().restart(restart);
            }
            /// Returns the values of [`crate::Facts::columns`], in that order.
            fn values(&self) -> Vec<f64> {
                Vec::new()
            }
        }
        more {
            /// The congestion window in bytes.
            #[inline]
            fn cwnd(&self) -> u64 {
                self.window().cwnd()
            }
            /// Window and threshold.
            fn state(&self) -> CcState {
                self.window().state()
            }
            /// Sets the window during recovery without changing ssthresh.
            fn set_cwnd(&mut self, cwnd: u64) {
                self.window_mut().set_cwnd(cwnd);
            }
            /// Deflates the window by `bytes` in recovery, down to one segment (RFC 6582 §3.2 step 3).
            fn deflate(&mut self, bytes: u64) {
                self.window_mut().deflate(bytes);
            }
            /// Sets the slow-start threshold; called by recovery and for the peer's first window.
            fn set_ssthresh(&mut self, ssthresh: u64) {
                self.window_mut().set_ssthresh(ssthresh);
            }
        }
    } };
}
pub(crate) use window_hooks;

window_hooks! { law_trait! { {
    /// A window law. All windows are bytes, whatever the law counts in. TCP decides when a window may open and when it must be
    /// reduced; a law that wants more has samples of every ACK.
    #[expect(unused_variables, reason = "most defaults do nothing")]
    pub trait CongestionControl: fmt::Debug + Send
} } }

/// Creates the objects of a user-defined law, one per endpoint.
pub trait Supply: Send + Sync {
    /// The law at the beginning of a connection; `window` is its initial window.
    fn object(&self, window: Window) -> Box<dyn CongestionControl>;
}

/// A window law's parameters, as [`crate::registry::WindowLaw`] holds them.
pub(crate) trait Params {
    /// The law as [`crate::law::Law`] holds it: the law's own type, or a boxed [`CongestionControl`].
    ///
    /// Built-in laws are `repr(C)` with the window, or the law that has it, as their first field: at the same place in all laws, it is
    /// found without a jump by the law in use, which takes 1 % fewer instructions per packet.
    type Law;
    /// The law's initial state: [`Start`] if it, or a law that it is built on, follows the host's rules of counting;
    /// [`Window`] if not, which gives no access to the rules.
    type Start;
    /// Whether there are any.
    const ANY: bool = true;

    /// Rejects settings that the law does not support.
    fn check(&self) -> Result<(), Invalid>;
    /// The key that requires feedback with a count of marks ([`Facts::counts_marks`](crate::Facts::counts_marks)), if one does.
    fn needs_count(&self) -> Option<&'static str> {
        None
    }
    /// Whether the parameters require timestamps.
    fn needs_timestamps(&self) -> bool {
        false
    }
    /// Sets omitted parameters that depend on the TCP profile.
    fn settle(&mut self, _profile: &str) {}
    /// The rule of its implementation that ends slow start (`slow_start = "law"`), by its name.
    fn slow_start(&self) -> &'static str {
        "standard"
    }
    /// The name and object of a user-defined law, if it is one.
    fn user_law(&self) -> Option<&UserLaw<dyn Supply>> {
        None
    }
    /// The same, as a mutable reference, so that it can be supplied.
    fn user_law_mut(&mut self) -> Option<&mut UserLaw<dyn Supply>> {
        None
    }
    /// The law, at the beginning of a connection.
    fn law(&self, start: Self::Start) -> Self::Law;
}

/// Congestion at time zero, for the laws' tests.
#[cfg(test)]
pub(crate) fn event(why: Congestion, in_flight: u64) -> CongestionEvent {
    CongestionEvent { why, now: Time::ZERO, in_flight }
}
