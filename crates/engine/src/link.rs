//! A link: a queue, a transmitter, and the packets on the wire.
//!
//! A work-conserving transmitter of fixed rate needs no event of its own: the departures before a packet determine when
//! it leaves the queue. [`Link::replay`] replays every departure up to a given time, at its exact time. A link
//! therefore has one pending event, the arrival of the first packet on the wire at the far end, for every queue
//! discipline: one FIFO or several queues, whose laws see each departure at its exact time and no later arrival.

use std::sync::Arc;

use ecnlab_aqm::{Bucket, ClassReading, Departures, Item, Queue, Stats, Tally, Watch};
use ecnlab_base::{Dur, Rate, Rng, Time};
use ecnlab_wire::Ecn;

use crate::boxes::{BoxCounters, Boxes, Inspect, Passage};
use crate::faults::Faults;
use crate::packet::{Packet, of_class};
use crate::plan::{LinkPlan, Plan};
use crate::tunnel::{Tunnel, TunnelCounters};
use crate::unsteady::Unsteady;
use crate::wire::Wire;

/// Counts of the packets that left the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that reached the far end.
    pub delivered: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets lost by the error model.
    pub lost: u64,
    /// Bytes put on the wire, including lost packets.
    pub sent_bytes: u64,
}

impl Counters {
    /// Returns the counts since `earlier`, an earlier reading of the same link.
    pub fn since(&self, earlier: &Counters) -> Counters {
        Counters {
            delivered: self.delivered - earlier.delivered,
            delivered_bytes: self.delivered_bytes - earlier.delivered_bytes,
            lost: self.lost - earlier.lost,
            sent_bytes: self.sent_bytes - earlier.sent_bytes,
        }
    }
}

/// Observer of packets after the queue.
pub trait WatchWire: Watch<Packet> {
    /// Sets the time of the following calls: queue decisions are replayed at their own times.
    fn at(&mut self, _now: Time) {}
    /// The error model dropped `packet`.
    fn lost(&mut self, _packet: &Packet) {}
}

impl WatchWire for () {}

/// One direction of a link.
///
/// The fields are those accessed by a packet that finds the queue empty, the common case: two cache lines per link. All
/// other state is in `slow`.
#[repr(align(64))]
pub struct Link {
    /// The time of the pending event, [`Time::NEVER`] if there is none.
    pub armed: Time,
    /// Time at which the transmitter is free.
    free_at: Time,
    delay: Dur,
    transmitter: Transmitter,
    wire: Wire,
    /// Packets of one class that passed directly through the queue and are not yet in its counters.
    passed: Tally,
    class: u32,
    /// Packets that reached the far end. Their bytes follow from the bytes sent.
    delivered: u64,
    /// Packets in the queue.
    waiting: u32,
    /// The row of the node at the far end in [`crate::routes::Routes`].
    pub row: u32,
    slow: Box<Slow>,
    /// A packet that finds the queue empty and the transmitter idle passes directly through.
    open: bool,
    /// A packet still in the queue may arrive before the first on the wire, so each departure needs an event.
    overtakes: bool,
    /// Middleboxes or a tunnel endpoint are at the far end.
    pub boxed: bool,
}

/// State accessed only by packets that wait, and by links with a shaper, errors or unsteady parts.
struct Slow {
    /// The row of the node at the near end.
    row_behind: u32,
    /// The node at the near end.
    from: u32,
    queue: Queue<Packet>,
    /// Time up to which departures have been replayed.
    clock: Time,
    rate: Option<Rate>,
    earlier: Transmitter,
    shaper: Option<Bucket>,
    /// A shaper of the link or the queue, or slots of bursts, may delay packets while the transmitter is free.
    shaped: bool,
    /// Packets leave in bursts.
    aggregates: bool,
    faults: Option<Box<Faults>>,
    unsteady: Option<Box<Unsteady>>,
    lost: Tally,
    boxes: Boxes,
    tunnel: Option<Box<Tunnel>>,
}

impl Link {
    /// Creates the idle links of `plan`. `seed` determines all their random streams.
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

    /// Creates an idle link without its middleboxes.
    pub fn new(plan: &LinkPlan, groups: &[String], seed: u64) -> Link {
        let stream = |what: &str| Rng::named(seed, &format!("link.{}.{what}", plan.name));
        let queue = Queue::new(&plan.queue, plan.context(), groups, stream("queue"));
        let slow = Slow {
            row_behind: 0,
            from: plan.from as u32,
            shaped: plan.shaper.is_some() || queue.is_shaped() || plan.changes.aggregation.is_some(),
            aggregates: plan.changes.aggregation.is_some(),
            queue,
            clock: Time::ZERO,
            rate: plan.rate,
            earlier: Transmitter::default(),
            shaper: plan.shaper.map(|shaper| Bucket::new(shaper.rate, shaper.burst)),
            faults: Faults::new(&plan.errors, stream).map(Box::new),
            unsteady: Unsteady::new(plan, stream).map(Box::new),
            lost: Tally::default(),
            boxes: Boxes::default(),
            tunnel: plan.tunnel.as_ref().map(Tunnel::new).map(Box::new),
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
                && slow.unsteady.is_none()
                && slow.tunnel.is_none(),
            overtakes: plan.jitter.is_some_and(|jitter| jitter.reorder),
            boxed: false,
            slow: Box::new(slow),
        }
    }

    /// Sets the rows of the nodes at the far and near end in [`crate::routes::Routes`].
    pub fn set_rows(&mut self, row: u32, row_behind: u32) {
        self.row = row;
        self.slow.row_behind = row_behind;
    }

    /// The row of the node at the near end.
    pub fn row_behind(&self) -> u32 {
        self.slow.row_behind
    }

    /// Returns whether a packet that arrives at `now` passes directly to the wire.
    #[inline(always)]
    pub fn is_clear(&self, now: Time) -> bool {
        self.open && self.waiting == 0 && self.free_at <= now
    }

    /// Enqueues `packet` on a link that [is clear](Link::is_clear).
    #[inline(always)]
    pub fn pass(&mut self, packet: Packet, now: Time) {
        self.count_passed(&packet);
        self.transmit(packet, now);
    }

    /// Enqueues `packet`.
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

    /// The node at the near end.
    pub fn from(&self) -> u32 {
        self.slow.from
    }

    /// Time at which the next packet reaches the far end; [`Time::NEVER`] if none is on the wire.
    #[inline(always)]
    pub fn first_arrival(&self) -> Time {
        self.wire.first()
    }

    /// Removes the next packet from the wire, which must not be empty.
    #[inline(always)]
    pub fn deliver(&mut self) -> Packet {
        self.delivered += 1;
        self.wire.pop()
    }

    /// Passes `packet`, which the link has [delivered](Link::deliver) at `now`, through the middleboxes.
    pub fn inspect(&mut self, packet: &mut Packet, now: Time, contents: &mut impl Inspect) -> Passage {
        self.slow.boxes.pass(packet, now, contents)
    }

    /// Number of the tunnel that the link belongs to.
    #[inline]
    pub fn tunnel(&self) -> Option<u32> {
        self.slow.tunnel.as_deref().map(Tunnel::number)
    }

    /// Encapsulates `packet` if the link belongs to a tunnel. Returns the codepoint of the inner header.
    pub fn encapsulate(&mut self, packet: &mut Packet) -> Ecn {
        self.slow.tunnel.as_mut().map_or(packet.ecn(), |tunnel| tunnel.encapsulate(packet))
    }

    /// `Tunnel::decapsulate` if the link belongs to a tunnel; otherwise `packet` is unchanged.
    pub fn decapsulate(&mut self, packet: &mut Packet, inner: Ecn) -> bool {
        self.slow.tunnel.as_mut().is_none_or(|tunnel| tunnel.decapsulate(packet, inner))
    }

    /// Counters of the tunnel endpoints at this link.
    pub fn tunnel_counters(&self) -> Option<TunnelCounters> {
        self.slow.tunnel.as_deref().map(Tunnel::counters)
    }

    /// Counters of each middlebox.
    pub fn box_counters(&self) -> Vec<BoxCounters> {
        self.slow.boxes.counters()
    }

    /// Returns whether the boxes received exactly the packets delivered by the link, less those dropped by preceding
    /// boxes.
    pub fn boxes_are_balanced(&self) -> bool {
        self.slow.boxes.are_balanced(self.delivered)
    }

    /// Returns whether departures up to and including `now` must be [replayed](Link::replay).
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
            if self.slow.aggregates {
                self.send_burst(start, watch);
            } else if let Some(packet) = self.slow.queue.dequeue(start, watch) {
                self.send(packet, start, watch);
            }
            self.waiting = self.slow.queue.packets() as u32;
        }
        self.slow.clock = now;
    }

    /// Moves a packet from the queue to the wire: shaper, errors, jitter.
    #[inline]
    fn send(&mut self, mut packet: Packet, start: Time, watch: &mut impl WatchWire) {
        if let Some(bucket) = &mut self.slow.shaper {
            bucket.spend(start, packet.wire_len());
        }
        let jolt = self.slow.unsteady.as_mut().map(|unsteady| unsteady.draw());
        if let Some(faults) = &mut self.slow.faults
            && !faults.lets_through(&mut packet)
        {
            self.occupy_unsteadily(packet.wire_len(), start);
            return self.lose(&packet, watch);
        }
        match jolt {
            Some(jolt) => self.transmit_unsteadily(packet, start, jolt, watch),
            None => self.transmit(packet, start),
        }
    }

    /// [`Link::transmit`] on an unsteady link, with the extra delay `jolt`.
    #[cold]
    fn transmit_unsteadily(&mut self, packet: Packet, start: Time, jolt: Dur, watch: &mut impl WatchWire) {
        self.occupy_unsteadily(packet.wire_len(), start);
        let (end, delay) = (self.free_at, self.delay);
        let Some(unsteady) = &mut self.slow.unsteady else { return };
        if unsteady.loses(start, end) {
            return self.lose(&packet, watch);
        }
        let at = unsteady.arrival(end, delay, jolt);
        self.wire.insert(at, packet);
    }

    /// [`Link::occupy`] on a link whose rate may change.
    #[cold]
    fn occupy_unsteadily(&mut self, len: u32, start: Time) {
        match self.slow.unsteady.as_mut().and_then(|unsteady| unsteady.end(start, len)) {
            Some(end) => self.free_at = end,
            None => self.occupy(len, start),
        }
    }

    /// Moves the packets of a burst that begins at `start` from the queue to the wire.
    #[cold]
    fn send_burst(&mut self, start: Time, watch: &mut impl WatchWire) {
        let Some(mut unsteady) = self.slow.unsteady.take() else { return };
        let from = unsteady.begin_burst(start);
        let (mut bytes, mut packets, mut last) = (0, Vec::new(), 0);
        while self.slow.queue.packets() > 0 {
            let next = self.slow.queue.head_len().unwrap_or(last);
            if bytes > 0 && !unsteady.fits(from, bytes + u64::from(next)) {
                break;
            }
            let Some(mut packet) = self.slow.queue.dequeue(start, watch) else { break };
            last = packet.wire_len();
            bytes += u64::from(last);
            if self.slow.faults.as_mut().is_none_or(|faults| faults.lets_through(&mut packet)) {
                packets.push(packet);
            } else {
                self.lose(&packet, watch);
            }
        }
        if bytes > 0 {
            let end = unsteady.burst_end(from, bytes);
            let (lost, at) = (unsteady.loses(from, end), unsteady.arrival(end, self.delay, Dur::ZERO));
            self.free_at = end;
            for packet in packets {
                if lost {
                    self.lose(&packet, watch);
                } else {
                    self.wire.insert(at, packet);
                }
            }
        }
        self.slow.unsteady = Some(unsteady);
    }

    /// Counts a packet that the wire loses.
    #[cold]
    fn lose(&mut self, packet: &Packet, watch: &mut impl WatchWire) {
        self.slow.lost += Tally { packets: 1, bytes: packet.wire_len().into() };
        watch.lost(packet);
    }

    #[inline(always)]
    fn transmit(&mut self, packet: Packet, start: Time) {
        self.occupy(packet.wire_len(), start);
        self.wire.push(self.free_at + self.delay, packet);
    }

    /// Occupies the transmitter with a packet of `len` bytes from `start`.
    #[inline(always)]
    fn occupy(&mut self, len: u32, start: Time) {
        if self.transmitter.len != len {
            self.change_length(len);
        }
        self.free_at = start + self.transmitter.time;
    }

    /// Few different lengths occur on a link: the last two are cached.
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

    /// Updates the queue's counters.
    #[cold]
    fn settle(&mut self) {
        let (group, ecn) = of_class(self.class);
        self.slow.queue.count_passed(group, ecn, std::mem::take(&mut self.passed));
    }

    /// Time of the link's next event: the first delivery or, with an empty wire or where packets overtake, the next
    /// departure.
    #[inline(always)]
    pub fn next_event(&self) -> Time {
        let first = self.wire.first();
        if self.waiting == 0 || (first < Time::NEVER && !self.overtakes) { first } else { first.min(self.next_start()) }
    }

    /// Time at which the queue, which must hold a packet, is polled: when the transmitter is free and shapers permit.
    #[inline(always)]
    fn next_start(&self) -> Time {
        let free = self.free_at.max(self.slow.clock);
        if self.slow.shaped { self.next_shaped(free) } else { free }
    }

    /// The same with shapers. If several queues have a head, the bucket may need to lend the difference to a longer
    /// one.
    #[inline(never)]
    fn next_shaped(&self, free: Time) -> Time {
        let free = free.max(self.slow.queue.ready());
        let free = self.slow.unsteady.as_ref().map_or(free, |unsteady| unsteady.slot(free));
        let Some(bucket) = &self.slow.shaper else { return free };
        self.slow.queue.head_len().map_or(free, |len| bucket.ready(len).max(free))
    }

    /// Updates the link, its counters and its statistics up to `now`.
    pub fn observe(&mut self, now: Time, watch: &mut impl WatchWire) {
        self.replay(now, watch);
        self.settle();
        self.slow.queue.observe(now);
    }

    /// The queue, as of the last observation.
    pub fn queue(&self) -> &Queue<Packet> {
        &self.slow.queue
    }

    /// Returns the queue's statistics up to `now` and resets them.
    pub fn cut_stats(&mut self, now: Time) -> Stats {
        self.settle();
        self.slow.queue.cut_stats(now)
    }

    /// As [`Queue::sample_departures`].
    pub fn sample_departures(&mut self) -> Departures {
        self.slow.queue.sample_departures()
    }

    /// Returns the counts of the queue's classes since the start and their statistics since the last call; `whole` are
    /// the queue's statistics, just [cut](Link::cut_stats).
    pub fn cut_classes(&mut self, whole: &Stats) -> Vec<ClassReading> {
        self.slow.queue.cut_classes(whole)
    }

    /// Packets on the wire, including the one in transmission.
    pub fn on_wire(&self) -> u64 {
        self.wire.len() as u64
    }

    /// Counters of the wire, as of the last observation.
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

/// Cached transmission time of packets of one length, since 128-bit division is slow.
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
