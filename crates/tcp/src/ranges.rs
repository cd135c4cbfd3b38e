//! Sorted disjoint ranges of stream offsets: data that a receiver holds out of order, or SACKed data at a sender.

/// One range, from `start` to `end`, excluding `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub start: u64,
    pub end: u64,
}

impl Range {
    /// Whether `offset` is in the range.
    #[inline]
    pub fn has(&self, offset: u64) -> bool {
        (self.start..self.end).contains(&offset)
    }
}

/// Positions below `head` that are kept at most, in addition to as many as there are ranges.
const SPARE: usize = 32;

/// Sorted, disjoint, non-adjacent ranges. Allocates memory only after a loss or reordering. Holes are filled near the start, and
/// new ranges are near the end: either moves few ranges.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    /// The ranges, from position `head` on; empty without any.
    places: Vec<Range>,
    head: usize,
    bytes: u64,
}

impl Ranges {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
    /// The ranges in order.
    #[inline]
    pub fn as_slice(&self) -> &[Range] {
        &self.places[self.head..]
    }
    pub fn clear(&mut self) {
        self.places.clear();
        (self.head, self.bytes) = (0, 0);
    }
    /// Number of bytes in all ranges.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds `start..end` and merges it with ranges that it overlaps or touches. Returns the number of new bytes.
    pub fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start < end { self.join(start, end, |_| {}).0 } else { 0 }
    }

    /// [`Ranges::insert`] of one byte or more. Calls `f` with each range that it is merged with, and also returns the range
    /// that has it now.
    #[inline]
    pub fn join(&mut self, start: u64, end: u64, mut f: impl FnMut(&Range)) -> (u64, Range) {
        // Most continue the last range, or report it again.
        if let Some(last) = self.places.last_mut().filter(|last| last.start <= start && start <= last.end) {
            f(last);
            let new = end.saturating_sub(last.end);
            last.end += new;
            self.bytes += new;
            return (new, *last);
        }
        self.join_elsewhere(start, end, f)
    }

    #[inline(never)]
    fn join_elsewhere(&mut self, start: u64, end: u64, mut f: impl FnMut(&Range)) -> (u64, Range) {
        let first = self.first_ending_from(start);
        let ranges = &self.places[self.head..];
        let Some(range) = ranges.get(first).filter(|r| r.start <= end) else {
            let range = Range { start, end };
            self.places.insert(self.head + first, range);
            self.bytes += end - start;
            return (end - start, range);
        };
        f(range);
        if range.start <= start && end <= range.end {
            return (0, *range);
        }
        let mut held = range.end - range.start;
        let mut joined = Range { start: range.start.min(start), end: range.end.max(end) };
        let mut more = 0;
        for after in ranges[first + 1..].iter().take_while(|r| r.start <= end) {
            f(after);
            held += after.end - after.start;
            joined.end = joined.end.max(after.end);
            more += 1;
        }
        if more > 0 {
            self.remove(first, more);
        }
        self.places[self.head + first] = joined;
        let new = joined.end - joined.start - held;
        self.bytes += new;
        (new, joined)
    }

    /// Removes `count` ranges from the one with index `first` on. Moves those before or after them, whichever are fewer.
    fn remove(&mut self, first: usize, count: usize) {
        let place = self.head + first;
        if first > self.as_slice().len() / 2 {
            self.places.drain(place..place + count);
            return;
        }
        self.places.copy_within(self.head..place, self.head + count);
        self.head += count;
        let left = self.as_slice().len();
        if left == 0 || self.head > SPARE + left {
            self.places.drain(..self.head);
            self.head = 0;
        }
    }

    /// Position of the first range that ends at or above `offset`. Most are among the last.
    fn first_ending_from(&self, offset: u64) -> usize {
        let (ranges, some) = (self.as_slice(), self.as_slice().len().saturating_sub(4));
        match ranges[some..].iter().rposition(|r| r.end < offset) {
            Some(below) => some + below + 1,
            None => ranges[..some].partition_point(|r| r.end < offset),
        }
    }

    /// The first range that ends above `offset`.
    #[inline]
    pub fn first_beyond(&self, offset: u64) -> Option<Range> {
        self.as_slice().get(self.first_ending_from(offset + 1)).copied()
    }

    /// The range that has `offset`.
    #[inline]
    pub fn at(&self, offset: u64) -> Option<Range> {
        self.first_beyond(offset).filter(|r| r.start <= offset)
    }

    /// Removes everything below `offset`.
    #[inline(never)]
    pub fn trim_below(&mut self, offset: u64) {
        self.bytes -= self.bytes_below(offset);
        let gone = self.as_slice().partition_point(|r| r.end <= offset);
        if gone > 0 {
            self.remove(0, gone);
        }
        if let Some(first) = self.places.get_mut(self.head).filter(|r| r.start < offset) {
            first.start = offset;
        }
    }

    /// Removes the first range if it starts at or below `offset`. Returns it.
    pub fn take_at(&mut self, offset: u64) -> Option<Range> {
        let first = *self.as_slice().first().filter(|r| r.start <= offset)?;
        self.remove(0, 1);
        self.bytes -= first.end - first.start;
        Some(first)
    }

    /// Number of bytes in the ranges from `offset` on.
    #[inline]
    pub fn bytes_from(&self, offset: u64) -> u64 {
        if self.is_empty() { 0 } else { self.bytes - self.bytes_below(offset) }
    }

    /// Number of bytes in the ranges below `offset`.
    #[inline]
    pub fn bytes_below(&self, offset: u64) -> u64 {
        let ranges = self.as_slice();
        if ranges.first().is_none_or(|r| offset <= r.start) { 0 } else { self.sum_below(offset) }
    }

    /// The sum of the ranges on either side of `offset`, whichever are fewer.
    #[inline(never)]
    fn sum_below(&self, offset: u64) -> u64 {
        let ranges = self.as_slice();
        let below = ranges.partition_point(|r| r.end <= offset);
        let cut = ranges.get(below).map_or(0, |r| offset.saturating_sub(r.start));
        let sum = |ranges: &[Range]| ranges.iter().map(|r| r.end - r.start).sum::<u64>();
        if below <= ranges.len() / 2 { sum(&ranges[..below]) + cut } else { self.bytes - sum(&ranges[below..]) + cut }
    }

    /// The first offset at or after `offset` that is in no range.
    pub fn next_gap(&self, offset: u64) -> u64 {
        match self.as_slice().get(self.as_slice().partition_point(|r| r.end <= offset)) {
            Some(r) if r.start <= offset => r.end,
            _ => offset,
        }
    }

    /// The start of the first range above `offset`.
    pub fn next_start(&self, offset: u64) -> Option<u64> {
        self.as_slice().get(self.as_slice().partition_point(|r| r.start <= offset)).map(|r| r.start)
    }

    /// One past the highest offset in a range.
    #[inline]
    pub fn highest(&self) -> Option<u64> {
        self.places.last().map(|r| r.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pairs(r: &Ranges) -> Vec<(u64, u64)> {
        r.as_slice().iter().map(|r| (r.start, r.end)).collect()
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
                        let end = ranges.take_at(start).map(|taken| taken.end);
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
                let range = ranges.at(start).map(|r| (r.start..r.end).contains(&start));
                prop_assert_eq!(range, naive.contains(&start).then_some(true));
                prop_assert_eq!(ranges.bytes(), naive.len() as u64);
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
