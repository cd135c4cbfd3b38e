//! Reno's fast retransmit and fast recovery (RFC 5681 §3.2). The first ACK of new data ends recovery, so that a second
//! loss in the window needs another fast retransmit or a timeout.

use super::{Progress, Scheme};
use crate::facts::Facts;
use crate::flight::{Cx, DUP_THRESH, Flight};

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "reno",
    label: "Reno",
    summary: "Fast recovery that the first new ACK ends.",
    reference: "RFC 5681, section 3.2",
    ..Facts::PLAIN
};

#[derive(Clone, Debug, Default)]
pub(crate) struct Reno;

impl Scheme for Reno {
    fn on_dupack(&mut self, tx: &mut Flight, cx: &mut Cx) {
        if tx.recovery.active {
            // §3.2 step 4: a segment has left the network.
            tx.recovery.inflation += u64::from(tx.mss);
        } else if tx.recovery.dupacks == DUP_THRESH && tx.may_fast_retransmit(false, cx.config) {
            // §3.2 steps 2 and 3.
            tx.enter_recovery(cx);
            tx.recovery.inflation = u64::from(cx.config.entry_inflation) * u64::from(tx.mss);
        }
    }

    fn on_new_ack(&mut self, tx: &mut Flight, _: u64, cx: &mut Cx) -> Progress {
        // §3.2 step 6: deflate.
        tx.leave_recovery();
        Progress { grow: cx.config.exit_growth, rearm: true }
    }
}
