//! What a source quench does to a sender (Akujobi et al. 2003 §IV-B): ECN's reaction, before the ACK that would ask
//! for it.

use ecnlab_wire::QuenchCause;

use super::{Cx, Sender};
use crate::config::EcnResponse;
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
        let ns2 = cx.config.ecn_response == EcnResponse::Ns2;
        let end = |sent: u64| if ns2 { sent.saturating_sub(1) } else { sent };
        let reduced = end(flight.recovery.recover);
        let quench = QuenchSeen { cause, una: flight.una, max: flight.max, reduced, round: end(flight.max) };
        if !cx.ecn.on_quench(&quench) {
            return;
        }
        if ns2 {
            self.reduce_for_ecn_ns2(cx);
        } else {
            self.scheme.reduce_for_ecn(&mut self.flight, 0, cx);
        }
        cx.counters.quench_reductions += 1;
    }
}
