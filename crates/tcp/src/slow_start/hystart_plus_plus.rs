//! HyStart++ (RFC 9406): after an RTT increase, conservative slow start continues at a quarter of the growth. It ends
//! slow start after five round trips, unless the RTT falls again.

use ecnlab_base::Dur;

use super::{Opening, SlowStartExit};
use crate::cc::AckSample;
use crate::facts::Facts;
use crate::window::FRACTION;

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "hystart++",
    label: "HyStart++",
    summary: "When the RTT has grown by an eighth, slow start continues at a quarter of its rate, and ends after five RTTs.",
    reference: "RFC 9406",
    // §4.3: later slow starts have a threshold that ends them.
    only_without_threshold: true,
    ..Facts::PLAIN
};

// §4.3: the recommended values.
const MIN_RTT_THRESH: Dur = Dur::from_ms(4);
const MAX_RTT_THRESH: Dur = Dur::from_ms(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;
/// Maximum growth of the window per ACK, in segments; unlimited with pacing.
const L: u64 = 8;

/// HyStart++.
#[derive(Clone, Debug, Default)]
pub struct HystartPlusPlus {
    round: u64,
    /// Minimum RTT of the previous and of the current round trip; `None` means infinity.
    last_round: Option<Dur>,
    this_round: Option<Dur>,
    /// RTT samples of the current round trip (rttSampleCount).
    samples: u32,
    conservative: Option<Conservative>,
    /// Whether the current ACK arrived in conservative slow start.
    slowly: bool,
}

/// Conservative slow start (CSS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Conservative {
    /// The RTT that triggered it (cssBaselineMinRtt).
    baseline: Dur,
    /// Completed round trips of conservative slow start, including the one in which it started.
    rounds: u32,
}

impl HystartPlusPlus {
    /// §4.2: starts a round trip. Returns whether conservative slow start is over.
    fn begin_round(&mut self, round: u64) -> bool {
        self.round = round;
        (self.last_round, self.this_round, self.samples) = (self.this_round, None, 0);
        let Some(css) = &mut self.conservative else { return false };
        css.rounds += 1;
        css.rounds == CSS_ROUNDS
    }

    /// §4.2: processes an RTT sample. An increase starts conservative slow start; a fall below the baseline shows that
    /// it was spurious and ends it.
    fn take(&mut self, rtt: Dur) {
        let least = self.this_round.map_or(rtt, |least| least.min(rtt));
        self.this_round = Some(least);
        self.samples += 1;
        if self.samples < N_RTT_SAMPLE {
            return;
        }
        match (self.conservative, self.last_round) {
            (Some(css), _) if least < css.baseline => self.conservative = None,
            (None, Some(last)) if least >= last + threshold(last) => {
                self.conservative = Some(Conservative { baseline: least, rounds: 0 });
            }
            _ => {}
        }
    }
}

/// §4.2: RttThresh.
fn threshold(last: Dur) -> Dur {
    (last / MIN_RTT_DIVISOR).min(MAX_RTT_THRESH).max(MIN_RTT_THRESH)
}

impl SlowStartExit for HystartPlusPlus {
    fn on_ack(&mut self, ack: &AckSample, opening: &Opening) -> bool {
        if opening.window.ssthresh != u64::MAX {
            return false;
        }
        if ack.round != self.round && self.begin_round(ack.round) {
            return true;
        }
        // §4.2: the window opens before the RTT is examined.
        self.slowly = self.conservative.is_some();
        if let Some(rtt) = ack.rtt {
            self.take(rtt);
        }
        false
    }

    fn growth(&self, acked: u64, opening: &Opening) -> Option<u64> {
        if opening.window.ssthresh != u64::MAX {
            return None;
        }
        let bytes = if opening.paced { acked } else { acked.min(L * u64::from(opening.mss)) } << FRACTION;
        Some(if self.slowly { bytes / CSS_GROWTH_DIVISOR } else { bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::CcState;
    use crate::slow_start::sample;

    /// Slow start without a threshold.
    fn opening() -> Opening {
        Opening { window: CcState { cwnd: 10_000, ssthresh: u64::MAX }, mss: 1_000, paced: false }
    }

    /// So many ACKs with an RTT, in microseconds. Returns by how many bytes each of 1000 opens the window, and whether slow
    /// start is over.
    fn acks(exit: &mut HystartPlusPlus, n: usize, rtt: u64, round: u64) -> (Vec<u64>, bool) {
        let opening = opening();
        let mut over = false;
        let growth = (0..n).map(|_| {
            over |= exit.on_ack(&sample(0.0, rtt, round), &opening);
            exit.growth(1_000, &opening).unwrap() >> FRACTION
        });
        (growth.collect(), over)
    }

    /// One with a round trip of 100 ms, and one of 120 ms at whose eighth ACK slow start has become conservative.
    fn conservative() -> HystartPlusPlus {
        let mut exit = HystartPlusPlus::default();
        acks(&mut exit, 8, 100_000, 1);
        acks(&mut exit, 8, 120_000, 2);
        assert_eq!(exit.conservative, Some(Conservative { baseline: Dur::from_ms(120), rounds: 0 }));
        exit
    }

    #[test]
    fn eight_samples_with_a_grown_rtt_make_slow_start_conservative() {
        for (last, rtt, grown) in [
            // 100 / 8 = 12.5 ms more; at the bound already.
            (100_000, 112_500, true),
            (100_000, 112_499, false),
            // At least 4 ms, at most 16.
            (10_000, 14_000, true),
            (10_000, 13_999, false),
            (400_000, 416_000, true),
            (400_000, 415_999, false),
        ] {
            let mut exit = HystartPlusPlus::default();
            acks(&mut exit, 1, last, 1);
            acks(&mut exit, 7, rtt, 2);
            assert_eq!(exit.conservative, None, "seven samples");
            acks(&mut exit, 1, rtt, 2);
            assert_eq!(exit.conservative.is_some(), grown, "{rtt} after {last}");
        }
    }

    #[test]
    fn the_round_trip_before_counts_and_no_earlier_one() {
        let mut exit = HystartPlusPlus::default();
        for (round, rtt) in [100_000, 110_000, 120_000, 130_000].into_iter().enumerate() {
            acks(&mut exit, 8, rtt, round as u64 + 1);
        }
        assert_eq!(exit.conservative, None);
        // A round trip without samples is followed by one that has nothing to be compared with.
        exit.on_ack(&AckSample { rtt: None, ..sample(0.0, 0, 5) }, &opening());
        acks(&mut exit, 8, 500_000, 6);
        assert_eq!(exit.conservative, None);
    }

    #[test]
    fn the_ack_that_finds_the_growth_opens_the_window_whole_and_the_next_a_quarter() {
        let mut exit = HystartPlusPlus::default();
        acks(&mut exit, 8, 100_000, 1);
        assert_eq!(acks(&mut exit, 9, 120_000, 2), ([[1_000; 8].as_slice(), &[250]].concat(), false));
    }

    #[test]
    fn an_rtt_below_the_baseline_resumes_slow_start() {
        let mut exit = conservative();
        assert_eq!(acks(&mut exit, 8, 120_000, 3).0, [250; 8], "as long is not below");
        assert_eq!(acks(&mut exit, 9, 119_999, 4), ([[250; 8].as_slice(), &[1_000]].concat(), false));
        // And it may become conservative again: 120 + 15 ms.
        acks(&mut exit, 8, 135_000, 5);
        assert_eq!(exit.conservative, Some(Conservative { baseline: Dur::from_ms(135), rounds: 0 }));
    }

    #[test]
    fn after_five_round_trips_slow_start_is_over_the_one_of_its_beginning_among_them() {
        let mut exit = conservative();
        // It began in round trip 2: 3, 4, 5 and 6 are the others.
        for round in 3..=6 {
            assert!(!acks(&mut exit, 8, 120_000, round).1, "{round}");
        }
        assert!(exit.on_ack(&sample(0.0, 120_000, 7), &opening()));
    }

    #[test]
    fn an_ack_opens_the_window_by_eight_segments_at_most_unless_segments_are_paced() {
        let (exit, mut opening) = (HystartPlusPlus::default(), opening());
        let growth = |acked, opening: &Opening| exit.growth(acked, opening).map(|more| more >> FRACTION);
        assert_eq!([7_999, 8_000, 8_001].map(|acked| growth(acked, &opening)), [Some(7_999), Some(8_000), Some(8_000)]);
        opening.paced = true;
        assert_eq!(growth(20_000, &opening), Some(20_000));
        // A quarter of one byte is kept.
        assert_eq!(conservative_growth(1), 1 << (FRACTION - 2));
    }

    fn conservative_growth(acked: u64) -> u64 {
        let mut exit = conservative();
        exit.on_ack(&sample(0.0, 120_000, 2), &opening());
        exit.growth(acked, &opening()).unwrap()
    }

    #[test]
    fn with_a_threshold_it_does_nothing() {
        let mut opening = opening();
        opening.window.ssthresh = 1 << 30;
        let mut exit = HystartPlusPlus::default();
        for (rtt, round) in [(100_000, 1), (200_000, 2)] {
            (0..8).for_each(|_| assert!(!exit.on_ack(&sample(0.0, rtt, round), &opening)));
        }
        assert_eq!((exit.conservative, exit.growth(1_000, &opening)), (None, None));
    }
}
