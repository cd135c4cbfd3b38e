//! Tahoe (Jacobson 1988): three duplicate ACKs mean a loss; the window falls to one segment and everything
//! from the loss on is sent again as slow start allows.

use super::{DUP_THRESH, Progress, Scheme};
use crate::sender::{Cx, Sender};

pub(crate) struct Tahoe;

impl Scheme for Tahoe {
    fn on_dupack(tx: &mut Sender, cx: &mut Cx) {
        if tx.recovery.dupacks == DUP_THRESH && tx.may_fast_retransmit(cx.config) {
            tx.reduce_for_loss(cx);
            tx.law_to_one_segment();
            tx.go_back();
            tx.recovery.partial_seen = false;
            tx.recovery.head_due = true;
        }
    }

    fn on_ack(_: &mut Sender, _: u64, _: &mut Cx) -> Progress {
        Progress { grow: true, rearm: true }
    }
}
