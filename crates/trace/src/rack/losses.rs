//! Loss detection by send time (RFC 8985 §6.2; net/ipv4/tcp_recovery.c).

use super::*;

impl Rack {
    /// RFC 8985 §6.2 step 5. Returns how long a segment in flight may still take, in nanoseconds.
    pub(super) fn find_lost(&mut self, view: &mut View) -> u64 {
        let patient = self.reordered || (self.state < State::Recovery && self.held < self.reordering.max(DUPLICATES));
        let mut wait = 0;
        for k in 0..self.order.len() {
            let (time, start) = self.order[k];
            let Some(i) = pending(view.segments, time, start) else { continue };
            let Some(left) = view.arrivals.left(time, view.segments[i].end, patient, view.time) else { break };
            wait = wait.max(left);
            if left == 0 {
                self.lose(&mut view.segments[i]);
                view.segments[i].judged = true;
            }
        }
        self.trim(view);
        wait
    }

    /// tcp_mark_skb_lost; for a segment already lost, its copy.
    pub(super) fn lose(&mut self, sent: &mut Sent) {
        if sent.held {
            return;
        }
        if sent.lost {
            self.copies -= u32::from(std::mem::take(&mut sent.copy));
        } else {
            sent.lost = true;
            self.lost += 1;
        }
    }

    /// After the lost marks are removed, judges again the segments that a timeout had marked. Linux has removed those
    /// that RACK had found lost from tsorted_sent_queue.
    pub(super) fn judge_again(&mut self, view: &View) {
        let segments = view.segments.iter().filter(|s| !s.held && !s.judged);
        let mut order: Vec<_> = segments.map(|s| (s.time, s.start)).collect();
        order.sort_unstable();
        self.order = order.into();
    }

    /// Records a transmission; several may have the same time.
    pub(super) fn remember(&mut self, view: &View, start: u64) {
        if self.order.len() >= MOST_SENDINGS {
            self.order.retain(|&(time, start)| pending(view.segments, time, start).is_some());
            self.order.truncate(MOST_SENDINGS / 2);
        }
        self.order.push_back((view.time, start));
    }

    pub(super) fn trim(&mut self, view: &View) {
        while self.order.front().is_some_and(|&(time, start)| pending(view.segments, time, start).is_none()) {
            self.order.pop_front();
        }
    }

    /// Runs the reordering timer if it was due: before any data that the end `sends` at that time, after an ACK that
    /// arrives at that time.
    pub(super) fn expire(&mut self, view: &mut View, sends: bool) {
        if self.echo.is_some() {
            self.take_stamped_rtt(view, Ticks::at);
            self.echo = None;
        }
        let Timer::Reordering(due) = self.timer else { return };
        let fired = if sends { view.time.saturating_add(EARLY) >= due } else { view.time > due.saturating_add(LATE) };
        if !fired {
            return;
        }
        let found = (self.lost, self.copies);
        let now = std::mem::replace(&mut view.time, due);
        self.find_lost(view);
        if found != (self.lost, self.copies) && self.state != State::Recovery {
            // During a reduction the congestion window may be full.
            self.silent = self.state != State::Cwr && self.copies < self.lost;
            self.begin_recovery(view);
        }
        view.time = now;
        self.timer = Timer::Timeout;
        self.fired = Some(due);
    }
}
