//! Each rule of ECN, kept and broken by hand: the violation is found, at its packet, and nothing else is.

use crate::common;

use common::{A, CWR, ECE, MSS, P, a, broken, c, d, ecn_handshake, plain_handshake, s};
use ecnlab_trace::{RULES, Rule, Standard};
use ecnlab_wire::{Ecn, Flags};

fn rfc3168(packets: &[P]) -> Vec<(Rule, u64)> {
    broken(packets, Standard::Rfc3168)
}

/// Four segments outstanding, one acknowledged at a time, the third with CE: ECE for its ACK and the next, CWR on the
/// first new segment, two segments outstanding from then on. Round trips of 40 ms, seen at the sender.
fn a_mark_answered() -> Vec<P> {
    let mut all = ecn_handshake();
    all.extend((0..4).map(|n| d(20, n)));
    all[5].ecn = Ecn::Ce; // the third segment, packet 6
    all.extend([a(60, 1), d(60, 4), a(60, 2), d(60, 5)]); // packets 8 to 11
    all.extend([a(61, 3).flags(ECE), a(61, 4).flags(ECE)]); // 12, 13
    // Outstanding were 3 when ECE came, without the one it acknowledges; 2 are left: the sender waits for the next ACK.
    all.extend([a(100, 5).flags(ECE), d(100, 6).flags(CWR), a(100, 6).flags(ECE), d(100, 7)]); // 14 to 17
    all.extend([a(140, 7), d(140, 8), a(140, 8), d(140, 9), a(180, 9), d(180, 10), a(180, 10)]); // 18 to 24
    all
}

#[test]
fn who_keeps_the_rules_breaks_none() {
    assert_eq!(rfc3168(&a_mark_answered()), []);
    assert_eq!(broken(&a_mark_answered(), Standard::Rfc2481), []);
}

/// The same with DCTCP at both ends: SYN and SYN-ACK are ECT(0), and ECE is on the ACK of the marked segment only.
fn dctcp_answers() -> Vec<P> {
    let mut all = a_mark_answered();
    (all[0].ecn, all[1].ecn) = (Ecn::Ect0, Ecn::Ect0);
    [12, 13, 15].into_iter().for_each(|n| all[n].flags.remove(Flags::ECE));
    all
}

#[test]
fn dctcp_keeps_the_rules_of_rfc_8257_and_not_those_of_rfc_3168() {
    assert_eq!(broken(&dctcp_answers(), Standard::Rfc8257), []);
    let broken_there: Vec<Rule> = rfc3168(&dctcp_answers()).into_iter().map(|(rule, _)| rule).collect();
    assert_eq!(broken_there, [Rule::EctOnSyn, Rule::EctOnSyn, Rule::EceStopped]);
    // Its ACKs are not ECT either.
    let mut all = dctcp_answers();
    all[9].ecn = Ecn::Ect0;
    assert_eq!(broken(&all, Standard::Rfc8257).into_iter().map(|(rule, _)| rule).collect::<Vec<_>>(), [Rule::EctOnAck]);
}

#[test]
fn ect_on_a_syn() {
    let mut all = ecn_handshake();
    all[0].ecn = Ecn::Ect0;
    assert_eq!(rfc3168(&all), [(Rule::EctOnSyn, 1)]);
    let mut all = ecn_handshake();
    all[1].ecn = Ecn::Ce;
    assert_eq!(rfc3168(&all), [(Rule::EctOnSyn, 2)]);
}

#[test]
fn setup_flags_that_mean_nothing() {
    let mut all = ecn_handshake();
    all[0].flags = Flags::SYN | Flags::ECE;
    assert_eq!(rfc3168(&all[..1]), [(Rule::SetupFlags, 1)]);
    let mut all = ecn_handshake();
    all[1].flags |= Flags::CWR; // reflected
    assert_eq!(rfc3168(&all), [(Rule::SetupFlags, 2)]);
}

#[test]
fn ect_and_echo_that_were_not_agreed_on() {
    let mut all = plain_handshake();
    all.extend([d(20, 0), a(60, 1).flags(ECE)]);
    assert_eq!(rfc3168(&all), [(Rule::EctNotNegotiated, 4), (Rule::EceNotNegotiated, 5)]);
}

#[test]
fn ect_on_a_pure_ack() {
    let mut all = a_mark_answered();
    all[7].ecn = Ecn::Ect0;
    assert_eq!(rfc3168(&all), [(Rule::EctOnAck, 8)]);
}

#[test]
fn ect_and_cwr_on_a_retransmission() {
    let mut all = ecn_handshake();
    all.extend([d(20, 0), d(1100, 0), a(1140, 1)]);
    assert_eq!(rfc3168(&all), [(Rule::EctOnRetransmission, 5)]);
    assert_eq!(broken(&all, Standard::Rfc2481), [], "RFC 2481 has no such rule");
    all[4] = d(1100, 0).ecn(Ecn::NotEct).flags(CWR);
    assert_eq!(rfc3168(&all), [(Rule::CwrOnRetransmission, 5)]);
    assert_eq!(broken(&all, Standard::Rfc2481), [], "RFC 2481 sends CWR on any data packet");
}

#[test]
fn ect_on_a_window_probe() {
    let mut all = ecn_handshake();
    all.extend([d(20, 0), a(60, 1).window(0), d(400, 1).len(1), d(900, 1).len(1)]);
    assert_eq!(rfc3168(&all), [(Rule::EctOnProbe, 6), (Rule::EctOnProbe, 7)]);
}

#[test]
fn an_echo_that_stops_before_cwr() {
    let mut all = a_mark_answered();
    all[13].flags = A; // the ACK before the one that CWR answers
    all[15].flags = A;
    let found = rfc3168(&all);
    assert_eq!(found, [(Rule::EceStopped, 14)]);
}

/// Eight segments of which the first is lost; CWR on the ninth announces the reduction. 19 packets.
fn a_loss_announced_by_cwr() -> Vec<P> {
    let mut all = ecn_handshake();
    all.extend((0..8).map(|n| d(20, n)));
    all.extend([a(60, 0), a(60, 0), a(60, 0), d(60, 0).ecn(Ecn::NotEct), a(61, 0), a(61, 0), a(61, 0)]);
    all.push(d(61, 8).flags(CWR));
    all
}

#[test]
fn an_echo_that_meets_cwr_on_its_way_may_stop() {
    let mut all = a_loss_announced_by_cwr();
    // The eighth segment was marked, behind this place: its echo comes by when CWR has, and ends when CWR arrives.
    all.extend([a(62, 0).flags(ECE), a(100, 8).flags(ECE), a(101, 9), d(102, 9), a(142, 10)]);
    assert_eq!(rfc3168(&all), []);
}

/// RFC 2481 may have CWR on a retransmission, here of what was only late.
#[test]
fn an_echo_may_stop_with_cwr_on_a_retransmission_that_nobody_missed() {
    let mut all = ecn_handshake();
    all.extend((0..4).map(|n| d(20, n)));
    all.extend([d(1100, 0).flags(CWR), a(1101, 2), a(1102, 3).flags(ECE), a(1103, 4).flags(ECE)]); // 8 to 11
    all.extend([d(1103, 4), a(1140, 4), a(1143, 5)]); // the first is for what came again
    assert_eq!(broken(&all, Standard::Rfc2481), []);
}

#[test]
fn an_echo_of_what_left_after_cwr_has_to_last() {
    let mut all = a_loss_announced_by_cwr();
    // One ACK for the segment with CWR and the one with CE behind it.
    all.extend([d(61, 9).ecn(Ecn::Ce), a(100, 8), a(101, 10).flags(ECE), d(102, 10), a(142, 11)]);
    assert_eq!(rfc3168(&all), [(Rule::EceStopped, 24)]);
}

#[test]
fn a_mark_without_an_echo() {
    let mut all = a_mark_answered();
    all.iter_mut().filter(|p| !p.flags.contains(Flags::SYN)).for_each(|p| p.flags &= A);
    assert_eq!(rfc3168(&all), [(Rule::EceMissing, 12)]);
}

/// A handshake as the receiver's own interface shows it: it answers at once, the sender 40 ms later.
fn handshake_at_the_receiver() -> Vec<P> {
    let (ask, agree) = (Flags::SYN | Flags::ECE | Flags::CWR, Flags::SYN | Flags::ACK | Flags::ECE);
    vec![c(0, ask, 0, 0), s(0, agree, 0, 1), c(40, A, 1, 1)]
}

/// Whether ECE was reported for the client's data.
fn checked(all: &[P]) -> Option<bool> {
    common::found(all).tracker.connection(0).ends[0].ecn.echo_checked()
}

#[test]
fn an_echo_of_nothing() {
    let of_nothing = |mut all: Vec<P>| {
        all.extend([d(40, 0), a(40, 1), d(40, 1), a(40, 2).flags(ECE), d(80, 2).flags(CWR), a(80, 3)]);
        all
    };
    let all = of_nothing(handshake_at_the_receiver());
    assert_eq!((rfc3168(&all), checked(&all)), (vec![(Rule::EceWithoutCe, 7)], Some(true)));
    let mut marked = all.clone();
    marked[5].ecn = Ecn::Ce;
    assert_eq!(rfc3168(&marked), []);
    // At the sender no mark comes by.
    let all = of_nothing(ecn_handshake());
    assert_eq!((rfc3168(&all), checked(&all)), (vec![], Some(false)));
    assert_eq!(checked(&ecn_handshake()), None);
    // Half way: the receiver is 5 ms away, or a hundredth of the sender's time but more than a host takes.
    for (receiver, sender) in [(5, 45), (2, 400)] {
        let mut handshake = handshake_at_the_receiver();
        (handshake[1].at, handshake[2].at) = (receiver, sender);
        let mut all = of_nothing(handshake);
        all[3..].iter_mut().for_each(|packet| packet.at += 500);
        assert_eq!((rfc3168(&all), checked(&all)), (vec![], Some(false)), "{receiver}");
    }
    // Of what the capture lost there may have been a mark.
    let mut all = of_nothing(handshake_at_the_receiver());
    all.remove(5);
    assert_eq!((rfc3168(&all), checked(&all)), (vec![], Some(false)));
}

/// A mark, its echo, CWR with the seventh packet behind it, and an echo that goes on.
fn an_endless_echo(handshake: Vec<P>) -> Vec<P> {
    let mut all = handshake;
    all.extend([d(40, 0).ecn(Ecn::Ce), d(40, 1), a(40, 1).flags(ECE), a(40, 2).flags(ECE)]); // 4 to 7
    all.extend([d(80, 2).flags(CWR), d(80, 3), a(80, 3).flags(ECE), a(80, 4).flags(ECE)]); // 8 to 11
    all.extend([d(120, 4), a(120, 5).flags(ECE)]);
    all
}

#[test]
fn an_echo_that_goes_on_after_cwr() {
    // The ACK of CWR itself may be for a mark before it.
    let all = an_endless_echo(handshake_at_the_receiver());
    let found = rfc3168(&all);
    assert_eq!(found.iter().filter(|v| v.0 == Rule::EceAfterCwr).collect::<Vec<_>>(), [&(Rule::EceAfterCwr, 11)]);
    for marked in [7, 8] {
        let mut all = all.clone();
        all[marked].ecn = Ecn::Ce;
        assert!(rfc3168(&all).iter().all(|v| v.0 != Rule::EceAfterCwr), "another mark came with or behind CWR");
    }
    // Elsewhere a mark that came by shows what a router before this place does; what comes a window later is another echo.
    let found = rfc3168(&an_endless_echo(ecn_handshake()));
    assert_eq!(found.iter().filter(|v| v.0 == Rule::EceAfterCwr).collect::<Vec<_>>(), [&(Rule::EceAfterCwr, 13)]);
    // Without one, nothing is reported.
    let mut all = an_endless_echo(ecn_handshake());
    all[3].ecn = Ecn::Ect0;
    assert!(rfc3168(&all).iter().all(|v| v.0 != Rule::EceAfterCwr));
    assert_eq!(checked(&all), Some(false));
}

#[test]
fn an_ack_of_a_mark_and_of_cwr_has_ece() {
    let mut all = handshake_at_the_receiver();
    all.extend([d(40, 0).ecn(Ecn::Ce), a(40, 1).flags(ECE), d(80, 1).ecn(Ecn::Ce), d(80, 2).flags(CWR)]);
    all.extend([a(80, 3).flags(ECE), d(120, 3), a(120, 4)]);
    assert_eq!(rfc3168(&all), []);
}

/// CWR that is lost behind this place does not end the echo.
#[test]
fn an_echo_goes_on_where_cwr_was_lost() {
    let mut all = ecn_handshake();
    all.extend([d(40, 0).ecn(Ecn::Ce), d(40, 1), a(60, 1).flags(ECE), a(60, 2).flags(ECE)]);
    all.extend([d(60, 2).flags(CWR), d(60, 3), a(80, 2).flags(ECE), d(1060, 2).ecn(Ecn::NotEct)]);
    all.extend([a(1080, 4).flags(ECE), d(1080, 4), a(1100, 5).flags(ECE)]);
    assert!(rfc3168(&all).iter().all(|v| v.0 != Rule::EceAfterCwr));
}

/// One segment at a time: what is sent after ECE is sent after the reduction.
#[test]
fn a_window_of_one_segment_without_cwr() {
    let mut all = ecn_handshake();
    all.extend([d(20, 0), a(60, 1).flags(ECE), d(60, 1), a(100, 2)]);
    assert_eq!(rfc3168(&all), [(Rule::CwrMissing, 6)]);
    all[5].flags = CWR;
    assert_eq!(rfc3168(&all), []);
    // Half way to the sender, whose answer takes 15 ms.
    let mut all = ecn_handshake();
    (all[1].at, all[2].at) = (15, 30);
    all.extend([d(40, 0), a(50, 1).flags(ECE), d(70, 1), a(80, 2).flags(ECE), d(100, 2)]);
    assert_eq!(rfc3168(&all), [(Rule::CwrMissing, 6), (Rule::CwrMissing, 8)]);
    // What comes by sooner was sent before.
    all[5].at = 60;
    assert_eq!(rfc3168(&all[..7]), []);
}

#[test]
fn a_reduction_without_cwr() {
    let mut all = a_mark_answered();
    all[14].flags = A;
    // The receiver would go on echoing; ACKs without ECE would be a violation of its own.
    all[17..].iter_mut().filter(|p| !p.from_client).for_each(|p| p.flags = ECE);
    assert_eq!(rfc3168(&all), [(Rule::CwrMissing, 19), (Rule::CwrMissing, 23)], "one for each window");
}

#[test]
fn cwr_twice_for_one_window() {
    let mut all = a_mark_answered();
    all[16].flags = CWR; // the segment behind the first CWR
    assert_eq!(rfc3168(&all), [(Rule::CwrTwice, 17)]);
}

/// A window of eight, and after ECE the sender goes on as before.
#[test]
fn no_reduction_after_ece() {
    let mut all = ecn_handshake();
    all.extend((0..8).map(|n| d(20, n)));
    all[3].ecn = Ecn::Ce;
    for n in 0..8 {
        all.extend([a(60, n + 1).flags(ECE), d(60, n + 8).flags(if n == 0 { CWR } else { A })]);
    }
    for n in 8..16 {
        all.extend([a(100, n + 1), d(100, n + 8)]);
    }
    let found = rfc3168(&all);
    assert_eq!(found, [(Rule::NoReduction, 12 + 2 * 8 + 1)]);
}

/// Slow start goes on under ECE: two segments for each ACK.
#[test]
fn growth_on_ece() {
    let mut all = ecn_handshake();
    all.extend((0..4).map(|n| d(20, n)));
    all[3].ecn = Ecn::Ce;
    for n in 0..4 {
        all.push(a(60, n + 1).flags(ECE));
        all.extend([d(60, 4 + 2 * n).flags(if n == 0 { CWR } else { A }), d(60, 5 + 2 * n)]);
    }
    // Four were outstanding; the second ACK brings six, which is more than four and a segment.
    assert_eq!(rfc3168(&all), [(Rule::GrowthOnEce, 13)]);
}

/// Two segments outstanding; RFC 3042 lets one more out for each of the first two duplicate ACKs, and they have ECE.
#[test]
fn limited_transmit_is_no_growth() {
    let mut all = ecn_handshake();
    all.extend([d(20, 0), d(20, 1).ecn(Ecn::Ce), a(60, 1), a(60, 2).flags(ECE), d(60, 2).flags(CWR), d(60, 3)]);
    all.extend([a(100, 2).flags(ECE), d(100, 4), a(101, 2).flags(ECE), d(101, 5)]);
    assert_eq!(rfc3168(&all), []);
    // The same behind ACKs of new data is growth: five outstanding after two.
    all.truncate(9);
    all.extend([a(100, 3).flags(ECE), d(100, 4), d(100, 5), d(100, 6), d(100, 7)]);
    assert_eq!(rfc3168(&all), [(Rule::GrowthOnEce, 13)]);
}

/// Linux's PRR (RFC 6937): the recovery ends on an ACK of all data, with ECE, and of a window of ten segments one is outstanding.
/// The sender sends two segments for each ACK up to its reduced window, and reduces it for the next mark meanwhile.
#[test]
fn a_window_that_is_filled_after_a_recovery_is_no_growth() {
    let mut all = ecn_handshake();
    all.extend((0..10).map(|n| d(20, n)));
    all[3].ecn = Ecn::Ce;
    all.extend([a(60, 10).flags(ECE), d(60, 10).flags(CWR)]); // 14, 15
    all.extend([a(100, 11).flags(ECE), d(100, 11).flags(CWR), d(100, 12)]); // 16 to 18
    all.extend([a(140, 12).flags(ECE), d(140, 13), d(140, 14), d(140, 15)]); // 19 to 22
    assert_eq!(rfc3168(&all), []);
    // Twelve are more than the ten that were outstanding before, by more than one.
    all.extend((16..24).map(|n| d(140, n)));
    assert_eq!(rfc3168(&all), [(Rule::GrowthOnEce, 30)]);
}

/// The peer's window has room for four segments, of a window of eight: the sender halves it, and may send as much as before;
/// when the peer's window opens, the sender fills its own.
#[test]
fn a_sender_held_by_the_peers_window_need_not_send_less() {
    let acks = |before: u16, then: u16| {
        let mut all = ecn_handshake();
        all.extend((0..4).map(|n| d(20, n)));
        all[1].window = before;
        all[3].ecn = Ecn::Ce;
        for n in 0..4 {
            let ack = a(60, n + 1).flags(ECE).window(before);
            all.extend([ack, d(60, n + 4).flags(if n == 0 { CWR } else { A })]);
        }
        for n in 4..8 {
            all.extend([a(100, n + 1).window(then), d(100, n + 4)]);
        }
        all
    };
    assert_eq!(rfc3168(&acks(4000, 4000)), []);
    assert_eq!(rfc3168(&acks(5000, 5000)), [(Rule::NoReduction, 17)]);
    let opens = |before| {
        let mut all = acks(before, before);
        all.truncate(9);
        all.extend([a(60, 2).flags(ECE).window(9000), d(60, 5), d(60, 6), d(60, 7)]);
        rfc3168(&all)
    };
    assert_eq!(opens(4000), []);
    assert_eq!(opens(5000), [(Rule::GrowthOnEce, 13)]);
}

#[test]
fn an_echo_that_runs_when_the_capture_begins_may_stop() {
    let all = a_mark_answered()[11..].to_vec();
    let without_cwr: Vec<P> = all.into_iter().filter(|p| !p.flags.contains(Flags::CWR)).collect();
    assert!(rfc3168(&without_cwr).iter().all(|v| v.0 != Rule::EceStopped));
}

#[test]
fn an_ack_with_ece_that_others_have_overtaken_begins_no_echo() {
    let mut all = a_mark_answered();
    all.extend([a(181, 6).flags(ECE), d(181, 11), a(220, 11)]); // the ACK of packet 16 once more, after CWR arrived
    assert_eq!(rfc3168(&all), []);
    // The same as the newest one: an echo that has to last.
    all.truncate(24);
    all.extend([d(181, 11), a(220, 11).flags(ECE), d(221, 12), a(260, 12)]);
    assert_eq!(rfc3168(&all), [(Rule::EceStopped, 28)]);
}

#[test]
fn marks_on_data_that_was_lost_or_came_out_of_order_are_no_violation() {
    // The marked segment is lost and sent again: nobody can echo its mark.
    let mut all = ecn_handshake();
    all.extend([d(20, 0).ecn(Ecn::Ce), d(1100, 0).ecn(Ecn::NotEct), a(1140, 1)]);
    assert_eq!(rfc3168(&all), []);
    // An old ACK overtaken by the one with ECE.
    let mut all = ecn_handshake();
    all.extend([d(20, 0), d(20, 1).ecn(Ecn::Ce), a(60, 2).flags(ECE), a(61, 1)]);
    assert_eq!(rfc3168(&all), []);
}

#[test]
fn every_rule_has_a_name_and_a_sentence_of_its_own() {
    let unique = |f: fn(Rule) -> &'static str| {
        let all: std::collections::BTreeSet<&str> = RULES.into_iter().map(f).collect();
        assert_eq!(all.len(), RULES.len());
    };
    unique(Rule::name);
    unique(Rule::text);
    for (i, rule) in RULES.into_iter().enumerate() {
        assert_eq!(rule as usize, i);
    }
}

#[test]
fn a_rule_has_the_section_of_its_text() {
    use Rule::*;
    // RFC 3168 §6.1.1 is the handshake, §6.1.2 the sender, §6.1.3 the receiver, §6.1.4 to §6.1.6 what is not ECT.
    let sections: [&[Rule]; 6] = [
        &[EctOnSyn, SetupFlags, EctNotNegotiated, EceNotNegotiated],
        &[CwrOnRetransmission, CwrMissing, CwrTwice, NoReduction, GrowthOnEce],
        &[EceStopped, EceMissing, EceWithoutCe, EceAfterCwr],
        &[EctOnAck],
        &[EctOnRetransmission],
        &[EctOnProbe],
    ];
    let others =
        RULES.into_iter().filter(|rule| rule.section(Standard::Rfc3168).is_none_or(|s| s.starts_with("RFC 9")));
    assert_eq!(sections.concat().len() + others.count(), RULES.len());
    for (n, rules) in (1..).zip(sections) {
        let name = format!("RFC 3168 section 6.1.{n}");
        assert!(rules.iter().all(|rule| rule.section(Standard::Rfc3168) == Some(&name)), "{name}");
    }
    // RFC 2481 has the same numbers, but that of the sender's CWR, and nothing on what is sent again.
    let old = |rule: Rule| rule.section(Standard::Rfc2481);
    assert_eq!([EctOnRetransmission, EctOnProbe, CwrOnRetransmission].map(old), [None; 3]);
    assert_eq!([SetupFlags, NoReduction].map(old), [Some("RFC 2481 section 6.1.1"), Some("RFC 2481 section 6.1.2")]);
    assert_eq!([EceMissing, CwrTwice, CwrMissing].map(old), [Some("RFC 2481 section 6.1.3"); 3]);
    assert_eq!(old(EctOnAck), Some("RFC 2481 section 6.1.4"));
    // RFC 8257 §3.2 is the receiver, §3.3 the sender; §3.6 has ECT on SYNs. What it leaves alone is RFC 3168's.
    let dctcp = |rule: Rule| rule.section(Standard::Rfc8257);
    let gone = [EctOnSyn, EceStopped, EceMissing, EceAfterCwr, NoReduction, GrowthOnEce];
    assert_eq!(gone.map(dctcp), [None; 6]);
    assert_eq!(dctcp(EceWithoutCe), Some("RFC 8257 section 3.2"));
    assert_eq!([CwrOnRetransmission, CwrMissing, CwrTwice].map(dctcp), [Some("RFC 8257 section 3.3"); 3]);
    assert_eq!([EctOnAck, EctOnProbe].map(dctcp), [Some("RFC 3168 section 6.1.4"), Some("RFC 3168 section 6.1.6")]);
}

#[test]
fn a_syn_ack_that_has_nothing_to_do_with_its_syn() {
    // The SYN is not in the capture: the request is unknown, and no rule applies.
    let all = [s(0, Flags::SYN | A, 0, 1), c(1, A, 1, 1), d(2, 0), a(40, 1).flags(ECE)];
    assert_eq!(rfc3168(&all), []);
    assert_eq!(MSS, 1000);
}

/// A SYN with `syn`, its SYN-ACK with `answer` and the ACK.
fn handshake_with(syn: Flags, answer: Flags) -> Vec<P> {
    let mut all = plain_handshake();
    all[0].flags |= syn;
    all[1].flags |= answer;
    all
}

#[test]
fn a_syn_ack_with_ecn_answers_a_syn_without() {
    const BOTH: Flags = Flags::ECE.union(Flags::CWR);
    assert_eq!(rfc3168(&handshake_with(Flags::default(), Flags::ECE)), [(Rule::SetupFlags, 2)]);
    assert_eq!(rfc3168(&handshake_with(Flags::default(), Flags::CWR)), [(Rule::SetupFlags, 2)]);
    assert_eq!(rfc3168(&handshake_with(BOTH, Flags::CWR)), [(Rule::SetupFlags, 2)]);
    assert_eq!(rfc3168(&handshake_with(BOTH, Flags::ECE)), []);
    // Without the SYN, its flags are unknown.
    assert_eq!(rfc3168(&handshake_with(Flags::default(), Flags::ECE)[1..]), []);
    // A SYN sent again without ECN: the SYN-ACK may answer the first.
    let mut all = handshake_with(BOTH, Flags::ECE);
    all.insert(1, c(5, Flags::SYN, 0, 0));
    assert_eq!(rfc3168(&all), []);
}
