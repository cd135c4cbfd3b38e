//! The near future: a wheel of buckets, each a short unsorted list.
//!
//! A link's next delivery is almost always a fraction of a millisecond ahead. There, finding the
//! next event takes two bit scans and a walk of one or two nodes, however many are pending.

/// When an event is due, in picoseconds, and its place among those of the same instant: class,
/// sequence and target. From high bits to low in one number, which two instructions compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry(u128);

impl Entry {
    /// After every event.
    pub const LAST: Entry = Entry(u128::MAX);

    /// An event of the instant `time` with this place in it.
    pub const fn new(time: u64, order: u64) -> Entry {
        Entry((time as u128) << 64 | order as u128)
    }
    /// Picoseconds.
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
/// The wheel reaches about four milliseconds ahead.
const BUCKETS: usize = 4096;
const WORDS: usize = BUCKETS / 64;
const NONE: u32 = u32::MAX;
/// A bucket with more nodes than this is crowded: to walk it again for each of them would be quadratic.
const CROWD: u32 = 128;

#[derive(Clone, Copy)]
struct Node {
    entry: Entry,
    next: u32,
}

/// Events of the near future.
pub struct Wheel {
    /// First node of each bucket.
    heads: Box<[u32; BUCKETS]>,
    /// Which buckets have a node; and which words of this have a bit.
    occupied: [u64; WORDS],
    words: u64,
    nodes: Vec<Node>,
    /// First of the nodes not in use, of which there is always one.
    free: u32,
    /// The bucket of the last event taken; none is in an earlier one.
    cursor: u64,
    /// A crowded bucket, from which nothing was taken.
    crowded: Option<usize>,
}

impl Default for Wheel {
    fn default() -> Wheel {
        Wheel {
            heads: Box::new([NONE; BUCKETS]),
            occupied: [0; WORDS],
            words: 0,
            nodes: vec![Node { entry: Entry::LAST, next: NONE }],
            free: 0,
            cursor: 0,
            crowded: None,
        }
    }
}

impl Wheel {
    /// Adds an event that is not before the last one taken; `false` if the wheel does not reach to it.
    #[inline]
    pub fn insert(&mut self, entry: Entry) -> bool {
        let bucket = entry.time() >> WIDTH_BITS;
        if bucket.wrapping_sub(self.cursor) >= BUCKETS as u64 {
            return false;
        }
        let bucket = bucket as usize % BUCKETS;
        self.heads[bucket] = self.take_free(entry, self.heads[bucket]);
        self.occupied[bucket / 64] |= 1 << (bucket % 64);
        self.words |= 1 << (bucket / 64);
        if self.free == NONE {
            self.grow(); // last, so that nothing need be saved across the call
        }
        true
    }

    /// Takes the earliest event, if it is before `limit` and its bucket is not crowded.
    #[inline(always)]
    pub fn take_before(&mut self, limit: Entry) -> Option<Entry> {
        let bucket = self.first_bucket()?;
        let head = self.heads[bucket];
        let node = &mut self.nodes[head as usize];
        if node.next != NONE {
            return self.take_least_before(limit, bucket);
        }
        if node.entry > limit {
            return None;
        }
        let entry = node.entry;
        node.next = self.free;
        self.free = head;
        self.heads[bucket] = NONE;
        self.clear_bit(bucket);
        Some(entry)
    }

    /// The time has come to `time`: nothing earlier will be added.
    #[inline]
    pub fn turn_to(&mut self, time: u64) {
        self.cursor = time >> WIDTH_BITS;
    }

    /// As [`Wheel::take_before`], from a bucket of several.
    #[cold]
    fn take_least_before(&mut self, limit: Entry, bucket: usize) -> Option<Entry> {
        let (mut least, mut before_least) = (self.heads[bucket], NONE);
        let mut before = least;
        let mut at = self.nodes[least as usize].next;
        let mut walked = 0;
        while at != NONE {
            walked += 1;
            if self.nodes[at as usize].entry < self.nodes[least as usize].entry {
                (least, before_least) = (at, before);
            }
            before = at;
            at = self.nodes[at as usize].next;
        }
        if walked > CROWD {
            self.crowded = Some(bucket);
            return None;
        }
        let Node { entry, next } = self.nodes[least as usize];
        if entry > limit {
            return None;
        }
        match before_least {
            NONE => self.heads[bucket] = next,
            before => self.nodes[before as usize].next = next,
        }
        self.nodes[least as usize].next = self.free;
        self.free = least;
        Some(entry)
    }

    /// Hands the events of the crowded bucket, if [`Wheel::take_before`] has met one, to `take`. None is earlier.
    pub fn empty_crowded(&mut self, mut take: impl FnMut(Entry)) {
        let Some(bucket) = self.crowded.take() else { return };
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

    /// Puts a free node into service.
    #[inline]
    fn take_free(&mut self, entry: Entry, next: u32) -> u32 {
        let place = self.free;
        let node = &mut self.nodes[place as usize];
        self.free = node.next;
        *node = Node { entry, next };
        place
    }

    #[cold]
    fn grow(&mut self) {
        self.free = self.nodes.len() as u32;
        self.nodes.push(Node { entry: Entry::LAST, next: NONE });
    }

    #[inline]
    fn clear_bit(&mut self, bucket: usize) {
        let word = bucket / 64;
        self.occupied[word] &= !(1 << (bucket % 64));
        if self.occupied[word] == 0 {
            self.words &= !(1 << word);
        }
    }

    /// The first bucket with a node, from the cursor once around.
    #[inline]
    fn first_bucket(&self) -> Option<usize> {
        let at = self.cursor as usize % BUCKETS;
        let here = self.occupied[at / 64] & (!0 << (at % 64));
        if here != 0 {
            return Some(at / 64 * 64 + here.trailing_zeros() as usize);
        }
        // The words after this one, and then those from the start: this one last, with its low bits.
        // Shifting twice keeps the last word's 64 within what a shift can do.
        let after = self.words & (!0 << (at / 64) << 1);
        let words = if after != 0 { after } else { self.words };
        if words == 0 {
            return None;
        }
        let word = words.trailing_zeros() as usize;
        Some(word * 64 + self.occupied[word].trailing_zeros() as usize)
    }
}
