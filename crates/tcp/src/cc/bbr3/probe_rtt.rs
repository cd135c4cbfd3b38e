//! ProbeRTT: every five seconds without a lower RTT the flight is halved, so that the path shows its RTT without a queue.

use ecnlab_base::{Dur, Time, coverage_mark};

use super::probe_bw::AckPhase;
use super::{AckSample, Phase, RateSample, State};

/// BBR.ProbeRTTInterval.
const INTERVAL: Dur = Dur::from_s(5);

/// BBR.ProbeRTTDuration.
const DURATION: Dur = Dur::from_ms(200);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    /// BBR.probe_rtt_min_delay and BBR.probe_rtt_min_stamp.
    min_delay: Option<Dur>,
    min_stamp: Time,
    /// BBR.probe_rtt_expired.
    expired: bool,
    /// BBR.probe_rtt_done_stamp and BBR.probe_rtt_round_done.
    done_stamp: Option<Time>,
    round_done: bool,
}

impl ProbeRtt {
    /// The state of a connection established at `now`, with the RTT of its handshake.
    pub fn begin(&mut self, rtt: Option<Dur>, now: Time) {
        *self = ProbeRtt { min_delay: rtt, min_stamp: now, ..ProbeRtt::default() };
    }
}

impl State {
    /// UpdateMinRTT.
    pub(super) fn update_min_rtt(&mut self, sample: &AckSample) {
        let (probe, now) = (&mut self.probe_rtt, sample.now);
        probe.expired = now > probe.min_stamp + INTERVAL;
        if let Some(rtt) = sample.last_rtt
            && (probe.expired || probe.min_delay.is_none_or(|least| rtt < least))
        {
            (probe.min_delay, probe.min_stamp) = (Some(rtt), now);
        }
        self.path.update_min_rtt(probe.min_delay, probe.min_stamp, now);
    }

    /// CheckProbeRTT.
    pub(super) fn check_probe_rtt(&mut self, sample: &AckSample, rs: Option<&RateSample>) {
        if self.state != Phase::ProbeRtt && self.probe_rtt.expired && !self.idle_restart {
            coverage_mark!("bbr3.probe_rtt");
            self.state = Phase::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt.done_stamp = None;
            self.cycle.ack_phase = AckPhase::ProbeStopping;
            self.round.restart(self.delivered);
        }
        if self.state == Phase::ProbeRtt {
            self.handle_probe_rtt(sample.now);
        }
        if rs.is_some_and(|rs| rs.delivered > 0) {
            self.idle_restart = false;
        }
    }

    /// HandleProbeRTT.
    fn handle_probe_rtt(&mut self, now: Time) {
        if self.probe_rtt.done_stamp.is_some() {
            self.probe_rtt.round_done |= self.round.start;
            if self.probe_rtt.round_done {
                self.check_probe_rtt_done(now);
            }
        } else if self.inflight <= self.probe_rtt_cwnd() {
            self.probe_rtt.done_stamp = Some(now.saturating_add(DURATION));
            self.probe_rtt.round_done = false;
            self.round.restart(self.delivered);
        }
    }

    /// CheckProbeRTTDone.
    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt.done_stamp.is_none_or(|done| now <= done) {
            return;
        }
        coverage_mark!("bbr3.probe_rtt_ends");
        self.probe_rtt.min_stamp = now;
        self.restore_cwnd();
        self.path.reset_short_term();
        if self.full_bw.reached {
            self.start_down(now);
            self.start_cruise();
        } else {
            self.enter_startup();
        }
    }
}
