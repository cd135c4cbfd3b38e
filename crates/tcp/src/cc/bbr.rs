//! BBR, version 1, as Linux has it (net/ipv4/tcp_bbr.c; Cardwell, Cheng, Gunn, Yeganeh and Jacobson, "BBR: Congestion-Based
//! Congestion Control", ACM Queue 14(5), 2016; draft-cardwell-iccrg-bbr-congestion-control-00). It models the path by the
//! greatest delivery rate and the least RTT, paces by the first and bounds the data in flight by the product of both. A loss
//! or a mark does not make it slower.
//!
//! This module has the law's inputs and the order of processing; its parts are in the modules: `bandwidth` the kernel's
//! fixed point, `min_rtt` the least of ten seconds, `pipe` the end of Startup, `cycle`
//! the phases of ProbeBW, `long_term` policers, `aggregation` the excess of aggregated ACKs, `recovery` the window in recovery, `window`
//! the window, `rate` pacing and bursts.

mod aggregation;
mod bandwidth;
mod cycle;
mod long_term;
mod min_rtt;
mod pipe;
mod rate;
mod recovery;
#[cfg(test)]
mod tests;
mod window;

use ecnlab_base::facts::Column;
use ecnlab_base::{Dur, Time, coverage_mark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::aggregation::Aggregation;
use self::bandwidth::{Bandwidth, UNIT};
use self::cycle::Cycle;
use self::long_term::{Change, LongTerm, Progress};
use self::min_rtt::{MinRtt, ProbeRtt};
use self::pipe::Pipe;
use self::rate::{HIGH_GAIN, Rate};
use self::recovery::Recovery;
use super::{
    AckSample, CcState, Congestion, CongestionControl, CongestionEvent, Established, Pacing, RateSample, Sent, Window,
};
use crate::boxed::Boxed;
use crate::facts::{Facts, Marks, Paces};
use crate::invalid::Invalid;
use crate::max_filter::MaxFilter;

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "bbr",
    label: "BBR",
    summary: "Sends at the greatest delivery rate of late, with two round trips of it in flight at most; losses and marks do not slow it (BBRv1 as Linux has it).",
    reference: "N. Cardwell, Y. Cheng, C. Gunn, S. Yeganeh and V. Jacobson, 'BBR: congestion-based congestion control', ACM Queue 14(5), 2016; Linux, net/ipv4/tcp_bbr.c",
    columns: &[
        Column::new("bbr_bw_bps", "bit/s", "BBR's estimate of the path's bandwidth, of payload"),
        Column::new("bbr_min_rtt_s", "s", "BBR's least round-trip time of the last 10 s"),
        Column::new("bbr_pacing_gain", "ratio", "BBR's pacing rate, in bandwidths").of_factors(),
        Column::new("bbr_cwnd_gain", "ratio", "BBR's window, in products of bandwidth and least round-trip time")
            .of_factors(),
    ],
    samples: true,
    feedback: true,
    paces: Paces::Always,
    credits_lateness: true,
    sndbuf_expand: 3,
    rates: true,
    owns_window: true,
    slow_start: false,
    waits_at_one_segment: false,
    marks: Marks::Ignored,
    ..Facts::PLAIN
};

/// The reciprocal of Startup's gain (bbr_drain_gain).
const DRAIN_GAIN: u64 = UNIT * 1_000 / 2_885;

/// The window in ProbeBW, in products of bandwidth and RTT (bbr_cwnd_gain).
const CWND_GAIN: u64 = 2 * UNIT;

/// Rounds for which a bandwidth counts (bbr_bw_rtts).
const BW_ROUNDS: u64 = 10;

/// The least window in segments (bbr_cwnd_min_target).
const LEAST_CWND: u64 = 4;

/// BBR has no parameters: Linux gives no setting for any of its constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl super::Params for Params {
    type Law = Bbr;
    type Start = Window;
    const ANY: bool = false;

    fn check(&self) -> Result<(), Invalid> {
        Ok(())
    }

    fn law(&self, window: Window) -> Bbr {
        Bbr(Boxed::new(State::new(window)))
    }
}

/// BBR.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Bbr(Boxed<State>);

impl AsMut<Window> for State {
    fn as_mut(&mut self) -> &mut Window {
        &mut self.window
    }
}

impl CongestionControl for Bbr {
    fn window(&self) -> &Window {
        &self.0.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.0.window
    }

    fn grow(&mut self, _: u64) {}

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.0.change(|law| law.on_congestion(event.why));
    }

    fn on_further_loss(&mut self) {
        self.0.change(|law| law.on_timeout());
    }

    fn on_established(&mut self, established: &Established) {
        self.0.change(|law| law.on_established(established));
    }

    fn on_feedback(&mut self, sample: &AckSample) {
        self.0.change(|law| law.lost_before = sample.lost_total);
    }

    fn on_ack(&mut self, sample: &AckSample) {
        // An ACK with nothing outstanding gives no sample (tcp_ack).
        if sample.prior_in_flight > 0 || sample.delivered.bytes > 0 {
            self.0.change(|law| law.on_ack(sample));
        }
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.0.change(|law| law.on_sent(sent));
    }

    fn pacing(&self) -> Option<Pacing> {
        Some(self.0.rate.pacing())
    }

    fn limits_rate(&self) -> bool {
        self.0.limits_rate
    }

    fn on_undo(&mut self, before: CcState) {
        self.0.change(|law| law.on_undo(before));
    }

    /// Linux leaves laws with a cong_control alone (tcp_slow_start_after_idle_check).
    fn on_idle_restart(&mut self, _: u64) {}

    fn values(&self) -> Vec<f64> {
        self.0.values()
    }
}

/// What the law does (bbr_mode).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Doubles the rate each round, until the bandwidth no longer grows.
    Startup,
    /// Drains the queue that this has made.
    Drain,
    /// Sends at the bandwidth, and now and then a quarter more.
    ProbeBw,
    /// Keeps four segments in flight, to see the RTT without a queue.
    ProbeRtt,
}

/// Rounds by packets: one is over when something is delivered that was sent after it began.
#[derive(Clone, Copy, Debug, Default)]
struct Rounds {
    count: u64,
    /// Bytes delivered when this one began.
    began: u64,
    /// The ACK at hand begins one.
    start: bool,
}

/// The state. Windows are segments, RTTs microseconds.
#[derive(Clone, Debug)]
struct State {
    window: Window,
    mss: u64,
    mode: Mode,
    pacing_gain: u64,
    cwnd_gain: u64,
    rate: Rate,
    rounds: Rounds,
    max_bw: MaxFilter<Bandwidth>,
    min_rtt: MinRtt,
    pipe: Pipe,
    cycle: Cycle,
    probe_rtt: ProbeRtt,
    /// ProbeRTT has kept the window down.
    limits_rate: bool,
    /// Sending has begun again after silence, and nothing of it is delivered yet.
    idle_restart: bool,
    recovery: Recovery,
    long_term: LongTerm,
    aggregation: Aggregation,
    /// When something was last delivered.
    delivered_at: Time,
    /// Bytes delivered and lost in total, as the last ACK has left them, and lost as the ACK at hand has found them.
    delivered: u64,
    lost: u64,
    lost_before: u64,
}

impl State {
    fn new(window: Window) -> State {
        let mss = window.mss().into();
        State {
            window,
            mss,
            mode: Mode::Startup,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            rate: Rate::new(mss),
            rounds: Rounds::default(),
            max_bw: MaxFilter::default(),
            min_rtt: MinRtt::default(),
            pipe: Pipe::default(),
            cycle: Cycle::new(0),
            probe_rtt: ProbeRtt::default(),
            limits_rate: false,
            idle_restart: false,
            recovery: Recovery::default(),
            long_term: LongTerm::default(),
            aggregation: Aggregation::default(),
            delivered_at: Time::ZERO,
            delivered: 0,
            lost: 0,
            lost_before: 0,
        }
    }

    // ---- ACK samples ----

    /// bbr_init.
    fn on_established(&mut self, established: &Established) {
        let rtt = established.rtt.map(us);
        self.window.set_ssthresh(u64::MAX);
        self.cycle = Cycle::new(established.seed);
        self.min_rtt = MinRtt::new(rtt, established.now);
        self.delivered_at = established.now;
        self.aggregation.restart(established.now);
        self.rate.note_rtt(rtt);
        self.begin_pacing(established.rtt.unwrap_or_default());
    }

    /// bbr_main: the model, then rate and window.
    fn on_ack(&mut self, sample: &AckSample) {
        self.delivered = sample.delivered_total;
        self.lost = sample.lost_total;
        if sample.delivered.bytes > 0 {
            self.delivered_at = sample.now;
        }
        self.recovery.on_ack(sample.in_recovery);
        self.update_model(sample);
        if self.rate.wants_rtt() && !sample.srtt.is_zero() {
            self.begin_pacing(sample.srtt);
        }
        self.pace(self.pacing_gain);
        self.set_cwnd(sample);
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.rate.count_sent(sent.bytes);
        if sent.bytes > 0 && sent.in_flight == 0 && sent.app_limited {
            self.restart_after_silence(sent.now);
        }
        if sent.outstanding == 0 {
            self.delivered_at = sent.now;
        }
    }

    /// bbr_cwnd_event_tx_start.
    fn restart_after_silence(&mut self, now: Time) {
        coverage_mark!("bbr.restart_after_silence");
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.mode {
            Mode::ProbeBw => self.pace(UNIT),
            Mode::ProbeRtt => self.end_probe_rtt_if_due(now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    /// bbr_ssthresh and bbr_set_state: the window stays, and what it was is kept.
    fn on_congestion(&mut self, why: Congestion) {
        let (cwnd, cut) = (self.cwnd(), self.mode == Mode::ProbeRtt);
        self.recovery.save(cwnd, cut);
        match why {
            Congestion::Timeout => self.on_timeout(),
            Congestion::Loss => self.recovery.begin_fast(),
            Congestion::Ecn => {}
        }
    }

    /// A timeout is like the end of a round.
    fn on_timeout(&mut self) {
        coverage_mark!("bbr.timeout");
        self.recovery.begin_after_timeout();
        self.pipe.forget_bandwidth();
        self.rounds.start = true;
        self.search_policer(true, false);
    }

    /// bbr_undo_cwnd: the window comes back when recovery is over.
    fn on_undo(&mut self, before: CcState) {
        coverage_mark!("bbr.undo");
        let ssthresh = self.window.ssthresh().max(before.ssthresh);
        self.window.set_ssthresh(ssthresh);
        self.pipe.restart();
        self.long_term.reset();
    }

    // ---- the model ----

    /// bbr_update_model.
    fn update_model(&mut self, sample: &AckSample) {
        let rate = sample.rate.filter(|rate| us(rate.interval) > 0);
        let losses = self.lost > self.lost_before;
        self.rounds.start = false;
        if let Some(rate) = &rate {
            self.count_round(rate);
            self.search_policer(losses, rate.app_limited);
            self.update_bandwidth(rate);
            self.update_aggregation(sample.delivered.packets);
        }
        self.update_phase(sample, losses);
        self.check_pipe(rate.is_some_and(|rate| rate.app_limited));
        self.check_drain(sample);
        self.update_min_rtt(sample);
        self.update_probe_rtt(sample);
        self.update_gains();
    }

    fn count_round(&mut self, rate: &RateSample) {
        if rate.prior_delivered >= self.rounds.began {
            self.rounds = Rounds { count: self.rounds.count + 1, began: self.delivered, start: true };
            self.recovery.end_conservation();
        }
    }

    fn search_policer(&mut self, losses: bool, app_limited: bool) {
        let progress = Progress {
            delivered: self.delivered,
            lost: self.lost,
            delivered_at: self.delivered_at,
            losses,
            app_limited,
            round_start: self.rounds.start,
            probes_bandwidth: self.mode == Mode::ProbeBw,
        };
        match self.long_term.update(&progress, self.mss) {
            Some(Change::Policed) => self.pacing_gain = UNIT,
            Some(Change::Over) => self.begin_probe_bw(),
            None => {}
        }
    }

    /// bbr_update_bw. What the application limits counts only if it is as much as was known.
    fn update_bandwidth(&mut self, rate: &RateSample) {
        let bw = Bandwidth::of(rate.delivered, self.mss, us(rate.interval));
        if !rate.app_limited || bw >= self.max_bw.get() {
            self.max_bw.update(BW_ROUNDS, self.rounds.count, bw);
        }
    }

    fn update_aggregation(&mut self, delivered: u64) {
        if delivered == 0 {
            return;
        }
        if self.rounds.start {
            self.aggregation.begin_round();
        }
        let (bw, cwnd) = (self.bw(), self.cwnd());
        self.aggregation.update(delivered, self.delivered_at, bw, cwnd);
    }

    fn update_phase(&mut self, sample: &AckSample, losses: bool) {
        if self.mode == Mode::ProbeBw && self.phase_is_over(sample, losses) {
            self.cycle.advance(self.delivered_at);
        }
    }

    /// bbr_is_next_cycle_phase: after the least RTT. Probing waits until as much is in flight as it aims at, unless
    /// something is lost; draining ends as soon as no queue is left.
    fn phase_is_over(&self, sample: &AckSample, losses: bool) -> bool {
        let is_long = self.min_rtt.get().is_some_and(|least| self.cycle.lasted(self.delivered_at) > least);
        let in_network = || self.in_network(sample, sample.prior_in_flight);
        match self.pacing_gain {
            UNIT => is_long,
            gain if gain > UNIT => is_long && (losses || in_network() >= self.inflight(gain)),
            _ => is_long || in_network() <= self.inflight(UNIT),
        }
    }

    fn check_pipe(&mut self, app_limited: bool) {
        if !self.pipe.is_full() && self.rounds.start && !app_limited {
            self.pipe.end_round(self.max_bw.get());
        }
    }

    /// bbr_check_drain.
    fn check_drain(&mut self, sample: &AckSample) {
        if self.mode == Mode::Startup && self.pipe.is_full() {
            coverage_mark!("bbr.drain");
            self.mode = Mode::Drain;
            let bdp = self.inflight(UNIT);
            self.window.set_ssthresh(bdp.saturating_mul(self.mss));
        }
        if self.mode == Mode::Drain && self.in_network(sample, sample.in_flight) <= self.inflight(UNIT) {
            self.begin_probe_bw();
        }
    }

    /// bbr_update_min_rtt, and the beginning of ProbeRTT in it.
    fn update_min_rtt(&mut self, sample: &AckSample) {
        let expired = self.min_rtt.has_expired(sample.now);
        let rtt = sample.last_rtt.map(us);
        self.rate.note_rtt(rtt);
        if let Some(rtt) = rtt {
            self.min_rtt.take(rtt, expired && !self.may_be_delayed(sample), sample.now);
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            coverage_mark!("bbr.probe_rtt");
            self.mode = Mode::ProbeRtt;
            self.probe_rtt = ProbeRtt::default();
            let cwnd = self.cwnd();
            self.recovery.save(cwnd, true);
        }
        if sample.delivered.bytes > 0 {
            self.idle_restart = false;
        }
    }

    /// Whether the receiver may have waited with the ACK: for part of a segment, sent alone (FLAG_ACK_MAYBE_DELAYED).
    fn may_be_delayed(&self, sample: &AckSample) -> bool {
        let part = (1..self.mss).contains(&sample.acked);
        part && sample.rate.is_some_and(|rate| rate.delivered == sample.acked)
    }

    /// The rest of bbr_update_min_rtt: from when four segments are in flight, a fifth of a second and a round.
    fn update_probe_rtt(&mut self, sample: &AckSample) {
        self.limits_rate = self.mode == Mode::ProbeRtt;
        if !self.limits_rate {
            return;
        }
        if self.probe_rtt.is_timed() {
            if self.probe_rtt.on_ack(self.rounds.start) {
                self.end_probe_rtt_if_due(sample.now);
            }
        } else if sample.in_flight <= LEAST_CWND * self.mss {
            self.probe_rtt.begin(sample.now);
            self.rounds.began = self.delivered;
        }
    }

    /// bbr_check_probe_rtt_done.
    fn end_probe_rtt_if_due(&mut self, now: Time) {
        if !self.probe_rtt.is_due(now) {
            return;
        }
        coverage_mark!("bbr.probe_rtt_ends");
        self.min_rtt.renew(now);
        let cwnd = self.recovery.saved().max(self.cwnd());
        self.window.set_cwnd(cwnd.saturating_mul(self.mss));
        if self.pipe.is_full() { self.begin_probe_bw() } else { self.mode = Mode::Startup }
    }

    fn begin_probe_bw(&mut self) {
        self.mode = Mode::ProbeBw;
        self.cycle.begin(self.delivered_at);
    }

    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.long_term.policed().is_some() => (UNIT, CWND_GAIN),
            Mode::ProbeBw => (self.cycle.gain(), CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }

    // ---- the rate ----

    fn begin_pacing(&mut self, rtt: Dur) {
        let rtt = (!rtt.is_zero()).then(|| us(rtt).max(1));
        self.rate.begin(self.cwnd(), rtt);
    }

    /// Before the pipe is full the rate does not fall.
    fn pace(&mut self, gain: u64) {
        self.rate.set(self.bw(), gain, self.pipe.is_full());
    }

    /// The bandwidth of the path: that of its policer, if there is one.
    fn bw(&self) -> Bandwidth {
        self.long_term.policed().unwrap_or_else(|| self.max_bw.get())
    }

    /// The window in segments.
    fn cwnd(&self) -> u64 {
        self.window.cwnd() / self.mss
    }

    /// What `ss` shows of it in Linux (bbr_get_info), in the order of the columns.
    fn values(&self) -> Vec<f64> {
        let gain = |gain: u64| gain as f64 / UNIT as f64;
        let min_rtt = self.min_rtt.get().map_or(f64::NAN, |us| us as f64 / 1e6);
        vec![self.bw().bits_per_sec(self.mss), min_rtt, gain(self.pacing_gain), gain(self.cwnd_gain)]
    }
}

/// Whole microseconds.
fn us(span: Dur) -> u64 {
    span.whole(Dur::from_us(1))
}
