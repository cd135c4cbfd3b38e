//! All connections of a capture.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::net::IpAddr;

use ecnlab_wire::Flags;

use crate::connection::{Connection, Seen};
use crate::packet::{Key, Segment};
use crate::rack::Evidence;
use crate::rules::Standard;

/// Connections, and which of them a packet is of.
#[derive(Default)]
pub struct Tracker {
    connections: Vec<Connection>,
    latest: HashMap<Slot, u32, BuildHasherDefault<Passes>>,
    last: Option<(Key, u32)>,
    standard: Standard,
}

/// A key, with its hash.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Slot(Key);

impl std::hash::Hash for Slot {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash64());
    }
}

/// Passes on the hash that a key makes of itself.
#[derive(Default)]
struct Passes(u64);

impl Hasher for Passes {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.0 = self.0.rotate_left(8) ^ u64::from(*b));
    }
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl Tracker {
    /// No connection yet; rules are those of `standard`.
    pub fn new(standard: Standard) -> Tracker {
        Tracker { standard, ..Tracker::default() }
    }
    /// The connections, in the order in which they began.
    pub fn connections(&self) -> &[Connection] {
        &self.connections
    }

    /// Takes in a packet; returns the number of its connection and what the packet did.
    #[inline]
    pub fn take(&mut self, segment: &Segment<'_>) -> (usize, Seen) {
        let index = self.find(segment) as usize;
        (index, self.connections[index].take(segment))
    }

    /// The capture is at its end: what one connection does not tell of the law by which its host sends again, others do.
    pub fn finish(&mut self) {
        let mut hosts: HashMap<IpAddr, Evidence> = HashMap::new();
        for (address, evidence) in self.connections.iter().flat_map(|c| [c.evidence(0), c.evidence(1)]) {
            if evidence != Evidence::default() {
                let host = hosts.entry(address).or_default();
                *host = host.and(evidence);
            }
        }
        for connection in &mut self.connections {
            for i in [0, 1] {
                let host = hosts.get(&connection.evidence(i).0).and_then(|host| host.verdict());
                connection.settle(i, host);
            }
        }
    }

    #[inline]
    fn find(&mut self, segment: &Segment<'_>) -> u32 {
        let opens = segment.flags & (Flags::SYN | Flags::ACK) == Flags::SYN;
        if let Some((key, index)) = self.last
            && key == segment.key
            && !opens
        {
            return index;
        }
        let index = match self.latest.get(&Slot(segment.key)) {
            Some(&index) if !(opens && self.connections[index as usize].is_reopened_by(segment)) => index,
            _ => {
                let index = self.connections.len() as u32;
                self.connections.push(Connection::new(segment, self.standard));
                self.latest.insert(Slot(segment.key), index);
                index
            }
        };
        self.last = Some((segment.key, index));
        index
    }
}
