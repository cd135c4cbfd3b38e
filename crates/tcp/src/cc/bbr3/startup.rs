//! Startup and Drain.

use ecnlab_base::{Time, coverage_mark};

use super::{Phase, RateSample, State};

/// BBRStartupFullLossCnt: discontiguous ranges lost in a round that end Startup.
const STARTUP_FULL_LOSS_COUNT: u32 = 6;

/// Rounds after which Drain ends in any case.
const DRAIN_ROUNDS: u64 = 3;

impl State {
    /// EnterStartup.
    pub(super) fn enter_startup(&mut self) {
        self.state = Phase::Startup;
    }

    /// CheckStartupHighLoss: a round of recovery, or of marks, with more than 2 % lost in six places ends Startup; without SACK any
    /// loss in recovery does.
    pub(super) fn check_startup_high_loss(&mut self, rs: &RateSample, in_recovery: bool) {
        if self.full_bw.reached {
            return;
        }
        let many = self.congested.ranges >= STARTUP_FULL_LOSS_COUNT || !self.has_selective_acks;
        let signalled = (in_recovery && !self.saved.after_timeout) || self.congested.marked;
        let by_loss = self.congested.round_start && signalled && many && self.is_loss_too_high(rs);
        if by_loss || self.ecn.ends_startup() {
            coverage_mark!("bbr3.startup_loss");
            self.saved.state = Some(Phase::Startup);
            self.full_bw.reached = true;
            self.full_bw.now = true;
            let bdp = self.inflight_at(self.path.bw, 1.0);
            self.path.inflight_longterm = bdp.max(self.congested.inflight_latest);
        }
        if self.congested.round_start {
            (self.congested.ranges, self.congested.marked) = (0, false);
        }
    }

    /// CheckStartupDone, after CheckStartupHighLoss.
    pub(super) fn check_startup_done(&mut self) {
        if self.state == Phase::Startup && self.full_bw.reached {
            coverage_mark!("bbr3.drain");
            self.state = Phase::Drain;
            self.drain_start_round = self.round.count;
            // For series only: ssthresh shows where Startup has ended, as in the published code.
            self.window.set_ssthresh(self.inflight_at(self.path.bw, 1.0));
        }
    }

    /// CheckDrainDone.
    pub(super) fn check_drain_done(&mut self, now: Time) {
        let drained = || self.inflight <= self.inflight_at(self.path.bw, 1.0);
        if self.state == Phase::Drain && (drained() || self.round.count > self.drain_start_round + DRAIN_ROUNDS) {
            self.start_down(now);
        }
    }
}
