//! DCTCP's window (RFC 8257 §3.3 to §3.5): the reduction on marks is proportional to the marked fraction. Growth, losses,
//! floors and rounding are Reno's. `docs/laws/dctcp.md` lists the differences of the two profiles.

mod linux;
mod rfc8257;

use ecnlab_base::facts::Column;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reno::Reno;
use super::{AckSample, Codepoint, CongestionControl, CongestionEvent, Sent, Start, Window};
use crate::facts::{Facts, Marks};
use crate::invalid::{Invalid, ensure};
use linux::{Linux, MAX_SHIFT};
use rfc8257::Rfc8257;

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "dctcp",
    label: "DCTCP",
    summary: "Reno that on ECN-Echo gives up half of the part of its data that is marked.",
    reference: "RFC 8257; Linux, net/ipv4/tcp_dctcp.c",
    columns: &[Column::new("alpha", "ratio", "DCTCP's estimate of the marked fraction of its data")],
    samples: true,
    feedback: true,
    waits_at_one_segment: false,
    marks: Marks::Share,
    ..Facts::PLAIN
};

/// Minimum window after a mark, in segments, as in Linux (dctcp_ssthresh) and FreeBSD (dctcp_cong_signal). RFC 8257 names no least
/// window. One segment would wait for the delayed ACK, and RFC 3168 §6.1.2 has its timer there.
const MIN_CWND: u64 = 2;

/// DCTCP with its parameters; the defaults are those of RFC 8257.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The implementation. Default: `linux` with the TCP profile `linux-7`, `rfc8257` with any other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Weight of the last window of data in the estimate of marks; in `linux` a power of 1/2. Default 1/16 (§4.2).
    pub g: f64,
    /// Initial value of the estimate. Default 1 (§3.3).
    pub alpha: f64,
    /// Codepoint of ECN-capable packets: "ect0", or "ect1" for queues that mark DCTCP's packets separately, such as
    /// those of L4S (RFC 9331 §4.1). Default `ect0` (RFC 3168 §5).
    pub codepoint: Codepoint,
}

/// The implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// RFC 8257: bytes are counted, and alpha is a real number.
    Rfc8257,
    /// `tcp_dctcp` of Linux 7: packets are counted, and alpha has units of 1/1024.
    Linux,
}

impl Params {
    fn is_linux(&self) -> bool {
        self.profile == Some(Profile::Linux)
    }
}

impl Default for Params {
    fn default() -> Params {
        Params { profile: None, g: 1.0 / 16.0, alpha: 1.0, codepoint: Codepoint::Ect0 }
    }
}

impl super::Params for Params {
    type Law = Dctcp;
    type Start = Start;

    fn check(&self) -> Result<(), Invalid> {
        ensure(self.g > 0.0 && self.g <= 1.0, "congestion.g", || {
            format!("must be above 0 and at most 1, not {}", self.g)
        })?;
        ensure((0.0..=1.0).contains(&self.alpha), "congestion.alpha", || {
            format!("must be from 0 to 1, not {}", self.alpha)
        })?;
        ensure(!self.is_linux() || shift(self.g).is_some(), "congestion.g", || {
            format!(
                "must be 1, 1/2, 1/4 or so on to 1/1024 with profile = \"linux\", not {}: the kernel shifts bits",
                self.g
            )
        })
    }

    fn settle(&mut self, profile: &str) {
        if profile == "linux-7" {
            self.profile.get_or_insert(Profile::Linux);
        }
    }

    fn needs_count(&self) -> Option<&'static str> {
        (self.codepoint == Codepoint::Ect1).then_some("congestion.codepoint")
    }

    fn law(&self, start: Start) -> Dctcp {
        let Params { g, alpha, codepoint, .. } = *self;
        let reno = Reno::new(Start { ecn_least: MIN_CWND, ..start });
        let variant = match shift(g).filter(|_| self.is_linux()) {
            Some(shift) => Variant::Linux(Linux::new(alpha, shift)),
            None => Variant::Rfc8257(Rfc8257::new(alpha, g)),
        };
        Dctcp { reno, codepoint, variant }
    }
}

/// The shift of bits that multiplies by `g`, if there is one.
fn shift(g: f64) -> Option<u32> {
    (0..=MAX_SHIFT).find(|shift| g * f64::from(1_u32 << shift) == 1.0)
}

/// DCTCP.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Dctcp {
    reno: Reno,
    codepoint: Codepoint,
    variant: Variant,
}

/// State of a [`Profile`].
#[derive(Clone, Debug)]
enum Variant {
    Rfc8257(Rfc8257),
    Linux(Linux),
}

impl CongestionControl for Dctcp {
    fn window(&self) -> &Window {
        self.reno.window()
    }

    fn window_mut(&mut self) -> &mut Window {
        self.reno.window_mut()
    }

    fn grow(&mut self, acked: u64) {
        self.reno.grow(acked);
    }

    fn on_feedback(&mut self, sample: &AckSample) {
        match &mut self.variant {
            Variant::Rfc8257(rfc) => rfc.on_feedback(sample),
            Variant::Linux(linux) => linux.on_feedback(sample),
        }
    }

    fn on_idle_ack(&mut self) {
        if let Variant::Linux(linux) = &mut self.variant {
            linux.on_feedback(&AckSample::default());
        }
    }

    fn on_sent(&mut self, sent: &Sent) {
        if let Variant::Linux(linux) = &mut self.variant {
            linux.on_sent(sent);
        }
    }

    fn on_loss_after_mark(&mut self) -> bool {
        match &self.variant {
            Variant::Rfc8257(_) => false,
            Variant::Linux(linux) => linux.on_loss_after_mark(&mut self.reno),
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        match &self.variant {
            Variant::Rfc8257(rfc) => rfc.on_congestion(&mut self.reno, event),
            Variant::Linux(linux) => linux.on_congestion(&mut self.reno, event),
        }
    }

    fn codepoint(&self) -> Codepoint {
        self.codepoint
    }

    fn values(&self) -> Vec<f64> {
        vec![match &self.variant {
            Variant::Rfc8257(rfc) => rfc.alpha(),
            Variant::Linux(linux) => linux.alpha(),
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{Amount, Congestion, Params as _, event};
    use crate::law::start;
    use ecnlab_base::coverage::must_reach;

    const MSS: u32 = 1000;

    /// DCTCP in congestion avoidance with a window in segments.
    fn dctcp(alpha: f64, segments: u64) -> Dctcp {
        let mut law = Params { alpha, ..Params::default() }.law(start("modern", MSS));
        law.set_cwnd(segments * 1_000);
        law.set_ssthresh(segments * 1_000);
        law
    }

    fn alpha(law: &Dctcp) -> f64 {
        law.values()[0]
    }

    /// An ACK of so many segments, of which so many were marked, in round trip `round`.
    fn sample(segments: u64, marked: u64, round: u64) -> AckSample {
        let delivered = Amount::of(segments * 1_000, MSS);
        AckSample {
            acked: delivered.bytes,
            delivered,
            marked: Amount::of(marked * 1_000, MSS),
            cwnd_limited: true,
            round,
            ..AckSample::default()
        }
    }

    #[test]
    fn alpha_follows_the_marks_once_for_each_window_of_data() {
        let mut law = dctcp(1.0, 10);
        law.on_feedback(&sample(1, 0, 1));
        // No marks: 15/16 of 1.
        assert_eq!(alpha(&law), 0.9375);
        (0..9).for_each(|_| law.on_feedback(&sample(1, 0, 1)));
        assert_eq!(alpha(&law), 0.9375, "the window of data is not over");
        law.on_feedback(&sample(1, 0, 2));
        // 15/16 of 0.9375.
        assert_eq!(alpha(&law), 0.87890625);
        // Eight of ten are marked: 15/16 · 0.87890625 + 1/16 · 0.8 = 0.823974609375 + 0.05.
        law.on_feedback(&sample(9, 8, 2));
        law.on_feedback(&sample(1, 0, 3));
        assert!((alpha(&law) - 0.873974609375).abs() < 1e-12);
    }

    #[test]
    fn alpha_stays_between_all_marked_and_none() {
        let mut law = dctcp(1.0, 10);
        (1..100).for_each(|round| law.on_feedback(&sample(10, 10, round)));
        assert_eq!(alpha(&law), 1.0);
        (100..1_000).for_each(|round| law.on_feedback(&sample(10, 0, round)));
        assert!(alpha(&law) > 0.0 && alpha(&law) < 1e-20);
    }

    #[test]
    fn a_mark_costs_half_of_alpha() {
        let _reached = must_reach(["dctcp.mark"]);
        // 32 · (1 - 0.0625 / 2) = 31 segments; all marked: one half. The flight does not matter.
        for (alpha, left) in [(0.0625, 31_000), (1.0, 16_000), (0.0, 32_000)] {
            let mut law = dctcp(alpha, 32);
            law.on_congestion(&event(Congestion::Ecn, 5_000));
            assert_eq!((law.cwnd(), law.state().ssthresh), (left, left));
        }
    }

    #[test]
    fn a_mark_leaves_two_segments_at_least() {
        for (segments, profile) in [(2, "modern"), (3, "modern"), (1, "modern"), (2, "ns-2.35"), (2, "linux-7")] {
            let mut law = Params::default().law(start(profile, MSS));
            law.set_cwnd(segments * 1_000);
            law.on_congestion(&event(Congestion::Ecn, segments * 1_000));
            assert_eq!((law.cwnd(), law.state().ssthresh), (2_000, 2_000), "{segments} {profile}");
        }
    }

    #[test]
    fn the_kernel_s_integers_are_the_default_of_linux_7_alone() {
        let settled = |profile, given| {
            let mut params = Params { profile: given, ..Params::default() };
            params.settle(profile);
            params.profile
        };
        assert_eq!(settled("linux-7", None), Some(Profile::Linux));
        assert_eq!(settled("linux-7", Some(Profile::Rfc8257)), Some(Profile::Rfc8257));
        assert_eq!([settled("modern", None), settled("linux-2.2", None)], [None; 2]);
    }

    /// DCTCP with the kernel's integers, and a window of so many segments.
    fn kernel(alpha: f64, segments: u64) -> Dctcp {
        let mut law = Params { profile: Some(Profile::Linux), alpha, ..Params::default() }.law(start("linux-7", MSS));
        law.set_cwnd(segments * 1_000);
        law.set_ssthresh(segments * 1_000);
        law
    }

    #[test]
    fn in_linux_a_mark_takes_whole_segments_and_a_loss_half() {
        let _reached = must_reach(["dctcp.linux_mark", "dctcp.linux_loss"]);
        // alpha 90/1024: 54 · 90 / 2048 = 2.37. A loss takes 27, of which a timeout leaves one.
        for (why, cwnd, ssthresh) in
            [(Congestion::Ecn, 52, 52), (Congestion::Loss, 27, 27), (Congestion::Timeout, 1, 27)]
        {
            let mut law = kernel(90.0 / 1_024.0, 54);
            law.on_congestion(&event(why, 54_000));
            assert_eq!((law.cwnd(), law.state().ssthresh), (cwnd * 1_000, ssthresh * 1_000));
        }
    }

    #[test]
    fn in_linux_a_loss_after_a_mark_halves_what_the_mark_has_left() {
        let _reached = must_reach(["dctcp.linux_loss_after_mark"]);
        let mut law = kernel(0.5, 41);
        assert!(law.on_loss_after_mark());
        assert_eq!((law.cwnd(), law.state().ssthresh), (41_000, 20_000));
        let mut law = dctcp(0.5, 41);
        assert!(!law.on_loss_after_mark());
        assert_eq!(law.state().ssthresh, 41_000);
    }

    #[test]
    fn in_linux_alpha_is_updated_by_acks_and_a_window_of_data_is_what_was_sent() {
        let mut law = kernel(1.0, 10);
        law.on_sent(&Sent { bytes: 1_000, outstanding: 9_000, ..Sent::default() });
        law.on_feedback(&sample(1, 0, 1));
        assert_eq!(law.values(), [960.0 / 1_024.0]);
    }

    #[test]
    fn in_linux_dctcp_update_alpha_takes_a_sixteenth_at_the_ack_of_a_request() {
        let after = |mut law: Dctcp| {
            law.on_idle_ack();
            alpha(&law)
        };
        assert_eq!([after(kernel(1.0, 10)), after(dctcp(1.0, 10))], [960.0 / 1_024.0, 1.0]);
    }

    #[test]
    fn of_whole_segments_a_mark_costs_whole_ones() {
        // Of 54 segments alpha/2 is 0.16, 0.99, 1.01 and 2.97: none, none, one and two (Linux, dctcp_ssthresh).
        for (alpha, left) in [(0.006, 54_000), (0.0367, 54_000), (0.0375, 53_000), (0.11, 52_000)] {
            let mut law = Params { alpha, ..Params::default() }.law(start("linux-7", MSS));
            law.set_cwnd(54_000);
            law.set_ssthresh(54_000);
            law.on_congestion(&event(Congestion::Ecn, 54_000));
            assert_eq!((law.cwnd(), law.state().ssthresh), (left, left), "{alpha}");
        }
    }

    #[test]
    fn a_loss_halves_whatever_alpha() {
        let _reached = must_reach(["dctcp.loss"]);
        for (why, left) in [(Congestion::Loss, 16_000), (Congestion::Timeout, 1_000)] {
            let mut law = dctcp(0.0625, 32);
            law.on_congestion(&event(why, 32_000));
            assert_eq!((law.cwnd(), law.state().ssthresh), (left, 16_000));
        }
    }

    #[test]
    fn deflation_is_reno_s() {
        let mut law = dctcp(0.5, 10);
        law.deflate(1_500);
        assert_eq!(law.cwnd(), 8_500);
    }

    #[test]
    fn growth_is_reno_s() {
        let mut law = dctcp(0.5, 4);
        (0..4).for_each(|_| law.grow(1_000));
        assert_eq!(law.cwnd(), 5_000);
    }

    #[test]
    fn the_trace_has_alpha() {
        assert_eq!((FACTS.columns.len(), dctcp(0.25, 10).values()), (1, vec![0.25]));
    }

    #[test]
    fn parameters_past_their_bounds_are_refused() {
        let wrong = |g, alpha| Params { g, alpha, ..Params::default() }.check().err().map(|error| error.key);
        assert_eq!([wrong(0.0, 1.0), wrong(1.1, 1.0), wrong(f64::NAN, 1.0)], [Some("congestion.g"); 3]);
        assert_eq!([wrong(1.0, -0.1), wrong(1.0, 1.1), wrong(1.0, f64::NAN)], [Some("congestion.alpha"); 3]);
        assert_eq!([wrong(1.0, 0.0), wrong(0.0625, 1.0)], [None; 2]);
        let linux =
            |g| Params { profile: Some(Profile::Linux), g, ..Params::default() }.check().err().map(|error| error.key);
        assert_eq!([linux(0.07), linux(1.0 / 2_048.0)], [Some("congestion.g"); 2]);
        assert_eq!([linux(1.0), linux(0.0625), linux(1.0 / 1_024.0)], [None; 3]);
    }
}
