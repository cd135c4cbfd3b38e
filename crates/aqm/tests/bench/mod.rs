//! A queue under test, and what befalls its packets.

use std::marker::PhantomData;

use ecnlab_aqm::{Config, DropReason, LinkContext, MarkReason, Queue, Watch};
use ecnlab_base::{Dur, Rate, Rng, Time};
use ecnlab_wire::{Dscp, Ecn};

use crate::packet::Packet;

/// Who entered, and who was dropped and marked, why, in order.
#[derive(Default)]
pub struct Diary {
    pub entered: Vec<u32>,
    pub dropped: Vec<(u32, DropReason)>,
    pub marked: Vec<(u32, MarkReason)>,
}

impl Watch<Packet> for Diary {
    fn enqueued(&mut self, packet: &Packet) {
        self.entered.push(packet.id);
    }
    fn marked(&mut self, packet: &Packet, why: MarkReason) {
        self.marked.push((packet.id, why));
    }
    fn dropped(&mut self, packet: &Packet, why: DropReason) {
        self.dropped.push((packet.id, why));
    }
}

/// A queue on a link of 1 Mbit/s, where 125 B take 1 ms. Times are in units of `US` microseconds, and packets are numbered
/// from 1. Flows from 100 on are of the group "high", others of "low". `Of` is the file that has methods of its own for it.
pub struct Bench<const US: u64, Of = ()> {
    pub queue: Queue<Packet>,
    pub diary: Diary,
    sent: u32,
    of: PhantomData<Of>,
}

impl<const US: u64, Of> Bench<US, Of> {
    pub fn new(config: &Config) -> Self {
        assert_eq!(config.check(), Ok(()));
        let link = LinkContext { rate: Rate::from_bps(1_000_000), delay: Dur::from_ms(10) };
        let groups = ["low", "high"].map(str::to_owned);
        let queue = Queue::new(config, link, &groups, Rng::named(1, "queue"));
        Bench { queue, diary: Diary::default(), sent: 0, of: PhantomData }
    }
    /// A packet arrives. Its number.
    pub fn put_as(&mut self, t: u64, flow: u64, len: u32, ecn: Ecn, dscp: u8) -> u32 {
        self.sent += 1;
        let (dscp, group) = (Dscp::from_bits(dscp), usize::from(flow >= 100));
        let packet = Packet { id: self.sent, len, ecn, dscp, group, flow };
        self.queue.enqueue(packet, Self::at(t), &mut self.diary);
        self.check();
        self.sent
    }
    /// The packet that leaves.
    pub fn take(&mut self, t: u64) -> Option<Packet> {
        let packet = self.queue.dequeue(Self::at(t), &mut self.diary);
        self.check();
        packet
    }
    /// Counts the packets held, which takes as long as there are packets: in long queues at every 64th length only.
    fn check(&self) {
        let held = self.queue.packets();
        assert!(held >= 64 && !held.is_multiple_of(64) || self.queue.is_balanced());
    }
    /// All that leave at once.
    pub fn drain(&mut self, t: u64) -> Vec<Packet> {
        std::iter::from_fn(|| self.take(t)).collect()
    }
    /// Who was dropped.
    pub fn dropped(&self) -> Vec<u32> {
        self.diary.dropped.iter().map(|(id, _)| *id).collect()
    }
    pub fn at(t: u64) -> Time {
        Time::ZERO + Dur::from_us(US * t)
    }
}
