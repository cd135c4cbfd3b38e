//! A law across the inner queues of a branch, and the execution of its decisions.

use ecnlab_base::{Dur, Time};

use crate::machine::books::Books;
use crate::registry::Joint;
use crate::{Across, AcrossView, Decision, DropReason, InnerView, Item, PacketView, Watch};

/// A law across the inner queues of a branch, with its ticks and the state passed to it.
#[derive(Clone, Debug)]
pub(crate) struct Coupling {
    pub law: Joint,
    /// Whether the queue has ECN on.
    ecn: bool,
    redirects: bool,
    judges_arrivals: bool,
    tick: Dur,
    next_tick: Time,
    queues: Vec<InnerView>,
}

impl Coupling {
    /// Starts `law` across empty queues at time zero.
    pub fn new(law: Joint, ecn: bool, queues: usize) -> Coupling {
        let tick = law.tick();
        Coupling {
            ecn,
            tick: tick.unwrap_or(Dur::MAX),
            next_tick: tick.map_or(Time::NEVER, |tick| Time::ZERO + tick),
            redirects: law.redirects(),
            judges_arrivals: law.judges_arrivals(),
            law,
            queues: vec![InnerView::default(); queues],
        }
    }

    /// Updates the state shown of the inner queue `i`.
    pub fn show(&mut self, i: usize, now: InnerView) {
        self.queues[i] = now;
    }

    /// Time of the next tick, if it is not after `now`.
    pub fn due(&self, now: Time) -> Option<Time> {
        (self.next_tick <= now).then_some(self.next_tick)
    }

    /// Runs the tick that is due.
    pub fn on_tick(&mut self) {
        self.law.on_tick(&self.queues, self.next_tick);
        self.next_tick = self.next_tick.saturating_add(self.tick);
    }

    /// Returns the index of the queue for `packet`, which arrives at the queue `of`.
    pub fn place(&mut self, packet: &impl Item, of: usize, now: Time) -> usize {
        if !self.redirects {
            return of;
        }
        let seen = PacketView::of(packet, self.ecn, Dur::ZERO);
        self.law.place(&seen, &AcrossView { queues: &self.queues, of, now })
    }

    /// Whether `packet`, which arrives at the queue at place `of`, may enter, marked if it must be. If not, it has been
    /// dropped.
    pub fn admits<P: Item>(
        &mut self,
        packet: &mut P,
        of: usize,
        now: Time,
        books: &mut Books,
        watch: &mut dyn Watch<P>,
    ) -> bool {
        if !self.judges_arrivals {
            return true;
        }
        let seen = PacketView::of(packet, self.ecn, Dur::ZERO);
        let view = AcrossView { queues: &self.queues, of, now };
        let decision = self.law.on_enqueue(&seen, &view, &mut books.rng);
        act(decision, &seen, packet, books, watch)
    }

    /// Whether `packet`, just taken out of the queue at place `of` after `sojourn`, may go, marked if it must be. If not, it
    /// has been dropped.
    pub fn releases<P: Item>(
        &mut self,
        packet: &mut P,
        (of, sojourn): (usize, Dur),
        now: Time,
        books: &mut Books,
        watch: &mut dyn Watch<P>,
    ) -> bool {
        let seen = PacketView::of(packet, self.ecn, sojourn);
        let view = AcrossView { queues: &self.queues, of, now };
        let decision = self.law.on_dequeue(&seen, &view, &mut books.rng);
        act(decision, &seen, packet, books, watch)
    }
}

/// Executes a decision on `packet`. Returns whether the packet is still there.
fn act<P: Item>(
    decision: Decision,
    seen: &PacketView,
    packet: &mut P,
    books: &mut Books,
    watch: &mut dyn Watch<P>,
) -> bool {
    match decision {
        Decision::Pass => true,
        Decision::Signal(why) if seen.can_mark => {
            books.mark_silently(packet, why, watch);
            true
        }
        Decision::Signal(_) | Decision::SignalByDrop => {
            books.drop(packet, DropReason::Early, None, watch);
            false
        }
    }
}
