//! The capture taps of a run: collect packets from the links, sort them and pass them on.

use std::collections::{HashMap, VecDeque};

use ecnlab_aqm::{DropReason, Item};
use ecnlab_base::Time;
use ecnlab_wire::Ecn;

use super::{Capture, Fate, Seen, Sink};
use crate::packet::{Body, Hold, Packet};
use crate::packet_event::PacketEvent;

/// Number of packets collected before they are sorted and passed on: some megabytes.
const ROOM: usize = 1 << 14;

/// All taps of a run.
pub struct Taps<'s> {
    links: Vec<TapsOfLink>,
    gathered: Gathered,
    /// Current limit of collected packets: larger when many wait for their queue's decision.
    room: usize,
    sink: &'s mut dyn Sink,
    stopped: bool,
}

#[derive(Default)]
struct Gathered {
    /// Captured packets; those captured before a queue have their arrival number.
    packets: Vec<(Option<u64>, Seen)>,
    /// Decision of the queue, by arrival number.
    fates: HashMap<u64, Fate>,
    arrivals: u64,
}

#[derive(Clone, Debug, Default)]
struct TapsOfLink {
    /// (capture, interface) of taps before the queue.
    arriving: Vec<(u32, u32)>,
    /// Taps after the queue.
    leaving: Vec<(u32, u32)>,
    /// Taps at the far end.
    delivered: Vec<(u32, u32)>,
    /// Packets in the queue in order of arrival.
    held: VecDeque<Held>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    arrival: u64,
    time: Time,
    /// Index of its cargo, unique while the packet is in flight.
    cargo: u32,
    /// Its codepoint on arrival.
    ecn: Ecn,
}

impl<'s> Taps<'s> {
    /// Creates the taps of `captures` on `links` links.
    pub fn new(captures: &[Capture], links: usize, sink: &'s mut dyn Sink) -> Taps<'s> {
        let mut of_link = vec![TapsOfLink::default(); links];
        for (c, capture) in captures.iter().enumerate() {
            for (i, interface) in capture.interfaces.iter().enumerate() {
                let place = (c as u32, i as u32);
                if let Some(link) = interface.out {
                    let taps = &mut of_link[link];
                    if capture.before_queue { taps.arriving.push(place) } else { taps.leaving.push(place) }
                }
                if let Some(link) = interface.into {
                    of_link[link].delivered.push(place);
                }
            }
        }
        Taps { links: of_link, gathered: Gathered::default(), room: ROOM, sink, stopped: false }
    }

    /// Records `event` of `packet` on the link `link` at `at`; its cargo is still in `hold`.
    pub fn note(&mut self, at: Time, link: u32, event: PacketEvent, packet: &Packet, hold: &Hold) {
        let (taps, gathered) = (&mut self.links[link as usize], &mut self.gathered);
        let (packet, cargo, payload) = (*packet, hold.cargo(packet.cargo()), hold.payload(packet.cargo()));
        let seen = |outbound, fate| {
            move |&(capture, interface): &(u32, u32)| Seen {
                capture,
                interface,
                outbound,
                time: at,
                fate,
                packet,
                cargo: *cargo,
                payload: payload.filter(|_| matches!(cargo.body, Body::Quic(_))).cloned(),
            }
        };
        match event {
            PacketEvent::Enqueue
            | PacketEvent::Loss
            | PacketEvent::Mark
            | PacketEvent::BoxDrop
            | PacketEvent::TunnelDrop => {}
            PacketEvent::Arrive => {
                let first = gathered.arrivals;
                taps.hold(first, at, &packet);
                gathered.arrivals += taps.arriving.len() as u64;
                let seen = taps.arriving.iter().map(seen(true, Fate::Passed));
                gathered.packets.extend((first..).map(Some).zip(seen));
            }
            PacketEvent::EarlyDrop => taps.decide(&packet, Fate::Dropped(DropReason::Early), gathered),
            PacketEvent::ForcedDrop => taps.decide(&packet, Fate::Dropped(DropReason::Forced), gathered),
            PacketEvent::TailDrop => taps.decide(&packet, Fate::Dropped(DropReason::Tail), gathered),
            PacketEvent::Dequeue => {
                let fate = taps.fate_of_leaving(&packet);
                taps.decide(&packet, fate, gathered);
                gathered.packets.extend(taps.leaving.iter().map(seen(true, fate)).map(|seen| (None, seen)));
            }
            PacketEvent::Deliver => {
                let seen = taps.delivered.iter().map(seen(false, Fate::Passed));
                gathered.packets.extend(seen.map(|seen| (None, seen)));
            }
        }
    }

    /// Passes a line of a key log on: packets captured so far may wait.
    pub fn secret(&mut self, line: &str) {
        self.sink.secret(line);
    }

    /// Returns whether all links should be advanced and the captured packets passed on.
    pub fn is_full(&self) -> bool {
        self.gathered.packets.len() >= self.room
    }

    /// Passes on all packets that no later packet can precede: up to the oldest packet with an undecided fate or, at
    /// the end of the run, all. Returns whether the run may continue.
    pub fn flush(&mut self, last: bool) -> bool {
        for (arrival, seen) in &mut self.gathered.packets {
            if let Some(&fate) = arrival.and_then(|arrival| self.gathered.fates.get(&arrival)) {
                seen.fate = fate;
                if fate == Fate::Marked {
                    seen.packet.mark();
                }
            }
        }
        let decided = self.links.iter().filter_map(|link| link.held.front()).map(|held| held.time).min();
        let limit = decided.filter(|_| !last).unwrap_or(Time::NEVER);
        // A link replays its departures when it is next accessed, so links interleave out of order. Each link's events
        // are in order, and a stable sort keeps an arrival before its effects.
        self.gathered.packets.sort_by_key(|(_, seen)| seen.time);
        let ready = self.gathered.packets.partition_point(|(_, seen)| seen.time < limit);
        for (arrival, seen) in self.gathered.packets.drain(..ready) {
            self.stopped |= !self.stopped && !self.sink.take(&seen);
            if let Some(arrival) = arrival {
                self.gathered.fates.remove(&arrival);
            }
        }
        self.room = ROOM + 2 * self.gathered.packets.len();
        !self.stopped
    }
}

impl TapsOfLink {
    /// Adds `packet`, which arrived at the queue; its first number is `arrival`.
    fn hold(&mut self, arrival: u64, time: Time, packet: &Packet) {
        if !self.arriving.is_empty() || !self.leaving.is_empty() {
            self.held.push_back(Held { arrival, time, cargo: packet.cargo(), ecn: packet.ecn() });
        }
    }

    /// Returns the decision of the queue about `packet`, which leaves it.
    fn fate_of_leaving(&self, packet: &Packet) -> Fate {
        let came = self.held.iter().find(|held| held.cargo == packet.cargo());
        if came.is_some_and(|held| held.ecn != packet.ecn()) { Fate::Marked } else { Fate::Passed }
    }

    /// Records the queue's decision about `packet`.
    fn decide(&mut self, packet: &Packet, fate: Fate, gathered: &mut Gathered) {
        let place = self.held.iter().position(|held| held.cargo == packet.cargo());
        let Some(held) = place.and_then(|place| self.held.remove(place)) else { return };
        if fate != Fate::Passed {
            // Kept until all captures before this queue have passed the packet on.
            let numbers = (held.arrival..).take(self.arriving.len());
            gathered.fates.extend(numbers.map(|number| (number, fate)));
        }
    }
}
