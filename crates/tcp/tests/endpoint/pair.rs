//! Two endpoints and a path between them: delay, loss, duplication, reordering, marks, all from a seeded stream.

use std::collections::BinaryHeap;
use std::sync::Arc;

use ecnlab_base::{Dur, Rng, Time};
use ecnlab_tcp::{Config, Endpoint};
use ecnlab_wire::{Ecn, IpVersion, Segment, Seq};

/// What the path does to segments.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub delay: Dur,
    /// Up to so much more delay, drawn for each segment: reordering.
    pub jitter: Dur,
    pub loss: f64,
    pub duplicate: f64,
    /// Of ECN-capable segments.
    pub mark: f64,
}

impl Path {
    pub fn clean(delay: Dur) -> Path {
        Path { delay, jitter: Dur::ZERO, loss: 0.0, duplicate: 0.0, mark: 0.0 }
    }
}

#[derive(PartialEq, Eq)]
struct Flight {
    at: Time,
    order: u64,
    to: usize,
    segment: Segment,
}
impl Ord for Flight {
    fn cmp(&self, other: &Flight) -> std::cmp::Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}
impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Flight) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The pair and what travels between them.
pub struct Pair {
    pub ends: [Endpoint; 2],
    pub now: Time,
    pub path: Path,
    /// Every segment sent: time, sender, segment.
    pub log: Vec<(Time, usize, Segment)>,
    /// Drops the n-th segment with data, from 1, of either sender.
    pub drop_data: [Vec<u64>; 2],
    /// Marks it.
    pub mark_data: [Vec<u64>; 2],
    sent_data: [u64; 2],
    flights: BinaryHeap<Flight>,
    order: u64,
    rng: Rng,
    out: Vec<Segment>,
}

impl Pair {
    /// Endpoint 0 opens, endpoint 1 listens.
    pub fn new(client: &Arc<Config>, server: &Arc<Config>, iss: [u32; 2], path: Path, seed: u64) -> Pair {
        let mut out = Vec::new();
        let opener = Endpoint::connect(client, IpVersion::V4, Seq(iss[0]), Time::ZERO, &mut out);
        let mut pair = Pair {
            ends: [opener, Endpoint::listen(server, IpVersion::V4, Seq(iss[1]))],
            now: Time::ZERO,
            path,
            log: Vec::new(),
            drop_data: Default::default(),
            mark_data: Default::default(),
            sent_data: [0; 2],
            flights: BinaryHeap::new(),
            order: 0,
            rng: Rng::named(seed, "path"),
            out,
        };
        pair.launch(0);
        pair
    }

    pub fn write(&mut self, end: usize, bytes: u64) {
        self.ends[end].write(bytes, self.now, &mut self.out);
        self.launch(end);
    }

    pub fn close(&mut self, end: usize) {
        self.ends[end].close(self.now, &mut self.out);
        self.launch(end);
    }

    fn launch(&mut self, from: usize) {
        for mut segment in std::mem::take(&mut self.out) {
            self.log.push((self.now, from, segment));
            let mut lost = self.rng.unit() < self.path.loss;
            if segment.len > 0 {
                self.sent_data[from] += 1;
                lost |= self.drop_data[from].contains(&self.sent_data[from]);
                let mark = self.rng.unit() < self.path.mark || self.mark_data[from].contains(&self.sent_data[from]);
                if mark && segment.ecn.is_capable() {
                    segment.ecn = Ecn::Ce;
                }
            }
            let copies = if lost { 0 } else { 1 + u32::from(self.rng.unit() < self.path.duplicate) };
            for _ in 0..copies {
                let jitter = Dur::from_secs(self.rng.unit() * self.path.jitter.as_secs());
                self.order += 1;
                let at = self.now + self.path.delay + jitter;
                self.flights.push(Flight { at, order: self.order, to: 1 - from, segment });
            }
        }
    }

    /// Does what comes next; whether there was anything.
    pub fn step(&mut self) -> bool {
        let timers = [self.ends[0].deadline(), self.ends[1].deadline()];
        let arrival = self.flights.peek().map_or(Time::NEVER, |f| f.at);
        let next = arrival.min(timers[0]).min(timers[1]);
        if next == Time::NEVER {
            return false;
        }
        assert!(next >= self.now, "time runs forward");
        self.now = next;
        if arrival == next {
            let flight = self.flights.pop().unwrap();
            self.ends[flight.to].on_segment(&flight.segment, self.now, &mut self.out);
            self.launch(flight.to);
        } else {
            let end = usize::from(timers[1] == next);
            self.ends[end].on_deadline(self.now, &mut self.out);
            self.launch(end);
        }
        true
    }

    /// Runs until `until` or until nothing is left to do.
    pub fn run_until(&mut self, until: Time) {
        while self.next_event() <= until && self.step() {}
        self.now = self.now.max(until);
    }

    fn next_event(&self) -> Time {
        let arrival = self.flights.peek().map_or(Time::NEVER, |f| f.at);
        arrival.min(self.ends[0].deadline()).min(self.ends[1].deadline())
    }
}
