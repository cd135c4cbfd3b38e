//! Expected feedback: packets in flight, and the minimum and maximum they may add to a counter.

use std::collections::VecDeque;

use ecnlab_wire::Ecn;

use crate::outstanding::MOST_SEGMENTS;

/// A packet that may have been marked or counted, not yet confirmed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// ACK number that confirms its arrival: its own end, or the end of later data if it has no data.
    pub end: u64,
    pub time: u64,
    pub len: u32,
    pub ecn: Ecn,
    /// It arrives unchanged, and no feedback so far can include it.
    pub sure: bool,
}

/// Minimum and maximum of a count.
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

/// Packets in flight, in capture order.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    entries: VecDeque<Entry>,
}

impl Queue {
    pub fn heap(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }

    /// Adds a packet; returns false if the queue is full.
    pub fn push(&mut self, entry: Entry) -> bool {
        let room = self.entries.len() < MOST_SEGMENTS;
        if !room {
            self.entries.clear();
        }
        self.entries.push_back(entry);
        room
    }

    /// Removes and returns the first packet if an ACK of `una` shows that it has arrived.
    pub fn settle(&mut self, una: u64) -> Option<Entry> {
        if self.entries.front()?.end <= una { self.entries.pop_front() } else { None }
    }

    /// Removes and returns the first packet if it has no data and was captured before `time`.
    pub fn settle_old(&mut self, time: u64) -> Option<Entry> {
        let first = self.entries.front()?;
        if first.len == 0 && first.time < time { self.entries.pop_front() } else { None }
    }

    /// Marks all packets as possibly included in feedback already.
    pub fn doubt(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.sure = false);
    }

    /// Iterates over packets that feedback may include although no ACK shows their arrival: all, or those before the
    /// next data.
    pub fn floating(&mut self, all: bool) -> impl Iterator<Item = &mut Entry> {
        self.entries.iter_mut().take_while(move |entry| all || entry.len == 0)
    }
}
