//! Context of the sender: configuration, clock, counters and feedback scheme.

use ecnlab_base::Time;

use crate::cc::{Congestion, CongestionEvent};
use crate::config::Config;
use crate::counters::Counters;
use crate::ecn;

/// Context of the sender's methods.
pub(crate) struct Cx<'a> {
    pub config: &'a Config,
    pub now: Time,
    pub counters: &'a mut Counters,
    pub ecn: &'a mut ecn::Scheme,
}

impl Cx<'_> {
    /// Congestion event at the current time, for the window law.
    pub fn congestion(&self, why: Congestion, in_flight: u64) -> CongestionEvent {
        CongestionEvent { why, now: self.now, in_flight }
    }
}
