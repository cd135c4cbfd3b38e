//! What an ACK that is not all well makes a sender do, whatever it is that tells of losses: the order of the kernel's
//! tcp_fastretrans_alert (net/ipv4/tcp_input.c).

use super::{Board, Course, Cx, Prefer, Sender, State, Told};

/// A scheme that goes through the states of [`Course`], and says for itself what is lost.
pub(crate) trait Alert {
    /// Where the sender is, and what is outstanding.
    fn parts(&mut self) -> (&mut Course, &mut Board);
    /// Takes for lost what the ACK proves lost.
    fn identify(&mut self, tx: &mut Sender, told: &mut Told, cx: &Cx);
    /// The hole that began at `before` was filled by what was late.
    fn filled_late(&mut self, tx: &Sender, before: u64);
    /// Without SACK, counts what the receiver may hold.
    fn recount(&mut self, _tx: &Sender, _told: &mut Told) {}
    /// Nothing is lost: all may be well, or ECN has been heard.
    fn after_calm(&mut self, _tx: &Sender) {}

    /// An ACK that is a duplicate, reports something by SACK or by ECN, or comes when not all is well. Before it all up to
    /// `before` was acknowledged.
    fn alert(&mut self, tx: &mut Sender, before: u64, told: &mut Told, cx: &mut Cx) {
        let (course, board) = self.parts();
        course.hear(tx, board, told);
        let go_on = match course.state {
            State::Recovery => self.in_recovery_still(tx, before, told, cx),
            State::Loss => self.in_loss(tx, told, cx) && self.look_around(tx, told, cx),
            _ => self.look_around(tx, told, cx),
        };
        if go_on {
            self.parts().0.prefer = Prefer::Lost;
        }
    }

    /// A recovery goes on.
    fn in_recovery_still(&mut self, tx: &mut Sender, before: u64, told: &mut Told, cx: &mut Cx) -> bool {
        if self.parts().0.holds(tx) {
            if told.advanced {
                self.recount(tx, told);
            }
            return false;
        }
        if !told.advanced {
            self.recount(tx, told);
        } else if self.parts().0.was_late(tx, told) {
            // The hole was filled by what was late, not by what was sent again.
            self.filled_late(tx, before);
            let (course, board) = self.parts();
            if board.resent() > 0 {
                return false;
            }
            course.end_spurious_recovery(tx, board);
        }
        self.identify(tx, told, cx);
        let (course, board) = self.parts();
        if course.state != State::Recovery {
            if board.lost() == 0 {
                return false;
            }
            course.enter_recovery(tx, board, told.echo, cx);
        }
        true
    }

    /// After a timeout; whether the ACK is to be looked at as if there had been none.
    fn in_loss(&mut self, tx: &mut Sender, told: &mut Told, cx: &mut Cx) -> bool {
        let (course, board) = self.parts();
        course.after_timeout(tx, board, told);
        // A duplicate tells that new data have arrived (F-RTO), if any were sent.
        if course.prefer == Prefer::Lost && (told.advanced || tx.max > tx.recovery.recover) {
            self.recount(tx, told);
        }
        self.identify(tx, told, cx);
        self.parts().0.state == State::Open || told.lost_again
    }

    /// In every other state: begins a recovery if something is lost, or else hears ECN-Echo.
    fn look_around(&mut self, tx: &mut Sender, told: &mut Told, cx: &mut Cx) -> bool {
        self.recount(tx, told);
        self.identify(tx, told, cx);
        let (course, board) = self.parts();
        if board.lost() == 0 {
            course.try_to_open(tx, board, told.echo, cx);
            self.after_calm(tx);
            return false;
        }
        course.enter_recovery(tx, board, told.echo, cx);
        true
    }
}
