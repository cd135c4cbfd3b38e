//! The taps of a run: what each link's watch hears, gathered, put in order and handed on.

use std::collections::VecDeque;

use ecnlab_aqm::{DropReason, Watch};
use ecnlab_base::Time;

use super::{Capture, Fate, Seen, Sink};
use crate::link::WatchWire;
use crate::packet::Packet;

/// So many packets are gathered before they are sorted and handed on: some megabytes.
const ROOM: usize = 1 << 14;

/// All taps of a run.
pub struct Taps<'s> {
    links: Vec<TapsOfLink>,
    pending: Vec<Seen>,
    sink: &'s mut dyn Sink,
    stopped: bool,
}

#[derive(Clone, Debug, Default)]
struct TapsOfLink {
    /// (capture, interface) of those that see packets come to the queue.
    arriving: Vec<(u32, u32)>,
    /// Of those that see what the queue made of them.
    leaving: Vec<(u32, u32)>,
    /// Of those at the far end.
    delivered: Vec<(u32, u32)>,
    /// Packets in the queue that were marked here: a queue leaves no other trace of who gave CE.
    marked: VecDeque<Packet>,
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
        Taps { links: of_link, pending: Vec::new(), sink, stopped: false }
    }

    /// The tap of one link.
    pub fn of_link(&mut self, link: u32) -> LinkTap<'_> {
        LinkTap { taps: &mut self.links[link as usize], pending: &mut self.pending, now: Time::ZERO }
    }

    /// Whether it is time to bring all links up to date and hand on what was seen.
    pub fn is_full(&self) -> bool {
        self.pending.len() >= ROOM
    }

    /// Hands on everything seen, when nothing earlier can be seen any more. Whether the run may go on.
    pub fn flush(&mut self) -> bool {
        // A link replays its departures when it is next looked at, so links interleave out of order. Each by itself is
        // in order, and a stable sort keeps what an arrival causes behind it.
        self.pending.sort_by_key(|seen| seen.time);
        for seen in self.pending.drain(..) {
            self.stopped |= !self.stopped && !self.sink.take(&seen);
        }
        !self.stopped
    }
}

/// The tap of one link.
pub struct LinkTap<'a> {
    taps: &'a mut TapsOfLink,
    pending: &'a mut Vec<Seen>,
    now: Time,
}

impl LinkTap<'_> {
    fn leaving(&mut self, packet: &Packet, fate: Fate) {
        let (time, packet) = (self.now, *packet);
        let seen = |&(capture, interface)| Seen { capture, interface, outbound: true, time, fate, packet };
        self.pending.extend(self.taps.leaving.iter().map(seen));
    }

    /// Whether `packet` is one that was marked here; it is then no longer looked for.
    fn was_marked(&mut self, packet: &Packet) -> bool {
        let place = self.taps.marked.iter().position(|marked| marked == packet);
        place.and_then(|place| self.taps.marked.remove(place)).is_some()
    }
}

impl Watch<Packet> for LinkTap<'_> {
    fn marked(&mut self, packet: &Packet) {
        if !self.taps.leaving.is_empty() {
            self.taps.marked.push_back(*packet);
        }
    }
    fn dropped(&mut self, packet: &Packet, why: DropReason) {
        self.was_marked(packet);
        self.leaving(packet, Fate::Dropped(why));
    }
    fn dequeued(&mut self, packet: &Packet) {
        let fate = if self.was_marked(packet) { Fate::Marked } else { Fate::Passed };
        self.leaving(packet, fate);
    }
}

impl WatchWire for LinkTap<'_> {
    fn at(&mut self, now: Time) {
        self.now = now;
    }
    fn arrived(&mut self, packet: &Packet) {
        let (time, packet) = (self.now, *packet);
        let seen =
            |&(capture, interface)| Seen { capture, interface, outbound: true, time, fate: Fate::Passed, packet };
        self.pending.extend(self.taps.arriving.iter().map(seen));
    }
    fn delivered(&mut self, packet: &Packet) {
        let (time, packet) = (self.now, *packet);
        let seen =
            |&(capture, interface)| Seen { capture, interface, outbound: false, time, fate: Fate::Passed, packet };
        self.pending.extend(self.taps.delivered.iter().map(seen));
    }
}
