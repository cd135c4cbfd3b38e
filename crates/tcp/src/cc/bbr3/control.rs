//! Pacing rate, send quantum and congestion window ("Updating Control Parameters").

use ecnlab_base::Dur;

use super::path::{UNBOUNDED, float, whole};
use super::{Pacing, Phase, State};

/// 1 - BBR.PacingMarginPercent.
const PACED: f64 = 0.99;

/// RTT of the first pacing rate if none is known.
const NOMINAL_RTT: Dur = Dur::from_ms(1);

/// The time whose data leaves in one burst, and the most and fewest bytes of one ("C.send_quantum").
const QUANTUM_TIME: Dur = Dur::from_ms(1);
const LARGEST_QUANTUM: u64 = 65_536;
const LEAST_QUANTUM: u64 = 2;

/// Quanta of BBR.offload_budget, which TCP senders and receivers hold.
const BUDGET_QUANTA: u64 = 3;

/// BBR.MinPipeCwnd in segments.
const MIN_PIPE_CWND: u64 = 4;

/// Segments that the window of ProbeBW_UP has besides.
const UP_SEGMENTS: u64 = 2;

/// The pacing rate and the send quantum.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    mss: u64,
    /// C.pacing_rate.
    bytes_per_sec: f64,
    /// The same in whole bytes, and C.send_quantum.
    pacing: Pacing,
    /// C.InitialCwnd in bytes.
    initial_cwnd: u64,
    /// The first rate was derived from an RTT.
    has_seen_rtt: bool,
}

impl Rate {
    /// No rate, with segments of `mss` bytes.
    pub fn new(mss: u64) -> Rate {
        Rate { mss, bytes_per_sec: 0.0, pacing: Pacing { rate: 0, quantum: 0 }, initial_cwnd: 0, has_seen_rtt: false }
    }

    /// InitPacingRate: `cwnd` bytes in a round trip, times the gain of Startup.
    pub fn begin(&mut self, cwnd: u64, rtt: Option<Dur>) {
        let nominal = cwnd as f64 / rtt.filter(|rtt| !rtt.is_zero()).unwrap_or(NOMINAL_RTT).as_secs();
        (self.initial_cwnd, self.has_seen_rtt) = (cwnd, rtt.is_some());
        self.set(Phase::Startup.pacing_gain() * nominal);
    }

    /// Whether no RTT has set the first rate yet.
    pub fn wants_rtt(&self) -> bool {
        !self.has_seen_rtt
    }

    /// Sets the rate, and with it the quantum (SetSendQuantum).
    fn set(&mut self, bytes_per_sec: f64) {
        self.bytes_per_sec = bytes_per_sec;
        let quantum = whole(bytes_per_sec * QUANTUM_TIME.as_secs());
        let quantum = quantum.min(LARGEST_QUANTUM).max(LEAST_QUANTUM * self.mss);
        self.pacing = Pacing { rate: whole(bytes_per_sec), quantum };
    }

    /// Rate and quantum for the pacer.
    pub fn pacing(&self) -> Pacing {
        self.pacing
    }
}

impl State {
    // ---- rate ----

    /// SetPacingRate.
    pub(super) fn set_pacing_rate(&mut self) {
        self.set_pacing_rate_with_gain(self.state.pacing_gain());
    }

    /// SetPacingRateWithGain: before the pipe is full the rate does not fall.
    pub(super) fn set_pacing_rate_with_gain(&mut self, gain: f64) {
        let rate = gain * self.path.bw * PACED;
        if rate > self.rate.bytes_per_sec || (self.full_bw.reached && rate < self.rate.bytes_per_sec) {
            self.rate.set(rate);
        }
    }

    // ---- volume ----

    fn min_pipe_cwnd(&self) -> u64 {
        MIN_PIPE_CWND * self.mss
    }

    /// BDPMultiple, at bandwidth `bw`.
    fn bdp_multiple(&self, bw: f64, gain: f64) -> u64 {
        self.path.bdp(bw, gain).unwrap_or(self.rate.initial_cwnd)
    }

    /// QuantizationBudget, with UpdateOffloadBudget.
    fn quantization_budget(&self, inflight_cap: u64) -> u64 {
        let cap = inflight_cap.max(BUDGET_QUANTA * self.rate.pacing.quantum).max(self.min_pipe_cwnd());
        if self.state == Phase::Up { cap + UP_SEGMENTS * self.mss } else { cap }
    }

    /// Inflight, at bandwidth `bw`.
    pub(super) fn inflight_at(&self, bw: f64, gain: f64) -> u64 {
        self.quantization_budget(self.bdp_multiple(bw, gain))
    }

    /// TargetInflight.
    pub(super) fn target_inflight(&self) -> u64 {
        self.bdp_multiple(self.path.bw, 1.0).min(self.window.cwnd())
    }

    /// Whether TargetInflight is below `bytes`: cheaper than the comparison, as the product need not be rounded up.
    pub(super) fn is_target_inflight_below(&self, bytes: u64) -> bool {
        let bdp = self.path.product(self.path.bw, 1.0);
        self.window.cwnd() < bytes || bdp.map_or(self.rate.initial_cwnd < bytes, |bdp| bdp <= float(bytes - 1))
    }

    /// InflightWithHeadroom.
    pub(super) fn inflight_with_headroom(&self) -> u64 {
        self.path.inflight_with_headroom(self.mss, self.min_pipe_cwnd())
    }

    /// ProbeRTTCwnd.
    pub(super) fn probe_rtt_cwnd(&self) -> u64 {
        self.bdp_multiple(self.path.bw, Phase::ProbeRtt.cwnd_gain()).max(self.min_pipe_cwnd())
    }

    // ---- window ----

    /// SetCwnd, with UpdateMaxInflight.
    pub(super) fn set_cwnd(&mut self, newly_acked: u64) {
        let volume = self.bdp_multiple(self.path.bw, self.state.cwnd_gain()) + self.aggregation.extra_acked();
        let max_inflight = self.quantization_budget(volume);
        let mut cwnd = self.window.cwnd();
        if self.full_bw.reached {
            cwnd = (cwnd + newly_acked).min(max_inflight);
        } else if cwnd < max_inflight || self.delivered < self.rate.initial_cwnd {
            cwnd += newly_acked;
        }
        cwnd = cwnd.max(self.min_pipe_cwnd());
        // BoundCwndForProbeRTT.
        if self.state == Phase::ProbeRtt {
            cwnd = cwnd.min(self.probe_rtt_cwnd());
        }
        self.window.set_cwnd(cwnd.min(self.bound_for_model()));
    }

    /// BoundCwndForModel.
    fn bound_for_model(&self) -> u64 {
        let cap = match self.state {
            Phase::Down | Phase::Refill | Phase::Up => self.path.inflight_longterm,
            Phase::ProbeRtt | Phase::Cruise => self.inflight_with_headroom(),
            Phase::Startup | Phase::Drain => UNBOUNDED,
        };
        cap.min(self.path.inflight_shortterm).max(self.min_pipe_cwnd())
    }
}
