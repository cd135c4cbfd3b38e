//! Quantiles of Student's t distribution, for confidence intervals.

use std::f64::consts::FRAC_2_SQRT_PI;

/// Terms of the continued fraction; it converges within O(√df) of them, here for up to 10^9 degrees of freedom.
const TERMS: u32 = 100_000;

/// Steps of the search within a factor of two; bisection alone needs 53.
const STEPS: u32 = 200;

/// Arguments for which there is no quantile.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NoQuantile {
    /// A level outside [0, 1).
    #[error("level {0} is not between 0 and 1")]
    Level(f64),
    /// Degrees of freedom that are not positive and below 10^9.
    #[error("degrees of freedom {0} are not between 0 and 1e9")]
    DegreesOfFreedom(f64),
}

/// Returns t with P(|T| ≤ t) = `level`, for Student's t distribution with `df` degrees of freedom.
///
/// Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7 and 26.5.8.
///
/// # Errors
/// For a level outside [0, 1), and for degrees of freedom that are not positive and below 10^9.
pub fn student_t(level: f64, df: f64) -> Result<f64, NoQuantile> {
    if !(0.0..1.0).contains(&level) {
        return Err(NoQuantile::Level(level));
    }
    if !(df > 0.0 && df < 1e9) {
        return Err(NoQuantile::DegreesOfFreedom(df));
    }
    Ok(if level == 0.0 { 0.0 } else { quantile(level, df) })
}

fn quantile(level: f64, df: f64) -> f64 {
    let density = Density::of(df);
    let (mut low, mut high) = (1.0, 1.0);
    while density.above(high, level) < 0.0 {
        (low, high) = (high, high * 2.0);
    }
    while density.above(low, level) > 0.0 {
        (low, high) = (low / 2.0, low);
    }
    let mut t = low;
    for _ in 0..STEPS {
        let above = density.above(t, level);
        if above > 0.0 {
            high = t;
        } else {
            low = t;
        }
        let newton = t - above / (2.0 * density.at(t));
        let next = if newton >= low && newton <= high { newton } else { (low + high) / 2.0 };
        if (next - t).abs() <= f64::EPSILON * t {
            return next;
        }
        t = next;
    }
    t
}

/// Density of Student's t distribution.
struct Density {
    df: f64,
    /// 1 / B(1/2, df / 2).
    scale: f64,
}

impl Density {
    fn of(df: f64) -> Self {
        Self { df, scale: gamma_ratio(df / 2.0) * FRAC_2_SQRT_PI / 2.0 }
    }

    /// The density at `t`.
    fn at(&self, t: f64) -> f64 {
        let df = self.df;
        self.scale / df.sqrt() * libm::exp(-(df + 1.0) / 2.0 * libm::log1p(t * t / df))
    }

    /// P(|T| ≤ `t`) - `level`, from whichever of P(|T| ≤ t) and P(|T| > t) has the fast continued fraction.
    fn above(&self, t: f64, level: f64) -> f64 {
        let (df, square) = (self.df, t * t);
        let log_x = -libm::log1p(square / df);
        let y = square / (df + square);
        let factor = self.scale * y.sqrt() * libm::exp(df / 2.0 * log_x);
        if y < 3.0 / (df + 5.0) {
            2.0 * factor * beta_fraction(0.5, df / 2.0, y) - level
        } else {
            let tail = factor / (df / 2.0) * beta_fraction(df / 2.0, 0.5, df / (df + square));
            (1.0 - level) - tail
        }
    }
}

/// Γ(a + 1/2) / Γ(a), with a relative error of about 1e-15: by recurrence to large `a`, then the asymptotic series.
fn gamma_ratio(a: f64) -> f64 {
    let (mut a, mut factor) = (a, 1.0);
    while a < 60.0 {
        factor *= a / (a + 0.5);
        a += 1.0;
    }
    let z = 1.0 / a;
    let series = 1.0
        + z * (-1.0 / 8.0
            + z * (1.0 / 128.0
                + z * (5.0 / 1024.0 + z * (-21.0 / 32768.0 + z * (-399.0 / 262_144.0 + z * (869.0 / 4_194_304.0))))));
    factor * a.sqrt() * series
}

/// The continued fraction of the incomplete beta function, by the modified method of Lentz.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let keep = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / keep(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in 1..TERMS {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / keep(1.0 + term * d);
            c = keep(1.0 + term / c);
            change = d * c;
            fraction *= change;
        }
        if (change - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    fraction
}
