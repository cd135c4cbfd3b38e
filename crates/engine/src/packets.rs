//! Each packet's way, when a run is asked to keep it or to hand it on.

use ecnlab_aqm::{DropReason, Watch};
use ecnlab_base::Time;

use crate::capture::{LinkTap, Taps};
use crate::link::WatchWire;
use crate::packet::Packet;
use crate::table::Table;

/// Chosen when a run is built: not watching costs nothing.
pub trait Probe {
    /// What sees the packets of one link.
    type Watch<'a>: WatchWire
    where
        Self: 'a;
    /// The watch of link `link`.
    fn watch(&mut self, link: u32) -> Self::Watch<'_>;
    /// Whether the links should be brought up to date and [`Probe::flush`] be called.
    fn is_full(&self) -> bool {
        false
    }
    /// Hands on what was seen; nothing earlier will be seen any more, and nothing at all if this is the `last` time.
    /// Whether the run may go on.
    fn flush(&mut self, _last: bool) -> bool {
        true
    }
    /// The table of packets, if one was kept.
    fn table(self, links: &[String], flows: &[String]) -> Option<Table>;
}

/// Watches nothing.
impl Probe for () {
    type Watch<'a> = ();
    fn watch(&mut self, _link: u32) {}
    fn table(self, _links: &[String], _flows: &[String]) -> Option<Table> {
        None
    }
}

/// What happened to a packet; the order is that of [`EVENT_NAMES`].
#[derive(Clone, Copy)]
enum Event {
    Enqueue,
    Dequeue,
    Mark,
    DropEarly,
    DropForced,
    DropTail,
    Loss,
    Deliver,
}

const EVENT_NAMES: [&str; 8] =
    ["enqueue", "dequeue", "mark", "drop_early", "drop_forced", "drop_tail", "loss", "deliver"];

/// Keeps every event of every packet on every link.
#[derive(Default)]
pub struct PacketLog {
    rows: Vec<(Time, u32, Event, Packet)>,
}

/// Writes the events of one link.
pub struct LinkLog<'a> {
    rows: &'a mut Vec<(Time, u32, Event, Packet)>,
    link: u32,
    now: Time,
}

impl LinkLog<'_> {
    fn note(&mut self, event: Event, packet: &Packet) {
        self.rows.push((self.now, self.link, event, *packet));
    }
}

impl Watch<Packet> for LinkLog<'_> {
    fn enqueued(&mut self, packet: &Packet) {
        self.note(Event::Enqueue, packet);
    }
    fn marked(&mut self, packet: &Packet) {
        self.note(Event::Mark, packet);
    }
    fn dropped(&mut self, packet: &Packet, why: DropReason) {
        let event = match why {
            DropReason::Early => Event::DropEarly,
            DropReason::Forced => Event::DropForced,
            DropReason::Tail => Event::DropTail,
        };
        self.note(event, packet);
    }
    fn dequeued(&mut self, packet: &Packet) {
        self.note(Event::Dequeue, packet);
    }
}

impl WatchWire for LinkLog<'_> {
    fn at(&mut self, now: Time) {
        self.now = now;
    }
    fn lost(&mut self, packet: &Packet) {
        self.note(Event::Loss, packet);
    }
    fn delivered(&mut self, packet: &Packet) {
        self.note(Event::Deliver, packet);
    }
}

impl Probe for PacketLog {
    type Watch<'a> = LinkLog<'a>;

    fn watch(&mut self, link: u32) -> LinkLog<'_> {
        LinkLog { rows: &mut self.rows, link, now: Time::ZERO }
    }

    fn table(mut self, links: &[String], flows: &[String]) -> Option<Table> {
        // Departures are replayed when a link is next looked at, so links interleave out of order;
        // within a link the log is in order, and a stable sort keeps it so.
        self.rows.sort_by_key(|&(time, link, ..)| (time, link));
        let rows = &self.rows;
        let mut t = Table::new("packets");
        t.f64("time_s", rows.iter().map(|r| r.0.as_secs()));
        t.u64("time_ps", rows.iter().map(|r| r.0.ps()));
        t.text("link", rows.iter().map(|r| r.1), links);
        t.text("event", rows.iter().map(|r| r.2 as u32), &EVENT_NAMES.map(str::to_owned));
        t.text("flow", rows.iter().map(|r| r.3.flow), flows);
        t.u32("connection", rows.iter().map(|r| r.3.connection));
        // Packets for the `to` end were sent by the `from` end.
        t.bool("from_sender", rows.iter().map(|r| !r.3.endpoint.is_multiple_of(2)));
        t.u32("seq", rows.iter().map(|r| r.3.segment.seq.0));
        t.u32("ack", rows.iter().map(|r| r.3.segment.ack.0));
        t.u32("len", rows.iter().map(|r| r.3.segment.len));
        t.u32("wire_len", rows.iter().map(|r| r.3.segment.wire_len));
        t.u32("ecn", rows.iter().map(|r| u32::from(r.3.segment.ecn.bits())));
        t.u32("flags", rows.iter().map(|r| u32::from(r.3.segment.flags.bits())));
        Some(t)
    }
}

/// Keeps the packets' way, hands packets on to captures, or both.
pub struct Recorder<'s> {
    /// The log, if one is kept.
    pub log: Option<PacketLog>,
    /// The captures.
    pub taps: Taps<'s>,
}

/// What both hear of one link.
pub struct LinkRecorder<'a> {
    log: Option<LinkLog<'a>>,
    tap: LinkTap<'a>,
}

impl Probe for Recorder<'_> {
    type Watch<'a>
        = LinkRecorder<'a>
    where
        Self: 'a;

    fn watch(&mut self, link: u32) -> LinkRecorder<'_> {
        LinkRecorder { log: self.log.as_mut().map(|log| log.watch(link)), tap: self.taps.of_link(link) }
    }
    fn is_full(&self) -> bool {
        self.taps.is_full()
    }
    fn flush(&mut self, last: bool) -> bool {
        self.taps.flush(last)
    }
    fn table(self, links: &[String], flows: &[String]) -> Option<Table> {
        self.log?.table(links, flows)
    }
}

impl LinkRecorder<'_> {
    fn log(&mut self, note: impl FnOnce(&mut LinkLog<'_>)) {
        if let Some(log) = &mut self.log {
            note(log);
        }
    }
}

impl Watch<Packet> for LinkRecorder<'_> {
    fn enqueued(&mut self, packet: &Packet) {
        self.log(|log| log.enqueued(packet));
    }
    fn marked(&mut self, packet: &Packet) {
        self.log(|log| log.marked(packet));
    }
    fn dropped(&mut self, packet: &Packet, why: DropReason) {
        self.log(|log| log.dropped(packet, why));
        self.tap.dropped(packet, why);
    }
    fn dequeued(&mut self, packet: &Packet) {
        self.log(|log| log.dequeued(packet));
        self.tap.dequeued(packet);
    }
}

impl WatchWire for LinkRecorder<'_> {
    fn at(&mut self, now: Time) {
        self.log(|log| log.at(now));
        self.tap.at(now);
    }
    fn arrived(&mut self, packet: &Packet) {
        self.tap.arrived(packet);
    }
    fn lost(&mut self, packet: &Packet) {
        self.log(|log| log.lost(packet));
    }
    fn delivered(&mut self, packet: &Packet) {
        self.log(|log| log.delivered(packet));
        self.tap.delivered(packet);
    }
}
