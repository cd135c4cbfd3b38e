//! Detection of classic ECN queues (prague_classic_ecn_detection of tcp_prague.c 0.6; Briscoe and Ahmed, arXiv 1911.00710): a
//! score rises with the deviation of RTTs and the depth of the queue, and a high score makes reductions as large as CUBIC's.

use ecnlab_base::{Dur, coverage_mark};

/// The greatest exponent of the weight of an RTT in the smoothed RTT (PRAGUE_MAX_SRTT_BITS).
const MAX_SHIFT: u32 = 18;

/// Deviation of RTTs and depth of the queue that leave the score as it is, in seconds (V0_LG, D0_LG).
const NEUTRAL_DEVIATION: f64 = 750e-6;
const NEUTRAL_DEPTH: f64 = 2e-3;

/// The least deviation, also the first (mdev_pace_us), in seconds.
const LEAST_DEVIATION: f64 = 1e-6;

/// Scores up to here change no reduction (L_STICKY), and the greatest score (C_STICKY).
const PURE_L4S: f64 = 8.0;
const MAX_SCORE: f64 = 17.0;

/// The least alpha where a queue is classic.
const CLASSIC_ALPHA: f64 = 0.625;

/// The score of the path, with averages of RTTs in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Detector {
    score: f64,
    srtt: f64,
    deviation: f64,
    /// RTTs have the weight 2^-shift in `srtt`, and half of that in `deviation`.
    shift: u32,
}

impl Detector {
    /// The detector of a connection with the RTT of its handshake, [`Dur::ZERO`] if there is none (prague_init).
    pub fn new(rtt: Dur) -> Detector {
        Detector { score: 0.0, srtt: rtt.as_secs(), deviation: LEAST_DEVIATION, shift: MAX_SHIFT }
    }

    /// Adds an RTT to the averages (prague_rtt_estimator).
    pub fn on_rtt(&mut self, rtt: Dur) {
        if self.srtt == 0.0 {
            self.srtt = rtt.as_secs();
            return;
        }
        let weight = libm::ldexp(1.0, -(self.shift as i32));
        let error = rtt.as_secs() - self.srtt;
        self.srtt += weight * error;
        self.deviation += weight / 2.0 * (error.abs() - self.deviation);
    }

    /// Updates the score (prague_classic_ecn_detection).
    pub fn update(&mut self, least_rtt: Dur) {
        if self.srtt == 0.0 || least_rtt.is_zero() {
            return;
        }
        let depth = self.srtt - least_rtt.as_secs();
        let change = libm::log2(self.deviation.max(LEAST_DEVIATION) / NEUTRAL_DEVIATION) / 2.0
            + libm::log2((depth / NEUTRAL_DEPTH).max(1.0)) / 2.0;
        self.score = (self.score + change).clamp(0.0, MAX_SCORE);
    }

    /// Sets the weights for a reduction that finds ssthresh at `segments` (prague_update_rtt_scaling).
    pub fn scale(&mut self, segments: u64) {
        let lg = segments.max(1).ilog2();
        self.shift = (lg + lg / 2 + 1).min(MAX_SHIFT);
    }

    /// Returns the alpha of a reduction (prague_classic_ecn_fallback).
    pub fn alpha(&self, alpha: f64) -> f64 {
        if self.score <= PURE_L4S {
            return alpha;
        }
        coverage_mark!("prague.classic_queue");
        alpha.max(CLASSIC_ALPHA * (self.score - PURE_L4S).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Dur = Dur::from_ms(1);

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
    }

    fn with(score: f64, srtt: f64, deviation: f64) -> Detector {
        Detector { score, srtt, deviation, shift: 1 }
    }

    fn updated(mut detector: Detector, least_rtt: Dur) -> f64 {
        detector.update(least_rtt);
        detector.score
    }

    #[test]
    fn the_score_rises_by_half_of_each_logarithm_and_falls_by_that_of_the_deviation_alone() {
        // 3 ms are 4 x 750 us: lg 4 / 2 = 1. A depth of 16 ms is 8 x 2 ms: 3 / 2.
        near(updated(with(5.0, 0.020, 0.003), MS * 20), 6.0);
        near(updated(with(5.0, 0.036, 0.003), MS * 20), 7.5);
        // Four times less than 750 us: -1. A depth of 1 ms, or below zero, adds nothing.
        near(updated(with(5.0, 0.021, 187.5e-6), MS * 20), 4.0);
        near(updated(with(5.0, 0.019, 187.5e-6), MS * 20), 4.0);
        near(updated(with(5.0, 0.022, 750e-6), MS * 20), 5.0);
    }

    #[test]
    fn the_score_is_from_0_to_17() {
        near(updated(with(16.5, 0.020, 0.003), MS * 20), 17.0);
        near(updated(with(0.5, 0.020, 187.5e-6), MS * 20), 0.0);
        // No deviation counts as 1 us: lg(1/750) / 2 = -4.775.
        near(updated(with(9.0, 0.020, 0.0), MS * 20), 9.0 - 750_f64.log2() / 2.0);
        assert_eq!(updated(with(5.0, 0.020, 0.003), Dur::ZERO), 5.0, "without an RTT");
    }

    #[test]
    fn reductions_grow_from_a_score_of_8_to_that_of_9() {
        let _reached = ecnlab_base::coverage::must_reach(["prague.classic_queue"]);
        let alpha = |score: f64, alpha: f64| with(score, 0.0, 0.0).alpha(alpha);
        near(alpha(8.0, 0.1), 0.1);
        near(alpha(8.5, 0.1), 0.3125);
        near(alpha(8.1, 0.1), 0.1);
        near(alpha(9.0, 0.1), 0.625);
        near(alpha(17.0, 0.1), 0.625);
        near(alpha(17.0, 0.75), 0.75);
    }

    #[test]
    fn averages_have_the_weights_of_the_window() {
        let mut detector = Detector::new(MS * 20);
        assert_eq!(detector.shift, 18);
        // 64 = 2^6: 6 + 3 + 1; 127 the same; 128 = 2^7: 7 + 3 + 1; 4096 = 2^12: 12 + 6 + 1 = 19, at most 18.
        for (segments, shift) in [(0, 1), (1, 1), (2, 2), (64, 10), (127, 10), (128, 11), (4_096, 18), (u64::MAX, 18)] {
            detector.scale(segments);
            assert_eq!(detector.shift, shift, "{segments}");
        }
        // Two segments: 1/4 and 1/8 of an error of 8 ms, then of one of 2 ms below the mean of 22 ms.
        detector.scale(2);
        detector.on_rtt(MS * 28);
        near(detector.srtt, 0.022);
        near(detector.deviation, 1e-6 * 7.0 / 8.0 + 0.001);
        let before = detector.deviation;
        detector.on_rtt(MS * 20);
        near(detector.srtt, 0.0215);
        near(detector.deviation, before * 7.0 / 8.0 + 0.002 / 8.0);
    }

    #[test]
    fn without_an_rtt_of_the_handshake_the_first_begins_the_averages() {
        let mut detector = Detector::new(Dur::ZERO);
        detector.on_rtt(MS * 20);
        near(detector.srtt, 0.020);
        near(detector.deviation, 1e-6);
    }
}
