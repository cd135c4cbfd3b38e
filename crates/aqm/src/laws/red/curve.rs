//! RED's signalling probability as a function of the average.

/// p_b over the average: zero, a first slope from `min_th` to `max_th`, then 1 or the gentle slope.
#[derive(Clone, Copy, Debug)]
pub struct Curve {
    min_th: f64,
    max_th: f64,
    max_p: f64,
    /// The probability at which the gentle slope starts at `max_th`.
    gentle_from: f64,
    gentle: bool,
    frozen_gentle: bool,
}

impl Curve {
    /// Creates the curve with these corners. `min_th` must be less than `max_th`.
    pub fn new(min_th: f64, max_th: f64, max_p: f64, gentle: bool, frozen_gentle: bool) -> Curve {
        Curve { min_th, max_th, max_p, gentle_from: max_p, gentle, frozen_gentle }
    }

    /// The probability p_b at the average `avg`:
    /// max_p·(avg-min_th)/(max_th-min_th) up to `max_th` (FJ93 §4); from there 1, or with `gentle`
    /// max_p + (1-max_p)·(avg-max_th)/max_th, which is 1 at twice `max_th` (Floyd 2000).
    #[inline(always)]
    pub fn probability(&self, avg: f64) -> f64 {
        if avg < self.min_th {
            0.0
        } else if avg < self.max_th {
            self.max_p * (avg - self.min_th) / (self.max_th - self.min_th)
        } else if self.gentle {
            let p = self.gentle_from + (1.0 - self.gentle_from) * (avg - self.max_th) / self.max_th;
            libm::fmin(p, 1.0)
        } else {
            1.0
        }
    }

    /// The average from which the probability is 1.
    #[inline]
    pub fn certain_from(&self) -> f64 {
        if self.gentle { 2.0 * self.max_th } else { self.max_th }
    }
    /// The average from which the probability is positive.
    pub const fn min_th(&self) -> f64 {
        self.min_th
    }
    /// The average at the end of the first slope.
    pub const fn max_th(&self) -> f64 {
        self.max_th
    }
    /// Probability at the end of the first slope.
    pub const fn max_p(&self) -> f64 {
        self.max_p
    }
    /// Sets `max_p`, and adapts the gentle slope unless it is frozen.
    pub fn set_max_p(&mut self, max_p: f64) {
        self.max_p = max_p;
        if !self.frozen_gentle {
            self.gentle_from = max_p;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn the_first_slope_goes_from_nothing_to_max_p() {
        let curve = Curve::new(5.0, 15.0, 0.1, false, false);
        assert_eq!(curve.probability(4.999), 0.0);
        assert_eq!(curve.probability(5.0), 0.0);
        // Half way from 5 to 15: half of 0.1.
        assert!(close(curve.probability(10.0), 0.05));
        assert!(close(curve.probability(14.0), 0.09));
    }

    #[test]
    fn past_max_th_the_probability_jumps_to_one_or_climbs_gently() {
        let steep = Curve::new(5.0, 15.0, 0.1, false, false);
        assert_eq!(steep.probability(15.0), 1.0);
        assert_eq!(steep.certain_from(), 15.0);
        let gentle = Curve::new(5.0, 15.0, 0.1, true, false);
        assert!(close(gentle.probability(15.0), 0.1));
        // A third of the way from 15 to 30: 0.1 + 0.9/3.
        assert!(close(gentle.probability(20.0), 0.4));
        assert!(close(gentle.probability(30.0), 1.0));
        assert_eq!(gentle.probability(31.0), 1.0);
        assert_eq!(gentle.certain_from(), 30.0);
    }

    #[test]
    fn a_moved_max_p_takes_the_gentle_slope_along_unless_frozen() {
        for (frozen, at_20) in [(false, 0.2 + 0.8 / 3.0), (true, 0.4)] {
            let mut curve = Curve::new(5.0, 15.0, 0.1, true, frozen);
            curve.set_max_p(0.2);
            assert!(close(curve.probability(10.0), 0.1));
            assert!(close(curve.probability(20.0), at_20), "frozen: {frozen}");
        }
    }
}
