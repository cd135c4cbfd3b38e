//! Congestion window validation: the window grows only if it limits the sender (RFC 7661; the kernel's
//! tcp_cwnd_validate and tcp_is_cwnd_limited). Windows are counted in segments.

use crate::cc::CongestionControl;
use crate::config::{Config, RateLimitedGrowth};
use crate::flight::Flight;

/// Use of the congestion window in the current window of data.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CwndValidation {
    /// The congestion window was full at least once.
    limited: bool,
    /// Maximum of outstanding segments.
    most: u32,
    /// End of the window of data.
    until: u64,
}

/// The new segments of a burst.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Burst {
    pub new: u32,
    /// No segment was outstanding before the burst.
    pub was_empty: bool,
}

impl Burst {
    /// Records that a new segment is sent with `outstanding` segments before it.
    pub fn sent(&mut self, outstanding: u32) {
        self.was_empty |= outstanding == 0;
        self.new += 1;
    }
}

impl CwndValidation {
    /// Updates the state after a burst, with `outstanding` segments from offset `una` up to `max`. `full` states
    /// whether the window was full.
    fn note(&mut self, outstanding: u32, full: bool, una: u64, max: u64) {
        if una >= self.until || full || (!self.limited && outstanding > self.most) {
            *self = CwndValidation { limited: full, most: outstanding, until: max };
        }
    }

    /// Processes the end of a `burst`.
    #[inline]
    pub fn end_burst(&mut self, burst: Burst, tx: &Flight) {
        // The window holds no further segment: a product takes fewer instructions than the window in segments.
        let full = (u64::from(tx.scoreboard.in_flight()) + 1) * u64::from(tx.mss) > tx.law.cwnd();
        if burst.new > 0 || full {
            self.note(tx.scoreboard.len(), full, tx.una, tx.max);
        }
    }

    /// Whether the window may grow: because it limits the sender, or because growth is not restricted to that case.
    pub fn allows_growth(&self, tx: &Flight, config: &Config) -> bool {
        let state = tx.law.state();
        config.rate_limited_growth != RateLimitedGrowth::WindowLimited
            || self.lets_grow(tx.window_in_segments(), state.cwnd < state.ssthresh)
    }

    /// RFC 7661 §4.4: a window of `window` segments may grow if it was full, or in slow start if more than half of it
    /// was used.
    fn lets_grow(&self, window: u32, slow_start: bool) -> bool {
        self.limited || (slow_start && window < 2 * self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;
    use ecnlab_base::{Bytes, Time};
    use ecnlab_wire::Seq;

    /// After a burst of so many new segments, which leaves so many of 1000 bytes outstanding, in a window of ten.
    fn after_burst(new: u32, outstanding: u64) -> CwndValidation {
        let config = &profile("linux-7").expect("a profile of ours").config;
        let mut tx = Flight::new(&Config { mss: Bytes(1_000), ..config.clone() }, Seq(0));
        tx.law.set_cwnd(10_000);
        (tx.una, tx.max) = (1, 1 + outstanding * 1_000);
        (0..outstanding).for_each(|n| tx.scoreboard.sent(1 + n * 1_000, 1_000, false, false, Time::ZERO));
        let mut usage = CwndValidation::default();
        usage.end_burst(Burst { new, was_empty: false }, &tx);
        usage
    }

    #[test]
    fn a_burst_counts_if_it_has_new_segments_or_the_window_is_full() {
        let usage = after_burst(5, 5);
        assert!(usage.lets_grow(9, true) && !usage.lets_grow(9, false));
        assert!(!after_burst(0, 5).lets_grow(9, true));
        assert!(!after_burst(9, 9).lets_grow(10, false));
        assert!(after_burst(0, 10).lets_grow(10, false) && after_burst(1, 10).lets_grow(10, false));
    }

    #[test]
    fn half_a_window_is_enough_in_slow_start_only() {
        let config = &profile("linux-7").expect("a profile of ours").config;
        let config =
            Config { mss: Bytes(1_000), rate_limited_growth: RateLimitedGrowth::WindowLimited, ..config.clone() };
        let usage = after_burst(6, 6);
        let allows = |ssthresh, config: &Config| {
            let mut tx = Flight::new(config, Seq(0));
            tx.law.set_cwnd(10_000);
            tx.law.set_ssthresh(ssthresh);
            usage.allows_growth(&tx, config)
        };
        assert_eq!([10_001, 10_000, 5_000].map(|ssthresh| allows(ssthresh, &config)), [true, false, false]);
        assert!(allows(5_000, &Config { rate_limited_growth: RateLimitedGrowth::Unlimited, ..config.clone() }));
    }

    #[test]
    fn a_burst_records_whether_nothing_was_outstanding_before_it() {
        let after = |outstanding: [u32; 2]| {
            let mut burst = Burst::default();
            outstanding.into_iter().for_each(|n| burst.sent(n));
            (burst.new, burst.was_empty)
        };
        assert_eq!((after([0, 1]), after([1, 2])), ((2, true), (2, false)));
    }

    #[test]
    fn the_most_outstanding_of_a_window_of_data_counts() {
        let after = |notes: &[(u32, bool, u64, u64)]| {
            let mut usage = CwndValidation::default();
            notes.iter().for_each(|&(outstanding, full, una, max)| usage.note(outstanding, full, una, max));
            usage
        };
        assert!(after(&[(3, false, 1, 5_001), (5, false, 2_001, 6_001)]).lets_grow(9, true));
        assert!(after(&[(5, false, 1, 5_001), (3, true, 2_001, 6_001)]).lets_grow(10, false), "full, though with less");
        assert!(after(&[(10, true, 1, 10_001), (12, false, 6_001, 12_001)]).lets_grow(12, false), "it was full");
        // As many again do not lengthen the window of data.
        let next = after(&[(5, false, 1, 5_001), (5, false, 2_001, 7_001), (3, false, 5_001, 9_001)]);
        assert!(!next.lets_grow(9, true));
    }

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
