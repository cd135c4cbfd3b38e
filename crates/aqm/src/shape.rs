//! What a scheduler is that shapes: it may let packets wait although the link is free.

use std::fmt::Debug;

use ecnlab_base::{Rate, Time};

/// Bytes of the packet that an inner queue would give next, by the queue's place; `None` if it has none to give now.
pub(crate) type Heads<'a> = &'a dyn Fn(usize) -> Option<u32>;

/// A scheduler that shapes. It knows inner queues by their places.
pub(crate) trait Shape: Debug + Send + Sync {
    /// It stands in front of a link of this rate. Called once, before all else.
    fn begin(&mut self, _link: Rate) {}

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
