//! The interface of a discipline: a decision on each packet, based on the state of the queue.

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

/// State of the queue as seen by a discipline; it does not include other packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Packets held, without the one that arrives or leaves and without the one in transmission.
    pub packets: u64,
    /// Bytes held, counted likewise.
    pub bytes: u64,
    /// Bytes held by the queues of all flows, if this is the queue of one flow among others; else those held here.
    pub in_all: u64,
    /// Time for which the link has been idle; `None` while it is busy. The link counts as busy for [`Rate::time_for`]
    /// the last packet that left.
    pub idle: Option<Dur>,
    /// Whether the link has found all its queues empty since the last packet left: it is free, and nothing is held.
    pub polled: bool,
}

/// Properties of a packet as seen by a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketView {
    /// Bytes on the wire.
    pub size: u32,
    /// Its codepoint.
    pub ecn: Ecn,
    /// Identifies its five-tuple.
    pub flow: u64,
    /// Whether a signal to it would be CE: it is ECN-capable, and the queue has ECN on.
    pub can_mark: bool,
    /// Time in the queue; zero on arrival.
    pub sojourn: Dur,
}

/// Source quench settings of a law that notifies senders of marks and drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpeaksBack {
    /// Bytes of a source quench on the wire.
    pub wire_len: u32,
    /// The time from a mark or drop until its source quench is sent.
    pub delay: Dur,
    /// A source quench is owed to the sender of the ECN-capable packet that has just arrived, if that packet is marked
    /// or dropped.
    pub now: bool,
}

/// The hooks of [`Aqm`], each with its default. `$then!` gets the list.
macro_rules! aqm_hooks {
    ($then:ident $($with:tt)*) => { $then! { $($with)*
        /// Sets the limit of the queue; called once, before the first packet.
        fn limited(&mut self, limit: Length) {}

        /// Returns the verdict on an arriving packet; `view` does not include it yet.
        #[inline(always)]
        fn on_enqueue(&mut self, packet: &PacketView, view: &View, now: Time, rng: &mut Rng) -> Verdict {
            Verdict::Pass
        }
        /// Returns the verdict on an arriving packet after [`Verdict::Compare`], if the drawn packet is of another flow.
        fn on_unlike(&mut self, packet: &PacketView, view: &View, rng: &mut Rng) -> Verdict {
            Verdict::Pass
        }
        /// Returns the verdict on a departing packet; `view` no longer includes it.
        #[inline]
        fn on_dequeue(&mut self, packet: &PacketView, view: &View, now: Time, rng: &mut Rng) -> Verdict {
            Verdict::Pass
        }
        /// Handles the drop of a packet that the discipline accepted, because the queue is full.
        fn on_full(&mut self) {}
        /// Handles packets dropped from the head to make room for packets of other queues.
        fn on_shed(&mut self, packets: u32) {}
        /// Handles a poll that found the queue empty.
        fn on_empty(&mut self) {}
        /// Sets the number of flows, excluding new ones, that take turns with its own; called before each departure if
        /// the scheduler counts them.
        fn among(&mut self, flows: u32) {}
        /// Returns whether its state for an empty queue is the initial state. If not, the scheduler may poll the queue
        /// again until the state has decayed.
        fn is_at_rest(&self) -> bool {
            true
        }

        /// Whether it is indifferent: every packet passes, and no call changes its state.
        fn is_indifferent(&self) -> bool {
            false
        }

        /// Its source quench settings. Whether it has any is constant: `None` never changes.
        ///
        /// Only a law that marks and drops on arrival can have them: departures are replayed later, too late to send a quench.
        fn speaks_back(&self) -> Option<SpeaksBack> {
            None
        }

        /// Interval of [`Aqm::on_tick`], if it is used. Constant, and never zero.
        ///
        /// Ticks are lazy: the queue runs those that are due, in order of time, before each enqueue,
        /// dequeue or observation. The state visible to a discipline does not change in between, so it cannot distinguish
        /// them from a timer, and the engine needs no timer.
        fn tick(&self) -> Option<Dur> {
            None
        }
        /// Time of the first tick after the start of the run, if there are ticks. Constant.
        fn first_tick(&self) -> Option<Dur> {
            self.tick()
        }
        /// Handles a tick.
        fn on_tick(&mut self, view: &View) {}

        /// Current values of the columns of [`crate::Facts::values`].
        fn values(&self) -> Vec<f64> {
            Vec::new()
        }
        /// Integrates its state, which has been constant for `time`.
        #[inline]
        fn elapsed(&mut self, time: Dur) {}
        /// Returns the integrals for the columns of [`crate::Facts::means`] since the last call, and resets them.
        fn cut(&mut self) -> Vec<Integral> {
            Vec::new()
        }
    } };
}
pub(crate) use aqm_hooks;

/// A queue discipline. It decides; [`crate::Queue`] acts.
///
/// The queue calls it with non-decreasing `now`. It must be deterministic: `rng` is the only source of random numbers.
#[allow(unused_variables, reason = "a default ignores what it is shown")]
pub trait Aqm: fmt::Debug + Send {
    aqm_hooks! { declare }
}
