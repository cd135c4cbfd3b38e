//! Events beyond the wheel's range, mostly timers: unsorted buckets as long as the wheel. An event is moved to the wheel when
//! time reaches its bucket, which takes fewer instructions than a heap.

use super::wheel::{Entry, RANGE_BITS};

/// The buckets cover about a quarter of a second.
const BUCKETS: usize = 64;

/// Where an event was added.
#[derive(Debug, PartialEq, Eq)]
pub enum Inserted {
    /// In the first bucket with events, which was empty.
    First,
    /// In another bucket.
    Behind,
    /// Nowhere: it is beyond the buckets, too.
    Nowhere,
}

/// Events beyond the wheel's range.
pub struct Later {
    buckets: [Vec<Entry>; BUCKETS],
    /// Bitmap of non-empty buckets.
    occupied: u64,
    /// No event is before the start of the first non-empty bucket; [`Entry::LAST`] without events.
    pub start: Entry,
}

impl Default for Later {
    fn default() -> Later {
        Later { buckets: [const { Vec::new() }; BUCKETS], occupied: 0, start: Entry::LAST }
    }
}

impl Later {
    /// Adds an event that is beyond the wheel's range at the time `now`.
    #[inline]
    pub fn insert(&mut self, entry: Entry, now: u64) -> Inserted {
        let bucket = entry.time() >> RANGE_BITS;
        if bucket - (now >> RANGE_BITS) >= BUCKETS as u64 {
            return Inserted::Nowhere;
        }
        let place = bucket as usize % BUCKETS;
        let events = &mut self.buckets[place];
        if events.len() == events.capacity() {
            return self.insert_growing(place, entry, now); // last, so that nothing need be saved across the call
        }
        events.push(entry);
        self.occupied |= 1 << place;
        let start = bucket << RANGE_BITS;
        if start >= self.start.time() {
            return Inserted::Behind;
        }
        self.start = Entry::new(start, 0);
        Inserted::First
    }

    #[cold]
    #[inline(never)]
    fn insert_growing(&mut self, place: usize, entry: Entry, now: u64) -> Inserted {
        self.buckets[place].reserve(1);
        self.insert(entry, now)
    }

    /// Removes the events of the first non-empty bucket and passes them to `take`.
    pub fn empty_first(&mut self, take: impl FnMut(Entry)) {
        let first = self.start.time() >> RANGE_BITS;
        let place = first as usize % BUCKETS;
        self.buckets[place].drain(..).for_each(take);
        self.occupied &= !(1 << place);
        let next = first + u64::from(self.occupied.rotate_right(place as u32).trailing_zeros());
        self.start = if self.occupied == 0 { Entry::LAST } else { Entry::new(next << RANGE_BITS, 0) };
    }
}
