//! What a law over one FIFO from outside is: an object of whoever runs the scenario, which is called as a law of this crate is.

use std::fmt;

use ecnlab_base::{Dur, Length, Rng, Time};

use crate::{LinkContext, PacketView, Verdict, View};

/// Makes the objects of a law, one for each queue.
pub trait Supply: Send + Sync {
    /// The law on a queue that feeds `link`.
    fn object(&self, link: LinkContext) -> Box<dyn Object>;
    /// [`Aqm::tick`](crate::Aqm::tick), of every object alike.
    fn tick(&self) -> Option<Dur>;
}

/// A law, as [`Aqm`](crate::Aqm) has its methods.
pub trait Object: fmt::Debug + Send {
    /// [`Aqm::limited`](crate::Aqm::limited).
    fn limited(&mut self, limit: Length);
    /// [`Aqm::on_enqueue`](crate::Aqm::on_enqueue).
    fn on_enqueue(&mut self, packet: &PacketView, view: &View, now: Time, rng: &mut Rng) -> Verdict;
    /// [`Aqm::on_unlike`](crate::Aqm::on_unlike).
    fn on_unlike(&mut self, packet: &PacketView, view: &View, rng: &mut Rng) -> Verdict;
    /// [`Aqm::on_dequeue`](crate::Aqm::on_dequeue).
    fn on_dequeue(&mut self, packet: &PacketView, view: &View, now: Time, rng: &mut Rng) -> Verdict;
    /// [`Aqm::on_full`](crate::Aqm::on_full).
    fn on_full(&mut self);
    /// [`Aqm::on_shed`](crate::Aqm::on_shed).
    fn on_shed(&mut self, packets: u32);
    /// [`Aqm::on_empty`](crate::Aqm::on_empty).
    fn on_empty(&mut self);
    /// [`Aqm::on_tick`](crate::Aqm::on_tick).
    fn on_tick(&mut self, view: &View);
}
