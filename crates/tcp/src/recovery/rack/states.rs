//! The states and what leads from one to another: the kernel's tcp_fastretrans_alert and tcp_enter_loss.

use super::*;
use crate::config::ReduceFrom;

impl RackState {
    pub(super) fn alert(&mut self, tx: &mut Sender, before: u64, told: &mut Told, cx: &mut Cx) {
        if told.echo {
            self.undo.ssthresh = None;
        }
        if self.state == State::Open {
            self.undo.stamp = None;
        } else if tx.una >= tx.recovery.recover {
            self.leave(tx, told);
        }
        let go_on = match self.state {
            State::Recovery => self.in_recovery_still(tx, before, told, cx),
            State::Loss => self.in_loss(tx, told, cx) && self.look_around(tx, told, cx),
            _ => self.look_around(tx, told, cx),
        };
        if go_on {
            self.prefer = Prefer::Lost;
        }
    }

    /// All that was outstanding at the reduction is acknowledged.
    fn leave(&mut self, tx: &mut Sender, told: &Told) {
        match self.state {
            // CWR has then not yet reached the receiver: something above must be acknowledged.
            State::Cwr if tx.una > tx.recovery.recover => {
                self.end_reduction(tx);
                self.state = State::Open;
            }
            State::Recovery => {
                self.recovered(tx, told);
                self.end_reduction(tx);
            }
            _ => {}
        }
    }

    /// Recovery, or what follows a timeout, is over.
    fn recovered(&mut self, tx: &mut Sender, told: &Told) {
        if self.may_undo(told) {
            self.take_back(tx, false);
        }
        self.state = State::Open;
    }

    fn in_recovery_still(&mut self, tx: &mut Sender, before: u64, told: &mut Told, cx: &mut Cx) -> bool {
        if told.advanced && self.undo.armed && self.undo.delayed(told) {
            // The hole was filled by what was late, not by what was sent again.
            self.note_reordering(tx, Some(before));
            if self.board.resent() > 0 {
                return false;
            }
            self.forget_stamp_unless_resent();
            self.take_back(tx, true);
            self.keep_open(tx);
        }
        self.identify(tx, told, cx);
        if self.state != State::Recovery {
            if self.board.lost() == 0 {
                return false;
            }
            self.enter_recovery(tx, told.echo, cx);
        }
        true
    }

    /// The kernel's tcp_process_loss; whether the ACK is to be looked at as outside of it.
    fn in_loss(&mut self, tx: &mut Sender, told: &mut Told, cx: &mut Cx) -> bool {
        self.after_timeout(tx, told);
        self.identify(tx, told, cx);
        self.state == State::Open || told.lost_again
    }

    fn after_timeout(&mut self, tx: &mut Sender, told: &Told) {
        let recovered = tx.una >= tx.recovery.recover;
        if told.advanced && self.may_undo(told) {
            return self.spurious_timeout(tx);
        }
        if self.frto {
            // RFC 5682 §3.1: what was sent before the timeout arrives, so it was not lost.
            if told.original {
                return self.spurious_timeout(tx);
            }
            if tx.max > tx.recovery.recover {
                self.frto &= !(told.sacked || told.duplicate);
            } else if told.advanced && !recovered {
                tx.recovery.recover = tx.max;
                if tx.in_order().is_some() {
                    self.prefer = Prefer::NewElseLost;
                    return;
                }
                self.frto = false;
            }
        }
        if recovered {
            return self.recovered(tx, told);
        }
        self.prefer = Prefer::Lost;
    }

    fn spurious_timeout(&mut self, tx: &mut Sender) {
        self.take_back(tx, true);
        self.state = State::Open;
    }

    /// In every other state: begins a recovery if something is lost, or else hears ECN-Echo.
    fn look_around(&mut self, tx: &mut Sender, told: &mut Told, cx: &mut Cx) -> bool {
        self.identify(tx, told, cx);
        if self.board.lost() == 0 {
            self.try_to_open(tx, told.echo, cx);
            return false;
        }
        self.enter_recovery(tx, told.echo, cx);
        true
    }

    fn identify(&mut self, tx: &mut Sender, told: &mut Told, cx: &Cx) {
        if self.board.is_empty() {
            return;
        }
        let resent = self.board.resent();
        if self.find_lost(tx, told, cx) {
            told.set_timer = false;
        }
        told.lost_again |= self.board.resent() < resent;
    }

    fn try_to_open(&mut self, tx: &mut Sender, echo: bool, cx: &mut Cx) {
        self.forget_stamp_unless_resent();
        if echo && self.state < State::Cwr {
            self.enter_cwr(tx, cx);
            cx.counters.ecn_reductions += 1;
        }
        if self.state != State::Cwr {
            self.keep_open(tx);
        }
    }

    pub(super) fn keep_open(&mut self, tx: &mut Sender) {
        let disorder = self.board.held() + self.board.lost() > 0 || self.any_resent();
        let state = if disorder { State::Disorder } else { State::Open };
        if self.state != state {
            self.state = state;
            tx.recovery.recover = tx.max;
        }
    }

    // ---- reductions ----

    /// The kernel's tcp_enter_cwr: ECN has proven the congestion, so nothing is taken back.
    pub(super) fn enter_cwr(&mut self, tx: &mut Sender, cx: &mut Cx) {
        self.undo.ssthresh = None;
        if self.state >= State::Cwr {
            return;
        }
        self.undo.armed = false;
        let one_segment = window(tx) < 2;
        self.begin_reduction(tx, Congestion::Ecn, cx);
        self.state = State::Cwr;
        if one_segment && cx.config.ecn_response == EcnResponse::Standard {
            // RFC 3168 §6.1.2: nothing new before the timer.
            self.timer = Timer::Timeout;
            tx.hold(cx);
        }
    }

    pub(super) fn enter_recovery(&mut self, tx: &mut Sender, echo: bool, cx: &mut Cx) {
        self.forget_stamp_unless_resent();
        self.undo.ssthresh = None;
        self.undo.armed = true;
        self.undo.fresh = true;
        cx.counters.fast_recoveries += 1;
        if self.state != State::Cwr {
            if !echo {
                self.undo.ssthresh = Some(self.ssthresh(tx));
            }
            self.begin_reduction(tx, Congestion::Loss, cx);
        }
        self.state = State::Recovery;
    }

    /// The kernel's tcp_init_cwnd_reduction: where the window is to go. It stays until something is delivered.
    pub(super) fn begin_reduction(&mut self, tx: &mut Sender, why: Congestion, cx: &mut Cx) {
        let cwnd = tx.law.cwnd();
        self.undo.window = cwnd;
        self.probe.end = None;
        tx.law.on_congestion(why, self.reduction_base(tx, cx.config));
        self.prr = Prr::new(cwnd / u64::from(tx.mss), tx.law.cwnd());
        tx.law.set_cwnd(cwnd);
        let cause = if why == Congestion::Ecn { Cause::Ecn } else { Cause::Loss };
        tx.reduced(cause, cx);
    }

    /// What is halved. The flight is that before the ACK that told of the congestion.
    fn reduction_base(&self, tx: &Sender, config: &Config) -> u64 {
        match config.reduce_from {
            ReduceFrom::Flight => self.flight,
            ReduceFrom::Window => tx.law.cwnd(),
        }
    }

    /// The window is its target, unless the reduction was taken back.
    pub(super) fn end_reduction(&mut self, tx: &mut Sender) {
        if self.state == State::Cwr || self.undo.armed {
            tx.law.set_cwnd(self.prr.target);
        }
    }

    /// The kernel's tcp_current_ssthresh.
    fn ssthresh(&self, tx: &Sender) -> u64 {
        let state = tx.law.state();
        let reducing = matches!(self.state, State::Cwr | State::Recovery);
        if reducing { state.ssthresh } else { state.ssthresh.max(state.cwnd / 2 + state.cwnd / 4) }
    }

    // ---- the timeout ----

    /// The kernel's tcp_enter_loss and tcp_retransmit_timer.
    pub(super) fn on_timeout(&mut self, tx: &mut Sender, cx: &mut Cx) {
        let reneges = self.board.head().is_some_and(|s| s.held);
        if reneges {
            self.board.forget_held();
            tx.sacked.clear();
            self.highest = 0;
        }
        let detect = &self.detect;
        // What was sent within the last round trip may yet arrive.
        self.board.lose_after_timeout(|s| reneges || detect.overdue(s, cx.now));
        let first = self.state < State::Recovery;
        let new_window = tx.recovery.recover <= tx.una;
        if self.state <= State::Disorder || new_window || (self.state == State::Loss && tx.timeouts == 0) {
            self.undo.ssthresh = Some(self.ssthresh(tx));
            self.undo.window = tx.law.cwnd();
            self.undo.armed = true;
            self.flight = tx.flight();
            tx.law.on_congestion(Congestion::Timeout, self.reduction_base(tx, cx.config));
        } else {
            tx.law.on_further_loss();
        }
        tx.law.set_cwnd(u64::from(self.board.in_flight() + 1) * u64::from(tx.mss));
        if self.state <= State::Disorder && self.board.held() >= crate::recovery::DUP_THRESH {
            self.detect.less_reordering();
        }
        self.state = State::Loss;
        self.probe.end = None;
        self.frto = first || tx.timeouts > 0;
        self.timer = Timer::Timeout;
        self.first = First::Head;
        self.prefer = Prefer::New;
        tx.reduced(Cause::Timeout, cx);
        tx.recovery.stepped_back = Cause::Timeout;
        tx.timed_out(cx);
    }
}
