//! Processing of ACKs outside normal operation, in the order of the kernel's tcp_fastretrans_alert
//! (net/ipv4/tcp_input.c), for both loss detection schemes.

use super::{CaState, CongestionState, Delivery, Prefer};
use crate::flight::{Cx, Flight};

/// A scheme that uses the states of [`CongestionState`] with its own loss detection.
pub(crate) trait FastRetransAlert {
    /// The congestion state with its reduction.
    fn congestion(&mut self) -> &mut CongestionState;
    /// The kernel's `tcp_ca_state`.
    fn ca_state(&self) -> CaState;
    /// Marks lost the segments that the ACK proves lost.
    fn identify(&mut self, tx: &mut Flight, delivery: &mut Delivery, cx: &Cx);
    /// Called when a late segment, not a retransmission, filled the hole at offset `before`.
    fn filled_late(&mut self, tx: &Flight, before: u64);
    /// Without SACK, counts the segments that the receiver may hold.
    fn recount(&mut self, _tx: &mut Flight, _delivery: &mut Delivery) {}
    /// Called when no segment is lost, after ECN-Echo was processed.
    fn after_calm(&mut self, _tx: &Flight) {}

    /// Processes an ACK that is a duplicate, reports new bytes by SACK or congestion by ECN, or arrives outside the
    /// Open state. `before` is the first unacknowledged offset before it.
    fn fastretrans_alert(&mut self, tx: &mut Flight, before: u64, delivery: &mut Delivery, cx: &mut Cx) {
        let congestion = self.congestion();
        congestion.on_ack(tx, delivery);
        let go_on = match congestion.ca_state {
            CaState::Recovery => self.in_recovery_still(tx, before, delivery, cx),
            CaState::Loss => self.in_loss(tx, delivery, cx) && self.look_around(tx, delivery, cx),
            _ => self.look_around(tx, delivery, cx),
        };
        if go_on {
            self.congestion().prefer = Prefer::Lost;
        }
    }

    /// Processes an ACK in the Recovery state. Returns whether lost segments may be sent.
    fn in_recovery_still(&mut self, tx: &mut Flight, before: u64, delivery: &mut Delivery, cx: &mut Cx) -> bool {
        if self.congestion().holds(tx) {
            if delivery.advanced {
                self.recount(tx, delivery);
            }
            return false;
        }
        if !delivery.advanced {
            self.recount(tx, delivery);
        } else if self.congestion().was_late(tx, delivery) {
            // A late segment filled the hole, not a retransmission.
            self.filled_late(tx, before);
            let congestion = self.congestion();
            if tx.scoreboard.retransmitted() > 0 {
                return false;
            }
            congestion.end_spurious_recovery(tx);
        }
        let congestion = self.congestion();
        if congestion.undo_by_dsack(tx) {
            congestion.try_to_open(tx, delivery.echo, cx);
        }
        self.identify(tx, delivery, cx);
        let congestion = self.congestion();
        if congestion.ca_state != CaState::Recovery {
            if tx.scoreboard.lost() == 0 {
                return false;
            }
            congestion.enter_recovery(tx, delivery.echo, cx);
        }
        true
    }

    /// Processes an ACK after a timeout. Returns whether it is also processed as in the other states.
    fn in_loss(&mut self, tx: &mut Flight, delivery: &mut Delivery, cx: &mut Cx) -> bool {
        let congestion = self.congestion();
        congestion.after_timeout(tx, delivery);
        // In F-RTO, a duplicate shows that new data has arrived, if any was sent.
        if congestion.prefer == Prefer::Lost && (delivery.advanced || tx.max > tx.recovery.recover) {
            self.recount(tx, delivery);
        }
        self.identify(tx, delivery, cx);
        self.congestion().ca_state == CaState::Open || delivery.lost_again
    }

    /// Processes an ACK in the other states: starts a recovery if a segment is lost, or else responds to ECN-Echo.
    /// Returns whether lost segments may be sent.
    fn look_around(&mut self, tx: &mut Flight, delivery: &mut Delivery, cx: &mut Cx) -> bool {
        self.recount(tx, delivery);
        let congestion = self.congestion();
        if congestion.ca_state <= CaState::Disorder {
            congestion.undo_by_dsack(tx);
        }
        self.identify(tx, delivery, cx);
        let congestion = self.congestion();
        if tx.scoreboard.lost() == 0 {
            congestion.try_to_open(tx, delivery.echo, cx);
            self.after_calm(tx);
            return false;
        }
        congestion.enter_recovery(tx, delivery.echo, cx);
        true
    }
}
