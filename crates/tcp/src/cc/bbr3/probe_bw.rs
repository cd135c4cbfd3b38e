//! ProbeBW: DOWN drains the queue, CRUISE waits, REFILL fills the pipe and UP probes for more.

use ecnlab_base::{Dur, Rng, Time, coverage_mark};

use super::path::{UNBOUNDED, delivery_rate};
use super::{AckSample, Phase, RateSample, State};

/// The most rounds between two probes, so that Reno and CUBIC get their share ("Bandwidth Probing and Coexistence with Reno/CUBIC").
const MOST_ROUNDS: u64 = 63;

/// Doublings of the data by which a probe raises [`Path::inflight_longterm`](super::Path::inflight_longterm).
const MOST_DOUBLINGS: u32 = 30;

/// BBR.ack_phase: what ACKs report of the last probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// The cycle of ProbeBW.
#[derive(Clone, Debug)]
pub(super) struct Cycle {
    pub ack_phase: AckPhase,
    /// BBR.is_bw_probe_sample: what is delivered or lost now was sent by a probe.
    pub is_bw_probe_sample: bool,
    /// BBR.bw_probe_up_acked, BBR.probe_up_acked_per_inc and BBR.bw_probe_up_rounds.
    up_acked: u64,
    pub up_acked_per_inc: u64,
    pub up_rounds: u32,
    /// BBR.bw_probe_wait and BBR.cycle_stamp.
    wait: Dur,
    stamp: Time,
    /// BBR.prev_probe_too_high and BBR.prev_probe_precautionary.
    pub prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    rng: Rng,
}

impl Cycle {
    /// The cycle of a connection; `seed` seeds the draws of when it probes.
    pub fn new(seed: u32) -> Cycle {
        Cycle {
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            up_acked: 0,
            up_acked_per_inc: UNBOUNDED,
            up_rounds: 0,
            wait: Dur::ZERO,
            stamp: Time::ZERO,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            rng: Rng::named(seed.into(), "bbr3"),
        }
    }
}

impl State {
    /// UpdateProbeBWCyclePhase.
    pub(super) fn update_probe_bw_cycle_phase(&mut self, sample: &AckSample, rs: &RateSample) {
        if !self.full_bw.reached || self.adapt_long_term_model(sample, rs) {
            return;
        }
        match self.state {
            Phase::Down => self.update_down(sample, rs),
            Phase::Cruise => {
                self.is_time_to_probe_bw(sample, rs);
            }
            Phase::Refill if self.round.start => {
                self.cycle.is_bw_probe_sample = true;
                self.start_up(rs);
            }
            Phase::Up => self.update_up(sample, rs),
            _ => {}
        }
    }

    fn update_down(&mut self, sample: &AckSample, rs: &RateSample) {
        if !self.is_time_to_probe_bw(sample, rs) && self.is_time_to_cruise() {
            self.start_cruise();
        }
    }

    fn update_up(&mut self, sample: &AckSample, rs: &RateSample) {
        if self.is_time_to_go_down(rs) {
            self.cycle.prev_probe_too_high = false;
            self.start_down(sample.now);
        }
    }

    // ---- the states ----

    /// StartProbeBW_DOWN. EnterProbeBW is no more than this.
    pub(super) fn start_down(&mut self, now: Time) {
        self.congested.reset();
        self.ecn.begin_cycle();
        self.cycle.up_acked_per_inc = UNBOUNDED;
        self.pick_probe_wait();
        self.cycle.stamp = now;
        self.cycle.ack_phase = AckPhase::ProbeStopping;
        self.round.restart(self.delivered);
        self.state = Phase::Down;
    }

    /// StartProbeBW_CRUISE.
    pub(super) fn start_cruise(&mut self) {
        self.state = Phase::Cruise;
    }

    /// StartProbeBW_REFILL. UP begins with 2^`rounds` times the least raise; the draft has none.
    pub(super) fn start_refill(&mut self, rounds: u32) {
        self.path.reset_short_term();
        self.cycle.up_rounds = rounds;
        self.cycle.up_acked = 0;
        self.cycle.prev_probe_precautionary = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.round.restart(self.delivered);
        self.state = Phase::Refill;
    }

    /// StartProbeBW_UP.
    fn start_up(&mut self, rs: &RateSample) {
        self.cycle.ack_phase = AckPhase::ProbeStarting;
        self.round.restart(self.delivered);
        self.full_bw.reset(delivery_rate(rs));
        self.state = Phase::Up;
        self.raise_inflight_longterm_slope();
    }

    // ---- when to change them ----

    /// IsTimeToProbeBW: begins a probe if it is time.
    fn is_time_to_probe_bw(&mut self, sample: &AckSample, rs: &RateSample) -> bool {
        if let Some(rounds) = self.ecn.probes_again(rs, sample.in_recovery, self.path.inflight_longterm, self.mss) {
            coverage_mark!("bbr3.marks_have_ceased");
            self.start_refill(rounds);
            return true;
        }
        let due = sample.now > self.cycle.stamp + self.cycle.wait || self.is_reno_coexistence_probe_time();
        if due {
            self.start_refill(0);
        }
        due
    }

    /// IsRenoCoexistenceProbeTime: as many rounds are past as the target has whole segments.
    fn is_reno_coexistence_probe_time(&self) -> bool {
        let past = self.round.since_probe_up;
        past >= MOST_ROUNDS || self.is_target_inflight_below((past + 1) * self.mss)
    }

    /// PickProbeWait: 0 or 1 rounds are past, and 2 to 3 s remain.
    fn pick_probe_wait(&mut self) {
        self.round.since_probe_up = self.cycle.rng.below(2);
        self.cycle.wait = Dur::from_secs(2.0 + self.cycle.rng.unit());
    }

    /// IsTimeToCruise.
    fn is_time_to_cruise(&self) -> bool {
        self.inflight <= self.inflight_with_headroom() && self.inflight <= self.inflight_at(self.path.max_bw(), 1.0)
    }

    /// IsTimeToGoDown.
    fn is_time_to_go_down(&mut self, rs: &RateSample) -> bool {
        if self.cycle.prev_probe_too_high && self.inflight >= self.path.inflight_longterm {
            coverage_mark!("bbr3.precautionary");
            self.cycle.prev_probe_precautionary = true;
            return true;
        }
        if self.is_limited_by_longterm() {
            self.full_bw.reset(delivery_rate(rs));
            return false;
        }
        self.full_bw.now
    }

    /// Whether the bound of the data in flight keeps the sender from more.
    fn is_limited_by_longterm(&self) -> bool {
        self.is_cwnd_limited && self.window.cwnd() >= self.path.inflight_longterm
    }

    // ---- the long-term bound ----

    /// AdaptLongTermModel. Returns whether it has changed the state.
    fn adapt_long_term_model(&mut self, sample: &AckSample, rs: &RateSample) -> bool {
        let starts = self.round.start;
        if self.cycle.ack_phase == AckPhase::ProbeStarting && starts {
            self.cycle.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.cycle.ack_phase == AckPhase::ProbeStopping && starts && self.end_probe_feedback(rs) {
            return true;
        }
        if self.is_inflight_too_high(rs) {
            // Losses were handled one by one; marks have no packet.
            if self.cycle.is_bw_probe_sample && (self.ecn.as_lost(rs) > 0 || self.ecn.is_too_high(rs)) {
                self.handle_inflight_too_high(rs.tx_in_flight, rs.app_limited, sample.now);
            }
            return false;
        }
        if self.path.inflight_longterm == UNBOUNDED {
            return false;
        }
        self.path.inflight_longterm = self.path.inflight_longterm.max(rs.tx_in_flight);
        if self.state == Phase::Up {
            self.probe_inflight_longterm_upward(sample.delivered.bytes);
        }
        false
    }

    /// A round after a probe. Returns whether another one follows at once, since the last was cut short and had no loss.
    fn end_probe_feedback(&mut self, rs: &RateSample) -> bool {
        self.cycle.is_bw_probe_sample = false;
        self.cycle.ack_phase = AckPhase::Init;
        if !self.state.is_probe_bw() {
            return false;
        }
        if !rs.app_limited {
            self.path.advance_max_bw_filter();
        }
        let again = self.cycle.prev_probe_precautionary && !self.cycle.prev_probe_too_high;
        if again {
            self.start_refill(0);
        }
        again
    }

    /// RaiseInflightLongtermSlope.
    fn raise_inflight_longterm_slope(&mut self) {
        let growth = 1 << self.cycle.up_rounds;
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(MOST_DOUBLINGS);
        self.cycle.up_acked_per_inc = (self.window.cwnd() / growth).max(self.mss);
    }

    /// ProbeInflightLongtermUpward.
    fn probe_inflight_longterm_upward(&mut self, newly_acked: u64) {
        if !self.is_limited_by_longterm() {
            return;
        }
        self.cycle.up_acked += newly_acked;
        let delta = self.cycle.up_acked / self.cycle.up_acked_per_inc;
        self.cycle.up_acked -= delta * self.cycle.up_acked_per_inc;
        self.path.inflight_longterm += delta * self.mss;
        if self.round.start {
            self.raise_inflight_longterm_slope();
        }
    }
}
