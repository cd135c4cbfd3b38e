//! What a discipline is: a decision on each packet, from what it is shown of the queue.

use ecnlab_base::{Dur, Rate, Rng, Time};

use crate::Verdict;

/// The link a queue feeds; automatic parameters are found from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkContext {
    /// The rate at which the queue drains: the link's, or its shaper's.
    pub rate: Rate,
    /// The link's propagation delay.
    pub delay: Dur,
}

/// What a discipline is shown of the queue: never the packets themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Packets held, without the one that arrives or leaves and without the one in transmission.
    pub packets: u64,
    /// Bytes held, counted likewise.
    pub bytes: u64,
    /// How long the link has had nothing to send; `None` while it is busy. The link is taken to
    /// be busy for [`Rate::time_for`] the last packet that left.
    pub idle: Option<Dur>,
}

/// Where an average lies against its thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// Under `min_th`.
    Below,
    /// From `min_th` up to, not including, `max_th`.
    Inside,
    /// At `max_th` or over it.
    Above,
}

/// A discipline's average queue, for the record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Average {
    /// In packets.
    pub packets: f64,
    /// In bytes.
    pub bytes: f64,
    /// The present `max_p`, which adaptive laws move.
    pub max_p: f64,
    /// Where the average lies, in the thresholds' own unit.
    pub region: Region,
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

/// A queue discipline. It decides; [`crate::Queue`] acts.
///
/// The queue calls it with non-decreasing `now`. All of it is deterministic: its only chance is `rng`.
pub trait Aqm {
    /// What a scenario says of the discipline.
    type Params;

    /// The discipline on a link. `params` have passed their check.
    fn new(params: &Self::Params, link: LinkContext) -> Self;

    /// The verdict on an arriving packet of `size` bytes; `view` does not hold it yet.
    fn on_enqueue(&mut self, _size: u32, _view: &View, _now: Time, _rng: &mut Rng) -> Verdict {
        Verdict::Pass
    }
    /// The verdict on a packet about to leave after `sojourn` in the queue; `view` no longer holds it.
    fn on_dequeue(&mut self, _sojourn: Dur, _view: &View, _now: Time, _rng: &mut Rng) -> Verdict {
        Verdict::Pass
    }
    /// A packet that the discipline let through found no room.
    fn on_full(&mut self) {}

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
    /// One tick.
    fn on_tick(&mut self, _view: &View) {}

    /// Its average queue, if it keeps one.
    fn average(&self) -> Option<Average> {
        None
    }
}
