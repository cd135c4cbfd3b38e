//! Window of a rate-limited sender (`rate_limited_growth`), for the values that keep state of their own.

use ecnlab_base::Time;

use super::pipe_ack::{NonValidatedLoss, PipeAck};
use super::rate_limited_state::RateLimited;
use super::{Cx, Flight};
use crate::cc::CongestionControl;
use crate::config::Config;

impl Flight {
    fn pipe_ack(&mut self) -> Option<&mut PipeAck> {
        match self.rate_limited.as_deref_mut() {
            Some(RateLimited::Rfc7661(pipe)) => Some(pipe),
            _ => None,
        }
    }

    /// Updates maxFS after FlightSize has changed.
    #[cold]
    pub fn measure_flight(&mut self) {
        let (flight, cwnd) = (self.in_flight(), self.law.cwnd());
        if let Some(RateLimited::Increase(max)) = self.rate_limited.as_deref_mut() {
            max.measure(flight, cwnd);
        }
    }

    /// Processes an ACK after SND.UNA has advanced.
    #[cold]
    pub fn measure_ack(&mut self, cx: &Cx) {
        self.measure_flight();
        let (una, max, active) = (self.una, self.max, self.recovery.active);
        let Some(pipe) = self.pipe_ack() else { return };
        if active {
            // RFC 7661: pipeACK is undefined after a recovery, of which data are in no sample.
            pipe.restart(una);
        } else {
            pipe.acknowledge(una, max, cx.now);
            self.end_non_validated_periods(cx.config, cx.now);
        }
    }

    /// Opens the window by `open`, up to the limit if FlightSize is below the window.
    #[cold]
    pub fn open_within_limit(&mut self, config: &Config, open: impl FnOnce(&mut Flight)) {
        let before = self.law.state();
        let slow_start = before.cwnd < before.ssthresh
            || (config.rules.slow_start_through_ssthresh && before.cwnd == before.ssthresh);
        open(self);
        let (opened, mss) = (self.law.cwnd(), u64::from(self.mss));
        let Some(RateLimited::Increase(max)) = self.rate_limited.as_deref() else { return };
        let limited = max.limited(before.cwnd, opened, slow_start, mss);
        if self.in_flight() < opened && limited < opened {
            self.law.set_cwnd(limited);
        }
    }

    /// Processes the end of an ACK. The next change of the window may be a reduction, and a recovery may have ended.
    #[cold]
    pub fn end_ack(&mut self, cx: &Cx) {
        let cwnd = self.law.cwnd();
        match self.rate_limited.as_deref_mut() {
            Some(RateLimited::Increase(max)) => max.see_window(cwnd),
            Some(RateLimited::Rfc7661(pipe)) => {
                if let Some(loss) = pipe.loss.filter(|_| !self.recovery.active) {
                    self.end_non_validated_recovery(loss, cx.now);
                }
            }
            None => {}
        }
    }

    // ---- RFC 7661 ----

    /// Whether the window is in the validated phase.
    fn is_validated(&mut self, now: Time) -> bool {
        let (cwnd, rtt) = (self.law.cwnd(), self.timer.rto.srtt());
        let pipe = self.pipe_ack();
        pipe.is_none_or(|pipe| pipe.is_validated(cwnd, now, rtt))
    }

    /// RFC 7661 §4.4: in the non-validated phase ACKs open the window only if the sender is cwnd-limited, that is if the
    /// window had no room for a further segment.
    #[cold]
    pub fn may_open(&mut self, cx: &Cx) -> bool {
        let full = self.last_sent.outstanding + u64::from(self.mss) > self.law.cwnd();
        full || self.is_validated(cx.now)
    }

    /// RFC 7661: adjusts the window and the threshold for each non-validated period that has ended.
    #[cold]
    pub fn end_non_validated_periods(&mut self, config: &Config, now: Time) {
        if self.is_validated(now) {
            return;
        }
        let initial = u64::from(config.initial_window) * u64::from(self.mss);
        while self.pipe_ack().is_some_and(|pipe| pipe.ends_period(now)) {
            let window = self.law.state();
            self.law.set_ssthresh(window.ssthresh.max(3 * window.cwnd / 4));
            self.law.set_cwnd(window.cwnd.min(initial.max(window.cwnd / 2)));
        }
    }

    /// The data in use in bytes, if the window is in the non-validated phase: pipeACK, or FlightSize if it is larger.
    #[cold]
    pub fn used_of_non_validated(&mut self, flight: u64, cx: &Cx) -> Option<u64> {
        if self.is_validated(cx.now) {
            return None;
        }
        let rtt = self.timer.rto.srtt();
        self.pipe_ack()?.value(cx.now, rtt).map(|pipe_ack| pipe_ack.max(flight))
    }

    /// Makes pipeACK undefined after a reduction.
    #[cold]
    pub fn forget_pipe_ack(&mut self, now: Time) {
        let una = self.una;
        if let Some(pipe) = self.pipe_ack() {
            *pipe = PipeAck::new(una, now);
        }
    }

    /// RFC 7661: a loss in the non-validated phase leaves half of the data in use.
    #[cold]
    pub fn enter_non_validated_recovery(&mut self, used: u64) {
        let resent = self.resent.bytes;
        if let Some(pipe) = self.pipe_ack() {
            pipe.loss = Some(NonValidatedLoss { used, resent });
            self.law.set_cwnd(used / 2);
        }
    }

    /// RFC 7661: at the end of the recovery, half of the data in use less those that were retransmitted.
    fn end_non_validated_recovery(&mut self, loss: NonValidatedLoss, now: Time) {
        let resent = self.resent.bytes - loss.resent;
        self.law.set_cwnd(loss.used.saturating_sub(resent) / 2);
        let cwnd = self.law.cwnd();
        self.law.set_ssthresh(cwnd);
        self.forget_pipe_ack(now);
    }
}
