//! RFC 8985 §6: what is lost, by the time it was sent.

use super::*;
use crate::recovery::DUP_THRESH;
use crate::sender::Judgement;

/// The most segments by which the path is thought to reorder (Linux: net.ipv4.tcp_max_reordering).
const MAX_REORDERING: u32 = 300;

/// RFC 8985 §5.3's variables.
#[derive(Clone, Debug)]
pub(super) struct Detect {
    /// Of what has arrived, when the last sent was sent, and its end (RACK.xmit_ts, RACK.end_seq).
    sent: Time,
    end: u64,
    /// How long the segment that arrived last was under way (RACK.rtt).
    pub rtt: Dur,
    /// Something has arrived since losses were last looked for.
    advanced: bool,
    /// The least RTT; [`Dur`]'s greatest before the first (RACK.min_RTT). The kernel forgets one after five minutes.
    least: Dur,
    /// Segments by which the path is thought to reorder (the kernel's tp->reordering).
    reordering: u32,
    /// It has reordered (RACK.reordering_seen).
    reordered: bool,
}

impl Default for Detect {
    fn default() -> Detect {
        Detect {
            sent: Time::ZERO,
            end: 0,
            rtt: Dur::ZERO,
            advanced: false,
            least: Dur::from_ps(u64::MAX),
            reordering: DUP_THRESH,
            reordered: false,
        }
    }
}

impl Detect {
    /// A segment has arrived (§6.2 step 2).
    pub fn advance(&mut self, segment: &Outstanding, now: Time) {
        let rtt = now.since(segment.sent);
        // An ACK sooner than any before is of the first copy.
        if segment.ever_resent && rtt < self.least {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if (segment.sent, segment.end()) > (self.sent, self.end) {
            (self.sent, self.end) = (segment.sent, segment.end());
        }
    }

    /// Losses are to be looked for again.
    pub fn again(&mut self) {
        self.advanced = true;
    }

    /// One more RTT.
    pub fn least_rtt(&mut self, rtt: Dur) {
        self.least = self.least.min(rtt);
    }

    pub fn reordering_is_high(&self) -> bool {
        self.reordering > DUP_THRESH
    }

    /// A timeout although more than the usual was held: less is reordered than was thought.
    pub fn less_reordering(&mut self) {
        self.reordering = self.reordering.min(DUP_THRESH);
    }

    /// How long a segment may be late (§6.2 step 4).
    fn window(&self, in_recovery: bool, held: u32, srtt: Dur) -> Dur {
        if !self.reordered && (in_recovery || held >= self.reordering) {
            return Dur::ZERO;
        }
        (self.least / 4).min(srtt)
    }

    /// How long from now `segment`, should it not arrive, is taken for lost; zero is now.
    fn remaining(&self, segment: &Outstanding, late: Dur, now: Time) -> Dur {
        let rtt = Dur::from_ps(self.rtt.ps().saturating_add(late.ps()));
        rtt.saturating_sub(now.since(segment.sent))
    }

    /// Whether a timeout finds `segment` lost.
    pub fn overdue(&self, segment: &Outstanding, now: Time) -> bool {
        self.remaining(segment, Dur::ZERO, now).is_zero()
    }
}

impl RackState {
    /// Looks for losses, if something has arrived; whether a timer now runs for those that may yet come.
    pub(super) fn find_lost(&mut self, tx: &mut Sender, told: &mut Told, cx: &Cx) -> bool {
        if !std::mem::take(&mut self.detect.advanced) {
            return false;
        }
        let wait = self.detect_loss(tx, told, cx);
        if !wait.is_zero() {
            let at = wait + SLACK;
            self.set(tx, Timer::Reordering, cx.now.saturating_add(at.min(tx.rto.current(cx.config))));
        }
        !wait.is_zero()
    }

    /// RFC 8985 §6.2 step 5. Returns the longest time that something in flight may still take.
    fn detect_loss(&mut self, tx: &Sender, told: &mut Told, cx: &Cx) -> Dur {
        let detect = &self.detect;
        let srtt = tx.rto.smoothed(cx.config).0;
        let late = detect.window(self.state >= State::Recovery, self.board.held(), srtt);
        let mut wait = Dur::ZERO;
        told.lost += self.board.judge(|s| {
            if (s.sent, s.end()) >= (detect.sent, detect.end) {
                return Judgement::Later;
            }
            let remaining = detect.remaining(s, late, cx.now);
            wait = wait.max(remaining);
            if remaining.is_zero() { Judgement::Lost } else { Judgement::Waits }
        });
        wait
    }

    /// What may have been reordered has not come: it is lost.
    pub(super) fn on_reordering_timer(&mut self, tx: &mut Sender, cx: &mut Cx) {
        let in_flight = self.board.in_flight();
        self.flight = tx.flight();
        let mut told = Told::default();
        self.detect_loss(tx, &mut told, cx);
        if self.board.in_flight() != in_flight {
            if self.state != State::Recovery {
                self.enter_recovery(tx, false, cx);
                self.reduce(tx, 1, false);
            }
            self.prefer = Prefer::Lost;
        }
        self.rearm(tx, cx.config, cx.now);
    }

    /// The kernel's tcp_check_sack_reordering: `late` has arrived after what was sent behind it.
    pub(super) fn note_reordering(&mut self, tx: &Sender, late: Option<u64>) {
        let Some(late) = late else { return };
        let highest = self.highest.max(tx.una);
        if late < highest {
            let segments = (highest - late).div_ceil(tx.mss.into()).min(MAX_REORDERING.into()) as u32;
            self.detect.reordering = self.detect.reordering.max(segments);
            self.detect.reordered = true;
        }
    }
}
