//! ECN-Echo as ns-2's senders answer it (`ecn_response = "ns-2"`; ns-2's tcp.cc and tcp-reno.cc), and what else of theirs
//! goes with it. The other files ask here.

use super::recovery::Cause;
use super::{Cx, Flight};
use crate::cc::{Congestion, CongestionControl};
use crate::config::EcnResponse;
use crate::ecn::Feedback;

impl EcnResponse {
    fn is_ns2(self) -> bool {
        self == EcnResponse::Ns2
    }

    /// An echo is answered before all else that its ACK does, and a window below one segment is shut after it (tcp.cc, recv
    /// and ecn).
    pub(crate) fn hears_echo_first(self) -> bool {
        self.is_ns2()
    }

    /// An ACK without data outstanding is a duplicate, too, upon which limited transmit may send.
    pub(crate) fn counts_duplicates_of_nothing(self) -> bool {
        self.is_ns2()
    }

    /// The window, to which limited transmit may add, says whether anything is sent, and no hold (tcp.cc, send_one).
    pub(crate) fn sends_while_held(self) -> bool {
        self.is_ns2()
    }

    /// Each new ACK restarts the timer, whatever it waits for (tcp.cc, newtimer).
    pub(crate) fn rearms_while_held(self) -> bool {
        self.is_ns2()
    }

    /// The first loss after ECN's reduction belongs to the window of data that ECN has reduced (tcp-reno.cc,
    /// dupack_action).
    pub(crate) fn loss_at_the_point_is_answered(self) -> bool {
        self.is_ns2()
    }

    /// After a reduction of ECN's, however old, a timeout keeps ssthresh (tcp.cc, timeout).
    pub(crate) fn timeout_keeps_ssthresh_of_ecn(self) -> bool {
        self.is_ns2()
    }

    /// Least window, in segments, that an echo leaves. RFC 3168 §6.1.2 halves down to one segment, where its timer rule begins.
    /// ns-2 goes on (tcp.cc, slowdown): from half a segment the next ACK opens the window to one and a half.
    pub(crate) fn least_window(self) -> u64 {
        u64::from(!self.is_ns2())
    }

    /// What a source quench is held against: one is heard again when all sent before the reduction is acknowledged (tcp.cc,
    /// quench), else when data sent after it is.
    pub(crate) fn quench_point(self, reduced_at: u64) -> u64 {
        if self.is_ns2() { reduced_at.saturating_sub(1) } else { reduced_at }
    }
}

impl Flight {
    /// ECN-Echo, before the ACK itself (tcp.cc, ecn).
    pub fn on_echo_ns2(&mut self, ack: u64, counts_sacks: bool, cx: &mut Cx) {
        // recover_ begins at 0, the SYN's number there: its ACK, repeated, is not heard either.
        if ack <= self.recovery.recover.max(1) && self.recovery.cause != Cause::Timeout {
            return;
        }
        self.reduce_for_ecn_ns2(counts_sacks, cx);
        cx.counters.ecn_reductions += 1;
    }

    /// The reduction; it ends a recovery that counts duplicate ACKs and no SACKs.
    pub fn reduce_for_ecn_ns2(&mut self, counts_sacks: bool, cx: &mut Cx) {
        let segment = u64::from(self.mss);
        let at_one = self.law.cwnd() <= segment;
        if at_one && self.timer.echo_at_one {
            self.timer.rto.back_off(cx.config);
        }
        self.timer.echo_at_one = at_one;
        let base = self.reduction_base(cx.config);
        self.law.on_congestion(&cx.congestion(Congestion::Ecn, base));
        self.reduced(Cause::Ecn, cx);
        if self.recovery.active && !counts_sacks {
            self.leave_recovery();
        }
        self.shut_below_one_segment();
        cx.counters.ecn_holds += u64::from(self.timer.held);
    }

    /// The window is shut while it is less than a segment: until an ACK opens it or the timer fires.
    pub fn shut_below_one_segment(&mut self) {
        self.timer.held = self.law.cwnd() + self.recovery.inflation < u64::from(self.mss);
    }

    /// The timer has ended a hold: a timeout like any other, but for its backoff (tcp.cc, timeout).
    pub fn hold_is_over_ns2(&mut self, cx: &mut Cx) {
        if cx.config.ecn_response.is_ns2() {
            self.law_to_one_segment();
            self.reduced(Cause::Timeout, cx);
        }
    }

    /// Tahoe tells of its reduction, too, where ECN has made the one of this window (tcp.cc, dupack_action: slowdown).
    pub fn tell_of_reduction_ns2(&mut self, cx: &mut Cx) {
        if cx.config.ecn_response.is_ns2() {
            cx.ecn.on_reduction();
        }
    }
}
