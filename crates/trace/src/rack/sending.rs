//! Compares transmissions with the actions of a sender with RACK.

use super::*;

impl Rack {
    /// Processes new data; `quiet` after two RTTs without any packet, `first` with nothing outstanding.
    pub fn send(&mut self, view: &mut View, (start, end): (u64, u64), quiet: bool, first: bool) {
        self.expire(view, true);
        self.new_first = false;
        self.largest = self.largest.max(end - start);
        self.remember(view, start);
        if quiet && self.timer == Timer::Probe && self.probe.is_none() {
            (self.probe, self.probe_again) = (Some(end), false);
            self.timer = Timer::Timeout;
        } else if matches!(self.state, State::Open | State::Cwr) {
            self.timer = Timer::Probe;
        } else if first || self.timer == Timer::Probe {
            self.timer = Timer::Timeout;
        }
    }

    /// Processes a retransmission. Returns its cause, and whether the retransmission timer started it.
    pub fn send_again(&mut self, view: &mut View, again: Again) -> (Cause, bool) {
        self.expire(view, true);
        self.silent &= !self.has_fired(view);
        self.evidence.against += u32::from(std::mem::take(&mut self.silent));
        let at = view.segments.partition_point(|s| s.end <= again.start);
        let waits = view.segments.get(at).is_some_and(|s| s.lost && !s.copy && !s.held);
        let (cause, timer) = self.cause(view, &again, waits);
        self.tally.causes[cause as usize] += 1;
        self.tally.timeouts += u64::from(timer);
        self.book(view, at, &again, cause);
        (cause, timer)
    }

    /// Returns the cause of a retransmission; `waits` if the segment is marked lost and was not sent since.
    pub(super) fn cause(&mut self, view: &mut View, again: &Again, waits: bool) -> (Cause, bool) {
        let by_timer = self.has_fired(view);
        if waits && (again.answers || by_timer) {
            self.evidence.for_it += u32::from(!again.answers || !again.explained);
            return (self.in_turn(), false);
        }
        let tail = again.end == view.next && self.timer == Timer::Probe && self.probe.is_none();
        // The timer fired at the time of an ACK: nothing else retransmits the first segment again so soon.
        let repeated = self.state == State::Loss && again.start <= view.una;
        if again.answers && !again.quiet && !tail && !repeated {
            self.evidence.against += 1;
            return (self.in_turn(), false);
        }
        if self.timer == Timer::Probe && self.probe.is_none() {
            if tail {
                self.evidence.for_it += u32::from(again.start > view.una && !(again.answers && again.explained));
                (self.probe, self.probe_again) = (Some(view.next), true);
                self.timer = Timer::Timeout;
                return (Cause::Tail, false);
            }
            // In recovery the kernel's timer is the retransmission timer again (tcp_xmit_retransmit_queue).
            self.evidence.against += u32::from(matches!(self.state, State::Open | State::Cwr));
        } else if again.start > view.una {
            self.evidence.against += 1;
        }
        self.time_out(view);
        (Cause::Timeout, true)
    }

    /// Returns whether a timer has just fired.
    pub(super) fn has_fired(&self, view: &View) -> bool {
        self.fired.is_some_and(|at| view.time.saturating_add(EARLY) >= at && view.time <= at.saturating_add(LATE))
    }

    /// Returns the cause of a retransmission in sequence.
    pub(super) fn in_turn(&mut self) -> Cause {
        if self.state == State::Loss {
            self.frto &= !std::mem::take(&mut self.new_first);
            Cause::Timeout
        } else if std::mem::take(&mut self.fresh) {
            Cause::Fast
        } else {
            Cause::Sack
        }
    }

    /// tcp_enter_loss.
    pub(super) fn time_out(&mut self, view: &mut View) {
        for i in 0..view.segments.len() {
            let sent = &mut view.segments[i];
            if i == 0 || view.arrivals.has_had_its_time(sent.time, view.time) {
                self.lose(sent);
            }
        }
        self.armed |= self.state <= State::Disorder
            || self.recover <= view.una
            || (self.state == State::Loss && self.timeouts == 0);
        if self.state <= State::Disorder && self.held >= DUPLICATES {
            self.reordering = self.reordering.min(DUPLICATES);
        }
        self.frto = self.state < State::Recovery || self.timeouts > 0;
        self.state = State::Loss;
        self.timer = Timer::Timeout;
        self.timeouts += 1;
        self.reduce(view);
        self.fired = Some(view.time);
    }

    /// Records the copies of the segments from index `at` on. A probe's copy is not counted (tcp_send_loss_probe).
    pub(super) fn book(&mut self, view: &mut View, at: usize, again: &Again, cause: Cause) {
        let mut seen = at;
        while let Some(sent) = view.segments.get_mut(seen).filter(|s| s.start < again.end) {
            if cause != Cause::Tail && !sent.copy {
                sent.copy = true;
                self.copies += 1;
            }
            (sent.twice, sent.judged) = (true, false);
            let start = sent.start;
            if let Some(stamp) = again.stamp {
                match self.stamps.binary_search_by_key(&start, |s| s.0) {
                    Ok(known) => self.stamps[known].1 = stamp,
                    Err(place) => self.stamps.insert(place, (start, stamp)),
                }
            }
            self.remember(view, start);
            seen += 1;
        }
        // The kernel's tcp_xmit_retransmit_queue: from here on the timer is the retransmission timer.
        if cause != Cause::Tail && again.start <= view.una && !matches!(self.timer, Timer::Reordering(_)) {
            self.timer = Timer::Timeout;
        }
        if cause != Cause::Tail && self.stamp.is_none() {
            // Without timestamps no echo is earlier.
            self.stamp = Some(again.stamp.unwrap_or(0));
        }
    }
}
