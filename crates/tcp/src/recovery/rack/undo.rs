//! What was reduced for nothing is given back: the kernel's undo, by timestamps (RFC 3522, RFC 4015).

use super::*;

/// What is needed to take a reduction back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// A reduction is in force that might be taken back.
    pub armed: bool,
    /// The window before it in bytes, and the slow-start threshold unless ECN has proven the congestion.
    pub window: u64,
    pub ssthresh: Option<u64>,
    /// The timestamp of the first retransmission of this episode.
    pub stamp: Option<u32>,
    /// The recovery has just begun: its first retransmission is the fast one.
    pub fresh: bool,
}

impl Undo {
    /// A segment was sent again at timestamp `stamp`.
    pub fn resent(&mut self, stamp: u32) {
        self.stamp.get_or_insert(stamp);
    }

    /// Whether the ACK answers what was sent before the first retransmission, so that nothing was lost.
    pub fn delayed(&self, told: &Told) -> bool {
        match self.stamp {
            Some(stamp) => told.echoed.is_some_and(|echoed| (echoed.wrapping_sub(stamp) as i32) < 0),
            None => true,
        }
    }
}

impl RackState {
    pub(super) fn may_undo(&self, told: &Told) -> bool {
        self.undo.armed && self.undo.delayed(told)
    }

    /// Whether something is, or was, sent again.
    pub(super) fn any_resent(&self) -> bool {
        self.board.resent() > 0 || self.board.head().is_some_and(|s| s.ever_resent)
    }

    pub(super) fn forget_stamp_unless_resent(&mut self) {
        if !self.any_resent() {
            self.undo.stamp = None;
        }
    }

    /// The kernel's tcp_undo_cwnd_reduction.
    pub(super) fn take_back(&mut self, tx: &mut Sender, none_lost: bool) {
        if none_lost {
            self.board.forget_lost();
        }
        if let Some(ssthresh) = self.undo.ssthresh {
            let state = tx.law.state();
            tx.law.set_cwnd(state.cwnd.max(self.undo.window));
            tx.law.set_ssthresh(state.ssthresh.max(ssthresh));
        }
        self.undo.armed = false;
        self.detect.again();
    }
}
