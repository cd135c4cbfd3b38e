//! Laws across inner queues: laws whose decisions depend on the state of several queues.

use ecnlab_base::{Dur, Rng, Time};

use crate::contract::hooks::declare;
use crate::record::columns::Integral;
use crate::{MarkReason, PacketView};

/// State of an inner queue as seen by a law across inner queues, excluding the packet that arrives or leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InnerView {
    /// Packets held.
    pub packets: u64,
    /// Bytes held.
    pub bytes: u64,
    /// Arrival time of the packet at its head; `None` if the queue is empty.
    pub head_since: Option<Time>,
}

impl InnerView {
    /// Time that the packet at its head has been in the queue; zero if the queue is empty.
    pub fn delay(&self, now: Time) -> Dur {
        self.head_since.map_or(Dur::ZERO, |since| now.since(since))
    }
}

/// State passed to a law across inner queues for a decision.
#[derive(Clone, Copy, Debug)]
pub struct AcrossView<'a> {
    /// The inner queues, in the order in which the discipline lists them.
    pub queues: &'a [InnerView],
    /// The index of the packet's queue.
    pub of: usize,
    /// The time.
    pub now: Time,
}

impl AcrossView<'_> {
    /// The packet's queue.
    pub fn own(&self) -> &InnerView {
        &self.queues[self.of]
    }
    /// Bytes held by all inner queues together.
    pub fn bytes(&self) -> u64 {
        self.queues.iter().map(|queue| queue.bytes).sum()
    }
}

/// Decision of a law across inner queues on one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Accept the packet.
    Pass,
    /// Signal congestion: mark CE for this reason if the packet is ECN-capable, else drop.
    Signal(MarkReason),
    /// Signal by a drop, ECN-capable or not.
    SignalByDrop,
}

/// The hooks of [`Across`], each with its default. `$then!` gets the list.
macro_rules! across_hooks {
    ($then:ident $($with:tt)*) => { $then! { $($with)*
        /// Whether [`Across::place`] may return another queue than the packet's own. Constant.
        fn redirects(&self) -> bool {
            false
        }
        /// Returns the index of the inner queue for an arriving packet, which may differ from its own.
        fn place(&mut self, packet: &PacketView, view: &AcrossView<'_>) -> usize {
            view.of
        }
        /// Whether [`Across::on_enqueue`] may return another decision than to pass. Constant.
        fn judges_arrivals(&self) -> bool {
            true
        }
        /// Returns the decision on an arriving packet for which there is room.
        fn on_enqueue(&mut self, packet: &PacketView, view: &AcrossView<'_>, rng: &mut Rng) -> Decision {
            Decision::Pass
        }
        /// Returns the decision on a departing packet.
        fn on_dequeue(&mut self, packet: &PacketView, view: &AcrossView<'_>, rng: &mut Rng) -> Decision {
            Decision::Pass
        }

        /// Interval of [`Across::on_tick`], if it is used. Constant, and never zero. The first tick is one interval
        /// after the start of the run. As [`crate::Aqm::tick`].
        fn tick(&self) -> Option<Dur> {
            None
        }
        /// Handles a tick at `now`.
        fn on_tick(&mut self, queues: &[InnerView], now: Time) {}

        /// Current values of the columns of [`crate::Facts::values`].
        fn values(&self) -> Vec<f64> {
            Vec::new()
        }
        /// Integrates its state, which has been constant for `time`.
        fn elapsed(&mut self, time: Dur) {}
        /// Returns the integrals for the columns of [`crate::Facts::means`] since the last call, and resets them.
        fn cut(&mut self) -> Vec<Integral> {
            Vec::new()
        }
    } };
}
pub(crate) use across_hooks;

/// A law across inner queues. It decides and the queue acts, as for [`crate::Aqm`]. It is called in addition to the
/// inner queue's own law: on arrival before that law, on departure after it.
///
/// The queue calls it with non-decreasing times. It must be deterministic: `rng` is the only source of random numbers.
#[allow(unused_variables, reason = "a default ignores what it is shown")]
pub trait Across {
    across_hooks! { declare }
}

/// The trait is object-safe.
const _: Option<&dyn Across> = None;

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_wire::Ecn;

    /// A law with only the required methods.
    struct Silent;

    impl Across for Silent {}

    #[test]
    fn a_law_without_methods_signals_none_and_has_neither_ticks_nor_columns() {
        let mut law = Silent;
        let packet = PacketView { size: 1500, ecn: Ecn::Ect1, flow: 0, can_mark: true, sojourn: Dur::from_s(9) };
        let queues = [InnerView { packets: 9, bytes: 13_500, head_since: Some(Time::ZERO) }];
        let view = AcrossView { queues: &queues, of: 0, now: Time::ZERO + Dur::from_s(9) };
        let mut rng = Rng::named(1, "law");
        assert_eq!((law.redirects(), law.place(&packet, &AcrossView { of: 7, ..view })), (false, 7));
        assert!(law.judges_arrivals());
        assert_eq!(law.on_enqueue(&packet, &view, &mut rng), Decision::Pass);
        assert_eq!(law.on_dequeue(&packet, &view, &mut rng), Decision::Pass);
        assert_eq!((law.tick(), law.values(), law.cut()), (None, vec![], vec![]));
    }
}
