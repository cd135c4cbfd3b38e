//! The model of the path: greatest bandwidth, least RTT, and the bounds that losses have set.

use ecnlab_base::{Dur, Time};

use super::RateSample;

/// A volume without a bound ("Infinity").
pub(super) const UNBOUNDED: u64 = u64::MAX;

/// BBR.Headroom: the share of [`Path::inflight_longterm`] that is left to others.
const HEADROOM: f64 = 0.15;

/// BBR.MinRTTFilterLen.
const MIN_RTT_FILTER_LEN: Dur = Dur::from_s(10);

/// The model of the path.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// BBR.max_bw_filter: the greatest delivery rate of this cycle and of the one before (BBR.MaxBwFilterLen = 2).
    max_bw: [f64; 2],
    /// BBR.bw.
    pub bw: f64,
    /// BBR.bw_shortterm.
    pub bw_shortterm: f64,
    /// BBR.inflight_longterm.
    pub inflight_longterm: u64,
    /// BBR.inflight_shortterm.
    pub inflight_shortterm: u64,
    /// BBR.min_rtt and BBR.min_rtt_stamp.
    min_rtt: Option<Dur>,
    min_rtt_stamp: Time,
}

impl Default for Path {
    fn default() -> Path {
        Path {
            max_bw: [0.0; 2],
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            inflight_longterm: UNBOUNDED,
            inflight_shortterm: UNBOUNDED,
            min_rtt: None,
            min_rtt_stamp: Time::ZERO,
        }
    }
}

impl Path {
    /// The path of a connection established at `now`, with the RTT of its handshake.
    pub fn begin(&mut self, rtt: Option<Dur>, now: Time) {
        (self.min_rtt, self.min_rtt_stamp) = (rtt, now);
    }

    // ---- bandwidth ----

    /// BBR.max_bw.
    pub fn max_bw(&self) -> f64 {
        greater(self.max_bw[0], self.max_bw[1])
    }

    /// UpdateMaxBw, without its round.
    pub fn update_max_bw(&mut self, rs: &RateSample) {
        let rate = delivery_rate(rs);
        if !rs.app_limited || rate >= self.max_bw() {
            self.max_bw[0] = greater(self.max_bw[0], rate);
        }
    }

    /// AdvanceMaxBwFilter. A cycle without a sample keeps the one before.
    pub fn advance_max_bw_filter(&mut self) {
        if self.max_bw[0] > 0.0 {
            self.max_bw = [0.0, self.max_bw[0]];
        }
    }

    /// BoundBWForModel.
    pub fn bound_bw(&mut self) {
        let max_bw = self.max_bw();
        self.bw = if max_bw < self.bw_shortterm { max_bw } else { self.bw_shortterm };
    }

    // ---- round-trip time ----

    /// BBR.min_rtt; `None` before the first sample.
    pub fn min_rtt(&self) -> Option<Dur> {
        self.min_rtt
    }

    /// The second half of UpdateMinRTT: `least` was measured at `stamp` as the least RTT between two ProbeRTTs.
    pub fn update_min_rtt(&mut self, least: Option<Dur>, stamp: Time, now: Time) {
        let expired = now > self.min_rtt_stamp + MIN_RTT_FILTER_LEN;
        if let Some(least) = least
            && (expired || self.min_rtt.is_none_or(|rtt| least < rtt))
        {
            (self.min_rtt, self.min_rtt_stamp) = (Some(least), stamp);
        }
    }

    // ---- volume ----

    /// `gain` times what `bw` delivers in the least RTT; `None` before there is one (BDPMultiple).
    pub fn bdp(&self, bw: f64, gain: f64) -> Option<u64> {
        self.product(bw, gain).map(|bytes| whole(bytes) + u64::from(float(whole(bytes)) != bytes))
    }

    /// The same before it is rounded up.
    pub fn product(&self, bw: f64, gain: f64) -> Option<f64> {
        self.min_rtt.map(|rtt| gain * bw * secs(rtt))
    }

    /// InflightWithHeadroom, for segments of `mss` bytes and at least `floor`.
    pub fn inflight_with_headroom(&self, mss: u64, floor: u64) -> u64 {
        if self.inflight_longterm == UNBOUNDED {
            return UNBOUNDED;
        }
        let headroom = mss.max(whole(HEADROOM * float(self.inflight_longterm)));
        self.inflight_longterm.saturating_sub(headroom).max(floor)
    }

    /// ResetShortTermModel.
    pub fn reset_short_term(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, UNBOUNDED);
    }
}

// Numbers below 2^63, and times below 106 days, are converted as signed numbers, which takes half of the instructions. So does a
// comparison in place of `f64::max`, which also has a rule for what is no number.

/// The whole part of `value`.
pub(super) fn whole(value: f64) -> u64 {
    value as i64 as u64
}

/// The number `value`.
pub(super) fn float(value: u64) -> f64 {
    value as i64 as f64
}

/// A span in seconds.
pub(super) fn secs(span: Dur) -> f64 {
    float(span.ps()) / 1e12
}

/// The greater of two rates.
pub(super) fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// RS.delivery_rate.
pub(super) fn delivery_rate(rs: &RateSample) -> f64 {
    float(rs.delivered) / secs(rs.interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    /// A sample of so many bytes in 100 ms.
    fn sample(delivered: u64, app_limited: bool) -> RateSample {
        let (interval, prior_delivered, lost, marked, tx_in_flight) = (Dur::from_ms(100), 0, 0, 0, 0);
        RateSample { delivered, interval, prior_delivered, lost, marked, tx_in_flight, app_limited }
    }

    #[test]
    fn a_bandwidth_counts_in_its_cycle_and_the_next() {
        let mut path = Path::default();
        path.update_max_bw(&sample(1_000, false));
        path.advance_max_bw_filter();
        path.update_max_bw(&sample(600, false));
        assert_eq!(path.max_bw(), 10_000.0);
        path.advance_max_bw_filter();
        assert_eq!(path.max_bw(), 6_000.0);
        // Without a sample in it, a cycle is none.
        path.advance_max_bw_filter();
        assert_eq!(path.max_bw(), 6_000.0);
    }

    #[test]
    fn a_sample_that_the_application_limits_counts_only_if_it_is_no_less() {
        let mut path = Path::default();
        path.update_max_bw(&sample(1_000, false));
        path.advance_max_bw_filter();
        path.update_max_bw(&sample(999, true));
        assert_eq!(path.max_bw, [0.0, 10_000.0]);
        path.update_max_bw(&sample(1_000, true));
        assert_eq!(path.max_bw, [10_000.0, 10_000.0]);
    }

    #[test]
    fn the_rate_is_bounded_by_the_short_term_model_until_that_is_reset() {
        let mut path = Path::default();
        path.update_max_bw(&sample(1_000, false));
        path.bw_shortterm = 7_000.0;
        path.bound_bw();
        assert_eq!(path.bw, 7_000.0);
        path.reset_short_term();
        path.bound_bw();
        assert_eq!(path.bw, 10_000.0);
    }

    #[test]
    fn the_least_rtt_counts_for_ten_seconds_from_when_it_was_measured() {
        let mut path = Path::default();
        path.begin(Some(Dur::from_ms(50)), at(0));
        path.update_min_rtt(Some(Dur::from_ms(60)), at(9_000), at(10_000));
        assert_eq!(path.min_rtt(), Some(Dur::from_ms(50)), "not expired");
        path.update_min_rtt(Some(Dur::from_ms(60)), at(9_000), at(10_001));
        assert_eq!((path.min_rtt(), path.min_rtt_stamp), (Some(Dur::from_ms(60)), at(9_000)));
        path.update_min_rtt(Some(Dur::from_ms(59)), at(10_002), at(10_002));
        assert_eq!(path.min_rtt(), Some(Dur::from_ms(59)));
    }

    #[test]
    fn products_are_rounded_up_and_headroom_is_a_segment_at_least() {
        let mut path = Path::default();
        assert_eq!(path.bdp(10_000.0, 1.0), None);
        path.begin(Some(Dur::from_ms(50)), at(0));
        // 10 kB/s in 50 ms: 500 bytes, and 625.0625 at 1.250125.
        assert_eq!((path.bdp(10_000.0, 1.0), path.bdp(10_001.0, 1.25)), (Some(500), Some(626)));
        assert_eq!(path.inflight_with_headroom(1_000, 4_000), UNBOUNDED);
        let mut with = |bytes| {
            path.inflight_longterm = bytes;
            path.inflight_with_headroom(1_000, 4_000)
        };
        // 15 % of 20 000 are 3000; of 6000 they are 900, less than a segment; four segments are the least.
        assert_eq!([20_000, 6_000, 4_500].map(&mut with), [17_000, 5_000, 4_000]);
    }
}
