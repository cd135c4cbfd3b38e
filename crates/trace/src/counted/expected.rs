//! How much feedback may tell: packets on the way, and what of them a count holds at least and at most.

use std::collections::VecDeque;

use ecnlab_wire::Ecn;

use crate::outstanding::MOST_SEGMENTS;

/// A packet that can have been marked or counted, not yet known to have been.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// What an ACK has to reach for it to have arrived: its own end, or that of data behind it if it has none.
    pub end: u64,
    pub time: u64,
    pub len: u32,
    pub ecn: Ecn,
    /// It arrives as it is, and no feedback up to now can have told of it.
    pub sure: bool,
}

/// Least and most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub low: u64,
    pub high: u64,
}

impl Span {
    pub fn add(&mut self, low: u64, high: u64) {
        self.low += low;
        self.high += high;
    }
    pub fn plus(self, more: u64) -> Span {
        Span { high: self.high + more, ..self }
    }
    pub fn holds(self, value: u64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The packets on the way, in the order in which they came by.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    entries: VecDeque<Entry>,
}

impl Queue {
    pub fn heap(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }

    /// Adds a packet; whether there was room.
    pub fn push(&mut self, entry: Entry) -> bool {
        let room = self.entries.len() < MOST_SEGMENTS;
        if !room {
            self.entries.clear();
        }
        self.entries.push_back(entry);
        room
    }

    /// The first, if an ACK of `una` shows that it has arrived.
    pub fn settle(&mut self, una: u64) -> Option<Entry> {
        if self.entries.front()?.end <= una { self.entries.pop_front() } else { None }
    }

    /// The first, if it has no data and came before `time`.
    pub fn settle_old(&mut self, time: u64) -> Option<Entry> {
        let first = self.entries.front()?;
        if first.len == 0 && first.time < time { self.entries.pop_front() } else { None }
    }

    /// Feedback may have told of any.
    pub fn doubt(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.sure = false);
    }

    /// Those of which feedback may tell though no ACK shows that they have arrived: all, or those before the next data.
    pub fn floating(&mut self, all: bool) -> impl Iterator<Item = &mut Entry> {
        self.entries.iter_mut().take_while(move |entry| all || entry.len == 0)
    }
}
