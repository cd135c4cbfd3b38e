//! Replay of arrivals through a queue in front of a link of fixed rate: returns the fate of each packet.
//!
//! It is used to compare a queue with another one, such as the kernel's (`ecnlab agree --packets`).

use ecnlab_base::{Dur, Rng, Time};
use ecnlab_wire::{Dscp, Ecn};

use crate::{Config, Item, LinkContext, Queue};

/// A packet that arrives at the queue.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Arrival time.
    pub at: Time,
    /// Bytes on the wire.
    pub len: u32,
    /// The codepoint in its IP header.
    pub ecn: Ecn,
    /// The DSCP in its IP header.
    pub dscp: Dscp,
    /// The index of its flow group.
    pub group: usize,
    /// Identifies its five-tuple.
    pub flow: u64,
}

/// Fate of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fate {
    /// Start of its transmission; `None` if it was dropped.
    pub left: Option<Time>,
    /// Its codepoint at that time.
    pub ecn: Ecn,
    /// The places of the inner queues that it was in, from the outermost on; empty for one FIFO.
    pub place: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    number: usize,
    arrival: Arrival,
}

impl Item for Packet {
    fn wire_len(&self) -> u32 {
        self.arrival.len
    }
    fn ecn(&self) -> Ecn {
        self.arrival.ecn
    }
    fn dscp(&self) -> Dscp {
        self.arrival.dscp
    }
    fn mark(&mut self) {
        self.arrival.ecn = Ecn::Ce;
    }
    fn group(&self) -> usize {
        self.arrival.group
    }
    fn flow_key(&self) -> u64 {
        self.arrival.flow
    }
}

/// Returns the fate of each of `arrivals`, in order of time, at an empty queue with the configuration `config`, which
/// has passed its check.
///
/// The queue is polled when the line becomes free, when a packet arrives while the line is free, and when a shaper
/// schedules it; at equal times before any arrival. A packet occupies the line for its transmission time at the rate of
/// `link`, in whole nanoseconds, rounded up, as in [`transmission`]; other replays of the arrivals must do the same.
pub fn replay(config: &Config, link: LinkContext, groups: &[String], rng: Rng, arrivals: &[Arrival]) -> Vec<Fate> {
    let mut line = Line {
        queue: Queue::new(config, link, groups, rng),
        link,
        now: Time::ZERO,
        free_at: Time::ZERO,
        fates: Vec::with_capacity(arrivals.len()),
    };
    for (number, &arrival) in arrivals.iter().enumerate() {
        line.drain(arrival.at);
        let packet = Packet { number, arrival };
        line.fates.push(Fate { left: None, ecn: arrival.ecn, place: line.queue.place(&packet) });
        line.queue.enqueue(packet, arrival.at, &mut ());
        line.drain(arrival.at);
    }
    line.drain(Time::NEVER);
    line.fates
}

/// Returns the transmission time of a packet of `len` bytes on `link`.
pub fn transmission(link: LinkContext, len: u32) -> Dur {
    Dur::from_ns(link.rate.time_for(u64::from(len)).ps().div_ceil(1000))
}

struct Line {
    queue: Queue<Packet>,
    link: LinkContext,
    now: Time,
    free_at: Time,
    fates: Vec<Fate>,
}

impl Line {
    /// All departures up to and including `until`.
    fn drain(&mut self, until: Time) {
        while self.queue.packets() > 0 {
            let start = self.free_at.max(self.now).max(self.queue.ready());
            if start > until || start == Time::NEVER {
                break;
            }
            self.now = start;
            if let Some(packet) = self.queue.dequeue(start, &mut ()) {
                let fate = &mut self.fates[packet.number];
                (fate.left, fate.ecn) = (Some(start), packet.arrival.ecn);
                self.free_at = start.saturating_add(transmission(self.link, packet.arrival.len));
            }
        }
        self.now = until;
    }
}
