//! The queue: a FIFO that asks its law and acts on the verdict.

use std::collections::VecDeque;

use ecnlab_base::{Dur, Length, Rate, Rng, Time};
use ecnlab_wire::{Ecn, QuenchCause};

use crate::registry::Law;
use crate::stats::Gauge;
use crate::{
    Admit, Common, Config, Counters, DropReason, Forced, Full, Item, LinkContext, MarkAt, Owed, PacketView, Stats,
    Tally, Verdict, View, Watch,
};

/// A link's queue.
///
/// The packet in transmission is not in it: the engine dequeues when transmission starts. Each call's
/// `now` must be at least the previous one's.
#[derive(Clone, Debug)]
pub struct Queue<P> {
    is_open: bool,
    /// Packets that passed an open queue since the statistics were last cut; their sojourns are nothing.
    passed: u64,
    counters: Counters,
    state: State<P>,
    common: Common,
    rate: Rate,
    law: Law,
    rng: Rng,
    gauge: Gauge,
    /// Source quenches that the last arrival gave rise to.
    owed: VecDeque<Owed<P>>,
}

#[derive(Clone, Debug)]
struct State<P> {
    ring: VecDeque<Held<P>>,
    bytes: u64,
    /// Until when the last packet that left is in transmission.
    busy_until: Time,
    /// Its length and how long that takes: the next one is often as long, and a division is dear.
    transmission: (u32, Dur),
    tick: Dur,
    next_tick: Time,
}

#[derive(Clone, Copy, Debug)]
struct Held<P> {
    since: Time,
    packet: P,
}

impl<P> State<P> {
    /// A packet of `len` bytes begins its transmission.
    #[inline]
    fn sent(&mut self, len: u32, now: Time, rate: Rate) {
        if self.transmission.0 != len {
            self.transmission = (len, rate.time_for(u64::from(len)));
        }
        self.busy_until = now.saturating_add(self.transmission.1);
    }
}

impl<P: Item> Queue<P> {
    /// An empty queue at time zero, feeding `link`, counting `groups` flow groups. `config` has passed
    /// [`Config::check`]. All chance of the queue and its law comes from `rng`.
    pub fn new(config: &Config, link: LinkContext, groups: usize, rng: Rng) -> Queue<P> {
        let law = Law::new(&config.params, link);
        let tick = law.tick();
        Queue {
            is_open: law.is_indifferent() && matches!(config.common.limit, Length::Packets(_)),
            passed: 0,
            counters: Counters::new(groups),
            state: State {
                ring: VecDeque::new(),
                bytes: 0,
                busy_until: Time::ZERO,
                transmission: (0, Dur::ZERO),
                tick: tick.unwrap_or(Dur::MAX),
                next_tick: tick.map_or(Time::NEVER, |t| Time::ZERO + t),
            },
            common: config.common,
            rate: link.rate,
            law,
            rng,
            gauge: Gauge::new(),
            owed: VecDeque::new(),
        }
    }

    /// `packet` arrives: it is let in, marked or dropped, or another makes room for it.
    pub fn enqueue(&mut self, mut packet: P, now: Time, watch: &mut impl Watch<P>) {
        if self.admits(&mut packet, now, watch) {
            self.state.bytes += u64::from(packet.wire_len());
            self.state.ring.push_back(Held { since: now, packet });
            watch.enqueued(&packet);
        }
    }

    /// The next packet, at the start of its transmission; packets that the law drops here go before it.
    pub fn dequeue(&mut self, now: Time, watch: &mut impl Watch<P>) -> Option<P> {
        self.observe(now);
        loop {
            let Held { since, mut packet } = self.pop()?;
            if self.releases(&mut packet, now.since(since), now, watch) {
                return Some(packet);
            }
        }
    }

    /// Whether any packet goes straight through while the queue is empty and the transmitter idle:
    /// the law is indifferent, and there is room for one. Such a packet need not be shown to the
    /// queue; it is reported by [`Queue::count_passed`].
    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Counts packets of one group, all ECN-capable or none, that went straight through an open queue.
    /// They stand in the counters and statistics as ones that entered and left at the same instant.
    pub fn count_passed(&mut self, group: usize, capable: bool, packets: Tally) {
        let kind = self.counters.kind(group, capable);
        kind.arrived += packets;
        kind.departed += packets;
        self.passed += packets.packets;
    }

    /// Whether the arriving `packet` may enter, marked if it must be. If not, it has been dropped.
    #[inline]
    fn admits(&mut self, packet: &mut P, now: Time, watch: &mut impl Watch<P>) -> bool {
        self.observe(now);
        self.counters.kind(packet.group(), packet.ecn().is_capable()).arrived(packet.wire_len());
        let view = self.view(now);
        let signal = match self.law.on_enqueue(&self.seen(packet, Dur::ZERO), &view, now, &mut self.rng) {
            Verdict::Pass => false,
            Verdict::Signal if self.can_mark(packet) => true,
            Verdict::Signal | Verdict::SignalByDrop => {
                self.drop(packet, DropReason::Early, watch);
                return false;
            }
            Verdict::Drop => {
                if self.force(packet, watch) {
                    return false;
                }
                false
            }
        };
        if !self.make_room(packet, watch) {
            return false;
        }
        if signal {
            self.mark(packet, watch);
        }
        true
    }

    /// Whether `packet`, just taken out after `sojourn`, may go, marked if it must be. If not, it has been dropped.
    #[inline]
    fn releases(&mut self, packet: &mut P, sojourn: Dur, now: Time, watch: &mut impl Watch<P>) -> bool {
        let view = self.view(now);
        match self.law.on_dequeue(&self.seen(packet, sojourn), &view, now, &mut self.rng) {
            Verdict::Pass => {}
            Verdict::Signal if self.can_mark(packet) => self.mark_this(packet, watch),
            Verdict::Signal | Verdict::SignalByDrop => {
                self.drop(packet, DropReason::Early, watch);
                return false;
            }
            Verdict::Drop => {
                self.drop(packet, DropReason::Forced, watch);
                return false;
            }
        }
        self.gauge.departed(sojourn);
        self.counters.kind(packet.group(), packet.ecn().is_capable()).departed(packet.wire_len());
        self.state.sent(packet.wire_len(), now, self.rate);
        watch.dequeued(packet);
        true
    }

    /// Brings ticks and statistics up to `now`.
    #[inline]
    pub fn observe(&mut self, now: Time) {
        while self.state.next_tick <= now {
            let at = self.state.next_tick;
            self.gather(at);
            let view = self.view(at);
            self.law.on_tick(&view);
            self.state.next_tick = at.saturating_add(self.state.tick);
        }
        self.gather(now);
    }

    /// The statistics since the start or the last cut, up to `now`, and a new beginning. Those of a
    /// whole run are its parts put together by [`Stats::plus`].
    pub fn cut_stats(&mut self, now: Time) -> Stats {
        self.observe(now);
        let (columns, integrals) = (self.law.columns().means, self.law.cut());
        self.gauge.cut(std::mem::take(&mut self.passed), columns, integrals)
    }

    /// Whether source quenches are ever to be expected.
    pub fn speaks_back(&self) -> bool {
        self.law.speaks_back()
    }
    /// Whether the last arrival left source quenches to send.
    #[inline(always)]
    pub fn owes(&self) -> bool {
        !self.owed.is_empty()
    }
    /// Hands over the first of them.
    pub fn take_owed(&mut self) -> Option<Owed<P>> {
        self.owed.pop_front()
    }

    /// What was counted since the start.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }
    /// The length on the wire of the packet at the head.
    pub fn head_len(&self) -> Option<u32> {
        self.state.ring.front().map(|held| held.packet.wire_len())
    }
    /// Packets held.
    pub fn packets(&self) -> usize {
        self.state.ring.len()
    }
    /// Bytes held.
    pub const fn bytes(&self) -> u64 {
        self.state.bytes
    }
    /// What the law has now in its column `name`, if it has one of this name.
    pub fn value(&self, name: &str) -> Option<f64> {
        let columns = self.law.columns().values.iter();
        columns.zip(self.law.values()).find(|(column, _)| column.name == name).map(|(_, value)| value)
    }
    /// Whether arrived = departed + dropped + held, in packets and in bytes.
    pub fn is_balanced(&self) -> bool {
        let held = self.state.ring.iter().fold(Tally::default(), |sum, held| Tally {
            packets: sum.packets + 1,
            bytes: sum.bytes + u64::from(held.packet.wire_len()),
        });
        self.counters.total().all().held() == held && held.bytes == self.state.bytes
    }

    fn view(&self, now: Time) -> View {
        View { packets: self.state.ring.len() as u64, bytes: self.state.bytes, idle: self.idle(now) }
    }

    #[inline]
    fn seen(&self, packet: &P, sojourn: Dur) -> PacketView {
        PacketView {
            size: packet.wire_len(),
            ecn: packet.ecn(),
            dscp: packet.dscp(),
            flow: packet.flow_key(),
            can_mark: self.can_mark(packet),
            sojourn,
        }
    }

    fn idle(&self, now: Time) -> Option<Dur> {
        let idle = self.state.ring.is_empty() && now >= self.state.busy_until;
        idle.then(|| now.since(self.state.busy_until))
    }

    fn gather(&mut self, now: Time) {
        let elapsed = self.gauge.observe(now, self.state.ring.len() as u64, self.state.bytes);
        if !elapsed.is_zero() {
            self.law.elapsed(elapsed);
        }
    }

    fn pop(&mut self) -> Option<Held<P>> {
        let held = self.state.ring.pop_front()?;
        self.state.bytes -= u64::from(held.packet.wire_len());
        Some(held)
    }

    fn drop(&mut self, packet: &P, why: DropReason, watch: &mut impl Watch<P>) {
        self.counters.kind(packet.group(), packet.ecn().is_capable()).drop(packet.wire_len(), why);
        watch.dropped(packet, why);
        if packet.ecn().is_capable() {
            self.speak_back(packet, QuenchCause::Dropped);
        }
    }

    fn can_mark(&self, packet: &P) -> bool {
        self.common.ecn && packet.ecn().is_capable()
    }

    /// Gives the mark of the arriving `packet` to whom [`MarkAt`] names.
    fn mark(&mut self, packet: &mut P, watch: &mut impl Watch<P>) {
        if self.common.mark_at == MarkAt::Front
            && let Some(mut head) = self.state.ring.front().copied()
            && matches!(head.packet.ecn(), Ecn::Ect0 | Ecn::Ect1)
        {
            self.mark_this(&mut head.packet, watch);
            self.state.ring[0] = head;
        } else {
            self.mark_this(packet, watch);
        }
    }

    fn mark_this(&mut self, packet: &mut P, watch: &mut impl Watch<P>) {
        if packet.ecn() != Ecn::Ce {
            self.speak_back(packet, QuenchCause::Marked);
        }
        packet.mark();
        self.counters.kind(packet.group(), packet.ecn().is_capable()).marked(packet.wire_len());
        watch.marked(packet);
    }

    /// The effect on the way back of a mark or a drop, if the law speaks back.
    fn speak_back(&mut self, packet: &P, cause: QuenchCause) {
        if let Some(wire_len) = self.law.quench() {
            self.counters.kind(packet.group(), packet.ecn().is_capable()).quenched();
            self.owed.push_back(Owed { packet: *packet, cause, wire_len });
        }
    }

    /// Carries out a forced drop. Whether it took the arriving packet.
    fn force(&mut self, packet: &P, watch: &mut impl Watch<P>) -> bool {
        match self.common.forced {
            Forced::Arriving => {
                self.drop(packet, DropReason::Forced, watch);
                true
            }
            Forced::Full => self.evict(packet, DropReason::Forced, watch),
        }
    }

    /// Makes room for the arriving packet. Whether it may enter; if not, it has been dropped.
    fn make_room(&mut self, packet: &P, watch: &mut impl Watch<P>) -> bool {
        if self.has_room(packet) {
            return true;
        }
        self.law.on_full();
        while !self.has_room(packet) {
            if self.evict(packet, DropReason::Tail, watch) {
                return false;
            }
        }
        true
    }

    #[inline]
    fn has_room(&self, packet: &P) -> bool {
        let (held, added, limit) = match self.common.limit {
            Length::Packets(limit) => (self.state.ring.len() as u64, 1, limit),
            Length::Bytes(limit) => (self.state.bytes, u64::from(packet.wire_len()), limit),
        };
        match self.common.admit {
            Admit::Fits => (held + added) as f64 <= limit,
            Admit::Below => (held as f64) < limit,
        }
    }

    /// Drops whom [`Full`] names of those held and the arriving packet. Whether that was the latter.
    fn evict(&mut self, arriving: &P, why: DropReason, watch: &mut impl Watch<P>) -> bool {
        let held = self.state.ring.len();
        let victim = match self.common.full {
            Full::Tail => held,
            Full::Random => self.rng.below(held as u64 + 1) as usize,
            Full::Front => 0,
        };
        // An index past those held is the arriving packet's own.
        let Some(Held { packet, .. }) = self.state.ring.remove(victim) else {
            self.drop(arriving, why, watch);
            return true;
        };
        self.state.bytes -= u64::from(packet.wire_len());
        self.drop(&packet, why, watch);
        false
    }
}
