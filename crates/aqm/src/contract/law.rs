//! What a discipline is: a decision on each packet, from what it is shown of the queue.

use std::fmt;

use ecnlab_base::{Dur, Length, Rate, Rng, Time};
use ecnlab_wire::Ecn;

use crate::Verdict;
use crate::contract::hooks::declare;
use crate::record::columns::Integral;

/// The link a queue feeds; automatic parameters are found from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkContext {
    /// The rate at which the queue drains: the link's, or its shaper's.
    pub rate: Rate,
    /// The link's propagation delay.
    pub delay: Dur,
}

/// What a discipline is shown of the queue: never the other packets themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Packets held, without the one that arrives or leaves and without the one in transmission.
    pub packets: u64,
    /// Bytes held, counted likewise.
    pub bytes: u64,
    /// Bytes held by the queues of all flows, if this is the queue of one flow among others; else those held here.
    pub in_all: u64,
    /// How long the link has had nothing to send; `None` while it is busy. The link is taken to
    /// be busy for [`Rate::time_for`] the last packet that left.
    pub idle: Option<Dur>,
    /// Whether the link has found all its queues empty since the last packet left: it is free, and nothing is held.
    pub asked: bool,
}

/// What a discipline is shown of the packet that it judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketView {
    /// Bytes on the wire.
    pub size: u32,
    /// Its codepoint.
    pub ecn: Ecn,
    /// Stands for its five-tuple.
    pub flow: u64,
    /// Whether a signal to it would be CE: it is ECN-capable, and the queue has ECN on.
    pub can_mark: bool,
    /// Its time in the queue; nothing as it arrives.
    pub sojourn: Dur,
}

/// A law that tells senders of marks and drops by source quench.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpeaksBack {
    /// Bytes of a source quench on the wire.
    pub wire_len: u32,
    /// Whether one is owed to the sender of an ECN-capable packet whose arrival the law has just judged, if that packet
    /// is marked or dropped.
    pub now: bool,
}

/// The hooks of [`Aqm`], each with its default. `$then!` gets the list.
macro_rules! aqm_hooks {
    ($then:ident $($with:tt)*) => { $then! { $($with)*
        /// The most that the queue holds; told once, before the first packet.
        fn limited(&mut self, limit: Length) {}

        /// The verdict on an arriving packet; `view` does not hold it yet.
        #[inline(always)]
        fn on_enqueue(&mut self, packet: &PacketView, view: &View, now: Time, rng: &mut Rng) -> Verdict {
            Verdict::Pass
        }
        /// The verdict on an arriving packet after [`Verdict::Compare`], if it is of another flow than the packet drawn.
        fn on_unlike(&mut self, packet: &PacketView, view: &View, rng: &mut Rng) -> Verdict {
            Verdict::Pass
        }
        /// The verdict on a packet about to leave; `view` no longer holds it.
        #[inline]
        fn on_dequeue(&mut self, packet: &PacketView, view: &View, now: Time, rng: &mut Rng) -> Verdict {
            Verdict::Pass
        }
        /// A packet that the discipline let through found no room.
        fn on_full(&mut self) {}
        /// So many packets were dropped from the head to make room for those of other queues.
        fn on_shed(&mut self, packets: u32) {}
        /// A packet was asked for, and none is left.
        fn on_empty(&mut self) {}
        /// So many flows that are no longer new take turns with its own; told before each departure where the scheduler counts them.
        fn among(&mut self, flows: u32) {}
        /// Whether what it keeps of an empty queue is as at first. Where not, the scheduler may come back to let it fade.
        fn is_at_rest(&self) -> bool {
            true
        }

        /// Whether it has no opinion: every packet passes, and nothing it sees changes it.
        fn is_indifferent(&self) -> bool {
            false
        }

        /// How it speaks back to senders. Whether it ever does is constant: `None` is for good.
        ///
        /// Only a law that marks and drops on arrival can: departures are replayed late, when it is too late to speak.
        fn speaks_back(&self) -> Option<SpeaksBack> {
            None
        }

        /// How often [`Aqm::on_tick`] is due, if at all. Constant, and never zero.
        ///
        /// Ticks are lazy: the queue runs those that are due, in order of time, before each enqueue,
        /// dequeue or observation. Nothing a discipline sees changes in between, so it cannot tell
        /// them from a timer, and the engine needs none.
        fn tick(&self) -> Option<Dur> {
            None
        }
        /// So long after the start of the run the first tick is due, if any is. Constant.
        fn first_tick(&self) -> Option<Dur> {
            self.tick()
        }
        /// One tick.
        fn on_tick(&mut self, view: &View) {}

        /// What it has for the columns of [`Facts::values`], now.
        fn values(&self) -> Vec<f64> {
            Vec::new()
        }
        /// What it keeps has been as it is for `time`: time to integrate.
        #[inline]
        fn elapsed(&mut self, time: Dur) {}
        /// The integrals for the columns of [`Facts::means`] since the last call, which begin anew.
        fn cut(&mut self) -> Vec<Integral> {
            Vec::new()
        }
    } };
}
pub(crate) use aqm_hooks;

/// A queue discipline. It decides; [`crate::Queue`] acts.
///
/// The queue calls it with non-decreasing `now`. All of it is deterministic: its only chance is `rng`.
#[allow(unused_variables, reason = "a default ignores what it is shown")]
pub trait Aqm: fmt::Debug + Send {
    aqm_hooks! { declare }
}
