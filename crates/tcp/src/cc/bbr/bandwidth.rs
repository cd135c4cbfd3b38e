//! Bandwidths and gains in the kernel's fixed-point format, so that both round alike.

/// Bits of a bandwidth's fraction (the kernel's BW_SCALE).
const FRACTION: u32 = 24;

/// A gain of one (BBR_UNIT).
pub(super) const UNIT: u64 = 256;

/// Microseconds per second used for the pacing rate: one per cent less than a million (bbr_pacing_margin_percent).
const PACED_US: u128 = 990_000;

/// A bandwidth in segments per microsecond, in units of 2^-24.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bandwidth(u64);

impl Bandwidth {
    /// The bandwidth of `bytes` in segments of `mss` bytes over `us` microseconds. The kernel keeps 32 bits.
    pub fn of(bytes: u64, mss: u64, us: u64) -> Bandwidth {
        let span = u128::from(mss.max(1)) * u128::from(us.max(1));
        let scaled = (u128::from(bytes) << FRACTION) / span;
        Bandwidth(scaled.min(u32::MAX.into()) as u64)
    }

    /// Whole segments in `us` microseconds.
    pub fn segments(self, us: u64) -> u64 {
        saturate((u128::from(self.0) * u128::from(us)) >> FRACTION)
    }

    /// `gain` times the segments in `us` microseconds, rounded up (bbr_bdp).
    pub fn product(self, us: u64, gain: u64) -> u64 {
        let scaled = (u128::from(self.0) * u128::from(us) * u128::from(gain)) / u128::from(UNIT);
        saturate(scaled.div_ceil(1 << FRACTION))
    }

    /// `gain` times this bandwidth in bytes of payload per second, less the pacing margin (bbr_rate_bytes_per_sec).
    pub fn bytes_per_sec(self, mss: u64, gain: u64) -> u64 {
        let bytes_per_us = u128::from(self.0) * u128::from(mss) * u128::from(gain) / u128::from(UNIT);
        saturate((bytes_per_us * PACED_US) >> FRACTION)
    }

    /// The bandwidth in bits of payload per second, for traces.
    pub fn bits_per_sec(self, mss: u64) -> f64 {
        self.0 as f64 * mss as f64 * 8e6 / f64::from(1 << FRACTION)
    }

    /// `gain` times this bandwidth.
    pub fn times(self, gain: u64) -> Bandwidth {
        Bandwidth(self.0 * gain / UNIT)
    }

    /// Absolute difference of the two bandwidths.
    pub fn distance(self, other: Bandwidth) -> Bandwidth {
        Bandwidth(self.0.abs_diff(other.0))
    }

    /// Mean of the two bandwidths.
    pub fn mean(self, other: Bandwidth) -> Bandwidth {
        Bandwidth((self.0 + other.0) / 2)
    }
}

fn saturate(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bandwidth_has_24_bits_of_fraction_and_is_rounded_down() {
        // Ten segments in 10 ms are 0.001 a microsecond: 2^24 / 1000 = 16777.216.
        assert_eq!(Bandwidth::of(10_000, 1_000, 10_000), Bandwidth(16_777));
        assert_eq!(Bandwidth::of(u64::MAX, 1, 1), Bandwidth(u64::from(u32::MAX)));
        assert_eq!(Bandwidth::of(0, 1_000, 10_000), Bandwidth(0));
    }

    #[test]
    fn a_product_is_rounded_up_and_segments_down() {
        let bw = Bandwidth::of(10_000, 1_000, 10_000);
        // 16777 · 40000 / 2^24 = 39.9995.
        assert_eq!((bw.segments(40_000), bw.product(40_000, UNIT)), (39, 40));
        assert_eq!(bw.product(40_000, 2 * UNIT), 80);
        // 16777 · 40000 · 739 / 256 / 2^24 = 115.467.
        assert_eq!(bw.product(40_000, 739), 116);
        assert_eq!(Bandwidth(1 << 24).product(7, UNIT), 7, "a whole number stays");
    }

    #[test]
    fn pacing_is_one_per_cent_below_the_bandwidth() {
        // 2^-10 segments of 1024 bytes a microsecond are a million bytes a second.
        let bw = Bandwidth(1 << 14);
        assert_eq!(bw.bytes_per_sec(1_024, UNIT), 990_000);
        assert_eq!(bw.bytes_per_sec(1_024, UNIT * 5 / 4), 1_237_500);
        assert_eq!(bw.bits_per_sec(1_024), 8e6);
        // The kernel's product of 64 bits would wrap here.
        assert_eq!(Bandwidth(u64::from(u32::MAX)).bytes_per_sec(65_535, 739), 47_946_061_338_836);
    }

    #[test]
    fn distance_mean_and_gain() {
        let (a, b) = (Bandwidth(100), Bandwidth(141));
        assert_eq!((a.distance(b), b.distance(a), a.mean(b)), (Bandwidth(41), Bandwidth(41), Bandwidth(120)));
        assert_eq!(b.times(UNIT * 5 / 4), Bandwidth(176));
    }
}
