//! RACK-TLP (RFC 8985) with proportional rate reduction (RFC 6937, RFC 9937), as Linux 7 has them: a segment is lost once
//! one sent later has arrived and a reordering window has passed; a probe follows a silence.
//!
//! The sender goes through the states of [`CongestionState`]; what it shares with Linux's other scheme is in
//! [`Linux`].

use ecnlab_base::{Dur, Time};

use super::{
    Burst, CaState, CongestionState, Delivery, FastRetransAlert, Linux, LossDetection, Prefer, Reordering, is_before,
};
use crate::config::Config;
use crate::facts::Facts;
use crate::flight::{Chunk, Cx, DUP_THRESH, Flight, How, Outstanding, timestamp};
use crate::wheel;

/// What there is to know of it.
pub const FACTS: Facts = Facts {
    name: "rack",
    label: "RACK-TLP",
    summary: "Losses detected by the time at which a segment was sent, a probe after a silence, and a proportional reduction of the window (RACK-TLP, PRR).",
    reference: "RFC 8985; RFC 6937; RFC 9937; RFC 5682; Linux, net/ipv4/tcp_recovery.c and tcp_input.c",
    without_sack: Some("linux-newreno"),
    leaves_window: true,
    ..Facts::PLAIN
};

/// What the sender's deadline is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Timer {
    /// A retransmission timeout, or a probe of a closed window.
    #[default]
    Timeout,
    /// What may be reordered is then lost (RFC 8985 §6.2 step 5).
    Reordering,
    /// A tail loss probe (RFC 8985 §7.2).
    Probe,
}

/// What the next burst begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum First {
    /// What the window admits.
    #[default]
    Nothing,
    /// The first segment outstanding, whatever the window: after a timeout.
    Head,
    /// A probe: a new segment beyond the window, or else the last one again.
    Probe,
}

/// The least time to a timer beyond what it waits for (Linux: TCP_TIMEOUT_MIN_US).
const SLACK: Dur = Dur::from_ms(2);

/// The finest tick of a timer (Linux: HZ).
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
    /// The probe under way, and whether this burst holds one of new data.
    probe: TailProbe,
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
        tx.scoreboard.take_reports(|s| {
            detect.advance(s, cx.now);
            delivery.report(s);
        });
        delivery.head_sent = tx.scoreboard.head().map(|s| s.sent);
        let (echoed, iss) = (delivery.echoed, tx.iss);
        // The ACK was sent before the segment was sent again.
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
        // A later segment's report does not put off the timeout of the first one (tcp_clean_rtx_queue).
        if let (false, Some((first, _)), Some(head)) = (delivery.advanced, delivery.reported, delivery.head_sent) {
            delivery.set_timer |= first < head;
        }
    }

    fn note_arrival(&mut self, tx: &mut Flight, delivery: &Delivery, cx: &mut Cx) {
        self.note_reordering(tx, delivery.late);
        let repaired = self.probe().on_ack(tx.una, delivery.is_bare());
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

    /// From here it is the retransmission timer, whatever it was.
    fn head_sent_again(&mut self) -> bool {
        let sets = self.timer != Timer::Reordering;
        if sets {
            self.timer = Timer::Timeout;
        }
        sets
    }

    fn after_burst(&mut self, tx: &mut Flight, burst: Burst, config: &Config, now: Time) {
        if burst.new == 0 {
            return;
        }
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
        // What was sent within the last round trip may yet arrive.
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

    /// The kernel's tcp_set_xmit_timer: a probe if one may be, or else the timeout.
    fn set_timer(&mut self, tx: &mut Flight, config: &Config, now: Time) {
        if tx.scoreboard.is_empty() || !self.schedule_probe(tx, config, now, true) {
            self.rearm(tx, config, now);
        }
    }

    /// The kernel's tcp_rearm_rto: a whole timeout from now; in place of another timer, what was left of the timeout.
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

    /// §7.2, the kernel's tcp_schedule_loss_probe; whether a probe is due before the timeout. `restarted` says that the
    /// timeout counts from now.
    fn schedule_probe(&mut self, tx: &mut Flight, config: &Config, now: Time, restarted: bool) -> bool {
        let Some(head) =
            tx.scoreboard.head().filter(|_| matches!(self.congestion.ca_state, CaState::Open | CaState::Cwr))
        else {
            return false;
        };
        let wait = TailProbe::wait(tx.timer.rto.smoothed(config).0, tx.scoreboard.len(), config);
        let timeout = if restarted { now } else { head.sent }.saturating_add(tx.timer.rto.current());
        let probe = now.saturating_add(wait);
        let at = if timeout > now { probe.min(timeout) } else { probe };
        self.set(tx, Timer::Probe, wheel::due(config.timer_wheel, now, at.since(now)));
        true
    }

    /// The probe under way. A reduction ends what it might tell (tcp_init_cwnd_reduction, tcp_enter_loss).
    fn probe(&mut self) -> &mut TailProbe {
        if self.congestion.has_reduced() {
            self.probe.forget();
        }
        &mut self.probe
    }

    /// §7.3: one probe, unless one is under way.
    fn on_probe_timer(&mut self, tx: &mut Flight, cx: &mut Cx) {
        if !self.probe().is_out() {
            self.first = First::Probe;
            // The timeout counts from the probe.
            self.timer = Timer::Timeout;
        }
        self.congestion.prefer = Prefer::New;
        self.rearm(tx, cx.config, cx.now);
    }

    /// The probe: a new segment, or the last one again.
    fn next_probe(&mut self, tx: &mut Flight) -> Option<Chunk> {
        let new = tx.in_order();
        self.probes_new = new.is_some();
        let chunk = new.or_else(|| tx.scoreboard.tail().map(|s| s.again(tx.una, How::Rescue)))?;
        self.probe().sent(tx.max.max(chunk.start + u64::from(chunk.len) + u64::from(chunk.fin)), new.is_none());
        Some(chunk)
    }

    // ---- what is lost (RFC 8985 §6.2) ----

    /// Looks for losses, if something has arrived; whether a timer now runs for those that may yet come.
    fn find_lost(&mut self, tx: &mut Flight, delivery: &mut Delivery, cx: &Cx) -> bool {
        let news = std::mem::take(&mut self.detect.advanced) | self.congestion.looks_again();
        if !news {
            return false;
        }
        let wait = self.detect_loss(tx, delivery, cx);
        let waits = !wait.is_zero();
        if waits {
            let wait = (wait + SLACK).min(tx.timer.rto.current());
            self.set(tx, Timer::Reordering, wheel::due(cx.config.timer_wheel, cx.now, wait));
        }
        waits
    }

    /// RFC 8985 §6.2 step 5. Returns the longest time that something in flight may still take.
    fn detect_loss(&mut self, tx: &mut Flight, delivery: &mut Delivery, cx: &Cx) -> Dur {
        let detect = &self.detect;
        let srtt = tx.timer.rto.smoothed(cx.config).0;
        let late = detect.path.window(self.congestion.in_recovery(), tx.scoreboard.sacked(), srtt);
        let mut wait = Dur::ZERO;
        delivery.lost += tx.scoreboard.judge(|s| {
            if (s.sent, s.end()) >= (detect.sent, detect.end) {
                return None;
            }
            let remaining = detect.remaining(s, late, cx.now);
            wait = wait.max(remaining);
            Some(remaining.is_zero())
        });
        wait
    }

    /// What may have been reordered has not come: it is lost.
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

    /// The kernel's tcp_check_sack_reordering: `late` has arrived after what was sent behind it.
    fn note_reordering(&mut self, tx: &Flight, late: Option<u64>) {
        if let Some(late) = late {
            self.detect.path.note_late(late, tx.scoreboard.highest().max(tx.una), tx.mss);
        }
    }

    /// ECN at a window of one segment leaves nothing but the timeout to wait for.
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
    /// Of what has arrived, when the last sent was sent, and its end (RACK.xmit_ts, RACK.end_seq).
    sent: Time,
    end: u64,
    /// How long the segment that arrived last was under way (RACK.rtt).
    rtt: Dur,
    /// Something has arrived since losses were last looked for.
    advanced: bool,
    /// The least RTT, and how far the path reorders.
    path: Reordering,
}

impl Detect {
    /// A segment has arrived (§6.2 step 2).
    fn advance(&mut self, segment: &Outstanding, now: Time) {
        let rtt = now.since(segment.sent);
        // An ACK sooner than any before is of the first copy.
        if segment.ever_retransmitted && self.path.too_soon(rtt) {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if (segment.sent, segment.end()) > (self.sent, self.end) {
            (self.sent, self.end) = (segment.sent, segment.end());
        }
    }

    /// How long from now `segment`, should it not arrive, is taken for lost; zero is now.
    fn remaining(&self, segment: &Outstanding, late: Dur, now: Time) -> Dur {
        let rtt = Dur::from_ps(self.rtt.ps().saturating_add(late.ps()));
        rtt.saturating_sub(now.since(segment.sent))
    }

    /// Whether a timeout finds `segment` lost.
    fn overdue(&self, segment: &Outstanding, now: Time) -> bool {
        self.remaining(segment, Dur::ZERO, now).is_zero()
    }
}

/// The probe that is not yet accounted for.
#[derive(Clone, Copy, Debug, Default)]
struct TailProbe {
    /// What was sent when it went ends here (TLP.end_seq).
    end: Option<u64>,
    /// It was a retransmission (TLP.is_retrans).
    again: bool,
}

impl TailProbe {
    /// How long the silence before a probe lasts (§7.2, PTO), with so many segments `outstanding` and a smoothed RTT of
    /// `srtt`, zero before the first sample.
    fn wait(srtt: Dur, outstanding: u32, config: &Config) -> Dur {
        match (srtt.is_zero(), outstanding) {
            (true, _) => config.initial_rto,
            // The ACK of a single segment may be delayed.
            (false, 1) => srtt * 2 + config.min_rto,
            (false, _) => srtt * 2 + SLACK,
        }
    }

    /// A probe leaves. All that was sent, itself included, ends at `end`; it may have been sent before, too (`again`).
    fn sent(&mut self, end: u64, again: bool) {
        *self = TailProbe { end: Some(end), again };
    }

    /// Whether one is under way: there is one at a time (§7.3).
    fn is_out(&self) -> bool {
        self.end.is_some()
    }

    /// What it may tell is known otherwise.
    fn forget(&mut self) {
        self.end = None;
    }

    /// Whether an ACK up to `una` proves a loss that the probe has repaired (§7.4.2); ends the episode where it can. A
    /// `duplicate` acknowledges nothing and reports nothing.
    fn on_ack(&mut self, una: u64, duplicate: bool) -> bool {
        let Some(end) = self.end.filter(|end| una >= *end) else { return false };
        if self.again && una > end {
            return true;
        }
        // New data has arrived, or a bare duplicate tells that both copies have.
        if !self.again || duplicate {
            self.end = None;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::CongestionControl;
    use crate::config::{EcnResponse, RttSampling};
    use crate::flight::Scoreboard;
    use crate::profile;
    use crate::recovery::Scheme;
    use crate::recovery::linux::host::{Host, at, bare_ack};
    use crate::sender::InUse;
    use crate::sender::Sender;

    fn ms(ms: u64) -> Dur {
        Dur::from_ms(ms)
    }

    /// A host that sends so many segments at 100 ms, and has timers that fire on time.
    fn sending(segments: u64) -> Host {
        with_wheel(segments, Dur::ZERO)
    }

    fn with_wheel(segments: u64, timer_wheel: Dur) -> Host {
        Host::sending(segments, Config { timer_wheel, ..profile("linux-7").unwrap().config.clone() })
    }

    impl Host {
        /// A duplicate ACK with SACK of the segments from `first` to `last`, counted from 1.
        fn sacked(&mut self, time: u64, first: u64, last: u64) {
            let (start, end) = (1 + (first - 1) * 1_000, 1 + last * 1_000);
            self.tx.scheme.on_sacked(&mut self.tx.flight, start, end, end - start);
            self.ack(time, self.tx.flight.una, true);
        }

        fn rack(&self) -> &RackState {
            &self.scheme().0.detection
        }

        fn scheme(&self) -> &Rack {
            match &self.tx.scheme {
                InUse::Rack(rack) => rack,
                _ => panic!("another scheme"),
            }
        }

        fn rack_mut(&mut self) -> &mut RackState {
            match &mut self.tx.scheme {
                InUse::Rack(rack) => &mut rack.0.detection,
                _ => panic!("another scheme"),
            }
        }

        /// What the timer is for, and how long it has from `time`.
        fn timer(&self, time: u64) -> (Timer, Dur) {
            (self.rack().timer, self.tx.flight.timer.deadline.since(at(time)))
        }
    }

    #[test]
    fn a_probe_is_due_after_two_round_trips_or_with_the_timeout() {
        assert_eq!(sending(10).timer(100), (Timer::Probe, ms(202)));
        // A single segment's would be due after 200 ms and `min_rto`, another 200. The timeout is SRTT + 200 ms.
        assert_eq!(sending(1).timer(100), (Timer::Probe, ms(300)));
    }

    #[test]
    fn a_hole_is_lost_a_reordering_window_after_what_was_sent_later_has_come() {
        let mut host = sending(10);
        host.sacked(200, 2, 2);
        // The first has 25 ms more, a quarter of the RTT, and the timer 2 ms of slack.
        assert_eq!(host.timer(200), (Timer::Reordering, ms(27)));
        assert_eq!((host.rack().congestion.ca_state, host.tx.flight.scoreboard.lost()), (CaState::Disorder, 0));
        assert!(host.burst(200).is_empty(), "there is no new data");
        assert!(host.with(227, Sender::on_timer));
        assert_eq!((host.rack().congestion.ca_state, host.tx.flight.scoreboard.lost()), (CaState::Recovery, 1));
        assert_eq!(host.burst(227), [1]);
    }

    #[test]
    fn three_segments_above_a_hole_are_enough() {
        let mut host = sending(10);
        host.sacked(200, 2, 4);
        assert_eq!((host.rack().congestion.ca_state, host.tx.flight.scoreboard.lost()), (CaState::Recovery, 1));
        assert_eq!(host.scheme().lost(&host.tx.flight), 1_000);
        assert_eq!(host.burst(200), [1]);
        // Should that be lost too, no probe follows it.
        assert_eq!(host.timer(200), (Timer::Timeout, ms(300)));
    }

    #[test]
    fn a_probe_sends_the_last_segment_again_and_then_the_timeout_runs() {
        let mut host = sending(10);
        assert!(host.with(302, Sender::on_timer));
        assert_eq!(host.burst(302), [9_001]);
        // RFC 8985 §7.3: from the probe a whole timeout.
        assert_eq!(host.timer(302), (Timer::Timeout, ms(300)));
        assert!(!host.with(602, Sender::on_timer), "the timeout is everybody's");
    }

    #[test]
    fn every_timer_is_on_the_wheel() {
        let mut host = with_wheel(10, ms(1));
        // From 100 ms on: the probe's 202 ms end at 302, after which 304 is the first multiple of 8.
        assert_eq!(host.timer(100), (Timer::Probe, ms(204)));
        // The reordering timer's 27 ms end at 227.
        host.sacked(200, 2, 2);
        assert_eq!(host.timer(200), (Timer::Reordering, ms(28)));
        // The timeout's 300 ms end at 528, a multiple of 8, which may be early.
        assert!(host.with(228, Sender::on_timer));
        assert_eq!(host.burst(228), [1]);
        assert_eq!(host.timer(228), (Timer::Timeout, ms(308)));
    }

    #[test]
    fn an_arrival_too_soon_for_a_retransmission_is_of_the_first_copy() {
        let mut detect = Detect::default();
        detect.path.note_rtt(ms(100));
        let mut scoreboard = Scoreboard::default();
        scoreboard.sent(1, 1_000, false, false, at(0));
        scoreboard.sent(1, 1_000, false, false, at(150));
        let again = *scoreboard.head().unwrap();
        detect.advance(&again, at(249));
        assert!(!detect.advanced);
        detect.advance(&again, at(250));
        assert_eq!((detect.advanced, detect.rtt, detect.sent), (true, ms(100), at(150)));
        // Sent at 160 ms, another has until 260 ms, and 25 ms more if it may be late.
        let next = Outstanding { sent: at(160), ..again };
        assert_eq!(detect.remaining(&next, ms(25), at(250)), ms(35));
        assert!(!detect.overdue(&next, at(259)) && detect.overdue(&next, at(260)));
    }

    #[test]
    fn only_a_report_of_what_was_sent_before_the_first_segment_restarts_the_timer() {
        let mut host = sending(1);
        let restarts = |sent| {
            let reported = Some((at(sent), at(sent)));
            let mut delivery = Delivery::new(&bare_ack(1), 1, 1, 0);
            (delivery.reported, delivery.head_sent) = (reported, Some(at(200)));
            host.with(300, |tx, cx| match &mut tx.scheme {
                InUse::Rack(rack) => rack.0.detection.note_rtt(ms(100), &mut delivery, cx),
                _ => panic!("another scheme"),
            });
            delivery.set_timer
        };
        assert_eq!([199, 200, 201].map(restarts), [true, false, false]);
    }

    #[test]
    fn a_timeout_in_disorder_lowers_the_reordering_if_three_segments_were_reported() {
        // In recovery, which the reordering timer begins at 227 ms, it stays.
        for (last, recovery, high) in [(4, false, false), (3, false, true), (4, true, true)] {
            let mut host = sending(10);
            host.rack_mut().path().note_late(1, 9_001, 1_000);
            host.sacked(200, 2, last);
            assert_eq!(host.rack().congestion.ca_state, CaState::Disorder);
            if recovery {
                assert!(host.with(227, Sender::on_timer));
            }
            host.with(500, Sender::on_timeout);
            assert_eq!(host.rack_mut().path().is_high(), high);
        }
    }

    #[test]
    fn a_probe_with_fin_ends_behind_it() {
        let mut host = sending(10);
        host.tx.flight.write(500);
        host.tx.flight.closing = true;
        assert!(host.with(302, Sender::on_timer));
        assert_eq!(host.burst(302), [10_001]);
        assert_eq!(host.rack().probe.end, Some(10_502));
    }

    #[test]
    fn a_hold_of_ecn_has_the_timeout_in_place_of_any_other_timer() {
        let config = profile("linux-7").unwrap().config.clone();
        let standard = Config { ecn_response: EcnResponse::Standard, timer_wheel: Dur::ZERO, ..config };
        let mut host = Host::sending(10, standard);
        host.sacked(200, 2, 2);
        host.tx.flight.law.set_cwnd(1_000);
        host.with(210, |tx, cx| tx.scheme.reduce_for_ecn(&mut tx.flight, 0, cx));
        assert!(host.tx.flight.is_held());
        assert_eq!(host.timer(210), (Timer::Timeout, ms(300)));
    }

    #[test]
    fn what_it_cannot_be_combined_with_names_its_key() {
        let refused = |change: fn(&mut Config)| {
            let mut config = profile("linux-7").unwrap().config.clone();
            change(&mut config);
            config.check().unwrap_err().key
        };
        assert_eq!(refused(|c| c.sack = false), "sack");
        assert_eq!(refused(|c| c.rtt_sampling = RttSampling::TimedSegment), "rtt_sampling");
        assert_eq!(refused(|c| c.ecn_response = EcnResponse::Ns2), "ecn_response");
    }

    #[test]
    fn a_probe_waits_two_round_trips_and_for_a_delayed_ack() {
        let config = &profile("linux-7").unwrap().config;
        assert_eq!(TailProbe::wait(Dur::ZERO, 3, config), Dur::from_ms(1_000), "the first timeout");
        assert_eq!(TailProbe::wait(Dur::from_ms(30), 3, config), Dur::from_ms(62));
        assert_eq!(TailProbe::wait(Dur::from_ms(30), 1, config), Dur::from_ms(260));
    }

    #[test]
    fn an_ack_beyond_a_probe_that_was_a_retransmission_tells_of_a_loss() {
        let mut probe = TailProbe::default();
        probe.sent(5_001, true);
        assert!(!probe.on_ack(4_001, false) && !probe.on_ack(5_001, false), "one copy has come");
        assert!(probe.on_ack(6_001, false), "and no second");
        probe.sent(5_001, true);
        assert!(!probe.on_ack(5_001, true) && !probe.is_out(), "both have");
    }

    #[test]
    fn a_probe_of_new_data_tells_of_nothing() {
        let mut probe = TailProbe::default();
        probe.sent(5_001, false);
        assert!(!probe.on_ack(4_001, false) && probe.is_out());
        assert!(!probe.on_ack(5_001, false) && !probe.is_out());
        probe.sent(5_001, false);
        assert!(!probe.on_ack(6_001, false) && !probe.is_out());
    }
}
