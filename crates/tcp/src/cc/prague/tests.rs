use super::*;
use crate::cc::{Amount, Params as _};
use ecnlab_base::coverage::must_reach;

const MSS: u64 = 1_000;

fn at(us: u64) -> Time {
    Time::ZERO + Dur::from_us(us)
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
}

/// A flow with an RTT of so many microseconds, which acknowledgements come to.
struct Flow {
    law: Prague,
    srtt: Dur,
}

impl Flow {
    /// In slow start, with a window of ten segments.
    fn new(rtt_us: u64, params: Params) -> Flow {
        Flow::with_feedback(rtt_us, params, true)
    }

    fn with_feedback(rtt_us: u64, params: Params, counts_marks: bool) -> Flow {
        let mut law = params.law(Window::new(10, MSS as u32));
        let srtt = Dur::from_us(rtt_us);
        law.on_established(&Established { now: Time::ZERO, rtt: Some(srtt), seed: 1, counts_marks, sack: true });
        Flow { law, srtt }
    }

    /// In congestion avoidance, with a window of so many segments.
    fn avoiding(rtt_us: u64, segments: u64, params: Params) -> Flow {
        let mut flow = Flow::new(rtt_us, params);
        flow.law.set_cwnd(segments * MSS);
        flow.law.set_ssthresh(segments * MSS);
        flow.law.follow_slow_start();
        flow
    }

    fn send(&mut self, segments: u64) {
        for _ in 0..segments {
            let outstanding = self.law.nxt - self.law.una;
            self.law.on_sent(&Sent { bytes: MSS, outstanding, ..Sent::default() });
        }
    }

    fn sample(&self, us: u64, segments: u64, marked: u64) -> AckSample {
        AckSample {
            now: at(us),
            acked: segments * MSS,
            delivered: Amount::of(segments * MSS, MSS as u32),
            marked: Amount::of(marked * MSS, MSS as u32),
            prior_in_flight: self.law.cwnd(),
            srtt: self.srtt,
            ..AckSample::default()
        }
    }

    /// An ACK of so many segments, of which so many came with a mark. It comes at `us`.
    fn ack(&mut self, us: u64, segments: u64, marked: u64) {
        let sample = self.sample(us, segments, marked);
        self.law.on_ack(&sample);
    }

    fn congestion(&mut self, us: u64, why: Congestion) {
        self.law.on_congestion(&CongestionEvent { why, now: at(us), in_flight: self.law.cwnd() });
    }

    /// A mark is answered: whether the window has become smaller.
    fn reduces(&mut self, us: u64) -> bool {
        let before = self.law.segments;
        self.congestion(us, Congestion::Ecn);
        self.law.segments < before
    }
}

/// From the first round trip on independent of it.
fn at_once() -> Params {
    Params { rtt_transition: 0, ..Params::default() }
}

#[test]
fn what_a_scenario_leaves_out_is_the_drafts() {
    let Params { g, alpha, rtt_control, rtt_target, rtt_transition, classic_detection } = Params::default();
    assert_eq!((g, alpha, rtt_control), (0.0625, 1.0, RttControl::Rate));
    assert_eq!((rtt_target, rtt_transition, classic_detection), (Dur::from_ms(25), 500, false));
}

#[test]
fn slow_start_adds_what_is_acknowledged_at_twice_the_rate_up_to_half_of_the_threshold() {
    let mut flow = Flow::new(100_000, Params::default());
    // Two windows of ten segments in 100 ms.
    assert_eq!(flow.law.pacing(), Some(Pacing { rate: 200_000, quantum: 1_000 }));
    flow.ack(100_000, 2, 0);
    flow.law.grow(2_000);
    assert_eq!(flow.law.cwnd(), 12_000);
    for (ssthresh, rate) in [(24_002, 240_000), (24_000, 120_000), (12_000, 120_000)] {
        flow.law.set_ssthresh(ssthresh);
        assert_eq!(flow.law.pacing().map(|pacing| pacing.rate), Some(rate), "{ssthresh}");
    }
    flow.law.grow(1_000);
    assert_eq!(flow.law.cwnd(), 12_000, "at the threshold it is over");
}

#[test]
fn the_first_mark_halves_and_ends_slow_start_by_a_segment_an_ack() {
    let _reached = must_reach(["prague.mark"]);
    let mut flow = Flow::new(100_000, Params::default());
    flow.law.grow(2_000);
    flow.congestion(100_000, Congestion::Ecn);
    near(flow.law.segments, 6.0);
    assert_eq!((flow.law.cwnd(), flow.law.state().ssthresh), (12_000, 6_000));
    flow.ack(100_000, 1, 1);
    assert_eq!(flow.law.cwnd(), 11_000);
    // What comes without a mark adds 1/6: seven segments are admitted.
    flow.ack(101_000, 1, 0);
    near(flow.law.segments, 6.0 + 1.0 / 6.0);
    assert_eq!(flow.law.cwnd(), 10_000);
    (0..5).for_each(|_| flow.ack(102_000, 1, 1));
    assert_eq!(flow.law.cwnd(), 7_000);
    assert_eq!(flow.law.pacing().map(|pacing| pacing.rate), Some(61_666), "the rate has no steps");
}

#[test]
fn each_segment_without_a_mark_adds_its_share_whatever_else_is_marked() {
    let mut flow = Flow::avoiding(100_000, 10, Params::default());
    flow.ack(0, 2, 1);
    near(flow.law.segments, 10.1);
    flow.ack(0, 3, 0);
    near(flow.law.segments, 10.1 + 3.0 / 10.1);
    flow.ack(0, 1, 1);
    flow.ack(0, 1, 2);
    near(flow.law.segments, 10.1 + 3.0 / 10.1);
    assert_eq!(flow.law.cwnd(), 11_000, "rounded up");
}

#[test]
fn a_window_of_which_less_than_half_is_in_flight_does_not_grow() {
    for (in_flight, segments) in [(4_999, 10.0), (5_000, 10.1)] {
        let mut flow = Flow::avoiding(100_000, 10, Params::default());
        let sample = AckSample { prior_in_flight: in_flight, ..flow.sample(0, 1, 0) };
        flow.law.on_ack(&sample);
        near(flow.law.segments, segments);
    }
}

#[test]
fn nothing_is_added_while_a_loss_is_repaired() {
    let mut flow = Flow::avoiding(100_000, 10, Params::default());
    flow.congestion(0, Congestion::Loss);
    near(flow.law.segments, 5.0);
    let sample = AckSample { in_recovery: true, ..flow.sample(0, 1, 0) };
    flow.law.on_ack(&sample);
    near(flow.law.segments, 5.0);
    assert_eq!(flow.law.cwnd(), 9_000);
    flow.ack(0, 1, 0);
    near(flow.law.segments, 5.2);
}

#[test]
fn a_loss_is_answered_once_also_where_recovery_is_not_reported() {
    let _reached = must_reach(["prague.loss_after_mark", "prague.timeout_after_mark"]);
    let mut flow = Flow::avoiding(100_000, 16, Params::default());
    flow.congestion(0, Congestion::Ecn);
    near(flow.law.segments, 8.0);
    // Recovery begins while the mark is answered.
    let sample = AckSample { in_recovery: true, ..flow.sample(0, 1, 0) };
    flow.law.on_ack(&sample);
    flow.law.on_ack(&sample);
    near(flow.law.segments, 4.0);
    flow.law.on_further_loss();
    near(flow.law.segments, 4.0);
    flow.ack(0, 1, 1);
    flow.law.on_further_loss();
    near(flow.law.segments, 2.0);
    flow.law.on_further_loss();
    near(flow.law.segments, 2.0);
}

#[test]
fn a_loss_for_nothing_is_taken_back() {
    let _reached = must_reach(["prague.undo"]);
    let mut flow = Flow::avoiding(100_000, 10, Params::default());
    let before = flow.law.state();
    flow.congestion(0, Congestion::Loss);
    flow.law.set_cwnd(6_000);
    flow.law.on_undo(before);
    near(flow.law.segments, 10.0);
    assert_eq!(flow.law.state(), before);
    // What has grown beyond it stays.
    (flow.law.segments, flow.law.before_loss) = (11.5, 10.0);
    flow.law.set_cwnd(12_000);
    flow.law.on_undo(before);
    near(flow.law.segments, 11.5);
    assert_eq!(flow.law.cwnd(), 12_000);
}

#[test]
fn a_timeout_halves_and_slow_start_leads_back_to_the_half() {
    let _reached = must_reach(["prague.loss"]);
    let mut flow = Flow::avoiding(100_000, 10, Params::default());
    flow.congestion(0, Congestion::Timeout);
    flow.law.set_cwnd(1_000);
    let sample = AckSample { in_recovery: true, ..flow.sample(0, 1, 0) };
    for cwnd in [2_000, 3_000, 4_000, 5_000, 5_000] {
        flow.law.on_ack(&sample);
        flow.law.grow(1_000);
        assert_eq!(flow.law.cwnd(), cwnd);
    }
    near(flow.law.segments, 5.0);
}

#[test]
fn a_timeout_at_a_window_below_the_least_does_not_raise_the_rate() {
    let mut flow = Flow::avoiding(5_000, 2, Params::default());
    for _ in 0..2 {
        flow.congestion(0, Congestion::Ecn);
    }
    near(flow.law.segments, 0.5);
    flow.congestion(0, Congestion::Timeout);
    flow.law.set_cwnd(1_000);
    let sample = AckSample { in_recovery: true, ..flow.sample(0, 1, 0) };
    flow.law.on_ack(&sample);
    flow.law.grow(1_000);
    near(flow.law.segments, 0.25);
    assert_eq!(flow.law.cwnd(), 2_000);
}

#[test]
fn a_window_below_a_segment_is_a_rate_of_100_kbit_a_second_at_least() {
    let mut flow = Flow::avoiding(10_000, 2, Params::default());
    flow.congestion(0, Congestion::Ecn);
    flow.congestion(0, Congestion::Ecn);
    // Half a segment in 10 ms.
    assert_eq!(flow.law.pacing(), Some(Pacing { rate: 50_000, quantum: 1_000 }));
    (0..9).for_each(|_| flow.congestion(0, Congestion::Ecn));
    // 12500 bytes a second are 125 in 10 ms.
    near(flow.law.segments, 0.125);
    assert_eq!(flow.law.pacing().map(|pacing| pacing.rate), Some(12_500));
    flow.ack(0, 1, 1);
    assert_eq!(flow.law.cwnd(), 2_000, "what is in flight is not the limit");
    // Eight segments as far apart as eight round trips add one.
    flow.ack(0, 1, 0);
    near(flow.law.segments, 8.125);
    // No floor raises a window: of 10 s 12500 bytes a second are 125 segments, and two are the most.
    let mut flow = Flow::avoiding(10_000_000, 3, Params::default());
    flow.congestion(0, Congestion::Ecn);
    near(flow.law.segments, 2.0);
    flow.law.segments = 1.5;
    flow.congestion(0, Congestion::Ecn);
    near(flow.law.segments, 1.5);
}

#[test]
fn before_there_is_an_rtt_nothing_is_paced_and_two_segments_are_left() {
    let mut law = Params::default().law(Window::new(10, 1_000));
    law.on_established(&Established { now: Time::ZERO, rtt: None, seed: 1, counts_marks: true, sack: true });
    assert_eq!(law.pacing(), None);
    for left in [5.0, 2.5, 2.0, 2.0] {
        law.answer_loss();
        near(law.segments, left);
    }
}

#[test]
fn alpha_is_what_it_was_until_a_mark_comes_and_then_follows_the_marks_of_each_round() {
    let mut flow = Flow::avoiding(100_000, 10, Params::default());
    flow.send(10);
    // A round is over with the ACK of all that was sent before it began: the first at once.
    flow.ack(100_000, 1, 0);
    assert_eq!((flow.law.alpha, flow.law.rounds, flow.law.round.end), (1.0, 1, 10_000));
    flow.send(10);
    flow.ack(200_000, 8, 0);
    flow.ack(200_000, 1, 1);
    // One of nine: 1 + (1/9 - 1) / 16.
    let alpha = 1.0 - 8.0 / 9.0 / 16.0;
    near(flow.law.alpha, alpha);
    flow.send(1);
    flow.ack(300_000, 9, 4);
    near(flow.law.alpha, alpha);
    flow.ack(300_000, 1, 1);
    // Five of ten.
    near(flow.law.alpha, alpha + (0.5 - alpha) / 16.0);
    assert_eq!(flow.law.rounds, 3);
    flow.ack(400_000, 1, 0);
    near(flow.law.alpha, (alpha + (0.5 - alpha) / 16.0) * 15.0 / 16.0);
}

#[test]
fn more_marks_than_segments_are_all_of_them() {
    let mut flow = Flow::avoiding(100_000, 10, Params { alpha: 0.0, ..Params::default() });
    flow.ack(0, 1, 5);
    near(flow.law.alpha, 1.0 / 16.0);
}

#[test]
fn an_ack_of_nothing_ends_no_round() {
    let mut flow = Flow::avoiding(100_000, 10, Params { alpha: 0.5, ..Params::default() });
    flow.ack(0, 1, 1);
    let before = (flow.law.alpha, flow.law.rounds);
    flow.ack(0, 0, 0);
    assert_eq!((flow.law.alpha, flow.law.rounds), before);
}

#[test]
fn marks_are_answered_once_in_25_ms_when_round_trips_are_shorter() {
    for (params, again) in [(at_once(), false), (Params::default(), true)] {
        let mut flow = Flow::avoiding(10_000, 100, params);
        assert!(flow.reduces(1_000));
        near(flow.law.segments, 50.0);
        assert_eq!(flow.reduces(25_999), again);
        assert!(flow.reduces(26_000));
    }
    // In slow start each round trip counts as it is.
    let mut flow = Flow::new(10_000, at_once());
    flow.law.answered = Some(at(0));
    assert!(flow.reduces(1));
}

#[test]
fn alpha_waits_for_25_ms_and_a_round_trip() {
    let mut flow = Flow::avoiding(10_000, 10, Params { alpha: 0.5, ..at_once() });
    flow.send(2);
    flow.ack(10_000, 1, 1);
    // 10 ms behind the handshake.
    near(flow.law.alpha, 0.5);
    flow.ack(25_000, 1, 1);
    near(flow.law.alpha, 0.53125);
    flow.send(2);
    // 25 ms later, and a round trip.
    flow.ack(49_999, 1, 0);
    near(flow.law.alpha, 0.53125);
    flow.ack(50_000, 1, 0);
    near(flow.law.alpha, 0.53125 * 15.0 / 16.0);
    flow.send(2);
    flow.ack(75_000, 1, 0);
    let alpha = flow.law.alpha;
    // 25 ms later, and no round trip: SACK reports the other, and nothing is acknowledged.
    let sample = AckSample { acked: 0, ..flow.sample(100_000, 1, 0) };
    flow.law.on_ack(&sample);
    near(flow.law.alpha, alpha);
    flow.ack(101_000, 1, 0);
    near(flow.law.alpha, alpha * 15.0 / 16.0);
}

#[test]
fn after_the_transition_short_round_trips_add_less() {
    let params = Params { rtt_transition: 2, ..Params::default() };
    let mut flow = Flow::avoiding(5_000, 10, params);
    flow.ack(5_000, 1, 0);
    flow.ack(10_000, 1, 0);
    // Two round trips: 10 + 1/10, + 1/10.1.
    let before = 10.1 + 1.0 / 10.1;
    near(flow.law.segments, before);
    // (5/25)² of a segment.
    flow.ack(15_000, 1, 0);
    near(flow.law.segments, before + 0.04 / before);
}

#[test]
fn rounds_count_from_the_end_of_slow_start() {
    let mut flow = Flow::new(5_000, Params::default());
    flow.ack(5_000, 1, 0);
    flow.ack(10_000, 1, 0);
    assert_eq!(flow.law.rounds, 0);
    flow.law.set_ssthresh(10_000);
    flow.ack(15_000, 1, 0);
    assert_eq!(flow.law.rounds, 1);
}

#[test]
fn what_ends_slow_start_leaves_the_window_that_it_has() {
    let mut flow = Flow::new(100_000, Params::default());
    flow.law.window_mut().widen_segments(2.5);
    flow.law.set_ssthresh(12_500);
    flow.ack(0, 1, 1);
    near(flow.law.segments, 12.5);
}

#[test]
fn bursts_are_a_4096th_of_a_second_and_a_segment_at_least() {
    // 819 segments in 100 ms are 8190 a second, 820 are 8200; 8192 are two in a 4096th.
    for (segments, burst) in [(819, 1_000), (820, 2_000), (40, 1_000)] {
        let flow = Flow::avoiding(100_000, segments, Params::default());
        assert_eq!(flow.law.pacing(), Some(Pacing { rate: segments * 10_000, quantum: burst }));
    }
}

#[test]
fn without_a_count_of_marks_it_halves_as_for_a_loss_and_waits_until_that_is_answered() {
    let mut flow = Flow::with_feedback(10_000, Params { alpha: 0.0, ..at_once() }, false);
    assert_eq!(flow.law.pacing(), None);
    flow.law.set_ssthresh(10_000);
    flow.send(1);
    flow.ack(0, 1, 0);
    near(flow.law.segments, 10.1);
    flow.send(3);
    for _ in 0..2 {
        // Twice in a virtual round trip: the RTT is what it is.
        assert!(flow.reduces(1_000));
    }
    near(flow.law.segments, 2.525);
    flow.send(1);
    flow.ack(1_000, 3, 0);
    near(flow.law.segments, 2.525);
    flow.ack(1_000, 1, 0);
    near(flow.law.segments, 2.525 + 1.0 / 2.525);
    assert_eq!(flow.law.alpha, 1.0);
    flow.ack(9_000, 1, 1);
    assert_eq!(flow.law.alpha, 1.0);
}

#[test]
fn silence_leaves_the_window() {
    let mut flow = Flow::new(100_000, Params::default());
    flow.law.on_idle_restart(1_000);
    assert_eq!(flow.law.cwnd(), 10_000);
}

#[test]
fn a_segment_sent_again_is_no_new_one() {
    let mut flow = Flow::new(100_000, Params::default());
    flow.send(2);
    flow.law.on_sent(&Sent { bytes: MSS, outstanding: 2_000, again: true, ..Sent::default() });
    assert_eq!(flow.law.nxt, 2_000);
}

#[test]
fn the_trace_has_alpha_and_the_fractional_window() {
    let mut flow = Flow::avoiding(100_000, 10, Params { alpha: 0.25, ..Params::default() });
    flow.ack(0, 1, 0);
    assert_eq!([FACTS.columns[0].name, FACTS.columns[1].name], ["prague_alpha", "prague_cwnd_segments"]);
    assert_eq!(flow.law.values(), [0.25, 10.1]);
    assert_eq!(flow.law.codepoint(), Codepoint::Ect1);
}

#[test]
fn parameters_past_their_bounds_are_refused() {
    let wrong = |params: Params| params.check().err().map(|error| error.key);
    let of = Params::default();
    for g in [0.0, 1.1, f64::NAN] {
        assert_eq!(wrong(Params { g, ..of }), Some("congestion.g"));
    }
    for alpha in [-0.1, 1.1, f64::NAN] {
        assert_eq!(wrong(Params { alpha, ..of }), Some("congestion.alpha"));
    }
    assert_eq!(wrong(Params { rtt_target: Dur::ZERO, ..of }), Some("congestion.rtt_target"));
    assert_eq!(wrong(Params { g: 1.0, alpha: 0.0, ..of }), None);
    assert_eq!(of.needs_count(), Some("congestion"));
}

/// The window after so many rounds behind a queue of 100 ms, in which all is marked, and a reduction; alpha stays 0.
fn behind_a_classic_queue(rounds: u64, classic_detection: bool) -> f64 {
    let mut flow = Flow::avoiding(20_000, 10, Params { g: 0.0, alpha: 0.0, classic_detection, ..Params::default() });
    flow.congestion(0, Congestion::Ecn);
    for round in 1..=rounds {
        let rtt = Some(Dur::from_ms(120));
        let sample = AckSample { last_rtt: rtt, min_rtt: Dur::from_ms(20), ..flow.sample(120_000 * round, 1, 1) };
        flow.law.on_ack(&sample);
    }
    flow.congestion(120_000 * (rounds + 1), Congestion::Ecn);
    flow.law.segments
}

#[test]
fn detection_makes_reductions_behind_a_deep_queue_as_large_as_cubics() {
    let _reached = must_reach(["prague.classic_queue"]);
    // The first rounds add lg(100/32 / 2) / 2 = 0.3 and lg(100/64 / 0.75) / 2 = 0.5, the 20th
    // about 2.3 + 2.4.
    near(behind_a_classic_queue(1, true), 10.0);
    near(behind_a_classic_queue(20, true), 10.0 * (1.0 - 0.625 / 2.0));
    near(behind_a_classic_queue(20, false), 10.0);
}
