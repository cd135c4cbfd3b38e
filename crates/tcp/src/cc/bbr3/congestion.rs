//! Losses: the signals of a round, the bounds that they set, and what a spurious recovery restores ("Updating the Model Upon
//! Packet Loss").

use ecnlab_base::{Time, coverage_mark};

use super::path::{UNBOUNDED, delivery_rate, float, greater};
use super::{AckSample, Congestion, Lost, Phase, RateSample, State};

/// BBR.LossThresh: the share of lost data that a probe bears.
const LOSS_THRESH: f64 = 0.02;

/// BBR.Beta.
const BETA: f64 = 0.7;

/// The signals of a round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Congested {
    /// BBR.is_loss_in_round.
    pub in_round: bool,
    /// BBR.loss_round_start and BBR.loss_round_delivered.
    pub round_start: bool,
    round_delivered: u64,
    /// BBR.bw_latest and BBR.inflight_latest.
    bw_latest: f64,
    pub inflight_latest: u64,
    /// Discontiguous ranges lost in this round, and the end of the last.
    pub ranges: u32,
    /// Marks that count as losses are among them.
    pub marked: bool,
    last_end: u64,
}

impl Congested {
    /// ResetCongestionSignals.
    pub fn reset(&mut self) {
        (self.in_round, self.bw_latest, self.inflight_latest) = (false, 0.0, 0);
    }

    /// AdvanceLatestDeliverySignals.
    pub fn advance_latest_delivery_signals(&mut self, rs: Option<&RateSample>) {
        if let Some(rs) = rs.filter(|_| self.round_start) {
            (self.bw_latest, self.inflight_latest) = (delivery_rate(rs), rs.delivered);
        }
    }
}

/// What the last loss has saved, and the state of recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Saved {
    /// BBR.prior_cwnd.
    cwnd: u64,
    /// BBR.undo_state.
    pub state: Option<Phase>,
    /// BBR.undo_bw_shortterm, BBR.undo_inflight_shortterm and BBR.undo_inflight_longterm.
    bw_shortterm: f64,
    inflight_shortterm: u64,
    inflight_longterm: u64,
    /// The sender is in recovery, and this follows a timeout.
    in_recovery: bool,
    pub after_timeout: bool,
}

impl State {
    // ---- the signals of an ACK ----

    /// UpdateLatestDeliverySignals.
    pub(super) fn update_latest_delivery_signals(&mut self, rs: Option<&RateSample>) {
        let signals = &mut self.congested;
        signals.round_start = false;
        let Some(rs) = rs else { return };
        signals.bw_latest = greater(signals.bw_latest, delivery_rate(rs));
        signals.inflight_latest = signals.inflight_latest.max(rs.delivered);
        if rs.prior_delivered >= signals.round_delivered {
            signals.round_delivered = self.delivered;
            signals.round_start = true;
        }
    }

    /// UpdateCongestionSignals.
    pub(super) fn update_congestion_signals(&mut self, sample: &AckSample, rs: Option<&RateSample>) {
        self.round.start = false;
        if let Some(rs) = rs {
            self.round.update(rs, self.delivered);
            self.path.update_max_bw(rs);
        }
        self.ecn.on_ack(sample, self.round.start, self.path.min_rtt());
        if self.ecn.is_loss() {
            self.note_loss(self.delivered);
            self.congested.ranges += 1;
            self.congested.marked = true;
        }
        if self.congested.round_start {
            self.adapt_lower_bounds_from_congestion();
            self.congested.in_round = false;
            self.ecn.end_round();
        }
    }

    // ---- the short-term bounds ----

    /// AdaptLowerBoundsFromCongestion, with the published code's part for alpha.
    fn adapt_lower_bounds_from_congestion(&mut self) {
        if self.state.probes_bandwidth() {
            return;
        }
        let (cwnd, path) = (self.window.cwnd(), &mut self.path);
        let by_marks = self.ecn.cut().map(|cut| {
            let before = if path.inflight_shortterm == UNBOUNDED { cwnd } else { path.inflight_shortterm };
            (cut * before as f64) as u64
        });
        if self.congested.in_round {
            coverage_mark!("bbr3.lower_bounds");
            // InitLowerBounds and LossLowerBounds.
            let bw = if path.bw_shortterm.is_finite() { path.bw_shortterm } else { path.max_bw() };
            let inflight = if path.inflight_shortterm == UNBOUNDED { cwnd } else { path.inflight_shortterm };
            path.bw_shortterm = self.congested.bw_latest.max(BETA * bw);
            path.inflight_shortterm = self.congested.inflight_latest.max((BETA * inflight as f64) as u64);
        }
        if let Some(by_marks) = by_marks {
            coverage_mark!("bbr3.alpha");
            path.inflight_shortterm = path.inflight_shortterm.min(by_marks);
        }
    }

    // ---- the long-term bound ----

    /// HandleLostPacket.
    pub(super) fn handle_lost_packet(&mut self, lost: &Lost, now: Time) {
        self.note_loss(lost.delivered_total);
        self.ecn.lost_in_cycle = true;
        if lost.start != self.congested.last_end {
            self.congested.ranges += 1;
        }
        self.congested.last_end = lost.start + lost.bytes;
        if self.cycle.is_bw_probe_sample && self.is_too_much(lost.lost, lost.tx_in_flight) {
            self.handle_inflight_too_high(inflight_at_loss(lost), lost.app_limited, now);
        }
    }

    /// NoteLoss, when `delivered` bytes are delivered in total.
    fn note_loss(&mut self, delivered: u64) {
        if !self.congested.in_round {
            self.congested.round_delivered = delivered;
            self.save_state_upon_loss();
        }
        self.congested.in_round = true;
    }

    /// IsInflightTooHigh, for losses and the marks that count as such.
    pub(super) fn is_loss_too_high(&self, rs: &RateSample) -> bool {
        self.is_too_much(rs.lost + self.ecn.as_lost(rs), rs.tx_in_flight)
    }

    /// IsInflightTooHigh, for losses and all marks.
    pub(super) fn is_inflight_too_high(&self, rs: &RateSample) -> bool {
        self.is_loss_too_high(rs) || self.ecn.is_too_high(rs)
    }

    fn is_too_much(&self, lost: u64, tx_in_flight: u64) -> bool {
        lost > 0 && (float(lost) > LOSS_THRESH * float(tx_in_flight) || !self.has_selective_acks)
    }

    /// HandleInflightTooHigh, where `tx_in_flight` bytes in flight were too many.
    pub(super) fn handle_inflight_too_high(&mut self, tx_in_flight: u64, app_limited: bool, now: Time) {
        coverage_mark!("bbr3.inflight_too_high");
        self.cycle.prev_probe_too_high = true;
        self.cycle.is_bw_probe_sample = false;
        if !app_limited {
            let least = (BETA * self.target_inflight() as f64) as u64;
            self.path.inflight_longterm = tx_in_flight.max(least);
        }
        if self.state == Phase::Up {
            self.saved.state = Some(Phase::Up);
            self.start_down(now);
        }
    }

    // ---- recovery ----

    /// OnEnterRTO and OnEnterFastRecovery. The window after a timeout is recovery's.
    pub(super) fn enter_recovery(&mut self, why: Congestion) {
        self.save_state_upon_loss();
        self.saved.in_recovery = true;
        self.saved.after_timeout = why == Congestion::Timeout;
    }

    /// RestoreCwnd at the end of recovery.
    pub(super) fn leave_recovery(&mut self, in_recovery: bool) {
        if self.saved.in_recovery && !in_recovery {
            self.restore_cwnd();
        }
        self.saved.in_recovery = in_recovery;
        self.saved.after_timeout &= in_recovery;
    }

    /// SaveStateUponLoss.
    fn save_state_upon_loss(&mut self) {
        self.save_cwnd();
        self.saved.state = None;
        self.saved.bw_shortterm = self.path.bw_shortterm;
        self.saved.inflight_shortterm = self.path.inflight_shortterm;
        self.saved.inflight_longterm = self.path.inflight_longterm;
    }

    /// SaveCwnd.
    pub(super) fn save_cwnd(&mut self) {
        let cut = self.saved.in_recovery || self.state == Phase::ProbeRtt;
        let cwnd = self.window.cwnd();
        self.saved.cwnd = if cut { self.saved.cwnd.max(cwnd) } else { cwnd };
    }

    /// RestoreCwnd.
    pub(super) fn restore_cwnd(&mut self) {
        self.window.set_cwnd(self.window.cwnd().max(self.saved.cwnd));
    }

    /// HandleSpuriousLossDetection.
    pub(super) fn handle_spurious_loss_detection(&mut self) {
        coverage_mark!("bbr3.undo");
        let saved = self.saved;
        self.restore_cwnd();
        self.congested.in_round = false;
        self.full_bw.reset(0.0);
        self.path.bw_shortterm = self.path.bw_shortterm.max(saved.bw_shortterm);
        self.path.inflight_shortterm = self.path.inflight_shortterm.max(saved.inflight_shortterm);
        self.path.inflight_longterm = self.path.inflight_longterm.max(saved.inflight_longterm);
        match saved.state {
            Some(Phase::Startup) if self.state != Phase::Startup => {
                self.full_bw.reached = false;
                if self.state != Phase::ProbeRtt {
                    self.enter_startup();
                }
            }
            Some(Phase::Up) if !matches!(self.state, Phase::Up | Phase::ProbeRtt) => self.start_refill(0),
            _ => {}
        }
        self.saved.state = None;
    }
}

/// InflightAtLoss: the data in flight at which the losses of the segment's flight became more than 2 %.
fn inflight_at_loss(lost: &Lost) -> u64 {
    let inflight_prev = lost.tx_in_flight.saturating_sub(lost.bytes);
    let lost_prev = lost.lost.saturating_sub(lost.bytes);
    let prefix = (LOSS_THRESH * inflight_prev as f64 - lost_prev as f64) / (1.0 - LOSS_THRESH);
    inflight_prev + prefix.max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_become_too_many_within_the_segment_that_makes_them_so() {
        let lost = |tx_in_flight, lost| {
            inflight_at_loss(&Lost {
                start: 0,
                bytes: 1_000,
                lost,
                delivered_total: 0,
                tx_in_flight,
                app_limited: false,
            })
        };
        // 2 % of the 49 000 before it are 980; (0 + x) / (49 000 + x) = 2 % at x = 1000.
        assert_eq!(lost(50_000, 1_000), 50_000);
        // 2 % of 19 000 are 380: x = 380 / 0.98 = 387.
        assert_eq!(lost(20_000, 1_000), 19_387);
        // Those before it were too many already.
        assert_eq!(lost(20_000, 2_000), 19_000);
    }
}
