//! The proportional-integral controller of PI2: p' rises with the delay above the target, and with its growth.

use ecnlab_base::Dur;

/// The controller in real numbers (RFC 9332 A.1, `dualpi2_update`).
#[derive(Clone, Debug)]
pub struct Real {
    target: Dur,
    alpha: f64,
    beta: f64,
    p: f64,
    /// The delay at the last update.
    last: Dur,
}

impl Real {
    /// Starts at p' = 0, with gains in Hz.
    pub fn new(target: Dur, [alpha, beta]: [f64; 2]) -> Real {
        Real { target, alpha, beta, p: 0.0, last: Dur::ZERO }
    }

    /// Updates p' with the queue delay `delay`.
    pub fn update(&mut self, delay: Dur) {
        let seconds = delay.as_secs();
        let step = self.alpha * (seconds - self.target.as_secs()) + self.beta * (seconds - self.last.as_secs());
        self.p = libm::fmin(libm::fmax(self.p + step, 0.0), 1.0);
        self.last = delay;
    }

    /// p'.
    pub fn p(&self) -> f64 {
        self.p
    }
}

/// The controller in whole numbers (`calculate_probability` of Linux's `sch_dualpi2`): delays in nanoseconds, p' in units of
/// 1/(2^32 - 1), gains in these units for each 64 ns.
#[derive(Clone, Debug)]
pub struct Fixed {
    target: i64,
    alpha: i64,
    beta: i64,
    prob: u32,
    last: i64,
    /// The highest p'.
    most: u32,
}

impl Fixed {
    /// Starts at p' = 0, with gains in Hz, which are rounded to 1/256 Hz; p' is limited to 1/`parts`.
    pub fn new(target: Dur, gains: [f64; 2], parts: u32) -> Fixed {
        let [alpha, beta] = gains.map(scaled);
        Fixed { target: nanoseconds(target), alpha, beta, prob: 0, last: 0, most: u32::MAX / parts }
    }

    /// Updates p' with the queue delay `delay`.
    pub fn update(&mut self, delay: Dur) {
        let delay = nanoseconds(delay);
        let above = (delay - self.target).saturating_mul(self.alpha);
        let delta = above.saturating_add((delay - self.last).saturating_mul(self.beta));
        self.last = delay;
        let step = u32::try_from(delta.unsigned_abs() / 64).unwrap_or(u32::MAX);
        let prob = if delta > 0 { self.prob.saturating_add(step) } else { self.prob.saturating_sub(step) };
        self.prob = prob.min(self.most);
    }

    /// p'.
    pub fn p(&self) -> f64 {
        f64::from(self.prob) / f64::from(u32::MAX)
    }
    /// p' in Linux's units.
    pub fn prob(&self) -> u32 {
        self.prob
    }
}

/// `dualpi2_scale_alpha_beta` of a gain in Hz.
fn scaled(hz: f64) -> i64 {
    let in_256ths = libm::round(hz * 256.0) as u64;
    (((u128::from(in_256ths) * u128::from(u32::MAX)) >> 2) / 1_000_000_000) as i64
}

fn nanoseconds(time: Dur) -> i64 {
    i64::try_from(time.ps() / 1000).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_controller_sums_what_is_above_the_target_and_what_has_grown() {
        // RFC 9332: alpha 0.15 Hz, beta 3 Hz, target 15 ms. From 0 to 25 ms: 0.15·0.010 + 3·0.025 = 0.0765. Then to 20 ms:
        // 0.15·0.005 - 3·0.005 = -0.01425. Then to 0: -0.15·0.015 - 3·0.020 = -0.06225: 0.
        let mut pi = Real::new(Dur::from_ms(15), [0.15, 3.0]);
        let mut at = |ms| {
            pi.update(Dur::from_ms(ms));
            pi.p()
        };
        let ps = [at(25), at(20), at(0)];
        assert!((ps[0] - 0.0765).abs() < 1e-12 && (ps[1] - 0.06225).abs() < 1e-12 && ps[2].abs() < 1e-12, "{ps:?}");
        // It ends at 1 and at 0: 3·(-1) takes all of it away.
        assert_eq!([at(1000), at(1000), at(0), at(0)], [1.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn linux_counts_in_whole_numbers() {
        // 41·(2^32 - 1)/4/10^9 = 44.02 and 819·... = 879.40, cut down, each for 64 ns.
        assert_eq!([scaled(0.16), scaled(3.2)], [44, 879]);
        let mut pi = Fixed::new(Dur::from_ms(15), [0.16, 3.2], 1);
        // From 0 to 25 ms: (10,000,000·44 + 25,000,000·879)/64 = (440,000,000 + 21,975,000,000)/64 = 350,234,375.
        pi.update(Dur::from_ms(25));
        assert_eq!(pi.prob(), 350_234_375);
        // To 20 ms: (5,000,000·44 - 5,000,000·879)/64 = -65,234,375.
        pi.update(Dur::from_ms(20));
        assert_eq!(pi.prob(), 285_000_000);
        // 285,000,000 of 2^32 - 1.
        assert!((pi.p() - 0.066_356_7).abs() < 1e-7);
        // To 10 ms: (-5,000,000·44 - 10,000,000·879)/64 = -140,781,250; to 0: (-15,000,000·44 - 10,000,000·879)/64 =
        // -147,656,250, more than is left.
        pi.update(Dur::from_ms(10));
        assert_eq!(pi.prob(), 144_218_750);
        pi.update(Dur::ZERO);
        assert_eq!(pi.prob(), 0);
    }

    #[test]
    fn with_overflow_linux_stops_at_the_share_at_which_all_of_l_is_marked() {
        let mut pi = Fixed::new(Dur::from_ms(15), [0.16, 3.2], 2);
        pi.update(Dur::from_s(4));
        assert_eq!(pi.prob(), u32::MAX / 2);
        let mut all = Fixed::new(Dur::from_ms(15), [0.16, 3.2], 1);
        all.update(Dur::from_s(4));
        assert_eq!(all.prob(), u32::MAX);
    }
}
