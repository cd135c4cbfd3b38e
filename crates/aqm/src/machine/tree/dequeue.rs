//! Departure from a queue with several inner queues: selection of the inner queue and handling of its result.

use ecnlab_base::Time;

use super::{Branch, Class, Counting, Node, Tree};
use crate::machine::books::Books;
use crate::machine::fifo::{Dequeued, Held};
use crate::machine::scheduler::Backlog;
use crate::{Aqm, Item, Watch};

impl<P: Item> Node<P> {
    /// Like `Fifo::dequeue`. A tree always counts a returned packet as departed, and skips its drops.
    fn dequeue(&mut self, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) -> Dequeued<Held<P>> {
        match self {
            Node::Leaf(fifo) => fifo.dequeue(now, books, watch),
            Node::Tree(tree) => tree.made_mut().and_then(|branch| branch.dequeue(now, books, watch)).into(),
        }
    }

    /// Like `Fifo::among`; a tree has no law of its own.
    fn among(&mut self, flows: u32) {
        match self {
            Node::Leaf(fifo) => fifo.among(flows),
            Node::Tree(_) => {}
        }
    }

    /// Returns whether the law of an empty FIFO is in its initial state.
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

    /// Like `Fifo::peek`, and like [`Node::dequeue`] for a tree.
    fn peek(&mut self, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) -> Dequeued<u32> {
        match self {
            Node::Leaf(fifo) => fifo.peek(now, books, watch),
            Node::Tree(tree) => tree.made_mut().and_then(|branch| branch.peek(now, books, watch)).into(),
        }
    }

    /// Time at which to poll for a packet: any time, or not before this time.
    pub fn ready(&self) -> Time {
        match self {
            Node::Leaf(_) => Time::ZERO,
            Node::Tree(tree) => tree.made().map_or(Time::ZERO, |branch| branch.ready),
        }
    }
}

impl<P: Item> Branch<P> {
    /// Returns the next packet released by its queue, after drops by laws.
    pub fn dequeue(&mut self, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) -> Option<Held<P>> {
        self.gather(now);
        self.wake(now);
        loop {
            let i = self.choose(now, books, watch)?;
            self.peeked = None;
            if self.passes_empty(i, now, books) {
                continue;
            }
            let answer = self.ask(i, books, watch, |node, books, watch| node.dequeue(now, books, watch));
            let Some(mut held) = self.handle(i, answer, now) else { continue };
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

    /// Returns whether class `i` is an empty FIFO. If so, its law and the scheduler are notified, as by [`Branch::ask`].
    fn passes_empty(&mut self, i: usize, now: Time, books: &mut Books) -> bool {
        if !self.classes[i].is_empty_fifo() {
            return false;
        }
        let flows = self.among(i);
        let Class { node: Node::Leaf(fifo), asleep, .. } = &mut self.classes[i] else { return false };
        *asleep = false;
        if let Some(flows) = flows {
            fifo.among(flows);
        }
        let others = std::mem::replace(&mut books.flows, self.names.is_empty().then_some(self.held.bytes));
        fifo.found_empty(now, books);
        books.flows = others;
        self.scheduler.found_empty(i, fifo.law().is_at_rest());
        true
    }

    /// Polls class `i` for a packet or its head: once if the scheduler must be notified of each drop, otherwise again
    /// after each drop.
    fn ask<T>(
        &mut self,
        i: usize,
        books: &mut Books,
        watch: &mut dyn Watch<P>,
        mut dequeue: impl FnMut(&mut Node<P>, &mut Books, &mut dyn Watch<P>) -> Dequeued<T>,
    ) -> Dequeued<T> {
        let flows = self.among(i);
        self.change(i, books, |node, counts, books| {
            let watch = &mut Counting { counts, outer: watch };
            match flows {
                Some(flows) => {
                    node.among(flows);
                    dequeue(node, books, watch)
                }
                None => Dequeued::past_drops(|| dequeue(node, books, watch)).into(),
            }
        })
    }

    /// Returns the packet in the result of class `i`. If there is none, the scheduler is notified.
    fn handle<T>(&mut self, i: usize, answer: Dequeued<T>, now: Time) -> Option<T> {
        match answer {
            Dequeued::Gone(gone) => return Some(gone),
            Dequeued::Dropped(len) => self.lost(i, len, now),
            Dequeued::Empty => self.found_empty(i),
        }
        None
    }

    /// Number of flows that take turns with class `i`, if the scheduler must be notified of each drop.
    fn among(&self, i: usize) -> Option<u32> {
        self.scheduler.shape().and_then(|shape| shape.among(i))
    }

    /// Notifies the scheduler that the law of class `i` dropped a packet of `len` bytes.
    fn lost(&mut self, i: usize, len: u32, now: Time) {
        if let Some(shape) = self.scheduler.shape_mut() {
            shape.lost(i, len, now);
        }
    }

    /// Returns whether the law across the classes, if there is one, releases the packet taken from class `i`.
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

    /// Like [`Node::peek`].
    fn peek(&mut self, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) -> Option<u32> {
        self.gather(now);
        self.wake(now);
        loop {
            let i = self.choose(now, books, watch)?;
            let answer = self.ask(i, books, watch, |node, books, watch| node.peek(now, books, watch));
            if let Some(len) = self.handle(i, answer, now) {
                self.peeked = Some(i);
                return Some(len);
            }
        }
    }

    /// Returns the class to poll. If there is none, it stores the time of the next poll.
    #[inline(always)]
    fn choose(&mut self, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) -> Option<usize> {
        if self.peeked.is_some() {
            return self.peeked;
        }
        if self.peeks {
            self.look(now, books, watch);
        }
        let chosen = self.scheduler.next(&self.classes, now);
        if chosen.is_none() && self.shaped {
            self.ready = self.wakes_at().min(self.scheduler.ready(&self.classes));
            debug_assert!(self.ready > now, "asked in vain at {now:?}, and to be asked again at {:?}", self.ready);
        }
        chosen
    }

    /// Lets the single inner queue of a peeking scheduler decide on its head.
    fn look(&mut self, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) {
        let answer = self.ask(0, books, watch, |node, books, watch| node.peek(now, books, watch));
        self.handle(0, answer, now);
    }

    /// Handles a poll of class `i` without a packet.
    fn found_empty(&mut self, i: usize) {
        self.peeked = None;
        self.classes[i].asleep = self.classes[i].node.held().packets > 0;
        self.scheduler.found_empty(i, self.classes[i].node.is_at_rest());
    }

    /// Time at which the first class that waits for its own shaper may be polled again.
    fn wakes_at(&self) -> Time {
        if !self.shaped_within {
            return Time::NEVER;
        }
        let asleep = self.classes.iter().filter(|class| class.asleep).map(|class| class.node.ready());
        asleep.min().unwrap_or(Time::NEVER)
    }

    /// Releases classes whose waiting time is over.
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

    /// The length of the next packet, if it has been peeked.
    fn peeked_len(&self) -> Option<u32> {
        self.peeked.and_then(|i| self.classes[i].head_len())
    }
}

impl<P: Item> Class<P> {
    #[inline]
    fn is_empty_fifo(&self) -> bool {
        matches!(&self.node, Node::Leaf(fifo) if fifo.is_empty())
    }
}

impl<P: Item> Tree<P> {
    /// [`Backlog::head_len`]. Out of line, as [`Tree::head_since`], so that the test of a FIFO is inlined.
    #[inline(never)]
    fn head_len(&self) -> Option<u32> {
        let branch = self.made()?;
        branch.peeked_len().or((branch.held.packets > 0).then_some(1))
    }

    /// [`Backlog::head_since`].
    #[inline(never)]
    fn head_since(&self) -> Option<Time> {
        self.made()?.classes.iter().filter_map(Backlog::head_since).min()
    }
}

impl<P: Item> Backlog for Class<P> {
    #[inline]
    fn head_len(&self) -> Option<u32> {
        match &self.node {
            _ if self.asleep => None,
            Node::Leaf(fifo) => fifo.head().map(|held| held.packet.wire_len()),
            Node::Tree(tree) => tree.head_len(),
        }
    }
    #[inline]
    fn head_since(&self) -> Option<Time> {
        match &self.node {
            _ if self.asleep => None,
            Node::Leaf(fifo) => fifo.head().map(|held| held.since),
            Node::Tree(tree) => tree.head_since(),
        }
    }
    #[inline]
    fn holds(&self) -> bool {
        match &self.node {
            _ if self.asleep => false,
            Node::Leaf(fifo) => !fifo.is_empty(),
            Node::Tree(tree) => tree.head_len().is_some(),
        }
    }
}
