//! Two ends over a link: a fixed rate, a delay and a FIFO in each direction, and a rule that may change or drop datagrams.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ecnlab_base::{Dur, Rate, Time};
use ecnlab_quic::{Endpoint, Event, Settings, Stats, connection};
use ecnlab_wire::Ecn;

/// Bytes of the headers of IPv4 and UDP.
pub const HEADERS: u64 = 28;

/// A datagram that enters the link.
pub struct Sent {
    /// The sender: 0 is the client.
    pub from: usize,
    /// Its number among those of the sender, from 1.
    pub number: u64,
    /// Time.
    pub at: Time,
    /// Codepoint, which the rule may change.
    pub ecn: Ecn,
    /// Size of its payload in bytes.
    pub size: usize,
}

/// Returns false for a datagram that is lost.
pub type Rule = Box<dyn Fn(&mut Sent) -> bool>;

/// Time, number, receiver, codepoint and payload.
type Arrival = (Time, u64, usize, u8, Vec<u8>);

/// The link, and what has happened on it.
pub struct Link {
    /// Both ends, the client first.
    pub ends: [Box<dyn Endpoint>; 2],
    /// The present.
    pub now: Time,
    /// Events with their time and end.
    pub events: Vec<(Time, usize, Event)>,
    /// Datagrams as they leave the ends, each with a hash of its time, codepoint and bytes.
    pub datagrams: Vec<(Time, usize, Ecn, u64)>,
    /// Bytes of the server's responses.
    pub response: u64,
    rate: Rate,
    delay: Dur,
    limit: Dur,
    mark: Dur,
    rule: Rule,
    counts: [u64; 2],
    free: [Time; 2],
    arrivals: BinaryHeap<Reverse<Arrival>>,
}

/// `ms` milliseconds after the start.
pub fn ms(ms: u64) -> Time {
    Time::ZERO + Dur::from_ms(ms)
}

/// The stack with the defaults.
pub fn usual() -> Settings {
    Settings::of(crate::STACK)
}

impl Link {
    /// 40 Mb/s and 10 ms in each direction, a queue of 40 ms without marks, no losses.
    pub fn new(settings: [&Settings; 2], seed: u64) -> Link {
        Link {
            ends: connection(settings, seed, Time::ZERO).expect("valid settings"),
            now: Time::ZERO,
            events: Vec::new(),
            datagrams: Vec::new(),
            response: 0,
            rate: Rate::from_bps(40_000_000),
            delay: Dur::from_ms(10),
            limit: Dur::from_ms(40),
            mark: Dur::MAX,
            rule: Box::new(|_| true),
            counts: [0; 2],
            free: [Time::ZERO; 2],
            arrivals: BinaryHeap::new(),
        }
    }

    /// Marks packets that wait for `mark` or longer.
    pub fn marking(mut self, mark: Dur) -> Link {
        self.mark = mark;
        self
    }

    /// Applies `rule` to each datagram.
    pub fn rule(mut self, rule: impl Fn(&mut Sent) -> bool + 'static) -> Link {
        self.rule = Box::new(rule);
        self
    }

    /// Closes `end`.
    pub fn close(&mut self, end: usize) {
        self.ends[end].close(self.now);
        self.serve(end);
    }

    /// Starts the client and opens its streams with these bytes; returns their identifiers.
    pub fn open(&mut self, streams: &[u64]) -> Vec<u64> {
        let ids = streams.iter().map(|&bytes| self.ends[0].open(bytes)).collect();
        self.serve(0);
        ids
    }

    /// Runs until `until`, or until nothing remains to happen.
    pub fn run(&mut self, until: Time) {
        loop {
            let arrival = self.arrivals.peek().map_or(Time::NEVER, |Reverse(first)| first.0);
            let deadlines = [self.ends[0].deadline(), self.ends[1].deadline()];
            let next = arrival.min(deadlines[0]).min(deadlines[1]);
            if next > until || next == Time::NEVER {
                self.now = self.now.max(until);
                return;
            }
            self.now = self.now.max(next);
            if arrival == next {
                let Reverse((_, _, to, ecn, payload)) = self.arrivals.pop().expect("it has been peeked");
                self.ends[to].receive(&payload, Ecn::from_bits(ecn), self.now);
                self.serve(to);
            } else {
                let end = usize::from(deadlines[0] > next);
                self.ends[end].on_deadline(self.now);
                self.serve(end);
                assert!(self.ends[end].deadline() > next, "the timer of end {end} remains due at {next:?}");
            }
        }
    }

    /// Takes the events of `end`, then sends its datagrams.
    pub fn serve(&mut self, end: usize) {
        while let Some(event) = self.ends[end].poll() {
            if let (1, Event::Arrived(stream)) = (end, &event) {
                self.ends[1].respond(*stream, self.response);
            }
            self.events.push((self.now, end, event));
        }
        let mut payload = Vec::new();
        while let Some(ecn) = self.ends[end].transmit(self.now, &mut payload) {
            self.send(end, ecn, std::mem::take(&mut payload));
        }
    }

    fn send(&mut self, from: usize, ecn: Ecn, payload: Vec<u8>) {
        self.datagrams.push((self.now, from, ecn, hash(&payload)));
        self.counts[from] += 1;
        let mut sent = Sent { from, number: self.counts[from], at: self.now, ecn, size: payload.len() };
        let begin = self.free[from].max(self.now);
        let wait = begin.since(self.now);
        if !(self.rule)(&mut sent) || wait > self.limit {
            return;
        }
        self.free[from] = begin + self.rate.time_for(payload.len() as u64 + HEADERS);
        let ecn = if wait >= self.mark && sent.ecn.is_capable() { Ecn::Ce } else { sent.ecn };
        let key = self.datagrams.len() as u64;
        self.arrivals.push(Reverse((self.free[from] + self.delay, key, 1 - from, ecn.bits(), payload)));
    }

    /// Readings of both ends.
    pub fn stats(&self) -> [Stats; 2] {
        [self.ends[0].stats(), self.ends[1].stats()]
    }

    /// Time of the first event `event` at `end`.
    pub fn time_of(&self, end: usize, event: &Event) -> Option<Time> {
        self.events.iter().find(|(_, at, seen)| *at == end && seen == event).map(|&(time, ..)| time)
    }

    /// Codepoints of the datagrams of `from` that leave it in `during`.
    pub fn codepoints(&self, from: usize, during: std::ops::Range<Time>) -> Vec<Ecn> {
        let sent = self.datagrams.iter().filter(|(time, end, ..)| *end == from && during.contains(time));
        sent.map(|&(_, _, ecn, _)| ecn).collect()
    }

    /// Hash of all datagrams, with their times and codepoints.
    pub fn digest(&self) -> u64 {
        let fields = self
            .datagrams
            .iter()
            .flat_map(|&(time, from, ecn, bytes)| [time.ps(), from as u64, ecn.bits().into(), bytes]);
        hash(&fields.flat_map(u64::to_le_bytes).collect::<Vec<_>>())
    }
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}
