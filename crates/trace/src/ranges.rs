//! Ranges of sequence space.

/// Disjoint ranges `[start, end)` in order. Their number is bounded: the lowest is dropped if there are more.
#[derive(Clone, Debug, Default)]
pub struct Ranges(Vec<(u64, u64)>);

/// Maximum number of ranges; more holes than this mean that the capture has lost most of the stream.
const MAX_RANGES: usize = 4096;

impl Ranges {
    /// Bytes allocated on the heap.
    pub fn heap(&self) -> usize {
        self.0.capacity() * size_of::<(u64, u64)>()
    }
    /// Returns whether there are no ranges.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Start of the first range.
    pub fn bottom(&self) -> Option<u64> {
        self.0.first().map(|r| r.0)
    }
    /// The first range.
    pub fn first(&self) -> Option<(u64, u64)> {
        self.0.first().copied()
    }
    /// End of the last range.
    pub fn top(&self) -> Option<u64> {
        self.0.last().map(|r| r.1)
    }
    /// Adds a range and merges it with adjacent ones. Returns the number of bytes that were not covered before.
    pub fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        let first = self.0.partition_point(|r| r.1 < start);
        let last = self.0.partition_point(|r| r.0 <= end);
        let had: u64 = self.0[first..last].iter().map(|r| r.1.min(end).saturating_sub(r.0.max(start))).sum();
        let low = self.0[first..last].first().map_or(start, |r| r.0.min(start));
        let high = self.0[first..last].last().map_or(end, |r| r.1.max(end));
        self.0.splice(first..last, [(low, high)]);
        if self.0.len() > MAX_RANGES {
            self.0.remove(0);
        }
        end - start - had
    }
    /// Calls `f` for each part of a range that is not covered, in order.
    pub fn for_missing(&self, start: u64, end: u64, mut f: impl FnMut(u64, u64)) {
        let first = self.0.partition_point(|r| r.1 <= start);
        let mut low = start;
        for r in self.0[first..].iter().take_while(|r| r.0 < end) {
            if low < r.0 {
                f(low, r.0);
            }
            low = r.1;
        }
        if low < end {
            f(low, end);
        }
    }
    /// Removes a range. Returns the number of bytes that were covered.
    pub fn remove(&mut self, start: u64, end: u64) -> u64 {
        let first = self.0.partition_point(|r| r.1 <= start);
        let last = self.0.partition_point(|r| r.0 < end);
        if start >= end || first >= last {
            return 0;
        }
        let had = self.0[first..last].iter().map(|r| r.1.min(end) - r.0.max(start)).sum();
        let (low, high) = (self.0[first], self.0[last - 1]);
        let rest = [(low.0, start), (end, high.1)].into_iter().filter(|r| r.0 < r.1);
        self.0.splice(first..last, rest);
        had
    }
    /// Drops everything below `limit`.
    #[inline]
    pub fn trim_below(&mut self, limit: u64) {
        if self.0.first().is_some_and(|r| r.0 < limit) {
            self.remove(0, limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares with a set of single numbers.
        #[test]
        fn ranges_are_sets(steps in prop::collection::vec((any::<bool>(), 0_u64..60, 0_u64..20), 1..60)) {
            let mut ranges = Ranges::default();
            let mut model = std::collections::BTreeSet::new();
            for (add, start, len) in steps {
                let stretch: std::collections::BTreeSet<u64> = (start..start + len).collect();
                let mut missing = std::collections::BTreeSet::new();
                ranges.for_missing(start, start + len, |low, high| missing.extend(low..high));
                prop_assert_eq!(&missing, &stretch.difference(&model).copied().collect());
                if add {
                    let fresh = stretch.difference(&model).count() as u64;
                    prop_assert_eq!(ranges.insert(start, start + len), fresh);
                    model.extend(stretch);
                } else {
                    let had = stretch.intersection(&model).count() as u64;
                    prop_assert_eq!(ranges.remove(start, start + len), had);
                    model.retain(|n| !stretch.contains(n));
                }
                prop_assert_eq!(ranges.is_empty(), model.is_empty());
                prop_assert!(ranges.0.windows(2).all(|w| w[0].1 < w[1].0));
            }
        }
    }
}
