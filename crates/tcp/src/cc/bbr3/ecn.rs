//! Marks. The draft has no response of its own to them, but requires that CE be treated as congestion ("ECN"): here a mark counts as a
//! loss. The published code has one for queues that mark early (google/bbr, v3, net/ipv4/tcp_bbr.c, whose names the comments use).

use ecnlab_base::Dur;

use super::path::UNBOUNDED;
use super::{AckSample, RateSample, Response};

/// bbr_ecn_alpha_gain.
const ALPHA_GAIN: f64 = 1.0 / 16.0;

/// bbr_ecn_factor.
const FACTOR: f64 = 1.0 / 3.0;

/// bbr_ecn_thresh: the marked share above which a probe went too far.
const THRESH: f64 = 0.5;

/// bbr_full_ecn_cnt: rounds above [`THRESH`] that end Startup.
const FULL_ECN_COUNT: u32 = 2;

/// bbr_ecn_reprobe_gain.
const REPROBE_GAIN: f64 = 0.5;

/// The state of the response to marks.
#[derive(Clone, Debug)]
pub(super) struct Ecn {
    response: Response,
    max_rtt: Dur,
    /// The feedback counts marks.
    pub counts: bool,
    /// A mark was reported since the last ACK, by feedback that reports one in a window of data.
    echo: bool,
    /// The ACK at hand reports marks.
    marked_now: bool,
    /// ecn_in_round.
    in_round: bool,
    /// ecn_eligible, ecn_alpha, startup_ecn_rounds.
    eligible: bool,
    alpha: f64,
    startup_rounds: u32,
    /// Bytes marked in total; bytes delivered and marked at the last update of alpha.
    marked: u64,
    alpha_last: (u64, u64),
    /// Bytes delivered when the last mark was reported.
    last_mark: u64,
    /// ecn_in_cycle and loss_in_cycle.
    in_cycle: bool,
    pub lost_in_cycle: bool,
}

impl Ecn {
    /// The state at the beginning of a connection; alpha is bbr_ecn_alpha_init.
    pub fn new(response: Response, max_rtt: Dur) -> Ecn {
        Ecn {
            response,
            max_rtt,
            counts: false,
            echo: false,
            marked_now: false,
            in_round: false,
            eligible: false,
            alpha: 1.0,
            startup_rounds: 0,
            marked: 0,
            alpha_last: (0, 0),
            last_mark: 0,
            in_cycle: false,
            lost_in_cycle: false,
        }
    }

    /// ecn_alpha.
    pub fn alpha(&self) -> f64 {
        if self.eligible { self.alpha } else { f64::NAN }
    }

    /// Whether there is a response to marks.
    pub fn answers(&self) -> bool {
        self.response != Response::Ignored
    }

    // ---- signals ----

    /// ECN-Echo, once in a window of data.
    pub fn on_echo(&mut self) {
        self.echo = true;
    }

    /// Processes the marks of an ACK.
    pub fn on_ack(&mut self, sample: &AckSample, round_start: bool, min_rtt: Option<Dur>) {
        let echo = std::mem::take(&mut self.echo);
        if self.response == Response::Ignored {
            return;
        }
        let marked = sample.marked.bytes;
        self.marked_now = if self.counts { marked > 0 } else { echo };
        self.marked += marked;
        if self.response == Response::Alpha {
            if round_start {
                self.update_alpha(sample.delivered_total, min_rtt);
            }
            self.marked_now &= self.eligible;
        }
        if self.marked_now {
            (self.in_round, self.in_cycle) = (true, true);
            self.last_mark = sample.delivered_total;
        }
    }

    /// bbr_update_ecn_alpha, with bbr_check_ecn_too_high_in_startup.
    fn update_alpha(&mut self, delivered: u64, min_rtt: Option<Dur>) {
        self.eligible |= self.max_rtt.is_zero() || min_rtt.is_some_and(|rtt| rtt <= self.max_rtt);
        let (of, marked) = (delivered - self.alpha_last.0, self.marked - self.alpha_last.1);
        if !self.eligible || of == 0 {
            return;
        }
        let ratio = marked as f64 / of as f64;
        self.alpha = ((1.0 - ALPHA_GAIN) * self.alpha + ALPHA_GAIN * ratio).min(1.0);
        self.alpha_last = (delivered, self.marked);
        self.startup_rounds = if ratio >= THRESH { self.startup_rounds + 1 } else { 0 };
    }

    /// Ends a round of signals.
    pub fn end_round(&mut self) {
        self.in_round = false;
    }

    /// Begins a cycle of ProbeBW.
    pub fn begin_cycle(&mut self) {
        (self.in_round, self.in_cycle, self.lost_in_cycle) = (false, false, false);
    }

    // ---- what they mean ----

    /// Whether the ACK at hand counts as a loss.
    pub fn is_loss(&self) -> bool {
        self.marked_now && self.response == Response::Loss
    }

    /// The marked bytes of a sample that count as lost.
    pub fn as_lost(&self, rs: &RateSample) -> u64 {
        if self.response == Response::Loss && self.counts { rs.marked } else { 0 }
    }

    /// Whether the marks of a sample show that too much was in flight, other than as losses do. Feedback that reports one mark in a window of data is treated as
    /// the draft treats a connection that can detect one loss in it: any is too much.
    pub fn is_too_high(&self, rs: &RateSample) -> bool {
        match self.response {
            Response::Loss => self.marked_now && !self.counts,
            Response::Alpha => self.eligible && rs.marked as f64 > THRESH * rs.delivered as f64,
            Response::Ignored => false,
        }
    }

    /// Whether marks end Startup, other than as losses in six places do.
    pub fn ends_startup(&self) -> bool {
        match self.response {
            Response::Loss => self.marked_now && !self.counts,
            Response::Alpha => self.startup_rounds >= FULL_ECN_COUNT,
            Response::Ignored => false,
        }
    }

    /// bbr_ecn_cut: the factor of the short-term bound in a round with marks.
    pub fn cut(&self) -> Option<f64> {
        (self.response == Response::Alpha && self.in_round).then_some(1.0 - FACTOR * self.alpha)
    }

    /// The first part of bbr_check_time_to_probe_bw: marks without losses have ceased for a round. Returns the doublings with which
    /// the probe begins: those of half the bound in segments.
    pub fn probes_again(&self, rs: &RateSample, in_recovery: bool, longterm: u64, mss: u64) -> Option<u32> {
        let ceased = self.eligible && self.in_cycle && !self.lost_in_cycle && rs.prior_delivered >= self.last_mark;
        let segments = if longterm == UNBOUNDED { u32::MAX.into() } else { longterm / mss };
        (ceased && !in_recovery).then(|| ((REPROBE_GAIN * segments as f64) as u64).max(1).ilog2())
    }
}
