//! The retransmission timer, which is the persist timer too.

use ecnlab_base::Time;
use ecnlab_wire::Seq;

use crate::config::Config;
use crate::rto::Rto;
use crate::wheel;

/// The timer of a sender, and what it may hold up.
#[derive(Clone, Debug)]
pub(crate) struct Timer {
    /// When it fires.
    pub deadline: Time,
    pub rto: Rto,
    /// Timeouts in a row.
    pub timeouts: u32,
    /// ECN met a window of one segment: nothing new is sent before the timer fires (RFC 3168 §6.1.2). In ns-2: the
    /// window is less than a segment.
    pub held: bool,
    /// The last echo met a window of one segment (ns-2's `ecn_backoff_`).
    pub echo_at_one: bool,
}

impl Timer {
    /// The timer of a connection that begins at `iss`. It does not run.
    pub fn new(config: &Config, iss: Seq) -> Timer {
        let rto = Rto::new(config, iss.0);
        Timer { deadline: Time::NEVER, rto, timeouts: 0, held: false, echo_at_one: false }
    }

    /// Restarts it: it fires after a whole timeout.
    pub fn arm(&mut self, config: &Config, now: Time) {
        self.deadline = wheel::due(config.timer_wheel, now, self.rto.current());
    }
}
