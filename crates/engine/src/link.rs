//! A link: a queue, a transmitter, and the packets on the wire.
//!
//! A work-conserving transmitter of fixed rate needs no event of its own: when a packet leaves the
//! queue is known from the departures before it. [`Link::advance`] replays, up to any instant, every
//! departure that has happened, at its exact time. So a link has one event pending, the arrival of
//! the first packet on the wire at the far end, whatever its queue discipline.

use ecnlab_aqm::{LinkContext, Queue, Watch};
use ecnlab_base::{Dur, Rate, Rng, Time};

use crate::faults::Faults;
use crate::packet::Packet;
use crate::plan::{LinkPlan, Shaper};
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
    /// `packet` came to the queue, which has not yet decided about it.
    fn arrived(&mut self, _packet: &Packet) {}
    /// The error model took `packet`.
    fn lost(&mut self, _packet: &Packet) {}
    /// `packet` reached the far end.
    fn delivered(&mut self, _packet: &Packet) {}
}

impl WatchWire for () {}

/// One direction of a link.
///
/// In memory as it stands here: there are many links, and most packets pass one whose queue is empty.
/// Those touch the fields down to the first of the queue, and nothing of the 500 bytes behind.
#[repr(C)]
pub struct Link {
    /// The time of the pending event, [`Time::NEVER`] if there is none.
    pub armed: Time,
    /// When the transmitter is free again.
    free_at: Time,
    /// Up to when departures have been replayed.
    clock: Time,
    delay: Dur,
    transmitter: Transmitter,
    wire: Wire,
    counters: Counters,
    shaper: Option<Box<Bucket>>,
    faults: Option<Box<Faults>>,
    /// The row of the node at the far end in [`crate::routes::Routes`].
    pub row: u32,
    queue: Queue<Packet>,
}

impl Link {
    /// An idle link.
    pub fn new(plan: &LinkPlan, groups: usize, seed: u64) -> Link {
        let rate = plan.drain_rate().unwrap_or(Rate::from_bps(u64::MAX));
        let context = LinkContext { rate, delay: plan.delay };
        let stream = |what: &str| Rng::named(seed, &format!("link.{}.{what}", plan.name));
        Link {
            armed: Time::NEVER,
            free_at: Time::ZERO,
            clock: Time::ZERO,
            delay: plan.delay,
            transmitter: Transmitter::new(plan.rate),
            wire: Wire::new(),
            counters: Counters::default(),
            shaper: plan.shaper.map(|shaper| Box::new(Bucket::new(shaper))),
            faults: Faults::new(&plan.errors, stream("faults")),
            row: 0,
            queue: Queue::new(&plan.queue, context, groups, stream("queue")),
        }
    }

    /// `packet` arrives at the queue; it may be marked on its way in.
    #[inline(always)]
    pub fn offer(&mut self, packet: &mut Packet, now: Time, watch: &mut impl WatchWire) {
        watch.at(now);
        watch.arrived(packet);
        if !self.is_idle(now) {
            return self.enqueue(packet, now, watch);
        }
        self.clock = now;
        if self.queue.passes(packet, now, watch) {
            self.transmit(packet, now, watch);
        }
    }

    #[inline(never)]
    fn enqueue(&mut self, packet: &Packet, now: Time, watch: &mut impl WatchWire) {
        self.advance(now, watch);
        watch.at(now);
        self.queue.enqueue(*packet, now, watch);
        self.advance(now, watch);
    }

    /// The next packet that has reached the far end by `now`.
    #[inline(always)]
    pub fn take_delivered(&mut self, now: Time, watch: &mut impl WatchWire) -> Option<Packet> {
        let at = self.wire.first();
        let packet = self.wire.pop(now)?;
        self.counters.delivered += 1;
        self.counters.delivered_bytes += u64::from(packet.segment.wire_len);
        watch.at(at);
        watch.delivered(&packet);
        Some(packet)
    }

    /// Replays every departure up to and including `now`.
    #[inline]
    pub fn advance(&mut self, now: Time, watch: &mut impl WatchWire) {
        if self.queue.packets() > 0 && self.free_at <= now {
            self.replay(now, watch);
        }
        self.clock = now;
    }

    #[inline(never)]
    fn replay(&mut self, now: Time, watch: &mut impl WatchWire) {
        while let Some(start) = self.next_start() {
            if start > now {
                break;
            }
            self.clock = start;
            watch.at(start);
            if let Some(mut packet) = self.queue.dequeue(start, watch) {
                self.transmit(&mut packet, start, watch);
            }
        }
    }

    /// When the link next needs the engine: at the first delivery, or, with the wire empty, when the
    /// shaper lets the next packet go.
    #[inline]
    pub fn next_event(&self) -> Time {
        if self.wire.len() > 0 || self.queue.packets() == 0 {
            return self.wire.first();
        }
        self.next_start().unwrap_or(Time::NEVER)
    }

    /// When the packet at the head of the queue goes, if nothing else arrives.
    #[inline]
    fn next_start(&self) -> Option<Time> {
        let len = self.queue.head_len()?;
        let free = self.free_at.max(self.clock);
        Some(self.shaper.as_ref().map_or(free, |bucket| bucket.ready(len).max(free)))
    }

    /// Whether a packet that arrives at `now` goes at once, with nothing before it.
    #[inline]
    fn is_idle(&self, now: Time) -> bool {
        self.queue.packets() == 0 && self.free_at <= now && self.shaper.is_none()
    }

    /// `packet` leaves the queue for the wire.
    #[inline(always)]
    fn transmit(&mut self, packet: &mut Packet, start: Time, watch: &mut impl WatchWire) {
        let len = packet.segment.wire_len;
        self.free_at = start + self.transmitter.time_for(len);
        if let Some(bucket) = &mut self.shaper {
            bucket.spend(start, len);
        }
        self.counters.sent_bytes += u64::from(len);
        if let Some(faults) = &mut self.faults
            && !faults.lets_through(packet)
        {
            self.counters.lost += 1;
            watch.lost(packet);
            return;
        }
        self.wire.push(self.free_at + self.delay, packet);
    }

    /// The queue in front of the wire.
    pub fn queue(&self) -> &Queue<Packet> {
        &self.queue
    }
    /// The queue, to bring its statistics up to date after [`Link::advance`].
    pub fn queue_mut(&mut self) -> &mut Queue<Packet> {
        &mut self.queue
    }
    /// Packets on the wire, the one in transmission included.
    pub fn on_wire(&self) -> u64 {
        self.wire.len() as u64
    }
    /// What crossed the wire.
    pub fn counters(&self) -> Counters {
        self.counters
    }
}

/// Serialisation times. The sizes on a link are few, and a 128-bit division is dear.
struct Transmitter {
    rate: Option<Rate>,
    recent: [(u32, Dur); 2],
}

impl Transmitter {
    fn new(rate: Option<Rate>) -> Transmitter {
        Transmitter { rate, recent: [(0, Dur::ZERO); 2] }
    }

    #[inline]
    fn time_for(&mut self, len: u32) -> Dur {
        if self.recent[0].0 != len {
            self.bring_to_front(len);
        }
        self.recent[0].1
    }

    #[inline(never)]
    fn bring_to_front(&mut self, len: u32) {
        self.recent.swap(0, 1);
        if self.recent[0].0 != len {
            let time = self.rate.map_or(Dur::ZERO, |r| r.time_for(u64::from(len)));
            self.recent[0] = (len, time);
        }
    }
}

/// A token bucket that counts in time: `full_at` is when the bucket will be full again.
struct Bucket {
    shaper: Shaper,
    /// How long the bucket takes to fill from empty.
    depth: Dur,
    full_at: Time,
}

impl Bucket {
    fn new(shaper: Shaper) -> Bucket {
        Bucket { shaper, depth: shaper.rate.time_for(shaper.burst.0), full_at: Time::ZERO }
    }

    /// When `len` bytes may go: when the bucket holds that many. A packet larger than the bucket goes
    /// when it is full.
    #[inline(never)]
    fn ready(&self, len: u32) -> Time {
        let need = self.shaper.rate.time_for(u64::from(len)).min(self.depth);
        Time::from_ps(self.full_at.ps().saturating_sub((self.depth - need).ps()))
    }

    #[inline(never)]
    fn spend(&mut self, now: Time, len: u32) {
        self.full_at = self.full_at.max(now) + self.shaper.rate.time_for(u64::from(len));
    }
}
