//! Delayed ACKs of Linux 2.0 (tcp_input.c, tcp_delack_estimator): the delay follows the spacing of the data.

use ecnlab_base::{Dur, Time};

use crate::config::Config;
use crate::rto::Rto;

/// The delay before the first data: HZ/3.
const FIRST: Dur = Dur::from_ps(1_000_000_000_000 / 3);

/// The estimate of the spacing of data segments (`ato`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spacing {
    ato: Dur,
    last: Option<Time>,
}

impl Spacing {
    /// Processes a data segment that arrives at `now`. Returns the delay of its ACK: half of the old estimate plus the
    /// time since the last segment, or the RTO if that time is longer.
    pub fn on_data(&mut self, config: &Config, rto: &Rto, now: Time) -> Dur {
        let timeout = rto.current();
        self.ato = match self.last.map(|last| now.since(last)) {
            None => FIRST,
            Some(spacing) if spacing > timeout => timeout,
            Some(spacing) => self.ato / 2 + spacing.max(config.rtt_tick),
        };
        self.last = Some(now);
        self.ato
    }
}
