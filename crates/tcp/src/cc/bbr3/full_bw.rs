//! The search for a plateau of the delivery rate, in Startup and ProbeBW_UP ("Exiting Acceleration Based on Bandwidth Plateau").

use super::RateSample;
use super::path::delivery_rate;

/// The factor from which on the delivery rate grows.
const GROWTH: f64 = 1.25;

/// Rounds without growth that are a plateau.
const ROUNDS: u32 = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct FullBw {
    /// BBR.full_bw.
    base: f64,
    /// BBR.full_bw_count.
    pub count: u32,
    /// BBR.full_bw_now.
    pub now: bool,
    /// BBR.full_bw_reached.
    pub reached: bool,
}

impl FullBw {
    /// CheckFullBWReached.
    pub fn check(&mut self, rs: &RateSample, round_start: bool) {
        if self.now || !round_start || rs.app_limited {
            return;
        }
        let rate = delivery_rate(rs);
        if rate >= self.base * GROWTH {
            return self.reset(rate);
        }
        self.count += 1;
        self.now = self.count >= ROUNDS;
        self.reached |= self.now;
    }

    /// ResetFullBW, with `base` as BBR.full_bw.
    pub fn reset(&mut self, base: f64) {
        *self = FullBw { base, reached: self.reached, ..FullBw::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_base::Dur;

    /// The state after rounds with these delivery rates.
    fn after(rates: &[u64], app_limited: bool) -> FullBw {
        let mut full = FullBw::default();
        let (interval, prior_delivered, lost, marked, tx_in_flight) = (Dur::from_s(1), 0, 0, 0, 0);
        for &delivered in rates {
            let rs = RateSample { delivered, interval, prior_delivered, lost, marked, tx_in_flight, app_limited };
            full.check(&rs, false);
            full.check(&rs, true);
        }
        full
    }

    #[test]
    fn three_rounds_of_less_than_a_quarter_more_are_a_plateau() {
        assert_eq!(after(&[100, 124, 124], false).count, 2);
        assert!(after(&[100, 124, 124, 124], false).reached);
        // 125 is a quarter more, and a new base.
        let full = after(&[100, 124, 124, 125, 156], false);
        assert_eq!((full.base, full.count, full.now), (125.0, 1, false));
        assert_eq!(after(&[100; 9], true), FullBw::default(), "limited by the application");
    }

    #[test]
    fn a_search_begins_anew_and_what_was_reached_stays() {
        let mut full = after(&[100; 4], false);
        full.reset(90.0);
        assert_eq!((full.base, full.count, full.now, full.reached), (90.0, 0, false, true));
    }
}
