//! Senders with RACK and tail loss probes, and their evidence. The sender answers in no time, so that what it
//! sends at any other time is sent by a timer.

use crate::common;

use common::{A, ECE, MSS, P, a, c, d, found, s};
use ecnlab_trace::{Analysis, StreamCounts};
use ecnlab_wire::{Flags, SackBlock, Seq, TcpOptions, Timestamps};

/// A handshake with SACK and ECN; the least round trip is 8 ms.
fn handshake() -> Vec<P> {
    let mut options = TcpOptions::default();
    options.sack_permitted = true;
    let (ask, agree) = (Flags::SYN | Flags::ECE | Flags::CWR, Flags::SYN | Flags::ACK | Flags::ECE);
    vec![c(0, ask, 0, 0).options(options), s(8, agree, 0, 1).options(options), c(8, A, 1, 1)]
}

/// ACK of `n` segments, with segments from `first` up to `end` held.
fn sack(at: u64, n: u32, first: u32, end: u32) -> P {
    let mut options = TcpOptions::default();
    options.push_sack(SackBlock { start: Seq(1 + first * MSS), end: Seq(1 + end * MSS) });
    a(at, n).options(options)
}

/// The client's numbers in connection `n`.
fn counts(analysis: &Analysis, n: usize) -> StreamCounts {
    analysis.tracker.connection(n).ends[0].stream.counts.clone()
}

/// Causes (fast, SACK, partial, timeout, tail), timeouts, recoveries.
fn causes(all: &[P]) -> ([u64; 5], u64, u64) {
    let analysis = found(all);
    let found = counts(&analysis, 0);
    (found.causes, found.timeouts, found.recoveries)
}

/// Two segments, the second of which is sent again out of the silence: a probe, which none but RACK sends.
fn a_probe_of_two() -> Vec<P> {
    let mut all = handshake();
    all.extend([d(20, 0), d(20, 1), d(320, 1), a(360, 2), a(360, 2)]);
    all
}

/// The same two, of which the first is sent again out of the silence: a timeout without a probe before it.
fn a_timeout_of_two() -> Vec<P> {
    let mut all = handshake();
    all.extend([d(20, 0), d(20, 1), d(1020, 0), a(1060, 2)]);
    all
}

/// One segment that is sent again half a second later: a probe or a timeout.
fn one_again(at: u64, n: u32) -> [P; 3] {
    [d(at, n), d(at + 500, n), a(at + 540, n + 1)]
}

#[test]
fn a_single_segment_sent_again_is_a_probe_if_the_sender_probes() {
    let mut all = a_probe_of_two();
    all.extend(one_again(2000, 2));
    assert_eq!(causes(&all), ([0, 0, 0, 0, 2], 0, 0));
    let mut all = a_timeout_of_two();
    all.extend(one_again(2000, 2));
    assert_eq!(causes(&all), ([0, 0, 0, 2, 0], 2, 0));
    // Evidence may come later.
    let mut all = handshake();
    all.extend(one_again(20, 0));
    all.extend([a(560, 1), d(2000, 1), d(2000, 2), d(2300, 2), a(2340, 3)]);
    assert_eq!(causes(&all), ([0, 0, 0, 0, 2], 0, 0));
    // One piece of evidence for RACK, two against it.
    let mut all = a_probe_of_two();
    all.extend([d(2000, 2), d(2000, 3), d(3000, 2), a(3040, 4), d(4000, 4), d(4000, 5), d(5000, 4), a(5040, 6)]);
    all.extend(one_again(7000, 6));
    assert_eq!(causes(&all), ([0, 0, 0, 3, 1], 3, 0));
    // No evidence: the timeout is the older custom.
    let mut all = handshake();
    all.extend(one_again(20, 0));
    assert_eq!(causes(&all), ([0, 0, 0, 1, 0], 1, 0));
}

#[test]
fn evidence_of_one_connection_applies_to_others_of_its_host() {
    let mut short = handshake();
    short.extend(one_again(20, 0));
    let later = |p: &P| P {
        at: p.at + 10_000,
        seq: p.seq + 77_000,
        ack: p.ack + if p.flags.contains(Flags::ACK) { 77_000 } else { 0 },
        ..p.clone()
    };
    for (first, causes) in [(a_probe_of_two(), [0, 0, 0, 0, 1]), (a_timeout_of_two(), [0, 0, 0, 1, 0])] {
        let all: Vec<P> = first.into_iter().chain(short.iter().map(later)).collect();
        let analysis = found(&all);
        assert_eq!(analysis.tracker.len(), 2);
        assert_eq!(counts(&analysis, 1).causes, causes);
    }
}

#[test]
fn the_reordering_timer_begins_a_recovery() {
    // Segment 2 arrives after 42 ms, segment 1 not: it may take 42 ms and a quarter of 8, and the timer 2 ms more.
    let mut all = handshake();
    all.extend((0..6).map(|n| d(20, n)));
    all.extend([a(60, 1), sack(62, 1, 2, 3), d(66, 1)]);
    assert_eq!(causes(&all), ([1, 0, 0, 0, 0], 0, 1));
    // The copy is lost too: what was sent 34 ms behind it arrives. That is no timeout, and the same recovery.
    all.extend([sack(100, 1, 2, 4), d(100, 6), sack(140, 1, 6, 7), d(140, 1)]);
    assert_eq!(causes(&all), ([1, 1, 0, 0, 0], 0, 1));
    // A timer may be late by two ticks of 10 ms (HZ); four milliseconds behind these none of RACK's fires.
    let mut all = handshake();
    all.extend((0..6).map(|n| d(20, n)));
    all.extend([a(60, 1), sack(62, 1, 2, 3), d(90, 1)]);
    assert_eq!(causes(&all), ([0, 0, 0, 1, 0], 1, 0));
}

#[test]
fn segments_sent_again_twice_in_answer_to_acks_show_rack() {
    // A host that needs a millisecond for an answer. The copy of segment 1 left 2 ms before segment 6, which has arrived.
    let mut all = handshake();
    all[2].at += 1;
    all.extend((0..6).map(|n| d(20, n)));
    all.extend([a(60, 1), sack(62, 1, 2, 3), sack(62, 1, 2, 4), sack(62, 1, 2, 5), d(63, 1)]);
    all.extend([sack(64, 1, 2, 6), d(65, 6), sack(105, 1, 2, 7), d(106, 1)]);
    assert_eq!(causes(&all), ([1, 1, 0, 0, 0], 0, 1));
}

/// Four segments behind a probe of RACK's; the timeout for the first of them at 1900 ms was not needed.
fn a_timeout_in_vain() -> Vec<P> {
    let mut all = a_probe_of_two();
    all.extend((2..6).map(|n| d(1000, n)));
    all.extend([d(1300, 5), d(1900, 2)]);
    all
}

#[test]
fn a_timeout_in_vain_ends_with_what_was_sent_before_it() {
    // RFC 5682: segment 3 was sent once, and before the timeout. So there is no reduction in force when ECE comes.
    let mut all = a_timeout_in_vain();
    all.push(a(1910, 4).flags(ECE));
    assert_eq!(causes(&all), ([0, 0, 0, 1, 2], 1, 0));
    assert_eq!(found(&all).tracker.connection(0).ends[0].ecn.counts.reductions, 1);
    // Segment 2 was sent again: its ACK is ambiguous, and the timeout has reduced this window.
    let mut all = a_timeout_in_vain();
    all.push(a(1940, 3).flags(ECE));
    assert_eq!(causes(&all), ([0, 0, 0, 1, 2], 1, 0));
    assert_eq!(found(&all).tracker.connection(0).ends[0].ecn.counts.reductions, 0);
}

#[test]
fn after_a_spurious_timeout_the_segments_that_it_had_marked_are_judged_again() {
    let mut all = a_probe_of_two();
    all.extend((2..8).map(|n| d(1000, n)));
    all.extend([d(1300, 7), d(1900, 2), a(1910, 3), d(1910, 8)]);
    // Segment 4 was sent once, before the timeout. Segment 3 is lost when three segments above it have arrived.
    all.extend([sack(1911, 3, 4, 5), sack(1912, 3, 4, 6), sack(1913, 3, 4, 7), d(1913, 3)]);
    assert_eq!(causes(&all), ([1, 0, 0, 1, 2], 1, 1));
}

#[test]
fn after_an_undone_recovery_the_segments_that_rack_had_found_lost_are_not_judged_again() {
    let stamped = |p: P, value: u32, echo: u32| {
        let mut options = p.options;
        options.timestamps = Some(Timestamps { value, echo });
        p.options(options)
    };
    let mut all = a_probe_of_two();
    all.extend((2..12).map(|n| d(1000, n)));
    all.extend([sack(1100, 2, 3, 4), sack(1101, 2, 3, 5), sack(1102, 2, 3, 6), stamped(d(1102, 2), 1102, 0)]);
    // Segment 6 is lost, and the window does not yet admit its retransmission.
    all.push(sack(1103, 2, 7, 8));
    // The first copy of segment 2 was late. Linux does not judge segment 6 again.
    all.extend([stamped(sack(1110, 6, 7, 8), 0, 1000), sack(1111, 6, 7, 9), a(1130, 12)]);
    assert_eq!(causes(&all), ([1, 0, 0, 0, 1], 0, 1));
}

#[test]
fn a_timestamp_shows_a_spurious_timeout() {
    let stamped = |p: P, value: u32, echo: u32| {
        let mut options = TcpOptions::default();
        options.timestamps = Some(Timestamps { value, echo });
        p.options(options)
    };
    let mut all = a_timeout_in_vain();
    let last = all.len() - 1;
    all[last] = stamped(all[last].clone(), 1900, 0);
    // RFC 4015: the ACK of segment 2 answers what was sent at 1000 ms.
    let reductions = |echo: u32| {
        let mut all = all.clone();
        all.push(stamped(a(1940, 3).flags(ECE), 0, echo));
        found(&all).tracker.connection(0).ends[0].ecn.counts.reductions
    };
    assert_eq!((reductions(1000), reductions(1900)), (1, 0));
}

#[test]
fn the_round_trip_of_a_retransmission_is_read_by_the_senders_clock() {
    // By the capture's clock the first copy that arrives takes 41 ms, by the client's `ticks` of them. The copy of segment 2
    // takes 40 ms; if that is less, it may be the first copy that has arrived, and the copy of segment 1 is not lost.
    let timeouts = |ticks: u32| {
        let stamped = |value, echo, sacked: Option<(u32, u32)>| {
            let mut options = TcpOptions::default();
            options.timestamps = Some(Timestamps { value, echo });
            options.sack_permitted = sacked.is_none();
            if let Some((first, end)) = sacked {
                options.push_sack(SackBlock { start: Seq(1 + first * MSS), end: Seq(1 + end * MSS) });
            }
            options
        };
        let mut all = vec![
            c(0, Flags::SYN, 0, 0).options(stamped(500, 0, None)),
            s(100, Flags::SYN | A, 0, 1).options(stamped(9, 500, None)),
            c(100, A, 1, 1).options(stamped(600, 9, None)),
        ];
        all.extend([d(200, 0), d(200, 1), d(200, 2), d(200, 3)]);
        all.push(d(1200, 0).options(stamped(1700, 9, None)));
        all.push(a(1241, 1).options(stamped(50, 1700, None)));
        all.push(d(1241, 1).options(stamped(1700 + ticks, 50, None)));
        all.push(sack(1261, 1, 3, 4));
        all.extend([d(1261, 2), sack(1301, 1, 2, 4), d(1301, 1), a(1341, 4)]);
        all.extend([d(3000, 4), d(3000, 5), d(3300, 5), a(3400, 6), a(3400, 6)]);
        counts(&found(&all), 0).timeouts
    };
    assert_eq!((timeouts(40), timeouts(41)), (1, 2));
}

#[test]
fn the_round_trip_of_a_repeated_syn_is_read_by_the_senders_clock() {
    // Segment 1 leaves 10 ms after segment 0 and arrives first: more than a quarter of the 40 ms of the client's clock, not
    // of the 41 ms of the capture's.
    let recoveries = |ticks: u32| {
        let mut syn = TcpOptions::default();
        syn.sack_permitted = true;
        let stamped = |value, echo| {
            let mut options = syn;
            options.timestamps = Some(Timestamps { value, echo });
            options
        };
        let mut all = vec![
            c(0, Flags::SYN, 0, 0).options(stamped(500, 0)),
            c(1000, Flags::SYN, 0, 0).options(stamped(1500, 0)),
            s(1041, Flags::SYN | A, 0, 1).options(stamped(9, 1500)),
            c(1041, A, 1, 1).options(stamped(1500 + ticks, 9)),
            d(2000, 0),
            d(2010, 1),
            sack(2100, 0, 1, 2),
            d(2100, 0),
            a(2200, 2),
        ];
        all.extend([d(3000, 2), d(3000, 3), d(3300, 3), a(3400, 4), a(3400, 4)]);
        counts(&found(&all), 0).recoveries
    };
    assert_eq!((recoveries(40), recoveries(41)), (1, 0));
}
