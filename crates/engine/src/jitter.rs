//! Jitter: a random delay per packet in addition to the link's delay.

use ecnlab_base::{Dur, Rng, Time};

use crate::plan::Jitter;

/// Maximum delay of a packet: heavy-tailed distributions may draw more, and deadlines add several of these.
const LONGEST: Dur = Dur::from_s(86_400);

/// The jitter of one link.
#[derive(Debug)]
pub struct Jolts {
    plan: Jitter,
    rng: Rng,
    /// Latest arrival time so far.
    latest: Time,
}

impl Jolts {
    /// Creates the jitter of `plan`.
    pub fn new(plan: Jitter, rng: Rng) -> Jolts {
        Jolts { plan, rng, latest: Time::ZERO }
    }

    /// Draws the delay of the next packet: once for each that leaves the queue, including lost ones.
    pub fn draw(&mut self) -> Dur {
        self.plan.delay.draw(&mut self.rng).min(LONGEST)
    }

    /// Returns the arrival time of a packet that would arrive at `at` without the order constraint.
    pub fn arrival(&mut self, at: Time) -> Time {
        if self.plan.reorder {
            return at;
        }
        self.latest = self.latest.max(at);
        self.latest
    }
}
