//! Integer time. Picoseconds in a `u64` reach 213 days, and one bit at 1 Tbit/s lasts exactly one.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

const PS_PER_S: u64 = 1_000_000_000_000;

/// An instant of a run: picoseconds since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A span of time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dur(u64);

impl Time {
    /// The start of a run.
    pub const ZERO: Time = Time(0);
    /// Later than any event: "no deadline".
    pub const NEVER: Time = Time(u64::MAX);

    /// The instant `ps` picoseconds after the start.
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }
    /// Picoseconds since the start.
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// Whole nanoseconds since the start, rounded down.
    pub const fn ns(self) -> u64 {
        self.0 / 1_000
    }
    /// Whole milliseconds since the start, rounded down.
    pub const fn ms(self) -> u64 {
        self.0 / 1_000_000_000
    }
    /// Seconds since the start, for output.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
    /// The span from `earlier` to here; zero if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Dur {
        Dur(self.0.saturating_sub(earlier.0))
    }
    /// `self + d`, stopping at [`Time::NEVER`].
    pub const fn saturating_add(self, d: Dur) -> Time {
        Time(self.0.saturating_add(d.0))
    }
}

impl Dur {
    /// No time at all.
    pub const ZERO: Dur = Dur(0);
    /// The longest span.
    pub const MAX: Dur = Dur(u64::MAX);

    /// `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Dur {
        Dur(ps)
    }
    /// `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Dur {
        Dur(ns * 1_000)
    }
    /// `us` microseconds.
    pub const fn from_us(us: u64) -> Dur {
        Dur(us * 1_000_000)
    }
    /// `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Dur {
        Dur(ms * 1_000_000_000)
    }
    /// `s` seconds.
    pub const fn from_s(s: u64) -> Dur {
        Dur(s * PS_PER_S)
    }
    /// `s` seconds, rounded to the nearest picosecond; negative or non-finite values give zero.
    pub fn from_secs(s: f64) -> Dur {
        let ps = s * PS_PER_S as f64;
        // `as` saturates and sends NaN to zero.
        Dur(if ps > 0.0 { libm::round(ps) as u64 } else { 0 })
    }
    /// Picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// Seconds.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
    /// How many whole `unit`s fit. `unit` must not be zero.
    pub const fn whole(self, unit: Dur) -> u64 {
        self.0 / unit.0
    }
    /// `self - d`, stopping at zero.
    pub const fn saturating_sub(self, d: Dur) -> Dur {
        Dur(self.0.saturating_sub(d.0))
    }
    /// `self * k`, stopping at [`Dur::MAX`].
    pub const fn saturating_mul(self, k: u64) -> Dur {
        Dur(self.0.saturating_mul(k))
    }
    /// Whether this is no time at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Add<Dur> for Time {
    type Output = Time;
    fn add(self, d: Dur) -> Time {
        Time(self.0 + d.0)
    }
}
impl AddAssign<Dur> for Time {
    fn add_assign(&mut self, d: Dur) {
        self.0 += d.0;
    }
}
impl Add for Dur {
    type Output = Dur;
    fn add(self, d: Dur) -> Dur {
        Dur(self.0 + d.0)
    }
}
impl AddAssign for Dur {
    fn add_assign(&mut self, d: Dur) {
        self.0 += d.0;
    }
}
impl Sub for Dur {
    type Output = Dur;
    fn sub(self, d: Dur) -> Dur {
        Dur(self.0 - d.0)
    }
}
impl SubAssign for Dur {
    fn sub_assign(&mut self, d: Dur) {
        self.0 -= d.0;
    }
}
impl Mul<u64> for Dur {
    type Output = Dur;
    fn mul(self, k: u64) -> Dur {
        Dur(self.0 * k)
    }
}
impl Div<u64> for Dur {
    type Output = Dur;
    fn div(self, k: u64) -> Dur {
        Dur(self.0 / k)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.as_secs())
    }
}
impl fmt::Display for Dur {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 5] =
            [(PS_PER_S, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns"), (1, "ps")];
        // The largest unit in which the span is at least one keeps the text short and exact.
        let (scale, name) = UNITS.into_iter().find(|(s, _)| self.0 >= *s).unwrap_or(UNITS[0]);
        write!(f, "{} {name}", self.0 as f64 / scale as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_the_nearest_picosecond() {
        assert_eq!(Dur::from_secs(0.02), Dur::from_ms(20));
        assert_eq!(Dur::from_secs(-1.0), Dur::ZERO);
        assert_eq!(Dur::from_secs(f64::NAN), Dur::ZERO);
    }

    #[test]
    fn durations_print_in_their_largest_unit() {
        assert_eq!(Dur::from_us(1_500).to_string(), "1.5 ms");
        assert_eq!(Dur::ZERO.to_string(), "0 s");
    }
}
