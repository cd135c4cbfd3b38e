//! ECN(alpha, beta): the reduction on a mark is smaller than on a loss, and the window grows more slowly after it (Kwon & Fahmy,
//! "TCP Increase/Decrease Behavior with Explicit Congestion Notification", ICC 2002). Alternative Backoff with
//! ECN (RFC 8511) is the same response with other numbers.

use ecnlab_base::coverage_mark;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reno::{self, Reno};
use super::{Congestion, CongestionControl, CongestionEvent, Start, Window};
use crate::facts::Facts;
use crate::invalid::{Invalid, ensure};

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "ecn-alpha-beta",
    label: "ECN(α, β)",
    summary: "Reno that on ECN-Echo keeps beta of its window and then adds alpha segments a round trip, until a loss.",
    reference: "M. Kwon and S. Fahmy, 'TCP increase/decrease behavior with explicit congestion notification (ECN)', ICC 2002",
    ..Facts::PLAIN
};
/// Static properties of ABE.
pub const ABE: Facts = Facts {
    name: "abe",
    label: "ABE",
    summary: "Reno that on ECN-Echo in congestion avoidance keeps 0.8 of its window (Alternative Backoff with ECN).",
    reference: "RFC 8511",
    ..Facts::PLAIN
};

/// ECN(alpha, beta) with its parameters; the defaults are those of Kwon and Fahmy's slide 11.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Growth per RTT of congestion avoidance after a mark, in segments. Default 0.2 (slide 11).
    pub alpha: f64,
    /// Factor of the window reduction on a mark. Default 0.875 (slide 11).
    pub beta: f64,
}

impl Default for Params {
    fn default() -> Params {
        Params { alpha: 0.2, beta: 0.875 }
    }
}

/// ABE with its parameter; the default is that of RFC 8511 §3.1 for Reno.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AbeParams {
    /// Factor of the window reduction on a mark in congestion avoidance. Default 0.8 (RFC 8511 §3.1, which names 0.7
    /// to 0.85 as useful with NewReno).
    pub beta: f64,
}

impl Default for AbeParams {
    fn default() -> AbeParams {
        AbeParams { beta: 0.8 }
    }
}

impl super::Params for Params {
    type Law = EcnAlphaBeta;
    type Start = Start;

    fn check(&self) -> Result<(), Invalid> {
        // A hundred segments a round trip avoid no congestion.
        ensure(self.alpha > 0.0 && self.alpha <= 100.0, "congestion.alpha", || {
            format!("must be above 0 and at most 100 segments, not {}", self.alpha)
        })?;
        check_beta(self.beta)
    }

    fn law(&self, start: Start) -> EcnAlphaBeta {
        EcnAlphaBeta::new(*self, start)
    }
}

impl super::Params for AbeParams {
    type Law = EcnAlphaBeta;
    type Start = Start;

    fn check(&self) -> Result<(), Invalid> {
        check_beta(self.beta)
    }

    fn law(&self, start: Start) -> EcnAlphaBeta {
        EcnAlphaBeta::abe(*self, start)
    }
}

fn check_beta(beta: f64) -> Result<(), Invalid> {
    ensure(beta > 0.0 && beta < 1.0, "congestion.beta", || format!("must be above 0 and below 1, not {beta}"))
}

/// Reno with a different response to ECN-Echo.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct EcnAlphaBeta {
    reno: Reno,
    /// Current growth per RTT of congestion avoidance, in segments.
    slope: f64,
    alpha: f64,
    beta: f64,
    /// A mark reduces by beta in slow start too, not by half.
    in_slow_start: bool,
}

impl EcnAlphaBeta {
    /// ECN(alpha, beta) that begins with `start`.
    pub fn new(params: Params, start: Start) -> EcnAlphaBeta {
        let Params { alpha, beta } = params;
        // The slides distinguish no marks in slow start.
        EcnAlphaBeta { reno: Reno::new(start), slope: reno::SLOPE, alpha, beta, in_slow_start: true }
    }

    /// ABE that begins with `start`.
    pub fn abe(params: AbeParams, start: Start) -> EcnAlphaBeta {
        // RFC 8511, abstract: what changes is the reaction in congestion avoidance.
        let slope = reno::SLOPE;
        EcnAlphaBeta { reno: Reno::new(start), slope, alpha: slope, beta: params.beta, in_slow_start: false }
    }
}

impl CongestionControl for EcnAlphaBeta {
    #[inline]
    fn window(&self) -> &Window {
        self.reno.window()
    }

    #[inline]
    fn window_mut(&mut self) -> &mut Window {
        self.reno.window_mut()
    }

    #[inline]
    fn grow(&mut self, acked: u64) {
        self.reno.open(acked, self.slope);
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let beta = self.beta;
        if event.why != Congestion::Ecn {
            coverage_mark!("ecn_alpha_beta.loss");
            self.slope = reno::SLOPE;
            self.reno.on_congestion(event);
        } else if self.in_slow_start || !self.reno.in_slow_start() {
            coverage_mark!("ecn_alpha_beta.mark");
            self.slope = self.alpha;
            // Rounded to the nearest: 0.29 of 100 segments is 29, though no float is 0.29.
            self.reno.reduce(event, |window| (window as f64 * beta).round() as u64);
        } else {
            coverage_mark!("ecn_alpha_beta.mark_in_slow_start");
            self.reno.on_congestion(event);
        }
    }

    fn on_further_loss(&mut self) {
        coverage_mark!("ecn_alpha_beta.loss_after_mark");
        self.slope = reno::SLOPE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{Params as _, event};
    use crate::law::start;
    use ecnlab_base::coverage::must_reach;

    const MSS: u32 = 1000;

    fn law(name: &str, params: Params, cwnd: u64, ssthresh: u64) -> EcnAlphaBeta {
        at(EcnAlphaBeta::new(params, start(name, MSS)), cwnd, ssthresh)
    }

    fn abe(name: &str, cwnd: u64, ssthresh: u64) -> EcnAlphaBeta {
        at(EcnAlphaBeta::abe(AbeParams::default(), start(name, MSS)), cwnd, ssthresh)
    }

    fn at(mut law: EcnAlphaBeta, cwnd: u64, ssthresh: u64) -> EcnAlphaBeta {
        law.set_cwnd(cwnd);
        law.set_ssthresh(ssthresh);
        law
    }

    fn acks(law: &mut EcnAlphaBeta, n: usize) -> u64 {
        (0..n).for_each(|_| law.grow(1000));
        law.cwnd()
    }

    fn after(mut law: EcnAlphaBeta, why: Congestion, in_flight: u64) -> (u64, u64) {
        law.on_congestion(&event(why, in_flight));
        (law.state().ssthresh, law.cwnd())
    }

    #[test]
    fn parameters_past_their_bounds_are_refused() {
        let wrong = |alpha, beta| Params { alpha, beta }.check().err().map(|error| error.key);
        let (alpha, beta) = (Some("congestion.alpha"), Some("congestion.beta"));
        assert_eq!([wrong(0.0, 0.5), wrong(-1.0, 0.5), wrong(100.1, 0.5), wrong(f64::NAN, 0.5)], [alpha; 4]);
        assert_eq!([wrong(1.0, 0.0), wrong(1.0, -0.5), wrong(1.0, 1.0), wrong(1.0, f64::NAN)], [beta; 4]);
        assert_eq!([wrong(1e-9, 1e-9), wrong(100.0, 0.999)], [None; 2]);
        let abe = |beta| AbeParams { beta }.check().err().map(|error| error.key);
        assert_eq!([abe(0.0), abe(1.0), abe(0.8)], [beta, beta, None]);
    }

    #[test]
    fn deflation_is_reno_s() {
        let mut law = law("modern", Params::default(), 10_000, 5_000);
        law.deflate(1_500);
        assert_eq!(law.cwnd(), 8_500);
    }

    #[test]
    fn a_mark_keeps_beta_and_makes_the_slope_alpha() {
        let _reached = must_reach(["ecn_alpha_beta.mark"]);
        let mut law = law("ns-2.35", Params::default(), 16_000, 8_000);
        law.on_congestion(&event(Congestion::Ecn, 16_000));
        // 0.875 · 16 = 14 segments; then 0.2/14 = 0.0142857, 0.2/14.0142857 = 0.0142711 a ACK.
        assert_eq!((law.state().ssthresh, law.cwnd()), (14_000, 14_000));
        assert_eq!(acks(&mut law, 1), 14_014);
        assert_eq!(acks(&mut law, 1), 14_028);
    }

    #[test]
    fn a_loss_halves_and_restores_the_slope() {
        let _reached = must_reach(["ecn_alpha_beta.loss"]);
        for why in [Congestion::Loss, Congestion::Timeout] {
            let mut law = law("ns-2.35", Params::default(), 16_000, 8_000);
            law.on_congestion(&event(Congestion::Ecn, 16_000));
            law.on_congestion(&event(why, 14_000));
            assert_eq!(law.state().ssthresh, 7_000);
            law.set_cwnd(10_000);
            assert_eq!(acks(&mut law, 1), 10_100);
        }
    }

    #[test]
    fn a_loss_in_the_marked_window_restores_the_slope_alone() {
        let _reached = must_reach(["ecn_alpha_beta.loss_after_mark"]);
        let mut law = law("ns-2.35", Params::default(), 16_000, 8_000);
        law.on_congestion(&event(Congestion::Ecn, 16_000));
        law.on_further_loss();
        assert_eq!(law.cwnd(), 14_000);
        // 1/14 = 0.0714 segments.
        assert_eq!(acks(&mut law, 1), 14_071);
    }

    #[test]
    fn the_slope_holds_however_growth_is_counted() {
        let params = Params { alpha: 0.5, beta: 0.5 };
        // Ten segments acknowledged, one by one, add half a segment; Linux 2.0 requires eleven ACKs.
        for (profile, n) in [("modern", 10), ("linux-2.0", 11)] {
            let mut law = law(profile, params, 20_000, 10_000);
            law.on_congestion(&event(Congestion::Ecn, 20_000));
            law.set_ssthresh(2_000);
            assert_eq!((acks(&mut law, n - 1), acks(&mut law, 1)), (10_000, 10_500), "{profile}");
        }
    }

    #[test]
    fn alpha_one_and_beta_one_half_are_reno() {
        for name in ["modern", "ns-2.35", "linux-2.0"] {
            let mut reno = Reno::new(start(name, MSS));
            let mut law = EcnAlphaBeta::new(Params { alpha: 1.0, beta: 0.5 }, start(name, MSS));
            for step in 0..2_000 {
                reno.grow(1000);
                law.grow(1000);
                if step % 97 == 96 {
                    let in_flight = reno.cwnd();
                    reno.on_congestion(&event(Congestion::Ecn, in_flight));
                    law.on_congestion(&event(Congestion::Ecn, in_flight));
                }
                // Halves are rounded down there, to the nearest here: 2^-16 bytes.
                assert!(reno.cwnd().abs_diff(law.cwnd()) <= 1, "{name}, step {step}");
            }
        }
    }

    #[test]
    fn abe_keeps_four_fifths_in_congestion_avoidance_only() {
        let _reached = must_reach(["ecn_alpha_beta.mark_in_slow_start"]);
        assert_eq!(after(abe("modern", 10_000, 5_000), Congestion::Ecn, 10_000), (8_000, 8_000));
        assert_eq!(after(abe("modern", 10_000, u64::MAX), Congestion::Ecn, 10_000), (5_000, 5_000));
        assert_eq!(after(abe("modern", 10_000, 5_000), Congestion::Loss, 10_000), (5_000, 5_000));
        assert_eq!(after(abe("modern", 10_000, 5_000), Congestion::Timeout, 10_000), (5_000, 1_000));
        let mut law = abe("ns-2.35", 12_500, 5_000);
        law.on_congestion(&event(Congestion::Ecn, 12_500));
        assert_eq!(acks(&mut law, 1), 10_100);
    }

    #[test]
    fn floors_and_rounding_are_reno_s() {
        // RFC 8511 §3: ssthresh at least two segments; RFC 3168 §6.1.2: cwnd at least one.
        assert_eq!(after(abe("modern", 2_000, 1_000), Congestion::Ecn, 2_000), (2_000, 1_600));
        assert_eq!(after(abe("modern", 1_000, 1_000), Congestion::Ecn, 1_000), (2_000, 1_000));
        // 0.8 · 12 = 9.6 segments.
        assert_eq!(after(abe("ns-2.35", 12_000, 1_000), Congestion::Ecn, 12_000), (9_000, 9_600));
        assert_eq!(after(abe("linux-2.0", 12_000, 1_000), Congestion::Ecn, 12_000), (9_000, 9_000));
        // 0.29 · 100 as floats is 28.999999999999996.
        let law = law("ns-2.35", Params { alpha: 1.0, beta: 0.29 }, 100_000, 1_000);
        assert_eq!(after(law, Congestion::Ecn, 100_000), (29_000, 29_000));
    }
}
