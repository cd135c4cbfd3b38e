//! Jitter: a random delay per packet in addition to the link's delay.

use ecnlab_base::{Dur, Rng};

use crate::plan::Jitter;

/// Maximum delay of a packet: heavy-tailed distributions may draw more, and deadlines add several of these.
const LONGEST: Dur = Dur::from_s(86_400);

/// The jitter of one link.
#[derive(Debug)]
pub struct Jolts {
    plan: Jitter,
    rng: Rng,
}

impl Jolts {
    /// Creates the jitter of `plan`.
    pub fn new(plan: Jitter, rng: Rng) -> Jolts {
        Jolts { plan, rng }
    }

    /// Draws the delay of the next packet: once for each that leaves the queue, including lost ones.
    pub fn draw(&mut self) -> Dur {
        self.plan.delay.draw(&mut self.rng).min(LONGEST)
    }

    /// Returns whether packets may overtake each other.
    pub fn reorders(&self) -> bool {
        self.plan.reorder
    }
}
