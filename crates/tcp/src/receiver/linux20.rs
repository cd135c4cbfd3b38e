//! The delay of ACKs of Linux 2.0 (tcp_input.c, tcp_delack_estimator), which follows the spacing of the data.

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
    /// A segment with data arrives at `now`. Returns how long its ACK may wait: half of the old estimate and the time since
    /// the last segment, but the retransmission timeout if that time is longer.
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
