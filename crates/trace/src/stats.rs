//! Statistics collected value by value in constant or bounded memory.

/// Count, sum, minimum and maximum of values, usually nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of values.
    pub count: u64,
    /// Sum of the values.
    pub sum: u64,
    /// Minimum; 0 without values.
    pub min: u64,
    /// Maximum.
    pub max: u64,
}

impl Summary {
    /// Adds a value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.sum = self.sum.saturating_add(value);
        self.count += 1;
    }
    /// Mean; NaN without values.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count as f64
    }
}

/// Mantissa bits per bucket: a bucket is 1/64 of its value wide.
const BITS: u32 = 6;

/// A distribution: exact count, mean, minimum and maximum; quantiles within 1/128 of their value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    /// Exact count, sum, minimum and maximum.
    pub summary: Summary,
    /// (bucket, number of values), in order. Their number grows with the number of different values, not of values.
    buckets: Vec<(u16, u32)>,
}

impl Distribution {
    /// Adds a value.
    pub fn add(&mut self, value: u64) {
        self.summary.add(value);
        let bucket = bucket(value);
        match self.buckets.binary_search_by_key(&bucket, |b| b.0) {
            Ok(place) => self.buckets[place].1 += 1,
            Err(place) => self.buckets.insert(place, (bucket, 1)),
        }
    }

    /// Bytes allocated on the heap.
    pub(crate) fn heap(&self) -> usize {
        self.buckets.capacity() * size_of::<(u16, u32)>()
    }

    /// Quantile `q` (0 to 1): the middle of its bucket, limited to the range of the values. NaN without values.
    pub fn quantile(&self, q: f64) -> f64 {
        let wanted = (q * self.summary.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for &(bucket, count) in &self.buckets {
            seen += u64::from(count);
            if seen >= wanted {
                return middle(bucket).clamp(self.summary.min as f64, self.summary.max as f64);
            }
        }
        f64::NAN
    }
}

/// Returns the bucket of a value: values below 64 have their own; above, it is the exponent and the leading bits.
fn bucket(value: u64) -> u16 {
    let shift = (63 - value.max(1).leading_zeros()).saturating_sub(BITS);
    ((shift << BITS) as u64 + (value >> shift)) as u16
}

fn middle(bucket: u16) -> f64 {
    let bucket = u64::from(bucket);
    if bucket < 1 << (BITS + 1) {
        return bucket as f64;
    }
    let shift = (bucket >> BITS) - 1;
    let mantissa = bucket - (shift << BITS);
    (mantissa as f64 + 0.5) * 2_f64.powi(shift as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_hundredth() {
        let mut distribution = Distribution::default();
        (1..=100_000_u64).for_each(|i| distribution.add(i * 1_000));
        for (q, want) in [(0.5, 50e6), (0.95, 95e6), (0.99, 99e6)] {
            let got = distribution.quantile(q);
            assert!((got / want - 1.0).abs() < 0.01, "{q}: {got}");
        }
        assert_eq!((distribution.summary.min, distribution.summary.max), (1_000, 100_000_000));
        assert!(distribution.buckets.len() < 1100, "{}", distribution.buckets.len());
    }

    #[test]
    fn buckets_grow_with_their_values() {
        let edges: Vec<u64> = (0..63).flat_map(|p| [(1_u64 << p) - 1, 1 << p, (1 << p) + 1]).collect();
        let mut sorted = edges.clone();
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|w| bucket(w[0]) <= bucket(w[1])));
        assert!(edges.iter().filter(|v| **v > 0).all(|&v| (middle(bucket(v)) / v as f64 - 1.0).abs() < 0.01));
        assert!(Distribution::default().quantile(0.5).is_nan());
    }
}
