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
        self.tx.scheme.on_sacked(&mut self.tx.flight, start..end, end - start, Time::ZERO);
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
    assert!(host.rack().congestion.probe.ends_at(10_502));
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
fn an_ack_beyond_a_probe_that_was_a_retransmission_shows_a_loss() {
    let mut probe = TailProbe::default();
    probe.sent(5_001, true);
    assert!(!probe.on_ack(4_001, false, false) && !probe.on_ack(5_001, false, false), "one copy has come");
    assert!(probe.on_ack(6_001, false, false), "and no second");
    probe.sent(5_001, true);
    assert!(!probe.on_ack(5_001, true, false) && !probe.is_out(), "both have");
    probe.sent(5_001, true);
    assert!(!probe.on_ack(6_001, false, true) && !probe.is_out(), "a D-SACK reports the second");
}

#[test]
fn a_probe_of_new_data_shows_no_loss() {
    let mut probe = TailProbe::default();
    probe.sent(5_001, false);
    assert!(!probe.on_ack(4_001, false, false) && probe.is_out());
    assert!(!probe.on_ack(5_001, false, false) && !probe.is_out());
    probe.sent(5_001, false);
    assert!(!probe.on_ack(6_001, false, false) && !probe.is_out());
}
