use super::*;
use crate::counters::Counters;
use crate::ecn;
use crate::profile;
use crate::recovery::linux::host::bare_ack;
use crate::registry::EcnKind;
use ecnlab_base::Time;
use ecnlab_wire::Seq;

/// Does `act` with a sender that has ten segments of 1000 bytes outstanding, from offset 1, in a window of ten that a
/// loss or a mark halves, and as many more to send.
fn with_ten(ecn_response: EcnResponse, act: impl FnOnce(&mut CongestionState, &mut Flight, &mut Cx)) {
    let mut config = profile("linux-7").unwrap().config.clone();
    config.mss = ecnlab_base::Bytes(1_000);
    config.congestion = profile("modern").unwrap().config.congestion.clone();
    config.ecn_response = ecn_response;
    let mut tx = Flight::new(&config, Seq(0));
    (tx.una, tx.nxt, tx.max, tx.end) = (1, 10_001, 10_001, 20_001);
    tx.set_peer_window(1 << 20, &config);
    (0..10).for_each(|n| tx.scoreboard.sent(1 + n * 1_000, 1_000, false, false, Time::ZERO));
    let (mut counters, mut ecn) = (Counters::default(), ecn::Scheme::new(EcnKind::Off));
    let mut cx = Cx { config: &config, now: Time::ZERO, counters: &mut counters, ecn: &mut ecn };
    let mut congestion = CongestionState::default();
    congestion.begin(tx.in_flight());
    act(&mut congestion, &mut tx, &mut cx);
}

/// The segments up to the n-th arrive.
fn acknowledge(tx: &mut Flight, n: u64) -> Delivery {
    let ack = 1 + n * 1_000;
    let mut delivery = Delivery::new(&bare_ack(ack), tx.una, tx.una, tx.recovery.recover);
    tx.una = ack;
    tx.scoreboard.acknowledge(tx.una, Time::ZERO, |s| delivery.acknowledge(s));
    delivery
}

#[test]
fn ecn_takes_the_window_to_half_until_something_sent_after_it_has_arrived() {
    with_ten(EcnResponse::Linux, |congestion, tx, cx| {
        congestion.enter_cwr(tx, cx);
        assert_eq!((congestion.ca_state, tx.law.cwnd(), tx.law.state().ssthresh), (CaState::Cwr, 10_000, 5_000));
        let delivery = acknowledge(tx, 10);
        congestion.on_ack(tx, &delivery);
        assert_eq!(congestion.ca_state, CaState::Cwr, "CWR has not yet reached the receiver");
        tx.una = 11_001;
        congestion.on_ack(tx, &delivery);
        assert_eq!((congestion.ca_state, tx.law.cwnd()), (CaState::Open, 5_000));
    });
}

#[test]
fn at_a_window_of_one_segment_ecn_holds_the_sender_but_in_linux() {
    for (response, window, sacked) in
        [(EcnResponse::Standard, 1, true), (EcnResponse::Standard, 2, false), (EcnResponse::Linux, 1, false)]
    {
        with_ten(response, |congestion, tx, cx| {
            tx.law.set_cwnd(window * 1_000);
            congestion.enter_cwr(tx, cx);
            assert_eq!(tx.is_held(), sacked);
        });
    }
}

#[test]
fn what_arrives_from_before_a_timeout_gives_the_window_back() {
    with_ten(EcnResponse::Linux, |congestion, tx, cx| {
        tx.scoreboard.lose_after_timeout(|_| true);
        congestion.time_out(tx, cx);
        assert_eq!((congestion.ca_state, tx.law.cwnd(), tx.law.state().ssthresh), (CaState::Loss, 1_000, 5_000));
        tx.scoreboard.sent(1, 1_000, false, false, cx.now);
        congestion.retransmitted(0);
        // The retransmission's ACK; new data may show what became of the others (F-RTO).
        let delivery = acknowledge(tx, 1);
        congestion.after_timeout(tx, &delivery);
        assert_eq!((congestion.ca_state, congestion.prefer), (CaState::Loss, Prefer::NewElseLost));
        let delivery = acknowledge(tx, 2);
        assert!(delivery.proves_original(false));
        congestion.after_timeout(tx, &delivery);
        assert_eq!((congestion.ca_state, tx.law.cwnd(), tx.scoreboard.lost()), (CaState::Open, 10_000, 0));
        assert!(congestion.looks_again());
    });
}

#[test]
fn a_recovery_ends_at_its_target_unless_it_was_for_nothing() {
    for (echoed, window) in [(Some(7), 5_000), (Some(6), 10_000)] {
        with_ten(EcnResponse::Linux, |congestion, tx, cx| {
            congestion.enter_recovery(tx, false, cx);
            tx.scoreboard.sent(1, 1_000, false, false, cx.now);
            congestion.retransmitted(7);
            let mut delivery = acknowledge(tx, 10);
            delivery.echoed = echoed;
            congestion.on_ack(tx, &delivery);
            assert_eq!((congestion.ca_state, tx.law.cwnd()), (CaState::Open, window));
        });
    }
}

#[test]
fn without_sack_a_recovery_holds_at_its_point_and_ends_above_it() {
    with_ten(EcnResponse::Linux, |congestion, tx, cx| {
        *congestion = CongestionState::sackless();
        congestion.enter_recovery(tx, false, cx);
        tx.scoreboard.sent(1, 1_000, false, false, cx.now);
        congestion.retransmitted(7);
        let mut delivery = acknowledge(tx, 10);
        congestion.on_ack(tx, &delivery);
        assert_eq!((congestion.ca_state, congestion.holds(tx)), (CaState::Recovery, true));
        // The first retransmission is forgotten by then, and no echo can answer what was sent before it.
        delivery.echoed = Some(6);
        assert!(!congestion.was_late(tx, &delivery));
        tx.una = 11_001;
        congestion.on_ack(tx, &delivery);
        assert_eq!((congestion.ca_state, tx.law.cwnd()), (CaState::Open, 5_000));
    });
}

/// A timeout retransmits the first segment with timestamp 7; an ACK of two segments echoes 6.
fn late_original_after_timeout(congestion: &mut CongestionState, tx: &mut Flight, cx: &mut Cx) {
    tx.scoreboard.lose_after_timeout(|_| true);
    congestion.time_out(tx, cx);
    tx.scoreboard.sent(1, 1_000, false, false, cx.now);
    congestion.retransmitted(7);
    let mut delivery = acknowledge(tx, 2);
    delivery.echoed = Some(6);
    congestion.after_timeout(tx, &delivery);
}

#[test]
fn without_sack_a_late_original_gives_the_window_back_and_the_timeouts_state_stays() {
    with_ten(EcnResponse::Linux, |congestion, tx, cx| {
        *congestion = CongestionState::sackless();
        late_original_after_timeout(congestion, tx, cx);
        assert_eq!((congestion.ca_state, tx.law.cwnd(), tx.scoreboard.lost()), (CaState::Loss, 10_000, 0));
    });
}

#[test]
fn slow_start_ends_at_its_threshold_in_the_midst_of_an_ack() {
    with_ten(EcnResponse::Linux, |_, tx, _| {
        tx.law.set_cwnd(2_000);
        tx.law.set_ssthresh(4_000);
        // Two segments to the threshold; the other three are not yet a window of four.
        grow(&mut tx.law, 5_000);
        assert_eq!(tx.law.cwnd(), 4_000);
        grow(&mut tx.law, 1_000);
        assert_eq!(tx.law.cwnd(), 5_000);
    });
}

#[test]
fn a_loss_that_a_probe_has_repaired_halves_the_window_at_once() {
    with_ten(EcnResponse::Linux, |congestion, tx, cx| {
        congestion.probe.sent(10_001, true);
        congestion.reduce_at_once(tx, cx);
        assert_eq!((congestion.ca_state, tx.law.cwnd()), (CaState::Open, 5_000));
        assert!(!congestion.probe.is_out());
    });
}

#[test]
fn the_threshold_to_give_back_is_at_least_three_quarters_of_the_window() {
    with_ten(EcnResponse::Linux, |congestion, tx, _| {
        let mut kept = |ca_state, ssthresh| {
            congestion.ca_state = ca_state;
            tx.law.set_ssthresh(ssthresh);
            congestion.ssthresh(tx)
        };
        assert_eq!(kept(CaState::Open, 4_000), 7_500);
        assert_eq!(kept(CaState::Open, 9_000), 9_000);
        assert_eq!(kept(CaState::Cwr, 4_000), 4_000, "the window is on its way there");
    });
}

#[test]
fn a_timeout_reduces_once_for_a_window_of_data() {
    // Whether the timeout sets the threshold anew, after what has gone before it.
    let reduces = |before: fn(&mut CongestionState, &mut Flight, &mut Cx)| {
        let mut reduced = false;
        with_ten(EcnResponse::Linux, |congestion, tx, cx| {
            before(congestion, tx, cx);
            tx.law.set_ssthresh(20_000);
            congestion.time_out(tx, cx);
            assert!(congestion.in_recovery());
            reduced = tx.law.state().ssthresh < 20_000;
        });
        reduced
    };
    assert!(reduces(|_, _, _| {}));
    assert!(reduces(|congestion, tx, cx| congestion.reduce_at_once(tx, cx)), "the state is open");
    assert!(!reduces(|congestion, tx, cx| congestion.enter_recovery(tx, false, cx)));
    assert!(
        reduces(|congestion, tx, cx| {
            congestion.enter_recovery(tx, false, cx);
            tx.una = tx.recovery.recover;
        }),
        "all outstanding at the reduction has arrived"
    );
    assert!(!reduces(|congestion, tx, cx| congestion.time_out(tx, cx)), "the same segment again");
    assert!(
        reduces(|congestion, tx, cx| {
            congestion.time_out(tx, cx);
            tx.timer.timeouts = 0;
        }),
        "another segment"
    );
}

#[test]
fn a_timeout_in_recovery_is_not_taken_for_spurious() {
    for (recovers, spurious) in [(false, true), (true, false)] {
        with_ten(EcnResponse::Linux, |congestion, tx, cx| {
            if recovers {
                congestion.enter_recovery(tx, false, cx);
            }
            congestion.time_out(tx, cx);
            assert_eq!(congestion.frto, spurious);
            // What is not taken for lost is in flight, and one segment more may leave.
            assert_eq!(tx.law.cwnd(), 11_000);
            congestion.time_out(tx, cx);
            assert!(congestion.frto, "the same segment again");
        });
    }
}

#[test]
fn a_duplicate_after_new_data_proves_a_timeout_right() {
    // RFC 5682 §3.1 step 3 (a).
    for (sacked, duplicate, spurious) in [(false, false, true), (true, false, false), (false, true, false)] {
        with_ten(EcnResponse::Linux, |congestion, tx, cx| {
            tx.scoreboard.lose_after_timeout(|_| true);
            congestion.time_out(tx, cx);
            congestion.retransmitted(0);
            tx.max += 1_000;
            let mut delivery = Delivery::new(&bare_ack(1), tx.una, tx.una, tx.recovery.recover);
            (delivery.sacked, delivery.duplicate) = (sacked, duplicate);
            congestion.after_timeout(tx, &delivery);
            assert_eq!((congestion.frto, congestion.prefer), (spurious, Prefer::Lost));
        });
    }
}

#[test]
fn without_new_data_a_timeout_is_taken_for_right() {
    with_ten(EcnResponse::Linux, |congestion, tx, cx| {
        congestion.time_out(tx, cx);
        congestion.nothing_new();
        assert_eq!((congestion.frto, congestion.prefer), (false, Prefer::Lost));
    });
}

#[test]
fn with_sack_a_late_original_ends_what_the_timeout_began() {
    with_ten(EcnResponse::Linux, |congestion, tx, cx| {
        late_original_after_timeout(congestion, tx, cx);
        assert_eq!((congestion.ca_state, tx.law.cwnd()), (CaState::Open, 10_000));
        assert!(congestion.looks_again() && !congestion.looks_again());
    });
}

#[test]
fn what_is_sacked_or_lost_is_disorder() {
    with_ten(EcnResponse::Linux, |congestion, tx, _| {
        tx.scoreboard.report(1_001, 2_001, 1_000);
        tx.scoreboard.take_reports(Time::ZERO, |_| {});
        tx.scoreboard.lose_after_timeout(|_| true);
        assert_eq!((tx.scoreboard.sacked(), tx.scoreboard.lost()), (1, 9));
        congestion.keep_open(tx);
        assert_eq!(congestion.ca_state, CaState::Disorder);
    });
}

#[test]
fn a_reduction_has_its_cause_and_counts_no_probe() {
    with_ten(EcnResponse::Linux, |congestion, tx, cx| {
        congestion.enter_cwr(tx, cx);
        assert_eq!(tx.recovery.cause, Cause::Ecn);
        let before = congestion.prr;
        congestion.sent(tx, Chunk { start: 9_001, len: 1_000, fin: false, how: How::Rescue }, cx);
        assert_eq!(congestion.prr, before);
    });
    with_ten(EcnResponse::Linux, |congestion, tx, cx| {
        congestion.enter_recovery(tx, false, cx);
        assert_eq!(tx.recovery.cause, Cause::Loss);
    });
}
