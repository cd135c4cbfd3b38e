//! Tahoe (Jacobson 1988): three duplicate ACKs indicate a loss. The window is set to one segment and all data from the
//! loss on is retransmitted in slow start.

use super::Scheme;
use crate::facts::Facts;
use crate::flight::{Cx, DUP_THRESH, Flight};

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "tahoe",
    label: "Tahoe",
    summary: "Fast retransmit, then slow start from one segment.",
    reference: "V. Jacobson, 'Congestion avoidance and control', SIGCOMM 1988",
    ..Facts::PLAIN
};

#[derive(Clone, Debug, Default)]
pub(crate) struct Tahoe;

impl Scheme for Tahoe {
    fn on_dupack(&mut self, tx: &mut Flight, cx: &mut Cx) {
        if tx.recovery.dupacks == DUP_THRESH && tx.may_fast_retransmit(false, cx.config) {
            tx.reduce_for_loss(cx);
            tx.law_to_one_segment();
            tx.signal_reduction_ns2(cx);
            tx.go_back();
            tx.recovery.partial_seen = false;
            tx.recovery.head_due = true;
        }
    }
}
