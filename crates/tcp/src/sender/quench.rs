//! What a source quench does to a sender (Akujobi et al. 2003 §IV-B): ECN's reaction, before the ACK that would ask
//! for it.

use ecnlab_wire::QuenchCause;

use super::{Cx, Flight, Sender};
use crate::ecn::Feedback;

impl Sender {
    /// A source quench about the segment at `offset`, from `una` on. At most one reduction a round trip, whether a
    /// source quench, ECN-Echo or duplicate ACKs tell of the congestion first.
    pub fn on_quench(&mut self, offset: u64, cause: QuenchCause, cx: &mut Cx) {
        // With nothing at `offset` on its way, it is old or forged (RFC 5927 §4.1).
        if offset >= self.flight.max || self.in_recovery() {
            return;
        }
        let response = cx.config.ecn_response;
        if self.flight.una <= response.quench_point(self.flight.recovery.recover) {
            // Passed over, for what the last one did answers it too. The receiver is told so.
            if self.flight.una <= self.flight.quench_echo_until {
                self.flight.owe_cwr(cx);
            }
            return;
        }
        if response.hears_echo_first() {
            self.flight.reduce_for_ecn_ns2(self.scheme.counts_sacks(), cx);
        } else {
            self.scheme.reduce_for_ecn(&mut self.flight, 0, cx);
        }
        cx.counters.quench_reductions += 1;
        if cause == QuenchCause::Marked {
            // "Waits a full roundtrip time after window reduction before it starts increasing the window."
            self.flight.quiet_until = response.quench_point(self.flight.max);
        }
        self.flight.owe_cwr(cx);
    }
}

impl Flight {
    /// What is outstanding need not be echoed; CWR on the packet behind it ends the echo at the receiver.
    fn owe_cwr(&mut self, cx: &mut Cx) {
        if cx.ecn.echo_is_backup() {
            self.quench_echo_until = self.max;
            cx.ecn.on_reduction();
        }
    }
}
