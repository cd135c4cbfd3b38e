//! Jitter: a delay of each packet's own on top of the link's.

use ecnlab_base::{Dur, Rng, Time};

use crate::plan::Jitter;

/// The longest that a packet is held up: distributions with a tail may draw more, deadlines add several of these.
const LONGEST: Dur = Dur::from_s(86_400);

/// The jitter of one link.
#[derive(Debug)]
pub struct Jolts {
    plan: Jitter,
    rng: Rng,
    /// When the latest packet so far arrives.
    latest: Time,
}

impl Jolts {
    /// The jitter that `plan` describes.
    pub fn new(plan: Jitter, rng: Rng) -> Jolts {
        Jolts { plan, rng, latest: Time::ZERO }
    }

    /// What is drawn for the next packet: one draw for each that leaves the queue, lost ones too.
    pub fn draw(&mut self) -> Dur {
        self.plan.delay.draw(&mut self.rng).min(LONGEST)
    }

    /// When a packet arrives that would without the others arrive at `at`.
    pub fn arrival(&mut self, at: Time) -> Time {
        if self.plan.reorder {
            return at;
        }
        self.latest = self.latest.max(at);
        self.latest
    }
}
