//! A queue with several inner queues: the inner queues, the scheduler, and their total length.
//!
//! An inner queue is a FIFO with its law or another tree. Actions on packets are executed and counted by [`Books`], as
//! in a single FIFO; each inner queue also counts its own packets, so that conservation is checked for each.

mod dequeue;
mod enqueue;
mod fattest;
mod readings;

use std::sync::Arc;

use ecnlab_base::Time;

use crate::contract::shape::Shape;
use crate::machine::books::Books;
use crate::machine::coupling::Coupling;
use crate::machine::fifo::Fifo;
use crate::machine::layout::{Classifier, Inner};
use crate::machine::make::Made;
use crate::machine::recipe::Recipe;
use crate::machine::room::Room;
use crate::machine::scheduler::{Backlog, Scheduler};
use crate::record::counters::Group;
use crate::record::rows::Rows;
use crate::record::stats::Gauge;
use crate::{Common, Config, DropReason, Full, InnerView, Item, LinkContext, MarkReason, Tally, Watch};

use fattest::Fattest;
pub use readings::{ClassReading, ClassSample};

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
    /// Made when a packet is first dropped for room.
    fattest: Option<Box<Fattest>>,
    /// Names of the classes, if they have names.
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
    /// [`Shape::peeks`].
    peeks: bool,
    /// Time of the next poll if the last returned nothing although packets are queued.
    ready: Time,
    /// The class whose head has been peeked and is next.
    peeked: Option<usize>,
    /// Number of times that the link had found all queues empty at the last arrival.
    idles: u64,
}

/// An inner queue and the counts of its packets.
#[derive(Debug)]
struct Class<P> {
    node: Node<P>,
    counts: Group,
    /// It holds packets but returned none: it is not polled before [`Node::ready`].
    asleep: bool,
}

/// An inner queue or a whole queue.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "most queues are one FIFO: a box would lie on each packet's way")]
pub(crate) enum Node<P> {
    /// A FIFO.
    Leaf(Fifo<P>),
    /// A tree of several queues.
    Tree(Tree<P>),
}

/// A tree, created at its first packet to save memory. Before that it behaves as at
/// time zero.
#[derive(Debug)]
pub(crate) enum Tree<P> {
    Made(Box<Branch<P>>),
    Unmade(Arc<Recipe>),
}

impl<P: Item> Tree<P> {
    /// The queue, if it is made.
    pub fn made(&self) -> Option<&Branch<P>> {
        match self {
            Tree::Made(branch) => Some(branch),
            Tree::Unmade(_) => None,
        }
    }

    /// As [`Tree::made`].
    pub fn made_mut(&mut self) -> Option<&mut Branch<P>> {
        match self {
            Tree::Made(branch) => Some(branch),
            Tree::Unmade(_) => None,
        }
    }

    /// Returns the queue and creates it if needed; its random values are drawn from `books`.
    #[inline]
    pub fn make(&mut self, books: &mut Books) -> &mut Branch<P> {
        if let Tree::Unmade(recipe) = self {
            *self = Tree::Made(Box::new(Branch::new(recipe, books)));
        }
        self.made_mut().expect("it is made")
    }
}

impl<P: Item> Node<P> {
    /// Creates an empty queue from `config`; its random values are drawn from `books`.
    pub fn new(config: &Config, link: LinkContext, groups: &[String], books: &mut Books) -> Node<P> {
        match config.params.make(config, link, groups) {
            Made::Layout(layout) => {
                let recipe = Recipe::new(layout, config, link, groups);
                Node::Tree(Tree::Made(Box::new(Branch::new(&recipe, books))))
            }
            Made::Law(law) => Node::Leaf(Fifo::new(law, config, link)),
        }
    }

    /// The queue, without statistics if it is a FIFO: for unnamed inner queues, which have no row in any table.
    fn without_statistics(mut self) -> Node<P> {
        if let Node::Leaf(fifo) = &mut self {
            fifo.stop_statistics();
        }
        self
    }

    /// Whether packets may wait here although the link is free.
    pub fn is_shaped(&self) -> bool {
        match self {
            Node::Leaf(_) => false,
            Node::Tree(tree) => tree.made().is_some_and(|branch| branch.shaped),
        }
    }

    fn held(&self) -> Tally {
        match self {
            Node::Leaf(fifo) => fifo.held(),
            Node::Tree(tree) => tree.made().map(|branch| branch.held).unwrap_or_default(),
        }
    }
}

impl<P: Item> Class<P> {
    fn new(node: Node<P>) -> Class<P> {
        Class { node, counts: Group::default(), asleep: false }
    }

    /// Adds `n` classes made from `config`. If they have inner queues, only those of the first are created now: it shows
    /// the structure of the others.
    fn add_alike(
        classes: &mut Vec<Class<P>>,
        n: usize,
        config: &Config,
        link: LinkContext,
        groups: &[String],
        books: &mut Books,
    ) {
        match config.params.make(config, link, groups) {
            Made::Layout(layout) => {
                let recipe = Arc::new(Recipe::new(layout, config, link, groups));
                let mut first = Tree::Unmade(recipe.clone());
                first.make(books);
                let others = (1..n).map(|_| Tree::Unmade(recipe.clone()));
                classes.extend(std::iter::once(first).chain(others).map(Node::Tree).map(Class::new));
            }
            Made::Law(law) => {
                let others = (1..n).map(|_| Node::new(config, link, groups, books));
                let first = Node::Leaf(Fifo::new(law, config, link));
                let all = std::iter::once(first).chain(others);
                classes.extend(all.map(Node::without_statistics).map(Class::new));
            }
        }
    }
}

impl<P> Branch<P> {
    /// Bytes of an inner queue, excluding its heap memory.
    pub const CLASS: usize = size_of::<Class<P>>();
}

impl<P: Item> Branch<P> {
    /// Creates empty queues from `recipe`; their random values are drawn from `books`.
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
                    Class::add_alike(&mut classes, n, &of(queue, false), link, groups, books);
                }
                (Vec::new(), Rows::new(n, names), classes)
            }
        };
        let shaped_within = classes.iter().any(|class| class.node.is_shaped());
        let shaped = scheduler.shape().is_some_and(Shape::delays) || shaped_within;
        let peeks = scheduler.shape().is_some_and(Shape::peeks);
        Branch {
            full: config.common.full,
            room: Room::of(&config.common),
            memory: layout.memory.unwrap_or(u64::MAX),
            batch: layout.batch,
            classifier,
            coupling: layout.law.map(|law| Coupling::new(law, config.common.ecn, classes.len())),
            scheduler,
            classes,
            fattest: None,
            names,
            rows,
            held: Tally::default(),
            gauge: Gauge::new(true),
            shaped,
            shaped_within,
            peeks,
            ready: Time::ZERO,
            peeked: None,
            idles: 0,
        }
    }

    /// Applies a change to an inner queue and updates the total length.
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
        let now = node.held();
        self.held += now;
        if now != own {
            self.rows.changed(i, own, now);
        }
        if let Some(fattest) = &mut self.fattest {
            fattest.note(i);
        }
        books.flows = others.map(|bytes| bytes + books.held.bytes - before);
        if let Some(coupling) = &mut self.coupling {
            let Tally { packets, bytes } = now;
            coupling.show(i, InnerView { packets, bytes, head_since: self.classes[i].head_since() });
        }
        result
    }
}

/// Observer that counts the packets of an inner queue and notifies the observer of the whole queue.
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
    fn signalled_ce(&mut self, packet: &P) {
        self.counts.kind(true).signalled_ce(packet.wire_len());
        self.outer.signalled_ce(packet);
    }
    fn dropped(&mut self, packet: &P, why: DropReason) {
        self.counts.kind(packet.ecn().is_capable()).drop(packet.wire_len(), why);
        self.outer.dropped(packet, why);
    }
}
