use super::*;

/// Counts of a long transfer with ECT(0), nothing marked or lost.
fn capable() -> Evidence {
    let acked = 1_000 * 1_000;
    Evidence { directions: 1, data: 1_000, ect: 1_000, answers: 500, acked, segment: 1_000, ..Evidence::default() }
}

fn accepted(vantage: Vantage, e: Evidence) -> Class {
    classify(Negotiation::Accepted, vantage, &e)
}

fn accecn(vantage: Vantage, e: Evidence) -> Class {
    classify(Negotiation::AccEcn, vantage, &e)
}

#[test]
fn the_place_is_that_of_the_end_that_answers_at_once_and_in_less_than_a_tenth_of_the_others_time() {
    let of = |sender, receiver| Vantage::of(Some(sender), Some(receiver));
    assert_eq!([of(100, 1_001), of(1_001, 100)], [Vantage::Sender, Vantage::Receiver]);
    assert_eq!([of(100, 1_000), of(AT_ONCE + 1, 100 * AT_ONCE)], [Vantage::Between; 2]);
    assert_eq!([Vantage::of(None, Some(1)), Vantage::of(Some(1), None)], [Vantage::Unknown; 2]);
}

#[test]
fn marks_that_are_echoed_and_answered_work_at_every_place() {
    let e = Evidence { ce: 24, ece: 40, cwr: 24, windows: 24, episodes: 24, ..capable() };
    for vantage in [Vantage::Sender, Vantage::Receiver, Vantage::Between, Vantage::Unknown] {
        assert_eq!(accepted(vantage, e), Class::Works);
    }
    // At the sender no mark passes.
    assert_eq!(accepted(Vantage::Sender, Evidence { ce: 0, ..e }), Class::Works);
}

#[test]
fn ect_without_marks_is_judged_by_the_losses() {
    let of = |lost, ect| accepted(Vantage::Receiver, Evidence { lost, ect, ..capable() });
    assert_eq!([of(2, 1_000), of(3, 1_000)], [Class::Unknown(Need::Congestion), Class::NoMark]);
    assert_eq!([of(3, 9), of(3, 10)], [Class::Unknown(Need::Data), Class::NoMark]);
}

#[test]
fn data_without_ect_need_ten_packets() {
    let of = |not_ect| accepted(Vantage::Receiver, Evidence { ect: 0, not_ect, ..capable() });
    assert_eq!([of(9), of(10)], [Class::Unknown(Need::Data), Class::NotEct]);
    let unknown = classify(Negotiation::Unknown, Vantage::Unknown, &Evidence { ect: 0, not_ect: 99, ..capable() });
    assert_eq!(unknown, Class::Unknown(Need::Handshake));
}

#[test]
fn a_mark_that_was_acknowledged_without_ece_is_not_echoed() {
    let e = Evidence { ce: 5, unechoed: 1, ..capable() };
    assert_eq!(accepted(Vantage::Receiver, e), Class::NotEchoed);
    // Its ACK was not captured.
    assert_eq!(accepted(Vantage::Receiver, Evidence { unechoed: 0, ..e }), Class::Unknown(Need::Marks));
}

#[test]
fn echoes_without_answers_need_three_windows() {
    let of = |windows, cwr| accepted(Vantage::Sender, Evidence { ece: 50, windows, cwr, episodes: 2, ..capable() });
    assert_eq!([of(2, 0), of(3, 0)], [Class::Unknown(Need::Marks), Class::NotAnswered]);
    // CWR of losses: fewer than half of the windows.
    assert_eq!([of(7, 3), of(6, 3)], [Class::NotAnswered, Class::Works]);
    let still = |unreduced| {
        accepted(Vantage::Sender, Evidence { ece: 50, windows: 8, cwr: 8, unreduced, episodes: 8, ..capable() })
    };
    assert_eq!([still(3), still(4)], [Class::Works, Class::NotAnswered]);
}

#[test]
fn away_from_the_sender_a_reduction_may_span_windows() {
    let of = |windows, cwr| accepted(Vantage::Receiver, Evidence { ece: 50, windows, cwr, episodes: 2, ..capable() });
    assert_eq!([of(16, 4), of(17, 4)], [Class::Works, Class::Unknown(Need::Sender)]);
    assert_eq!([of(32, 4), of(33, 4)], [Class::Unknown(Need::Sender), Class::NotAnswered]);
    assert_eq!([of(19, 0), of(20, 0)], [Class::Unknown(Need::Marks), Class::NotAnswered]);
}

#[test]
fn away_from_the_sender_cwr_may_answer_losses() {
    let of = |ce, ece, cwr, lost| {
        accepted(Vantage::Receiver, Evidence { ce, ece, cwr, lost, windows: 4, episodes: 4, ..capable() })
    };
    // One mark, echoed until the CWR of a loss; echoes of one ACK each, as many losses as CWR.
    assert_eq!([of(1, 256, 4, 9), of(7, 7, 6, 6)], [Class::Unknown(Need::Sender); 2]);
    assert_eq!([of(4, 256, 4, 9), of(7, 7, 6, 5), of(1, 256, 4, 0)], [Class::Works; 3]);
}

#[test]
fn an_echo_that_never_ends_is_reported_after_five_windows() {
    let of = |windows, echoing| {
        let e = Evidence { ece: 90, windows, cwr: windows, episodes: 1, echoing, ..capable() };
        accepted(Vantage::Sender, e)
    };
    assert_eq!(
        [of(1, true), of(2, true), of(4, true)],
        [Class::Works, Class::Unknown(Need::Marks), Class::Unknown(Need::Marks)]
    );
    assert_eq!([of(5, true), of(5, false)], [Class::EndlessEcho, Class::Works]);
}

#[test]
fn an_echo_without_a_mark_is_seen_at_the_receiver() {
    let e = Evidence { ece: 9, cwr: 3, windows: 3, episodes: 3, spurious: 3, ..capable() };
    assert_eq!(accepted(Vantage::Receiver, e), Class::SpuriousEcho);
    assert_eq!(accepted(Vantage::Sender, Evidence { spurious: 0, ..e }), Class::Works);
}

#[test]
fn ce_on_every_packet_is_a_device() {
    let of = |ce, ect| accepted(Vantage::Receiver, Evidence { ce, ect, ece: 20, windows: 2, cwr: 2, ..capable() });
    assert_eq!([of(19, 0), of(20, 0), of(20, 1)], [Class::Unknown(Need::Data), Class::AllMarked, Class::Works]);
}

#[test]
fn options_of_accecn_show_at_the_sender_that_ect_was_erased() {
    let e = Evidence { offers_option: true, options: 50, options_complete: true, ..capable() };
    assert_eq!(accecn(Vantage::Sender, e), Class::Erased);
    // ECT arrives; the receiver has no option; too few bytes.
    let none = Evidence { offers_option: false, options: 0, ..e };
    assert_eq!(accecn(Vantage::Sender, Evidence { reported_ect: 9_000, ..e }), Class::Unknown(Need::Congestion));
    assert_eq!(accecn(Vantage::Sender, none), Class::Unknown(Need::Congestion));
    assert_eq!(accecn(Vantage::Sender, Evidence { acked: 9_999, ..e }), Class::Unknown(Need::Congestion));
    // The option is on the SYN-ACK only, since no counter changes.
    let of = |acked| accecn(Vantage::Sender, Evidence { options: 0, acked, ..e });
    assert_eq!([of(99_999), of(100_000)], [Class::Unknown(Need::Congestion), Class::Erased]);
}

#[test]
fn counters_of_accecn_agree_or_disagree() {
    let e = Evidence { ce: 7, marks: 7, ..capable() };
    assert_eq!([accecn(Vantage::Receiver, e), accecn(Vantage::Sender, e)], [Class::Reported, Class::Works]);
    assert_eq!(accecn(Vantage::Receiver, Evidence { broken: 1, ..e }), Class::CountsDisagree);
    assert_eq!(accecn(Vantage::Receiver, Evidence { broken: 1, marks: 0, ..e }), Class::NotEchoed);
    let option = Evidence { options: 3, options_complete: true, reported_ect: 1_000, ..e };
    assert_eq!(accecn(Vantage::Sender, option), Class::CountsDisagree);
    // ACKs with ECT may be marked, and have no bytes.
    assert_eq!(accecn(Vantage::Sender, Evidence { other_ect: 7, ..option }), Class::Works);
    let all = Evidence { ce: 0, reported_ect: 0, reported_ce: 1_000_000, marks: 1_000, ..option };
    assert_eq!(accecn(Vantage::Sender, all), Class::AllMarked);
}

#[test]
fn the_handshake_decides_where_ecn_is_off() {
    let plain = Evidence { ect: 9, not_ect: 991, ..capable() };
    let of = |negotiation| classify(negotiation, Vantage::Between, &plain);
    assert_eq!(of(Negotiation::NotOffered), Class::NotOffered);
    assert_eq!([of(Negotiation::Refused), of(Negotiation::Reflected)], [Class::Refused; 2]);
    assert_eq!(of(Negotiation::FellBack), Class::FellBack);
    let capable_data = Evidence { ect: 10, ..plain };
    for negotiation in [Negotiation::NotOffered, Negotiation::Refused, Negotiation::FellBack] {
        assert_eq!(classify(negotiation, Vantage::Between, &capable_data), Class::NotNegotiated);
    }
    let alone = Evidence { answers: 0, ..capable() };
    assert_eq!(classify(Negotiation::Unanswered, Vantage::Unknown, &alone), Class::Unknown(Need::OtherDirection));
    assert_eq!(classify(Negotiation::Unanswered, Vantage::Unknown, &Evidence::default()), Class::Unanswered);
}

#[test]
fn sentences_have_the_counts() {
    let verdict = Verdict { class: Class::Works, vantage: Vantage::Receiver, accurate: false };
    let e = Evidence { ce: 24, ece: 24, cwr: 1, ..capable() };
    assert_eq!(verdict.summary(&e), "works: 24 CE, 24 ACKs with ECE, 1 reduction (CWR)");
    let verdict = Verdict { class: Class::NoMark, vantage: Vantage::Sender, accurate: false };
    let summary = verdict.summary(&Evidence { lost: 210, ..capable() });
    assert_eq!(summary, "no mark was seen although 210 segments were lost: 1000 data packets with ECT");
    assert!(verdict.capture().contains("at the receiver"));
}

#[test]
fn sums_have_every_count() {
    let mut sum = Evidence { ce: 1, ..capable() };
    sum += Evidence { ce: 2, echoing: true, ..capable() };
    assert_eq!((sum.directions, sum.data, sum.ce, sum.echoing), (2, 2_000, 3, true));
}
