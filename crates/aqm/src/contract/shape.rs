//! What a scheduler is that shapes: it may let packets wait although the link is free.

use std::fmt::Debug;

use ecnlab_base::{Rate, Rng, Time};
use ecnlab_wire::Dscp;

use crate::{Item, Tally};

/// Bytes of the packet that an inner queue would give next, by the queue's place; `None` if it has none to give now.
pub(crate) type Heads<'a> = &'a dyn Fn(usize) -> Option<u32>;

/// What a scheduler that sorts packets itself sees of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Stands for its five-tuple.
    pub flow: u64,
    /// Stand for its source and its destination.
    pub hosts: (u32, u32),
    /// Its DSCP.
    pub dscp: Dscp,
}

impl Header {
    pub fn of(packet: &impl Item) -> Header {
        Header { flow: packet.flow_key(), hosts: packet.hosts(), dscp: packet.dscp() }
    }
}

/// A scheduler that shapes. It knows inner queues by their places.
pub(crate) trait Shape: Debug + Send + Sync {
    /// It stands in front of a link of this rate; its chance is drawn from `rng`. Called once, before all else.
    fn begin(&mut self, _link: Rate, _rng: &mut Rng) {}

    /// The rate at which queue `i` drains in the long run where others want theirs.
    fn rate(&self, i: usize) -> Rate;

    /// Whether it has to know the length of the packet, so that the inner queue's law judges before the packet leaves.
    fn peeks(&self) -> bool {
        false
    }

    /// A packet came to queue `i`.
    fn arrived(&mut self, _i: usize, _now: Time) {}

    /// The queue that may send now.
    fn next(&mut self, heads: Heads<'_>, now: Time) -> Option<usize>;

    /// The inner queue that a packet with this header belongs to, where the scheduler decides and no classifier.
    fn place(&self, _header: &Header) -> Option<usize> {
        None
    }

    /// [`Shape::place`] of a packet that arrives: from now on the queue is that of its flow.
    fn claim(&mut self, header: &Header) -> Option<usize> {
        self.place(header)
    }

    /// How many flows take turns with that of queue `i`, as its law is told ([`crate::Aqm::among`]). A scheduler that counts
    /// them is asked again after each packet that the law drops, and knows of it ([`Shape::lost`]).
    fn among(&self, _i: usize) -> Option<u32> {
        None
    }

    /// The law of queue `i` dropped a packet of `len` bytes as it was to leave.
    fn lost(&mut self, _i: usize, _len: u32, _now: Time) {}

    /// So many packets of queue `i` were dropped to make room.
    fn shed(&mut self, _i: usize, _gone: Tally, _now: Time) {}

    /// Queue `i`, which [`Shape::next`] named, was empty, and its law [at rest](crate::Aqm::is_at_rest) or not.
    fn found_empty(&mut self, _i: usize, _at_rest: bool) {}

    /// Queue `i`, which [`Shape::next`] named, gave a packet of `len` bytes.
    fn sent(&mut self, i: usize, len: u32, heads: Heads<'_>, now: Time);

    /// When one of these queues may send: later than the time at which [`Shape::next`] has just named none.
    fn ready(&self, heads: Heads<'_>) -> Time;

    /// A copy.
    fn copy(&self) -> Box<dyn Shape>;
}

impl Clone for Box<dyn Shape> {
    fn clone(&self) -> Box<dyn Shape> {
        self.copy()
    }
}
