//! The near future: a wheel of buckets, each a short unsorted list.
//!
//! A link's next delivery is almost always a fraction of a millisecond ahead. There, finding the
//! next event takes two bit scans and a walk of one or two nodes, however many are pending.

/// Time, class, sequence and target, from high bits to low: one comparison gives the order.
pub type Entry = u128;

/// log2 of a bucket's width in picoseconds: about a microsecond.
const WIDTH_BITS: u32 = 20;
/// The wheel reaches about four milliseconds ahead.
const BUCKETS: usize = 4096;
const WORDS: usize = BUCKETS / 64;
const NONE: u32 = u32::MAX;

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
    free: u32,
    /// The bucket of the last event taken; none is in an earlier one.
    cursor: u64,
}

/// The earliest event, and where it stands.
pub struct Place {
    /// The event.
    pub entry: Entry,
    bucket: usize,
    node: u32,
    /// The node before it in its bucket.
    before: u32,
}

impl Default for Wheel {
    fn default() -> Wheel {
        Wheel {
            heads: Box::new([NONE; BUCKETS]),
            occupied: [0; WORDS],
            words: 0,
            nodes: Vec::new(),
            free: NONE,
            cursor: 0,
        }
    }
}

/// The bucket, counted from the start of the run, of an entry.
fn bucket_of(entry: Entry) -> u64 {
    (entry >> 64) as u64 >> WIDTH_BITS
}

impl Wheel {
    /// Whether the wheel reaches to `entry`, which must not lie before the last event taken.
    #[inline]
    pub fn reaches(&self, entry: Entry) -> bool {
        bucket_of(entry) - self.cursor < BUCKETS as u64
    }

    /// Adds an event that the wheel [reaches](Wheel::reaches).
    #[inline]
    pub fn insert(&mut self, entry: Entry) {
        let bucket = bucket_of(entry) as usize % BUCKETS;
        let node = Node { entry, next: self.heads[bucket] };
        self.heads[bucket] = self.place(node);
        self.occupied[bucket / 64] |= 1 << (bucket % 64);
        self.words |= 1 << (bucket / 64);
    }

    /// The earliest event.
    #[inline]
    pub fn first(&self) -> Option<Place> {
        let bucket = self.first_bucket()?;
        let head = self.heads[bucket];
        let mut least = Place { entry: self.nodes[head as usize].entry, bucket, node: head, before: NONE };
        let mut before = head;
        let mut at = self.nodes[head as usize].next;
        while at != NONE {
            let Node { entry, next } = self.nodes[at as usize];
            if entry < least.entry {
                least = Place { entry, bucket, node: at, before };
            }
            before = at;
            at = next;
        }
        Some(least)
    }

    /// Takes out the event at `place`, found since the last change.
    #[inline]
    pub fn remove(&mut self, place: &Place) {
        let next = self.nodes[place.node as usize].next;
        if place.before == NONE {
            self.heads[place.bucket] = next;
        } else {
            self.nodes[place.before as usize].next = next;
        }
        if self.heads[place.bucket] == NONE {
            let word = place.bucket / 64;
            self.occupied[word] &= !(1 << (place.bucket % 64));
            if self.occupied[word] == 0 {
                self.words &= !(1 << word);
            }
        }
        self.nodes[place.node as usize].next = self.free;
        self.free = place.node;
    }

    /// The time has come to `entry`: nothing earlier will be added.
    #[inline]
    pub fn turn_to(&mut self, entry: Entry) {
        self.cursor = bucket_of(entry);
    }

    fn place(&mut self, node: Node) -> u32 {
        if self.free == NONE {
            self.nodes.push(node);
            return self.nodes.len() as u32 - 1;
        }
        let place = self.free;
        self.free = self.nodes[place as usize].next;
        self.nodes[place as usize] = node;
        place
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
        let after = self.words & (!0_u64).checked_shl(at as u32 / 64 + 1).unwrap_or(0);
        let words = if after != 0 { after } else { self.words };
        if words == 0 {
            return None;
        }
        let word = words.trailing_zeros() as usize;
        Some(word * 64 + self.occupied[word].trailing_zeros() as usize)
    }
}
