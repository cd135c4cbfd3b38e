//! One direction's ECN, looked at packet by packet. Segments have 1000 bytes, times are in milliseconds.

use super::*;
use crate::ecn_seen::Place;
use crate::rules::Standard;

const MSS: u64 = 1000;

/// An ACK without ECE that acknowledges up to `una`, with data sent up to `next`.
fn ack(ms: u64, una: u64, next: u64) -> Echo {
    Echo {
        number: ms,
        time: at(ms),
        ece: false,
        old: false,
        una,
        next,
        flight: next - una + MSS,
        answer: 0,
        near: true,
        place: Place::Before,
    }
}

/// The same with ECE.
fn ece(ms: u64, una: u64, next: u64) -> Echo {
    Echo { ece: true, ..ack(ms, una, next) }
}

/// The n-th segment from 0, sent while nothing is acknowledged past `una`.
fn data(ms: u64, n: u64, una: u64) -> Data {
    let (start, end) = (n * MSS, (n + 1) * MSS);
    Data {
        number: ms,
        time: at(ms),
        start,
        end,
        len: MSS as u32,
        ecn: Ecn::Ect0,
        cwr: false,
        again: false,
        dropped: false,
        flight: end - una,
        beyond: false,
        limited: false,
        una,
        next: end,
    }
}

fn ce(data: Data) -> Data {
    Data { ecn: Ecn::Ce, ..data }
}

fn cwr(data: Data) -> Data {
    Data { cwr: true, ..data }
}

fn again(data: Data) -> Data {
    Data { again: true, ..data }
}

const fn at(ms: u64) -> u64 {
    ms * 1_000_000
}

/// What is watched, and what was found. An ACK without ECE has been seen.
struct Watched {
    ecn: EcnState,
    found: Violations,
}

impl Watched {
    fn new() -> Watched {
        let mut new = Watched { ecn: EcnState::default(), found: Violations::of(Standard::Rfc3168) };
        new.on_echo(ack(0, 0, 0));
        new
    }
    /// One of `flight` bytes outstanding, of which ECE at 100 ms acknowledges the first segment.
    fn with_echo(segments: u64) -> Watched {
        let mut new = Watched::new();
        (0..segments).for_each(|n| new.send(data(10, n, 0)));
        new.on_echo(ece(100, MSS, segments * MSS));
        new
    }
    fn send(&mut self, data: Data) {
        self.ecn.send(&data, &mut self.found);
    }
    fn on_echo(&mut self, echo: Echo) {
        self.ecn.echo(&echo, &mut self.found);
    }
    /// The rules broken, each with the time in milliseconds.
    fn broken(&self) -> Vec<(Rule, u64)> {
        self.found.list().iter().map(|one| (one.rule, one.packet)).collect()
    }
    fn reductions(&self) -> u64 {
        self.ecn.counts.reductions
    }
}

#[test]
fn times_run_from_the_first_mark_to_the_first_echo_to_the_first_cwr() {
    let mut seen = Watched::new();
    seen.send(ce(data(5, 0, 0)));
    seen.send(ce(data(6, 1, 0)));
    seen.on_echo(ece(45, 1000, 2000));
    seen.on_echo(ece(47, 2000, 2000));
    seen.send(cwr(data(52, 2, 2000)));
    seen.send(cwr(data(60, 3, 3000)));
    let counts = &seen.ecn.counts;
    assert_eq!((counts.ce_to_ece.count, counts.ce_to_ece.sum), (1, at(40)));
    assert_eq!((counts.ece_to_cwr.count, counts.ece_to_cwr.sum), (1, at(7)));
    assert_eq!((counts.episodes, counts.reductions), (1, 1));
    // The echo ends, and another begins.
    seen.on_echo(ack(90, 4000, 4000));
    seen.on_echo(ece(95, 4000, 4000));
    assert_eq!(seen.ecn.counts.episodes, 2);
}

#[test]
fn a_window_of_data_is_reduced_once() {
    // RFC 3168 §6.1.2. Data up to 4000 were out as ECE first came.
    let mut seen = Watched::with_echo(4);
    assert_eq!(seen.reductions(), 1);
    seen.on_echo(ece(101, 4000, 9000));
    assert_eq!(seen.reductions(), 1, "the window that was reduced");
    seen.on_echo(Echo { old: true, ..ece(102, 4001, 9000) });
    assert_eq!(seen.reductions(), 1, "an old ACK");
    seen.on_echo(ece(103, 4001, 9000));
    assert_eq!(seen.reductions(), 2, "the next window");
}

#[test]
fn data_sent_before_the_echo_arrived_belongs_to_the_window() {
    // What the sender sends after ECE of 100 ms comes by at 110 ms.
    let window = |sent| {
        let mut seen = Watched::new();
        (0..4).for_each(|n| seen.send(data(10, n, 0)));
        seen.on_echo(Echo { answer: at(10), ..ece(100, 1000, 4000) });
        seen.send(data(sent, 4, 1000));
        // Four times that is room for queues: until 140 ms the first may not have reached the sender.
        seen.on_echo(ece(139, 4500, 5000));
        assert_eq!(seen.reductions(), 1);
        seen.on_echo(ece(140, 4500, 5000));
        seen.reductions()
    };
    assert_eq!([window(109), window(110)], [1, 2]);
}

#[test]
fn a_loss_that_the_same_ack_reports_is_no_reduction_of_ece() {
    let after = |timer, ack_time| {
        let mut seen = Watched::with_echo(4);
        seen.ecn.lost(timer, 1000, 4000, ack_time);
        seen.reductions()
    };
    assert_eq!(after(false, Some(at(100))), 0);
    assert_eq!([after(true, Some(at(100))), after(false, Some(at(99))), after(false, None)], [1; 3]);
    let mut seen = Watched::new();
    seen.ecn.lost(false, 0, 4000, None);
    assert_eq!(seen.reductions(), 0);
}

#[test]
fn a_loss_in_a_window_that_ece_has_reduced_moves_its_end_only_by_a_timeout() {
    // Data up to 4000 were out as ECE came, and up to 9000 as the loss was found.
    let after = |timer, una, then: u64| {
        let mut seen = Watched::with_echo(4);
        seen.ecn.lost(timer, una, 9000, None);
        seen.on_echo(ece(200, then, 12_000));
        seen.reductions() - 1
    };
    // ECE of data past 4000 is another window's where the loss was one of the first.
    assert_eq!(after(false, 3999, 4001), 1);
    // Not so where the loss is itself one of the next, or a timer found it.
    assert_eq!([after(false, 4000, 9000), after(true, 3999, 9000)], [0, 0]);
    assert_eq!([after(false, 4000, 9001), after(true, 3999, 9001)], [1, 1]);
    // A second loss has nothing to do with ECE.
    let mut seen = Watched::with_echo(4);
    seen.ecn.lost(false, 3999, 9000, None);
    seen.ecn.lost(false, 3999, 9000, None);
    seen.on_echo(ece(200, 9000, 12_000));
    assert_eq!(seen.reductions(), 1);
}

#[test]
fn marks_that_may_not_have_arrived_need_no_echo() {
    let after = |marked: Data, una| {
        let mut seen = Watched::new();
        seen.send(marked);
        seen.on_echo(ack(50, una, 1000));
        seen.broken()
    };
    let missing = vec![(Rule::EceMissing, 50)];
    assert_eq!(after(ce(data(10, 0, 0)), 1000), missing);
    assert_eq!(after(ce(data(10, 0, 0)), 999), [], "it is not acknowledged");
    assert_eq!(after(data(10, 0, 0), 1000), [], "it has no mark");
    assert_eq!(after(Data { dropped: true, ..ce(data(10, 0, 0)) }, 1000), [], "it is lost behind this place");
    assert_eq!(after(again(ce(data(10, 0, 0))), 1000), [], "which of the two arrived is not known");
    // An ACK that others have overtaken is ignored.
    let mut seen = Watched::new();
    seen.send(ce(data(10, 0, 0)));
    seen.on_echo(Echo { old: true, ..ack(50, 1000, 1000) });
    assert_eq!(seen.broken(), []);
    // Nor is an echo required where CWR came behind the mark, nor once the direction is closed.
    let mut seen = Watched::new();
    seen.send(ce(data(10, 0, 0)));
    seen.send(cwr(data(11, 1, 0)));
    seen.on_echo(ack(50, 2000, 2000));
    assert_eq!(seen.broken(), []);
    let mut seen = Watched::new();
    seen.send(ce(data(10, 0, 0)));
    seen.ecn.end();
    seen.on_echo(ack(50, 1000, 1000));
    assert_eq!(seen.broken(), []);
}

#[test]
fn a_mark_whose_segment_is_sent_again_is_forgotten() {
    let after = |start, end| {
        let mut seen = Watched::new();
        seen.send(ce(data(10, 1, 0)));
        seen.ecn.resent(start, end);
        seen.on_echo(ack(50, 2000, 2000));
        seen.broken().len()
    };
    // The mark is on the bytes from 1000 to 2000: what reaches its last byte has sent it again.
    assert_eq!([after(1000, 2000), after(1999, 2000), after(0, 3000)], [0, 0, 0]);
    assert_eq!([after(0, 1000), after(0, 1999), after(2000, 3000)], [1, 1, 1]);
}

#[test]
fn an_echo_lasts_until_cwr() {
    let stops = |between: &[Data]| {
        let mut seen = Watched::new();
        seen.on_echo(ece(50, 1000, 3000));
        between.iter().for_each(|&data| seen.send(data));
        seen.on_echo(ack(60, 2000, 3000));
        seen.broken()
    };
    assert_eq!(stops(&[]), [(Rule::EceStopped, 60)]);
    assert_eq!(stops(&[cwr(data(55, 3, 1000))]), []);
    // Where no ACK without ECE was seen before, the echo has no known beginning.
    let mut seen = Watched::new();
    seen.ecn = EcnState::default();
    seen.on_echo(ece(50, 1000, 3000));
    seen.on_echo(ack(60, 2000, 3000));
    assert_eq!(seen.broken(), []);
    // When the direction is closed, CWR cannot be expected.
    let mut seen = Watched::new();
    seen.on_echo(ece(50, 1000, 3000));
    seen.ecn.end();
    seen.on_echo(ack(60, 2000, 3000));
    assert_eq!(seen.broken(), []);
}

/// Whether an echo has to last that begins at `una`, after CWR on `data` and an ACK up to `acked`.
fn lasts_after(cwr_data: Data, acked: u64, una: u64, marked: bool) -> bool {
    let mut seen = Watched::new();
    seen.send(cwr_data);
    seen.on_echo(ack(20, acked, 4000));
    if marked {
        seen.send(ce(data(30, 3, acked)));
    }
    seen.on_echo(ece(40, una, 4000));
    seen.on_echo(ack(50, 4000, 4000));
    seen.broken() == [(Rule::EceStopped, 50)]
}

#[test]
fn an_echo_that_meets_cwr_on_its_way_need_not_last() {
    // CWR on the bytes from 2000 to 3000 is on its way until 3000 is acknowledged.
    let new = cwr(data(10, 2, 0));
    assert!(!lasts_after(new, 2999, 2999, false));
    assert!(lasts_after(new, 2999, 2999, true), "a mark came behind CWR");
    assert!(lasts_after(new, 3000, 3000, false));
    // On a retransmission of these it is so until more than was sent then, 3000, is: that may be the first one's ACK.
    let resent = again(Data { next: 3000, ..cwr(data(10, 1, 1000)) });
    let after = |acked| {
        let mut seen = Watched::new();
        seen.send(resent);
        seen.on_echo(ack(20, acked, 4000));
        seen.on_echo(ece(40, acked, 4000));
        seen.on_echo(ack(50, 4000, 4000));
        seen.broken()
    };
    assert_eq!(after(3000), [(Rule::CwrOnRetransmission, 10)]);
    assert_eq!(after(3001), [(Rule::CwrOnRetransmission, 10), (Rule::EceStopped, 50)]);
}

#[test]
fn an_old_ack_with_ece_begins_no_echo() {
    let mut seen = Watched::new();
    seen.on_echo(Echo { old: true, ..ece(50, 1000, 3000) });
    seen.on_echo(ack(60, 2000, 3000));
    assert_eq!((seen.ecn.counts.episodes, seen.broken()), (0, vec![]));
}

#[test]
fn cwr_comes_once_for_the_data_out_as_it_came() {
    let second = |una, near| {
        let mut seen = Watched::new();
        seen.on_echo(Echo { near, ..ece(5, 1, 2000) });
        seen.send(cwr(data(10, 2, 1000)));
        seen.send(cwr(data(20, 3, una)));
        seen.broken()
    };
    // Up to 3000 was sent with the first.
    assert_eq!(second(2999, true), [(Rule::CwrTwice, 20)]);
    assert_eq!(second(3000, true), []);
    // From afar windows cannot be distinguished.
    assert_eq!(second(2999, false), []);
    // Nor when the sender may have had another reason.
    let mut seen = Watched::new();
    seen.send(cwr(data(10, 2, 1000)));
    seen.ecn.unclear();
    seen.send(cwr(data(20, 3, 2000)));
    assert_eq!(seen.broken(), []);
}

#[test]
fn what_was_sent_before_cwr_is_the_window_that_it_was_for() {
    let after = |with: Data, una| {
        let mut seen = Watched::with_echo(4);
        seen.send(with);
        seen.on_echo(ece(200, una, 12_000));
        seen.reductions() - 1
    };
    // CWR on new data from 8000 on.
    let new = cwr(data(150, 8, 4000));
    assert_eq!([after(new, 8000), after(new, 8001)], [0, 1]);
    // On a retransmission it is no evidence of windows.
    assert_eq!(after(again(new), 4001), 1);
}

#[test]
fn less_by_a_tenth_is_a_reduction() {
    // 4000 outstanding as ECE came at 100 ms.
    let times = |flights: &[u64]| {
        let mut seen = Watched::with_echo(4);
        for (i, &flight) in flights.iter().enumerate() {
            seen.send(Data { flight, ..data(110 + 10 * i as u64, 4 + i as u64, 2000) });
        }
        let taken = &seen.ecn.counts.ece_to_reduction;
        (taken.count, taken.sum)
    };
    assert_eq!(times(&[3601]), (0, 0));
    assert_eq!(times(&[3601, 3600, 3000]), (1, at(20)), "the first time");
    // Retransmissions are not looked at.
    let mut seen = Watched::with_echo(4);
    seen.send(again(Data { flight: 1000, ..data(110, 2, 2000) }));
    assert_eq!(seen.ecn.counts.ece_to_reduction.count, 0);
}

#[test]
fn growth_is_more_than_a_segment_over_the_most() {
    let grows = |flights: &[u64], change: fn(Data) -> Data| {
        let mut seen = Watched::with_echo(4);
        seen.send(cwr(data(101, 4, 2000)));
        for (i, &flight) in flights.iter().enumerate() {
            seen.send(change(Data { flight, ..data(110 + i as u64, 5 + i as u64, 2000) }));
        }
        seen.broken()
    };
    // 4000 and a segment.
    assert_eq!(grows(&[5000], |data| data), []);
    assert_eq!(grows(&[5001, 6000], |data| data), [(Rule::GrowthOnEce, 110)], "once");
    assert_eq!(grows(&[5001], |data| Data { beyond: true, ..data }), [], "duplicate ACKs let it out");
    // When the echo has ended, the window may grow.
    let mut seen = Watched::with_echo(4);
    seen.send(cwr(data(101, 4, 2000)));
    seen.on_echo(ack(105, 3000, 5000));
    seen.send(Data { flight: 5001, ..data(110, 5, 2000) });
    assert_eq!(seen.broken(), []);
}

#[test]
fn the_most_data_outstanding_are_those_of_new_data_since_the_last_window() {
    // 6000 were out before ECE came with 3000 left: 5400 is less by a tenth, 5401 is not.
    let reduced = |change: fn(&mut Watched), flight| {
        let mut seen = Watched::new();
        seen.send(Data { flight: 6000, ..data(10, 5, 0) });
        change(&mut seen);
        seen.on_echo(Echo { flight: 3000, ..ece(100, 4000, 6000) });
        seen.send(Data { flight, ..data(110, 6, 4000) });
        seen.ecn.counts.ece_to_reduction.count
    };
    assert_eq!([reduced(|_| {}, 5400), reduced(|_| {}, 5401)], [1, 0]);
    // A retransmission with 9000 out does not count, and what came before a loss neither.
    let resent = |seen: &mut Watched| seen.send(again(Data { flight: 9000, ..data(20, 0, 0) }));
    assert_eq!([reduced(resent, 5400), reduced(resent, 5401)], [1, 0]);
    let lost = |seen: &mut Watched| seen.ecn.unclear();
    assert_eq!([reduced(lost, 2700), reduced(lost, 2701)], [1, 0]);
}

#[test]
fn until_the_echo_arrives_the_window_of_the_sender_is_unchanged() {
    // The sender is 10 ms away: for 40 ms what comes by may have been sent before, with as much as 9000 outstanding.
    let mut seen = Watched::new();
    (0..4).for_each(|n| seen.send(data(10, n, 0)));
    seen.on_echo(Echo { answer: at(10), ..ece(100, 1000, 4000) });
    seen.send(Data { flight: 9000, ..data(139, 4, 1000) });
    seen.send(Data { flight: 8101, ..data(140, 5, 1000) });
    assert_eq!(seen.ecn.counts.ece_to_reduction.count, 0);
    seen.send(Data { flight: 8100, ..data(141, 6, 1000) });
    assert_eq!(seen.ecn.counts.ece_to_reduction.sum, at(41));
}

/// Four segments outstanding, the reduction announced by CWR, and data sent with `flight` outstanding until a window is over: the last has
/// all before it acknowledged.
fn a_window_later(segments: u64, sent: u64, flight: u64) -> Vec<(Rule, u64)> {
    let mut seen = Watched::with_echo(segments);
    let most = segments * MSS;
    for i in 0..sent {
        let last = i + 1 == sent;
        let una = if last { most + 1 } else { most };
        let one = Data { flight: if last { flight } else { most }, ..data(110 + i, segments + i, una) };
        seen.send(if i == 0 { cwr(one) } else { one });
    }
    seen.broken()
}

#[test]
fn a_window_later_less_has_to_be_outstanding() {
    // As much as before, 4000, after as much was sent.
    assert_eq!(a_window_later(4, 4, 4000), [(Rule::NoReduction, 113)]);
    assert_eq!(a_window_later(4, 4, 3999), [], "less");
    assert_eq!(a_window_later(4, 3, 4000), [], "the sender had little to send");
    assert_eq!(a_window_later(3, 4, 4000), [], "three segments cannot be told from the least window");
    // Growth is counted as growth, and a reduction seen in between is one.
    let mut seen = Watched::with_echo(4);
    seen.send(cwr(Data { flight: 3600, ..data(110, 4, 4000) }));
    (5..8).for_each(|n| seen.send(Data { flight: 4000, ..data(110 + n, n, 3000 + n) }));
    assert_eq!(seen.broken(), []);
}

#[test]
fn a_window_later_cwr_has_to_have_come() {
    let missing = |una, announced: bool| {
        let mut seen = Watched::with_echo(4);
        let first = Data { flight: 2000, ..data(110, 4, 2000) };
        seen.send(if announced { cwr(first) } else { first });
        seen.send(Data { flight: 2000, ..data(120, 5, una) });
        seen.send(Data { flight: 2000, ..data(130, 9, 9000) });
        seen.broken()
    };
    // Up to 4000 was out.
    assert_eq!(missing(4000, false), [(Rule::CwrMissing, 130)]);
    assert_eq!(missing(4001, false), [(Rule::CwrMissing, 120)]);
    assert_eq!(missing(4001, true), []);
}

#[test]
fn cwr_on_a_retransmission_is_for_all_data_sent_before() {
    // RFC 2481: ten segments are out, and the fifth is sent again with CWR.
    let broken = |una| {
        let mut seen = Watched { found: Violations::of(Standard::Rfc2481), ..Watched::new() };
        (0..10).for_each(|n| seen.send(data(10, n, 0)));
        seen.send(cwr(again(Data { next: 10_000, ..data(150, 4, 4000) })));
        seen.on_echo(ece(200, una, 10_000));
        seen.send(Data { flight: 2000, ..data(210, 10, una) });
        seen.send(Data { flight: 2000, ..data(300, 11, 10_001) });
        seen.broken()
    };
    assert_eq!([broken(5000), broken(9999)], [[], []]);
    assert_eq!(broken(10_000), [(Rule::CwrMissing, 300)]);
}

#[test]
fn a_reduction_without_new_data_is_not_overdue() {
    // ECE of another window comes before the first is over: if new data had gone out without CWR, the next are overdue.
    let overdue = |sent: &[Data]| {
        let mut seen = Watched::with_echo(4);
        sent.iter().for_each(|&data| seen.send(data));
        seen.on_echo(ece(200, 4001, 9000));
        seen.send(Data { flight: 2000, ..data(210, 9, 4500) });
        seen.broken()
    };
    assert_eq!(overdue(&[]), []);
    assert_eq!(overdue(&[Data { flight: 3000, ..data(110, 4, 2000) }]), [(Rule::CwrMissing, 210)]);
    assert_eq!(overdue(&[cwr(Data { flight: 3000, ..data(110, 4, 2000) })]), []);
}

#[test]
fn behind_ece_for_all_of_one_segment_the_next_has_cwr() {
    // One segment outstanding, and all of it acknowledged.
    let next = |echo: Echo, announced: bool| {
        let mut seen = Watched::new();
        seen.send(data(10, 0, 0));
        seen.on_echo(echo);
        let next = data(60, 1, 1000);
        seen.send(if announced { cwr(next) } else { next });
        seen.broken()
    };
    let all = Echo { flight: 1000, ..ece(50, 1000, 1000) };
    assert_eq!(next(all, false), [(Rule::CwrMissing, 60)]);
    assert_eq!(next(all, true), []);
    assert_eq!(next(Echo { next: 2000, ..all }, false), [], "more is outstanding");
    assert_eq!(next(Echo { flight: 1001, ..all }, false), [], "more was outstanding");
    assert_eq!(next(Echo { flight: 0, ..all }, false), [], "nothing was outstanding");
    assert_eq!(next(Echo { near: false, ..all }, false), [], "from afar what the sender does has no known reason");
}

#[test]
fn an_echo_to_a_closed_direction_is_not_checked() {
    let checked = |closed: bool| {
        let mut seen = Watched::new();
        seen.send(data(10, 0, 0));
        if closed {
            seen.ecn.end();
        }
        seen.on_echo(Echo { place: Place::Receiver, ..ece(50, 1000, 1000) });
        (seen.ecn.echo_checked(), seen.broken())
    };
    assert_eq!(checked(false), (Some(true), vec![(Rule::EceWithoutCe, 50)]));
    assert_eq!(checked(true), (None, vec![]));
}
