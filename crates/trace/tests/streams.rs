//! What connections are found to be: retransmissions and their causes, round trips, negotiation, halves of captures.

use crate::common;

use common::{A, MSS, P, a, c, d, ecn_handshake, found, plain_handshake, s};
use ecnlab_trace::{Analysis, End, Filter, Negotiation};
use ecnlab_wire::{Ecn, Flags, SackBlock, Seq, TcpOptions, Timestamps};

/// The end that sends the data.
fn client(analysis: &Analysis) -> End {
    analysis.tracker.connection(0).ends[0].clone()
}

fn negotiation(syn: Flags, syn_ack: Flags) -> Negotiation {
    let all = [c(0, Flags::SYN | syn, 0, 0), s(10, Flags::SYN | A | syn_ack, 0, 1)];
    found(&all).tracker.connection(0).negotiation
}

/// ACK of `n` segments, with segments from `first` up to `end` held.
fn sack(at: u64, n: u32, first: u32, end: u32) -> P {
    let mut options = TcpOptions::default();
    options.push_sack(SackBlock { start: Seq(1 + first * MSS), end: Seq(1 + end * MSS) });
    a(at, n).options(options)
}

#[test]
fn what_a_handshake_agrees_on() {
    let (ece, cwr, ae) = (Flags::ECE, Flags::CWR, Flags::AE);
    let none = Flags::empty();
    assert_eq!(negotiation(none, none), Negotiation::NotOffered);
    assert_eq!(negotiation(ece | cwr, ece), Negotiation::Accepted);
    assert_eq!(negotiation(ece | cwr, none), Negotiation::Refused);
    assert_eq!(negotiation(ece | cwr, ece | cwr), Negotiation::Reflected);
    // RFC 9768 §3.1.2, table 2.
    let accurate = ae | cwr | ece;
    for answer in [cwr, cwr | ece, ae, ae | cwr] {
        assert_eq!(negotiation(accurate, answer), Negotiation::AccEcn);
    }
    assert_eq!(negotiation(accurate, ece), Negotiation::AccEcnToClassic);
    assert_eq!(negotiation(accurate, none), Negotiation::Refused);
    assert_eq!(negotiation(accurate, accurate), Negotiation::Reflected);
}

#[test]
fn falling_back_is_seen_in_the_second_syn() {
    let ask = Flags::SYN | Flags::ECE | Flags::CWR;
    let all = [c(0, ask, 0, 0), c(1000, Flags::SYN, 0, 0), c(3000, Flags::SYN, 0, 0), s(3010, Flags::SYN | A, 0, 1)];
    let analysis = found(&all);
    assert_eq!(analysis.tracker.connection(0).negotiation, Negotiation::FellBack);
    assert_eq!(client(&analysis).counts.control_retransmits, 2);
    // A SYN without an offer that is repeated has fallen back from nothing.
    let all = [c(0, Flags::SYN, 0, 0), c(1000, Flags::SYN, 0, 0), s(1010, Flags::SYN | A, 0, 1)];
    assert_eq!(found(&all).tracker.connection(0).negotiation, Negotiation::NotOffered);
}

#[test]
fn accecn_has_rules_of_its_own() {
    let all_bits = Flags::AE | Flags::CWR | Flags::ECE;
    let mut all = vec![c(0, Flags::SYN | all_bits, 0, 0), s(10, Flags::SYN | A | Flags::CWR, 0, 1)];
    // The count is 6: behind this place the segment was marked.
    let data = d(20, 0).flags(A | Flags::AE | Flags::ECE);
    all.extend([data, a(60, 1).flags(A | Flags::AE | Flags::CWR).ecn(Ecn::Ect0)]);
    let analysis = found(&all);
    assert!(analysis.tracker.connection(0).ends.iter().all(|end| end.violations.list().is_empty()));
}

#[test]
fn a_fast_retransmission() {
    let mut all = plain_handshake();
    all.extend((0..6).map(|n| d(20, n)));
    all.extend([a(60, 1), a(60, 1), a(60, 1), a(60, 1), d(60, 1), a(100, 6)]);
    let analysis = found(&all);
    let stream = &client(&analysis).stream.counts;
    assert_eq!((stream.causes, stream.recoveries, stream.timeouts, stream.needless), ([1, 0, 0, 0, 0], 1, 0, 0));
    assert_eq!(analysis.tracker.connection(0).ends[1].counts.duplicate_acks, 3);
    // Segment 0 shows a round trip of 40 ms; the ACK of 6 ends with a segment sent before the retransmission.
    assert_eq!((client(&analysis).stream.rtt.summary.count, stream.ambiguous), (2, 1));
}

#[test]
fn retransmissions_in_a_recovery_by_partial_ack_and_by_sack() {
    let mut all = plain_handshake();
    all.extend((0..6).map(|n| d(20, n)));
    all.extend([a(60, 1), a(60, 1), a(60, 1), a(60, 1), d(60, 1), a(100, 3), d(100, 3), a(140, 6)]);
    assert_eq!(client(&found(&all)).stream.counts.causes, [1, 0, 1, 0, 0]);

    let mut all = plain_handshake();
    all.extend((0..8).map(|n| d(20, n)));
    all.extend([
        a(60, 1),
        sack(60, 1, 4, 5),
        sack(60, 1, 4, 6),
        sack(60, 1, 4, 7),
        d(60, 1),
        sack(61, 1, 4, 8),
        d(61, 3),
    ]);
    assert_eq!(client(&found(&all)).stream.counts.causes, [1, 1, 0, 0, 0]);
}

/// A recovery of segment 1, which has sent 7, the last, as a rescue (RFC 6675 §4, NextSeg rule 4), and then new data.
fn a_rescue() -> Vec<P> {
    let mut all = plain_handshake();
    all.extend((0..8).map(|n| d(20, n)));
    all.extend([a(60, 1), sack(60, 1, 2, 3), sack(60, 1, 2, 4), sack(60, 1, 2, 5), d(60, 1)]);
    all.extend([sack(61, 1, 2, 7), d(61, 7), a(100, 7), d(100, 8), d(100, 9), d(100, 10)]);
    all
}

#[test]
fn what_a_rescue_retransmission_sent_is_a_hole_once_more_is_reported_above_it() {
    let mut all = a_rescue();
    // The rescue is lost too. It did not move HighRxt, so three segments above make 7 a hole of the same recovery.
    all.extend([sack(140, 7, 8, 9), sack(140, 7, 8, 10), sack(140, 7, 8, 11), d(140, 7)]);
    let counts = client(&found(&all)).stream.counts.clone();
    assert_eq!((counts.causes, counts.timeouts, counts.recoveries), ([1, 2, 0, 0, 0], 0, 1));
    // That was its turn: a third time is the timer's.
    all.extend([sack(141, 7, 8, 11), d(141, 7)]);
    let counts = client(&found(&all)).stream.counts.clone();
    assert_eq!((counts.causes, counts.timeouts, counts.recoveries), ([1, 2, 0, 1, 0], 1, 1));
}

#[test]
fn nothing_above_a_rescue_retransmission_makes_it_no_hole() {
    let mut all = a_rescue();
    all.extend([a(140, 7), d(140, 7)]);
    let counts = client(&found(&all)).stream.counts.clone();
    assert_eq!((counts.causes, counts.timeouts, counts.recoveries), ([1, 1, 0, 1, 0], 1, 1));
    // Nor was a segment with something above it a rescue: its hole has had its turn.
    let mut all = plain_handshake();
    all.extend((0..9).map(|n| d(20, n)));
    all.extend([a(60, 1), sack(60, 1, 2, 5), d(60, 1), sack(61, 1, 6, 9), d(61, 5), sack(62, 1, 6, 9), d(62, 5)]);
    let counts = client(&found(&all)).stream.counts.clone();
    assert_eq!((counts.causes, counts.timeouts, counts.recoveries), ([1, 1, 0, 1, 0], 1, 1));
}

#[test]
fn a_timeout_and_what_is_sent_again_after_it() {
    let mut all = plain_handshake();
    all.extend((0..4).map(|n| d(20, n)));
    all.extend([d(1020, 0), d(3020, 0), a(3060, 1), d(3060, 1), d(3060, 2), a(3100, 4)]);
    let counts = client(&found(&all)).stream.counts.clone();
    // Two expiries: the second for the same segment; then two more segments, clocked by the ACK.
    assert_eq!((counts.causes, counts.timeouts, counts.recoveries), ([0, 0, 0, 4, 0], 2, 0));
}

#[test]
fn a_timer_that_fires_in_the_instant_of_a_duplicate_ack() {
    let mut all = plain_handshake();
    all.extend((0..6).map(|n| d(20, n)));
    all.extend([a(60, 1), a(1060, 1), d(1060, 1)]);
    let counts = client(&found(&all)).stream.counts.clone();
    assert_eq!((counts.causes, counts.timeouts, counts.recoveries), ([0, 0, 0, 1, 0], 1, 0));
    // Of a host that takes a millisecond to answer, with two outstanding: no second duplicate can come (RFC 5827 section 3.2).
    all.drain(6..9);
    all[2].at += 1;
    let counts = client(&found(&all)).stream.counts.clone();
    assert_eq!((counts.causes, counts.timeouts, counts.recoveries), ([1, 0, 0, 0, 0], 0, 1));
}

#[test]
fn a_timer_that_fires_in_the_instant_of_a_sack() {
    let mut all = plain_handshake();
    all.extend((0..6).map(|n| d(20, n)));
    all.extend([a(60, 1), sack(1060, 1, 2, 3), d(1060, 1)]);
    let counts = client(&found(&all)).stream.counts.clone();
    assert_eq!((counts.causes, counts.timeouts, counts.recoveries), ([0, 0, 0, 1, 0], 1, 0));
    // One SACK of three segments is enough for RFC 6675.
    let last = all.len() - 2;
    all[last] = sack(1060, 1, 2, 5);
    let counts = client(&found(&all)).stream.counts.clone();
    assert_eq!((counts.causes, counts.timeouts, counts.recoveries), ([1, 0, 0, 0, 0], 0, 1));
}

#[test]
fn segments_lost_again_after_a_timeout_and_reported_by_three_duplicate_acks() {
    let mut all = plain_handshake();
    all.extend((0..6).map(|n| d(20, n)));
    all.extend([a(60, 0), a(61, 0), d(1020, 0), a(1060, 0), a(1061, 0), a(1062, 0), d(1062, 0)]);
    let counts = client(&found(&all)).stream.counts.clone();
    assert_eq!((counts.causes, counts.timeouts, counts.recoveries), ([1, 0, 0, 1, 0], 1, 1));
    // What the timeout is still to send again goes on being its own.
    all.extend([a(1063, 0), d(1063, 1), a(1100, 2), d(1100, 2)]);
    let counts = client(&found(&all)).stream.counts.clone();
    assert_eq!((counts.causes, counts.timeouts, counts.recoveries), ([1, 0, 1, 2, 0], 1, 1));
    // Sent again in its turn by the timeout, and again by a partial ACK.
    all.extend([d(1100, 3), d(1100, 4), a(1140, 3), d(1140, 3)]);
    let counts = client(&found(&all)).stream.counts.clone();
    assert_eq!((counts.causes, counts.timeouts, counts.recoveries), ([1, 0, 2, 4, 0], 1, 1));
}

#[test]
fn a_probe_for_a_lost_tail_and_a_needless_retransmission() {
    let mut options = TcpOptions::default();
    options.sack_permitted = true;
    let mut all = plain_handshake();
    all[0].options = options;
    all[1].options = options;
    all.extend([d(20, 0), d(20, 1), a(60, 1), d(150, 1), a(190, 2), d(1300, 1)]);
    let counts = client(&found(&all)).stream.counts.clone();
    assert_eq!((counts.causes, counts.needless, counts.timeouts), ([0, 0, 0, 1, 1], 1, 1));
}

#[test]
fn a_report_of_data_received_twice() {
    let mut all = plain_handshake();
    all.extend([d(20, 0), d(20, 1), d(1020, 0), a(1060, 2), sack(1061, 2, 0, 1)]);
    assert_eq!(client(&found(&all)).stream.counts.dsacks, 1);
}

#[test]
fn out_of_order_is_no_retransmission() {
    let mut all = plain_handshake();
    all.extend([d(20, 0), d(20, 2), d(21, 1), a(60, 3)]);
    let analysis = found(&all);
    let counts = &client(&analysis).counts;
    assert_eq!((counts.out_of_order, counts.retransmits, counts.unique_bytes), (1, 0, 3 * u64::from(MSS)));
    assert_eq!(client(&analysis).in_order_bytes(), 3 * u64::from(MSS));
}

#[test]
fn sequence_numbers_wrap() {
    let top = u32::MAX - 1500;
    let mut all = vec![c(0, Flags::SYN, top, 0), s(10, Flags::SYN | A, 0, top + 1), c(10, A, top + 1, 1)];
    for n in 0..4 {
        all.push(c(20, A, (top + 1).wrapping_add(n * MSS), 1).len(MSS));
    }
    all.push(s(60, A, 1, (top + 1).wrapping_add(4 * MSS)));
    all.push(c(61, A, (top + 1).wrapping_add(MSS), 1).len(MSS));
    let analysis = found(&all);
    let end = client(&analysis);
    assert_eq!((end.counts.unique_bytes, end.counts.retransmits, end.stream.counts.needless), (4000, 1, 1));
    assert_eq!((end.stream.flight(), end.in_order_bytes()), (0, 4000));
}

#[test]
fn a_capture_from_the_middle_with_packets_missing() {
    // No handshake; the ACK covers 3000 bytes of which 1000 are there; then one direction only.
    let all = [d(0, 4), a(40, 8), d(50, 8), d(51, 9), d(52, 11)];
    let analysis = found(&all);
    let connection = &analysis.tracker.connection(0);
    assert_eq!((connection.has_syn, connection.negotiation), (false, Negotiation::Unknown));
    assert_eq!(client(&analysis).stream.counts.missing_bytes, 3 * u64::from(MSS));
    assert_eq!(client(&analysis).counts.unique_bytes, 4 * u64::from(MSS));
    let half: Vec<P> = all.into_iter().filter(|p| p.from_client).collect();
    let analysis = found(&half);
    assert_eq!(client(&analysis).counts.packets, 4);
    assert_eq!(analysis.tracker.connection(0).ends[1].counts.packets, 0);
}

#[test]
fn the_same_ports_again_are_another_connection() {
    let mut all = ecn_handshake();
    all.extend([c(20, A | Flags::FIN, 1, 1), s(30, A | Flags::FIN, 1, 2), c(40, A, 2, 2)]);
    let again = |p: &P| P {
        at: p.at + 1000,
        seq: p.seq + 77_000,
        ack: p.ack + if p.ack > 0 { 77_000 } else { 0 },
        ..p.clone()
    };
    let second: Vec<P> = all.iter().map(again).collect();
    all.extend(second);
    let analysis = found(&all);
    assert_eq!(analysis.tracker.len(), 2);
    assert!(analysis.tracker.connections().all(|c| c.is_closed(0) && c.is_closed(1)));
    // A SYN sent again is not.
    let all = [c(0, Flags::SYN, 5, 0), c(1000, Flags::SYN, 5, 0)];
    assert_eq!(found(&all).tracker.len(), 1);
}

#[test]
fn windows_are_scaled_once_both_ends_have_agreed() {
    let mut scaled = TcpOptions::default();
    (scaled.window_scale, scaled.timestamps) = (Some(7), Some(Timestamps::default()));
    let mut all = plain_handshake();
    all[0].options = scaled;
    all[1].options = scaled;
    all.extend([a(60, 0).window(100), a(61, 0).window(0)]);
    let analysis = found(&all);
    let server = &analysis.tracker.connection(0).ends[1];
    assert_eq!((server.counts.windows, server.counts.window_zero), (Some((0, 12_800)), 1));
    all[1].options = TcpOptions::default();
    all[3].window = 500;
    let analysis = found(&all);
    assert_eq!(analysis.tracker.connection(0).ends[1].counts.windows.map(|w| w.0), Some(0));
    assert_eq!(analysis.tracker.connection(0).ends[0].counts.windows.map(|w| w.1), Some(60_000));
}

#[test]
fn memory_does_not_grow_with_packets() {
    // 200,000 segments of a capture without any ACK: what is remembered of them is bounded.
    let mut tracker = ecnlab_trace::Tracker::default();
    for n in 0..200_000_u32 {
        let packet = d(u64::from(n), n % 4_000_000).bytes();
        let ip = ecnlab_wire::IpPacket::parse(&packet).unwrap();
        let tcp = ecnlab_wire::TcpHeader::parse(ip.payload).unwrap().0;
        let (key, from_low) = ecnlab_trace::Key::new((ip.source, tcp.source), (ip.destination, tcp.destination));
        tracker.take(&ecnlab_trace::Segment {
            number: n.into(),
            time: u64::from(n) * 1_000_000,
            timed: true,
            device: 0,
            interface: 0,
            key,
            from_low,
            ecn: ip.ecn,
            id: ip.id,
            seq: tcp.seq,
            ack: tcp.ack,
            flags: tcp.flags,
            window: tcp.window,
            len: MSS,
            options: tcp.options,
            dropped: false,
        });
    }
    let stream = &tracker.connection(0).ends[0].stream;
    assert!(stream.remembered() <= 1 << 15, "{}", stream.remembered());
    assert_eq!(stream.relative(stream.next()), 200_000 * i64::from(MSS));
}

#[test]
fn filters_choose_by_address_net_port_and_interface() {
    let mut all = plain_handshake();
    all.push(d(20, 0));
    let bytes = common::capture(&all);
    let count = |text: &str| {
        let filter = Filter::parse(text).unwrap();
        let input = ecnlab_trace::Input::new(Box::new(std::io::Cursor::new(bytes.clone()))).unwrap();
        let analysis = ecnlab_trace::analyse(input, ecnlab_trace::Tracker::new(ecnlab_trace::Standard::Rfc3168), |s| {
            filter.wants(s)
        })
        .unwrap();
        analysis.tracker.len()
    };
    let yes = ["host 192.0.2.1", "port 80", "net 192.0.2.0/24 and not port 22", "(port 1 or port 80) and interface 0"];
    let no = ["host 192.0.2.9", "port 81", "net 192.0.3.0/24", "not (port 80)", "interface 1", "host ::1 or net ::/0"];
    assert!(yes.iter().all(|text| count(text) == 1));
    assert!(no.iter().all(|text| count(text) == 0));
    for wrong in ["", "port", "port x", "host 10.0.0", "net 10.0.0.0", "port 80 port 81", "(port 80", "tcp"] {
        let message = Filter::parse(wrong).unwrap_err().to_string();
        assert!(message.starts_with("filter: ") && message.contains("write `host ADDRESS`"), "{message}");
    }
    assert!(Filter::parse(&"not ".repeat(10_000)).is_err());
    assert!(Filter::parse(&"(".repeat(10_000)).is_err());
}

#[test]
fn an_ack_far_beyond_the_window_acknowledges_nothing() {
    let mut all = plain_handshake();
    all.extend([d(20, 0), s(30, A, 1, 1 + MSS + 50_000_000), a(40, 1), d(41, 1), a(60, 2)]);
    let end = client(&found(&all));
    assert_eq!((end.stream.counts.missing_bytes, end.stream.una() == end.stream.next()), (0, true));
    // Data that the capture lacks is within the window.
    let mut all = plain_handshake();
    all.extend([d(20, 0), a(40, 3), d(41, 3), a(60, 4)]);
    assert_eq!(client(&found(&all)).stream.counts.missing_bytes, u64::from(2 * MSS));
    // After a gap in the capture the ACKs go on from a number far ahead.
    let mut all = plain_handshake();
    let far = 2_000;
    all.extend([d(20, 0), a(40, 1), a(9_000, far), a(9_001, far + 1)]);
    assert_eq!(client(&found(&all)).stream.counts.missing_bytes, u64::from(far * MSS));
}

#[test]
fn a_syn_that_a_rst_refuses_is_no_spurious_retransmission() {
    let refused = [c(0, Flags::SYN, 0, 0), s(1, Flags::RST | A, 0, 1)];
    let again = [c(500, Flags::SYN, 0, 0), s(501, Flags::RST | A, 0, 1)];
    let all: Vec<_> = refused.into_iter().chain(again).collect();
    let end = client(&found(&all));
    assert_eq!((end.counts.control_retransmits, end.stream.counts.needless), (1, 0));
}
