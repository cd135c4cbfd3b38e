//! A link's queue: one FIFO, or a tree of them.

use ecnlab_base::facts::Column;
use ecnlab_base::{Length, Rng, Time};
use ecnlab_wire::Ecn;

use crate::machine::books::Books;
use crate::machine::fifo::Dequeued;
use crate::machine::tree::Node;
use crate::record::interval::{Departures, Interval};
use crate::recorded::ALL;
use crate::{Aqm, ClassReading, ClassSample, Config, Counters, Item, LinkContext, Stats, Tally, Watch};

/// A link's queue.
///
/// The packet in transmission is not in it: the engine dequeues when transmission starts. Each call's
/// `now` must be at least the previous one's.
#[derive(Debug)]
pub struct Queue<P> {
    is_open: bool,
    /// Packets that passed an empty queue directly since the last cut of the statistics; their sojourn times are zero.
    passed: u64,
    link: LinkContext,
    books: Books,
    /// Whether it has a row of its own in the table of classes.
    has_row: bool,
    interval: Interval,
    node: Node<P>,
}

impl<P: Item> Queue<P> {
    /// Creates an empty queue at time zero, feeding `link`, that counts packets by flow `groups`. `config` has passed
    /// [`Config::check`]. The queue and its laws draw random values from `rng`.
    pub fn new(config: &Config, link: LinkContext, groups: &[String], rng: Rng) -> Queue<P> {
        let mut books = Books::new(groups.len(), rng);
        let mut node = Node::new(config, link, groups, &mut books);
        node.distinguish_groups(groups.len());
        let has_row = config.has_row();
        let is_open = match &node {
            Node::Leaf(fifo) => fifo.law().is_indifferent() && matches!(config.common.limit, Length::Packets(_)),
            Node::Tree(_) => false,
        };
        Queue { is_open: is_open && !has_row, passed: 0, link, books, has_row, interval: Interval::default(), node }
    }

    /// Handles an arriving `packet`: it is admitted, marked or dropped, or another packet is dropped to make room.
    pub fn enqueue(&mut self, packet: P, now: Time, watch: &mut impl Watch<P>) {
        self.books.arrived(&packet);
        match &mut self.node {
            Node::Leaf(fifo) => fifo.enqueue(packet, now, &mut self.books, watch),
            Node::Tree(tree) => {
                let is_idle = self.books.held.packets == 0 && now >= self.books.busy_until;
                self.books.idles += u64::from(is_idle);
                tree.make(&mut self.books).enqueue(packet, now, &mut self.books, watch);
            }
        }
    }

    /// Returns the next packet, at the start of its transmission, after drops by laws. `None` if the queue
    /// is empty, or none may leave before [`Queue::ready`].
    pub fn dequeue(&mut self, now: Time, watch: &mut impl Watch<P>) -> Option<P> {
        let packet = match &mut self.node {
            Node::Leaf(fifo) => {
                let held = Dequeued::past_drops(|| fifo.dequeue(now, &mut self.books, watch))?;
                fifo.went(&held, now);
                held.packet
            }
            Node::Tree(tree) => {
                let packet = tree.made_mut()?.dequeue(now, &mut self.books, watch)?.packet;
                self.books.busy_until = now.saturating_add(self.link.rate.time_for(packet.wire_len().into()));
                packet
            }
        };
        self.books.departed(&packet, watch);
        Some(packet)
    }

    /// Returns whether any packet passes directly while the queue is empty and the transmitter idle: the law is
    /// indifferent, and there is room for a packet. Such a packet need not be enqueued; it is counted by
    /// [`Queue::count_passed`].
    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Counts packets of one group with the codepoint `ecn` that passed directly through an open queue. Counters and
    /// statistics show them as entering and leaving at the same time.
    pub fn count_passed(&mut self, group: usize, ecn: Ecn, packets: Tally) {
        let kind = self.books.counters.kind(group, ecn.is_capable());
        kind.arrived += packets;
        kind.arrived_ce += if ecn == Ecn::Ce { packets.packets } else { 0 };
        kind.departed += packets;
        self.passed += packets.packets;
    }

    /// Updates ticks and statistics to `now`.
    #[inline]
    pub fn observe(&mut self, now: Time) {
        self.node.observe(now, &self.books);
    }

    /// Returns the statistics since the start or the last cut, up to `now`, and resets them. The statistics of a whole
    /// run are its parts merged by [`Stats::plus`].
    pub fn cut_stats(&mut self, now: Time) -> Stats {
        self.observe(now);
        let passed = std::mem::take(&mut self.passed);
        self.interval.reset(&self.node.departures(passed));
        self.node.cut_stats(passed)
    }

    /// Returns the departures since the start or the last call, as of the last observation.
    pub fn sample_departures(&mut self) -> Departures {
        self.interval.sample(self.node.departures(self.passed))
    }

    /// The names of its classes: itself first, if it has inner queues or keeps quantiles.
    pub fn class_names(&self) -> Vec<String> {
        let whole = self.has_row.then(|| ALL.to_owned());
        whole.into_iter().chain(self.node.class_names()).collect()
    }
    /// Returns the counts of its classes since the start, and their statistics since the last cut, which was at the
    /// time of the cut of `whole`.
    pub fn cut_classes(&mut self, whole: &Stats) -> Vec<ClassReading> {
        let counts = self.books.counters.total();
        let whole = self.has_row.then(|| ClassReading { name: ALL.to_owned(), counts, stats: whole.clone() });
        whole.into_iter().chain(self.node.cut_classes()).collect()
    }
    /// Samples its classes now, with the values of their laws in `columns`.
    pub fn class_samples(&self, columns: &[Column]) -> Vec<ClassSample> {
        let mut samples = self.node.class_samples(columns);
        if self.has_row {
            let values = columns.iter().map(|column| self.value(column.name).unwrap_or(f64::NAN)).collect();
            samples.insert(0, ClassSample { held: self.books.held, values });
        }
        samples
    }

    /// Returns the indices of the inner queues of `packet`, from the outermost; empty for one FIFO.
    pub fn place(&mut self, packet: &P) -> Vec<usize> {
        self.node.place(packet, &mut self.books)
    }

    /// Whether packets may wait although the link is free.
    pub fn is_shaped(&self) -> bool {
        self.node.is_shaped()
    }
    /// Time at which to poll for a packet: any time, or not before this time because a shaper delayed the last
    /// [`Queue::dequeue`]. An arrival may change it.
    pub fn ready(&self) -> Time {
        self.node.ready()
    }
    /// Whether source quenches are possible.
    pub fn speaks_back(&self) -> bool {
        self.node.speaks_back()
    }
    /// Counts since the start.
    pub const fn counters(&self) -> &Counters {
        &self.books.counters
    }
    /// The length on the wire of the packet at the head; of several queues, that of one of the heads.
    pub fn head_len(&self) -> Option<u32> {
        match &self.node {
            Node::Leaf(fifo) => fifo.head().map(|held| held.packet.wire_len()),
            Node::Tree(tree) => tree.made()?.head_len(),
        }
    }
    /// Packets held.
    pub const fn packets(&self) -> usize {
        self.books.held.packets as usize
    }
    /// Bytes held.
    pub const fn bytes(&self) -> u64 {
        self.books.held.bytes
    }
    /// Current value of the law's column `name`, if it has one.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.node.value(name)
    }
    /// Whether arrived = departed + dropped + held, in packets and in bytes, and likewise for each inner queue.
    pub fn is_balanced(&self) -> bool {
        let held = self.books.counters.total().all().held();
        held == self.books.held && self.node.counted() == Some(held)
    }
}
