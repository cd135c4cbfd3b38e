//! Arrival at a queue with several inner queues: selection of the inner queue, and drops when the total is too long.

use ecnlab_base::{Time, coverage_mark};

use super::{Branch, Counting, Fattest, Node};
use crate::contract::shape::Header;
use crate::machine::books::Books;
use crate::{DropReason, Full, Item, Tally, Watch};

/// Memory of a packet in addition to its bytes: `SKB_TRUESIZE(0)` of Linux on 64 bits, 256 bytes of `struct sk_buff`
/// and 320 of `struct skb_shared_info` (include/linux/skbuff.h).
const OVERHEAD: u64 = 576;

impl<P: Item> Node<P> {
    pub fn enqueue(&mut self, packet: P, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) {
        match self {
            Node::Leaf(fifo) => fifo.enqueue(packet, now, books, watch),
            Node::Tree(tree) => tree.make(books).enqueue(packet, now, books, watch),
        }
    }

    /// As [`Branch::place`]; empty for one FIFO.
    pub fn place(&mut self, packet: &P, books: &mut Books) -> Vec<usize> {
        match self {
            Node::Leaf(_) => Vec::new(),
            Node::Tree(tree) => tree.make(books).place(packet, books),
        }
    }

    /// Drops from the head of the fattest up to `most` packets, or half its bytes.
    pub(super) fn shed(&mut self, most: u32, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) {
        match self {
            Node::Leaf(fifo) => fifo.shed(most, now, books, watch),
            Node::Tree(tree) => tree.made_mut().into_iter().for_each(|branch| branch.shed(most, now, books, watch)),
        }
    }

    /// Bytes available to [`Node::shed`].
    fn droppable(&mut self) -> u64 {
        match self {
            Node::Leaf(fifo) => fifo.droppable().bytes,
            Node::Tree(tree) => tree.made_mut().map_or(0, |branch| branch.fattest().total()),
        }
    }
}

impl<P: Item> Branch<P> {
    /// Enqueues `packet` at the queue of its class, which may drop it; then the fattest queue makes room if necessary.
    pub fn enqueue(&mut self, mut packet: P, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) {
        self.gather(now);
        if self.idles != books.idles {
            self.scheduler.found_all_empty();
        }
        self.idles = books.idles;
        let own = self.claim(&packet);
        let i = self.coupling.as_mut().map_or(own, |coupling| coupling.place(&packet, own, now));
        self.classes[i].counts.kind(packet.ecn().is_capable()).arrived(packet.wire_len(), packet.ecn());
        if self.full != Full::Fattest && !self.has_room(packet.wire_len()) {
            coverage_mark!("tree.full_drops_arrival");
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
        // Packets that wait for a shaper stay, even if there are no others to drop.
        let mut before = Tally::default();
        while self.is_over() && self.held != before {
            coverage_mark!("tree.full_sheds_fattest");
            before = self.held;
            self.shed(self.batch, now, books, watch);
        }
    }

    /// Returns the class of the arriving `packet`.
    fn claim(&mut self, packet: &P) -> usize {
        let claimed = self.scheduler.shape_mut().and_then(|shape| shape.claim(&Header::of(packet)));
        claimed.unwrap_or_else(|| self.classifier.place(packet, self.classes.len()))
    }

    /// As [`crate::Queue::place`].
    pub fn place(&mut self, packet: &P, books: &mut Books) -> Vec<usize> {
        let own = self.scheduler.shape().and_then(|shape| shape.place(&Header::of(packet)));
        let i = own.unwrap_or_else(|| self.classifier.place(packet, self.classes.len()));
        std::iter::once(i).chain(self.classes[i].node.place(packet, books)).collect()
    }

    /// Returns whether the law across the classes, if there is one, admits the `packet` for class `i`.
    fn admits(&mut self, packet: &mut P, i: usize, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) -> bool {
        let Some(coupling) = &mut self.coupling else { return true };
        let mut watch = Counting { counts: &mut self.classes[i].counts, outer: watch };
        coupling.admits(packet, i, now, books, &mut watch)
    }

    /// Drops from the head of the queue with the most bytes, the first of several, up to `most` packets or half its bytes.
    fn shed(&mut self, most: u32, now: Time, books: &mut Books, watch: &mut dyn Watch<P>) {
        self.gather(now);
        let i = self.fattest().first();
        let before = self.classes[i].node.held();
        self.change(i, books, |node, counts, books| {
            node.shed(most, now, books, &mut Counting { counts, outer: watch })
        });
        let gone = before - self.classes[i].node.held();
        if let Some(shape) = self.scheduler.shape_mut() {
            shape.shed(i, gone, now);
        }
    }

    /// The index of the fattest queue, with all changes.
    fn fattest(&mut self) -> &Fattest {
        let classes = &mut self.classes;
        let index = self
            .fattest
            .get_or_insert_with(|| Box::new(Fattest::new(classes.iter_mut().map(|class| class.node.droppable()))));
        index.update(|i| classes[i].node.droppable());
        index
    }

    fn has_room(&self, len: u32) -> bool {
        let added = Tally { packets: 1, bytes: len.into() };
        self.room.has_room(self.held, len) && memory(self.held + added) <= self.memory
    }

    /// Whether more is held than the limits allow.
    fn is_over(&self) -> bool {
        !self.room.is_within(self.held) || memory(self.held) > self.memory
    }
}

/// Returns the memory of the held packets, in bytes.
fn memory(held: Tally) -> u64 {
    held.bytes + OVERHEAD * held.packets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bytes_and_what_linux_adds_to_each_packet() {
        assert_eq!(memory(Tally { packets: 2, bytes: 3000 }), 3000 + 2 * 576);
    }
}
