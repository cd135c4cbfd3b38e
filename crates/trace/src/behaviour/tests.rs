//! Packets by hand. Segments have 1000 bytes, times are in milliseconds; the lower end of the key sends the data.

use std::net::{IpAddr, Ipv4Addr};

use ecnlab_wire::Seq;

use super::*;

const MS: u64 = 1_000_000;
const MSS: u32 = 1000;

fn packet(ms: u64, from_low: bool) -> Segment<'static> {
    let [low, high] = [1, 2].map(|last| IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)));
    Segment {
        number: ms,
        timed: true,
        device: 0,
        time: ms * MS,
        interface: 0,
        key: Key::new((low, 5001), (high, 49152)).0,
        from_low,
        ecn: Ecn::Ect0,
        id: 0,
        seq: Seq(0),
        ack: Seq(0),
        flags: Flags::ACK,
        window: 1000,
        len: 0,
        options: &[],
        dropped: false,
    }
}

/// The n-th data segment from 0.
fn data(ms: u64, n: u32) -> Segment<'static> {
    Segment { seq: Seq(n * MSS), len: MSS, ..packet(ms, true) }
}

/// An ACK of the first n segments.
fn ack(ms: u64, n: u32) -> Segment<'static> {
    Segment { ack: Seq(n * MSS), ..packet(ms, false) }
}

fn with(flags: Flags, segment: Segment<'static>) -> Segment<'static> {
    Segment { flags: segment.flags | flags, ..segment }
}

fn ce(segment: Segment<'static>) -> Segment<'static> {
    Segment { ecn: Ecn::Ce, ..segment }
}

/// The data's direction after `packets`, counted from `from_ms` on; segments up to 2 ms apart are one burst.
fn counted(from_ms: u64, packets: &[Segment<'static>]) -> Direction {
    let mut all = Behaviours::new(from_ms * MS, 2 * MS);
    packets.iter().for_each(|segment| all.take(segment));
    let (_, end, direction) = all.directions().next().expect("one connection");
    assert_eq!(end, 0);
    direction.clone()
}

fn segments(ms: u64, numbers: std::ops::Range<u32>) -> Vec<Segment<'static>> {
    numbers.map(|n| data(ms, n)).collect()
}

#[test]
fn acks_count_by_the_segments_they_cover() {
    let receiver = counted(
        0,
        &[
            data(0, 0),
            data(1, 1),
            ack(1, 2), // two, 0 ms after the newer and 1 ms after the older
            data(2, 2),
            ack(6, 3), // one, 4 ms later
            data(7, 4),
            ack(7, 3), // none: segment 3 is missing
            data(8, 5),
            ack(8, 3), // none
            data(9, 3),
            ack(9, 6), // three, 0 ms after the newest and 2 ms after the oldest
            data(10, 5),
            ack(12, 6), // none, 2 ms later: it had arrived
        ],
    )
    .receiver;
    assert_eq!(receiver.covered, [3, 1, 1, 1]);
    assert_eq!(receiver.duplicates, 1);
    assert_eq!((receiver.delay.summary.count, receiver.delay.summary.sum), (3, 4 * MS));
    assert_eq!((receiver.wait.summary.count, receiver.wait.summary.sum), (3, 7 * MS));
    let duplicates = receiver.duplicate_delay.summary;
    assert_eq!((duplicates.count, duplicates.sum), (3, 2 * MS));
}

#[test]
fn acks_of_one_segment_have_a_cause() {
    let receiver = counted(
        0,
        &[
            data(0, 0),
            ack(40, 1), // delayed
            data(41, 2),
            ack(41, 1), // covers none
            data(42, 1),
            ack(42, 2), // fills the hole: reordered
            ack(42, 3), // arrived out of order: reordered
            ce(data(43, 3)),
            with(Flags::ECE, ack(43, 4)), // CE
            with(Flags::CWR, data(44, 4)),
            ack(44, 5), // CWR
            data(45, 5),
            with(Flags::ECE, ack(45, 6)), // ECE changes
            with(Flags::PSH, data(46, 6)),
            with(Flags::ECE, ack(46, 7)), // pushed
            data(47, 7),
            with(Flags::ECE, ack(47, 8)), // other
        ],
    )
    .receiver;
    let named: Vec<(&str, u64)> = CAUSES.into_iter().zip(receiver.single).collect();
    let expected = [
        ("single_reordered", 2),
        ("single_delayed", 1),
        ("single_ce", 1),
        ("single_cwr", 1),
        ("single_ece_change", 1),
        ("single_pushed", 1),
        ("single_other", 1),
    ];
    assert_eq!(named, expected);
    assert_eq!(receiver.covered, [1, 8, 0, 0]);
}

#[test]
fn bursts_lie_between_acks_and_pushes_between_segments() {
    let packets = [
        segments(0, 0..2),
        vec![with(Flags::PSH, data(0, 2)), ack(10, 1)], // a burst of 3, PSH on its third segment
        segments(10, 3..5),
        vec![ack(20, 3), ack(20, 5)], // a burst of 2, and an ACK that lets nothing out
        segments(20, 5..6),
        vec![with(Flags::PSH, data(20, 6)), ack(30, 7)], // a burst of 2, PSH 4 segments after the last one
    ];
    let sender = counted(0, &packets.concat()).sender;
    assert_eq!(sender.bursts.counts, [0, 2, 1, 0]);
    assert_eq!((sender.data, sender.pushed), (7, 2));
    assert_eq!((sender.push_distance.count, sender.push_distance.sum), (2, 3 + 4));
    // Segments 0 (10 ms), 2 (20 ms), 4 (10 ms), 6 (10 ms).
    assert_eq!((sender.rtt.summary.count, sender.rtt.summary.sum), (4, 50 * MS));
}

#[test]
fn a_response_to_ece_is_measured_a_round_trip_later() {
    let packets = [
        segments(0, 0..10),
        // 10 segments are out when the first ECE comes, and 9 of them stay out.
        vec![with(Flags::ECE, ack(10, 1)), with(Flags::CWR, data(10, 10))],
        vec![with(Flags::ECE, ack(11, 2)), with(Flags::ECE, ack(12, 5)), ack(20, 11)],
        // The response is acknowledged: 5 segments are sent, and are out when the next ACK comes.
        segments(20, 11..16),
        vec![ack(30, 13)],
    ];
    let sender = counted(0, &packets.concat()).sender;
    let [ecn, loss] = sender.reductions;
    assert_eq!((ecn.count, ecn.before.sum, ecn.after.sum), (1, 10_000, 5_000));
    assert!((ecn.ratios - 0.5).abs() < 1e-12);
    assert_eq!(loss.count, 0);
    assert_eq!(sender.between.count, 0);
}

#[test]
fn a_response_to_a_loss_is_a_retransmission() {
    let lost = |at: u64, first: u32| {
        let duplicates = (1..4).map(|n| ack(at + n, first)).collect();
        [duplicates, vec![data(at + 3, first)]].concat()
    };
    let packets = [
        segments(0, 0..8),
        vec![ack(10, 1)],
        lost(10, 1),      // 7 segments out
        vec![ack(20, 8)], // a round trip
        segments(20, 8..12),
        vec![ack(30, 9)],
        lost(30, 9), // 3 segments out
        vec![ack(40, 12)],
        segments(40, 12..14),
        vec![ack(50, 14)],
    ];
    let sender = counted(0, &packets.concat()).sender;
    let [ecn, loss] = sender.reductions;
    assert_eq!((ecn.count, loss.count, sender.retransmits), (0, 2, 2));
    assert_eq!((loss.before.sum, loss.after.sum), (7_000 + 3_000, 4_000 + 2_000));
    assert!((loss.ratios - (4.0 / 7.0 + 2.0 / 3.0)).abs() < 1e-12);
    // ACKs of all that was out at the round's begin come at 20 ms and at 30 ms.
    assert_eq!((sender.between.count, sender.between.sum), (1, 2));
}

#[test]
fn packets_of_the_warm_up_do_not_count() {
    let packets = [data(0, 0), ack(0, 1), data(5, 1), ack(5, 2), data(9, 2), ack(9, 3)];
    let Direction { sender, receiver, spacing, .. } = counted(5, &packets);
    assert_eq!((sender.data, sender.bursts.counts[0], sender.rtt.summary.count), (2, 2, 2));
    assert_eq!(receiver.covered, [0, 2, 0, 0]);
    assert_eq!((spacing.gaps.summary.count, spacing.gaps.summary.sum), (1, 4 * MS));
}

#[test]
fn segments_close_to_each_other_are_a_burst() {
    let times = [0, 1, 3, 10, 20, 22];
    let packets: Vec<_> = times.into_iter().zip(0..).map(|(ms, n)| data(ms, n)).collect();
    let spacing = counted(0, &packets).spacing;
    assert_eq!(spacing.bursts.counts, [1, 0, 1, 0]); // the last one goes on
    assert_eq!((spacing.gaps.summary.count, spacing.gaps.summary.sum), (5, 22 * MS));
}
