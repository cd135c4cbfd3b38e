//! Detection of a full pipe in Startup (bbr_check_full_bw_reached): the bandwidth grew by less than a quarter in three
//! rounds.

use super::bandwidth::{Bandwidth, UNIT};

/// Factor from which on the bandwidth counts as growing (bbr_full_bw_thresh).
const GROWTH: u64 = UNIT * 5 / 4;

/// Rounds without growth that indicate a full pipe (bbr_full_bw_cnt).
const ROUNDS: u32 = 3;

/// State of the full pipe detection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pipe {
    /// Bandwidth at its last growth.
    bw: Bandwidth,
    /// Rounds since then.
    rounds: u32,
    full: bool,
}

impl Pipe {
    /// Whether the pipe was full once.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Processes the end of a round; `bw` is the maximum bandwidth.
    pub fn end_round(&mut self, bw: Bandwidth) {
        if bw >= self.bw.times(GROWTH) {
            (self.bw, self.rounds) = (bw, 0);
            return;
        }
        self.rounds += 1;
        self.full = self.rounds >= ROUNDS;
    }

    /// Resets the bandwidth but not the count of rounds without growth (bbr_set_state).
    pub fn forget_bandwidth(&mut self) {
        self.bw = Bandwidth::default();
    }

    /// Restarts the detection, unless it has ended (bbr_undo_cwnd).
    pub fn restart(&mut self) {
        (self.bw, self.rounds) = (Bandwidth::default(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the pipe is full after each of these rounds, in segments a second.
    fn fills(pipe: &mut Pipe, rounds: &[u64]) -> Vec<bool> {
        let bw = |segments| Bandwidth::of(segments, 1, 1_000);
        let mut end = |segments: &u64| {
            pipe.end_round(bw(*segments));
            pipe.is_full()
        };
        rounds.iter().map(&mut end).collect()
    }

    #[test]
    fn three_rounds_with_less_than_a_quarter_more_fill_it() {
        // 124 are less than a quarter more than 100, 126 are more: then the count begins anew.
        assert_eq!(fills(&mut Pipe::default(), &[100, 124, 124, 126]), [false; 4]);
        assert_eq!(fills(&mut Pipe::default(), &[100, 124, 124, 50]), [false, false, false, true]);
        // Exactly a quarter more: 320/256 of 2^24 units.
        let mut pipe = Pipe::default();
        [1_000_000, 1_250_000, 1_250_000, 1_250_000]
            .iter()
            .for_each(|us| pipe.end_round(Bandwidth::of(*us, 1, 1_000_000)));
        assert_eq!((pipe.rounds, pipe.full), (2, false));
    }

    #[test]
    fn a_timeout_leaves_the_count_and_an_undo_does_not() {
        let mut pipe = Pipe::default();
        fills(&mut pipe, &[100, 100]);
        pipe.forget_bandwidth();
        assert_eq!((pipe.bw, pipe.rounds), (Bandwidth::default(), 1));
        pipe.restart();
        assert_eq!((pipe.bw, pipe.rounds), (Bandwidth::default(), 0));
        // Whatever the next round brings is growth.
        assert_eq!(fills(&mut pipe, &[10, 10, 10, 10]), [false, false, false, true]);
        pipe.restart();
        assert!(pipe.is_full(), "once full, it stays so");
    }
}
