//! The retransmission timer, which is also the persist timer.

use ecnlab_base::Time;
use ecnlab_wire::Seq;

use crate::config::Config;
use crate::rto::Rto;
use crate::wheel;

/// A sender's timer and hold state.
#[derive(Clone, Debug)]
pub(crate) struct Timer {
    /// When the timer fires.
    pub deadline: Time,
    pub rto: Rto,
    /// Consecutive timeouts.
    pub timeouts: u32,
    /// No new data is sent before the timer fires, after ECN at a window of one segment (RFC 3168 §6.1.2). In ns-2: the
    /// window is less than a segment.
    pub held: bool,
    /// The window was one segment at the last ECN-Echo (ns-2's `ecn_backoff_`).
    pub echo_at_one: bool,
}

impl Timer {
    /// The stopped timer of a connection with the initial sequence number `iss`.
    pub fn new(config: &Config, iss: Seq) -> Timer {
        let rto = Rto::new(config, iss.0);
        Timer { deadline: Time::NEVER, rto, timeouts: 0, held: false, echo_at_one: false }
    }

    /// Restarts the timer with the current RTO.
    #[inline]
    pub fn arm(&mut self, config: &Config, now: Time) {
        self.deadline = wheel::due(config.timer_wheel, now, self.rto.current());
    }
}
