//! Window laws. TCP decides when (once per window of data), the law how much. One law per file.

// A window law has two lines in this file: its module and its row. A row declares no module, since rustfmt does not follow
// modules that a macro declares.
pub mod bbr;
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

pub use crate::ack_sample::{AckSample, Amount, Established, RateSample, Sent};
use crate::hooks::law_trait;
use crate::invalid::Invalid;
pub use crate::rules::{Rules, Start};
pub use crate::window::{CcState, Window};

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

/// The codepoint of packets that may be marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Codepoint {
    /// ECT(0): a mark means what a loss means (RFC 3168 §5).
    #[default]
    Ect0,
    /// ECT(1): marks come early and often (L4S, RFC 9331 §4.1).
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
            /// Window and threshold, which are the law's own.
            fn window(&self) -> &Window;
            /// The same, for recovery to set.
            fn window_mut(&mut self) -> &mut Window;
            /// An ACK of `acked` new bytes may open the window: no recovery, no ECN-Echo and no idle window forbids it.
            fn grow(&mut self, acked: u64);
            /// Congestion.
            fn on_congestion(&mut self, event: &CongestionEvent);
        }
        provided {
            /// A loss that reduces nothing: ECN or an earlier timeout has done so for this window of data.
            fn on_further_loss(&mut self) {}
            /// A loss is found while the window goes down for a mark, with recoveries that have Linux's states. Returns
            /// whether the law has set another threshold for it.
            fn on_loss_after_mark(&mut self) -> bool {
                false
            }
            /// Data may flow.
            fn on_established(&mut self, established: &Established) {}
            /// Each ACK, in every state, before recovery looks at it: losses and recovery are as the ACK before left
            /// them.
            fn on_feedback(&mut self, sample: &AckSample) {}
            /// Each ACK, in every state, when recovery has decided; [`grow`](Self::grow) follows if the window may
            /// open.
            fn on_ack(&mut self, sample: &AckSample) {}
            /// Each segment that leaves.
            fn on_sent(&mut self, sent: &Sent) {}
            /// The codepoint of the packets that the feedback scheme makes ECN-capable. If the ends agree on feedback
            /// that does not count marks, it is ECT(0) whatever the law (RFC 9331 §4.2).
            #[inline]
            fn codepoint(&self) -> Codepoint {
                Codepoint::Ect0
            }
            /// At which rate segments leave; none sends what the window admits at once. Only with [`Facts::samples`].
            fn pacing(&self) -> Option<Pacing> {
                None
            }
            /// Whether the law has kept its window below what it takes the path to carry, so that what is delivered of
            /// the data now in flight does not tell the rate of the path. Asked after [`on_ack`](Self::on_ack) of laws
            /// with [`Facts::rates`].
            fn limits_rate(&self) -> bool {
                false
            }
            /// A reduction was for nothing: before it the window was `before`. The window does not fall.
            fn on_undo(&mut self, before: CcState) {
                self.window_mut().undo(before);
            }
            /// Sending begins again after more than one retransmission timeout of silence: the window is `restart` at
            /// most (RFC 5681 §4.1).
            fn on_idle_restart(&mut self, restart: u64) {
                self.window_mut().restart(restart);
            }
            /// What [`Facts::columns`] names, in that order.
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
            /// Recovery sets the window and leaves ssthresh alone.
            fn set_cwnd(&mut self, cwnd: u64) {
                self.window_mut().set_cwnd(cwnd);
            }
            /// Recovery takes `bytes` off the window, down to one segment (RFC 6582 §3.2 step 3).
            fn deflate(&mut self, bytes: u64) {
                self.window_mut().deflate(bytes);
            }
            /// Recovery, and the peer's first window, set the slow-start threshold.
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

/// Makes the objects of a user-defined law, one for each endpoint.
pub trait Supply: Send + Sync {
    /// The law at the beginning of a connection; `window` is its initial window.
    fn object(&self, window: Window) -> Box<dyn CongestionControl>;
}

/// A window law's parameters, as [`crate::registry::WindowLaw`] holds them.
pub(crate) trait Params {
    /// The law as [`crate::law::Law`] holds it: the law's own type, or a boxed [`CongestionControl`].
    type Law;
    /// What the law begins with: [`Start`] if it counts by the host's rules, as a law does that is built on another which
    /// does; [`Window`] if it does not, so that it cannot have them.
    type Start;
    /// Whether there are any.
    const ANY: bool = true;

    /// Refuses what the law cannot do.
    fn check(&self) -> Result<(), Invalid>;
    /// The key that asks for feedback with a count of marks ([`Facts::counts_marks`](crate::Facts::counts_marks)), if one does.
    fn needs_count(&self) -> Option<&'static str> {
        None
    }
    /// Sets what was left out and depends on the TCP profile.
    fn settle(&mut self, _profile: &str) {}
    /// The law's name and object, if it stands in a file of the user's.
    fn user_law(&self) -> Option<&UserLaw<dyn Supply>> {
        None
    }
    /// The same, to be supplied.
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
