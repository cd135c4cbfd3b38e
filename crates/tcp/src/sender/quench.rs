//! What a source quench does to a sender (Akujobi et al. 2003 §IV-B): ECN's reaction, before the ACK that would ask
//! for it.

use ecnlab_wire::QuenchCause;

use super::{Cx, Sender};
use crate::ecn::{Feedback, QuenchSeen};

impl Sender {
    /// A source quench about the segment at `offset`, from `una` on.
    pub fn on_quench(&mut self, offset: u64, cause: QuenchCause, cx: &mut Cx) {
        let flight = &self.flight;
        // With nothing at `offset` on its way, it is old or forged (RFC 5927 §4.1).
        if offset >= flight.max || self.in_recovery() {
            return;
        }
        // A round trip is over when data sent after the reduction is acknowledged, as for ECN-Echo; in ns-2, for source
        // quenches, when all sent before it is (tcp.cc, quench).
        let response = cx.config.ecn_response;
        let reduced = response.quench_point(flight.recovery.recover);
        let quench =
            QuenchSeen { cause, una: flight.una, max: flight.max, reduced, round: response.quench_point(flight.max) };
        if !cx.ecn.on_quench(&quench) {
            return;
        }
        if response.hears_echo_first() {
            self.flight.reduce_for_ecn_ns2(self.scheme.counts_sacks(), cx);
        } else {
            self.scheme.reduce_for_ecn(&mut self.flight, 0, cx);
        }
        cx.counters.quench_reductions += 1;
    }
}
