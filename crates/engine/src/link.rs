//! A link: a queue, a transmitter, and the packets on the wire.
//!
//! A work-conserving transmitter of fixed rate needs no event of its own: when a packet leaves the
//! queue is known from the departures before it. [`Link::advance`] replays, up to any instant, every
//! departure that has happened, at its exact time. So a link has one event pending, the arrival of
//! the first packet on the wire at the far end, whatever its queue discipline: one FIFO or several queues, whose laws see
//! each departure at its exact time and no arrival behind it.

use std::sync::Arc;

use ecnlab_aqm::{Bucket, ClassReading, Item, Queue, Stats, Tally, Watch};
use ecnlab_base::{Dur, Rate, Rng, Time};
use ecnlab_wire::Ecn;

use crate::boxes::{BoxCounters, Boxes, Inspect, Passage};
use crate::faults::Faults;
use crate::jitter::Jolts;
use crate::packet::Packet;
use crate::plan::{LinkPlan, Plan};
use crate::tunnel::{Tunnel, TunnelCounters};
use crate::wire::Wire;

/// What became of the packets behind the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that reached the far end.
    pub delivered: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets that the error model took.
    pub lost: u64,
    /// Bytes put on the wire, lost ones too.
    pub sent_bytes: u64,
}

impl Counters {
    /// What was counted after `earlier`, an earlier reading of the same link.
    pub fn since(&self, earlier: &Counters) -> Counters {
        Counters {
            delivered: self.delivered - earlier.delivered,
            delivered_bytes: self.delivered_bytes - earlier.delivered_bytes,
            lost: self.lost - earlier.lost,
            sent_bytes: self.sent_bytes - earlier.sent_bytes,
        }
    }
}

/// Sees what becomes of a packet behind the queue.
pub trait WatchWire: Watch<Packet> {
    /// The clock of what follows: queue decisions are replayed at their own times.
    fn at(&mut self, _now: Time) {}
    /// The error model took `packet`.
    fn lost(&mut self, _packet: &Packet) {}
}

impl WatchWire for () {}

/// One direction of a link.
///
/// The fields are those that a packet touches which finds the queue empty, as most do: two cache lines,
/// of which there are as many as links. All else is behind `slow`.
#[repr(align(64))]
pub struct Link {
    /// The time of the pending event, [`Time::NEVER`] if there is none.
    pub armed: Time,
    /// When the transmitter is free again.
    free_at: Time,
    delay: Dur,
    transmitter: Transmitter,
    wire: Wire,
    /// What went straight through the queue and is not yet in its counters: packets of one class.
    passed: Tally,
    class: u32,
    /// Packets that reached the far end. Their bytes follow from those sent.
    delivered: u64,
    /// Packets in the queue.
    waiting: u32,
    /// The row of the node at the far end in [`crate::routes::Routes`].
    pub row: u32,
    slow: Box<Slow>,
    /// Whether a packet that meets neither another nor a busy transmitter goes straight through.
    open: bool,
    /// Whether a packet still in the queue may arrive before the first on the wire, so that each departure is waited for.
    overtakes: bool,
    /// Whether boxes or the end of a tunnel stand at the far end.
    pub boxed: bool,
}

/// What only packets touch that wait, and links with a shaper, jitter or faults.
struct Slow {
    /// The row of the node that the link leaves.
    row_behind: u32,
    /// The node that the link leaves.
    from: u32,
    queue: Queue<Packet>,
    /// Up to when departures have been replayed.
    clock: Time,
    rate: Option<Rate>,
    earlier: Transmitter,
    shaper: Option<Bucket>,
    /// Whether the shaper or one within the queue may let packets wait although the transmitter is free.
    shaped: bool,
    faults: Option<Faults>,
    jitter: Option<Jolts>,
    lost: Tally,
    boxes: Boxes,
    tunnel: Option<Tunnel>,
}

impl Link {
    /// The links of `plan`, idle. All their chance comes from `seed`.
    pub fn all(plan: &Plan, seed: u64) -> Vec<Link> {
        let flows: Arc<[String]> = plan.flows.iter().map(|flow| flow.name.clone()).collect();
        let link = |l: &LinkPlan| {
            let mut link = Link::new(l, &plan.groups, seed);
            link.boxed = !l.boxes.is_empty() || l.tunnel.is_some();
            link.slow.boxes = Boxes::new(&l.boxes, &flows, seed);
            link
        };
        plan.links.iter().map(link).collect()
    }

    /// An idle link without its boxes.
    pub fn new(plan: &LinkPlan, groups: &[String], seed: u64) -> Link {
        let stream = |what: &str| Rng::named(seed, &format!("link.{}.{what}", plan.name));
        let queue = Queue::new(&plan.queue, plan.context(), groups, stream("queue"));
        let slow = Slow {
            row_behind: 0,
            from: plan.from as u32,
            shaped: plan.shaper.is_some() || queue.is_shaped(),
            queue,
            clock: Time::ZERO,
            rate: plan.rate,
            earlier: Transmitter::default(),
            shaper: plan.shaper.map(|shaper| Bucket::new(shaper.rate, shaper.burst)),
            faults: Faults::new(&plan.errors, stream),
            jitter: plan.jitter.map(|jitter| Jolts::new(jitter, stream("jitter"))),
            lost: Tally::default(),
            boxes: Boxes::default(),
            tunnel: plan.tunnel.as_ref().map(Tunnel::new),
        };
        Link {
            armed: Time::NEVER,
            free_at: Time::ZERO,
            delay: plan.delay,
            transmitter: Transmitter::default(),
            wire: Wire::new(),
            passed: Tally::default(),
            class: 0,
            delivered: 0,
            waiting: 0,
            row: 0,
            open: slow.queue.is_open()
                && slow.shaper.is_none()
                && slow.faults.is_none()
                && slow.jitter.is_none()
                && slow.tunnel.is_none(),
            overtakes: plan.jitter.is_some_and(|jitter| jitter.reorder),
            boxed: false,
            slow: Box::new(slow),
        }
    }

    /// Tells the link the rows of the nodes at its far end and behind it in [`crate::routes::Routes`].
    pub fn set_rows(&mut self, row: u32, row_behind: u32) {
        self.row = row;
        self.slow.row_behind = row_behind;
    }

    /// The row of the node that it leaves.
    pub fn row_behind(&self) -> u32 {
        self.slow.row_behind
    }

    /// Whether a packet that arrives at `now` goes straight through to the wire.
    #[inline(always)]
    pub fn is_clear(&self, now: Time) -> bool {
        self.open && self.waiting == 0 && self.free_at <= now
    }

    /// `packet` arrives at a link that [is clear](Link::is_clear).
    #[inline(always)]
    pub fn pass(&mut self, packet: Packet, now: Time) {
        self.count_passed(&packet);
        self.transmit(packet, now);
    }

    /// `packet` arrives at the queue.
    #[inline(always)]
    pub fn enqueue(&mut self, packet: Packet, now: Time, watch: &mut impl WatchWire) {
        if self.is_due(now) {
            self.replay(now, watch);
        }
        self.slow.clock = now;
        watch.at(now);
        self.slow.queue.enqueue(packet, now, watch);
        self.waiting = self.slow.queue.packets() as u32;
        if self.is_due(now) {
            self.replay(now, watch);
        }
    }

    /// The node that it leaves.
    pub fn from(&self) -> u32 {
        self.slow.from
    }

    /// When the next packet reaches the far end; [`Time::NEVER`] if none is on the wire.
    #[inline(always)]
    pub fn first_arrival(&self) -> Time {
        self.wire.first()
    }

    /// Takes the next packet off the wire, on which there must be one.
    #[inline(always)]
    pub fn deliver(&mut self) -> Packet {
        self.delivered += 1;
        self.wire.pop()
    }

    /// What the boxes make of `packet`, which the link has [delivered](Link::deliver).
    pub fn inspect(&mut self, packet: &mut Packet, contents: &mut impl Inspect) -> Passage {
        self.slow.boxes.pass(packet, contents)
    }

    /// The number of the tunnel that it is part of.
    #[inline]
    pub fn tunnel(&self) -> Option<u32> {
        self.slow.tunnel.as_ref().map(Tunnel::number)
    }

    /// As [`Tunnel::encapsulate`], where the link is part of a tunnel; else `packet` is as it was.
    pub fn encapsulate(&mut self, packet: &mut Packet) -> Ecn {
        self.slow.tunnel.as_mut().map_or(packet.ecn(), |tunnel| tunnel.encapsulate(packet))
    }

    /// As [`Tunnel::decapsulate`], where the link is part of a tunnel; else `packet` goes on as it was.
    pub fn decapsulate(&mut self, packet: &mut Packet, inner: Ecn) -> bool {
        self.slow.tunnel.as_mut().is_none_or(|tunnel| tunnel.decapsulate(packet, inner))
    }

    /// What the ends of its tunnel have done at this link.
    pub fn tunnel_counters(&self) -> Option<TunnelCounters> {
        self.slow.tunnel.as_ref().map(Tunnel::counters)
    }

    /// What each box has done.
    pub fn box_counters(&self) -> Vec<BoxCounters> {
        self.slow.boxes.counters()
    }

    /// Whether what came to the boxes is what the link delivered, less what those before dropped.
    pub fn boxes_are_balanced(&self) -> bool {
        self.slow.boxes.are_balanced(self.delivered)
    }

    /// Whether departures up to and including `now` are to be [replayed](Link::replay).
    #[inline(always)]
    pub fn is_due(&self, now: Time) -> bool {
        self.waiting > 0 && self.free_at <= now
    }

    /// Replays every departure up to and including `now`.
    #[inline(never)]
    pub fn replay(&mut self, now: Time, watch: &mut impl WatchWire) {
        while self.waiting > 0 {
            let start = self.next_start();
            if start > now {
                break;
            }
            self.slow.clock = start;
            watch.at(start);
            if let Some(packet) = self.slow.queue.dequeue(start, watch) {
                self.send(packet, start, watch);
            }
            self.waiting = self.slow.queue.packets() as u32;
        }
        self.slow.clock = now;
    }

    /// A packet leaves the queue for the wire, by way of the shaper, the faults and the jitter.
    #[inline]
    fn send(&mut self, mut packet: Packet, start: Time, watch: &mut impl WatchWire) {
        if let Some(bucket) = &mut self.slow.shaper {
            bucket.spend(start, packet.wire_len());
        }
        let jolt = self.slow.jitter.as_mut().map(Jolts::draw);
        if let Some(faults) = &mut self.slow.faults
            && !faults.lets_through(&mut packet)
        {
            self.occupy(packet.wire_len(), start);
            self.slow.lost += Tally { packets: 1, bytes: packet.wire_len().into() };
            return watch.lost(&packet);
        }
        match jolt {
            Some(jolt) => self.transmit_jolted(packet, start, jolt),
            None => self.transmit(packet, start),
        }
    }

    /// [`Link::transmit`] of a packet that takes `jolt` longer.
    #[cold]
    fn transmit_jolted(&mut self, packet: Packet, start: Time, jolt: Dur) {
        self.occupy(packet.wire_len(), start);
        let alone = self.free_at + self.delay + jolt;
        let at = self.slow.jitter.as_mut().map_or(alone, |jitter| jitter.arrival(alone));
        self.wire.insert(at, packet);
    }

    #[inline(always)]
    fn transmit(&mut self, packet: Packet, start: Time) {
        self.occupy(packet.wire_len(), start);
        self.wire.push(self.free_at + self.delay, packet);
    }

    /// The transmitter works on a packet of `len` bytes from `start`.
    #[inline(always)]
    fn occupy(&mut self, len: u32, start: Time) {
        if self.transmitter.len != len {
            self.change_length(len);
        }
        self.free_at = start + self.transmitter.time;
    }

    /// The lengths on a link are few: the one before the last is kept too.
    #[inline(never)]
    fn change_length(&mut self, len: u32) {
        std::mem::swap(&mut self.transmitter, &mut self.slow.earlier);
        if self.transmitter.len != len {
            self.transmitter = Transmitter::new(self.slow.rate, len);
        }
    }

    #[inline(always)]
    fn count_passed(&mut self, packet: &Packet) {
        if self.class != packet.class() {
            self.settle();
            self.class = packet.class();
        }
        self.passed.packets += 1;
        self.passed.bytes += u64::from(packet.wire_len());
    }

    /// Brings the queue's counters up to date.
    #[cold]
    fn settle(&mut self) {
        let (group, capable) = (self.class >> 1, self.class & 1 == 1);
        self.slow.queue.count_passed(group as usize, capable, std::mem::take(&mut self.passed));
    }

    /// When the link next needs the engine: at the first delivery, or, with the wire empty or where packets overtake,
    /// when the next packet goes.
    #[inline(always)]
    pub fn next_event(&self) -> Time {
        let first = self.wire.first();
        if self.waiting == 0 || (first < Time::NEVER && !self.overtakes) { first } else { first.min(self.next_start()) }
    }

    /// When the queue, which must hold a packet, is asked for one: when the transmitter is free, and shapers may let one go.
    #[inline(always)]
    fn next_start(&self) -> Time {
        let free = self.free_at.max(self.slow.clock);
        if self.slow.shaped { self.next_shaped(free) } else { free }
    }

    /// The same after shapers. Where several queues have a head, the bucket may have to lend what another one is longer.
    #[inline(never)]
    fn next_shaped(&self, free: Time) -> Time {
        let free = free.max(self.slow.queue.ready());
        let Some(bucket) = &self.slow.shaper else { return free };
        self.slow.queue.head_len().map_or(free, |len| bucket.ready(len).max(free))
    }

    /// Brings the link, its counters and its statistics up to `now`.
    pub fn observe(&mut self, now: Time, watch: &mut impl WatchWire) {
        self.replay(now, watch);
        self.settle();
        self.slow.queue.observe(now);
    }

    /// The queue in front of the wire, as it was last observed.
    pub fn queue(&self) -> &Queue<Packet> {
        &self.slow.queue
    }

    /// Hands over the queue's statistics up to `now`, and begins them anew.
    pub fn cut_stats(&mut self, now: Time) -> Stats {
        self.settle();
        self.slow.queue.cut_stats(now)
    }

    /// What the classes of the queue counted since the start, and their statistics since the last time; `whole` are those
    /// of the queue, just [cut](Link::cut_stats).
    pub fn cut_classes(&mut self, whole: &Stats) -> Vec<ClassReading> {
        self.slow.queue.cut_classes(whole)
    }

    /// Packets on the wire, the one in transmission included.
    pub fn on_wire(&self) -> u64 {
        self.wire.len() as u64
    }

    /// What crossed the wire, as it was last observed.
    pub fn counters(&self) -> Counters {
        let sent_bytes = self.slow.queue.counters().total().all().departed.bytes;
        Counters {
            delivered: self.delivered,
            delivered_bytes: sent_bytes - self.slow.lost.bytes - self.wire.bytes(),
            lost: self.slow.lost.packets,
            sent_bytes,
        }
    }
}

/// How long packets of one length take to send. Kept, since a 128-bit division is dear.
#[derive(Clone, Copy, Default)]
struct Transmitter {
    len: u32,
    time: Dur,
}

impl Transmitter {
    fn new(rate: Option<Rate>, len: u32) -> Transmitter {
        Transmitter { len, time: rate.map_or(Dur::ZERO, |r| r.time_for(u64::from(len))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_most_packets_touch_is_two_cache_lines() {
        assert_eq!(size_of::<Link>(), 128);
    }
}
