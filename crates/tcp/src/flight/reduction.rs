//! Response to losses: conditions of a fast retransmit, and the window reductions of a fast retransmit and a timeout,
//! once per window of data.

use ecnlab_base::Time;

use super::recovery::Cause;
use super::{Chunk, Cx, Flight, How, WindowProbe};
use crate::cc::{Congestion, CongestionControl};
use crate::config::{Config, EcnResponse, ReduceFrom, SackRule};
use crate::ecn::Feedback;

impl Flight {
    /// The value in bytes that a reduction multiplies: window or FlightSize.
    pub fn reduction_base(&self, config: &Config) -> u64 {
        match config.reduce_from {
            // RFC 5681 §3.2: data sent by limited transmit is not counted.
            ReduceFrom::Flight => self.in_flight().saturating_sub(self.recovery.limited_sent),
            ReduceFrom::Window => (self.law.cwnd() + self.recovery.inflation).min(self.peer_window.current),
        }
    }

    /// Records a reduction: data now outstanding causes no further one.
    pub fn reduced(&mut self, cause: Cause, cx: &mut Cx) {
        self.recovery.recover = self.max;
        self.recovery.cause = cause;
        cx.ecn.on_reduction();
        if self.rate_limited.is_some() {
            self.forget_pipe_ack(cx.now);
        }
    }

    /// Whether duplicate ACKs may start a fast retransmit now. `counts_sacks` states whether the scheme counts SACKs.
    pub fn may_fast_retransmit(&self, counts_sacks: bool, config: &Config) -> bool {
        let r = &self.recovery;
        let min_window = u64::from(config.fast_retransmit_min_window) * u64::from(self.mss);
        // RFC 6675 §5: HighACK >= RecoveryPoint is sufficient; ns-2 requires more after a timeout (tcp-sack1.cc,
        // dupack_action).
        let at_point = counts_sacks && (config.sack_rule == SackRule::Rfc6675 || r.cause != Cause::Timeout);
        let beyond = self.una > r.recover || (at_point && self.una == r.recover);
        let careful = beyond || !config.careful_retransmit || r.cause == Cause::Ecn;
        self.law.cwnd() >= min_window && careful
    }

    /// Reduces the window for a fast retransmit, unless ECN has already reduced it for this window of data
    /// (RFC 3168 §6.1.2).
    pub fn reduce_for_loss(&mut self, cx: &mut Cx) {
        cx.counters.fast_recoveries += 1;
        // Data sent after that reduction, starting with the CWR segment, belongs to the next window of data.
        let at_point = self.una == self.recovery.recover;
        let first_of_next = at_point && !cx.config.ecn_response.loss_at_the_point_is_answered();
        let already = self.recovery.cause == Cause::Ecn && self.una <= self.recovery.recover && !first_of_next;
        if already {
            self.recovery.cause = Cause::Loss;
            self.law.on_further_loss();
        } else {
            self.law.on_congestion(&cx.congestion(Congestion::Loss, self.reduction_base(cx.config)));
            self.reduced(Cause::Loss, cx);
        }
        self.timed = None;
    }

    /// Reduces the window for ECN, on an ACK of `acked` new bytes or on a source quench.
    pub fn reduce_for_ecn(&mut self, acked: u64, cx: &mut Cx) {
        let waits = self.waits_at_one_segment(cx.config);
        // FlightSize before the ACK: the acknowledged data was in flight when the mark was set.
        let flight = self.in_flight() + acked;
        let acked = if cx.config.reduce_from == ReduceFrom::Flight { acked } else { 0 };
        let base = self.base_of_mark(self.reduction_base(cx.config) + acked, flight, cx);
        self.law.on_congestion(&cx.congestion(Congestion::Ecn, base));
        self.reduced(Cause::Ecn, cx);
        if waits {
            self.hold(cx);
        }
    }

    /// The value in bytes that a mark reduces: `base`, or the data in use if the window is in the non-validated phase.
    pub fn base_of_mark(&mut self, base: u64, flight: u64, cx: &Cx) -> u64 {
        let used = if self.rate_limited.is_some() { self.used_of_non_validated(flight, cx) } else { None };
        used.unwrap_or(base)
    }

    /// Whether a mark restarts the timer and blocks new data until it expires, because a window of one segment cannot
    /// be halved (RFC 3168 §6.1.2, RFC 2481 §6.1.2).
    pub fn waits_at_one_segment(&self, config: &Config) -> bool {
        let one_segment = self.law.cwnd() < 2 * u64::from(self.mss);
        one_segment && config.ecn_response == EcnResponse::Standard && self.law.waits_at_one_segment()
    }

    /// Starts a recovery: reduces the window and schedules the retransmission of the first unacknowledged segment.
    pub fn enter_recovery(&mut self, cx: &mut Cx) {
        let rule = self.rate_limited.is_some();
        let used = if rule { self.used_of_non_validated(self.in_flight(), cx) } else { None };
        self.reduce_for_loss(cx);
        if let Some(used) = used {
            self.enter_non_validated_recovery(used);
        }
        let r = &mut self.recovery;
        r.active = true;
        r.head_due = true;
        r.partial_seen = false;
        r.rescued = false;
        r.high_rxt = self.una;
    }

    /// Ends a recovery.
    pub fn leave_recovery(&mut self) {
        let r = &mut self.recovery;
        r.active = false;
        r.inflation = 0;
        r.head_due = false;
        self.new_data_acked();
    }

    /// Resets the count of duplicate ACKs.
    pub fn new_data_acked(&mut self) {
        self.recovery.dupacks = 0;
        self.recovery.limited_sent = 0;
    }

    /// Sets the window to one segment and keeps ssthresh.
    pub fn law_to_one_segment(&mut self) {
        self.law.set_cwnd(self.mss.into());
    }

    /// Go-back-N: schedules all unacknowledged data for retransmission in order.
    pub fn go_back(&mut self) {
        // RFC 2018 §5: the receiver may have discarded SACKed data.
        self.sacked.clear();
        self.recovery.stepped_back = self.recovery.cause;
        self.nxt = self.una;
        self.timed = None;
        self.timer.deadline = Time::NEVER;
    }

    /// Handles a retransmission timeout with data outstanding.
    pub fn on_timeout(&mut self, cx: &mut Cx) {
        let (in_recovery, ssthresh) = (self.recovery.active, self.law.state().ssthresh);
        // ns-2 and 4.4BSD: the window inflation is removed before the window is halved.
        self.leave_recovery();
        let r = &self.recovery;
        // RFC 3168 §6.1.2: one reduction per window of data. RFC 5681 §3.1: one reduction per segment.
        let any = cx.config.ecn_response.timeout_keeps_ssthresh_of_ecn();
        let cut = r.cause == Cause::Ecn && (any || self.una < r.recover);
        let again = self.timer.timeouts > 0 && cx.config.repeated_timeout_keeps_ssthresh;
        if cut || again {
            self.law.on_further_loss();
            self.law_to_one_segment();
        } else {
            self.law.on_congestion(&cx.congestion(Congestion::Timeout, self.reduction_base(cx.config)));
            if in_recovery && cx.config.reduce_from == ReduceFrom::Flight {
                // RFC 5681 §3.1: equation (4) is an upper limit. FlightSize includes SACKed data, which recovery has
                // replaced by new data.
                let reduced = self.law.state().ssthresh;
                self.law.set_ssthresh(reduced.min(ssthresh));
            }
        }
        self.reduced(Cause::Timeout, cx);
        self.go_back();
        self.timed_out(cx);
    }

    /// Records a timeout and doubles the RTO.
    pub fn timed_out(&mut self, cx: &mut Cx) {
        self.timer.held = false;
        cx.ecn.on_timeout();
        self.timer.timeouts += 1;
        cx.counters.timeouts += 1;
        self.timer.rto.back_off(cx.config);
        self.arm(cx.config, cx.now);
    }

    /// Handles the timer with nothing outstanding: ends a hold, or returns a probe of the closed window, which is one
    /// byte, or empty as in Linux.
    pub fn on_idle_timer(&mut self, empty: bool, cx: &mut Cx) -> Option<WindowProbe> {
        self.timer.deadline = Time::NEVER;
        if std::mem::take(&mut self.timer.held) {
            self.hold_is_over_ns2(cx);
            return None;
        }
        if self.end <= self.nxt {
            return None;
        }
        if self.stretch(self.nxt).is_some() {
            return None;
        }
        let room = (self.una + self.peer_window.current).saturating_sub(self.nxt);
        if room > 0 {
            // A window of less than a segment is filled when the timer fires (Linux: tcp_write_wakeup).
            self.arm(cx.config, cx.now);
            let len = room.min(self.end - self.nxt) as u32;
            return Some(WindowProbe::Data(Chunk { start: self.nxt, len, fin: false, how: How::InOrder }));
        }
        self.timer.rto.back_off(cx.config);
        self.arm(cx.config, cx.now);
        cx.counters.window_probes += 1;
        let byte = Chunk { start: self.nxt, len: 1, fin: false, how: How::Probe };
        Some(if empty { WindowProbe::Empty } else { WindowProbe::Data(byte) })
    }

    /// Whether the peer's window holds back data, with nothing outstanding.
    pub fn waits_for_window(&self) -> bool {
        self.una == self.max && self.end > self.nxt && self.timer.deadline != Time::NEVER
    }

    /// Restarts the timer of window probes after an ACK with nothing outstanding; a window that admits a segment ends its
    /// backoff (tcp_ack_probe).
    pub fn restart_probe_timer(&mut self, cx: &Cx) {
        if !self.waits_for_window() {
            return;
        }
        if self.stretch(self.nxt).is_some() {
            self.timer.rto.end_backoff(cx.config);
        }
        self.arm(cx.config, cx.now);
    }

    /// Whether the only outstanding data is a probe of the peer's closed window.
    pub fn only_probing(&self) -> bool {
        self.max - self.una <= 1 && self.nxt == self.una && self.end > self.nxt
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Counters;
    use crate::ecn;
    use crate::law::Law;
    use crate::profile;
    use crate::registry::{EcnKind, WindowLaw};
    use ecnlab_base::Bytes;
    use ecnlab_wire::Seq;

    fn config() -> Config {
        let config = profile("modern").expect("a profile of ours").config.clone();
        Config { mss: Bytes(1_000), careful_retransmit: true, reduce_from: ReduceFrom::Flight, ..config }
    }

    /// Does `act` with a sender that has ten segments of 1000 bytes outstanding, from offset 1, in a window of ten.
    fn with_ten<T>(act: impl FnOnce(&mut Flight, &mut Cx) -> T) -> T {
        let config = config();
        let mut tx = Flight::new(&config, Seq(0));
        tx.law.set_cwnd(10_000);
        (tx.una, tx.nxt, tx.max, tx.end) = (1, 10_001, 10_001, 10_001);
        let (mut counters, mut ecn) = (Counters::default(), ecn::Scheme::new(EcnKind::Off));
        let now = Time::ZERO;
        act(&mut tx, &mut Cx { config: &config, now, counters: &mut counters, ecn: &mut ecn })
    }

    #[test]
    fn at_the_recovery_point_only_sack_begins_a_fast_retransmit_and_with_the_counter_not_after_a_timeout() {
        let may = |counts_sacks, sack_rule, cause, una| {
            with_ten(|tx, _| {
                (tx.recovery.recover, tx.recovery.cause, tx.una) = (5_001, cause, una);
                tx.may_fast_retransmit(counts_sacks, &Config { sack_rule, ..config() })
            })
        };
        assert!(may(false, SackRule::Rfc6675, Cause::Timeout, 5_002));
        assert!(!may(false, SackRule::Rfc6675, Cause::Loss, 5_001));
        assert!(may(true, SackRule::Rfc6675, Cause::Timeout, 5_001));
        assert!(!may(true, SackRule::Counter, Cause::Timeout, 5_001));
        assert!(may(true, SackRule::Counter, Cause::Loss, 5_001));
        assert!(!may(true, SackRule::Rfc6675, Cause::Loss, 5_000));
    }

    #[test]
    fn a_window_below_two_segments_waits() {
        let waits = |cwnd| {
            with_ten(|tx, _| {
                tx.law.set_cwnd(cwnd);
                tx.waits_at_one_segment(&Config { ecn_response: EcnResponse::Standard, ..config() })
            })
        };
        assert_eq!([1_999, 2_000].map(waits), [true, false]);
    }

    #[test]
    fn a_timeout_outside_a_recovery_takes_ssthresh_from_the_flight_alone() {
        with_ten(|tx, cx| {
            tx.law = Law::new(&Config { congestion: WindowLaw::Reno(Default::default()), ..config() }, 1_000);
            tx.law.set_cwnd(10_000);
            tx.law.set_ssthresh(2_000);
            tx.on_timeout(cx);
            assert_eq!((tx.law.state().ssthresh, tx.law.cwnd()), (5_000, 1_000));
        });
    }

    #[test]
    fn a_closed_window_is_probed_and_a_fin_is_no_probe() {
        with_ten(|tx, cx| {
            (tx.una, tx.end) = (10_001, 12_001);
            let byte = Chunk { start: 10_001, len: 1, fin: false, how: How::Probe };
            assert_eq!(tx.on_idle_timer(false, cx), Some(WindowProbe::Data(byte)));
            assert_eq!(cx.counters.window_probes, 1);
            tx.max = 10_002;
            assert!(tx.only_probing());
            // All is sent, and what is to be sent again is the FIN.
            tx.end = 10_001;
            assert!(!tx.only_probing());
        });
    }
}
