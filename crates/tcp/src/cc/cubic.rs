//! CUBIC (RFC 9438): after a reduction the window follows a cubic function of time, flat near the window of the last
//! congestion, and is never below what Reno would have at the same loss rate. Slow start, floors and rounding are Reno's.
//! `docs/laws/cubic.md` lists the differences of the two profiles.

mod linux;

use ecnlab_base::{Dur, Time, coverage_mark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reno::Reno;
use super::{AckSample, CcState, Congestion, CongestionControl, CongestionEvent, Pacing, Sent, Start, Window};
use crate::facts::Facts;
use crate::invalid::{Invalid, ensure};
use crate::window::FRACTION;
use linux::Bictcp;

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "cubic",
    label: "CUBIC",
    summary: "A window that after a reduction follows a cubic function of time, and never falls behind Reno's.",
    reference: "RFC 9438; Linux, net/ipv4/tcp_cubic.c",
    samples: true,
    ..Facts::PLAIN
};

/// CUBIC with its parameters; the defaults are those of RFC 9438.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Variant of CUBIC; `linux` has no `beta`, `beta_ecn` and `c`. Default `rfc9438`.
    #[serde(skip_serializing_if = "Profile::is_default")]
    pub profile: Profile,
    /// Factor of the window reduction on congestion. Default 0.7 (§4.6).
    pub beta: f64,
    /// Factor of the reduction on ECN-Echo in congestion avoidance: 0.85 with ABE (RFC 8511 §3.1). Default: as `beta`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta_ecn: Option<f64>,
    /// Growth of the cubic function, in segments per cubic second. Default 0.4 (§5.1).
    pub c: f64,
    /// Fast convergence: a flow whose window shrinks from one congestion to the next reduces more. Default true (§4.7).
    pub fast_convergence: bool,
    /// Segments leave at twice the window in a round trip while it is below half of ssthresh, else at 1.2 times the
    /// window; the initial window leaves at once. Default false (true is Linux: tcp_update_pacing_rate).
    pub paced: bool,
}

/// Variant of CUBIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// RFC 9438, in real numbers.
    #[default]
    Rfc9438,
    /// `tcp_cubic` of Linux 7, in whole segments and milliseconds.
    Linux,
}

impl Profile {
    fn is_default(&self) -> bool {
        *self == Profile::default()
    }
}

impl Default for Params {
    fn default() -> Params {
        Params { profile: Profile::default(), beta: 0.7, beta_ecn: None, c: 0.4, fast_convergence: true, paced: false }
    }
}

impl super::Params for Params {
    type Law = Cubic;
    type Start = Start;

    fn check(&self) -> Result<(), Invalid> {
        let own = Params::default();
        let settable = self.profile != Profile::Linux;
        for (key, left) in [
            ("congestion.beta", self.beta == own.beta),
            ("congestion.beta_ecn", self.beta_ecn.is_none()),
            ("congestion.c", self.c == own.c),
        ] {
            ensure(settable || left, key, || {
                "must be left out with profile = \"linux\": the kernel's is fixed".to_owned()
            })?;
        }
        for (key, beta) in [("congestion.beta", Some(self.beta)), ("congestion.beta_ecn", self.beta_ecn)] {
            let in_bounds = beta.is_none_or(|beta| beta > 0.0 && beta < 1.0);
            ensure(in_bounds, key, || format!("must be above 0 and below 1, not {}", beta.unwrap_or_default()))?;
        }
        ensure(self.c > 0.0 && self.c <= 1_000.0, "congestion.c", || {
            format!("must be above 0 and at most 1000 segments per cubic second, not {}", self.c)
        })
    }

    fn law(&self, start: Start) -> Cubic {
        Cubic::new(*self, start)
    }
}

/// CUBIC. Windows are segments here, times seconds.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Cubic {
    reno: Reno,
    params: Params,
    mss: f64,
    curve: Curve,
    /// The curve of the profile `linux`, in place of the others.
    linux: Option<Bictcp>,
    /// The curve before the last reduction, in case the reduction was spurious.
    before: Curve,
    /// Time of the last ACK, and the smoothed RTT at that time.
    heard: Time,
    srtt: Dur,
}

/// State of the window's curve in congestion avoidance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Curve {
    /// When this congestion avoidance began (t_epoch); none before its first ACK.
    epoch: Option<Time>,
    /// The window at the last congestion, or less (W_max); zero where the curve begins at its plateau.
    w_max: f64,
    /// Seconds from the epoch to the plateau (K).
    k: f64,
    /// Estimate of Reno's window (W_est).
    w_est: f64,
    /// The window at the last congestion (cwnd_prior).
    prior: f64,
}

impl Curve {
    /// Congestion avoidance begins with a window of `cwnd` segments (§4.2).
    fn begin(&mut self, now: Time, cwnd: f64, c: f64) -> Time {
        self.w_max = self.w_max.max(cwnd);
        self.k = libm::cbrt((self.w_max - cwnd) / c);
        self.w_est = cwnd;
        self.epoch = Some(now);
        now
    }

    /// W_cubic(t), Figure 1 of §4.2.
    fn at(&self, t: f64, c: f64) -> f64 {
        let away = t - self.k;
        c * away * away * away + self.w_max
    }

    /// Time in which the flow had nothing to send does not count (§4.2, §5.8).
    fn shift(&mut self, by: Dur) {
        self.epoch = self.epoch.map(|epoch| epoch.saturating_add(by));
    }
}

impl Cubic {
    /// CUBIC that begins with `start`.
    pub fn new(params: Params, start: Start) -> Cubic {
        let (curve, reno) = (Curve::default(), Reno::new(start));
        Cubic {
            reno,
            params,
            mss: start.window.mss().into(),
            curve,
            linux: (params.profile == Profile::Linux).then(Bictcp::default),
            before: curve,
            heard: Time::ZERO,
            srtt: Dur::ZERO,
        }
    }

    /// An ACK of `acked` segments in congestion avoidance.
    fn avoid_congestion(&mut self, acked: f64) {
        let (cwnd, c) = (self.window().segments(), self.params.c);
        // A window below one segment, as ns-2's, counts as one.
        let share = acked / cwnd.max(1.0);
        let epoch = self.curve.epoch.unwrap_or_else(|| self.curve.begin(self.heard, cwnd, c));
        let t = self.heard.since(epoch).as_secs();
        // §4.3: Reno's growth with this beta's share of the link, then its own slope.
        let alpha = if self.curve.w_est < self.curve.prior { reno_friendly(self.params.beta) } else { 1.0 };
        self.curve.w_est += alpha * share;
        let to = if self.curve.at(t, c) < self.curve.w_est {
            self.curve.w_est
        } else {
            // §4.2 bounds the target, §4.4 and §4.5 go there within a round trip.
            let target = self.curve.at(t + self.srtt.as_secs(), c).clamp(cwnd, 1.5 * cwnd);
            (cwnd + (target - cwnd) * share).min(target)
        };
        self.window_mut().widen_segments(to - cwnd);
    }

    /// An ACK of `acked` bytes, which are whole segments (cubictcp_cong_avoid). What slow start leaves over counts for
    /// congestion avoidance.
    #[inline(never)]
    fn grow_as_linux(&mut self, acked: u64) {
        let mss = self.mss as u64;
        let slow = acked.min(self.window().ssthresh().saturating_sub(self.cwnd()));
        self.window_mut().widen(slow << FRACTION);
        let (cwnd, left) = (self.cwnd() / mss, (acked - slow).div_ceil(mss));
        if left > 0
            && let Some(curve) = &mut self.linux
        {
            let more = curve.growth(cwnd, left, self.heard);
            self.window_mut().widen((more * mss) << FRACTION);
        }
    }

    /// Congestion, in whole segments of the window (cubictcp_recalc_ssthresh); a timeout leaves nothing of the curve.
    fn reduce_as_linux(&mut self, event: &CongestionEvent) {
        let mss = self.mss as u64;
        let cwnd = self.cwnd() / mss;
        let Some(curve) = &mut self.linux else { return };
        let kept = curve.reduce(cwnd, self.params.fast_convergence);
        if event.why == Congestion::Timeout {
            coverage_mark!("cubic.linux_timeout");
            curve.reset();
        }
        self.reno.reduce(event, |_| (kept * mss) << FRACTION);
    }
}

/// The slope with which an AIMD that keeps `beta` has Reno's mean window (§4.3, alpha_cubic).
fn reno_friendly(beta: f64) -> f64 {
    3.0 * (1.0 - beta) / (1.0 + beta)
}

impl CongestionControl for Cubic {
    fn window(&self) -> &Window {
        self.reno.window()
    }

    fn window_mut(&mut self) -> &mut Window {
        self.reno.window_mut()
    }

    fn grow(&mut self, acked: u64) {
        if self.linux.is_some() {
            self.grow_as_linux(acked);
        } else if self.reno.in_slow_start() {
            self.curve.epoch = None;
            self.reno.slow_start(acked);
        } else {
            self.avoid_congestion(acked as f64 / self.mss);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        if self.linux.is_some() {
            return self.reduce_as_linux(event);
        }
        let Params { beta, beta_ecn, fast_convergence, .. } = self.params;
        // RFC 8511, abstract: what changes is the reaction in congestion avoidance.
        let own = beta_ecn.filter(|_| event.why == Congestion::Ecn && !self.reno.in_slow_start());
        let kept = own.unwrap_or(beta);
        let cwnd = self.window().segments();
        self.before = self.curve;
        // §4.7: what another flow has taken is left to it. §4.8: after a timeout the plateau is where congestion avoidance
        // begins.
        let w_max = match event.why {
            Congestion::Timeout => {
                coverage_mark!("cubic.timeout");
                0.0
            }
            _ if fast_convergence && cwnd < self.curve.w_max => {
                coverage_mark!("cubic.fast_convergence");
                cwnd * (1.0 + beta) / 2.0
            }
            _ => cwnd,
        };
        self.curve = Curve { w_max, prior: cwnd, ..Curve::default() };
        // §4.6.
        self.reno.reduce(event, |window| (window as f64 * kept).round() as u64);
    }

    fn on_feedback(&mut self, sample: &AckSample) {
        if let (Some(curve), Some(rtt)) = (&mut self.linux, sample.last_rtt) {
            curve.take_rtt(rtt, sample.now);
        }
    }

    fn on_ack(&mut self, sample: &AckSample) {
        if !sample.cwnd_limited && !sample.in_recovery {
            self.curve.shift(sample.now.since(self.heard));
        }
        (self.heard, self.srtt) = (sample.now, sample.srtt);
    }

    fn on_sent(&mut self, sent: &Sent) {
        if let Some(curve) = &mut self.linux {
            curve.on_sent(sent.in_flight == 0, sent.now);
        }
        if sent.outstanding == 0 {
            // Since the ACK that left nothing outstanding the flow was idle.
            self.curve.shift(sent.now.since(self.heard));
            self.heard = sent.now;
        }
    }

    fn pacing(&self) -> Option<Pacing> {
        self.params.paced.then(|| Pacing::of_window(self.state(), self.srtt, self.mss as u64)).flatten()
    }

    fn on_undo(&mut self, before: CcState) {
        // §4.9.2: window and curve come back, unless the window has reached what it was. The threshold does in any case, as
        // in Linux (tcp_undo_cwnd_reduction).
        let now = self.state();
        if now.cwnd < before.cwnd {
            coverage_mark!("cubic.undo");
            self.curve = self.before;
        }
        self.set_cwnd(now.cwnd.max(before.cwnd));
        self.set_ssthresh(now.ssthresh.max(before.ssthresh));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{Amount, Params as _, event};
    use crate::law::{Law, start};
    use crate::registry::WindowLaw;
    use crate::{Config, profile};
    use ecnlab_base::coverage::must_reach;

    const MSS: u32 = 1000;

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    /// CUBIC in congestion avoidance, with a window in segments.
    fn cubic(segments: u64) -> Cubic {
        let mut law = Cubic::new(Params::default(), start("modern", MSS));
        law.set_cwnd(segments * 1_000);
        law.set_ssthresh(segments * 1_000);
        law
    }

    fn sample(ms: u64, cwnd_limited: bool) -> AckSample {
        let one = Amount::of(1_000, MSS);
        AckSample {
            now: at(ms),
            acked: one,
            delivered: one,
            min_rtt: Dur::from_ms(100),
            srtt: Dur::from_ms(100),
            cwnd_limited,
            round: 1,
            ..AckSample::default()
        }
    }

    /// The ACK of one segment. Returns the window.
    fn ack(law: &mut Cubic, ms: u64) -> u64 {
        law.on_ack(&sample(ms, true));
        law.grow(1_000);
        law.cwnd()
    }

    fn lose(law: &mut Cubic) -> (u64, u64) {
        let cwnd = law.cwnd();
        law.on_congestion(&event(Congestion::Loss, cwnd));
        (law.cwnd(), law.state().ssthresh)
    }

    #[test]
    fn a_congestion_keeps_seven_tenths_and_fast_convergence_lowers_the_plateau() {
        let _reached = must_reach(["cubic.fast_convergence"]);
        let mut law = cubic(100);
        assert_eq!((lose(&mut law), law.curve.w_max), ((70_000, 70_000), 100.0));
        // §4.7: at 80 of 100 the next plateau is 80 · 1.7 / 2 = 68.
        law.set_cwnd(80_000);
        assert_eq!((lose(&mut law), law.curve.w_max), ((56_000, 56_000), 68.0));
        // As much as the last time is not less.
        law.set_cwnd(68_000);
        lose(&mut law);
        assert_eq!(law.curve.w_max, 68.0);
        law.params.fast_convergence = false;
        law.set_cwnd(60_000);
        assert_eq!((lose(&mut law), law.curve.w_max), ((42_000, 42_000), 60.0));
    }

    #[test]
    fn a_mark_in_congestion_avoidance_may_keep_more_than_a_loss() {
        let after = |why, ssthresh| {
            let mut law = cubic(100);
            law.params.beta_ecn = Some(0.85);
            law.set_ssthresh(ssthresh);
            law.on_congestion(&event(why, 100_000));
            (law.cwnd(), law.state().ssthresh, law.curve.w_max)
        };
        assert_eq!(after(Congestion::Ecn, 100_000), (85_000, 85_000, 100.0));
        assert_eq!(after(Congestion::Ecn, 100_001), (70_000, 70_000, 100.0), "in slow start");
        assert_eq!(after(Congestion::Loss, 100_000), (70_000, 70_000, 100.0));
        assert_eq!(after(Congestion::Timeout, 100_000), (1_000, 70_000, 0.0));
    }

    #[test]
    fn linux_s_windows_are_whole_segments_and_slow_start_ends_at_ssthresh() {
        let _reached = must_reach(["cubic.linux_timeout"]);
        let params = Params { profile: Profile::Linux, ..Params::default() };
        let mut law = Cubic::new(params, start("linux-7", MSS));
        law.set_cwnd(99_000);
        law.set_ssthresh(100_000);
        law.on_ack(&sample(1_000, true));
        // One of two segments ends slow start; the other is one of 20.
        law.grow(2_000);
        assert_eq!((law.cwnd(), law.linux.as_mut().map(|curve| curve.growth(100, 18, at(1_000)))), (100_000, Some(0)));
        assert_eq!(law.linux.as_mut().map(|curve| curve.growth(100, 1, at(1_000))), Some(1));
        assert_eq!(lose(&mut law), (70_000, 70_000));
        law.on_congestion(&event(Congestion::Timeout, 70_000));
        assert_eq!((law.cwnd(), law.state().ssthresh), (1_000, 49_000));
    }

    /// Linux's CUBIC in congestion avoidance, with a window in segments.
    fn linux(segments: u64) -> Cubic {
        let mut law = Cubic::new(Params { profile: Profile::Linux, ..Params::default() }, start("linux-7", MSS));
        law.set_cwnd(segments * 1_000);
        law.set_ssthresh(segments * 1_000);
        law
    }

    /// The window after an ACK of 20 segments, at which nothing is lost.
    fn ack_of_20(law: &mut Cubic, ms: u64) -> u64 {
        law.on_ack(&sample(ms, true));
        law.grow(20_000);
        law.cwnd()
    }

    #[test]
    fn linux_s_epoch_begins_behind_slow_start() {
        let mut law = linux(100);
        law.set_ssthresh(101_000);
        law.on_ack(&sample(1_000, true));
        law.grow(1_000);
        // 20 ACKs are a segment. Ten seconds on the curve would be far above: every second ACK.
        assert_eq!(ack_of_20(&mut law, 11_000), 102_000);
    }

    #[test]
    fn linux_s_curve_survives_a_loss_and_not_a_timeout() {
        let after = |why| {
            let mut law = linux(100);
            // What is in flight does not matter.
            law.on_congestion(&event(why, 50_000));
            law.set_cwnd(70_000);
            (law.state().ssthresh, ack_of_20(&mut law, 1_000))
        };
        // K is 4.2 s away, and Reno's window grows by 20 · 8 / 15 / 70. Without a curve 20 ACKs are a segment.
        assert_eq!([after(Congestion::Loss), after(Congestion::Timeout)], [(70_000, 70_000), (70_000, 71_000)]);
    }

    #[test]
    fn linux_counts_round_trips_and_no_pauses() {
        let lost = || {
            let mut law = linux(100);
            lose(&mut law);
            ack_of_20(&mut law, 1_000);
            law.on_sent(&Sent { now: at(1_000), in_flight: 1_000, ..Sent::default() });
            law
        };
        // Ten seconds after the epoch the curve is far above 70: every second ACK opens the window, and the 20 before do once.
        let mut law = lost();
        law.on_sent(&Sent { now: at(11_000), in_flight: 1_000, ..Sent::default() });
        assert_eq!(ack_of_20(&mut law, 11_000), 81_000);
        // With nothing in flight they do not count.
        let mut law = lost();
        law.on_sent(&Sent { now: at(11_000), in_flight: 0, ..Sent::default() });
        assert_eq!(ack_of_20(&mut law, 11_000), 70_000);
        // A round trip of ten seconds does: the window is to be where the curve is then.
        let mut law = lost();
        law.on_feedback(&AckSample { last_rtt: Some(Dur::from_ms(10_000)), ..sample(2_000, true) });
        assert_eq!(ack_of_20(&mut law, 2_000), 81_000);
    }

    #[test]
    fn what_linux_has_fixed_is_refused() {
        let key = |set: fn(&mut Params)| {
            let mut params = Params { profile: Profile::Linux, ..Params::default() };
            set(&mut params);
            params.check().map_err(|invalid| invalid.key.to_owned())
        };
        assert_eq!(key(|_| ()), Ok(()));
        assert_eq!(key(|p| p.beta = 0.5), Err("congestion.beta".to_owned()));
        assert_eq!(key(|p| p.beta_ecn = Some(0.85)), Err("congestion.beta_ecn".to_owned()));
        assert_eq!(key(|p| p.c = 1.0), Err("congestion.c".to_owned()));
    }

    #[test]
    fn a_profile_other_than_the_default_is_stored() {
        let stored = |params| serde_json::to_value::<Params>(params).unwrap().get("profile").cloned();
        assert_eq!(stored(Params { profile: Profile::Linux, ..Params::default() }), Some("linux".into()));
        assert_eq!(stored(Params::default()), None);
    }

    #[test]
    fn floors_are_two_segments_after_a_loss_and_one_after_a_mark() {
        // 0.7 of 2 segments is 1.4; §4.6.
        assert_eq!(lose(&mut cubic(2)), (2_000, 2_000));
        let mut law = cubic(2);
        law.on_congestion(&event(Congestion::Ecn, 2_000));
        assert_eq!((law.cwnd(), law.state().ssthresh), (1_400, 2_000));
        law.on_congestion(&event(Congestion::Ecn, 1_000));
        assert_eq!(law.cwnd(), 1_000);
    }

    #[test]
    fn the_window_follows_the_cubic_function() {
        let mut law = cubic(100);
        lose(&mut law);
        // K = cbrt(30 / 0.4) = 4.21716 s. At once W_cubic(0) = 70 is below W_est = 70 + 0.52941 / 70 = 70.00756.
        assert_eq!(ack(&mut law, 1_000), 70_007);
        assert!((law.curve.k - 4.21716).abs() < 1e-5);
        // Two seconds on: W_cubic(2.1) = 0.4 · (-2.11716)³ + 100 = 96.204. One ACK goes 1/90 of the way from 90:
        // 6.204 / 90 = 0.06893.
        law.set_cwnd(90_000);
        assert_eq!(ack(&mut law, 3_000), 90_068);
        // Six seconds past K: W_cubic(10.1) = 0.4 · 5.88284³ + 100 = 181.4, but §4.2: at most 1.5 · 90 = 135.
        law.set_cwnd(90_000);
        assert_eq!(ack(&mut law, 11_000), 90_500);
    }

    #[test]
    fn reno_s_growth_is_the_least_and_has_slope_one_above_the_last_congestion() {
        let mut law = cubic(10);
        lose(&mut law);
        // K = cbrt(3 / 0.4) = 1.957 s; at t = 0 W_cubic is 7. Each ACK adds 0.52941 / cwnd: 7.07563, 7.15045.
        assert_eq!([ack(&mut law, 1_000), ack(&mut law, 1_000)], [7_075, 7_150]);
        // §4.3: from cwnd_prior on 1 / cwnd: 10 + 0.1.
        law.set_cwnd(10_000);
        law.curve.w_est = 10.0;
        assert_eq!(ack(&mut law, 1_000), 10_100);
    }

    #[test]
    fn after_a_timeout_the_plateau_is_where_slow_start_ends() {
        let _reached = must_reach(["cubic.timeout"]);
        let mut law = cubic(100);
        law.on_congestion(&event(Congestion::Timeout, 100_000));
        assert_eq!((law.cwnd(), law.state().ssthresh), (1_000, 70_000));
        assert_eq!(ack(&mut law, 1_000), 2_000);
        law.set_cwnd(70_000);
        ack(&mut law, 1_000);
        assert_eq!((law.curve.w_max, law.curve.k), (70.0, 0.0));
        // W_cubic(5.1) = 70 + 0.4 · 5.1³ = 123.06, at most 1.5 · 70 = 105: 35 / 70.
        law.set_cwnd(70_000);
        assert_eq!(ack(&mut law, 6_000), 70_500);
    }

    #[test]
    fn without_a_congestion_the_plateau_is_where_slow_start_was_left() {
        let mut law = cubic(50);
        // W_cubic(0.1) = 50.0004: below W_est = 50.02.
        assert_eq!(ack(&mut law, 1_000), 50_020);
        assert_eq!((law.curve.w_max, law.curve.k), (50.0, 0.0));
    }

    #[test]
    fn time_without_data_to_send_does_not_count() {
        let mut law = cubic(100);
        lose(&mut law);
        ack(&mut law, 1_000);
        // Ten seconds idle, then three in which the application sends little: t is still zero.
        law.on_sent(&Sent { now: at(11_000), bytes: 1_000, outstanding: 0, ..Sent::default() });
        law.on_sent(&Sent { now: at(12_000), bytes: 1_000, outstanding: 1_000, ..Sent::default() });
        law.on_ack(&sample(14_000, false));
        assert_eq!(law.curve.epoch, Some(at(14_000)));
        // 0.1 s later: W_cubic(0.1 + 0.1) = 0.4 · (-4.01716)³ + 100 = 74.069.
        law.set_cwnd(70_000);
        assert_eq!(ack(&mut law, 14_100), 70_058);
    }

    #[test]
    fn idle_time_counts_from_the_last_ack_to_the_first_segment() {
        let mut law = cubic(100);
        lose(&mut law);
        ack(&mut law, 1_000);
        // Nothing is outstanding from 1 s to 11 s; the second segment ends no idle time.
        law.on_sent(&Sent { now: at(11_000), bytes: 1_000, outstanding: 0, ..Sent::default() });
        law.on_sent(&Sent { now: at(11_050), bytes: 1_000, outstanding: 1_000, ..Sent::default() });
        law.on_ack(&sample(11_100, true));
        assert_eq!(law.curve.epoch, Some(at(11_000)));
    }

    #[test]
    fn reno_s_window_counts_only_where_it_is_the_larger() {
        // §4.3: "if W_cubic(t) < W_est". Here, a second after the epoch at the plateau, both are 100: 99 and a segment for
        // the window of 64 that was acknowledged. So the target counts, W_cubic(1.1) = 100.0004, bounded by 1.5 · 64 = 96.
        let mut law = cubic(64);
        law.curve = Curve { epoch: Some(Time::ZERO), w_max: 100.0, k: 1.0, w_est: 99.0, prior: 0.0 };
        law.on_ack(&sample(1_000, true));
        law.grow(64_000);
        assert_eq!(law.cwnd(), 96_000);
    }

    #[test]
    fn deflation_is_reno_s() {
        let mut law = cubic(10);
        law.deflate(1_500);
        assert_eq!(law.cwnd(), 8_500);
    }

    #[test]
    fn a_spurious_reduction_gives_back_window_and_curve() {
        let _reached = must_reach(["cubic.undo"]);
        let mut law = cubic(100);
        lose(&mut law);
        ack(&mut law, 1_000);
        law.set_cwnd(90_000);
        let (before, curve) = (law.state(), law.curve);
        lose(&mut law);
        assert_ne!(law.curve, curve);
        law.on_undo(before);
        assert_eq!((law.state(), law.curve), (before, curve));
        // At the old window and past it there is nothing to give back: the newer curve stays.
        for cwnd in [90_000, 95_000] {
            lose(&mut law);
            let curve = law.curve;
            law.set_cwnd(cwnd);
            law.on_undo(before);
            assert_eq!((law.cwnd(), law.curve), (cwnd, curve));
        }
    }

    #[test]
    fn a_paced_window_leaves_in_less_than_a_round_trip() {
        let mut law = cubic(10);
        law.on_ack(&sample(1_000, true));
        assert_eq!(law.pacing(), None);
        law.params.paced = true;
        // 1.2 · 10000 bytes in 100 ms; far below ssthresh 2 · 10000.
        assert_eq!(law.pacing(), Some(Pacing { rate: 120_000, quantum: 1_000 }));
        // Linux: 200 % while cwnd < ssthresh / 2.
        law.set_ssthresh(20_000);
        assert_eq!(law.pacing().map(|pacing| pacing.rate), Some(120_000));
        law.set_ssthresh(20_002);
        assert_eq!(law.pacing().map(|pacing| pacing.rate), Some(200_000));
        law.srtt = Dur::ZERO;
        assert_eq!(law.pacing(), None, "no round trip is known");
    }

    #[test]
    fn parameters_past_their_bounds_are_refused() {
        let wrong = |beta, c| Params { beta, c, ..Params::default() }.check().err().map(|error| error.key);
        assert_eq!([wrong(0.0, 0.4), wrong(1.0, 0.4), wrong(f64::NAN, 0.4)], [Some("congestion.beta"); 3]);
        assert_eq!([wrong(0.7, 0.0), wrong(0.7, 1_001.0), wrong(0.7, f64::NAN)], [Some("congestion.c"); 3]);
        assert_eq!(wrong(0.7, 0.4), None);
        let marks = |beta| Params { beta_ecn: Some(beta), ..Params::default() }.check().err().map(|error| error.key);
        assert_eq!([marks(0.0), marks(1.0), marks(f64::NAN)], [Some("congestion.beta_ecn"); 3]);
        assert_eq!(marks(0.85), None);
    }

    #[test]
    fn the_law_in_use_hears_what_is_sent_and_what_recovery_takes_away() {
        let config = Config { congestion: WindowLaw::Cubic(Params::default()), ..profile("modern").unwrap().config };
        let mut law = Law::new(&config, MSS);
        law.set_cwnd(100_000);
        law.deflate(30_000);
        assert_eq!(law.cwnd(), 70_000);
        law.set_ssthresh(70_000);
        let ack = |law: &mut Law, ms| {
            law.on_ack(&sample(ms, true));
            law.grow(1_000);
        };
        ack(&mut law, 1_000);
        // CUBIC does not count the ten seconds in which nothing is outstanding (RFC 9438 §5.8). Another 0.1 s on it is still
        // where Reno is: 70 segments and 2/70. With them it would head for 1.5 · 70, a 70th part of the way.
        law.on_sent(&Sent { now: at(11_000), bytes: 1_000, outstanding: 0, ..Sent::default() });
        ack(&mut law, 11_100);
        assert_eq!(law.cwnd(), 70_028);
    }
}
