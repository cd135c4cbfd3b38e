//! A queue of several: who belongs to which inner queue, which is next, and who leaves when all together are too long.
//!
//! An inner queue is a FIFO with its law or a tree again. What befalls a packet is done and counted by [`Books`], as in
//! a single FIFO; each inner queue counts besides what it saw itself, so that conservation is checked for each.

use std::sync::Arc;

use ecnlab_base::Time;
use ecnlab_base::facts::Column;

use crate::contract::layout::{Classifier, Inner};
use crate::contract::shape::{Header, Shape};
use crate::machine::books::Books;
use crate::machine::coupling::Coupling;
use crate::machine::fifo::{Dequeued, Fifo, Held};
use crate::machine::make::Made;
use crate::machine::recipe::{Recipe, Tree};
use crate::machine::room::Room;
use crate::machine::scheduler::{Backlog, Scheduler};
use crate::record::counters::Group;
use crate::record::rows::Rows;
use crate::record::stats::Gauge;
use crate::{
    Across, Aqm, Common, Config, DropReason, Full, InnerView, Item, LinkContext, MarkReason, Stats, Tally, Watch,
};

/// What a packet takes besides its bytes: `SKB_TRUESIZE(0)` of Linux on 64 bits, 256 bytes of `struct sk_buff` and 320 of
/// `struct skb_shared_info` (include/linux/skbuff.h).
const OVERHEAD: u64 = 576;

/// Several inner queues.
#[derive(Debug)]
pub(crate) struct Branch<P> {
    full: Full,
    room: Room,
    memory: u64,
    batch: u32,
    classifier: Classifier,
    scheduler: Scheduler,
    classes: Vec<Class<P>>,
    /// Of the classes, if they have names.
    names: Vec<String>,
    /// Groups of classes that have names.
    rows: Rows,
    /// The law across the classes.
    coupling: Option<Coupling>,
    held: Tally,
    gauge: Gauge,
    /// Whether it or a queue within may let packets wait although the link is free.
    shaped: bool,
    /// Whether a queue within may.
    shaped_within: bool,
    /// When to ask again, where nothing was given although packets are held.
    ready: Time,
    /// Of the class whose head has been looked at and is next.
    peeked: Option<usize>,
    /// How often the link had found all queues empty when the last packet came.
    idles: u64,
}

/// An inner queue and what befell its packets.
#[derive(Debug)]
struct Class<P> {
    node: Node<P>,
    counts: Group,
    /// Whether it holds packets and gave none: it is not asked before [`Node::ready`].
    asleep: bool,
}

/// A queue, within another or the whole.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "most queues are one FIFO: a box would lie on each packet's way")]
pub(crate) enum Node<P> {
    /// A FIFO.
    Leaf(Fifo<P>),
    /// Several.
    Tree(Tree<P>),
}

/// A named inner queue, as it stands at one instant.
#[derive(Clone, Debug)]
pub struct ClassReading {
    /// Its name, from the outermost queue on: `voice`, `rest/bulk`; "all" for the whole.
    pub name: String,
    /// What befell its packets since the start.
    pub counts: Group,
    /// Since the last reading.
    pub stats: Stats,
}

impl ClassReading {
    /// What was counted after `earlier`, an earlier reading of the same queue. Statistics are as they are.
    pub fn since(self, earlier: &ClassReading) -> ClassReading {
        ClassReading { counts: self.counts - earlier.counts, ..self }
    }
}

/// A named inner queue at one instant.
#[derive(Clone, Debug)]
pub struct ClassSample {
    /// Packets and bytes held.
    pub held: Tally,
    /// What its law has in the columns asked for; NaN for none.
    pub values: Vec<f64>,
}

impl<P: Item> Node<P> {
    /// An empty queue as `config` says; what is drawn for it comes from `books`.
    pub fn new(config: &Config, link: LinkContext, groups: &[String], books: &mut Books) -> Node<P> {
        match config.params.make(config, link, groups) {
            Made::Layout(layout) => {
                let recipe = Recipe::new(layout, config, link, groups);
                Node::Tree(Tree::Made(Box::new(Branch::new(&recipe, books))))
            }
            Made::Law(law) => Node::Leaf(Fifo::new(law, config, link)),
        }
    }

    pub fn enqueue(&mut self, packet: P, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) {
        match self {
            Node::Leaf(fifo) => fifo.enqueue(packet, now, books, watch),
            Node::Tree(tree) => tree.make(books).enqueue(packet, now, books, watch),
        }
    }

    /// As [`Fifo::dequeue`]. A tree counts a packet as departed from itself in any case, and passes over its drops.
    fn dequeue(&mut self, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) -> Dequeued<Held<P>> {
        match self {
            Node::Leaf(fifo) => fifo.dequeue(now, books, watch),
            Node::Tree(tree) => tree.made_mut().and_then(|branch| branch.dequeue(now, books, watch)).into(),
        }
    }

    /// As [`Fifo::among`]; a tree has no law of its own to tell.
    fn among(&mut self, flows: u32) {
        match self {
            Node::Leaf(fifo) => fifo.among(flows),
            Node::Tree(_) => {}
        }
    }

    /// Whether the law of an empty FIFO has forgotten what was.
    fn is_at_rest(&self) -> bool {
        match self {
            Node::Leaf(fifo) => fifo.law().is_at_rest(),
            Node::Tree(_) => true,
        }
    }

    fn went(&mut self, held: &Held<P>, now: Time) {
        match self {
            Node::Leaf(fifo) => fifo.went(held, now),
            Node::Tree(_) => {}
        }
    }

    /// As [`Fifo::peek`], and as [`Node::dequeue`] of a tree.
    fn peek(&mut self, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) -> Dequeued<u32> {
        match self {
            Node::Leaf(fifo) => fifo.peek(now, books, watch),
            Node::Tree(tree) => tree.made_mut().and_then(|branch| branch.peek(now, books, watch)).into(),
        }
    }

    /// As [`Branch::place`]; empty for one FIFO.
    pub fn place(&mut self, packet: &P, books: &mut Books) -> Vec<usize> {
        match self {
            Node::Leaf(_) => Vec::new(),
            Node::Tree(tree) => tree.make(books).place(packet, books),
        }
    }

    /// Whether packets may wait here although the link is free.
    pub fn is_shaped(&self) -> bool {
        match self {
            Node::Leaf(_) => false,
            Node::Tree(tree) => tree.made().is_some_and(|branch| branch.shaped),
        }
    }

    /// When to ask for a packet: at any time, or not before this one.
    pub fn ready(&self) -> Time {
        match self {
            Node::Leaf(_) => Time::ZERO,
            Node::Tree(tree) => tree.made().map_or(Time::ZERO, |branch| branch.ready),
        }
    }

    /// Drops from the head of the fattest up to `most` packets, or half its bytes.
    fn shed(&mut self, most: u32, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) {
        match self {
            Node::Leaf(fifo) => fifo.shed(most, now, books, watch),
            Node::Tree(tree) => tree.made_mut().into_iter().for_each(|branch| branch.shed(most, now, books, watch)),
        }
    }

    /// Brings ticks and statistics up to `now`.
    pub fn observe(&mut self, now: Time, books: &Books) {
        match self {
            Node::Leaf(fifo) => fifo.observe(now, books),
            Node::Tree(tree) => tree.made_mut().into_iter().for_each(|branch| branch.observe(now, books)),
        }
    }

    fn held(&self) -> Tally {
        match self {
            Node::Leaf(fifo) => fifo.held(),
            Node::Tree(tree) => tree.made().map(|branch| branch.held).unwrap_or_default(),
        }
    }

    /// What [`Node::shed`] drops from.
    fn droppable(&self) -> Tally {
        match self {
            Node::Leaf(fifo) => fifo.droppable(),
            Node::Tree(tree) => tree.made().map(Branch::droppable).unwrap_or_default(),
        }
    }

    /// Packets and bytes, counted one by one; `None` if any inner queue's books do not balance.
    pub fn counted(&self) -> Option<Tally> {
        match self {
            Node::Leaf(fifo) => Some(fifo.counted()),
            Node::Tree(tree) => tree.made().map_or(Some(Tally::default()), Branch::counted),
        }
    }

    /// As [`Fifo::cut_stats`].
    pub fn cut_stats(&mut self, passed: u64) -> Stats {
        match self {
            Node::Leaf(fifo) => fifo.cut_stats(passed),
            Node::Tree(tree) => tree.made_mut().map(Branch::cut_stats).unwrap_or_default(),
        }
    }

    /// As [`Branch::class_names`]; of one FIFO none.
    pub fn class_names(&self) -> Vec<String> {
        match self {
            Node::Leaf(_) => Vec::new(),
            Node::Tree(tree) => tree.made().map(Branch::class_names).unwrap_or_default(),
        }
    }

    /// As [`Branch::cut_classes`]; of one FIFO none.
    pub fn cut_classes(&mut self) -> Vec<ClassReading> {
        match self {
            Node::Leaf(_) => Vec::new(),
            Node::Tree(tree) => tree.made_mut().map(Branch::cut_classes).unwrap_or_default(),
        }
    }

    /// As [`Branch::class_samples`]; of one FIFO none.
    pub fn class_samples(&self, columns: &[Column]) -> Vec<ClassSample> {
        match self {
            Node::Leaf(_) => Vec::new(),
            Node::Tree(tree) => tree.made().map(|branch| branch.class_samples(columns)).unwrap_or_default(),
        }
    }

    /// As [`Gauge::tell_apart`].
    pub fn tell_apart(&mut self, groups: usize) {
        match self {
            Node::Leaf(fifo) => fifo.tell_apart(groups),
            Node::Tree(tree) => tree.made_mut().into_iter().for_each(|branch| branch.gauge.tell_apart(groups)),
        }
    }

    /// As [`Fifo::value`].
    pub fn value(&self, name: &str) -> Option<f64> {
        match self {
            Node::Leaf(fifo) => fifo.value(name),
            Node::Tree(tree) => tree.made()?.value(name),
        }
    }

    /// Whether source quenches are ever to be expected.
    pub fn speaks_back(&self) -> bool {
        match self {
            Node::Leaf(fifo) => fifo.law().speaks_back().is_some(),
            Node::Tree(tree) => tree.made().is_some_and(Branch::speaks_back),
        }
    }
}

impl<P: Item> Class<P> {
    fn new(node: Node<P>) -> Class<P> {
        Class { node, counts: Group::default(), asleep: false }
    }

    /// `n` classes as `config` says. Of those that have inner queues themselves only the first is made at once: it shows
    /// what the others will be.
    fn alike(n: usize, config: &Config, link: LinkContext, groups: &[String], books: &mut Books) -> Vec<Class<P>> {
        match config.params.make(config, link, groups) {
            Made::Layout(layout) => {
                let recipe = Arc::new(Recipe::new(layout, config, link, groups));
                let mut trees: Vec<Tree<P>> = (0..n).map(|_| Tree::Unmade(recipe.clone())).collect();
                trees.first_mut().map(|first| first.make(books));
                trees.into_iter().map(Node::Tree).map(Class::new).collect()
            }
            Made::Law(law) => {
                let others = (1..n).map(|_| Node::new(config, link, groups, books));
                let first = Node::Leaf(Fifo::new(law, config, link));
                std::iter::once(first).chain(others).map(Class::new).collect()
            }
        }
    }
}

impl<P: Item> Backlog for Class<P> {
    fn head_len(&self) -> Option<u32> {
        match &self.node {
            _ if self.asleep => None,
            Node::Leaf(fifo) => fifo.head().map(|held| held.packet.wire_len()),
            Node::Tree(tree) => {
                let branch = tree.made()?;
                branch.peeked_len().or((branch.held.packets > 0).then_some(1))
            }
        }
    }
    fn head_since(&self) -> Option<Time> {
        match &self.node {
            _ if self.asleep => None,
            Node::Leaf(fifo) => fifo.head().map(|held| held.since),
            Node::Tree(tree) => tree.made()?.classes.iter().filter_map(Backlog::head_since).min(),
        }
    }
}

impl<P> Branch<P> {
    /// Bytes of an inner queue, less what it has on the heap.
    pub const CLASS: usize = size_of::<Class<P>>();
}

impl<P: Item> Branch<P> {
    /// Empty queues as `recipe` has them; what is drawn for them comes from `books`.
    pub fn new(recipe: &Recipe, books: &mut Books) -> Branch<P> {
        let Recipe { layout, config, link, groups } = recipe;
        let layout = layout.clone();
        let classifier = match layout.classifier {
            Classifier::Flows(None) => Classifier::Flows(Some(books.rng.u64())),
            given => given,
        };
        let scheduler = layout.scheduler.on(link.rate, &mut books.rng);
        let of = |config: &Config, quantiles: bool| Config {
            common: Common { quantiles, ..config.common },
            ..config.clone()
        };
        let link = |i| LinkContext { rate: scheduler.shape().map_or(link.rate, |shape| shape.rate(i)), ..*link };
        let (names, rows, classes): (_, _, Vec<_>) = match layout.queues {
            Inner::Named(queues) => {
                let made = queues
                    .into_iter()
                    .enumerate()
                    .map(|(i, (name, queue))| (name, Class::new(Node::new(&of(&queue, true), link(i), groups, books))));
                let (names, classes) = made.unzip();
                (names, Rows::NONE, classes)
            }
            Inner::Alike(n, alike) => {
                let (names, queues): (_, Vec<Config>) = alike.into_iter().unzip();
                let mut classes = Vec::with_capacity(n * queues.len());
                for queue in &queues {
                    let link = link(classes.len());
                    classes.extend(Class::alike(n, &of(queue, false), link, groups, books));
                }
                (Vec::new(), Rows::new(n, names), classes)
            }
        };
        let shaped_within = classes.iter().any(|class| class.node.is_shaped());
        let shaped = scheduler.shape().is_some() || shaped_within;
        Branch {
            full: config.common.full,
            room: Room::of(&config.common),
            memory: layout.memory.unwrap_or(u64::MAX),
            batch: layout.batch,
            classifier,
            coupling: layout.law.map(|law| Coupling::new(law, config.common.ecn, classes.len())),
            scheduler,
            classes,
            names,
            rows,
            held: Tally::default(),
            gauge: Gauge::new(true),
            shaped,
            shaped_within,
            ready: Time::ZERO,
            peeked: None,
            idles: 0,
        }
    }

    /// `packet` arrives: at the queue of its class, which may refuse it; then the fattest makes room, if need be.
    pub fn enqueue(&mut self, mut packet: P, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) {
        self.gather(now);
        if self.idles != books.idles {
            self.scheduler.found_all_empty();
        }
        self.idles = books.idles;
        let own = self.claim(&packet);
        let i = self.coupling.as_mut().map_or(own, |coupling| coupling.place(&packet, own, now));
        self.classes[i].counts.kind(packet.ecn().is_capable()).arrived(packet.wire_len());
        if self.full != Full::Fattest && !self.has_room(packet.wire_len()) {
            let mut watch = Counting { counts: &mut self.classes[i].counts, outer: watch };
            return books.drop(&packet, DropReason::Tail, None, &mut watch);
        }
        if !self.admits(&mut packet, i, now, books, watch) {
            return;
        }
        self.change(i, books, |node, counts, books| {
            node.enqueue(packet, now, books, &mut Counting { counts, outer: watch })
        });
        if self.classes[i].node.held().packets > 0 {
            self.classes[i].asleep = false;
            self.ready = Time::ZERO;
            self.scheduler.arrived(i, now);
        }
        // What waits for a shaper stays, though nothing else be there to drop.
        let mut before = Tally::default();
        while self.is_over() && self.held != before {
            before = self.held;
            self.shed(self.batch, now, books, watch);
        }
    }

    /// The next packet that its queue lets go; those that laws drop go before it.
    pub fn dequeue(&mut self, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) -> Option<Held<P>> {
        self.gather(now);
        self.wake(now);
        loop {
            let i = self.choose(now, books, watch)?;
            self.peeked = None;
            let answer = self.ask(i, books, watch, |node, books, watch| node.dequeue(now, books, watch));
            let Some(mut held) = self.heard(i, answer, now) else { continue };
            if !self.releases(&mut held, i, now, books, watch) {
                continue;
            }
            self.classes[i].node.went(&held, now);
            let len = held.packet.wire_len();
            self.classes[i].counts.kind(held.packet.ecn().is_capable()).departed(len);
            self.scheduler.sent(i, len, &self.classes, now);
            self.gauge.departed(now.since(held.since), held.packet.group());
            self.rows.departed(i, now.since(held.since));
            self.ready = Time::ZERO;
            return Some(held);
        }
    }

    /// The class that `packet`, which arrives, belongs to.
    fn claim(&mut self, packet: &P) -> usize {
        let claimed = self.scheduler.shape_mut().and_then(|shape| shape.claim(&Header::of(packet)));
        claimed.unwrap_or_else(|| self.classifier.place(packet, self.classes.len()))
    }

    /// Asks class `i` for a packet or its head: once if the scheduler is to know of each drop, else again after each drop.
    fn ask<T>(
        &mut self,
        i: usize,
        books: &mut Books,
        watch: &mut dyn Watch<P>,
        mut asks: impl FnMut(&mut Node<P>, &mut Books, &mut dyn Watch<P>) -> Dequeued<T>,
    ) -> Dequeued<T> {
        let flows = self.among(i);
        self.change(i, books, |node, counts, books| {
            let watch = &mut Counting { counts, outer: watch };
            match flows {
                Some(flows) => {
                    node.among(flows);
                    asks(node, books, watch)
                }
                None => Dequeued::past_drops(|| asks(node, books, watch)).into(),
            }
        })
    }

    /// What class `i` answered, if it is a packet. If not, the scheduler is told.
    fn heard<T>(&mut self, i: usize, answer: Dequeued<T>, now: Time) -> Option<T> {
        match answer {
            Dequeued::Gone(gone) => return Some(gone),
            Dequeued::Dropped(len) => self.lost(i, len, now),
            Dequeued::Empty => self.found_empty(i),
        }
        None
    }

    /// How many flows take turns with class `i`, if the scheduler is to know of each drop.
    fn among(&self, i: usize) -> Option<u32> {
        self.scheduler.shape().and_then(|shape| shape.among(i))
    }

    /// The law of class `i` dropped a packet of `len` bytes, and the scheduler is to know.
    fn lost(&mut self, i: usize, len: u32, now: Time) {
        if let Some(shape) = self.scheduler.shape_mut() {
            shape.lost(i, len, now);
        }
    }

    /// Whether the law across the classes, if there is one, lets the `packet` for class `i` in.
    fn admits(&mut self, packet: &mut P, i: usize, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) -> bool {
        let Some(coupling) = &mut self.coupling else { return true };
        let mut watch = Counting { counts: &mut self.classes[i].counts, outer: watch };
        coupling.admits(packet, i, now, books, &mut watch)
    }

    /// Whether the law across the classes, if there is one, lets go what was taken out of class `i`.
    fn releases(
        &mut self,
        held: &mut Held<P>,
        i: usize,
        now: Time,
        books: &mut Books,
        watch: &mut dyn Watch<P>,
    ) -> bool {
        let Some(coupling) = &mut self.coupling else { return true };
        let mut watch = Counting { counts: &mut self.classes[i].counts, outer: watch };
        coupling.releases(&mut held.packet, (i, now.since(held.since)), now, books, &mut watch)
    }

    /// As [`Node::peek`].
    fn peek(&mut self, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) -> Option<u32> {
        self.gather(now);
        self.wake(now);
        loop {
            let i = self.choose(now, books, watch)?;
            let answer = self.ask(i, books, watch, |node, books, watch| node.peek(now, books, watch));
            if let Some(len) = self.heard(i, answer, now) {
                self.peeked = Some(i);
                return Some(len);
            }
        }
    }

    /// The class to ask. If there is none, it says when to come back.
    fn choose(&mut self, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) -> Option<usize> {
        if self.peeked.is_some() {
            return self.peeked;
        }
        if self.scheduler.shape().is_some_and(Shape::peeks) {
            self.look(now, books, watch);
        }
        let chosen = self.scheduler.next(&self.classes, now);
        if chosen.is_none() && self.shaped {
            self.ready = self.wakes_at().min(self.scheduler.ready(&self.classes));
            debug_assert!(self.ready > now, "asked in vain at {now:?}, and to be asked again at {:?}", self.ready);
        }
        chosen
    }

    /// Has the one inner queue of a scheduler that peeks judge its head.
    fn look(&mut self, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) {
        let answer = self.ask(0, books, watch, |node, books, watch| node.peek(now, books, watch));
        self.heard(0, answer, now);
    }

    /// Class `i` gave nothing.
    fn found_empty(&mut self, i: usize) {
        self.peeked = None;
        self.classes[i].asleep = self.classes[i].node.held().packets > 0;
        self.scheduler.found_empty(i, self.classes[i].node.is_at_rest());
    }

    /// When the first class that waits for a shaper of its own may be asked again.
    fn wakes_at(&self) -> Time {
        if !self.shaped_within {
            return Time::NEVER;
        }
        let asleep = self.classes.iter().filter(|class| class.asleep).map(|class| class.node.ready());
        asleep.min().unwrap_or(Time::NEVER)
    }

    /// Classes whose time has come may be asked again.
    fn wake(&mut self, now: Time) {
        if !self.shaped_within {
            return;
        }
        for i in 0..self.classes.len() {
            let class = &mut self.classes[i];
            if class.asleep && class.node.ready() <= now {
                class.asleep = false;
                self.scheduler.arrived(i, now);
            }
        }
    }

    /// The length of the packet that is next, if it has been looked at.
    fn peeked_len(&self) -> Option<u32> {
        self.peeked.and_then(|i| self.classes[i].head_len())
    }

    /// Drops from the head of the queue with the most bytes, the first of several, up to `most` packets or half its bytes.
    fn shed(&mut self, most: u32, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) {
        self.gather(now);
        let fattest = |(i, class): (usize, &Class<P>)| (class.node.droppable().bytes, std::cmp::Reverse(i));
        if let Some((_, std::cmp::Reverse(i))) = self.classes.iter().enumerate().map(fattest).max() {
            let before = self.classes[i].node.held();
            self.change(i, books, |node, counts, books| {
                node.shed(most, now, books, &mut Counting { counts, outer: watch })
            });
            let gone = before - self.classes[i].node.held();
            if let Some(shape) = self.scheduler.shape_mut() {
                shape.shed(i, gone, now);
            }
        }
    }

    /// What [`Branch::shed`] drops from.
    fn droppable(&self) -> Tally {
        self.classes.iter().fold(Tally::default(), |mut sum, class| {
            sum += class.node.droppable();
            sum
        })
    }

    /// Does something to an inner queue, and keeps what all hold together.
    fn change<T>(
        &mut self,
        i: usize,
        books: &mut Books,
        act: impl FnOnce(&mut Node<P>, &mut Group, &mut Books) -> T,
    ) -> T {
        let Class { node, counts, .. } = &mut self.classes[i];
        let (others, before, own) = (books.flows, books.held.bytes, node.held());
        books.flows = self.names.is_empty().then_some(self.held.bytes);
        self.held = self.held - own;
        let result = act(node, counts, books);
        self.held += node.held();
        self.rows.changed(i, own, node.held());
        books.flows = others.map(|bytes| bytes + books.held.bytes - before);
        if let Some(coupling) = &mut self.coupling {
            let Tally { packets, bytes } = self.classes[i].node.held();
            coupling.show(i, InnerView { packets, bytes, head_since: self.classes[i].head_since() });
        }
        result
    }

    fn has_room(&self, len: u32) -> bool {
        let added = Tally { packets: 1, bytes: len.into() };
        self.room.has_room(self.held, len) && memory(self.held + added) <= self.memory
    }

    /// Whether more is held than the limits allow.
    fn is_over(&self) -> bool {
        !self.room.is_within(self.held) || memory(self.held) > self.memory
    }

    /// Brings ticks and statistics up to `now`, those of inner queues too.
    pub fn observe(&mut self, now: Time, books: &Books) {
        self.gather(now);
        self.classes.iter_mut().for_each(|class| class.node.observe(now, books));
    }

    fn gather(&mut self, now: Time) {
        while let Some(at) = self.coupling.as_ref().and_then(|coupling| coupling.due(now)) {
            self.integrate(at);
            self.coupling.iter_mut().for_each(Coupling::on_tick);
        }
        self.integrate(now);
    }

    fn integrate(&mut self, now: Time) {
        let elapsed = self.gauge.observe(now, self.held.packets, self.held.bytes);
        self.rows.observe(now);
        if let Some(coupling) = &mut self.coupling {
            coupling.law.elapsed(elapsed);
        }
    }

    /// As [`Fifo::cut_stats`]; those of the inner queues are their own.
    pub fn cut_stats(&mut self) -> Stats {
        let law = self.coupling.as_mut().map(|coupling| &mut coupling.law);
        let (columns, integrals) = law.map_or((&[][..], Vec::new()), |law| (law.columns().means, law.cut()));
        self.gauge.cut(0, columns, integrals)
    }

    /// As [`Fifo::value`], of the law across the classes.
    pub fn value(&self, name: &str) -> Option<f64> {
        let law = &self.coupling.as_ref()?.law;
        let columns = law.columns().values.iter();
        columns.zip(law.values()).find(|(column, _)| column.name == name).map(|(_, value)| value)
    }

    /// [`Node::counted`].
    pub fn counted(&self) -> Option<Tally> {
        let mut sum = Tally::default();
        for class in &self.classes {
            let counted = class.node.counted()?;
            if class.counts.all().held() != counted {
                return None;
            }
            sum += counted;
        }
        (sum == self.held).then_some(sum)
    }

    /// As [`crate::Queue::place`].
    pub fn place(&mut self, packet: &P, books: &mut Books) -> Vec<usize> {
        let own = self.scheduler.shape().and_then(|shape| shape.place(&Header::of(packet)));
        let i = own.unwrap_or_else(|| self.classifier.place(packet, self.classes.len()));
        std::iter::once(i).chain(self.classes[i].node.place(packet, books)).collect()
    }

    /// Whether source quenches are ever to be expected.
    pub fn speaks_back(&self) -> bool {
        self.classes.iter().any(|class| class.node.speaks_back())
    }

    /// The length of the packet that is likely to be next.
    pub fn head_len(&self) -> Option<u32> {
        self.classes.iter().find_map(Backlog::head_len)
    }

    /// The names of the inner queues that have one, from the outermost on: `voice`, `rest/bulk`.
    pub fn class_names(&self) -> Vec<String> {
        let named = self.names.iter().zip(&self.classes);
        let of = |(name, class): (&String, &Class<P>)| {
            let inner = class.node.class_names().into_iter().map(|inner| format!("{name}/{inner}")).collect::<Vec<_>>();
            std::iter::once(name.clone()).chain(inner).collect::<Vec<_>>()
        };
        named.flat_map(of).chain(self.rows.names().cloned()).collect()
    }

    /// Readings in the order of [`Branch::class_names`]. Statistics begin anew.
    pub fn cut_classes(&mut self) -> Vec<ClassReading> {
        let named = self.names.iter().zip(&mut self.classes);
        let of = |(name, class): (&String, &mut Class<P>)| {
            let own = ClassReading { name: name.clone(), counts: class.counts, stats: class.node.cut_stats(0) };
            let inner = class
                .node
                .cut_classes()
                .into_iter()
                .map(|inner| ClassReading { name: format!("{name}/{}", inner.name), ..inner });
            std::iter::once(own).chain(inner).collect::<Vec<_>>()
        };
        let mut readings: Vec<ClassReading> = named.flat_map(of).collect();
        let counts: Vec<Group> = self.classes.iter().map(|class| class.counts).collect();
        let rows = self.rows.cut(&counts).into_iter();
        readings.extend(rows.map(|(name, counts, stats)| ClassReading { name, counts, stats }));
        readings
    }

    /// Samples in the order of [`Branch::class_names`], with what laws have in `columns`.
    pub fn class_samples(&self, columns: &[Column]) -> Vec<ClassSample> {
        let named = self.classes.iter().take(self.names.len());
        let of = |class: &Class<P>| {
            let values = columns.iter().map(|column| class.node.value(column.name).unwrap_or(f64::NAN)).collect();
            let inner = class.node.class_samples(columns);
            let own = ClassSample { held: class.node.held(), values };
            std::iter::once(own).chain(inner).collect::<Vec<_>>()
        };
        let row = |held| ClassSample { held, values: vec![f64::NAN; columns.len()] };
        named.flat_map(of).chain(self.rows.held().map(row)).collect()
    }
}

/// The memory that packets take.
fn memory(held: Tally) -> u64 {
    held.bytes + OVERHEAD * held.packets
}

/// Counts what befalls the packets of an inner queue, and tells whoever watches the whole.
struct Counting<'a, P> {
    counts: &'a mut Group,
    outer: &'a mut dyn Watch<P>,
}

impl<P: Item> Watch<P> for Counting<'_, P> {
    fn enqueued(&mut self, packet: &P) {
        self.outer.enqueued(packet);
    }
    fn marked(&mut self, packet: &P, why: MarkReason) {
        self.counts.kind(packet.ecn().is_capable()).marked(packet.wire_len(), why);
        self.outer.marked(packet, why);
    }
    fn dropped(&mut self, packet: &P, why: DropReason) {
        self.counts.kind(packet.ecn().is_capable()).drop(packet.wire_len(), why);
        self.outer.dropped(packet, why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bytes_and_what_linux_adds_to_each_packet() {
        assert_eq!(memory(Tally { packets: 2, bytes: 3000 }), 3000 + 2 * 576);
    }
}
