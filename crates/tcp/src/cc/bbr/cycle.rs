//! The gain cycle of ProbeBW: a quarter above the bandwidth, a quarter below it, then six phases at the bandwidth.

use ecnlab_base::{Rng, Time};

use super::bandwidth::UNIT;
use super::us;

/// The pacing gains of the phases (bbr_pacing_gain).
const GAINS: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];

/// Number of phases from which the first is drawn: all but the one that drains (bbr_cycle_rand).
const FIRST_PHASES: u64 = 7;

/// The current phase and its start.
#[derive(Clone, Debug)]
pub(super) struct Cycle {
    phase: usize,
    began: Time,
    rng: Rng,
}

impl Cycle {
    /// The cycle of a connection; `seed` seeds the draws of the first phase.
    pub fn new(seed: u32) -> Cycle {
        Cycle { phase: 0, began: Time::ZERO, rng: Rng::named(seed.into(), "bbr") }
    }

    /// Starts the cycle at `now` with a random phase (bbr_reset_probe_bw_mode).
    pub fn begin(&mut self, now: Time) {
        self.phase = GAINS.len() - 1 - self.rng.below(FIRST_PHASES) as usize;
        self.advance(now);
    }

    /// Starts the next phase at `now`.
    pub fn advance(&mut self, now: Time) {
        self.phase = (self.phase + 1) % GAINS.len();
        self.began = now;
    }

    /// Pacing gain of the phase, in units of 1/256.
    pub fn gain(&self) -> u64 {
        GAINS[self.phase]
    }

    /// Whether the phase probes for more bandwidth.
    pub fn probes(&self) -> bool {
        self.phase == 0
    }

    /// The phase.
    #[cfg(test)]
    pub fn phase(&self) -> usize {
        self.phase
    }

    /// Microseconds since the phase began.
    pub fn lasted(&self, now: Time) -> u64 {
        us(now.since(self.began))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_base::Dur;

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    #[test]
    fn gains_are_the_kernel_s() {
        // 320/256, 192/256, and six times one.
        assert_eq!(GAINS, [320, 192, 256, 256, 256, 256, 256, 256]);
    }

    #[test]
    fn the_first_phase_is_drawn_and_is_not_the_one_that_drains() {
        let first = |seed| {
            let mut cycle = Cycle::new(seed);
            cycle.begin(at(1));
            cycle.phase
        };
        let mut phases: Vec<usize> = (0..60).map(first).collect();
        assert_eq!(first(7), first(7));
        phases.sort_unstable();
        phases.dedup();
        assert_eq!(phases, [0, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn after_the_last_phase_comes_the_one_that_probes() {
        let mut cycle = Cycle { phase: 7, ..Cycle::new(1) };
        assert!(!cycle.probes());
        cycle.advance(at(5));
        assert!(cycle.probes() && cycle.gain() == 320);
        assert_eq!(cycle.lasted(at(7)), 2_000);
    }
}
