//! The minimum RTT of the last ten seconds, and the duration of ProbeRTT, which measures it again (bbr_update_min_rtt).
//! RTTs are in microseconds.

use ecnlab_base::{Dur, Time};

/// Validity of a minimum RTT (bbr_min_rtt_win_sec).
const LASTS: Dur = Dur::from_s(10);

/// Minimum duration of ProbeRTT (bbr_probe_rtt_mode_ms).
const PROBE_LASTS: Dur = Dur::from_ms(200);

/// The minimum RTT and the start of its validity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MinRtt {
    least: Option<u64>,
    since: Time,
}

impl MinRtt {
    /// The state of a connection that starts at `now`, with the RTT of its handshake.
    pub fn new(rtt: Option<u64>, now: Time) -> MinRtt {
        MinRtt { least: rtt, since: now }
    }

    /// The minimum RTT; `None` before the first sample.
    pub fn get(&self) -> Option<u64> {
        self.least
    }

    /// Whether the minimum RTT has expired.
    pub fn has_expired(&self, now: Time) -> bool {
        now.since(self.since) > LASTS
    }

    /// Processes an RTT sample, which replaces the minimum if it is lower, or in any case with `anyway`.
    pub fn take(&mut self, rtt: u64, anyway: bool, now: Time) {
        if anyway || self.least.is_none_or(|least| rtt < least) {
            *self = MinRtt { least: Some(rtt), since: now };
        }
    }

    /// Restarts the validity at `now`.
    pub fn renew(&mut self, now: Time) {
        self.since = now;
    }
}

/// Progress of ProbeRTT: it lasts 200 ms and a round, from the time at which the flight has fallen to its target.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    /// `None` until the flight has fallen to its target.
    until: Option<Time>,
    round_over: bool,
}

impl ProbeRtt {
    /// Whether the flight has fallen to its target.
    pub fn is_timed(&self) -> bool {
        self.until.is_some()
    }

    /// Starts the 200 ms and the round at `now`.
    pub fn begin(&mut self, now: Time) {
        *self = ProbeRtt { until: Some(now.saturating_add(PROBE_LASTS)), round_over: false };
    }

    /// Processes an ACK, which starts a round if `round_start`. Returns whether a round has ended since the start.
    pub fn on_ack(&mut self, round_start: bool) -> bool {
        self.round_over |= round_start;
        self.round_over
    }

    /// Whether the 200 ms are over (bbr_check_probe_rtt_done).
    pub fn is_due(&self, now: Time) -> bool {
        self.until.is_some_and(|until| now > until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    #[test]
    fn a_lower_rtt_counts_for_ten_seconds_from_then_on() {
        let mut rtt = MinRtt::new(Some(100), at(1));
        assert!(!rtt.has_expired(at(10_001)) && rtt.has_expired(at(10_002)));
        rtt.take(100, false, at(5));
        assert_eq!((rtt.get(), rtt.since), (Some(100), at(1)), "the same is not lower");
        rtt.take(99, false, at(6));
        assert_eq!((rtt.get(), rtt.since), (Some(99), at(6)));
        rtt.take(120, true, at(7));
        assert_eq!((rtt.get(), rtt.since), (Some(120), at(7)));
        rtt.renew(at(8));
        assert_eq!((rtt.get(), rtt.since), (Some(120), at(8)));
        let mut first = MinRtt::new(None, at(0));
        first.take(500, false, at(1));
        assert_eq!(first.get(), Some(500));
    }

    #[test]
    fn a_fifth_of_a_second_begins_when_the_window_is_down() {
        let mut probe = ProbeRtt::default();
        assert!(!probe.is_timed() && !probe.is_due(at(1_000)));
        probe.begin(at(100));
        assert!(probe.is_timed() && !probe.is_due(at(300)) && probe.is_due(at(301)));
        assert_eq!([false, true, false].map(|start| probe.on_ack(start)), [false, true, true]);
        probe.begin(at(400));
        assert!(!probe.on_ack(false));
    }
}
