//! RACK-TLP (RFC 8985) with Proportional Rate Reduction (RFC 6937, RFC 9937), as in Linux 7: a segment is lost if one
//! sent later has arrived and the reordering window has passed. A probe is sent if no ACK arrives for some time.
//!
//! The sender uses the states of [`CongestionState`]; the common part of Linux's schemes is in [`Linux`].

use ecnlab_base::{Dur, Time};

use super::tail_probe::TailProbe;
use super::{
    Burst, CaState, CongestionState, Delivery, FastRetransAlert, Linux, LossDetection, Prefer, Reordering, is_before,
};
use crate::config::Config;
use crate::facts::Facts;
use crate::flight::{Chunk, Cx, DUP_THRESH, Flight, How, Outstanding, timestamp};
use crate::wheel;

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "rack",
    label: "RACK-TLP",
    summary: "Losses detected by the time at which a segment was sent, a probe after a silence, and a proportional reduction of the window (RACK-TLP, PRR).",
    reference: "RFC 8985; RFC 6937; RFC 9937; RFC 5682; Linux, net/ipv4/tcp_recovery.c and tcp_input.c",
    without_sack: Some("linux-newreno"),
    leaves_window: true,
    ..Facts::PLAIN
};

/// Purpose of the sender's timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Timer {
    /// Retransmission timeout, or probe of a closed window.
    #[default]
    Timeout,
    /// Reordering timer: segments that may be reordered are then lost (RFC 8985 §6.2 step 5).
    Reordering,
    /// Tail loss probe (RFC 8985 §7.2).
    Probe,
}

/// First chunk of the next burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum First {
    /// A chunk that the window admits.
    #[default]
    Nothing,
    /// The first outstanding segment, regardless of the window: after a timeout.
    Head,
    /// A probe: a new segment beyond the window, or else a retransmission of the last one.
    Probe,
}

/// Timer resolution (Linux: HZ).
const TICK: Dur = Dur::from_ms(1);

/// RACK-TLP.
pub(crate) type Rack = Linux<RackState>;

/// The state of the scheme.
#[derive(Clone, Debug, Default)]
pub(crate) struct RackState {
    congestion: CongestionState,
    detect: Detect,
    timer: Timer,
    first: First,
    /// This burst contains a probe of new data.
    probes_new: bool,
}

impl LossDetection for RackState {
    const HEEDS_SACK: bool = true;
    const ARMS_EACH: bool = false;

    fn path(&mut self) -> &mut Reordering {
        &mut self.detect.path
    }

    fn take_in(&mut self, tx: &mut Flight, ack: u64, delivery: &mut Delivery, cx: &Cx) {
        let detect = &mut self.detect;
        tx.scoreboard.take_reports(cx.now, |s| {
            detect.advance(s, cx.now);
            delivery.report(s);
        });
        delivery.head_sent = tx.scoreboard.head().map(|s| s.sent);
        let (echoed, iss) = (delivery.echoed, tx.iss);
        // Whether the ACK was sent before the segment was retransmitted.
        let of_first = |s: &Outstanding| {
            let again = timestamp(cx.config, iss, s.sent);
            s.ever_retransmitted && echoed.is_some_and(|echoed| is_before(echoed, again))
        };
        tx.scoreboard.acknowledge(ack, cx.now, |s| {
            delivery.acknowledge(s);
            if !s.sacked && !of_first(s) {
                detect.advance(s, cx.now);
            }
        });
        if delivery.advanced {
            tx.acknowledge(ack);
            delivery.set_timer = true;
        }
        if tx.scoreboard.is_empty() {
            self.timer = Timer::Timeout;
        }
    }

    fn note_rtt(&mut self, rtt: Dur, delivery: &mut Delivery, cx: &Cx) {
        self.detect.path.note_rtt(delivery.last_timed().map_or(rtt, |last| cx.now.since(last)));
        // The SACK of a later segment does not postpone the timeout of the first one (tcp_clean_rtx_queue).
        if let (false, Some((first, _)), Some(head)) = (delivery.advanced, delivery.reported, delivery.head_sent) {
            delivery.set_timer |= first < head;
        }
    }

    fn note_arrival(&mut self, tx: &mut Flight, delivery: &Delivery, cx: &mut Cx) {
        let duplicates = delivery.duplicates;
        if duplicates.segments > 0 && !duplicates.of_probe && self.detect.path.was_seen() {
            self.congestion.steps.note_duplicate();
        }
        self.note_reordering(tx, delivery.late);
        if self.congestion.steps.may_change() {
            self.congestion.steps.adapt(delivery.newest, cx.now);
        }
        let repaired = self.congestion.probe.on_ack(tx.una, delivery.is_bare(), duplicates.of_probe);
        if repaired && !delivery.idle {
            self.congestion.reduce_at_once(tx, cx);
        }
    }

    fn restart_timer(&mut self, tx: &mut Flight, delivery: &Delivery, cx: &Cx) {
        if delivery.set_timer {
            self.set_timer(tx, cx.config, cx.now);
        }
    }

    fn next(&mut self, tx: &mut Flight) -> Option<Chunk> {
        match std::mem::take(&mut self.first) {
            First::Head => return tx.scoreboard.head().map(|s| s.again(tx.una, How::InOrder)),
            First::Probe => return self.next_probe(tx),
            First::Nothing => {}
        }
        self.congestion.next(tx)
    }

    /// The retransmission restarts the timer as retransmission timer.
    fn head_sent_again(&mut self) -> bool {
        let sets = self.timer != Timer::Reordering;
        if sets {
            self.timer = Timer::Timeout;
        }
        sets
    }

    #[inline(never)]
    fn after_burst(&mut self, tx: &mut Flight, burst: Burst, config: &Config, now: Time) {
        if burst.was_empty || self.timer == Timer::Probe {
            self.rearm(tx, config, now);
        }
        if !std::mem::take(&mut self.probes_new) {
            self.schedule_probe(tx, config, now, false);
        }
    }

    fn on_timer(&mut self, tx: &mut Flight, cx: &mut Cx) -> bool {
        match self.timer {
            Timer::Timeout => return false,
            Timer::Reordering => self.on_reordering_timer(tx, cx),
            Timer::Probe => self.on_probe_timer(tx, cx),
        }
        true
    }

    fn on_timeout(&mut self, tx: &mut Flight, cx: &mut Cx) {
        let reneges = tx.scoreboard.head().is_some_and(|s| s.sacked);
        if reneges {
            tx.scoreboard.forget_sacked();
            tx.sacked.clear();
        }
        let detect = &self.detect;
        // Segments sent within the last round trip may still arrive.
        tx.scoreboard.lose_after_timeout(|s| reneges || detect.overdue(s, cx.now));
        if self.congestion.ca_state <= CaState::Disorder && tx.scoreboard.sacked() >= DUP_THRESH {
            self.detect.path.lower();
        }
        self.timer = Timer::Timeout;
        self.first = First::Head;
        self.congestion.time_out(tx, cx);
    }
}

impl RackState {
    // ---- the timer ----

    /// The kernel's tcp_set_xmit_timer: schedules a probe if allowed, or else the timeout.
    fn set_timer(&mut self, tx: &mut Flight, config: &Config, now: Time) {
        if tx.scoreboard.is_empty() || !self.schedule_probe(tx, config, now, true) {
            self.rearm(tx, config, now);
        }
    }

    /// The kernel's tcp_rearm_rto: sets a full timeout from now; if another timer was running, the rest of the timeout.
    fn rearm(&mut self, tx: &mut Flight, config: &Config, now: Time) {
        let timer = std::mem::take(&mut self.timer);
        if tx.is_held() {
            return;
        }
        let Some(head) = tx.scoreboard.head() else {
            tx.timer.deadline = Time::NEVER;
            return;
        };
        let from = if timer == Timer::Timeout { now } else { head.sent };
        let timeout = from.saturating_add(tx.timer.rto.current());
        tx.timer.deadline = wheel::due(config.timer_wheel, now, timeout.since(now).max(TICK));
    }

    fn set(&mut self, tx: &mut Flight, timer: Timer, at: Time) {
        if !tx.is_held() {
            self.timer = timer;
            tx.timer.deadline = at;
        }
    }

    // ---- tail loss probes (RFC 8985 §7.2, §7.3) ----

    /// §7.2, the kernel's tcp_schedule_loss_probe. Returns whether a probe is scheduled. With `restarted` the timeout
    /// counts from now.
    fn schedule_probe(&mut self, tx: &mut Flight, config: &Config, now: Time, restarted: bool) -> bool {
        let Some(head) =
            tx.scoreboard.head().filter(|_| matches!(self.congestion.ca_state, CaState::Open | CaState::Cwr))
        else {
            return false;
        };
        let wait = TailProbe::wait(tx.timer.rto.srtt(), tx.scoreboard.len(), config);
        let timeout = if restarted { now } else { head.sent }.saturating_add(tx.timer.rto.current());
        let probe = now.saturating_add(wait);
        let at = if timeout > now { probe.min(timeout) } else { probe };
        self.set(tx, Timer::Probe, wheel::due(config.timer_wheel, now, at.since(now)));
        true
    }

    /// §7.3: sends a probe, unless one is outstanding.
    fn on_probe_timer(&mut self, tx: &mut Flight, cx: &mut Cx) {
        if !self.congestion.probe.is_out() {
            self.first = First::Probe;
            // The timeout counts from the transmission of the probe.
            self.timer = Timer::Timeout;
        }
        self.congestion.prefer = Prefer::New;
        self.rearm(tx, cx.config, cx.now);
    }

    /// Returns the probe: a new segment, or a retransmission of the last one.
    fn next_probe(&mut self, tx: &mut Flight) -> Option<Chunk> {
        let new = tx.in_order();
        self.probes_new = new.is_some();
        let chunk = new.or_else(|| tx.scoreboard.tail().map(|s| s.again(tx.una, How::Rescue)))?;
        self.congestion
            .probe
            .sent(tx.max.max(chunk.start + u64::from(chunk.len) + u64::from(chunk.fin)), new.is_none());
        Some(chunk)
    }

    // ---- loss detection (RFC 8985 §6.2) ----

    /// Detects losses if a segment has arrived. Returns whether a reordering timer now runs for segments that may still
    /// arrive.
    fn find_lost(&mut self, tx: &mut Flight, delivery: &mut Delivery, cx: &Cx) -> bool {
        let news = std::mem::take(&mut self.detect.advanced) | self.congestion.looks_again();
        if !news {
            return false;
        }
        let wait = self.detect_loss(tx, delivery, cx);
        let waits = !wait.is_zero();
        if waits {
            let wait = (wait + TailProbe::SLACK).min(tx.timer.rto.current());
            self.set(tx, Timer::Reordering, wheel::due(cx.config.timer_wheel, cx.now, wait));
        }
        waits
    }

    /// RFC 8985 §6.2 step 5. Returns the longest time to wait for a segment in flight.
    fn detect_loss(&mut self, tx: &mut Flight, delivery: &mut Delivery, cx: &Cx) -> Dur {
        let detect = &self.detect;
        let srtt = tx.timer.rto.srtt();
        let steps = self.congestion.steps.get();
        let late = detect.path.window(self.congestion.in_recovery(), tx.scoreboard.sacked(), steps, srtt);
        let mut wait = Dur::ZERO;
        delivery.lost += tx.scoreboard.judge(detect.sent, |s| {
            if (s.sent, s.end()) >= (detect.sent, detect.end) {
                return None;
            }
            let remaining = detect.remaining(s, late, cx.now);
            wait = wait.max(remaining);
            Some(remaining.is_zero())
        });
        wait
    }

    /// Marks lost the segments that did not arrive before the reordering timer fired.
    fn on_reordering_timer(&mut self, tx: &mut Flight, cx: &mut Cx) {
        let in_flight = tx.scoreboard.in_flight();
        self.congestion.begin(tx.in_flight());
        let mut delivery = Delivery::default();
        self.detect_loss(tx, &mut delivery, cx);
        if tx.scoreboard.in_flight() != in_flight {
            if self.congestion.ca_state != CaState::Recovery {
                self.congestion.enter_recovery(tx, false, cx);
                self.congestion.reduce(tx, 1, false);
            }
            self.congestion.prefer = Prefer::Lost;
        }
        self.rearm(tx, cx.config, cx.now);
    }

    /// The kernel's tcp_check_sack_reordering: the segment at offset `late` has arrived after segments sent later.
    fn note_reordering(&mut self, tx: &Flight, late: Option<u64>) {
        if let Some(late) = late {
            self.detect.path.note_late(late, tx.scoreboard.highest().max(tx.una), tx.mss);
        }
    }

    /// While ECN holds a window of one segment, only the timeout remains.
    fn heed_hold(&mut self, tx: &Flight) {
        if tx.is_held() {
            self.timer = Timer::Timeout;
        }
    }
}

impl FastRetransAlert for RackState {
    fn congestion(&mut self) -> &mut CongestionState {
        &mut self.congestion
    }

    fn ca_state(&self) -> CaState {
        self.congestion.ca_state
    }

    fn identify(&mut self, tx: &mut Flight, delivery: &mut Delivery, cx: &Cx) {
        if tx.scoreboard.is_empty() {
            return;
        }
        let retransmitted = tx.scoreboard.retransmitted();
        if self.find_lost(tx, delivery, cx) {
            delivery.set_timer = false;
        }
        delivery.lost_again |= tx.scoreboard.retransmitted() < retransmitted;
    }

    fn filled_late(&mut self, tx: &Flight, before: u64) {
        self.note_reordering(tx, Some(before));
    }

    fn after_calm(&mut self, tx: &Flight) {
        self.heed_hold(tx);
    }
}

/// RFC 8985 §5.3's variables.
#[derive(Clone, Copy, Debug, Default)]
struct Detect {
    /// Send time and end of the most recently sent segment that has arrived (RACK.xmit_ts, RACK.end_seq).
    sent: Time,
    end: u64,
    /// RTT of the segment that arrived last (RACK.rtt).
    rtt: Dur,
    /// A segment has arrived since the last loss detection.
    advanced: bool,
    /// Minimum RTT and reordering of the path.
    path: Reordering,
}

impl Detect {
    /// Records the arrival of a segment (§6.2 step 2).
    fn advance(&mut self, segment: &Outstanding, now: Time) {
        let rtt = now.since(segment.sent);
        // An ACK earlier than the minimum RTT acknowledges the original transmission.
        if segment.ever_retransmitted && self.path.too_soon(rtt) {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if (segment.sent, segment.end()) > (self.sent, self.end) {
            (self.sent, self.end) = (segment.sent, segment.end());
        }
    }

    /// Time until `segment` is marked lost if it does not arrive; zero means now.
    fn remaining(&self, segment: &Outstanding, late: Dur, now: Time) -> Dur {
        let rtt = Dur::from_ps(self.rtt.ps().saturating_add(late.ps()));
        rtt.saturating_sub(now.since(segment.sent))
    }

    /// Whether a timeout marks `segment` lost.
    fn overdue(&self, segment: &Outstanding, now: Time) -> bool {
        self.remaining(segment, Dur::ZERO, now).is_zero()
    }
}

#[cfg(test)]
mod tests;
