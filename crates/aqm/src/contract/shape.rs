//! Shaping schedulers: packets may wait while the link is free.

use std::fmt::Debug;

use ecnlab_base::{Rate, Rng, Time};
use ecnlab_wire::Dscp;

use crate::{Item, Tally};

/// Bytes of the next packet of an inner queue, by the queue's index; `None` if no packet can leave now.
pub(crate) type Heads<'a> = &'a dyn Fn(usize) -> Option<u32>;

/// Properties of a packet as seen by a scheduler that classifies packets itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Identifies its five-tuple.
    pub flow: u64,
    /// Identify its source and its destination.
    pub hosts: (u32, u32),
    /// Its DSCP.
    pub dscp: Dscp,
}

impl Header {
    pub fn of(packet: &impl Item) -> Header {
        Header { flow: packet.flow_key(), hosts: packet.hosts(), dscp: packet.dscp() }
    }
}

/// A shaping scheduler. It identifies inner queues by index.
pub(crate) trait Shape: Debug + Send + Sync {
    /// Initialises the scheduler for a link of this rate; random values are drawn from `rng`. Called once, before all
    /// other methods.
    fn begin(&mut self, _link: Rate, _rng: &mut Rng) {}

    /// The long-term rate at which queue `i` drains while all others have packets.
    fn rate(&self, i: usize) -> Rate;

    /// Returns whether packets may wait although the link is free. If not, [`Shape::next`] returns none only when all
    /// queues are empty.
    fn delays(&self) -> bool {
        true
    }

    /// Returns whether it needs the length of the packet, so that the inner queue's law decides before the packet
    /// leaves.
    fn peeks(&self) -> bool {
        false
    }

    /// Handles an arrival at queue `i`.
    fn arrived(&mut self, _i: usize, _now: Time) {}

    /// Returns the queue that may send now.
    fn next(&mut self, heads: Heads<'_>, now: Time) -> Option<usize>;

    /// The inner queue that a packet with this header belongs to, where the scheduler decides and no classifier.
    fn place(&self, _header: &Header) -> Option<usize> {
        None
    }

    /// [`Shape::place`] of an arriving packet: assigns the queue to its flow.
    fn claim(&mut self, header: &Header) -> Option<usize> {
        self.place(header)
    }

    /// Number of flows that take turns with that of queue `i`, as passed to its law ([`crate::Aqm::among`]). A
    /// scheduler that counts them is polled again after each packet dropped by the law, and is notified of it
    /// ([`Shape::lost`]).
    fn among(&self, _i: usize) -> Option<u32> {
        None
    }

    /// Handles a packet of `len` bytes that the law of queue `i` dropped on departure.
    fn lost(&mut self, _i: usize, _len: u32, _now: Time) {}

    /// Handles packets of queue `i` that were dropped to make room.
    fn shed(&mut self, _i: usize, _gone: Tally, _now: Time) {}

    /// Handles an empty queue `i`, returned by [`Shape::next`], whose law is [at rest](crate::Aqm::is_at_rest) or not.
    fn found_empty(&mut self, _i: usize, _at_rest: bool) {}

    /// Handles a packet of `len` bytes sent by queue `i`, returned by [`Shape::next`].
    fn sent(&mut self, i: usize, len: u32, heads: Heads<'_>, now: Time);

    /// Time at which one of these queues may send: later than the time at which [`Shape::next`] has just returned none.
    fn ready(&self, heads: Heads<'_>) -> Time;

    /// A copy.
    fn copy(&self) -> Box<dyn Shape>;
}

impl Clone for Box<dyn Shape> {
    fn clone(&self) -> Box<dyn Shape> {
        self.copy()
    }
}
