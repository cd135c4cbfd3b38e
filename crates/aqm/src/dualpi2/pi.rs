//! The proportional-integral controller of PI2: p' rises with the delay above the target, and with its growth.

use ecnlab_base::Dur;

use crate::columns::Integral;

/// Moves p', the base probability, once each update.
#[derive(Clone, Debug)]
pub enum Pi {
    /// In real numbers (RFC 9332 figure 6).
    Real {
        /// The delay that is aimed at.
        target: Dur,
        /// The integral gain, in Hz.
        alpha: f64,
        /// The proportional gain, in Hz.
        beta: f64,
        /// p', within [0, 1].
        p: f64,
        /// The delay at the last update.
        last: Dur,
    },
    /// In whole numbers, as `calculate_probability` of Linux's `sch_dualpi2` has them.
    Linux(Fixed),
}

/// Linux's state: delays in nanoseconds, p' in units of 1/(2^32 - 1), gains in its units for each 64 ns.
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

impl Pi {
    /// In real numbers, from p' = 0.
    pub fn real(target: Dur, alpha: f64, beta: f64) -> Pi {
        Pi::Real { target, alpha, beta, p: 0.0, last: Dur::ZERO }
    }

    /// As Linux, from p' = 0; the gains are rounded to 1/256 Hz. p' never passes the part `1/most` of all.
    pub fn linux(target: Dur, alpha: f64, beta: f64, most: u32) -> Pi {
        let [alpha, beta] = [alpha, beta].map(scaled);
        Pi::Linux(Fixed { target: nanoseconds(target), alpha, beta, prob: 0, last: 0, most: u32::MAX / most })
    }

    /// One update: the queue's delay is `delay`.
    pub fn update(&mut self, delay: Dur) {
        match self {
            Pi::Real { target, alpha, beta, p, last } => {
                let seconds = delay.as_secs();
                let step = *alpha * (seconds - target.as_secs()) + *beta * (seconds - last.as_secs());
                *p = libm::fmin(libm::fmax(*p + step, 0.0), 1.0);
                *last = delay;
            }
            Pi::Linux(fixed) => fixed.update(nanoseconds(delay)),
        }
    }

    /// p'.
    pub fn p(&self) -> f64 {
        match self {
            Pi::Real { p, .. } => *p,
            Pi::Linux(fixed) => f64::from(fixed.prob) / f64::from(u32::MAX),
        }
    }

    /// p' in Linux's units, of which `u32::MAX` is 1.
    pub fn prob(&self) -> u32 {
        match self {
            Pi::Real { p, .. } => (p * f64::from(u32::MAX)) as u32,
            Pi::Linux(fixed) => fixed.prob,
        }
    }
}

/// A controller and its p' over time.
#[derive(Clone, Debug)]
pub struct Averaged {
    /// As it is now.
    pub now: Pi,
    /// p' integrated over picoseconds.
    sum: f64,
}

impl Averaged {
    /// From now on.
    pub fn new(pi: Pi) -> Averaged {
        Averaged { now: pi, sum: 0.0 }
    }
    /// p' has been as it is for `time`.
    pub fn elapsed(&mut self, time: Dur) {
        self.sum += self.now.p() * time.ps() as f64;
    }
    /// The integral, which begins anew.
    pub fn cut(&mut self) -> Integral {
        Integral::Value(std::mem::take(&mut self.sum))
    }
}

impl Fixed {
    fn update(&mut self, delay: i64) {
        let delta = (delay - self.target)
            .saturating_mul(self.alpha)
            .saturating_add((delay - self.last).saturating_mul(self.beta));
        self.last = delay;
        let step = delta.unsigned_abs() / 64;
        let step = u32::try_from(step).unwrap_or(u32::MAX);
        let prob = if delta > 0 { self.prob.saturating_add(step) } else { self.prob.saturating_sub(step) };
        self.prob = prob.min(self.most);
    }
}

/// `dualpi2_scale_alpha_beta` of a gain in Hz.
fn scaled(hz: f64) -> i64 {
    let in_256ths = libm::round(hz * 256.0) as u64;
    ((u128::from(in_256ths) * u128::from(u32::MAX) >> 2) / 1_000_000_000) as i64
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
        let mut pi = Pi::real(Dur::from_ms(15), 0.15, 3.0);
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
        let mut pi = Pi::linux(Dur::from_ms(15), 0.16, 3.2, 1);
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
        let mut pi = Pi::linux(Dur::from_ms(15), 0.16, 3.2, 2);
        pi.update(Dur::from_s(4));
        assert_eq!(pi.prob(), u32::MAX / 2);
        let mut all = Pi::linux(Dur::from_ms(15), 0.16, 3.2, 1);
        all.update(Dur::from_s(4));
        assert_eq!(all.prob(), u32::MAX);
    }
}
