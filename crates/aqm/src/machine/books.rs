//! Marks, drops and counts packets, and issues source quenches; no other code does.

use ecnlab_base::{Dur, Rng, Time};
use ecnlab_wire::{Ecn, QuenchCause};

use crate::registry::Law;
use crate::{Aqm, Counters, DropReason, Item, MarkReason, Owed, PacketView, SpeaksBack, Tally, Watch};

/// State shared by the inner queues of a [`crate::Queue`].
#[derive(Clone, Debug)]
pub(crate) struct Books {
    /// Counts of the packets, by flow group.
    pub counters: Counters,
    /// Held by all inner queues together.
    pub held: Tally,
    /// Bytes held by the queues of all flows, during an operation on one of them.
    pub flows: Option<u64>,
    /// End of the transmission of the last packet that left a queue with inner queues.
    pub busy_until: Time,
    /// Number of times that the link has found several queues all empty, as seen by an arrival.
    pub idles: u64,
    /// Random numbers of all laws and evictions.
    pub rng: Rng,
}

impl Books {
    pub fn new(groups: usize, rng: Rng) -> Books {
        let (held, busy_until) = (Tally::default(), Time::ZERO);
        Books { counters: Counters::new(groups), held, flows: None, busy_until, idles: 0, rng }
    }

    /// Counts the arrival of `packet`.
    #[inline]
    pub fn arrived(&mut self, packet: &impl Item) {
        self.counters.kind(packet.group(), packet.ecn().is_capable()).arrived(packet.wire_len(), packet.ecn());
    }

    /// Counts `packet` as held.
    #[inline]
    pub fn took_in(&mut self, packet: &impl Item) {
        self.held.packets += 1;
        self.held.bytes += u64::from(packet.wire_len());
        self.flows = self.flows.map(|bytes| bytes + u64::from(packet.wire_len()));
    }

    /// Counts `packet` as no longer held.
    #[inline]
    pub fn took_out(&mut self, packet: &impl Item) {
        self.held.packets -= 1;
        self.held.bytes -= u64::from(packet.wire_len());
        self.flows = self.flows.map(|bytes| bytes - u64::from(packet.wire_len()));
    }

    /// Counts the departure of `packet` to the wire.
    #[inline]
    pub fn departed<P: Item>(&mut self, packet: &P, watch: &mut impl Watch<P>) {
        self.counters.kind(packet.group(), packet.ecn().is_capable()).departed(packet.wire_len());
        watch.dequeued(packet);
    }

    /// Drops `packet`, which a limit decided on, or the `law` of its queue.
    pub fn drop<P: Item>(
        &mut self,
        packet: &P,
        why: DropReason,
        law: Option<&Law>,
        watch: &mut (impl Watch<P> + ?Sized),
    ) {
        self.counters.kind(packet.group(), packet.ecn().is_capable()).drop(packet.wire_len(), why);
        watch.dropped(packet, why);
        if let Some(law) = law.filter(|_| packet.ecn().is_capable()) {
            self.speak_back(packet, QuenchCause::Dropped, law, watch);
        }
    }

    /// Marks `packet` CE, as decided by `law`.
    pub fn mark<P: Item>(&mut self, packet: &mut P, why: MarkReason, law: &Law, watch: &mut (impl Watch<P> + ?Sized)) {
        if packet.ecn() != Ecn::Ce {
            self.speak_back(packet, QuenchCause::Marked, law, watch);
        }
        self.mark_silently(packet, why, watch);
    }

    /// Marks `packet` CE, as decided by a law without source quenches. A packet that has CE is not marked again.
    #[inline]
    pub fn mark_silently<P: Item>(&mut self, packet: &mut P, why: MarkReason, watch: &mut (impl Watch<P> + ?Sized)) {
        if packet.ecn() == Ecn::Ce {
            self.counters.kind(packet.group(), true).signalled_ce(packet.wire_len());
            watch.signalled_ce(packet);
            return;
        }
        packet.mark();
        self.counters.kind(packet.group(), packet.ecn().is_capable()).marked(packet.wire_len(), why);
        watch.marked(packet, why);
    }

    /// Issues the source quench for a mark or a drop, if the law sends them.
    fn speak_back<P: Item>(&mut self, packet: &P, cause: QuenchCause, law: &Law, watch: &mut (impl Watch<P> + ?Sized)) {
        if let Some(SpeaksBack { wire_len, delay, now: true }) = law.speaks_back() {
            self.counters.kind(packet.group(), packet.ecn().is_capable()).quenched();
            watch.quenched(&Owed { packet: *packet, cause, wire_len, delay });
        }
    }
}

impl PacketView {
    /// Returns the view of `packet` for a law, after `sojourn` in a queue with or without ECN.
    #[inline]
    pub(crate) fn of(packet: &impl Item, ecn: bool, sojourn: Dur) -> PacketView {
        PacketView {
            size: packet.wire_len(),
            ecn: packet.ecn(),
            flow: packet.flow_key(),
            can_mark: ecn && packet.ecn().is_capable(),
            sojourn,
        }
    }
}
