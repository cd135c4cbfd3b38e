//! Near-future events: a timing wheel of buckets, each with one event or a short unsorted list.
//!
//! A link's next delivery is almost always a fraction of a millisecond ahead. There, finding the
//! next event takes two bit scans, and rarely a walk of a few nodes, however many are pending.

/// Time of an event in picoseconds and its rank at that time: class, sequence and target. Packed from high to low bits
/// into one number, which two instructions compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry(u128);

impl Entry {
    /// Later than every event.
    pub const LAST: Entry = Entry(u128::MAX);

    /// An event at `time` with the rank `order`.
    pub const fn new(time: u64, order: u64) -> Entry {
        Entry((time as u128) << 64 | order as u128)
    }
    /// Time in picoseconds.
    pub const fn time(self) -> u64 {
        (self.0 >> 64) as u64
    }
    /// Class, sequence and target.
    pub const fn order(self) -> u64 {
        self.0 as u64
    }
}

/// log2 of a bucket's width in picoseconds: about a microsecond.
const WIDTH_BITS: u32 = 20;
/// log2 of the wheel's range in picoseconds: about four milliseconds.
pub const RANGE_BITS: u32 = 32;
const BUCKETS: usize = 1 << (RANGE_BITS - WIDTH_BITS);
const WORDS: usize = BUCKETS / 64;
const NONE: u32 = u32::MAX;
/// A bucket with more nodes is crowded: sorting it takes less than walking it for each of its events.
const CROWD: u32 = 6;

/// The earliest event of a bucket with several.
pub enum Least {
    /// Removed, as it was before the limit.
    Is(Entry),
    /// The limit is earlier, or the bucket has only one event.
    NotBefore,
    /// The bucket has too many events to search.
    Crowd,
}

#[derive(Clone, Copy)]
struct Node {
    entry: Entry,
    next: u32,
}

/// Near-future events.
pub struct Wheel {
    /// The event of each bucket with one event, so that it needs no node; [`Entry::LAST`] in a bucket with a list. Not
    /// valid in an empty bucket.
    slots: Box<[Entry; BUCKETS]>,
    /// First node of each bucket with a list, which has at least two nodes.
    heads: Box<[u32; BUCKETS]>,
    /// Bitmap of non-empty buckets; bitmap of non-zero words of that bitmap.
    occupied: [u64; WORDS],
    words: u64,
    nodes: Vec<Node>,
    /// First free node.
    free: u32,
    /// Bucket of the last event removed; no event is in an earlier one.
    cursor: u64,
}

impl Default for Wheel {
    fn default() -> Wheel {
        Wheel {
            slots: Box::new([Entry::LAST; BUCKETS]),
            heads: Box::new([NONE; BUCKETS]),
            occupied: [0; WORDS],
            words: 0,
            nodes: Vec::new(),
            free: NONE,
            cursor: 0,
        }
    }
}

impl Wheel {
    /// Adds an event that is not before the last one removed; returns false if it is beyond the wheel's range.
    #[inline]
    pub fn insert(&mut self, entry: Entry) -> bool {
        let bucket = entry.time() >> WIDTH_BITS;
        if bucket.wrapping_sub(self.cursor) >= BUCKETS as u64 {
            return false;
        }
        let bucket = bucket as usize % BUCKETS;
        let (word, bit) = (&mut self.occupied[bucket / 64], 1 << (bucket % 64));
        if *word & bit != 0 {
            self.insert_into_list(entry, bucket); // last, so that nothing need be saved across the call
        } else {
            *word |= bit;
            self.words |= 1 << (bucket / 64);
            self.slots[bucket] = entry;
        }
        true
    }

    /// [`Wheel::insert`] into a bucket that is not empty.
    #[inline(never)]
    fn insert_into_list(&mut self, entry: Entry, bucket: usize) {
        let only = std::mem::replace(&mut self.slots[bucket], Entry::LAST);
        if only != Entry::LAST {
            self.heads[bucket] = self.take_free(only, NONE);
        }
        self.heads[bucket] = self.take_free(entry, self.heads[bucket]);
    }

    /// Removes the event of the [first bucket](Wheel::first_bucket) if it is alone there and before `limit`.
    #[inline(always)]
    pub fn take_only_before(&mut self, limit: Entry, bucket: usize) -> Option<Entry> {
        let entry = self.slots[bucket];
        // One comparison for both: the entry of a bucket with a list is not before any limit.
        (entry < limit).then(|| {
            self.clear_bit(bucket);
            entry
        })
    }

    /// Advances the time to `time`: no earlier event will be added.
    #[inline]
    pub fn turn_to(&mut self, time: u64) {
        self.cursor = time >> WIDTH_BITS;
    }

    /// Removes the earliest event of the [first bucket](Wheel::first_bucket) if it has several, the earliest is before
    /// `limit`, and it is not crowded.
    pub fn take_least_before(&mut self, limit: Entry, bucket: usize) -> Least {
        if self.slots[bucket] != Entry::LAST {
            return Least::NotBefore;
        }
        let (mut least, mut before_least) = (self.heads[bucket], NONE);
        let Node { entry, next } = self.nodes[least as usize];
        if limit.time() >> WIDTH_BITS < entry.time() >> WIDTH_BITS {
            return Least::NotBefore;
        }
        let mut before = least;
        let mut at = next;
        let mut walked = 1;
        while at != NONE {
            walked += 1;
            if walked > CROWD {
                return Least::Crowd;
            }
            if self.nodes[at as usize].entry < self.nodes[least as usize].entry {
                (least, before_least) = (at, before);
            }
            before = at;
            at = self.nodes[at as usize].next;
        }
        let Node { entry, next } = self.nodes[least as usize];
        if entry > limit {
            return Least::NotBefore;
        }
        match before_least {
            NONE => self.heads[bucket] = next,
            before => self.nodes[before as usize].next = next,
        }
        self.release(least);
        let head = self.heads[bucket];
        let Node { entry: only, next } = self.nodes[head as usize];
        if next == NONE {
            self.slots[bucket] = only;
            self.release(head);
        }
        Least::Is(entry)
    }

    /// Removes the events of `bucket`, which has several, and passes them to `take`.
    pub fn empty(&mut self, bucket: usize, mut take: impl FnMut(Entry)) {
        let mut at = std::mem::replace(&mut self.heads[bucket], NONE);
        self.clear_bit(bucket);
        while at != NONE {
            let node = &mut self.nodes[at as usize];
            take(node.entry);
            let next = std::mem::replace(&mut node.next, self.free);
            self.free = at;
            at = next;
        }
    }

    /// Allocates a node.
    fn take_free(&mut self, entry: Entry, next: u32) -> u32 {
        let place = self.free;
        let Some(node) = self.nodes.get_mut(place as usize) else {
            self.nodes.push(Node { entry, next });
            return self.nodes.len() as u32 - 1;
        };
        self.free = node.next;
        *node = Node { entry, next };
        place
    }

    /// Frees a node.
    fn release(&mut self, place: u32) {
        self.nodes[place as usize].next = self.free;
        self.free = place;
    }

    #[inline]
    fn clear_bit(&mut self, bucket: usize) {
        let word = bucket / 64;
        self.occupied[word] &= !(1 << (bucket % 64));
        if self.occupied[word] == 0 {
            self.words &= !(1 << word);
        }
    }

    /// Start of the bucket of the last event removed.
    pub fn time(&self) -> u64 {
        self.cursor << WIDTH_BITS
    }

    /// Returns the first non-empty bucket, from the cursor once around.
    #[inline(always)]
    pub fn first_bucket(&self) -> Option<usize> {
        let at = self.cursor as usize % BUCKETS;
        let here = self.occupied[at / 64] & (!0 << (at % 64));
        if here != 0 {
            return Some(at / 64 * 64 + here.trailing_zeros() as usize);
        }
        // The words after this one, then those from the start; this word comes last, with its low bits. Two shifts keep
        // the shift of the last word below 64.
        let after = self.words & (!0 << (at / 64) << 1);
        let words = if after != 0 { after } else { self.words };
        if words == 0 {
            return None;
        }
        let word = words.trailing_zeros() as usize;
        Some(word * 64 + self.occupied[word].trailing_zeros() as usize)
    }
}
