//! Whether the congestion window is what limits a sender, which alone lets it open (RFC 7661; the kernel's
//! tcp_cwnd_validate and tcp_is_cwnd_limited). Windows are counted in segments.

use crate::cc::CongestionControl;
use crate::config::Config;
use crate::flight::Flight;

/// How the window of data at hand has used the congestion window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CwndValidation {
    /// Once it was full.
    limited: bool,
    /// The most segments outstanding.
    most: u32,
    /// The window of data ends here.
    until: u64,
}

/// The new segments of a burst.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Burst {
    pub new: u32,
    /// Nothing was outstanding before it.
    pub was_empty: bool,
}

impl Burst {
    /// A new segment leaves, behind so many `outstanding`.
    pub fn sent(&mut self, outstanding: u32) {
        self.was_empty |= outstanding == 0;
        self.new += 1;
    }
}

impl CwndValidation {
    /// A burst has ended with so many segments `outstanding`, from offset `una` up to `max`; the window may be `full`.
    fn note(&mut self, outstanding: u32, full: bool, una: u64, max: u64) {
        if una >= self.until || full || (!self.limited && outstanding > self.most) {
            *self = CwndValidation { limited: full, most: outstanding, until: max };
        }
    }

    /// A `burst` has ended.
    pub fn end_burst(&mut self, burst: Burst, tx: &Flight) {
        let full = tx.scoreboard.in_flight() >= tx.window_in_segments();
        if burst.new > 0 || full {
            self.note(tx.scoreboard.len(), full, tx.una, tx.max);
        }
    }

    /// Whether the window may grow: it is what limits the sender, or need not be.
    pub fn allows_growth(&self, tx: &Flight, config: &Config) -> bool {
        let state = tx.law.state();
        !config.grow_only_when_limited || self.lets_grow(tx.window_in_segments(), state.cwnd < state.ssthresh)
    }

    /// RFC 7661 §4.1: a window of `window` segments may grow if it was full, or in slow start if more than half of it was
    /// used.
    fn lets_grow(&self, window: u32, slow_start: bool) -> bool {
        self.limited || (slow_start && window < 2 * self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_goes_on_while_more_than_half_is_used() {
        let mut usage = CwndValidation::default();
        usage.note(5, false, 1, 5_001);
        assert!(usage.lets_grow(9, true) && !usage.lets_grow(10, true));
        assert!(!usage.lets_grow(9, false), "congestion avoidance wants a full window");
        usage.note(3, false, 2_001, 6_001);
        assert!(usage.lets_grow(9, true), "five were outstanding in this window of data");
        usage.note(3, false, 5_001, 8_001);
        assert!(!usage.lets_grow(9, true), "in the next, three");
    }

    #[test]
    fn a_full_window_counts_until_its_data_is_acknowledged() {
        let mut usage = CwndValidation::default();
        usage.note(10, true, 1, 10_001);
        usage.note(4, false, 6_001, 10_001);
        assert!(usage.lets_grow(10, false));
        usage.note(4, false, 10_001, 14_001);
        assert!(!usage.lets_grow(10, false));
    }
}
