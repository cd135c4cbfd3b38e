//! The taps of a run: what each link's watch hears, gathered, put in order and handed on.

use std::collections::{HashMap, VecDeque};

use ecnlab_aqm::{DropReason, Item, Watch};
use ecnlab_base::Time;
use ecnlab_wire::Ecn;

use super::{Capture, Fate, Seen, Sink};
use crate::link::WatchWire;
use crate::packet::Packet;

/// So many packets are gathered before they are sorted and handed on: some megabytes.
const ROOM: usize = 1 << 14;

/// All taps of a run.
pub struct Taps<'s> {
    links: Vec<TapsOfLink>,
    gathered: Gathered,
    /// How many may be gathered: more when many wait for what their queue will make of them.
    room: usize,
    sink: &'s mut dyn Sink,
    stopped: bool,
}

#[derive(Default)]
struct Gathered {
    /// Packets seen, those before a queue with their arrival's number.
    packets: Vec<(Option<u64>, Seen)>,
    /// By number of the arrival: what the queue made of it.
    fates: HashMap<u64, (Fate, Ecn)>,
    arrivals: u64,
}

#[derive(Clone, Debug, Default)]
struct TapsOfLink {
    /// (capture, interface) of those that see packets come to the queue.
    arriving: Vec<(u32, u32)>,
    /// Of those that see what the queue lets go.
    leaving: Vec<(u32, u32)>,
    /// Of those at the far end.
    delivered: Vec<(u32, u32)>,
    /// What is in the queue, in the order in which it came.
    held: VecDeque<Held>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    arrival: u64,
    time: Time,
    packet: Packet,
}

impl<'s> Taps<'s> {
    /// The taps of `captures` on `links` links.
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

    /// The tap of one link.
    pub fn of_link(&mut self, link: u32) -> LinkTap<'_> {
        LinkTap { taps: &mut self.links[link as usize], gathered: &mut self.gathered, now: Time::ZERO }
    }

    /// Whether it is time to bring all links up to date and hand on what was seen.
    pub fn is_full(&self) -> bool {
        self.gathered.packets.len() >= self.room
    }

    /// Hands on everything seen, when nothing earlier can be seen any more: up to the oldest packet whose fate is not
    /// known, or, at the end of the run, all. Whether the run may go on.
    pub fn flush(&mut self, last: bool) -> bool {
        for (arrival, seen) in &mut self.gathered.packets {
            if let Some((fate, ecn)) = arrival.and_then(|arrival| self.gathered.fates.get(&arrival)) {
                (seen.fate, seen.packet.segment.ecn) = (*fate, *ecn);
            }
        }
        let decided = self.links.iter().filter_map(|link| link.held.front()).map(|held| held.time).min();
        let limit = decided.filter(|_| !last).unwrap_or(Time::NEVER);
        // A link replays its departures when it is next looked at, so links interleave out of order. Each by itself is
        // in order, and a stable sort keeps what an arrival causes behind it.
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

/// The tap of one link.
pub struct LinkTap<'a> {
    taps: &'a mut TapsOfLink,
    gathered: &'a mut Gathered,
    now: Time,
}

impl LinkTap<'_> {
    /// What `packet` was when it came, if this link's queue is watched. Of equal packets it does not matter which.
    fn take_held(&mut self, packet: &Packet, newest: bool) -> Option<Held> {
        let same = |held: &Held| {
            let mut came = held.packet;
            came.segment.ecn = packet.segment.ecn;
            came == *packet
        };
        let held = &mut self.taps.held;
        let place = if newest { held.iter().rposition(same) } else { held.iter().position(same) };
        place.and_then(|place| held.remove(place))
    }

    fn decide(&mut self, held: &Held, fate: Fate, ecn: Ecn) {
        if !self.taps.arriving.is_empty() && fate != Fate::Passed {
            // One of several captures before this queue may still need it when another has it: kept until handed on.
            (0..self.taps.arriving.len() as u64).for_each(|tap| {
                self.gathered.fates.insert(held.arrival + tap, (fate, ecn));
            });
        }
    }
}

impl Watch<Packet> for LinkTap<'_> {
    fn dropped(&mut self, packet: &Packet, why: DropReason) {
        if let Some(held) = self.take_held(packet, true) {
            self.decide(&held, Fate::Dropped(why), packet.ecn());
        }
    }
    fn dequeued(&mut self, packet: &Packet) {
        let Some(held) = self.take_held(packet, false) else { return };
        let fate = if held.packet.ecn() == packet.ecn() { Fate::Passed } else { Fate::Marked };
        self.decide(&held, fate, packet.ecn());
        let (time, packet) = (self.now, *packet);
        let seen = |&(capture, interface)| (None, Seen { capture, interface, outbound: true, time, fate, packet });
        self.gathered.packets.extend(self.taps.leaving.iter().map(seen));
    }
}

impl WatchWire for LinkTap<'_> {
    fn at(&mut self, now: Time) {
        self.now = now;
    }
    fn arrived(&mut self, packet: &Packet) {
        let taps = &mut self.taps;
        if taps.arriving.is_empty() && taps.leaving.is_empty() {
            return;
        }
        let (time, packet, fate) = (self.now, *packet, Fate::Passed);
        let arrival = self.gathered.arrivals;
        taps.held.push_back(Held { arrival, time, packet });
        for (number, &(capture, interface)) in (arrival..).zip(&taps.arriving) {
            let seen = Seen { capture, interface, outbound: true, time, fate, packet };
            self.gathered.packets.push((Some(number), seen));
        }
        self.gathered.arrivals += taps.arriving.len() as u64;
    }
    fn delivered(&mut self, packet: &Packet) {
        let (time, packet, fate) = (self.now, *packet, Fate::Passed);
        let seen = |&(capture, interface)| (None, Seen { capture, interface, outbound: false, time, fate, packet });
        self.gathered.packets.extend(self.taps.delivered.iter().map(seen));
    }
}
