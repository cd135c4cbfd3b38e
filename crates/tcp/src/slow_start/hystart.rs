//! HyStart as in Linux: slow start ends if ACKs arrive in one train for half of the minimum RTT, or if the RTT has
//! increased (net/ipv4/tcp_cubic.c, hystart_update; after Ha and Rhee, "Taming the elephants: New TCP slow start",
//! 2011).

use ecnlab_base::{Dur, Time};

use super::{Opening, SlowStartExit};
use crate::cc::{AckSample, Pacing};
use crate::facts::Facts;

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "hystart",
    label: "HyStart",
    summary: "Slow start also ends when an ACK train lasts half the minimum RTT, or the RTT has grown by an eighth (Linux).",
    reference: "S. Ha and I. Rhee, 'Taming the elephants: new TCP slow start', Computer Networks 55, 2011; Linux, net/ipv4/tcp_cubic.c",
    ..Facts::PLAIN
};

/// Minimum window in segments for detection (hystart_low_window).
const LOW_WINDOW: u64 = 16;
/// Maximum gap between the ACKs of a train (hystart_ack_delta_us).
const ACK_DELTA: Dur = Dur::from_ms(2);
/// RTT samples per round trip before its RTT is used (HYSTART_MIN_SAMPLES).
const MIN_SAMPLES: u32 = 8;
/// Bounds of the RTT increase (HYSTART_DELAY_MIN, HYSTART_DELAY_MAX).
const DELAY_MIN: Dur = Dur::from_ms(4);
const DELAY_MAX: Dur = Dur::from_ms(16);
/// Maximum allowance for segmentation and receive offload in the length of a train (hystart_ack_delay).
const MAX_ACK_DELAY: Dur = Dur::from_ms(1);
/// Four times the maximum bytes of an offloaded packet (4 · sk_gso_max_size).
const GATHERED: u64 = 4 * 65_536;

/// HyStart. `found` remains set until a timeout.
#[derive(Clone, Debug, Default)]
pub struct Hystart {
    found: bool,
    /// Minimum RTT since the start or the last timeout (delay_min).
    min_rtt: Option<Dur>,
    /// Number of the current round trip, and the time of its first ACK.
    round: u64,
    round_start: Time,
    /// Time of the last ACK of the train that started with the round trip.
    last_ack: Time,
    /// Minimum RTT of the round trip (curr_rtt), and its number of samples.
    round_rtt: Option<Dur>,
    samples: u32,
}

impl Hystart {
    fn begin_round(&mut self, ack: &AckSample) {
        (self.round, self.round_start, self.last_ack) = (ack.round, ack.now, ack.now);
        (self.round_rtt, self.samples) = (None, 0);
    }

    /// Whether ACKs have arrived in one train for longer than half of `min_rtt`; with pacing, for longer than
    /// `min_rtt`.
    fn is_long_train(&mut self, ack: &AckSample, min_rtt: Dur, opening: &Opening) -> bool {
        if ack.now.since(self.last_ack) > ACK_DELTA {
            return false;
        }
        self.last_ack = ack.now;
        let whole = min_rtt + ack_delay(ack, opening);
        let longest = if opening.paced { whole } else { whole / 2 };
        ack.now.since(self.round_start) > longest
    }

    /// Whether the minimum RTT of the round trip exceeds `min_rtt` by more than an eighth, within the bounds.
    fn is_delayed(&mut self, rtt: Dur, min_rtt: Dur) -> bool {
        let least = self.round_rtt.map_or(rtt, |least| least.min(rtt));
        self.round_rtt = Some(least);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        least > min_rtt + (min_rtt / 8).clamp(DELAY_MIN, DELAY_MAX)
    }
}

/// Allowance for offload in the length of a train (hystart_ack_delay).
fn ack_delay(ack: &AckSample, opening: &Opening) -> Dur {
    let pacing = Pacing::of_window(opening.window, 0, ack.srtt, opening.mss.into());
    let time = |pacing: Pacing| (Dur::from_s(1).saturating_mul(GATHERED) / pacing.rate.max(1)).min(MAX_ACK_DELAY);
    pacing.map_or(Dur::ZERO, time)
}

impl SlowStartExit for Hystart {
    fn on_ack(&mut self, ack: &AckSample, opening: &Opening) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        let min_rtt = self.min_rtt.map_or(rtt, |least| least.min(rtt));
        self.min_rtt = Some(min_rtt);
        if self.found || !opening.in_slow_start() {
            return false;
        }
        if ack.round != self.round {
            self.begin_round(ack);
        }
        if opening.window.cwnd < LOW_WINDOW * u64::from(opening.mss) {
            return false;
        }
        let train = self.is_long_train(ack, min_rtt, opening);
        self.found = self.is_delayed(rtt, min_rtt) || train;
        self.found
    }

    fn on_timeout(&mut self) {
        // bictcp_state. The next ACK starts a round trip.
        *self = Hystart::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{CcState, Congestion, CongestionControl, event};
    use crate::law::Law;
    use crate::registry::SlowStartKind;
    use crate::slow_start::sample;
    use crate::{Config, profile};

    /// A window in segments of 1000 bytes, in slow start.
    fn opening(segments: u64) -> Opening {
        Opening { window: CcState { cwnd: segments * 1_000, ssthresh: u64::MAX }, mss: 1_000, paced: false }
    }

    /// The first of `acks` (milliseconds, RTT in microseconds, round trip) that ends slow start.
    fn end(exit: &mut Hystart, opening: &Opening, acks: impl IntoIterator<Item = (f64, u64, u64)>) -> Option<usize> {
        acks.into_iter().position(|(ms, rtt, round)| exit.on_ack(&sample(ms, rtt, round), opening))
    }

    /// ACKs every `gap` ms from 100 ms on, of one round trip, all with an RTT of 100 ms.
    fn train(gap: f64) -> impl Iterator<Item = (f64, u64, u64)> {
        (0..100).map(move |k| (100.0 + gap * f64::from(k), 100_000, 1))
    }

    /// So many ACKs 5 ms apart, which are no train.
    fn apart(n: u32, from: f64, rtt: u64, round: u64) -> impl Iterator<Item = (f64, u64, u64)> {
        (0..n).map(move |k| (from + 5.0 * f64::from(k), rtt, round))
    }

    #[test]
    fn a_train_longer_than_half_of_the_least_rtt_ends_slow_start() {
        // (100 + 1) / 2 = 50.5 ms: the ACK at 52 ms, number 26 at 2 ms each.
        assert_eq!(end(&mut Hystart::default(), &opening(16), train(2.0)), Some(26));
        // 50.5 ms itself is not longer.
        let bound = train(0.5).chain([(150.0, 100_000, 1), (150.5, 100_000, 1), (150.501, 100_000, 1)]);
        assert_eq!(end(&mut Hystart::default(), &opening(16), bound), Some(102));
    }

    #[test]
    fn an_ack_further_than_two_milliseconds_ends_the_train_for_its_round_trip() {
        assert_eq!(end(&mut Hystart::default(), &opening(16), train(2.001)), None);
        // The next round trip has a train of its own, from its first ACK on.
        let mut exit = Hystart::default();
        assert_eq!(end(&mut exit, &opening(16), train(2.001)), None);
        let next = (0..100).map(|k| (400.0 + 2.0 * f64::from(k), 100_000, 2));
        assert_eq!(end(&mut exit, &opening(16), next), Some(26));
    }

    #[test]
    fn a_paced_train_may_be_as_long_as_the_least_rtt() {
        let paced = Opening { paced: true, ..opening(16) };
        // 101 ms: the ACK at 102 ms.
        assert_eq!(end(&mut Hystart::default(), &paced, train(2.0)), Some(51));
    }

    #[test]
    fn what_is_gathered_counts_less_at_a_high_rate() {
        // 2 · 100 MB in 0.1 s are 2 GB/s: 262144 B take 0.131072 ms. Below ssthresh / 2 the rate is twice the window.
        let fast = opening(100_000);
        assert_eq!(ack_delay(&sample(0.0, 100_000, 1), &fast), Dur::from_ns(131_072));
        assert_eq!(ack_delay(&sample(0.0, 100_000, 1), &opening(16)), Dur::from_ms(1));
        assert_eq!(ack_delay(&sample(0.0, 0, 1), &opening(16)), Dur::ZERO, "no rate");
    }

    #[test]
    fn an_rtt_an_eighth_above_the_least_ends_slow_start_with_the_ninth_sample() {
        for (least, rtt, ends) in [
            // 100 + 12.5 ms; at the bound it does not end.
            (100_000, 112_501, Some(8)),
            (100_000, 112_500, None),
            // At least 4 ms, at most 16.
            (10_000, 14_001, Some(8)),
            (10_000, 14_000, None),
            (400_000, 416_001, Some(8)),
            (400_000, 416_000, None),
        ] {
            let mut exit = Hystart::default();
            assert_eq!(end(&mut exit, &opening(16), apart(1, 0.0, least, 1)), None);
            assert_eq!(end(&mut exit, &opening(16), apart(20, 500.0, rtt, 2)), ends, "{rtt} of {least}");
        }
    }

    #[test]
    fn one_low_sample_of_the_round_trip_keeps_slow_start() {
        let mut exit = Hystart::default();
        assert_eq!(end(&mut exit, &opening(16), apart(1, 0.0, 100_000, 1)), None);
        let low = apart(3, 500.0, 150_000, 2).chain(apart(1, 520.0, 101_000, 2)).chain(apart(9, 530.0, 150_000, 2));
        assert_eq!(end(&mut exit, &opening(16), low), None);
        // In the next round trip it is forgotten.
        assert_eq!(end(&mut exit, &opening(16), apart(9, 700.0, 150_000, 3)), Some(8));
    }

    #[test]
    fn below_sixteen_segments_nothing_counts() {
        let mut exit = Hystart::default();
        assert_eq!(end(&mut exit, &opening(15), train(2.0)), None);
        assert_eq!(end(&mut exit, &opening(15), apart(20, 500.0, 150_000, 2)), None);
        // Samples count from sixteen on.
        assert_eq!(end(&mut exit, &opening(16), apart(9, 600.0, 150_000, 2)), Some(8));
    }

    #[test]
    fn it_is_found_once_until_a_timeout() {
        let mut exit = Hystart::default();
        assert_eq!(end(&mut exit, &opening(16), train(2.0)), Some(26));
        assert_eq!(end(&mut exit, &opening(16), train(2.0)), None);
        exit.on_timeout();
        // Nor is an RTT known: 200 ms are no more than the least.
        assert_eq!(end(&mut exit, &opening(16), apart(20, 500.0, 200_000, 9)), None);
        assert_eq!(end(&mut exit, &opening(16), apart(9, 900.0, 300_000, 10)), Some(8));
    }

    #[test]
    fn with_a_law_it_is_found_again_after_a_timeout_and_not_after_a_loss() {
        let config = Config { slow_start: SlowStartKind::Hystart, ..profile("modern").unwrap().config.clone() };
        for (why, ssthresh) in [(Congestion::Timeout, 16_000), (Congestion::Loss, 100_000)] {
            let mut law = Law::new(&config, 1_000);
            law.set_cwnd(16_000);
            train(2.0).for_each(|(ms, rtt, round)| law.on_ack(&sample(ms, rtt, round)));
            assert_eq!(law.state().ssthresh, 16_000);
            law.on_congestion(&event(why, 200_000));
            law.set_cwnd(16_000);
            let acks = apart(1, 500.0, 100_000, 2).chain(apart(9, 700.0, 150_000, 3));
            acks.for_each(|(ms, rtt, round)| law.on_ack(&sample(ms, rtt, round)));
            assert_eq!(law.state().ssthresh, ssthresh, "{why:?}");
        }
    }

    #[test]
    fn outside_slow_start_only_the_least_rtt_is_kept() {
        let mut exit = Hystart::default();
        let avoiding = Opening { window: CcState { cwnd: 16_000, ssthresh: 16_000 }, ..opening(16) };
        assert_eq!(end(&mut exit, &avoiding, train(2.0)), None);
        assert_eq!(end(&mut exit, &avoiding, apart(20, 500.0, 150_000, 2)), None);
        assert_eq!(end(&mut exit, &opening(16), apart(9, 700.0, 150_000, 3)), Some(8));
    }

    #[test]
    fn an_ack_without_rtt_is_ignored() {
        let (mut exit, none) = (Hystart::default(), AckSample { rtt: None, ..sample(0.0, 100_000, 1) });
        assert!(!exit.on_ack(&none, &opening(16)));
        assert_eq!(end(&mut exit, &opening(16), train(2.0)), Some(26));
    }
}
