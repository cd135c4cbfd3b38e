//! Response to ECN-Echo of ns-2's senders (`ecn_response = "ns-2"`; ns-2's tcp.cc and tcp-reno.cc), with the behaviour
//! that depends on it. Other files call these functions instead of testing the setting.

use super::recovery::Cause;
use super::{Cx, Flight};
use crate::cc::{Congestion, CongestionControl};
use crate::config::EcnResponse;
use crate::ecn::Feedback;

impl EcnResponse {
    fn is_ns2(self) -> bool {
        self == EcnResponse::Ns2
    }

    /// Whether ECN-Echo is processed before the rest of its ACK. A window below one segment then closes (tcp.cc, recv
    /// and ecn).
    pub(crate) fn takes_echo_first(self) -> bool {
        self.is_ns2()
    }

    /// Whether an ACK without data outstanding counts as a duplicate, on which limited transmit may send.
    pub(crate) fn counts_duplicates_of_nothing(self) -> bool {
        self.is_ns2()
    }

    /// Whether only the window, with limited transmit, decides if data is sent, regardless of a hold (tcp.cc,
    /// send_one).
    pub(crate) fn sends_while_held(self) -> bool {
        self.is_ns2()
    }

    /// Whether each new ACK restarts the timer, also during a hold (tcp.cc, newtimer).
    pub(crate) fn rearms_while_held(self) -> bool {
        self.is_ns2()
    }

    /// Whether the first loss after a reduction by ECN belongs to the window of data that ECN has reduced (tcp-reno.cc,
    /// dupack_action).
    pub(crate) fn loss_at_the_point_is_answered(self) -> bool {
        self.is_ns2()
    }

    /// Whether a timeout keeps ssthresh after a reduction by ECN, however old (tcp.cc, timeout).
    pub(crate) fn timeout_keeps_ssthresh_of_ecn(self) -> bool {
        self.is_ns2()
    }

    /// Minimum window after an ECN-Echo, in segments. RFC 3168 §6.1.2 halves the window down to one segment, where its
    /// timer rule applies. ns-2 continues below it (tcp.cc, slowdown): from half a segment the next ACK opens the
    /// window to one and a half.
    pub(crate) fn least_window(self) -> u64 {
        u64::from(!self.is_ns2())
    }

    /// Offset that must be acknowledged before another source quench is processed: all data sent before the reduction
    /// in ns-2 (tcp.cc, quench), else data sent after it.
    pub(crate) fn quench_point(self, reduced_at: u64) -> u64 {
        if self.is_ns2() { reduced_at.saturating_sub(1) } else { reduced_at }
    }
}

impl Flight {
    /// Processes ECN-Echo before the ACK itself (tcp.cc, ecn).
    pub fn on_echo_ns2(&mut self, ack: u64, counts_sacks: bool, cx: &mut Cx) {
        // recover_ starts at 0, the SYN's number in ns-2: ECN-Echo on its repeated ACK is ignored, too.
        if ack <= self.recovery.recover.max(1) && self.recovery.cause != Cause::Timeout {
            return;
        }
        let before = self.law.state();
        self.reduce_for_ecn_ns2(counts_sacks, cx);
        cx.counters.ecn_reductions += u64::from(self.law.reduced_by_mark(before));
    }

    /// Reduces the window for ECN, and ends a recovery of a scheme that counts duplicate ACKs and not SACKs.
    pub fn reduce_for_ecn_ns2(&mut self, counts_sacks: bool, cx: &mut Cx) {
        let segment = u64::from(self.mss);
        let at_one = self.law.cwnd() <= segment;
        if at_one && self.timer.echo_at_one {
            self.timer.rto.back_off(cx.config);
        }
        self.timer.echo_at_one = at_one;
        let base = self.base_of_mark(self.reduction_base(cx.config), self.in_flight(), cx);
        self.law.on_congestion(&cx.congestion(Congestion::Ecn, base));
        self.reduced(Cause::Ecn, cx);
        if self.recovery.active && !counts_sacks {
            self.leave_recovery();
        }
        self.shut_below_one_segment();
        cx.counters.ecn_holds += u64::from(self.timer.held);
    }

    /// Closes a window of less than one segment until an ACK opens it or the timer fires.
    #[inline]
    pub fn shut_below_one_segment(&mut self) {
        self.timer.held = self.law.cwnd() + self.recovery.inflation < u64::from(self.mss);
    }

    /// Ends a hold when the timer fires: as after a timeout, but without backoff (tcp.cc, timeout).
    pub fn hold_is_over_ns2(&mut self, cx: &mut Cx) {
        if cx.config.ecn_response.is_ns2() {
            self.law_to_one_segment();
            self.reduced(Cause::Timeout, cx);
        }
    }

    /// Signals Tahoe's reduction to the peer even if ECN has already reduced this window (tcp.cc, dupack_action:
    /// slowdown).
    pub fn signal_reduction_ns2(&mut self, cx: &mut Cx) {
        if cx.config.ecn_response.is_ns2() {
            cx.ecn.on_reduction();
        }
    }
}
