//! Packet events, when a run records them or passes them on.

use ecnlab_aqm::{DropReason, Item, MarkReason, Owed, Watch};
use ecnlab_base::Time;
use ecnlab_wire::{Ecn, Flags, Seq};

use crate::capture::Taps;
use crate::link::WatchWire;
use crate::packet::{Body, Cargo, Hold, Packet};
use crate::packet_event::{EVENT_NAMES, PacketEvent};
use crate::signals::Signals;
use crate::table::Labels;
use ecnlab_base::Table;

/// Observer of packet events, selected when a run is built: no observer has no cost.
pub trait Probe {
    /// Records `event` of `packet` on the link `link` at `at`; its cargo is still in `hold`.
    fn note(&mut self, at: Time, link: u32, event: PacketEvent, packet: &Packet, hold: &Hold);
    /// Takes a line of a key log of QUIC.
    fn secret(&mut self, _line: &str) {}
    /// Returns whether all links should be advanced and [`Probe::flush`] be called.
    fn is_full(&self) -> bool {
        false
    }
    /// Passes on the recorded events; no earlier event can follow, and none at all if this is the `last` call. Returns
    /// whether the run may continue.
    fn flush(&mut self, _last: bool) -> bool {
        true
    }
    /// Returns the next block of rows of the packet table, if there are enough before `now`, up to which all links have
    /// been advanced.
    fn block(&mut self, _now: Time, _labels: &Labels) -> Option<Table> {
        None
    }
    /// Returns the remaining rows of the packet table, if one is kept.
    fn table(self, labels: &Labels) -> Option<Table>;
}

/// Records nothing.
impl Probe for () {
    fn note(&mut self, _at: Time, _link: u32, _event: PacketEvent, _packet: &Packet, _hold: &Hold) {}
    fn table(self, _labels: &Labels) -> Option<Table> {
        None
    }
}

/// Observer of one link: notifies the probe and unloads packets that end here.
pub struct LinkWatch<'a, P> {
    probe: &'a mut P,
    hold: &'a mut Hold,
    signals: &'a mut Signals,
    link: u32,
    now: Time,
}

impl<P: Probe> LinkWatch<'_, P> {
    /// Creates the observer of link `link`; `signals` receives source quenches, marks and drops.
    #[inline]
    pub fn new<'a>(probe: &'a mut P, hold: &'a mut Hold, signals: &'a mut Signals, link: u32) -> LinkWatch<'a, P> {
        LinkWatch { probe, hold, signals, link, now: Time::ZERO }
    }

    #[inline]
    fn note(&mut self, event: PacketEvent, packet: &Packet) {
        self.probe.note(self.now, self.link, event, packet, self.hold);
    }
}

impl<P: Probe> Watch<Packet> for LinkWatch<'_, P> {
    #[inline]
    fn enqueued(&mut self, packet: &Packet) {
        self.note(PacketEvent::Enqueue, packet);
    }
    fn marked(&mut self, packet: &Packet, _why: MarkReason) {
        self.note(PacketEvent::Mark, packet);
        self.signals.count_mark(packet);
    }
    fn dropped(&mut self, packet: &Packet, why: DropReason) {
        let event = match why {
            DropReason::Early => PacketEvent::EarlyDrop,
            DropReason::Forced => PacketEvent::ForcedDrop,
            DropReason::Tail => PacketEvent::TailDrop,
        };
        self.note(event, packet);
        self.signals.count_drop(packet, why);
        self.hold.unload(packet.cargo());
    }
    #[inline]
    fn dequeued(&mut self, packet: &Packet) {
        self.note(PacketEvent::Dequeue, packet);
    }
    fn quenched(&mut self, owed: &Owed<Packet>) {
        self.signals.owed.push(*owed);
    }
}

impl<P: Probe> WatchWire for LinkWatch<'_, P> {
    #[inline]
    fn at(&mut self, now: Time) {
        self.now = now;
    }
    fn lost(&mut self, packet: &Packet) {
        self.note(PacketEvent::Loss, packet);
        self.hold.unload(packet.cargo());
    }
}

/// Log of every event of every packet on every link, until it is passed on.
pub struct PacketLog {
    rows: Vec<Row>,
    /// Rows per block.
    block: usize,
    /// Number of rows at which the next block is taken: more than `block` while many events have the same time.
    room: usize,
}

/// One event, with only what the table shows: rows are moved when they are sorted.
#[derive(Clone, Copy)]
struct Row {
    time: Time,
    link: u32,
    flow: u32,
    connection: u32,
    seq: Seq,
    ack: Seq,
    len: u32,
    wire_len: u32,
    flags: Flags,
    event: PacketEvent,
    ecn: Ecn,
    /// Index in [`PROTOCOLS`].
    protocol: u8,
    from_sender: bool,
}

impl Row {
    fn new(time: Time, link: u32, event: PacketEvent, packet: &Packet, cargo: &Cargo) -> Row {
        let (seq, ack, flags) = numbers(&cargo.body);
        Row {
            time,
            link,
            flow: packet.flow(),
            connection: cargo.connection,
            seq,
            ack,
            len: cargo.body.payload(),
            wire_len: packet.wire_len(),
            flags,
            event,
            ecn: packet.ecn(),
            protocol: protocol(&cargo.body),
            // Packets for the `to` end were sent by the `from` end.
            from_sender: !cargo.endpoint.is_multiple_of(2),
        }
    }
}

impl PacketLog {
    /// Creates an empty log that passes on its rows in blocks of `block`; never if `block` is [`usize::MAX`].
    pub fn new(block: usize) -> PacketLog {
        PacketLog { rows: Vec::new(), block, room: block }
    }

    /// Departures are replayed when a link is next accessed, so links interleave out of order; each link's events are
    /// in order, and a stable sort preserves this.
    fn sort(&mut self) {
        self.rows.sort_by_key(|row| (row.time, row.link));
    }
}

impl Probe for PacketLog {
    fn note(&mut self, at: Time, link: u32, event: PacketEvent, packet: &Packet, hold: &Hold) {
        if event != PacketEvent::Arrive {
            self.rows.push(Row::new(at, link, event, packet, hold.cargo(packet.cargo())));
        }
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= self.room
    }

    fn block(&mut self, now: Time, labels: &Labels) -> Option<Table> {
        if !self.is_full() {
            return None;
        }
        self.sort();
        // More events may follow at `now` itself, on links that sort before these.
        let ready = self.rows.partition_point(|row| row.time < now);
        let block = table(&self.rows[..ready], labels);
        self.rows.drain(..ready);
        self.room = self.block.saturating_add(2 * self.rows.len());
        Some(block)
    }

    fn table(mut self, labels: &Labels) -> Option<Table> {
        self.sort();
        Some(table(&self.rows, labels))
    }
}

fn table(rows: &[Row], labels: &Labels) -> Table {
    let mut t = Table::new("packets");
    t.f64("time_s", rows.iter().map(|r| r.time.as_secs()));
    t.u64("time_ps", rows.iter().map(|r| r.time.ps()));
    t.text("link", rows.iter().map(|r| r.link), &labels.links);
    t.text("event", rows.iter().map(|r| r.event as u32), &EVENT_NAMES.map(str::to_owned));
    t.text("flow", rows.iter().map(|r| r.flow), &labels.flows);
    t.u32("connection", rows.iter().map(|r| r.connection));
    t.bool("from_sender", rows.iter().map(|r| r.from_sender));
    t.text("protocol", rows.iter().map(|r| r.protocol.into()), &PROTOCOLS.map(str::to_owned));
    t.u32("seq", rows.iter().map(|r| r.seq.0));
    t.u32("ack", rows.iter().map(|r| r.ack.0));
    t.u32("len", rows.iter().map(|r| r.len));
    t.u32("wire_len", rows.iter().map(|r| r.wire_len));
    t.u32("ecn", rows.iter().map(|r| r.ecn.bits().into()));
    t.u32("flags", rows.iter().map(|r| r.flags.bits().into()));
    t
}

/// Keeps the packet log, passes packets to captures, or both.
pub struct Recorder<'s> {
    /// The packet log, if enabled.
    pub log: Option<PacketLog>,
    /// The captures.
    pub taps: Taps<'s>,
}

impl Probe for Recorder<'_> {
    fn note(&mut self, at: Time, link: u32, event: PacketEvent, packet: &Packet, hold: &Hold) {
        if let Some(log) = &mut self.log {
            log.note(at, link, event, packet, hold);
        }
        self.taps.note(at, link, event, packet, hold);
    }
    fn secret(&mut self, line: &str) {
        self.taps.secret(line);
    }
    fn is_full(&self) -> bool {
        self.taps.is_full() || self.log.as_ref().is_some_and(PacketLog::is_full)
    }
    fn flush(&mut self, last: bool) -> bool {
        self.taps.flush(last)
    }
    fn block(&mut self, now: Time, labels: &Labels) -> Option<Table> {
        self.log.as_mut()?.block(now, labels)
    }
    fn table(self, labels: &Labels) -> Option<Table> {
        self.log?.table(labels)
    }
}

const PROTOCOLS: [&str; 3] = ["tcp", "udp", "icmp"];

/// Index in [`PROTOCOLS`].
fn protocol(body: &Body) -> u8 {
    match body {
        Body::Tcp(_) => 0,
        Body::Datagram(_) | Body::Quic(_) => 1,
        Body::Quench(..) => 2,
    }
}

/// Returns sequence number, acknowledgement number and flags; UDP has only the first, a source quench has the sequence
/// number of the original segment.
fn numbers(body: &Body) -> (Seq, Seq, Flags) {
    match body {
        Body::Tcp(segment) => (segment.seq, segment.ack, segment.flags),
        Body::Datagram(datagram) | Body::Quic(datagram) => (Seq(datagram.seq), Seq(0), Flags::empty()),
        Body::Quench(quench, _) => (quench.seq, Seq(0), Flags::empty()),
    }
}
