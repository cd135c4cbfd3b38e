//! A FIFO with its law: either the whole queue, or a leaf of a tree of queues.

use std::collections::VecDeque;

use ecnlab_base::{Dur, Rate, Time, coverage_mark};
use ecnlab_wire::Ecn;

use crate::machine::books::Books;
use crate::machine::room::Room;
use crate::record::stats::Gauge;
use crate::registry::Law;
use crate::{
    Aqm, Common, Config, DropReason, Forced, Full, Item, LinkContext, MarkAt, MarkReason, PacketView, Stats, Tally,
    Verdict, View, Watch,
};

/// A FIFO that calls its law and executes the verdict.
#[derive(Debug)]
pub(crate) struct Fifo<P> {
    ring: VecDeque<Held<P>>,
    bytes: u64,
    /// End of the transmission of the last departed packet.
    busy_until: Time,
    /// Cached length and transmission time: the next packet often has the same length, and a division is slow.
    transmission: (u32, Dur),
    tick: Dur,
    next_tick: Time,
    common: Common,
    room: Room,
    rate: Rate,
    law: Law,
    /// The law is called on every departure.
    judges_departures: bool,
    gauge: Gauge,
    /// Whether the law has already released the head, which waits for a shaper.
    judged: bool,
    /// Number of times that the link had found all queues empty at the last arrival.
    idles: u64,
}

/// A packet in a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held<P> {
    /// Arrival time.
    pub since: Time,
    /// The packet.
    pub packet: P,
}

/// Result of polling a queue for a packet or for its head.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dequeued<T> {
    /// The packet that leaves; of one that stays at the head its length.
    Gone(T),
    /// The law dropped a packet of this many bytes. There may be others.
    Dropped(u32),
    /// No packet may leave now.
    Empty,
}

impl<T> Dequeued<T> {
    /// Repeats the poll after each drop.
    #[inline(always)]
    pub fn past_drops(mut ask: impl FnMut() -> Dequeued<T>) -> Option<T> {
        loop {
            match ask() {
                Dequeued::Gone(gone) => return Some(gone),
                Dequeued::Dropped(_) => {}
                Dequeued::Empty => return None,
            }
        }
    }
}

impl<T> From<Option<T>> for Dequeued<T> {
    fn from(gone: Option<T>) -> Dequeued<T> {
        gone.map_or(Dequeued::Empty, Dequeued::Gone)
    }
}

impl<P: Item> Fifo<P> {
    /// Creates an empty FIFO at time zero, feeding `link`, with its law and the common keys in `config`.
    pub fn new(law: Law, config: &Config, link: LinkContext) -> Fifo<P> {
        let tick = law.tick();
        Fifo {
            ring: VecDeque::new(),
            bytes: 0,
            busy_until: Time::ZERO,
            transmission: (0, Dur::ZERO),
            tick: tick.unwrap_or(Dur::MAX),
            next_tick: law.first_tick().map_or(Time::NEVER, |first| Time::ZERO + first),
            common: config.common,
            room: Room::of(&config.common),
            rate: link.rate,
            judges_departures: law.judges_departures(),
            law,
            gauge: Gauge::new(config.common.quantiles),
            judged: false,
            idles: 0,
        }
    }

    /// Handles an arriving `packet`: it is admitted, marked or dropped, or another packet is dropped to make room.
    #[inline(always)]
    pub fn enqueue<W: Watch<P> + ?Sized>(&mut self, mut packet: P, now: Time, books: &mut Books, watch: &mut W) {
        if self.admits(&mut packet, now, books, watch) {
            self.bytes += u64::from(packet.wire_len());
            self.ring.push_back(Held { since: now, packet });
            books.took_in(&packet);
            watch.enqueued(&packet);
        }
    }

    /// Takes out the packet at the head. The law lets it go, marked if it must be, or drops it, unless it has let it go
    /// already ([`Fifo::peek`]). If the packet leaves, [`Fifo::went`] is to be called.
    #[inline(always)]
    pub fn dequeue<W: Watch<P> + ?Sized>(&mut self, now: Time, books: &mut Books, watch: &mut W) -> Dequeued<Held<P>> {
        self.observe(now, books);
        let Some(Held { since, mut packet }) = self.pop(books) else {
            self.law.on_empty();
            return Dequeued::Empty;
        };
        let judged = std::mem::take(&mut self.judged);
        if judged || self.releases(&mut packet, now.since(since), now, books, watch) {
            Dequeued::Gone(Held { since, packet })
        } else {
            Dequeued::Dropped(packet.wire_len())
        }
    }

    /// Like [`Fifo::dequeue`] of an empty FIFO.
    pub fn found_empty(&mut self, now: Time, books: &Books) {
        self.observe(now, books);
        self.law.on_empty();
    }

    /// Like [`Fifo::dequeue`], but the packet stays at the head because nothing can leave yet.
    pub fn peek<W: Watch<P> + ?Sized>(&mut self, now: Time, books: &mut Books, watch: &mut W) -> Dequeued<u32> {
        match self.dequeue(now, books, watch) {
            Dequeued::Gone(held) => {
                self.put_back(held, books);
                self.judged = true;
                Dequeued::Gone(held.packet.wire_len())
            }
            Dequeued::Dropped(len) => Dequeued::Dropped(len),
            Dequeued::Empty => Dequeued::Empty,
        }
    }

    /// As [`Aqm::among`].
    pub fn among(&mut self, flows: u32) {
        self.law.among(flows);
    }

    /// Passes a dequeued packet to the wire.
    #[inline]
    pub fn went(&mut self, held: &Held<P>, now: Time) {
        self.gauge.departed(now.since(held.since), held.packet.group());
        self.sent(held.packet.wire_len(), now);
    }

    /// Whether the arriving `packet` may enter, marked if it must be. If not, it has been dropped.
    #[inline]
    fn admits<W: Watch<P> + ?Sized>(&mut self, packet: &mut P, now: Time, books: &mut Books, watch: &mut W) -> bool {
        self.observe(now, books);
        let view = self.view(now, books);
        self.idles = books.idles;
        let seen = PacketView::of(packet, self.common.ecn, Dur::ZERO);
        let verdict = match self.law.on_enqueue(&seen, &view, now, &mut books.rng) {
            Verdict::Compare if self.drops_pair(packet, books, watch) => return false,
            Verdict::Compare => self.law.on_unlike(&seen, &view, &mut books.rng),
            verdict => verdict,
        };
        let mark = match verdict {
            Verdict::Pass | Verdict::Compare => None,
            Verdict::MarkIfCapable => packet.ecn().is_capable().then_some(MarkReason::Threshold),
            Verdict::Signal if seen.can_mark => Some(MarkReason::Law),
            Verdict::Signal | Verdict::SignalByDrop => {
                coverage_mark!("fifo.early_drop_on_arrival");
                books.drop(packet, DropReason::Early, Some(&self.law), watch);
                return false;
            }
            Verdict::Drop => {
                if self.force(packet, books, watch) {
                    return false;
                }
                None
            }
        };
        if !self.has_room(packet) && !self.make_room(packet, books, watch) {
            return false;
        }
        if let Some(why) = mark {
            self.mark(packet, why, books, watch);
        }
        true
    }

    /// Whether `packet`, just taken out after `sojourn`, may go, marked if it must be. If not, it has been dropped.
    #[inline]
    fn releases<W: Watch<P> + ?Sized>(
        &mut self,
        packet: &mut P,
        sojourn: Dur,
        now: Time,
        books: &mut Books,
        watch: &mut W,
    ) -> bool {
        if !self.judges_departures {
            return true;
        }
        let view = self.view(now, books);
        let seen = PacketView::of(packet, self.common.ecn, sojourn);
        let why = match self.law.on_dequeue(&seen, &view, now, &mut books.rng) {
            Verdict::Pass | Verdict::Compare => return true,
            Verdict::Signal if seen.can_mark => {
                books.mark(packet, MarkReason::Law, &self.law, watch);
                return true;
            }
            Verdict::MarkIfCapable => {
                if packet.ecn().is_capable() {
                    books.mark(packet, MarkReason::Threshold, &self.law, watch);
                }
                return true;
            }
            Verdict::Signal | Verdict::SignalByDrop => {
                coverage_mark!("fifo.early_drop_on_departure");
                DropReason::Early
            }
            Verdict::Drop => {
                coverage_mark!("fifo.forced_drop_on_departure");
                DropReason::Forced
            }
        };
        books.drop(packet, why, Some(&self.law), watch);
        false
    }

    /// Updates ticks and statistics to `now`.
    #[inline(always)]
    pub fn observe(&mut self, now: Time, books: &Books) {
        if self.next_tick <= now {
            self.tick_until(now, books);
        }
        self.gather(now);
    }

    #[inline(never)]
    fn tick_until(&mut self, now: Time, books: &Books) {
        while self.next_tick <= now {
            let at = self.next_tick;
            self.gather(at);
            let view = self.view(at, books);
            self.law.on_tick(&view);
            self.next_tick = at.saturating_add(self.tick);
        }
    }

    /// Returns the statistics up to the last [`Fifo::observe`], including `passed` additional departures, and resets
    /// them.
    pub fn cut_stats(&mut self, passed: u64) -> Stats {
        let (columns, integrals) = (self.law.columns().means, self.law.cut());
        self.gauge.cut(passed, columns, integrals)
    }

    /// As [`Gauge::stats`].
    pub const fn stats(&self) -> &Stats {
        self.gauge.stats()
    }

    /// As [`Gauge::stop`]. Ticks and the integrals of the law continue.
    pub fn stop_statistics(&mut self) {
        self.gauge.stop();
    }

    /// As [`Gauge::distinguish_groups`].
    pub fn distinguish_groups(&mut self, groups: usize) {
        self.gauge.distinguish_groups(groups);
    }

    /// The law.
    pub const fn law(&self) -> &Law {
        &self.law
    }
    /// Current value of the law's column `name`, if it has one.
    pub fn value(&self, name: &str) -> Option<f64> {
        let place = self.law.columns().values.iter().position(|column| column.name == name)?;
        self.law.values().get(place).copied()
    }
    /// Whether it holds no packet.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }
    /// The packet at the head.
    #[inline]
    pub fn head(&self) -> Option<&Held<P>> {
        self.ring.front()
    }
    /// Packets and bytes held.
    pub fn held(&self) -> Tally {
        Tally { packets: self.ring.len() as u64, bytes: self.bytes }
    }
    /// Packets and bytes held, counted one by one.
    pub fn counted(&self) -> Tally {
        self.ring.iter().fold(Tally::default(), |sum, held| Tally {
            packets: sum.packets + 1,
            bytes: sum.bytes + u64::from(held.packet.wire_len()),
        })
    }

    fn view(&self, now: Time, books: &Books) -> View {
        let in_all = books.flows.unwrap_or(self.bytes);
        let idle = self.idle(now);
        let polled = idle.is_some() && books.held.packets == 0 && now >= books.busy_until || self.idles != books.idles;
        View { packets: self.ring.len() as u64, bytes: self.bytes, in_all, idle, polled }
    }

    fn idle(&self, now: Time) -> Option<Dur> {
        let idle = self.ring.is_empty() && now >= self.busy_until;
        idle.then(|| now.since(self.busy_until))
    }

    fn gather(&mut self, now: Time) {
        let elapsed = self.gauge.observe(now, self.ring.len() as u64, self.bytes);
        if !elapsed.is_zero() {
            self.law.elapsed(elapsed);
        }
    }

    /// Starts the transmission of a packet of `len` bytes.
    #[inline]
    fn sent(&mut self, len: u32, now: Time) {
        if self.transmission.0 != len {
            self.transmission = (len, self.rate.time_for(u64::from(len)));
        }
        self.busy_until = now.saturating_add(self.transmission.1);
    }

    fn pop(&mut self, books: &mut Books) -> Option<Held<P>> {
        let held = self.ring.pop_front()?;
        self.bytes -= u64::from(held.packet.wire_len());
        books.took_out(&held.packet);
        Some(held)
    }

    /// Marks the packet selected by [`MarkAt`] for the arriving `packet`.
    fn mark<W: Watch<P> + ?Sized>(&mut self, packet: &mut P, why: MarkReason, books: &mut Books, watch: &mut W) {
        if self.common.mark_at == MarkAt::Front
            && let Some(mut head) = self.ring.front().copied()
            && matches!(head.packet.ecn(), Ecn::Ect0 | Ecn::Ect1)
        {
            coverage_mark!("fifo.mark_at_front");
            books.mark(&mut head.packet, why, &self.law, watch);
            self.ring[0] = head;
        } else {
            books.mark(packet, why, &self.law, watch);
        }
    }

    fn put_back(&mut self, held: Held<P>, books: &mut Books) {
        self.bytes += u64::from(held.packet.wire_len());
        books.took_in(&held.packet);
        self.ring.push_front(held);
    }

    /// Packets available to [`Fifo::shed`]: all except one that the law has already released.
    pub fn droppable(&self) -> Tally {
        let judged =
            self.head().filter(|_| self.judged).map(|held| Tally { packets: 1, bytes: held.packet.wire_len().into() });
        self.held() - judged.unwrap_or_default()
    }

    /// Drops from the head, so that others have room: up to `most` packets, or half the bytes held. A packet that the law has
    /// let go, and that waits for a shaper, stays.
    pub fn shed<W: Watch<P> + ?Sized>(&mut self, most: u32, now: Time, books: &mut Books, watch: &mut W) {
        self.observe(now, books);
        coverage_mark!("fifo.shed");
        let judged = if self.judged { self.pop(books) } else { None };
        let (half, mut bytes, mut packets) = (self.bytes / 2, 0, 0);
        while let Some(Held { packet, .. }) = self.pop(books) {
            books.drop(&packet, DropReason::Tail, Some(&self.law), watch);
            bytes += u64::from(packet.wire_len());
            packets += 1;
            if packets >= most || bytes >= half {
                break;
            }
        }
        self.law.on_shed(packets);
        judged.into_iter().for_each(|held| self.put_back(held, books));
    }

    /// Executes a forced drop. Returns whether the arriving packet was dropped.
    fn force<W: Watch<P> + ?Sized>(&mut self, packet: &P, books: &mut Books, watch: &mut W) -> bool {
        match self.common.forced {
            Forced::Arriving => {
                coverage_mark!("fifo.forced_drop_of_arrival");
                books.drop(packet, DropReason::Forced, Some(&self.law), watch);
                true
            }
            Forced::Full => {
                coverage_mark!("fifo.forced_drop_as_when_full");
                self.evict(packet, DropReason::Forced, books, watch)
            }
        }
    }

    /// Makes room for the arriving packet. Returns whether it may enter; otherwise it has been dropped.
    #[cold]
    fn make_room<W: Watch<P> + ?Sized>(&mut self, packet: &P, books: &mut Books, watch: &mut W) -> bool {
        self.law.on_full();
        while !self.has_room(packet) {
            if self.evict(packet, DropReason::Tail, books, watch) {
                return false;
            }
        }
        true
    }

    #[inline]
    fn has_room(&self, packet: &P) -> bool {
        self.room.has_room(self.held(), packet.wire_len())
    }

    /// Drops the packet selected by [`Full`] among those held and the arriving one. Returns whether it was the latter.
    fn evict<W: Watch<P> + ?Sized>(&mut self, arriving: &P, why: DropReason, books: &mut Books, watch: &mut W) -> bool {
        let held = self.ring.len();
        let victim = match self.common.full {
            Full::Tail => {
                coverage_mark!("fifo.full_drops_arrival");
                held
            }
            Full::Random => {
                coverage_mark!("fifo.full_drops_any");
                books.rng.below(held as u64 + 1) as usize
            }
            Full::Front | Full::Fattest => {
                coverage_mark!("fifo.full_drops_head");
                0
            }
        };
        // An index past those held is the arriving packet's own.
        if self.drop_held(victim, why, books, watch) {
            return false;
        }
        books.drop(arriving, why, Some(&self.law), watch);
        true
    }

    /// Draws a held packet with equal probability. If it is of the arriving packet's flow, both are dropped.
    fn drops_pair<W: Watch<P> + ?Sized>(&mut self, arriving: &P, books: &mut Books, watch: &mut W) -> bool {
        if self.ring.is_empty() {
            return false;
        }
        let drawn = books.rng.below(self.ring.len() as u64) as usize;
        if self.ring[drawn].packet.flow_key() != arriving.flow_key() {
            return false;
        }
        coverage_mark!("fifo.pair_dropped");
        self.drop_held(drawn, DropReason::Forced, books, watch);
        books.drop(arriving, DropReason::Forced, Some(&self.law), watch);
        true
    }

    /// Drops the packet at index `i`, if it exists.
    fn drop_held<W: Watch<P> + ?Sized>(&mut self, i: usize, why: DropReason, books: &mut Books, watch: &mut W) -> bool {
        let Some(Held { packet, .. }) = self.ring.remove(i) else {
            return false;
        };
        self.judged &= i > 0;
        self.bytes -= u64::from(packet.wire_len());
        books.took_out(&packet);
        books.drop(&packet, why, Some(&self.law), watch);
        true
    }
}
