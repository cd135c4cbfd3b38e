//! ECN end to end: who agrees, what carries which bits, one reduction a window.

use std::sync::Arc;

use super::pair::{Pair, Path};
use ecnlab_base::{Bytes, Dur, Time};
use ecnlab_tcp::registry::EcnKind::{self, AccEcn, Dctcp, Off, Rfc2481, Rfc3168};
use ecnlab_tcp::{Config, profile};
use ecnlab_wire::{Ecn, Flags, Segment};

fn config(ecn: EcnKind, change: impl FnOnce(&mut Config)) -> Arc<Config> {
    let mut config = profile("modern").unwrap().config.clone();
    config.ecn = ecn;
    change(&mut config);
    Arc::new(config)
}

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Dur::from_ms(ms)
}

/// One-way delay 50 ms; endpoint 0 sends endlessly.
fn bulk(config: &Arc<Config>) -> Pair {
    let mut pair = Pair::new(config, config, [1, 2], Path::clean(Dur::from_ms(50)), 1);
    pair.write(0, u64::MAX);
    pair
}

fn data(pair: &Pair) -> impl Iterator<Item = &Segment> {
    pair.log.iter().filter(|(_, from, s)| *from == 0 && s.len > 0).map(|(_, _, s)| s)
}

#[test]
fn both_must_agree() {
    for (client, server, agreed) in [
        (Off, Off, false),
        (Rfc3168, Off, false),
        (Off, Rfc3168, false),
        (Rfc3168, Rfc3168, true),
        (Rfc2481, Rfc3168, true),
    ] {
        let (client, server) = (config(client, |_| {}), config(server, |_| {}));
        let mut pair = Pair::new(&client, &server, [1, 2], Path::clean(Dur::from_ms(50)), 1);
        pair.write(0, 10_000);
        pair.run_until(at_ms(1_000));
        assert_eq!(pair.ends[1].received(), 10_000);
        for end in &pair.ends {
            assert_eq!(end.ecn_negotiated(), agreed);
        }
        assert!(data(&pair).all(|s| s.ecn.is_capable() == agreed));
        assert!(pair.log.iter().all(|(_, _, s)| s.len > 0 || s.ecn == Ecn::NotEct), "SYNs and ACKs are Not-ECT");
    }
}

#[test]
fn a_syn_that_timed_out_stops_asking() {
    for fallback in [true, false] {
        let config = config(Rfc3168, |c| c.ecn_syn_fallback = fallback);
        let mut pair = Pair::new(&config, &config, [1, 2], Path { loss: 1.0, ..Path::clean(Dur::from_ms(50)) }, 1);
        // The first SYN is lost; its timeout is 1 s.
        pair.run_until(at_ms(500));
        pair.path.loss = 0.0;
        pair.run_until(at_ms(3_000));
        let syns: Vec<_> = pair.log.iter().filter(|(_, from, s)| *from == 0 && s.flags.contains(Flags::SYN)).collect();
        assert_eq!(syns.len(), 2);
        assert!(syns[0].2.flags.contains(Flags::ECE | Flags::CWR));
        assert_eq!(syns[1].2.flags.contains(Flags::ECE | Flags::CWR), !fallback);
        assert_eq!(pair.ends[0].ecn_negotiated(), !fallback);
    }
}

#[test]
fn many_marks_in_a_window_are_one_reduction_and_one_cwr() {
    for ecn in [Rfc2481, Rfc3168] {
        let mut pair = bulk(&config(ecn, |_| {}));
        // Segments 1 to 10 are the initial window.
        pair.mark_data[0] = vec![3, 5, 8];
        pair.run_until(at_ms(240));
        let c = pair.ends[0].counters();
        assert_eq!((c.ecn_reductions, c.cwr_sent, c.retransmits()), (1, 1, 0));
        assert_eq!(pair.ends[1].counters().ce_received, 3);
        // The ACK of 1 and 2 lets four more out: 12 segments in flight. The ACK of 3 and 4 brings ECE: half of 12.
        assert_eq!(pair.ends[0].sample().ssthresh, 6 * 1448);
    }
}

#[test]
fn ece_is_latched_until_cwr_arrives() {
    let mut pair = bulk(&config(Rfc3168, |_| {}));
    pair.mark_data[0] = vec![1];
    pair.run_until(at_ms(800));
    let marked = pair
        .log
        .iter()
        .position(|(_, from, s)| {
            *from == 1 && s.flags.contains(Flags::ECE) && s.len == 0 && !s.flags.contains(Flags::SYN)
        })
        .unwrap();
    let cwr = pair.log.iter().find(|(_, from, s)| *from == 0 && s.flags.contains(Flags::CWR) && s.len > 0).unwrap();
    let arrived = cwr.0 + Dur::from_ms(50);
    for (at, from, s) in &pair.log[marked..] {
        if *from == 1 && *at < arrived {
            assert!(s.flags.contains(Flags::ECE), "at {at}");
        }
        if *from == 1 && *at > arrived {
            assert!(!s.flags.contains(Flags::ECE), "at {at}");
        }
    }
}

#[test]
fn retransmissions_are_ect_in_rfc_2481_and_not_in_rfc_3168() {
    for (ecn, codepoint) in [(Rfc2481, Ecn::Ect0), (Rfc3168, Ecn::NotEct)] {
        let mut pair = bulk(&config(ecn, |_| {}));
        pair.drop_data[0] = vec![4];
        pair.run_until(at_ms(500));
        let mut highest = None;
        let mut resent = Vec::new();
        for s in data(&pair) {
            if highest.is_some_and(|h: ecnlab_wire::Seq| s.seq.before(h)) {
                resent.push(*s);
            }
            highest = Some(highest.map_or(s.end(), |h: ecnlab_wire::Seq| h.max(s.end())));
        }
        assert_eq!(resent.len(), 1);
        assert_eq!(resent[0].ecn, codepoint);
        // CWR announces the reduction: on that very segment, or on the first new one.
        assert_eq!(resent[0].flags.contains(Flags::CWR), ecn == Rfc2481);
        assert_eq!(data(&pair).filter(|s| s.flags.contains(Flags::CWR)).count(), 1);
    }
}

#[test]
fn a_loss_in_a_window_already_reduced_for_a_mark_does_not_reduce_again() {
    let run = |drop: Vec<u64>| {
        let mut pair = bulk(&config(Rfc3168, |_| {}));
        pair.mark_data[0] = vec![1];
        pair.drop_data[0] = drop;
        pair.run_until(at_ms(350));
        pair
    };
    let (marked, both) = (run(vec![]), run(vec![6]));
    let c = both.ends[0].counters();
    assert_eq!((c.ecn_reductions, c.fast_recoveries, c.retransmits_fast), (1, 1, 1));
    assert_eq!(both.ends[0].sample().ssthresh, marked.ends[0].sample().ssthresh);
}

#[test]
fn at_one_segment_the_timer_passes_before_the_next() {
    let config = config(Rfc3168, |c| {
        c.initial_window = 1;
        c.ack_every = 1;
    });
    let mut pair = bulk(&config);
    // The first segment is marked; its ACK is back at 200 ms. RTO: two samples of 100 ms give
    // 4·RTTVAR = 4·3/4·50 = 150, less than 200, so RTO = 100 + 200 = 300 ms.
    pair.mark_data[0] = vec![1];
    pair.run_until(at_ms(2_000));
    let sent: Vec<_> = pair.log.iter().filter(|(_, from, s)| *from == 0 && s.len > 0).map(|(at, ..)| at.ms()).collect();
    assert_eq!(sent[..2], [100, 200 + 300]);
    let c = pair.ends[0].counters();
    assert_eq!((c.ecn_holds, c.timeouts, c.retransmits()), (1, 0, 0));
}

#[test]
fn an_ack_with_ece_does_not_open_the_window() {
    let config = config(Rfc3168, |c| {
        c.receive_buffer = Bytes(1 << 20);
        c.ack_every = 1;
    });
    let mut pair = bulk(&config);
    pair.mark_data[0] = vec![1];
    // The ten ACKs of the initial window come at 200 ms. The first reduces; none grows.
    pair.run_until(at_ms(200));
    let s = pair.ends[0].sample();
    assert_eq!(s.cwnd, 5 * 1448);
}

#[test]
fn a_sender_counts_each_marked_segment_and_no_other() {
    let counted = |ecn| {
        // Each second segment is acknowledged, and the last of each state.
        let mut pair = bulk(&config(ecn, |c| c.ack_every = 2));
        pair.mark_data[0] = vec![2, 3, 6, 9];
        pair.run_until(at_ms(450));
        assert_eq!(pair.ends[1].counters().ce_received, 4);
        pair.ends[0].counters().bytes_marked
    };
    // Each segment has room for the AccECN option of 12 bytes.
    assert_eq!([Dctcp, AccEcn].map(counted), [4 * 1448, 4 * 1436]);
    // With the latch of RFC 3168 all counts from the first mark until CWR arrives: the rest of the window at least.
    assert!(counted(Rfc3168) >= 9 * 1448);
}

/// On a path that loses segments and ACKs, reorders and marks, a count is complete once all is acknowledged.
#[test]
fn accecn_counts_each_marked_byte_on_a_path_that_loses_and_reorders() {
    let config = config(AccEcn, |c| (c.sack, c.dsack) = (true, true));
    for (seed, loss, jitter) in (0..40).map(|seed| (seed, 0.02, 0)).chain((40..80).map(|seed| (seed, 0.0, 3))) {
        let path = Path { loss, jitter: Dur::from_ms(jitter), mark: 0.2, ..Path::clean(Dur::from_ms(10)) };
        let mut pair = Pair::new(&config, &config, [1, 2], path, seed);
        pair.write(0, 400 * 1436);
        pair.run_until(at_ms(60_000));
        let [sender, receiver] = &pair.ends;
        assert_eq!(sender.acked(), 400 * 1436, "seed {seed}");
        assert!(sender.ecn_negotiated(), "seed {seed}: a contradiction was seen");
        let marked = receiver.counters().ce_received;
        assert!(marked > 20, "seed {seed}: {marked}");
        // What comes a second time, after a retransmission that was not needed, lies outside the window.
        let (counted, twice) = (sender.counters().bytes_marked, receiver.counters().duplicate_bytes);
        assert!(
            (marked * 1436 - twice..=marked * 1436).contains(&counted),
            "seed {seed}: {counted} of {}",
            marked * 1436
        );
    }
}
