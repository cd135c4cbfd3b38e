//! The virtual RTT: a flow with a short RTT grows its window, and responds to marks, as if its RTT were longer
//! (RFC 9331 §4.3; the modes of tcp_prague.c 0.6, rtt_scaling_heuristics).

use ecnlab_base::Dur;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The RTT from which the mode "scalable" adds a whole segment, and the RTT below which it adds an eighth
/// (prague_scalable_ai_ack_increase: R0 = 2^14 us, R1 = 2^10 + 2^9 us).
const SCALABLE_FULL: Dur = Dur::from_us(16_384);
const SCALABLE_LEAST: Dur = Dur::from_us(1_536);

/// Definition of the virtual RTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RttControl {
    /// The measured RTT (RTT_CONTROL_NONE).
    None,
    /// The target for growth and response: flows with shorter RTTs have the same rate (RTT_CONTROL_RATE).
    Rate,
    /// The target for the response to marks; growth per RTT is RTT/R0 times a factor that rises with the RTT from 1/8, at
    /// most 1 segment (RTT_CONTROL_SCALABLE).
    Scalable,
    /// The target plus the measured RTT, also if that is longer than the target (RTT_CONTROL_ADDITIVE).
    Additive,
}

impl RttControl {
    /// Minimum time between two responses to marks, in addition to one RTT.
    pub fn period(self, target: Dur, srtt: Dur) -> Dur {
        match self {
            RttControl::None => Dur::ZERO,
            RttControl::Rate | RttControl::Scalable => target,
            RttControl::Additive => target + srtt,
        }
    }

    /// Growth per RTT without marks, in segments.
    pub fn increase(self, target: Dur, srtt: Dur) -> f64 {
        let rtt = srtt.as_secs();
        match self {
            RttControl::None => 1.0,
            // A segment in a virtual round trip, which holds virtual/rtt real ones, at a window that is smaller by as much.
            RttControl::Rate | RttControl::Additive => {
                let share = rtt / self.period(target, srtt).as_secs();
                (share * share).min(1.0)
            }
            RttControl::Scalable => {
                let full = SCALABLE_FULL.as_secs();
                let beyond = srtt.saturating_sub(SCALABLE_LEAST).as_secs().min(full);
                ((full / 8.0 + beyond) * rtt / (full * full)).min(1.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Dur = Dur::from_ms(25);

    fn increase(control: RttControl, us: u64) -> f64 {
        control.increase(TARGET, Dur::from_us(us))
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
    }

    #[test]
    fn the_rate_grows_by_a_segment_in_25_ms_for_each_25_ms() {
        // (5/25)², (20/25)².
        near(increase(RttControl::Rate, 5_000), 0.04);
        near(increase(RttControl::Rate, 20_000), 0.64);
        near(increase(RttControl::Rate, 25_000), 1.0);
        near(increase(RttControl::Rate, 100_000), 1.0);
        assert_eq!(increase(RttControl::None, 5_000), 1.0);
    }

    #[test]
    fn additive_adds_the_target_to_every_round_trip() {
        // (5/30)², (75/100)².
        near(increase(RttControl::Additive, 5_000), 1.0 / 36.0);
        near(increase(RttControl::Additive, 75_000), 0.5625);
    }

    #[test]
    fn scalable_adds_an_eighth_at_least_in_proportion_to_the_round_trip() {
        // 16384 us / 8 = 2048 us, of which 1024 us make a sixteenth of 2048 / 16384.
        near(increase(RttControl::Scalable, 1_024), 1.0 / 128.0);
        near(increase(RttControl::Scalable, 1_536), 2_048.0 * 1_536.0 / (16_384.0 * 16_384.0));
        // 2048 + (8192 - 1536) = 8704 us; half of 8704 / 16384.
        near(increase(RttControl::Scalable, 8_192), 0.265625);
        assert_eq!(increase(RttControl::Scalable, 16_384), 1.0, "never more than a segment");
        assert_eq!(increase(RttControl::Scalable, 90_000), 1.0);
    }

    #[test]
    fn marks_are_answered_once_a_target_or_a_target_and_a_round_trip() {
        let period = |control: RttControl| control.period(TARGET, Dur::from_ms(10)).ps() / 1_000_000_000;
        let all = [RttControl::None, RttControl::Rate, RttControl::Scalable, RttControl::Additive];
        assert_eq!(all.map(period), [0, 25, 25, 35]);
    }
}
