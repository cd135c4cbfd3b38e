//! State transitions on an ACK: the kernel's tcp_fastretrans_alert (net/ipv4/tcp_input.c).

use super::*;

impl Rack {
    /// Returns whether the reordering timer is now running.
    pub(super) fn alert(&mut self, view: &mut View) -> bool {
        if self.state == State::Open {
            self.stamp = None;
        } else if view.una >= self.recover {
            self.leave(view);
        }
        match self.state {
            State::Recovery => self.in_recovery(view),
            State::Loss => self.in_loss(view),
            _ => self.look_around(view),
        }
    }

    pub(super) fn leave(&mut self, view: &mut View) {
        match self.state {
            State::Cwr if view.una > self.recover => self.state = State::Open,
            State::Recovery => self.recovered(view),
            _ => {}
        }
    }

    pub(super) fn recovered(&mut self, view: &mut View) {
        if self.may_undo() {
            self.take_back(false, view);
        }
        self.state = State::Open;
    }

    pub(super) fn in_recovery(&mut self, view: &mut View) -> bool {
        if self.ack_state.advanced && self.may_undo() {
            self.note_reordering(Some(self.ack_state.before), view);
            if self.copies > 0 {
                return false;
            }
            self.forget_stamp(view);
            self.take_back(true, view);
            self.keep_open(view);
        }
        let waits = self.identify(view);
        if self.state != State::Recovery && self.lost > 0 {
            self.begin_recovery(view);
        }
        waits
    }

    /// The kernel's tcp_process_loss.
    pub(super) fn in_loss(&mut self, view: &mut View) -> bool {
        self.after_timeout(view);
        let waits = self.identify(view);
        if self.state == State::Open || self.ack_state.lost_again {
            return self.look_around(view) | waits;
        }
        waits
    }

    pub(super) fn after_timeout(&mut self, view: &mut View) {
        let (ack_state, recovered) = (self.ack_state, view.una >= self.recover);
        self.new_first = false;
        if (ack_state.advanced && self.may_undo()) || (self.frto && ack_state.original) {
            self.take_back(true, view);
            self.state = State::Open;
            return;
        }
        if self.frto {
            if view.next > self.recover {
                self.frto &= !(ack_state.sacked || ack_state.duplicate);
            } else if ack_state.advanced && !recovered {
                // New data is sent next, if there is any.
                self.new_first = true;
                return;
            }
        }
        if recovered {
            self.recovered(view);
        }
    }

    pub(super) fn look_around(&mut self, view: &mut View) -> bool {
        let waits = self.identify(view);
        if self.lost > 0 {
            self.begin_recovery(view);
            return waits;
        }
        self.forget_stamp(view);
        if self.ack_state.echo && self.state < State::Cwr {
            self.armed = false;
            self.reduce(view);
            self.state = State::Cwr;
            self.tally.reductions += 1;
        }
        if self.state != State::Cwr {
            self.keep_open(view);
        }
        waits
    }

    pub(super) fn identify(&mut self, view: &mut View) -> bool {
        if view.segments.is_empty() || !std::mem::take(&mut self.news) {
            return false;
        }
        let copies = self.copies;
        let wait = self.find_lost(view);
        self.ack_state.lost_again |= self.copies < copies;
        if wait > 0 {
            self.timer = Timer::Reordering(view.time.saturating_add(wait).saturating_add(SLACK));
        }
        wait > 0
    }

    pub(super) fn keep_open(&mut self, view: &View) {
        let disorder = self.held + self.lost > 0 || self.any_copy(view);
        let state = if disorder { State::Disorder } else { State::Open };
        if self.state != state {
            self.state = state;
            self.recover = view.next;
        }
    }

    /// tcp_enter_recovery.
    pub(super) fn begin_recovery(&mut self, view: &View) {
        self.forget_stamp(view);
        (self.armed, self.fresh) = (true, true);
        self.tally.recoveries += 1;
        if self.state != State::Cwr {
            self.reduce(view);
        }
        self.state = State::Recovery;
    }

    /// tcp_init_cwnd_reduction.
    pub(super) fn reduce(&mut self, view: &View) {
        self.probe = None;
        self.recover = view.next;
    }

    // ---- undo ----

    pub(super) fn may_undo(&self) -> bool {
        self.armed && self.stamp.is_none_or(|stamp| is_before(self.ack_state.echoed, Some(stamp)))
    }

    pub(super) fn take_back(&mut self, none_lost: bool, view: &mut View) {
        if none_lost {
            view.segments.iter_mut().for_each(|s| s.lost = false);
            self.lost = 0;
            self.judge_again(view);
        }
        self.armed = false;
        self.news = true;
    }

    pub(super) fn any_copy(&self, view: &View) -> bool {
        self.copies > 0 || view.segments.front().is_some_and(|s| s.twice)
    }

    pub(super) fn forget_stamp(&mut self, view: &View) {
        if !self.any_copy(view) {
            self.stamp = None;
        }
    }

    // ---- probes ----

    /// Returns whether the ACK proves a loss repaired by the probe (RFC 8985 §7.4.2); it may end the episode.
    pub(super) fn probe_is_over(&mut self, view: &View) -> bool {
        let Some(end) = self.probe.filter(|&end| view.una >= end) else { return false };
        if self.probe_again && view.una > end {
            return true;
        }
        if !self.probe_again || (self.ack_state.duplicate && !self.ack_state.sacked) {
            self.probe = None;
        }
        false
    }

    pub(super) fn end_probe(&mut self, view: &View) {
        if self.probe_is_over(view) {
            self.reduce(view);
            self.state = State::Cwr;
            self.keep_open(view);
        }
    }
}
