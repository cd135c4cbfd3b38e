//! A link's queue: one FIFO, or a tree of them.

use ecnlab_base::{Length, Rng, Time};

use crate::books::Books;
use crate::fifo::Fifo;
use crate::{Config, Counters, Item, LinkContext, Owed, Stats, Tally, Watch};

/// A link's queue.
///
/// The packet in transmission is not in it: the engine dequeues when transmission starts. Each call's
/// `now` must be at least the previous one's.
#[derive(Clone, Debug)]
pub struct Queue<P> {
    is_open: bool,
    /// Packets that passed an open queue since the statistics were last cut; their sojourns are nothing.
    passed: u64,
    books: Books<P>,
    fifo: Fifo<P>,
}

impl<P: Item> Queue<P> {
    /// An empty queue at time zero, feeding `link`, counting `groups` flow groups. `config` has passed
    /// [`Config::check`]. All chance of the queue and its law comes from `rng`.
    pub fn new(config: &Config, link: LinkContext, groups: usize, rng: Rng) -> Queue<P> {
        let fifo = Fifo::new(config, link);
        Queue {
            is_open: fifo.law().is_indifferent() && matches!(config.common.limit, Length::Packets(_)),
            passed: 0,
            books: Books::new(groups, rng),
            fifo,
        }
    }

    /// `packet` arrives: it is let in, marked or dropped, or another makes room for it.
    pub fn enqueue(&mut self, packet: P, now: Time, watch: &mut impl Watch<P>) {
        self.books.arrived(&packet);
        self.fifo.enqueue(packet, now, &mut self.books, watch);
    }

    /// The next packet, at the start of its transmission; packets that a law drops here go before it.
    pub fn dequeue(&mut self, now: Time, watch: &mut impl Watch<P>) -> Option<P> {
        let held = self.fifo.pull(now, &mut self.books, watch)?;
        self.books.departed(&held.packet, watch);
        Some(held.packet)
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
        let kind = self.books.counters.kind(group, capable);
        kind.arrived += packets;
        kind.departed += packets;
        self.passed += packets.packets;
    }

    /// Brings ticks and statistics up to `now`.
    #[inline]
    pub fn observe(&mut self, now: Time) {
        self.fifo.observe(now, &self.books);
    }

    /// The statistics since the start or the last cut, up to `now`, and a new beginning. Those of a
    /// whole run are its parts put together by [`Stats::plus`].
    pub fn cut_stats(&mut self, now: Time) -> Stats {
        self.observe(now);
        self.fifo.cut_stats(std::mem::take(&mut self.passed))
    }

    /// Whether source quenches are ever to be expected.
    pub fn speaks_back(&self) -> bool {
        self.fifo.law().speaks_back()
    }
    /// Whether the last arrival left source quenches to send.
    #[inline(always)]
    pub fn owes(&self) -> bool {
        !self.books.owed.is_empty()
    }
    /// Hands over the first of them.
    pub fn take_owed(&mut self) -> Option<Owed<P>> {
        self.books.owed.pop_front()
    }

    /// What was counted since the start.
    pub const fn counters(&self) -> &Counters {
        &self.books.counters
    }
    /// The length on the wire of the packet at the head.
    pub fn head_len(&self) -> Option<u32> {
        self.fifo.head().map(|held| held.packet.wire_len())
    }
    /// Packets held.
    pub const fn packets(&self) -> usize {
        self.books.held.packets as usize
    }
    /// Bytes held.
    pub const fn bytes(&self) -> u64 {
        self.books.held.bytes
    }
    /// What the law has now in its column `name`, if it has one of this name.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.fifo.value(name)
    }
    /// Whether arrived = departed + dropped + held, in packets and in bytes.
    pub fn is_balanced(&self) -> bool {
        let held = self.fifo.counted();
        self.books.counters.total().all().held() == held && held == self.books.held && held == self.fifo.held()
    }
}
