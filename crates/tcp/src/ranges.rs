//! Sorted disjoint ranges of stream offsets: data that a receiver holds out of order, or SACKed data at a sender.

/// SACK blocks that an ACK can carry (RFC 2018 §3).
const MOST_BLOCKS: usize = 4;

/// One range, from `start` to `end`, excluding `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub start: u64,
    pub end: u64,
    /// Value of the change counter when the range last grew: RFC 2018 §4 reports the most recently changed range first.
    changed: u32,
}

/// Sorted, disjoint, non-adjacent ranges. Allocates memory only after a loss or reordering.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    ranges: Vec<Range>,
    changes: u32,
}

impl Ranges {
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
    /// The ranges in order.
    pub fn as_slice(&self) -> &[Range] {
        &self.ranges
    }
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// Adds `start..end` and merges it with ranges that it overlaps or touches. Returns the number of new bytes.
    pub fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        self.changes = self.changes.wrapping_add(1);
        let changed = self.changes;
        let first = self.first_ending_from(start);
        let Some(range) = self.ranges.get_mut(first).filter(|r| r.start <= end) else {
            self.ranges.insert(first, Range { start, end, changed });
            return end - start;
        };
        if range.start <= start && end <= range.end {
            range.changed = changed;
            return 0;
        }
        let mut held = range.end - range.start;
        *range = Range { start: range.start.min(start), end: range.end.max(end), changed };
        let mut joined = *range;
        let next = first + 1;
        while let Some(after) = self.ranges.get(next).filter(|r| r.start <= end) {
            held += after.end - after.start;
            joined.end = joined.end.max(after.end);
            self.ranges.remove(next);
        }
        self.ranges[first].end = joined.end;
        joined.end - joined.start - held
    }

    /// Position of the first range that ends at or above `offset`. Most are among the last.
    fn first_ending_from(&self, offset: u64) -> usize {
        let some = self.ranges.len().saturating_sub(4);
        match self.ranges[some..].iter().rposition(|r| r.end < offset) {
            Some(below) => some + below + 1,
            None => self.ranges[..some].partition_point(|r| r.end < offset),
        }
    }

    /// Removes everything below `offset`.
    pub fn trim_below(&mut self, offset: u64) {
        let gone = self.ranges.partition_point(|r| r.end <= offset);
        self.ranges.drain(..gone);
        if let Some(first) = self.ranges.first_mut().filter(|r| r.start < offset) {
            first.start = offset;
        }
    }

    /// Removes the first range if it starts at or below `offset`. Returns its end.
    pub fn take_at(&mut self, offset: u64) -> Option<u64> {
        let first = *self.ranges.first().filter(|r| r.start <= offset)?;
        self.ranges.remove(0);
        Some(first.end)
    }

    /// Number of bytes in the ranges from `offset` on.
    pub fn bytes_from(&self, offset: u64) -> u64 {
        self.ranges.iter().map(|r| r.end.saturating_sub(r.start.max(offset))).sum()
    }

    /// Number of bytes in the ranges below `offset`.
    pub fn bytes_below(&self, offset: u64) -> u64 {
        let below = self.ranges.iter().take_while(|r| r.start < offset);
        below.map(|r| r.end.min(offset) - r.start).sum()
    }

    /// The first offset at or after `offset` that is in no range.
    pub fn next_gap(&self, offset: u64) -> u64 {
        match self.ranges.get(self.ranges.partition_point(|r| r.end <= offset)) {
            Some(r) if r.start <= offset => r.end,
            _ => offset,
        }
    }

    /// The start of the first range above `offset`.
    pub fn next_start(&self, offset: u64) -> Option<u64> {
        self.ranges.get(self.ranges.partition_point(|r| r.start <= offset)).map(|r| r.start)
    }

    /// One past the highest offset in a range.
    pub fn highest(&self) -> Option<u64> {
        self.ranges.last().map(|r| r.end)
    }

    /// Calls `f` with up to `n` ranges, at most [`MOST_BLOCKS`], the most recently changed first.
    pub fn most_recent(&self, n: usize, mut f: impl FnMut(Range)) {
        let mut recent = [(u64::MAX, 0); MOST_BLOCKS];
        let recent = &mut recent[..n];
        // The last ranges are usually the most recent, so that few others are inserted.
        for (i, range) in self.ranges.iter().enumerate().rev() {
            // Ages are relative to now, so that the counter may wrap.
            let age = u64::from(self.changes.wrapping_sub(range.changed));
            let Some(mut place) = n.checked_sub(1).filter(|last| age < recent[*last].0) else { continue };
            while place > 0 && age < recent[place - 1].0 {
                recent[place] = recent[place - 1];
                place -= 1;
            }
            recent[place] = (age, i);
        }
        recent.iter().take_while(|(age, _)| *age < u64::MAX).for_each(|&(_, i)| f(self.ranges[i]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pairs(r: &Ranges) -> Vec<(u64, u64)> {
        r.as_slice().iter().map(|r| (r.start, r.end)).collect()
    }

    #[test]
    fn the_most_recently_changed_block_comes_first() {
        // Segments of 500 bytes behind a hole from 5000: a block, another behind a second hole, and then the first grows.
        let mut r = Ranges::default();
        r.insert(5_500, 6_000);
        r.insert(7_000, 7_500);
        r.insert(6_000, 6_500);
        let mut seen = Vec::new();
        r.most_recent(3, |b| seen.push((b.start, b.end)));
        assert_eq!(seen, [(5_500, 6_500), (7_000, 7_500)]);
    }

    proptest! {
        #[test]
        fn ranges_are_the_set_of_their_bytes(
            ops in prop::collection::vec((0u8..4, 0u64..60, 0u64..20), 1..60),
        ) {
            let mut ranges = Ranges::default();
            let mut naive = std::collections::BTreeSet::new();
            for (op, start, len) in ops {
                match op {
                    0 => {
                        ranges.trim_below(start);
                        naive.retain(|b| *b >= start);
                    }
                    1 => {
                        let end = ranges.take_at(start);
                        let first = naive.first().copied().filter(|b| *b <= start);
                        prop_assert_eq!(end.is_some(), first.is_some());
                        if let Some(end) = end {
                            naive.retain(|b| *b >= end);
                        }
                    }
                    _ => {
                        let new = (start..start + len).filter(|b| naive.insert(*b)).count();
                        prop_assert_eq!(ranges.insert(start, start + len), new as u64);
                    }
                }
                prop_assert_eq!(ranges.bytes_below(u64::MAX), naive.len() as u64);
                prop_assert_eq!(ranges.bytes_below(30), naive.range(..30).count() as u64);
                prop_assert_eq!(ranges.bytes_from(30), naive.range(30..).count() as u64);
                prop_assert_eq!(ranges.highest(), naive.last().map(|b| b + 1));
                let gap = (start..).find(|b| !naive.contains(b));
                prop_assert_eq!(Some(ranges.next_gap(start)), gap);
                let p = pairs(&ranges);
                prop_assert!(p.windows(2).all(|w| w[0].1 < w[1].0), "{:?}", p);
                prop_assert!(p.iter().all(|(s, e)| (*s..*e).all(|b| naive.contains(&b))), "{:?}", p);
            }
        }
    }
}
