//! BBR, version 3 (draft-ietf-ccwg-bbr, repository of the working group, 3 August 2026, whose names the comments use). It models
//! the path by its bandwidth, its round-trip time and the data in flight that it bears, and reduces the last for losses.
//!
//! This module has the law's inputs and the order of processing (UpdateOnACK). Its parts are in the modules: `path` the model,
//! `round` rounds, `full_bw` the search for a plateau, `startup` Startup and Drain, `probe_bw` the cycle, `probe_rtt` the least RTT,
//! `congestion` losses and what they change, `ecn` marks, `aggregation` the excess of aggregated ACKs, `control` rate and window.
//!
//! Volumes are bytes, rates bytes of payload per second.

mod aggregation;
mod congestion;
mod control;
mod ecn;
mod full_bw;
mod path;
mod probe_bw;
mod probe_rtt;
mod round;
mod startup;
#[cfg(test)]
mod tests;

use ecnlab_base::facts::Column;
use ecnlab_base::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::aggregation::Aggregation;
use self::congestion::{Congested, Saved};
use self::control::Rate;
use self::ecn::Ecn;
use self::full_bw::FullBw;
use self::path::{Path, UNBOUNDED};
use self::probe_bw::Cycle;
use self::probe_rtt::ProbeRtt;
use self::round::Round;
use super::{
    AckSample, CcState, Codepoint, Congestion, CongestionControl, CongestionEvent, Established, Lost, Pacing,
    RateSample, Sent, Window,
};
use crate::boxed::Boxed;
use crate::facts::{Facts, Marks, Paces};
use crate::invalid::{Invalid, ensure};

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "bbr3",
    label: "BBRv3",
    summary: "Sends at the greatest delivery rate of its last two probes, and keeps in flight what has not lost more than 2 %.",
    reference: "draft-ietf-ccwg-bbr (3 August 2026); its response to alpha: google/bbr, v3, net/ipv4/tcp_bbr.c",
    columns: &[
        Column::new("bbr_bw_bps", "bit/s", "BBR's estimate of the path's bandwidth, of payload"),
        Column::new("bbr_min_rtt_s", "s", "BBR's least round-trip time of the last 10 s"),
        Column::new("bbr_pacing_gain", "ratio", "BBR's pacing rate, in bandwidths").of_factors(),
        Column::new("bbr_cwnd_gain", "ratio", "BBR's window, in products of bandwidth and least round-trip time")
            .of_factors(),
        Column::new(
            "bbr_state",
            "code",
            "BBRv3's state: 1 Startup, 2 Drain, 3 DOWN, 4 CRUISE, 5 REFILL, 6 UP, 7 ProbeRTT",
        ),
        Column::new("bbr_max_bw_bps", "bit/s", "BBRv3's greatest delivery rate of two cycles"),
        Column::new("bbr_bw_shortterm_bps", "bit/s", "BBRv3's bound of the rate since its last probe"),
        Column::new("bbr_inflight_longterm_bytes", "bytes", "BBRv3's bound of the data in flight"),
        Column::new(
            "bbr_inflight_shortterm_bytes",
            "bytes",
            "BBRv3's bound of the data in flight since its last probe",
        ),
        Column::new("bbr_extra_acked_bytes", "bytes", "BBRv3's estimate of aggregated data"),
        Column::new("bbr_full_bw_count", "rounds", "BBRv3's rounds without growth of the delivery rate"),
        Column::new(
            "bbr_full_bw_now",
            "flag",
            "BBRv3 has found a plateau of the delivery rate since its last search began",
        ),
        Column::new("bbr_full_bw_reached", "flag", "BBRv3's Startup has filled the pipe"),
        Column::new("bbr_round_count", "rounds", "BBRv3's rounds"),
        Column::new(
            "bbr_idle_restart",
            "flag",
            "BBRv3 has begun to send again after silence, and no ACK has come since",
        ),
        Column::new(
            "bbr_bw_probe_up_rounds",
            "rounds",
            "BBRv3's rounds in which a probe has raised its bound of the data in flight",
        ),
        Column::new("bbr_alpha", "ratio", "BBRv3's estimate of the marked share of its data"),
    ],
    samples: true,
    paces: Paces::Always,
    rates: true,
    owns_window: true,
    slow_start: false,
    waits_at_one_segment: false,
    marks: Marks::Once,
    ..Facts::PLAIN
};

/// BBRv3 with its parameters. The draft's constants are none of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The response to marks. Default `loss`.
    pub marks: Response,
    /// Least RTT up to which `marks = "alpha"` has an effect; "0 s" is at any. Default 5 ms (bbr_ecn_max_rtt_us).
    pub marks_max_rtt: Dur,
    /// Codepoint of ECN-capable packets: "ect0", or "ect1" for queues that mark these packets separately, such as those of L4S
    /// (RFC 9331 §4.1). Default `ect0` (RFC 3168 §5).
    pub codepoint: Codepoint,
}

/// The response to marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Response {
    /// A mark counts as a loss: the draft names no response of its own, but requires that CE be treated as congestion.
    #[default]
    Loss,
    /// As the published code: by the marked share of data, on paths whose least RTT is `marks_max_rtt` at most.
    Alpha,
    /// None, as the published code on routes without the feature `ecn_low`, which is the default.
    Ignored,
}

impl Default for Params {
    fn default() -> Params {
        Params { marks: Response::Loss, marks_max_rtt: Dur::from_ms(5), codepoint: Codepoint::Ect0 }
    }
}

impl super::Params for Params {
    type Law = Bbr3;
    type Start = Window;

    fn check(&self) -> Result<(), Invalid> {
        ensure(self.marks_max_rtt <= Dur::from_s(10), "congestion.marks_max_rtt", || {
            format!("must be at most 10 s, not {} s", self.marks_max_rtt.as_secs())
        })
    }

    fn needs_count(&self) -> Option<&'static str> {
        let by_codepoint = (self.codepoint == Codepoint::Ect1).then_some("congestion.codepoint");
        by_codepoint.or((self.marks == Response::Alpha).then_some("congestion.marks"))
    }

    fn law(&self, window: Window) -> Bbr3 {
        Bbr3(Boxed::new(State::new(window, self)))
    }
}

/// BBRv3.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Bbr3(Boxed<State>);

impl AsMut<Window> for State {
    fn as_mut(&mut self) -> &mut Window {
        &mut self.window
    }
}

impl CongestionControl for Bbr3 {
    fn window(&self) -> &Window {
        &self.0.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.0.window
    }

    fn grow(&mut self, _: u64) {}

    fn on_congestion(&mut self, event: &CongestionEvent) {
        match event.why {
            Congestion::Loss | Congestion::Timeout => self.0.change(|law| law.enter_recovery(event.why)),
            Congestion::Ecn => self.0.change(|law| law.ecn.on_echo()),
        }
    }

    fn on_further_loss(&mut self) {
        self.0.change(|law| law.enter_recovery(Congestion::Timeout));
    }

    fn on_established(&mut self, established: &Established) {
        self.0.change(|law| law.on_established(established));
    }

    fn on_ack(&mut self, sample: &AckSample) {
        self.0.change(|law| law.on_ack(sample));
    }

    fn on_lost(&mut self, lost: &Lost, now: Time) {
        self.0.change(|law| law.handle_lost_packet(lost, now));
    }

    #[inline]
    fn on_sent(&mut self, sent: &Sent) {
        if sent.in_flight == 0 && sent.app_limited && sent.bytes > 0 {
            self.0.change(|law| law.restart_from_idle(sent.now));
        }
    }

    fn codepoint(&self) -> Codepoint {
        self.0.codepoint
    }

    fn answers_marks(&self) -> bool {
        self.0.ecn.answers()
    }

    fn pacing(&self) -> Option<Pacing> {
        Some(self.0.rate.pacing())
    }

    /// HandleProbeRTT marks the connection as limited by the application.
    fn limits_rate(&self) -> bool {
        self.0.state == Phase::ProbeRtt
    }

    fn on_undo(&mut self, _: CcState) {
        self.0.change(|law| law.handle_spurious_loss_detection());
    }

    /// The window stays (draft, "Restarting From Idle").
    fn on_idle_restart(&mut self, _: u64) {}

    fn values(&self) -> Vec<f64> {
        self.0.values()
    }
}

/// BBR.state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl Phase {
    /// IsInAProbeBWState.
    fn is_probe_bw(self) -> bool {
        matches!(self, Phase::Down | Phase::Cruise | Phase::Refill | Phase::Up)
    }

    /// IsProbingBW: losses now are those of a probe, and no reason to reduce the short-term bounds.
    fn probes_bandwidth(self) -> bool {
        matches!(self, Phase::Startup | Phase::Refill | Phase::Up)
    }

    /// BBR.pacing_gain.
    fn pacing_gain(self) -> f64 {
        match self {
            Phase::Startup => 2.77,
            Phase::Drain => 0.5,
            Phase::Down => 0.9,
            Phase::Cruise | Phase::Refill | Phase::ProbeRtt => 1.0,
            Phase::Up => 1.25,
        }
    }

    /// BBR.cwnd_gain.
    fn cwnd_gain(self) -> f64 {
        match self {
            Phase::Up => 2.25,
            Phase::ProbeRtt => 0.5,
            _ => 2.0,
        }
    }
}

/// The state, and what the ACK at hand has brought.
#[derive(Clone, Debug)]
struct State {
    window: Window,
    mss: u64,
    codepoint: Codepoint,
    state: Phase,
    /// BBR.drain_start_round.
    drain_start_round: u64,
    rate: Rate,
    round: Round,
    path: Path,
    full_bw: FullBw,
    cycle: Cycle,
    probe_rtt: ProbeRtt,
    congested: Congested,
    saved: Saved,
    aggregation: Aggregation,
    ecn: Ecn,
    /// BBR.idle_restart.
    idle_restart: bool,
    /// Both ends use SACK (C.has_selective_acks).
    has_selective_acks: bool,
    /// C.inflight and C.delivered.
    inflight: u64,
    delivered: u64,
    /// Bytes delivered when the window was last used up; with what the next round delivers this is C.is_cwnd_limited.
    limited_at: Option<u64>,
    is_cwnd_limited: bool,
}

impl State {
    fn new(window: Window, params: &Params) -> State {
        let mss = window.mss().into();
        State {
            window,
            mss,
            codepoint: params.codepoint,
            state: Phase::Startup,
            drain_start_round: 0,
            rate: Rate::new(mss),
            round: Round::default(),
            path: Path::default(),
            full_bw: FullBw::default(),
            cycle: Cycle::new(0),
            probe_rtt: ProbeRtt::default(),
            congested: Congested::default(),
            saved: Saved::default(),
            aggregation: Aggregation::default(),
            ecn: Ecn::new(params.marks, params.marks_max_rtt),
            idle_restart: false,
            has_selective_acks: true,
            inflight: 0,
            delivered: 0,
            limited_at: None,
            is_cwnd_limited: false,
        }
    }

    /// OnInit.
    fn on_established(&mut self, established: &Established) {
        let Established { now, rtt, seed, counts_marks, sack } = *established;
        self.window.set_ssthresh(u64::MAX);
        self.cycle = Cycle::new(seed);
        self.path.begin(rtt, now);
        self.probe_rtt.begin(rtt, now);
        self.aggregation.restart(now);
        self.ecn.counts = counts_marks;
        self.has_selective_acks = sack;
        self.rate.begin(self.window.cwnd(), rtt);
    }

    /// UpdateOnACK.
    fn on_ack(&mut self, sample: &AckSample) {
        // An ACK with nothing outstanding brings nothing.
        if sample.prior_in_flight == 0 && sample.delivered.bytes == 0 {
            return;
        }
        (self.inflight, self.delivered) = (sample.in_flight, sample.delivered_total);
        if self.rate.wants_rtt() && !sample.srtt.is_zero() {
            self.rate.begin(self.window.cwnd(), Some(sample.srtt));
        }
        self.leave_recovery(sample.in_recovery);
        self.update_model_and_state(sample);
        self.set_pacing_rate();
        self.set_cwnd(sample.delivered.bytes);
    }

    /// UpdateModelAndState.
    fn update_model_and_state(&mut self, sample: &AckSample) {
        let rs = sample.rate.as_ref();
        self.update_cwnd_limited(sample, rs);
        self.update_latest_delivery_signals(rs);
        self.update_congestion_signals(sample, rs);
        self.aggregation.update(sample, self.path.bw, self.window.cwnd(), self.full_bw.reached, self.round.count);
        if let Some(rs) = rs {
            self.full_bw.check(rs, self.round.start);
            self.check_startup_high_loss(rs, sample.in_recovery);
        }
        self.check_startup_done();
        self.check_drain_done(sample.now);
        if let Some(rs) = rs {
            self.update_probe_bw_cycle_phase(sample, rs);
        }
        self.update_min_rtt(sample);
        self.check_probe_rtt(sample, rs);
        self.congested.advance_latest_delivery_signals(rs);
        self.path.bound_bw();
    }

    /// C.is_cwnd_limited: the window was used up in the last round.
    fn update_cwnd_limited(&mut self, sample: &AckSample, rs: Option<&RateSample>) {
        if sample.cwnd_limited {
            self.limited_at = Some(self.delivered);
        } else if let (Some(at), Some(rs)) = (self.limited_at, rs)
            && rs.prior_delivered >= at
        {
            self.limited_at = None;
        }
        self.is_cwnd_limited = self.limited_at.is_some();
    }

    /// HandleRestartFromIdle. As in the published code the excess is counted anew, and not only its time.
    fn restart_from_idle(&mut self, now: Time) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        if self.state.is_probe_bw() {
            self.set_pacing_rate_with_gain(1.0);
        } else if self.state == Phase::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }

    /// The values of the columns of [`FACTS`]; what is not bounded or not known is no number.
    fn values(&self) -> Vec<f64> {
        let bits = |rate: f64| if rate.is_finite() { 8.0 * rate } else { f64::NAN };
        let bytes = |volume: u64| if volume == UNBOUNDED { f64::NAN } else { volume as f64 };
        vec![
            bits(self.path.bw),
            self.path.min_rtt().map_or(f64::NAN, Dur::as_secs),
            self.state.pacing_gain(),
            self.state.cwnd_gain(),
            f64::from(self.state as u8 + 1),
            bits(self.path.max_bw()),
            bits(self.path.bw_shortterm),
            bytes(self.path.inflight_longterm),
            bytes(self.path.inflight_shortterm),
            self.aggregation.extra_acked() as f64,
            f64::from(self.full_bw.count),
            f64::from(u8::from(self.full_bw.now)),
            f64::from(u8::from(self.full_bw.reached)),
            self.round.count as f64,
            f64::from(u8::from(self.idle_restart)),
            f64::from(self.cycle.up_rounds),
            self.ecn.alpha(),
        ]
    }
}
