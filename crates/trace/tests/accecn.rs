//! Each rule of AccECN (RFC 9768), and those of DCTCP's echo and of L4S, kept and broken by hand: the violation is found, at
//! its packet, and nothing else is.

use crate::common;

use common::{A, MSS, P, a, broken, c, d, ecn_handshake, s};
use ecnlab_trace::{Negotiation, Rule, Standard};
use ecnlab_wire::{AccEcn, Ecn, Flags, SackBlock, Seq, TcpOptions};

/// An ACE field in the flags.
fn ace(value: u8) -> Flags {
    let flag = |bit, flag| if value & bit != 0 { flag } else { Flags::empty() };
    flag(4, Flags::AE) | flag(2, Flags::CWR) | flag(1, Flags::ECE)
}

fn option(counters: &[u32]) -> TcpOptions {
    ordered(false, counters)
}

fn ordered(ect1_first: bool, counters: &[u32]) -> TcpOptions {
    let mut options = TcpOptions::default();
    options.acc_ecn = Some(AccEcn::new(ect1_first, counters));
    options
}

/// The client's n-th segment, an ACK of its first `n` with the count `count` modulo 8, and the same with the option.
fn data(at: u64, n: u32) -> P {
    d(at, n).flags(A | ace(5))
}
fn ack(at: u64, n: u32, count: u8) -> P {
    a(at, n).flags(A | ace(count % 8))
}
fn with(at: u64, n: u32, count: u8, counters: &[u32]) -> P {
    ack(at, n, count).options(option(counters))
}

/// A handshake that agrees on AccECN, at the receiver's own interface, where SYN and SYN-ACK were Not-ECT.
fn handshake() -> Vec<P> {
    let syn = c(0, Flags::SYN | ace(0b111), 0, 0);
    let syn_ack = s(0, Flags::SYN | A | ace(0b010), 0, 1).options(option(&[1, 0, 1]));
    vec![syn, syn_ack, c(40, A | ace(0b010), 1, 1)]
}

/// The same where the receiver is 10 ms away and the sender is here.
fn handshake_at_the_sender() -> Vec<P> {
    let mut all = handshake();
    (all[1].at, all[2].at) = (10, 10);
    all
}

/// Five segments, of which the second and the third are marked, each acknowledged at once. 13 packets.
fn marked(handshake: Vec<P>) -> Vec<P> {
    let mut all = handshake;
    all.extend([data(40, 0), with(40, 1, 5, &[1001, 0])]); // 4, 5
    all.extend([data(41, 1).ecn(Ecn::Ce), with(41, 2, 6, &[1001, 1000])]); // 6, 7
    all.extend([data(42, 2).ecn(Ecn::Ce), with(42, 3, 7, &[1001, 2000])]); // 8, 9
    all.extend([data(43, 3), with(43, 4, 7, &[2001, 2000])]); // 10, 11
    all.extend([data(44, 4), with(44, 5, 7, &[3001, 2000])]); // 12, 13
    all
}

fn rules(packets: &[P]) -> Vec<(Rule, u64)> {
    broken(packets, Standard::Rfc3168)
}

fn negotiation(packets: &[P]) -> Negotiation {
    common::found(packets).tracker.connection(0).negotiation
}

#[test]
fn who_keeps_the_rules_breaks_none() {
    for handshake in [handshake(), handshake_at_the_sender()] {
        assert_eq!((rules(&marked(handshake.clone())), negotiation(&handshake)), (vec![], Negotiation::AccEcn));
    }
    for standard in [Standard::Rfc2481, Standard::Rfc8257, Standard::Rfc9331] {
        assert_eq!(broken(&marked(handshake()), standard), []);
    }
}

#[test]
fn reported_marks_are_counted() {
    let analysis = common::found(&marked(handshake()));
    let connection = analysis.tracker.connection(0);
    let marks = connection.marks(0).unwrap();
    assert_eq!((marks.packets, marks.bytes), (2, 2_000));
    assert!(common::found(&ecn_handshake()).tracker.connection(0).marks(0).is_none());
}

/// A counter of 24 bits that a corrupt option moves by 16 million, and back: what is marked was sent and acknowledged.
#[test]
fn no_more_marked_bytes_than_arrived_are_counted() {
    let mut all = marked(handshake_at_the_sender());
    all[8] = with(42, 3, 7, &[1001, 0xff_fff0]);
    let analysis = common::found(&all);
    let connection = analysis.tracker.connection(0);
    let marks = connection.marks(0).unwrap();
    assert_eq!((marks.packets, marks.bytes), (2, 3_000), "1000 of the second segment, 1000 each of two jumps");
}

#[test]
fn flags_that_accecn_does_not_set() {
    let mut all = handshake();
    all[0].flags = Flags::SYN | ace(0b101);
    assert_eq!(rules(&all[..1]), [(Rule::AccEcnSetup, 1)]);
    for answer in [0b101, 0b111] {
        let mut all = handshake();
        all[1].flags = Flags::SYN | A | ace(answer);
        assert_eq!(rules(&all[..2]), [(Rule::AccEcnSetup, 2)], "{answer}");
    }
    // AE answers a SYN that did not ask for AccECN.
    let mut all = ecn_handshake();
    all[1].flags = Flags::SYN | A | ace(0b100);
    assert_eq!(rules(&all[..2]), [(Rule::AccEcnSetup, 2)]);
}

#[test]
fn the_answer_decides() {
    let agreed = |answer| {
        let mut all = handshake();
        all[1].flags = Flags::SYN | A | ace(answer);
        negotiation(&all[..2])
    };
    let classic = Negotiation::AccEcnToClassic;
    assert_eq!([0b000, 0b001, 0b111].map(agreed), [Negotiation::Refused, classic, Negotiation::Reflected]);
    // Reserved, and taken for AccECN (§3.1.3).
    assert_eq!([0b010, 0b011, 0b100, 0b101, 0b110].map(agreed), [Negotiation::AccEcn; 5]);
}

#[test]
fn a_syn_of_two_kinds() {
    let mut all = handshake();
    all.insert(1, c(0, Flags::SYN | ace(0b011), 0, 0));
    assert_eq!(rules(&all), [(Rule::SetupMixed, 2)]);
}

#[test]
fn a_syn_without_accecn_may_follow() {
    // §3.1.5: the first SYN has decided; the server sends nothing ECN-capable.
    let mut all = handshake();
    all.insert(1, c(0, Flags::SYN, 0, 0));
    all.push(s(40, A | ace(5), 1, 1).len(100));
    assert_eq!((rules(&all), negotiation(&all)), (vec![], Negotiation::AccEcn));
    all[4].ecn = Ecn::Ect0;
    assert_eq!(rules(&all), [(Rule::EctAfterFallback, 5)]);
}

#[test]
fn codepoints_of_the_handshake_that_are_not_given_back() {
    let mut all = handshake();
    all[1].flags = Flags::SYN | A | ace(0b110);
    assert_eq!(rules(&all), [(Rule::SynAckCode, 2)]);
    // Elsewhere the path may have changed the SYN.
    let mut all = handshake_at_the_sender();
    all[1].flags = Flags::SYN | A | ace(0b110);
    assert_eq!(rules(&all), []);
    // The last ACK: at the client's interface its code is known, elsewhere that it is one.
    for (code, wrong) in [(0b010, false), (0b100, true), (0b101, true), (0b000, true)] {
        let mut all = handshake_at_the_sender();
        all[2].flags = A | ace(code);
        assert_eq!(rules(&all), if wrong { vec![(Rule::LastAckCode, 3)] } else { vec![] }, "{code}");
    }
    let mut all = handshake();
    all[2].flags = A | ace(0b100);
    assert_eq!(rules(&all), []);
    all[2].flags = A | ace(0b101);
    assert_eq!(rules(&all), [(Rule::LastAckCode, 3)]);
}

#[test]
fn an_option_on_a_syn_and_one_that_does_not_begin_at_the_beginning() {
    let mut all = handshake();
    all[0].options = option(&[1, 0, 1]);
    assert_eq!(rules(&all), [(Rule::OptionOnSyn, 1)]);
    let mut all = handshake();
    all[1].options = option(&[0, 0, 0]);
    assert_eq!(rules(&all), [(Rule::OptionStart, 2)]);
}

#[test]
fn a_mark_that_the_field_does_not_count() {
    for handshake in [handshake(), handshake_at_the_sender()] {
        let mut all = marked(handshake);
        all.iter_mut().skip(4).filter(|p| !p.from_client).for_each(|p| p.options = TcpOptions::default());
        all[6].flags = A | ace(5);
        // The next ACK counts one: a count that lags is reported once.
        all[8].flags = A | ace(6);
        all[10].flags = A | ace(6);
        all[12].flags = A | ace(6);
        assert_eq!(rules(&all), [(Rule::AceMissing, 7)]);
    }
}

#[test]
fn a_count_of_more_than_has_come() {
    let of = |handshake: Vec<P>, count| {
        let mut all = handshake;
        all.extend([data(40, 0), ack(40, 1, count), data(41, 1), ack(41, 2, count)]);
        rules(&all)
    };
    assert_eq!(of(handshake(), 6), [(Rule::AceWithoutCe, 5)]);
    // Behind the sender one packet may have been marked, not two; the field may not begin at 0.
    assert_eq!(of(handshake_at_the_sender(), 6), []);
    assert_eq!(of(handshake_at_the_sender(), 7), [(Rule::AceWithoutCe, 5)]);
    assert_eq!(of(handshake_at_the_sender(), 0), [(Rule::AceWithoutCe, 5)]);
}

#[test]
fn a_field_that_wraps_is_read_against_what_has_come() {
    // Eight marks, acknowledged by four: 5, 1, 5.
    let mut all = handshake();
    all.extend((0..4).map(|n| data(40, n).ecn(Ecn::Ce)));
    all.push(ack(40, 4, 9));
    all.extend((4..8).map(|n| data(41, n).ecn(Ecn::Ce)));
    all.push(ack(41, 8, 13));
    assert_eq!(rules(&all), []);
    all[12].flags = A | ace(4);
    assert_eq!(rules(&all), [(Rule::AceMissing, 13)]);
}

#[test]
fn eight_packets_for_one_ack_prove_nothing_elsewhere() {
    let of = |segments| {
        let mut all = handshake_at_the_sender();
        all.extend((0..segments).map(|n| data(20, n)));
        all.push(ack(60, segments, 4));
        rules(&all)
    };
    // The field counts seven marks, or fifteen.
    assert_eq!((of(6).len(), of(7).len(), of(8).len()), (1, 0, 0));
}

#[test]
fn marks_that_may_have_been_lost_or_counted_before_are_no_violation() {
    // The second segment is marked here and lost behind; SACK reports the third.
    let mut all = handshake_at_the_sender();
    all.extend([data(20, 0), data(20, 1).ecn(Ecn::Ce), data(20, 2)]);
    let mut sack = TcpOptions::default();
    sack.push_sack(SackBlock { start: Seq(2001), end: Seq(3001) });
    all.extend([ack(60, 1, 5), ack(60, 1, 5).options(sack), data(100, 1), ack(140, 3, 5)]);
    assert_eq!(rules(&all), []);
    // The third is marked and counted with the duplicate ACK.
    all[5] = data(20, 2).ecn(Ecn::Ce);
    (all[7], all[9]) = (ack(60, 1, 6).options(sack), ack(140, 3, 6));
    assert_eq!(rules(&all), []);
}

#[test]
fn an_ack_that_others_have_overtaken_is_ignored() {
    let mut all = marked(handshake());
    all.push(with(45, 2, 6, &[1001, 1000]));
    assert_eq!(rules(&all), []);
}

#[test]
fn marks_that_wait_for_an_ack() {
    // The ACK of a mark comes 1 ms later in a host that needs no time; other data came between.
    let mut all = handshake();
    all.extend([data(40, 0), ack(40, 1, 5), data(41, 1).ecn(Ecn::Ce), data(42, 2), ack(42, 3, 6)]);
    assert_eq!(rules(&all), [(Rule::AckOnCe, 8)]);
    // The one before had CE, too: only data behind others are acknowledged at once.
    all[3].ecn = Ecn::Ce;
    (all[4], all[7]) = (ack(40, 1, 6), ack(42, 3, 7));
    assert_eq!(rules(&all), []);
    // Where the receiver is away, ACKs take their time.
    let mut away = handshake_at_the_sender();
    away.extend([data(40, 0), ack(50, 1, 5), data(51, 1).ecn(Ecn::Ce), data(52, 2), ack(62, 3, 6)]);
    assert_eq!(rules(&away), []);
}

#[test]
fn seven_marks_are_acknowledged() {
    let of = |marks| {
        let mut all = handshake();
        all.extend([data(40, 0).ecn(Ecn::Ce), ack(40, 1, 6)]);
        all.extend((1..=marks).map(|n| data(40, n).ecn(Ecn::Ce)));
        all.push(ack(41, marks + 1, 6 + marks as u8));
        rules(&all)
    };
    assert_eq!((of(6), of(7)), (vec![], vec![(Rule::AckOnMarks, 13)]));
}

#[test]
fn counters_of_the_option_that_are_not_the_bytes() {
    for (place, counters) in [(8, [1001, 1999]), (8, [1002, 2000]), (12, [2001, 2000]), (12, [3002, 2000])] {
        let mut all = marked(handshake());
        all[place].options = option(&counters);
        assert!(rules(&all).contains(&(Rule::OptionBytes, place as u64 + 1)), "{counters:?}");
    }
    // Behind the sender's place ECT(0) may become CE; neither may be more than came by, nor may marked bytes be left out.
    let at_the_sender = |counters: [u32; 2]| {
        let mut all = marked(handshake_at_the_sender());
        all[12] = with(44, 5, 0, &counters);
        rules(&all)
    };
    assert_eq!(at_the_sender([2001, 3000]), []);
    assert_eq!(at_the_sender([2002, 3000]), [(Rule::OptionBytes, 13)]);
    let mut all = marked(handshake_at_the_sender());
    all[6].options = option(&[1001, 999]);
    all.truncate(7);
    assert_eq!(rules(&all), [(Rule::OptionBytes, 7)]);
}

#[test]
fn both_orders_and_all_lengths_are_read() {
    let mut all = handshake();
    let first = |counters: &[u32]| ordered(true, counters);
    all.extend([data(40, 0).ecn(Ecn::Ect1), ack(40, 1, 5).options(first(&[1001]))]);
    all.extend([data(41, 1).ecn(Ecn::Ce), ack(41, 2, 6).options(first(&[1001, 1000]))]);
    all.extend([data(42, 2).ecn(Ecn::Ect0), ack(42, 3, 6).options(first(&[1001, 1000, 1001]))]);
    assert_eq!(rules(&all), []);
    all[6].options = first(&[1001]);
    assert_eq!(rules(&all), [(Rule::OptionOmits, 7)]);
}

#[test]
fn an_option_that_comes_back_was_due() {
    let mut all = marked(handshake());
    all[6].options = TcpOptions::default();
    assert_eq!(rules(&all), [(Rule::OptionMissing, 7)]);
    // It was given up.
    all.iter_mut().skip(6).for_each(|p| p.options = TcpOptions::default());
    assert_eq!(rules(&all), []);
    // There was no room for it.
    let mut all = marked(handshake());
    let mut full = TcpOptions::default();
    (0..4).for_each(|n| full.push_sack(SackBlock { start: Seq(9001 + 2 * n), end: Seq(9002 + 2 * n) }));
    all[6].options = full;
    assert!(!rules(&all).iter().any(|v| v.0 == Rule::OptionMissing));
}

#[test]
fn an_option_that_comes_late_was_due_at_the_start() {
    // At the client: the server sends data, and the option is on the second ACK of them only.
    let mut all = handshake_at_the_sender();
    let sent = |at, n: u32| s(at, A | ace(5), 1 + n * MSS, 1).len(MSS).ecn(Ecn::Ect0);
    let acked = |at, n: u32| c(at, A | ace(5), 1, 1 + n * MSS);
    all.extend([sent(50, 0), acked(50, 1), sent(51, 1), acked(51, 2).options(option(&[2001]))]);
    (all[1].at, all[2].at) = (40, 40);
    assert_eq!(rules(&all), [(Rule::OptionNotAtStart, 3)]);
    all[2].options = option(&[1]);
    assert_eq!(rules(&all), []);
    // It never comes.
    all.iter_mut().skip(2).for_each(|p| p.options = TcpOptions::default());
    assert_eq!(rules(&all), []);
}

#[test]
fn a_counter_is_reported_for_each_4_megabytes() {
    let of = |segments: u32| {
        let mut all = handshake();
        all.extend([data(40, 0), with(40, 1, 5, &[1001])]);
        for n in 1..=segments {
            all.extend([data(41, n), ack(41, n + 1, 5)]);
        }
        all.pop();
        all.push(with(41, segments + 1, 5, &[1001 + segments * MSS]));
        rules(&all).into_iter().map(|v| v.0).collect::<Vec<_>>()
    };
    // 2^22 is 4,194,304.
    assert_eq!((of(4194), of(4195)), (vec![], vec![Rule::OptionRare]));
}

#[test]
fn a_connection_joined_on_its_way_is_known_by_its_field() {
    let all = marked(handshake());
    assert_eq!((rules(&all[3..]), negotiation(&all[3..])), (vec![], Negotiation::AccEcn));
    // Its first ACK is where the count begins.
    let mut all = all[3..].to_vec();
    all[7].flags = A | ace(1);
    assert!(rules(&all).iter().any(|v| v.0 == Rule::AceWithoutCe));
}

/// DCTCP at the receiver: ECE is the state of the last data.
fn dctcp() -> Vec<P> {
    let mut all = ecn_handshake();
    (all[1].at, all[2].at) = (0, 40);
    all.extend([d(40, 0), a(40, 1), d(41, 1).ecn(Ecn::Ce), a(41, 2).flags(common::ECE)]); // 4 to 7
    all.extend([d(42, 2), a(42, 3), d(43, 3), a(43, 4)]);
    all
}

#[test]
fn dctcps_echo_is_the_state() {
    let rfc8257 = |all: &[P]| {
        let mut found = broken(all, Standard::Rfc8257);
        found.retain(|v| !matches!(v.0, Rule::CwrMissing | Rule::EceWithoutCe));
        found
    };
    assert_eq!(rfc8257(&dctcp()), []);
    let mut all = dctcp();
    all[6].flags = A;
    assert_eq!(rfc8257(&all), [(Rule::EceNotState, 7)]);
    let mut all = dctcp();
    all[8].flags = common::ECE;
    assert_eq!(rfc8257(&all), [(Rule::EceNotState, 9)]);
    // The end of a mark is acknowledged at once, too.
    let mut all = dctcp();
    all.remove(8);
    assert_eq!(rfc8257(&all), [(Rule::AckOnChange, 10)]);
    // RFC 3168 has no such rules.
    assert!(broken(&dctcp(), Standard::Rfc3168).iter().all(|v| v.0 != Rule::EceNotState));
}

#[test]
fn ect1_without_feedback_that_counts() {
    let mut all = ecn_handshake();
    all.extend([d(20, 0).ecn(Ecn::Ect1), a(60, 1)]);
    assert_eq!(broken(&all, Standard::Rfc9331), [(Rule::Ect1WithoutAccEcn, 4)]);
    assert_eq!(rules(&all), [], "RFC 3168 §5 makes no difference between the two");
    let mut all = handshake();
    all.extend([data(40, 0).ecn(Ecn::Ect1), ack(40, 1, 5)]);
    assert_eq!(broken(&all, Standard::Rfc9331), []);
    assert_eq!(MSS, 1000);
}
