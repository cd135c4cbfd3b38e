//! Log-linear histogram: quantiles of times with an error below 1 % at any scale.

/// The bits of a value that a bin keeps after the leading one: 128 bins for each doubling, 0.8 % wide at most.
const BITS: u32 = 7;

/// Number of values in each bin. The number of bins grows with the largest value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Histogram {
    bins: Vec<u64>,
}

impl Histogram {
    /// Counts `n` equal values.
    #[cfg(test)]
    pub fn count(&mut self, value: u64, n: u64) {
        self.add(bin(value), n);
    }

    /// Counts `n` values of a [`bin`].
    #[inline]
    pub fn add(&mut self, bin: usize, n: u64) {
        match self.bins.get_mut(bin) {
            Some(count) => *count += n,
            None => self.begin(bin, n),
        }
    }

    /// Counts `n` values in a bin beyond the last.
    #[cold]
    fn begin(&mut self, bin: usize, n: u64) {
        self.bins.resize(bin, 0);
        self.bins.push(n);
    }

    /// This and `other` as one.
    pub fn plus(&self, other: &Histogram) -> Histogram {
        if self.bins.is_empty() {
            return other.clone();
        }
        let bins = self.bins.len().max(other.bins.len());
        let at = |all: &Vec<u64>, i: usize| all.get(i).copied().unwrap_or_default();
        Histogram { bins: (0..bins).map(|i| at(&self.bins, i) + at(&other.bins, i)).collect() }
    }

    /// Returns the quantile `q` of times counted in picoseconds, in seconds; NaN if none was counted.
    pub fn quantile_s(&self, q: f64) -> f64 {
        self.quantile(q).map_or(f64::NAN, |ps| ps * 1e-12)
    }

    /// Returns the values counted since `earlier`, an earlier state of this histogram.
    pub fn since(&self, earlier: &Histogram) -> Histogram {
        let mut since = self.clone();
        since.bins.iter_mut().zip(&earlier.bins).for_each(|(now, then)| *now -= then);
        since
    }

    /// The bins that hold values: the first value of each, the first of the next, how many it holds.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let held = self.bins.iter().enumerate().filter(|(_, n)| **n > 0);
        held.map(|(bin, &n)| (first(bin), first(bin + 1), n))
    }

    /// The smallest value that at least the share `q` of all does not exceed, up to half a bin; `None` of no values.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let total: u64 = self.bins.iter().sum();
        let rank = (libm::ceil(q * total as f64) as u64).max(1);
        let mut below = 0;
        let bin = self.bins.iter().position(|n| {
            below += n;
            below >= rank
        })?;
        Some(middle(bin))
    }
}

/// The bin of a value. Values below 2^7 have a bin each.
#[inline]
pub(crate) fn bin(value: u64) -> usize {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(BITS + 1);
    ((u64::from(shift) << BITS) + (value >> shift)) as usize
}

/// Returns the number of bits by which the values of a bin are shifted.
fn shift(bin: usize) -> u64 {
    (bin as u64 >> BITS).saturating_sub(1)
}

/// Returns the first value of a bin, or the maximum value after the last bin.
fn first(bin: usize) -> u64 {
    let shift = shift(bin);
    let value = u128::from(bin as u64 - (shift << BITS)) << shift;
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// The middle of a bin.
fn middle(bin: usize) -> f64 {
    first(bin) as f64 + ((1_u64 << shift(bin)) - 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_is_less_than_a_hundredth_of_its_values_wide() {
        for value in [0, 1, 127, 128, 255, 256, 257, 1_000, 123_456_789, 1 << 40, u64::MAX] {
            let error = (middle(bin(value)) - value as f64).abs();
            assert!(error <= 0.004 * value as f64, "{value}: {}", middle(bin(value)));
        }
        // 256 and 257 share a bin, 258 begins the next; the bins of a doubling are 128.
        assert_eq!([255, 256, 257, 258, 512].map(bin), [255, 256, 256, 257, 384]);
    }

    #[test]
    fn a_quantile_is_the_middle_of_its_bin() {
        // 2^9 to 2^10 has 128 bins of 4: 1000 to 1003. 2^40 begins a bin of 2^33.
        assert_eq!([1000, 1003].map(|value| middle(bin(value))), [1001.5; 2]);
        assert_eq!(middle(bin(1 << 40)), (1_u64 << 40) as f64 + ((1_u64 << 33) - 1) as f64 / 2.0);
    }

    #[test]
    fn quantiles_are_those_of_the_ranks() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        (1..=100).for_each(|value| histogram.count(value, 1));
        assert_eq!(
            [0.0, 0.5, 0.95, 0.999, 1.0].map(|q| histogram.quantile(q)),
            [1, 50, 95, 100, 100].map(|v| Some(f64::from(v)))
        );
    }

    #[test]
    fn bins_state_their_bounds() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.bins().count(), 0);
        [(5, 2), (1000, 1), (1003, 3), (u64::MAX, 1)].into_iter().for_each(|(value, n)| histogram.count(value, n));
        let last = u64::MAX - ((1 << 56) - 1);
        assert_eq!(histogram.bins().collect::<Vec<_>>(), [(5, 6, 2), (1000, 1004, 4), (last, u64::MAX, 1)]);
    }

    #[test]
    fn two_are_as_one() {
        let (mut a, mut b, mut both) = (Histogram::default(), Histogram::default(), Histogram::default());
        for (value, n) in [(5, 2), (700, 1)] {
            a.count(value, n);
            both.count(value, n);
        }
        b.count(9_000, 3);
        both.count(9_000, 3);
        assert_eq!(a.plus(&b), both);
        assert_eq!(b.plus(&a), both);
    }
}
