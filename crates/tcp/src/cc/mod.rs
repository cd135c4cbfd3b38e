//! Window laws. TCP decides when (once per window of data), the law how much. One law per file.

// The registry's rows make all else. They do not declare modules, for rustfmt follows none that a macro declares.
pub mod ecn_alpha_beta;
pub mod reno;

use crate::config::{Config, Invalid};
use crate::registry::{WindowLaw, window_laws};

/// An ACK of new data, as a law sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Bytes it acknowledges for the first time.
    pub acked: u64,
}

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

/// A law's state as a trace shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CcState {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow-start threshold in bytes; `u64::MAX` is none.
    pub ssthresh: u64,
}

/// A window law. All windows are bytes, whatever the law counts in.
pub trait CongestionControl {
    /// The congestion window.
    fn cwnd(&self) -> u64;
    /// An ACK of new data, outside recovery and without ECN-Echo.
    fn on_ack(&mut self, ack: &Ack);
    /// Congestion, at most once per window of data; `in_flight` is what the profile reduces from
    /// ([`crate::config::ReduceFrom`]).
    fn on_congestion(&mut self, why: Congestion, in_flight: u64);
    /// A loss that reduces nothing: ECN or an earlier timeout has done so for this window of data.
    fn on_further_loss(&mut self) {}
    /// Recovery or a restart sets the window and leaves ssthresh alone.
    fn set_cwnd(&mut self, cwnd: u64);
    /// Recovery takes `bytes` off the window, down to one segment (RFC 6582 §3.2 step 3).
    fn deflate(&mut self, bytes: u64);
    /// The slow-start threshold's first value is known only with the peer's window.
    fn set_ssthresh(&mut self, ssthresh: u64);
    /// One row of the trace.
    fn state(&self) -> CcState;
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

/// Dispatches to the law in use, from the rows of the registry: a match on an enum, which the hot path can inline.
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
        }

        impl CongestionControl for Law {
            #[inline]
            fn cwnd(&self) -> u64 {
                match self { $(Law::$law(law) => law.cwnd()),+ }
            }
            #[inline]
            fn on_ack(&mut self, ack: &Ack) {
                match self { $(Law::$law(law) => law.on_ack(ack)),+ }
            }
            fn on_congestion(&mut self, why: Congestion, in_flight: u64) {
                match self { $(Law::$law(law) => law.on_congestion(why, in_flight)),+ }
            }
            fn on_further_loss(&mut self) {
                match self { $(Law::$law(law) => law.on_further_loss()),+ }
            }
            fn set_cwnd(&mut self, cwnd: u64) {
                match self { $(Law::$law(law) => law.set_cwnd(cwnd)),+ }
            }
            fn deflate(&mut self, bytes: u64) {
                match self { $(Law::$law(law) => law.deflate(bytes)),+ }
            }
            fn set_ssthresh(&mut self, ssthresh: u64) {
                match self { $(Law::$law(law) => law.set_ssthresh(ssthresh)),+ }
            }
            fn state(&self) -> CcState {
                match self { $(Law::$law(law) => law.state()),+ }
            }
        }
    };
}
window_laws! { in_use! {} }
