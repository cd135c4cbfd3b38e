//! The taps of a run: what each link's watch hears, gathered, put in order and handed on.

use std::collections::VecDeque;

use ecnlab_aqm::DropReason;
use ecnlab_base::Time;

use super::{Capture, Fate, Seen, Sink};
use crate::packet::{Hold, Packet};
use crate::packets::Event;

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
    /// Packets in the queue that were marked here, known by the place of their cargo, which is theirs while they are
    /// under way: a queue leaves no other trace of who gave CE.
    marked: VecDeque<u32>,
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

    /// `event` happened to `packet` on the link `link` at `at`; its cargo is still in `hold`.
    pub fn note(&mut self, at: Time, link: u32, event: Event, packet: &Packet, hold: &Hold) {
        let taps = &mut self.links[link as usize];
        let (places, outbound, fate) = match event {
            Event::Enqueue | Event::Loss => return,
            Event::Mark => return taps.remember(packet),
            Event::Arrive => (&taps.arriving, true, Fate::Passed),
            Event::Deliver => (&taps.delivered, false, Fate::Passed),
            Event::Dequeue | Event::DropEarly | Event::DropForced | Event::DropTail => {
                let fate = taps.fate(event, packet);
                (&taps.leaving, true, fate)
            }
        };
        let (packet, cargo) = (*packet, *hold.cargo(packet.cargo()));
        let seen = |&(capture, interface)| Seen { capture, interface, outbound, time: at, fate, packet, cargo };
        self.pending.extend(places.iter().map(seen));
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

impl TapsOfLink {
    fn remember(&mut self, packet: &Packet) {
        if !self.leaving.is_empty() {
            self.marked.push_back(packet.cargo());
        }
    }

    /// What `event`, with which `packet` leaves the queue, is to its captures.
    fn fate(&mut self, event: Event, packet: &Packet) -> Fate {
        let was_marked = self.forget(packet);
        match event {
            Event::DropEarly => Fate::Dropped(DropReason::Early),
            Event::DropForced => Fate::Dropped(DropReason::Forced),
            Event::DropTail => Fate::Dropped(DropReason::Tail),
            _ if was_marked => Fate::Marked,
            _ => Fate::Passed,
        }
    }

    /// Whether `packet` is one that was marked here; it is then no longer looked for.
    fn forget(&mut self, packet: &Packet) -> bool {
        let place = self.marked.iter().position(|&cargo| cargo == packet.cargo());
        place.and_then(|place| self.marked.remove(place)).is_some()
    }
}
