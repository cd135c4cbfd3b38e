//! The law by hand: rounds of 100 ms, segments of 1000 bytes, a path of 20 segments a round.

use ecnlab_base::coverage::must_reach;

use super::*;
use crate::cc::{Amount, Params as _};

const MSS: u64 = 1_000;

/// What the path delivers, in bytes a second.
const PATH: f64 = 200_000.0;

fn at(ms: u64) -> Time {
    Time::ZERO + Dur::from_ms(ms)
}

/// A connection whose handshake took from 0 to 100 ms.
struct Bench {
    law: Bbr3,
    ms: u64,
    delivered: u64,
    /// Segments in flight after each ACK, more than the path holds.
    flight: u64,
    in_recovery: bool,
}

impl Bench {
    fn new() -> Bench {
        Bench::with(Params::default(), true, true)
    }

    fn with(params: Params, counts_marks: bool, sack: bool) -> Bench {
        let mut law = params.law(Window::new(10, MSS as u32));
        let rtt = Some(Dur::from_ms(100));
        law.on_established(&Established { now: at(100), rtt, seed: 1, counts_marks, sack });
        Bench { law, ms: 100, delivered: 0, flight: 30, in_recovery: false }
    }

    /// The path is filled in Startup.
    fn draining() -> Bench {
        Bench::new().filled()
    }

    fn filled(mut self) -> Bench {
        [10, 20, 20, 20, 20].iter().for_each(|n| self.round(*n));
        assert_eq!(self.phase(), Phase::Drain);
        self
    }

    /// The path is filled and drained.
    fn cruising(params: Params, counts_marks: bool) -> Bench {
        let mut bench = Bench::with(params, counts_marks, true).filled();
        bench.flight = 20;
        bench.round(20);
        // DOWN has nothing to drain.
        assert_eq!(bench.phase(), Phase::Cruise);
        bench
    }

    /// Rounds pass until the state is `phase`.
    fn until(mut self, phase: Phase) -> Bench {
        for _ in 0..100 {
            if self.phase() == phase {
                return self;
            }
            self.round(20);
        }
        panic!("{phase:?} does not come");
    }

    /// The path is filled and drained, and the state is `phase`.
    fn in_phase(phase: Phase) -> Bench {
        let bench = Bench::cruising(Params::default(), true);
        if phase == Phase::Down {
            let mut bench = bench.until(Phase::Up);
            bench.flight = 30;
            return bench.until(Phase::Down);
        }
        bench.until(phase)
    }

    fn state(&mut self) -> &mut State {
        &mut self.law.0
    }

    fn phase(&self) -> Phase {
        self.law.0.state
    }

    fn cwnd(&self) -> u64 {
        self.law.cwnd() / MSS
    }

    /// The pacing rate in products of the path's rate and 0.99.
    fn gain(&self) -> f64 {
        (self.law.0.rate.pacing().rate as f64 / (0.99 * PATH) * 1_000.0).round() / 1_000.0
    }

    /// A round of 100 ms that delivers `n` segments.
    fn round(&mut self, n: u64) {
        self.ack(n, |_| ());
    }

    fn ack(&mut self, n: u64, change: impl FnOnce(&mut AckSample)) {
        self.ms += 100;
        self.delivered += n * MSS;
        let rate = RateSample {
            delivered: n * MSS,
            interval: Dur::from_ms(100),
            prior_delivered: self.delivered - n * MSS,
            lost: 0,
            marked: 0,
            tx_in_flight: 20 * MSS,
            app_limited: false,
        };
        let mut sample = AckSample {
            now: at(self.ms),
            acked: n * MSS,
            delivered: Amount::of(n * MSS, MSS as u32),
            delivered_total: self.delivered,
            in_flight: self.flight * MSS,
            prior_in_flight: self.flight * MSS,
            srtt: Dur::from_ms(100),
            // A little less each time, so that no ProbeRTT begins.
            last_rtt: Some(Dur::from_ms(100).saturating_sub(Dur::from_ps(self.ms))),
            rate: Some(rate),
            in_recovery: self.in_recovery,
            ..AckSample::default()
        };
        change(&mut sample);
        self.law.on_ack(&sample);
    }

    /// The segment at offset `start` is marked lost; of its flight of `tx_in_flight` bytes `lost` are.
    fn lose(&mut self, start: u64, lost: u64, tx_in_flight: u64, app_limited: bool) {
        let delivered_total = self.delivered;
        let lost = Lost { start, bytes: MSS, lost, delivered_total, tx_in_flight, app_limited };
        self.law.on_lost(&lost, at(self.ms));
    }

    /// Fast recovery begins.
    fn recover(&mut self) {
        self.in_recovery = true;
        self.law.on_congestion(&CongestionEvent { why: Congestion::Loss, now: at(self.ms), in_flight: 20 * MSS });
    }
}

fn rate(sample: &mut AckSample) -> &mut RateSample {
    sample.rate.as_mut().unwrap()
}

#[test]
fn gains_are_those_of_the_drafts_table() {
    use Phase::*;
    let gains = [Startup, Drain, Down, Cruise, Refill, Up, ProbeRtt].map(|p| (p.pacing_gain(), p.cwnd_gain()));
    let table = [(2.77, 2.0), (0.5, 2.0), (0.9, 2.0), (1.0, 2.0), (1.0, 2.0), (1.25, 2.25), (1.0, 0.5)];
    assert_eq!(gains, table);
}

// ---- Startup and Drain ----

#[test]
fn startup_doubles_until_three_rounds_bring_no_quarter_more() {
    let _reached = must_reach(["bbr3.drain"]);
    let mut bench = Bench::new();
    // 10 segments in the RTT of the handshake, times 2.77; a millisecond of it is less than two segments.
    assert_eq!(bench.law.pacing(), Some(Pacing { rate: 277_000, quantum: 2_000 }));
    bench.round(10);
    // 10 segments in 100 ms, times 0.99, are less.
    assert_eq!((bench.law.pacing().unwrap().rate, bench.cwnd()), (277_000, 20));
    bench.round(20);
    // Twice the product of 20, and what aggregation seems to have brought: all 20 came at once.
    assert_eq!((bench.gain(), bench.cwnd()), (2.77, 40));
    bench.round(20);
    bench.round(20);
    assert_eq!((bench.phase(), bench.state().full_bw.count), (Phase::Startup, 2));
    bench.round(20);
    assert_eq!((bench.phase(), bench.gain()), (Phase::Drain, 0.5));
}

#[test]
fn drain_ends_with_a_product_in_flight_or_after_three_rounds() {
    let mut bench = Bench::draining();
    bench.ack(20, |sample| sample.in_flight = 20 * MSS);
    assert_eq!((bench.phase(), bench.gain()), (Phase::Cruise, 1.0), "DOWN has nothing to drain");
    let mut bench = Bench::draining();
    let phases = [(); 4].map(|()| {
        bench.ack(20, |sample| sample.in_flight = 20 * MSS + 1);
        bench.phase()
    });
    assert_eq!(phases, [Phase::Drain, Phase::Drain, Phase::Drain, Phase::Down]);
    assert_eq!(bench.gain(), 0.9);
}

/// Startup in fast recovery, with `places` losses and so many bytes lost of 20 segments; then a round.
fn lossy_startup(places: u64, lost: u64, sack: bool) -> Bench {
    let mut bench = Bench::with(Params::default(), true, sack);
    bench.round(10);
    bench.round(20);
    bench.recover();
    (0..places).for_each(|i| bench.lose((2 * i + 1) * MSS, MSS, 20 * MSS, false));
    bench.ack(20, |sample| rate(sample).lost = lost);
    bench
}

#[test]
fn startup_ends_when_a_round_of_recovery_loses_in_six_places_and_more_than_two_per_cent() {
    let _reached = must_reach(["bbr3.startup_loss"]);
    // 2 % of 20 segments are 400 bytes.
    assert_eq!(lossy_startup(5, 401, true).phase(), Phase::Startup);
    assert_eq!(lossy_startup(6, 400, true).phase(), Phase::Startup);
    let mut bench = lossy_startup(6, 401, true);
    let full = bench.state().full_bw;
    assert_eq!((bench.phase(), full.now, full.reached), (Phase::Drain, true, true));
    // max(bdp, inflight_latest): both are 20 segments.
    assert_eq!((bench.state().path.inflight_longterm, bench.state().saved.state), (20 * MSS, Some(Phase::Startup)));
    assert_eq!(lossy_startup(1, 1, false).phase(), Phase::Drain, "without SACK one loss is all that shows");
    // Adjacent segments are one place.
    let mut bench = Bench::new();
    bench.round(20);
    bench.recover();
    (0..9).for_each(|i| bench.lose((i + 1) * MSS, MSS, 20 * MSS, false));
    assert_eq!(bench.state().congested.ranges, 1);
}

// ---- ProbeBW ----

#[test]
fn down_cruise_refill_and_up_follow_each_other() {
    let mut bench = Bench::in_phase(Phase::Cruise);
    assert_eq!(bench.gain(), 1.0);
    // 20 segments are 20 rounds of Reno; one may be past at the beginning (PickProbeWait).
    let rounds = (1..).find(|_| {
        bench.round(20);
        bench.phase() == Phase::Refill
    });
    assert!(matches!(rounds, Some(19 | 20)), "{rounds:?}");
    bench.round(20);
    assert_eq!((bench.phase(), bench.gain()), (Phase::Up, 1.25));
    // 2.25 products, the aggregated 20 segments, and two.
    assert_eq!(bench.cwnd(), 20 * 2 + 5 + 20 + 2);
    let rounds = (1..).find(|_| {
        bench.ack(20, |sample| sample.in_flight = 25 * MSS);
        bench.phase() == Phase::Down
    });
    assert_eq!((rounds, bench.gain()), (Some(3), 0.9), "a plateau of three rounds");
}

#[test]
fn a_probe_comes_after_two_to_three_seconds_at_the_latest() {
    let mut bench = Bench::in_phase(Phase::Cruise);
    let began = bench.ms;
    // More segments than rounds in that time.
    bench.state().path.update_max_bw(&RateSample {
        delivered: 200 * MSS,
        interval: Dur::from_ms(100),
        prior_delivered: 0,
        lost: 0,
        marked: 0,
        tx_in_flight: 0,
        app_limited: false,
    });
    bench.law.set_cwnd(200 * MSS);
    while bench.phase() == Phase::Cruise {
        bench.law.set_cwnd(200 * MSS);
        bench.round(20);
    }
    assert!((2_000..=3_200).contains(&(bench.ms - began + 200)), "{}", bench.ms - began);
}

#[test]
fn renos_rounds_are_the_target_in_whole_segments() {
    let mut bench = Bench::in_phase(Phase::Cruise);
    let state = bench.state();
    for bw in [1e5, 123_456.7, 1.25e6, 9e6] {
        state.path.bw = bw;
        let target = state.target_inflight();
        for bytes in [1, target - 1, target, target + 1, target + 2] {
            assert_eq!(state.is_target_inflight_below(bytes), target < bytes, "{bytes} of {target}");
        }
    }
}

#[test]
fn a_loss_of_more_than_two_per_cent_ends_a_probe_and_bounds_the_flight() {
    let _reached = must_reach(["bbr3.inflight_too_high"]);
    let mut bench = Bench::in_phase(Phase::Up);
    bench.lose(0, 800, 40 * MSS, false);
    assert_eq!(bench.phase(), Phase::Up, "2 % of 40 segments");
    bench.lose(2 * MSS, 1_000, 40 * MSS, false);
    assert_eq!((bench.phase(), bench.state().saved.state), (Phase::Down, Some(Phase::Up)));
    // 39 segments are before the lost one: 2 % of them are 780, 780 / 0.98 = 795.
    assert_eq!(bench.state().path.inflight_longterm, 39_795);
    // Once for each probe.
    bench.lose(4 * MSS, 9_000, 40 * MSS, false);
    assert_eq!(bench.state().path.inflight_longterm, 39_795);
}

#[test]
fn a_probe_that_the_application_limits_ends_and_bounds_nothing() {
    let mut bench = Bench::in_phase(Phase::Up);
    bench.lose(0, 5_000, 20 * MSS, true);
    assert_eq!((bench.phase(), bench.state().path.inflight_longterm), (Phase::Down, UNBOUNDED));
}

#[test]
fn the_bound_is_not_less_than_seven_tenths_of_the_target() {
    let mut bench = Bench::in_phase(Phase::Up);
    bench.lose(0, 5_000, 5 * MSS, false);
    // The target is the product, 20 segments.
    assert_eq!(bench.state().path.inflight_longterm, 14 * MSS);
}

/// In DOWN after a probe that lost too much, with a bound of 39,795 bytes.
fn bounded() -> Bench {
    let mut bench = Bench::in_phase(Phase::Up);
    bench.lose(0, 1_000, 40 * MSS, false);
    assert_eq!(bench.phase(), Phase::Down);
    bench
}

#[test]
fn after_a_probe_that_went_too_far_the_next_ends_at_the_bound_and_one_more_follows() {
    let _reached = must_reach(["bbr3.precautionary"]);
    let mut bench = bounded().until(Phase::Up);
    bench.ack(20, |sample| sample.in_flight = 39_794);
    assert_eq!(bench.phase(), Phase::Up);
    bench.ack(20, |sample| sample.in_flight = 39_795);
    assert_eq!(bench.phase(), Phase::Down);
    bench.round(20);
    assert_eq!(bench.phase(), Phase::Refill, "a round later, without CRUISE");
    bench.round(20);
    assert_eq!(bench.phase(), Phase::Up);
    bench.ack(20, |sample| sample.in_flight = 39_795);
    assert_eq!(bench.phase(), Phase::Up, "it stays at the bound");
}

#[test]
fn the_bound_rises_by_one_two_four_segments_a_round() {
    let mut bench = bounded().until(Phase::Up);
    bench.state().cycle.prev_probe_too_high = false;
    bench.state().path.inflight_longterm = 40 * MSS;
    bench.state().cycle.up_acked_per_inc = 40 * MSS;
    // Each round uses the window up, and delivers it.
    let bounds = [40, 41, 43].map(|window| {
        bench.law.set_cwnd(window * MSS);
        bench.ack(window, |sample| sample.cwnd_limited = true);
        (bench.state().path.inflight_longterm / MSS, bench.state().cycle.up_acked_per_inc)
    });
    // 40 / 40 = 1; 41 / 20 = 2, and a segment is left; 44 / 10.25 = 4.
    assert_eq!(bounds, [(41, 20_000), (43, 10_250), (47, 5_375)]);
    // Without use of all of the window it stays.
    bench.law.set_cwnd(47 * MSS);
    bench.round(47);
    bench.round(47);
    assert_eq!(bench.state().path.inflight_longterm, 47 * MSS);
}

#[test]
fn headroom_is_left_in_cruise_and_down_lasts_until_it_is_free() {
    let mut bench = bounded();
    // 15 % of 39 795 are 5969: 33 826 remain. The product is less.
    bench.ack(20, |sample| sample.in_flight = 20 * MSS + 1);
    assert_eq!(bench.phase(), Phase::Down);
    bench.round(20);
    assert_eq!(bench.phase(), Phase::Cruise);
    bench.law.set_cwnd(60 * MSS);
    bench.round(20);
    assert_eq!(bench.law.cwnd(), 33_826);
}

// ---- losses without a probe ----

#[test]
fn a_round_with_losses_leaves_what_was_delivered_or_seven_tenths() {
    let _reached = must_reach(["bbr3.lower_bounds"]);
    let mut bench = Bench::in_phase(Phase::Cruise);
    bench.law.set_cwnd(40 * MSS);
    bench.lose(0, 1_000, 40 * MSS, false);
    // The round with the loss delivers 20 and 15 segments: 200 kB/s, more than 0.7 of it. 0.7 of the window are 28 segments.
    bench.round(15);
    assert_eq!((bench.state().path.bw_shortterm, bench.state().path.inflight_shortterm), (PATH, 28 * MSS));
    assert_eq!((bench.gain(), bench.cwnd()), (1.0, 28));
    // Another one, of 15 and 10: 150 kB/s are more than 0.7 of 200, and 0.7 of 28 segments more than 15.
    bench.lose(90 * MSS, 1_000, 40 * MSS, false);
    bench.round(10);
    assert_eq!((bench.state().path.bw_shortterm, bench.state().path.inflight_shortterm), (150_000.0, 19_600));
    assert_eq!(bench.gain(), 0.75);
    // A third, of ten: 0.7 of 150 kB/s, and 0.7 of 19.6 segments.
    bench.lose(190 * MSS, 1_000, 40 * MSS, false);
    bench.round(10);
    assert_eq!((bench.state().path.bw_shortterm, bench.state().path.inflight_shortterm), (105_000.0, 13_720));
    // The next probe forgets both.
    while bench.phase() != Phase::Refill {
        bench.round(20);
    }
    assert_eq!((bench.state().path.bw_shortterm, bench.state().path.inflight_shortterm), (f64::INFINITY, UNBOUNDED));
}

#[test]
fn a_spurious_recovery_restores_bounds_window_and_probe() {
    let _reached = must_reach(["bbr3.undo"]);
    let mut bench = Bench::in_phase(Phase::Up);
    let cwnd = bench.cwnd();
    bench.recover();
    bench.lose(0, 2_000, 40 * MSS, false);
    assert_eq!(bench.phase(), Phase::Down);
    bench.law.set_cwnd(5 * MSS);
    bench.law.on_undo(CcState { cwnd: 0, ssthresh: 0 });
    assert_eq!((bench.phase(), bench.state().path.inflight_longterm), (Phase::Refill, UNBOUNDED));
    assert_eq!(bench.cwnd(), cwnd);
    // Startup comes back, too.
    let mut bench = lossy_startup(6, 401, true);
    bench.law.on_undo(CcState { cwnd: 0, ssthresh: 0 });
    assert_eq!((bench.phase(), bench.state().full_bw.reached), (Phase::Startup, false));
    assert_eq!(bench.state().path.inflight_longterm, UNBOUNDED);
}

#[test]
fn the_window_comes_back_after_recovery_and_after_a_timeout() {
    let mut bench = Bench::in_phase(Phase::Cruise);
    bench.law.set_cwnd(40 * MSS);
    bench.law.on_congestion(&CongestionEvent { why: Congestion::Timeout, now: at(bench.ms), in_flight: 20 * MSS });
    // Recovery leaves a segment.
    bench.law.set_cwnd(MSS);
    bench.lose(0, 1_000, 40 * MSS, false);
    bench.in_recovery = true;
    bench.ack(1, |sample| sample.in_flight = MSS);
    assert_eq!(bench.cwnd(), 4, "four are the least");
    bench.in_recovery = false;
    bench.state().path.reset_short_term();
    bench.ack(1, |sample| sample.in_flight = MSS);
    assert_eq!(bench.cwnd(), 41);
}

// ---- ProbeRTT ----

#[test]
fn five_seconds_without_a_lower_rtt_halve_the_flight_for_a_fifth_of_a_second_and_a_round() {
    let _reached = must_reach(["bbr3.probe_rtt", "bbr3.probe_rtt_ends"]);
    let mut bench = Bench::cruising(Params::default(), true);
    let same = |sample: &mut AckSample| sample.last_rtt = Some(Dur::from_ms(100));
    while bench.phase() != Phase::ProbeRtt {
        assert!(!bench.law.limits_rate());
        bench.ack(20, same);
    }
    // The least RTT is of 700 ms: the first ACK after 5700 ms.
    assert_eq!((bench.ms, bench.cwnd(), bench.gain()), (5_800, 10, 1.0));
    assert!(bench.law.limits_rate(), "its samples are no measure of the path");
    bench.ack(10, |sample| sample.in_flight = 10 * MSS);
    let began = bench.ms;
    while bench.phase() == Phase::ProbeRtt {
        bench.ack(10, |sample| sample.in_flight = 10 * MSS);
    }
    assert_eq!((bench.ms - began, bench.phase()), (300, Phase::Cruise), "more than 200 ms");
    assert!(bench.cwnd() >= 20);
}

#[test]
fn probe_rtt_before_the_pipe_is_full_ends_in_startup() {
    let mut bench = Bench::new();
    let limited = |sample: &mut AckSample| {
        (rate(sample).app_limited, sample.in_flight) = (true, 2 * MSS);
        sample.last_rtt = Some(Dur::from_ms(100));
    };
    while bench.phase() != Phase::ProbeRtt {
        bench.ack(2, limited);
    }
    while bench.phase() == Phase::ProbeRtt {
        bench.ack(2, limited);
    }
    assert_eq!(bench.phase(), Phase::Startup);
}

#[test]
fn after_silence_the_rate_is_the_bandwidth_and_no_probe_rtt_begins() {
    let mut bench = Bench::in_phase(Phase::Down);
    bench.ms += 10_000;
    let sent = Sent { now: at(bench.ms), bytes: MSS, app_limited: true, ..Sent::default() };
    bench.law.on_sent(&Sent { in_flight: MSS, ..sent });
    assert_eq!(bench.gain(), 0.9, "something is in flight");
    bench.law.on_sent(&sent);
    assert_eq!((bench.gain(), bench.state().idle_restart), (1.0, true));
    bench.round(20);
    assert_ne!(bench.phase(), Phase::ProbeRtt);
    assert!(!bench.state().idle_restart);
}

// ---- small paths ----

#[test]
fn on_a_path_of_less_than_a_segment_four_are_in_flight_and_the_rate_is_the_paths() {
    let mut bench = Bench::new();
    let slow = |sample: &mut AckSample| {
        (rate(sample).interval, sample.in_flight) = (Dur::from_ms(1_000), 3 * MSS);
    };
    (0..60).for_each(|_| bench.ack(1, slow));
    // A segment a second: 0.1 in the RTT. Six are the offload budget, three bursts of two.
    assert!(bench.state().path.max_bw() == 1_000.0 && bench.cwnd() >= 4);
    bench.state().state = Phase::Cruise;
    bench.round(0);
    assert_eq!(bench.law.pacing().map(|pacing| pacing.rate), Some(990));
}

// ---- marks ----

/// Marks of `bytes` in a round of 20 segments that delivers them all.
fn mark(bytes: u64) -> impl FnOnce(&mut AckSample) {
    move |sample| {
        sample.marked = Amount::of(bytes, MSS as u32);
        rate(sample).marked = bytes;
    }
}

#[test]
fn a_mark_counts_as_a_loss() {
    let mut bench = Bench::in_phase(Phase::Cruise);
    bench.law.set_cwnd(40 * MSS);
    bench.ack(20, mark(1_000));
    bench.ack(15, |_| ());
    assert!(bench.state().path.bw_shortterm.is_finite());
    // A probe ends with more than 2 % of 20 segments marked.
    for (bytes, phase) in [(400, Phase::Up), (401, Phase::Down)] {
        let mut bench = Bench::in_phase(Phase::Up);
        bench.ack(20, mark(bytes));
        assert_eq!(bench.phase(), phase, "{bytes}");
    }
    // So does one with 1 % marked and 1.5 % lost.
    let mut bench = Bench::in_phase(Phase::Up);
    bench.ack(20, |sample| {
        rate(sample).lost = 300;
        mark(200)(sample);
    });
    assert_eq!(bench.phase(), Phase::Down);
}

#[test]
fn marks_in_six_places_and_more_than_two_per_cent_end_startup() {
    // Of 120 segments that an ACK reports 2 % are 2400 bytes; six ACKs with marks and one without are the round.
    let ends = |places: u64, bytes: u64| {
        let mut bench = Bench::new();
        bench.round(10);
        // The first mark begins a round, which ends with the data sent after its ACK.
        let began = bench.delivered + 20 * MSS;
        for place in 0..7 {
            bench.ack(20, |sample| {
                rate(sample).prior_delivered = if place < 6 { 0 } else { began };
                (rate(sample).delivered, rate(sample).tx_in_flight) = ((place + 1) * 20 * MSS, 120 * MSS);
                sample.marked = Amount::of(if place < places { MSS } else { 0 }, MSS as u32);
                rate(sample).marked = bytes;
            });
        }
        bench.phase() != Phase::Startup
    };
    assert_eq!([(6, 2_401), (5, 2_401), (6, 2_400)].map(|(places, bytes)| ends(places, bytes)), [true, false, false]);
}

#[test]
fn an_echo_that_counts_nothing_is_too_much_for_a_probe() {
    let mut bench = Bench::cruising(Params::default(), false).until(Phase::Up);
    bench.ack(20, mark(20_000));
    assert_eq!(bench.phase(), Phase::Up, "ECN-Echo repeats itself: only the first in a window of data counts");
    bench.law.on_congestion(&CongestionEvent { why: Congestion::Ecn, now: at(bench.ms), in_flight: 20 * MSS });
    bench.round(20);
    assert_eq!(bench.phase(), Phase::Down);
}

#[test]
fn marks_are_ignored_where_the_scenario_asks_for_it() {
    let mut bench = Bench::cruising(Params { marks: Response::Ignored, ..Params::default() }, true);
    while bench.phase() != Phase::Up {
        bench.ack(20, mark(20_000));
    }
    assert!(bench.state().path.bw_shortterm.is_infinite() && bench.state().path.inflight_longterm == UNBOUNDED);
}

#[test]
fn alpha_follows_the_marked_share_and_cuts_a_third_of_it() {
    let _reached = must_reach(["bbr3.alpha", "bbr3.marks_have_ceased"]);
    let params = Params { marks: Response::Alpha, marks_max_rtt: Dur::ZERO, ..Params::default() };
    let mut bench = Bench::cruising(params, true);
    let alpha = bench.state().ecn.alpha();
    bench.round(20);
    assert_eq!(bench.phase(), Phase::Cruise);
    bench.law.set_cwnd(40 * MSS);
    bench.ack(20, mark(5_000));
    // 15/16 twice, and a quarter of a sixteenth: marked are 5 of 20.
    let expected = alpha * (15.0 / 16.0_f64).powi(2) + 0.25 / 16.0;
    assert!((bench.state().ecn.alpha() - expected).abs() < 1e-12);
    let cut = (1.0 - expected / 3.0) * 40_000.0;
    assert_eq!((bench.state().path.inflight_shortterm, bench.phase()), (cut as u64, Phase::Cruise));
    // A round without marks, and the probe begins at once.
    bench.round(20);
    assert_eq!(bench.phase(), Phase::Refill);
    // Half of what was delivered may be marked in a probe.
    let mut bench = Bench::cruising(params, true).until(Phase::Up);
    bench.ack(20, mark(10_000));
    assert_eq!(bench.phase(), Phase::Up);
    bench.ack(20, mark(10_001));
    assert_eq!(bench.phase(), Phase::Down);
}

#[test]
fn alpha_ends_startup_after_two_rounds_of_half_marked_and_works_up_to_an_rtt() {
    let rounds = |max_rtt| {
        let mut bench =
            Bench::with(Params { marks: Response::Alpha, marks_max_rtt: max_rtt, ..Params::default() }, true, true);
        (1..6).find(|n| {
            bench.ack(20 << n, mark(10_000 << n));
            bench.phase() != Phase::Startup
        })
    };
    assert_eq!([Dur::from_ms(100), Dur::from_ms(99)].map(rounds), [Some(2), None]);
}

#[test]
fn settings_without_meaning_are_refused() {
    let key = |params: Params| params.check().err().map(|error| error.key);
    assert!(key(Params { marks_max_rtt: Dur::from_s(11), ..Params::default() }).is_some());
    assert!(key(Params::default()).is_none());
}
