//! Data that a receiver holds above holes: its ranges, the order in which they changed, and the shares of memory that they
//! take. An arriving segment looks at few of the ranges, however many there are.

use std::collections::BTreeSet;

use crate::ranges::{Range, Ranges};

/// Blocks that an ACK can carry (RFC 2018 §3).
const MOST_BLOCKS: usize = 4;
/// Changes that are kept in addition to two for each range.
const SPARE: usize = 16;

/// Ranges held out of order. Allocates memory at the first of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    early: Option<Box<Early>>,
    /// Bytes for which a range takes one share of memory; zero if shares are not counted.
    share: u64,
    /// Whether there are any.
    some: bool,
}

#[derive(Clone, Debug, Default)]
struct Early {
    ranges: Ranges,
    /// For each change an offset of its range, the latest at the end. Earlier ones of the same range are obsolete, and so are
    /// those of data that has been taken.
    changes: Vec<u64>,
    /// Shares of all ranges.
    shares: u64,
}

impl Held {
    /// Counts a share of memory for each `share` bytes of a range, begun ones included.
    pub fn set_share(&mut self, share: u64) {
        if share == self.share {
            return;
        }
        self.share = share;
        if let Some(early) = &mut self.early {
            early.shares = early.ranges.as_slice().iter().map(|range| shares_of(range, share)).sum();
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        !self.some
    }

    /// One past the highest offset held; zero without any.
    #[inline]
    pub fn end(&self) -> u64 {
        self.early.as_ref().and_then(|early| early.ranges.highest()).unwrap_or(0)
    }

    #[inline]
    pub fn bytes(&self) -> u64 {
        self.early.as_ref().map_or(0, |early| early.ranges.bytes())
    }

    #[inline]
    pub fn shares(&self) -> u64 {
        self.early.as_ref().map_or(0, |early| early.shares)
    }

    /// The first range that has bytes of `start..end`.
    pub fn overlapping(&self, start: u64, end: u64) -> Option<Range> {
        // Most data arrives above all that is held.
        if start >= self.end() {
            return None;
        }
        self.early.as_ref()?.ranges.first_beyond(start).filter(|range| range.start < end)
    }

    /// Adds `start..end`. Returns the number of new bytes.
    pub fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        let (share, mut gone) = (self.share, 0);
        let early = self.early.get_or_insert_default();
        let (new, joined) = early.ranges.join(start, end, |range| gone += shares_of(range, share));
        early.shares = early.shares + shares_of(&joined, share) - gone;
        early.note_change(start, &joined);
        self.some = true;
        new
    }

    /// Removes the first range if it starts at or below `offset`. Returns its end.
    pub fn take_at(&mut self, offset: u64) -> Option<u64> {
        let early = self.early.as_mut()?;
        let taken = early.ranges.take_at(offset)?;
        early.shares -= shares_of(&taken, self.share);
        // Usually the last change has filled the first hole.
        while early.changes.pop_if(|change| taken.has(*change)).is_some() {}
        if early.ranges.is_empty() {
            early.changes.clear();
            self.some = false;
        }
        Some(taken.end)
    }

    /// Calls `f` with up to `n` ranges, at most [`MOST_BLOCKS`], the most recently changed first (RFC 2018 §4).
    pub fn most_recent(&self, n: usize, mut f: impl FnMut(Range)) {
        let Some(early) = &self.early else { return };
        let (mut starts, mut count) = ([0; MOST_BLOCKS], 0);
        for change in early.changes.iter().rev() {
            if count == n {
                return;
            }
            if let Some(range) = early.ranges.at(*change)
                && !starts[..count].contains(&range.start)
            {
                starts[count] = range.start;
                count += 1;
                f(range);
            }
        }
    }
}

impl Early {
    /// Records that the range `joined`, which has `offset`, has changed.
    #[inline]
    fn note_change(&mut self, offset: u64, joined: &Range) {
        match self.changes.last_mut().filter(|last| joined.has(**last)) {
            Some(last) => *last = offset,
            None => self.note_change_of_another(offset, joined),
        }
        if self.changes.len() > 2 * self.ranges.as_slice().len() + SPARE {
            self.forget_obsolete_changes();
        }
    }

    /// The range changed before was another one.
    fn note_change_of_another(&mut self, offset: u64, joined: &Range) {
        let some = self.changes.len().saturating_sub(MOST_BLOCKS);
        let before = self.changes[some..].iter().rposition(|change| joined.has(*change));
        if let Some(before) = before {
            self.changes.remove(some + before);
        }
        self.changes.push(offset);
    }

    #[cold]
    fn forget_obsolete_changes(&mut self) {
        let mut starts = BTreeSet::new();
        let ranges = &self.ranges;
        let mut counts = |change: &u64| ranges.at(*change).is_some_and(|range| starts.insert(range.start));
        let mut kept: Vec<u64> = self.changes.iter().rev().copied().filter(|change| counts(change)).collect();
        kept.reverse();
        self.changes = kept;
    }
}

fn shares_of(range: &Range, share: u64) -> u64 {
    if share == 0 { 0 } else { (range.end - range.start).div_ceil(share) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn recent(held: &Held, n: usize) -> Vec<(u64, u64)> {
        let mut seen = Vec::new();
        held.most_recent(n, |range| seen.push((range.start, range.end)));
        seen
    }

    #[test]
    fn the_most_recently_changed_block_comes_first() {
        // Segments of 500 bytes behind a hole from 5000: a block, another behind a second hole, and then the first grows.
        let mut held = Held::default();
        for start in [5_500, 7_000, 6_000] {
            held.insert(start, start + 500);
        }
        assert_eq!(recent(&held, 3), [(5_500, 6_500), (7_000, 7_500)]);
        assert_eq!(recent(&held, 1), [(5_500, 6_500)]);
    }

    proptest! {
        /// Compares with ranges that each have the number of their last change.
        #[test]
        fn blocks_and_shares_are_those_of_the_ranges(
            segments in prop::collection::vec((0u64..120, 1u64..4, 0u8..8), 1..300),
        ) {
            let mut held = Held::default();
            held.set_share(3);
            let mut model: Vec<(u64, u64, usize)> = Vec::new();
            let mut next = 0;
            for (i, (start, len, taken)) in segments.into_iter().enumerate() {
                let (start, end) = (next + 1 + start, next + 1 + start + len);
                let apart = |r: &&(u64, u64, usize)| r.1 < start || end < r.0;
                let joined = model.iter().filter(|r| !apart(r)).fold((start, end), |all, r| (all.0.min(r.0), all.1.max(r.1)));
                model = model.iter().filter(apart).copied().collect();
                model.push((joined.0, joined.1, i));
                held.insert(start, end);
                if taken == 0 && let Some(first) = model.iter().copied().min() {
                    prop_assert_eq!(held.take_at(first.0), Some(first.1));
                    model.retain(|r| *r != first);
                    next = first.1;
                }
                model.sort_unstable_by_key(|r| std::cmp::Reverse(r.2));
                let expected: Vec<_> = model.iter().take(4).map(|r| (r.0, r.1)).collect();
                prop_assert_eq!(recent(&held, 4), expected);
                prop_assert_eq!(held.bytes(), model.iter().map(|r| r.1 - r.0).sum::<u64>());
                prop_assert_eq!(held.shares(), model.iter().map(|r| (r.1 - r.0).div_ceil(3)).sum::<u64>());
                // A range may have been taken since the last insertion.
                prop_assert!(held.early.as_ref().unwrap().changes.len() <= 2 * model.len() + SPARE + 2);
                let found = model.iter().filter(|r| r.0 < end && start < r.1).map(|r| (r.0, r.1)).min();
                prop_assert_eq!(held.overlapping(start, end).map(|r| (r.start, r.end)), found);
            }
        }
    }
}
