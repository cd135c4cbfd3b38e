//! HighSpeed TCP (RFC 3649): from 38 segments on, growth per RTT increases with the window, and the relative reduction on
//! congestion decreases. Slow start, floors and rounding are Reno's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reno::Reno;
use super::{CongestionControl, CongestionEvent, Start, Window};
use crate::facts::Facts;
use crate::invalid::Invalid;

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "highspeed",
    label: "HighSpeed TCP",
    summary: "Reno up to 38 segments; the larger the window, the more a round trip adds and the less congestion takes (HighSpeed TCP).",
    reference: "RFC 3649",
    ..Facts::PLAIN
};

/// Windows of the response function, in segments (§5: Low_Window, High_Window).
const LOW_WINDOW: f64 = 38.0;
const HIGH_WINDOW: f64 = 83_000.0;
/// Relative reduction on congestion at `HIGH_WINDOW` (§7: High_Decrease).
const HIGH_DECREASE: f64 = 0.1;

/// HighSpeed TCP has no parameters: §5 and §7 have one set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl super::Params for Params {
    type Law = HighSpeed;
    type Start = Start;
    const ANY: bool = false;

    fn check(&self) -> Result<(), Invalid> {
        Ok(())
    }

    fn law(&self, start: Start) -> HighSpeed {
        HighSpeed { reno: Reno::new(start), mss: start.window.mss().into() }
    }
}

/// HighSpeed TCP. Windows are segments in its arithmetic.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct HighSpeed {
    reno: Reno,
    mss: f64,
}

/// b(w), §7: relative reduction on congestion at a window of `w` segments.
fn decrease(w: f64) -> f64 {
    let part = libm::log(w / LOW_WINDOW) / libm::log(HIGH_WINDOW / LOW_WINDOW);
    0.5 + (HIGH_DECREASE - 0.5) * part.clamp(0.0, 1.0)
}

/// a(w), §7: growth per RTT, in segments, at a window of `w` segments. Up to `LOW_WINDOW` the formula is below 1.
fn increase(w: f64) -> f64 {
    let (p, b) = (0.078 / libm::pow(w, 1.2), decrease(w));
    (w * w * p * 2.0 * b / (2.0 - b)).max(1.0)
}

impl CongestionControl for HighSpeed {
    #[inline]
    fn window(&self) -> &Window {
        self.reno.window()
    }

    #[inline]
    fn window_mut(&mut self) -> &mut Window {
        self.reno.window_mut()
    }

    fn grow(&mut self, acked: u64) {
        if self.reno.in_slow_start() {
            return self.reno.slow_start(acked);
        }
        let w = self.window().segments();
        // A window below one segment, as ns-2's, counts as one.
        let share = acked as f64 / self.mss / w.max(1.0);
        self.window_mut().widen_segments(increase(w) * share);
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let kept = 1.0 - decrease(self.window().segments());
        self.reno.reduce(event, |window| (window as f64 * kept).round() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{Congestion, Params as _, event};
    use crate::law::start;

    /// A window in segments of 1000 bytes, in congestion avoidance.
    fn law(segments: u64) -> HighSpeed {
        let mut law = Params {}.law(start("modern", 1_000));
        law.set_cwnd(segments * 1_000);
        law.set_ssthresh(2_000);
        law
    }

    #[test]
    fn a_and_b_are_those_of_the_table() {
        // Appendix B: w, a(w), b(w) with two digits.
        for (w, a, b) in [
            (38.0, 1.0, 0.50),
            (118.0, 2.0, 0.44),
            (221.0, 3.0, 0.41),
            (347.0, 4.0, 0.38),
            (495.0, 5.0, 0.37),
            (663.0, 6.0, 0.35),
            (79_517.0, 70.0, 0.10),
        ] {
            assert!((increase(w) - a).abs() < 0.05, "a({w}) is {}", increase(w));
            assert!((decrease(w) - b).abs() < 0.006, "b({w}) is {}", decrease(w));
        }
    }

    #[test]
    fn up_to_38_segments_it_is_reno_and_past_83000_no_less_is_taken() {
        assert_eq!([increase(1.0), increase(38.0), decrease(1.0), decrease(38.0)], [1.0, 1.0, 0.5, 0.5]);
        // The formula is 0.97 at 39.
        assert_eq!(increase(39.0), 1.0);
        assert!([83_000.0, 1e6].iter().all(|&w| (decrease(w) - 0.1).abs() < 1e-12));
    }

    #[test]
    fn an_ack_adds_its_share_of_a() {
        // a(1000) = 1000² · 0.078 / 1000^1.2 · 2b / (2 - b) with b = 0.5 - 0.4 · ln(1000/38) / ln(83000/38) = 0.32989:
        // 19.593 · 0.39505 = 7.740. Of 1000 segments one, and two.
        let mut one = law(1_000);
        one.grow(1_000);
        assert_eq!(one.cwnd(), 1_000_007);
        one.grow(500_000);
        assert_eq!(one.cwnd(), 1_003_877);
    }

    #[test]
    fn congestion_takes_b_of_what_was_in_flight() {
        // b(1000) = 0.32989.
        let mut law = law(1_000);
        law.on_congestion(&event(Congestion::Loss, 900_000));
        assert_eq!((law.cwnd(), law.state().ssthresh), (603_109, 603_109));
        law.on_congestion(&event(Congestion::Timeout, 603_109));
        assert_eq!(law.cwnd(), 1_000);
        // Slow start is Reno's: 2 segments at most.
        law.grow(3_000);
        assert_eq!(law.cwnd(), 3_000);
    }

    #[test]
    fn deflation_is_reno_s() {
        let mut law = law(10);
        law.deflate(1_500);
        assert_eq!(law.cwnd(), 8_500);
    }
}
