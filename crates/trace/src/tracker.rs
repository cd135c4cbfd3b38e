//! All connections of a capture.

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::IpAddr;

use ecnlab_wire::Flags;
use hashbrown::HashTable;

use crate::brief::Brief;
use crate::connection::{Connection, Seen};
use crate::error::TraceError;
use crate::packet::{Key, Segment};
use crate::rack::Evidence;
use crate::rules::Standard;

/// Packets between two measurements of memory.
const COUNTED_EVERY: u64 = 1 << 18;
/// Memory of a connection's entry: its slot, with room for growth, and its entry in the index.
const PLACE: u64 = 2 * size_of::<Slot>() as u64 + 16;
/// Allocator overhead per allocation, in bytes.
const OVERHEAD: u64 = 16;

/// The connections of a capture, with an index from packets to connections.
#[derive(Default)]
pub struct Tracker {
    slots: Vec<Slot>,
    /// The latest connection of each key.
    latest: HashTable<u32>,
    /// The connection of the last packet.
    last: usize,
    standard: Standard,
    /// The connection that is analysed in full from its first packet on.
    followed: Option<usize>,
    used: u64,
    limit: Option<u64>,
    until_counted: u64,
}

/// A connection: raw packets while they are few and without data, otherwise the full analysis.
enum Slot {
    Brief(Brief),
    Whole(Box<Connection>),
}

impl Slot {
    fn key(&self) -> &Key {
        match self {
            Slot::Brief(brief) => &brief.key,
            Slot::Whole(connection) => &connection.key,
        }
    }
    fn connection(&self, standard: Standard) -> Cow<'_, Connection> {
        match self {
            Slot::Brief(brief) => Cow::Owned(brief.connection(standard)),
            Slot::Whole(connection) => Cow::Borrowed(connection),
        }
    }
    /// Bytes allocated on the heap, without the memory counted by a full connection.
    fn heap(&self) -> u64 {
        match self {
            Slot::Brief(brief) => brief.heap() as u64 + OVERHEAD,
            Slot::Whole(_) => size_of::<Connection>() as u64 + OVERHEAD,
        }
    }
}

impl Tracker {
    /// Starts with no connections; `standard` selects the rules.
    pub fn new(standard: Standard) -> Tracker {
        Tracker { standard, ..Tracker::default() }
    }
    /// Sets a memory limit for the connections in bytes; the analysis of a capture stops within 512 segments after it is
    /// exceeded.
    #[must_use]
    pub fn within(self, bytes: u64) -> Tracker {
        Tracker { limit: Some(bytes), ..self }
    }
    /// Makes [`Tracker::take`] return the effect of each packet of connection `index`.
    #[must_use]
    pub fn following(self, index: usize) -> Tracker {
        Tracker { followed: Some(index), ..self }
    }

    /// Number of connections.
    pub fn len(&self) -> usize {
        self.slots.len()
    }
    /// Returns whether there are no connections.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }
    /// Returns the connection with a number; connections are numbered in the order of their first packets.
    ///
    /// # Panics
    /// If no connection has that number.
    pub fn connection(&self, index: usize) -> Cow<'_, Connection> {
        self.slots[index].connection(self.standard)
    }
    /// Iterates over the connections in order.
    pub fn connections(&self) -> impl ExactSizeIterator<Item = Cow<'_, Connection>> {
        self.slots.iter().map(|slot| slot.connection(self.standard))
    }
    /// Iterates over the numbers of the connections that have sent, or may have sent, data.
    pub fn with_data(&self) -> impl Iterator<Item = usize> {
        self.slots.iter().enumerate().filter(|(_, slot)| matches!(slot, Slot::Whole(_))).map(|(index, _)| index)
    }
    /// Returns the error if the connections of the first `packets` packets exceed the memory limit.
    #[inline]
    pub(crate) fn full(&self, packets: u64) -> Option<TraceError> {
        let limit = self.limit.filter(|limit| self.used > *limit)?;
        Some(TraceError::Full { packets, connections: self.len(), megabytes: limit / 1_000_000 })
    }

    /// Processes a packet; returns the number of its connection, and the effect of the packet unless the connection has
    /// sent no data yet and is not followed.
    #[inline]
    pub fn take(&mut self, segment: &Segment<'_>) -> (usize, Option<Seen>) {
        let opens = segment.flags & (Flags::SYN | Flags::ACK) == Flags::SYN;
        self.until_counted = self.until_counted.saturating_sub(1);
        if self.until_counted == 0 {
            self.count();
        }
        let index = match self.slots.get(self.last) {
            Some(slot) if *slot.key() == segment.key && !opens => self.last,
            _ => match self.find(segment, opens) {
                Some(index) => index,
                None => return self.open(segment),
            },
        };
        self.last = index;
        let Slot::Whole(connection) = &mut self.slots[index] else {
            return (index, self.take_briefly(index, segment));
        };
        (index, Some(connection.take(segment)))
    }

    /// Returns the connection that `segment` continues.
    fn find(&self, segment: &Segment<'_>, opens: bool) -> Option<usize> {
        let known = self.latest.find(segment.key.hash64(), |&i| *self.slots[i as usize].key() == segment.key);
        known.map(|&i| i as usize).filter(|&i| !(opens && self.connection(i).is_reopened_by(segment)))
    }

    /// Starts a connection.
    fn open(&mut self, segment: &Segment<'_>) -> (usize, Option<Seen>) {
        let (index, slots) = (self.slots.len(), &self.slots);
        let same = |&i: &u32| *slots[i as usize].key() == segment.key;
        let hash = |&i: &u32| slots[i as usize].key().hash64();
        match self.latest.entry(segment.key.hash64(), same, hash) {
            hashbrown::hash_table::Entry::Occupied(mut entry) => *entry.get_mut() = index as u32,
            hashbrown::hash_table::Entry::Vacant(entry) => {
                entry.insert(index as u32);
            }
        }
        self.last = index;
        let brief = Brief::new(segment).filter(|_| self.followed != Some(index));
        let (slot, seen) = match brief {
            Some(brief) => (Slot::Brief(brief), None),
            None => {
                let mut connection = Box::new(Connection::new(segment, self.standard));
                let seen = connection.take(segment);
                (Slot::Whole(connection), Some(seen))
            }
        };
        self.used += PLACE + slot.heap();
        self.slots.push(slot);
        (index, seen)
    }

    /// Processes a packet of a connection that has sent no data.
    #[inline(never)]
    fn take_briefly(&mut self, index: usize, segment: &Segment<'_>) -> Option<Seen> {
        let slot = &mut self.slots[index];
        let before = slot.heap();
        let seen = match slot {
            Slot::Whole(connection) => Some(connection.take(segment)),
            Slot::Brief(brief) => {
                if brief.add(segment) {
                    None
                } else {
                    let mut connection = Box::new(brief.connection(self.standard));
                    let seen = connection.take(segment);
                    *slot = Slot::Whole(connection);
                    Some(seen)
                }
            }
        };
        self.used = self.used - before + slot.heap();
        seen
    }

    /// Measures the memory of the connections.
    #[cold]
    fn count(&mut self) {
        let each = |slot: &Slot| match slot {
            Slot::Brief(_) => PLACE + slot.heap(),
            Slot::Whole(connection) => PLACE + slot.heap() + connection.heap() as u64,
        };
        self.used = self.slots.iter().map(each).sum();
        self.until_counted = COUNTED_EVERY.max(self.slots.len() as u64);
    }

    /// Ends the capture: hosts whose use of RACK one connection does not reveal are decided by their other connections.
    pub fn finish(&mut self) {
        for slot in &mut self.slots {
            if let Slot::Brief(brief) = slot
                && !brief.is_single()
                && let connection = brief.connection(self.standard)
                && connection.has_second_reading()
            {
                *slot = Slot::Whole(Box::new(connection));
            }
        }
        let mut hosts: HashMap<IpAddr, Evidence> = HashMap::new();
        let connections = self.slots.iter().filter_map(|slot| if let Slot::Whole(c) = slot { Some(c) } else { None });
        for (address, evidence) in connections.flat_map(|c| [c.evidence(0), c.evidence(1)]) {
            if evidence != Evidence::default() {
                let host = hosts.entry(address).or_default();
                *host = host.and(evidence);
            }
        }
        let connections =
            self.slots.iter_mut().filter_map(|slot| if let Slot::Whole(c) = slot { Some(c) } else { None });
        for connection in connections {
            for i in [0, 1] {
                let host = hosts.get(&connection.evidence(i).0).and_then(|host| host.verdict());
                connection.settle(i, host);
            }
        }
    }
}
