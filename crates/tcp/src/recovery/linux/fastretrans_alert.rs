//! What an ACK that is not all well makes a sender do, whatever it is that tells of losses: the order of the kernel's
//! tcp_fastretrans_alert (net/ipv4/tcp_input.c).

use super::{CaState, CongestionState, Delivery, Prefer};
use crate::flight::{Cx, Flight};

/// A scheme that goes through the states of [`CongestionState`], and says for itself what is lost.
pub(crate) trait FastRetransAlert {
    /// Where the sender is.
    fn congestion(&mut self) -> &mut CongestionState;
    /// Its state.
    fn ca_state(&self) -> CaState;
    /// Takes for lost what the ACK proves lost.
    fn identify(&mut self, tx: &mut Flight, delivery: &mut Delivery, cx: &Cx);
    /// The hole that began at `before` was filled by what was late.
    fn filled_late(&mut self, tx: &Flight, before: u64);
    /// Without SACK, counts what the receiver may hold.
    fn recount(&mut self, _tx: &mut Flight, _delivery: &mut Delivery) {}
    /// Nothing is lost: all may be well, or ECN has been heard.
    fn after_calm(&mut self, _tx: &Flight) {}

    /// An ACK that is a duplicate, reports something by SACK or by ECN, or comes when not all is well. Before it all up to
    /// `before` was acknowledged.
    fn fastretrans_alert(&mut self, tx: &mut Flight, before: u64, delivery: &mut Delivery, cx: &mut Cx) {
        let congestion = self.congestion();
        congestion.hear(tx, delivery);
        let go_on = match congestion.ca_state {
            CaState::Recovery => self.in_recovery_still(tx, before, delivery, cx),
            CaState::Loss => self.in_loss(tx, delivery, cx) && self.look_around(tx, delivery, cx),
            _ => self.look_around(tx, delivery, cx),
        };
        if go_on {
            self.congestion().prefer = Prefer::Lost;
        }
    }

    /// A recovery goes on.
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
            // The hole was filled by what was late, not by what was sent again.
            self.filled_late(tx, before);
            let congestion = self.congestion();
            if tx.scoreboard.retransmitted() > 0 {
                return false;
            }
            congestion.end_spurious_recovery(tx);
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

    /// After a timeout; whether the ACK is to be looked at as if there had been none.
    fn in_loss(&mut self, tx: &mut Flight, delivery: &mut Delivery, cx: &mut Cx) -> bool {
        let congestion = self.congestion();
        congestion.after_timeout(tx, delivery);
        // A duplicate tells that new data have arrived (F-RTO), if any were sent.
        if congestion.prefer == Prefer::Lost && (delivery.advanced || tx.max > tx.recovery.recover) {
            self.recount(tx, delivery);
        }
        self.identify(tx, delivery, cx);
        self.congestion().ca_state == CaState::Open || delivery.lost_again
    }

    /// In every other state: begins a recovery if something is lost, or else hears ECN-Echo.
    fn look_around(&mut self, tx: &mut Flight, delivery: &mut Delivery, cx: &mut Cx) -> bool {
        self.recount(tx, delivery);
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
