//! Growth of the window of a rate-limited sender (`rate_limited_growth`).

use super::flight::Flight;
use crate::cc::CongestionControl;
use crate::config::Config;

impl Flight {
    /// Updates maxFS after FlightSize has changed.
    #[cold]
    pub fn measure_flight(&mut self) {
        let (flight, cwnd) = (self.in_flight(), self.law.cwnd());
        if let Some(max) = &mut self.max_flight {
            max.measure(flight, cwnd);
        }
    }

    /// Opens the window by `open`, up to the limit if FlightSize is below the window.
    #[cold]
    pub fn open_within_limit(&mut self, config: &Config, open: impl FnOnce(&mut Flight)) {
        let before = self.law.state();
        let slow_start = before.cwnd < before.ssthresh
            || (config.rules.slow_start_through_ssthresh && before.cwnd == before.ssthresh);
        open(self);
        let (opened, mss) = (self.law.cwnd(), u64::from(self.mss));
        let Some(max) = &self.max_flight else { return };
        let limited = max.limited(before.cwnd, opened, slow_start, mss);
        if self.in_flight() < opened && limited < opened {
            self.law.set_cwnd(limited);
        }
    }

    /// Takes note of the window at the end of an ACK: its next change may be a reduction.
    #[cold]
    pub fn note_window(&mut self) {
        let cwnd = self.law.cwnd();
        if let Some(max) = &mut self.max_flight {
            max.see_window(cwnd);
        }
    }
}
