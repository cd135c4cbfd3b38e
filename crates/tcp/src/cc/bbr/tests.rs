//! The law by hand: rounds of 100 ms, segments of 1000 bytes.

use ecnlab_base::coverage::must_reach;

use super::*;
use crate::cc::{Amount, Params as _};
use crate::registry::{RecoveryKind, WindowLaw};
use crate::{Config, profile};

const MSS: u64 = 1_000;

fn at(ms: u64) -> Time {
    Time::ZERO + Dur::from_ms(ms)
}

fn segments(n: u64) -> Amount {
    Amount::of(n * MSS, MSS as u32)
}

/// A connection whose handshake took from 0 to 100 ms.
struct Bench {
    law: Bbr,
    ms: u64,
    delivered: u64,
    lost: u64,
}

impl Bench {
    fn new(seed: u32) -> Bench {
        let mut law = Params {}.law(Window::new(10, MSS as u32));
        law.on_established(&Established {
            now: at(100),
            rtt: Some(Dur::from_ms(100)),
            seed,
            counts_marks: false,
            sack: true,
        });
        (0..10).for_each(|_| law.0.rate.count_sent(MSS));
        Bench { law, ms: 100, delivered: 0, lost: 0 }
    }

    /// A path of 20 segments a round is filled and drained: three rounds after the one in which it was reached, and one more.
    fn probing(seed: u32) -> Bench {
        let mut bench = Bench::new(seed);
        [10, 20, 20, 20, 20].iter().for_each(|n| bench.round(*n));
        assert_eq!(bench.mode(), Mode::Drain);
        bench.ack(20, |sample| sample.in_flight = 20 * MSS);
        assert_eq!(bench.mode(), Mode::ProbeBw);
        bench
    }

    fn mode(&self) -> Mode {
        self.law.0.mode
    }

    fn cwnd(&self) -> u64 {
        self.law.0.cwnd()
    }

    /// A round delivers `n` segments; more than the path holds stays in flight.
    fn round(&mut self, n: u64) {
        self.ack(n, |sample| sample.in_flight = 500 * MSS);
    }

    /// An ACK that ends a round of 100 ms, in which `n` segments were delivered, modified by `change`.
    fn ack(&mut self, n: u64, change: impl FnOnce(&mut AckSample)) {
        self.ms += 100;
        self.delivered += n * MSS;
        let rate = RateSample {
            delivered: n * MSS,
            interval: Dur::from_ms(100),
            prior_delivered: self.delivered - n * MSS,
            lost: 0,
            marked: 0,
            tx_in_flight: 0,
            app_limited: false,
        };
        let mut sample = AckSample {
            now: at(self.ms),
            acked: segments(n).bytes,
            delivered: segments(n),
            delivered_total: self.delivered,
            lost_total: self.lost,
            in_flight: 20 * MSS,
            prior_in_flight: 20 * MSS,
            srtt: Dur::from_ms(100),
            last_rtt: Some(Dur::from_ms(100)),
            rate: Some(rate),
            ..AckSample::default()
        };
        change(&mut sample);
        self.law.on_feedback(&AckSample { lost_total: self.lost, ..sample });
        self.lost = sample.lost_total;
        self.law.on_ack(&sample);
    }
}

/// The rate at a gain on a path of `n` segments a round.
fn paced(n: u64, gain: u64) -> u64 {
    Bandwidth::of(n * MSS, MSS, 100_000).bytes_per_sec(MSS, gain)
}

#[test]
fn gains_are_the_kernel_s() {
    // 256 · 2.885 = 738.56, and one; 256 / 2.885 = 88.7.
    assert_eq!((HIGH_GAIN, DRAIN_GAIN, CWND_GAIN), (739, 88, 512));
}

#[test]
fn without_an_rtt_pacing_begins_at_a_millisecond_and_the_first_rtt_begins_it_anew() {
    let mut bench = Bench::new(1);
    bench.law.on_established(&Established { now: at(100), rtt: None, seed: 1, counts_marks: false, sack: true });
    let nominal = Bandwidth::of(10 * MSS, MSS, 1_000).bytes_per_sec(MSS, HIGH_GAIN);
    assert_eq!((bench.law.0.rate.get(), bench.law.0.rate.wants_rtt()), (nominal, true));
    bench.ack(1, |sample| (sample.last_rtt, sample.srtt) = (None, Dur::ZERO));
    assert_eq!((bench.law.0.min_rtt.get(), bench.law.0.bdp(Bandwidth::default(), UNIT)), (None, 10), "ten are safe");
    bench.round(10);
    assert_eq!((bench.law.0.min_rtt.get(), bench.law.0.rate.wants_rtt()), (Some(100_000), false));
    assert!(bench.law.0.rate.get() < nominal);
}

#[test]
fn bursts_follow_the_least_rtt_of_the_connection_not_that_of_ten_seconds() {
    let mut bench = Bench::new(1);
    bench.ack(1, |sample| sample.last_rtt = Some(Dur::from_ms(2)));
    // 64 KiB are halved three times in 2 ms, and a millisecond's share is less than a segment.
    let burst = |bench: &Bench| bench.law.pacing().unwrap().quantum;
    assert_eq!(burst(&bench), 8_000);
    bench.ms += 11_000;
    bench.round(1);
    assert_eq!((bench.law.0.min_rtt.get(), burst(&bench)), (Some(100_000), 8_000));
}

#[test]
fn startup_doubles_until_three_rounds_bring_no_quarter_more() {
    let mut bench = Bench::new(1);
    for (n, cwnd) in [(10, 20), (20, 40), (40, 80), (80, 160)] {
        bench.round(n);
        assert_eq!((bench.law.0.rate.get(), bench.cwnd(), bench.mode()), (paced(n, 739), cwnd, Mode::Startup));
    }
    // 99 are less than a quarter more than 80, 101 are more.
    for (n, most) in [(99, 99), (99, 99), (101, 101), (101, 101), (50, 101)] {
        bench.round(n);
        assert_eq!((bench.mode(), bench.law.0.rate.get()), (Mode::Startup, paced(most, 739)));
    }
    bench.round(101);
    assert_eq!((bench.mode(), bench.law.0.rate.get()), (Mode::Drain, paced(101, 88)));
    // ssthresh shows where Startup has ended: 101 and room for what hosts hold; at 2.9 MB/s and above two segments three
    // times, and one to be even.
    assert_eq!(bench.law.window().ssthresh(), 108 * MSS);
}

#[test]
fn above_its_target_the_window_grows_until_ten_are_delivered_the_syn_among_them() {
    let mut bench = Bench::new(1);
    // A segment in 100 ms: three at the gain of Startup, and six for the hosts, even: ten. None fills the pipe.
    let limited = |sample: &mut AckSample| sample.rate.as_mut().unwrap().app_limited = true;
    let windows = [(); 9].map(|()| {
        bench.ack(1, limited);
        bench.cwnd()
    });
    assert_eq!(windows, [11, 12, 13, 14, 15, 16, 17, 18, 18]);
    // From then on up to the target.
    for (before, after) in [(9, 10), (10, 10)] {
        bench.law.set_cwnd(before * MSS);
        bench.ack(1, limited);
        assert_eq!(bench.cwnd(), after);
    }
}

#[test]
fn a_bandwidth_counts_for_ten_rounds() {
    let bw = |n| Bandwidth::of(n * MSS, MSS, 100_000);
    let mut bench = Bench::new(1);
    bench.round(20);
    (0..10).for_each(|_| bench.round(10));
    assert_eq!(bench.law.0.bw(), bw(20));
    bench.round(10);
    assert_eq!(bench.law.0.bw(), bw(10));
}

#[test]
fn the_pipe_is_tested_for_being_full_at_the_begin_of_a_round_and_once_full_it_stays_so() {
    let mut bench = Bench::new(1);
    bench.round(20);
    let pipe = bench.law.0.pipe;
    (0..9).for_each(|_| bench.ack(20, |sample| sample.rate.as_mut().unwrap().prior_delivered = 0));
    assert_eq!((bench.mode(), bench.law.0.pipe), (Mode::Startup, pipe));
    let mut bench = Bench::probing(1);
    (0..3).for_each(|_| bench.round(40));
    assert!(bench.law.0.pipe.is_full());
}

#[test]
fn rounds_limited_by_the_application_do_not_count_against_the_pipe_nor_lower_the_bandwidth() {
    let mut bench = Bench::new(1);
    bench.round(20);
    let pipe = bench.law.0.pipe;
    let limited = |sample: &mut AckSample| sample.rate.as_mut().unwrap().app_limited = true;
    (0..30).for_each(|_| bench.ack(5, limited));
    assert_eq!((bench.law.0.pipe, bench.law.0.bw()), (pipe, Bandwidth::of(20 * MSS, MSS, 100_000)));
    bench.ack(21, limited);
    assert_eq!(bench.law.0.bw(), Bandwidth::of(21 * MSS, MSS, 100_000), "as much as was known does");
}

#[test]
fn draining_ends_when_no_more_is_in_flight_than_the_path_and_the_hosts_hold() {
    let _reached = must_reach(["bbr.drain"]);
    let mut bench = Bench::new(1);
    [10, 20, 20, 20, 20].iter().for_each(|n| bench.round(*n));
    // 20, and room for the hosts: the rate is 20 · 10 · 88/256 = 68 kB/s, below 150 kB/s, so one segment three times, even.
    assert_eq!((bench.law.0.rate.get(), bench.law.0.inflight(UNIT)), (paced(20, 88), 24));
    bench.ack(20, |sample| sample.in_flight = 25 * MSS);
    assert_eq!(bench.mode(), Mode::Drain);
    // What the pacer holds back for 10 ms lets two more out of the network: 1.9999, rounded down to one.
    bench.ack(20, |sample| {
        sample.in_flight = 25 * MSS;
        sample.departure = sample.now + Dur::from_ms(10);
    });
    assert_eq!(bench.mode(), Mode::ProbeBw);
}

#[test]
fn the_first_phase_is_drawn_by_the_connection_s_seed() {
    let first = |seed| Bench::probing(seed).law.0.cycle.phase();
    assert!((0..20).any(|seed| first(seed) != first(7)));
}

/// In ProbeBW, at the beginning of a phase.
fn in_phase(phase: usize) -> Bench {
    let mut bench = Bench::probing(1);
    let state = &mut *bench.law.0;
    state.cycle.advance(state.delivered_at);
    while state.cycle.phase() != phase {
        state.cycle.advance(state.delivered_at);
    }
    state.update_gains();
    bench
}

/// The phase after an ACK that comes so many milliseconds after its beginning, with so many segments in flight before it.
fn phase_after(phase: usize, ms: u64, in_flight: u64, lost: u64) -> usize {
    let mut bench = in_phase(phase);
    bench.ms = bench.ms + ms - 100;
    bench.ack(20, |sample| (sample.prior_in_flight, sample.lost_total) = (in_flight * MSS, lost * MSS));
    bench.law.0.cycle.phase()
}

#[test]
fn the_next_segment_is_in_the_network_if_more_is_requested() {
    let mut state = in_phase(0).law.0;
    let mut segments = |gain| {
        state.pacing_gain = gain;
        state.in_network(&AckSample::default(), 10 * MSS)
    };
    assert_eq!([UNIT * 5 / 4, UNIT, UNIT * 3 / 4].map(&mut segments), [12, 10, 10]);
}

#[test]
fn a_cruising_phase_lasts_the_least_rtt() {
    assert_eq!((phase_after(2, 100, 20, 0), phase_after(2, 101, 20, 0)), (2, 3));
    assert_eq!(phase_after(7, 101, 20, 0), 0, "after the last the first");
}

#[test]
fn probing_goes_on_until_a_quarter_more_is_in_flight_or_something_is_lost() {
    // 1.25 · 20 = 25, six for the hosts (the rate is above 150 kB/s), even, and two in the first phase: 34. Two of these leave
    // next.
    assert_eq!((phase_after(0, 101, 31, 0), phase_after(0, 101, 32, 0)), (0, 1));
    assert_eq!(phase_after(0, 100, 32, 0), 0, "and for the least RTT");
    assert_eq!((phase_after(0, 101, 10, 1), phase_after(0, 100, 10, 1)), (1, 0));
}

#[test]
fn a_draining_phase_ends_early_when_no_queue_is_left() {
    // 20 and six for the hosts: 26.
    assert_eq!((phase_after(1, 50, 27, 0), phase_after(1, 50, 26, 0)), (1, 2));
    assert_eq!(phase_after(1, 101, 99, 0), 2);
}

#[test]
fn the_window_is_two_products_and_room_for_the_hosts() {
    let mut bench = in_phase(2);
    bench.law.0.aggregation = Aggregation::default();
    bench.law.0.aggregation.restart(at(bench.ms));
    bench.ack(1, |_| ());
    // 40 and six; an excess of one that the epoch has begun with makes 47, even 48.
    assert_eq!((bench.law.0.cycle.phase(), bench.cwnd()), (2, 48));
}

#[test]
fn probe_rtt_comes_after_ten_seconds_without_a_lower_rtt_and_lasts_a_fifth_of_a_second_and_a_round() {
    let _reached = must_reach(["bbr.probe_rtt", "bbr.probe_rtt_ends"]);
    let mut bench = Bench::probing(1);
    let rtt = |ms| move |sample: &mut AckSample| sample.last_rtt = Some(Dur::from_ms(ms));
    // The same RTT does not renew the estimate; the handshake ended at 100 ms.
    while bench.ms < 10_000 {
        bench.round(20);
    }
    bench.ack(20, rtt(120));
    assert_eq!((bench.ms, bench.law.0.min_rtt.get(), bench.mode()), (10_100, Some(100_000), Mode::ProbeBw));
    let before = bench.cwnd();
    bench.ack(20, rtt(120));
    assert_eq!((bench.law.0.min_rtt.get(), bench.mode(), bench.cwnd()), (Some(120_000), Mode::ProbeRtt, 4));
    assert!(bench.law.limits_rate() && bench.law.0.pacing_gain == UNIT && bench.law.0.cwnd_gain == UNIT);
    // 20 are in flight, then five, then four: from there on it lasts.
    bench.ack(15, |sample| sample.in_flight = 5 * MSS);
    assert!(!bench.law.0.probe_rtt.is_timed());
    bench.ack(4, |sample| sample.in_flight = 4 * MSS);
    assert!(bench.law.0.probe_rtt.is_timed());
    bench.ack(4, |_| ());
    bench.ack(4, |_| ());
    assert_eq!((bench.mode(), bench.cwnd()), (Mode::ProbeRtt, 4), "not more than 200 ms");
    bench.ack(4, |_| ());
    assert_eq!((bench.mode(), bench.law.0.recovery.saved()), (Mode::ProbeBw, before));
    assert!(bench.cwnd().abs_diff(before) <= 2, "the first phase has two segments more");
    assert!(bench.law.limits_rate(), "what was in flight still counts as limited");
    bench.ack(4, |_| ());
    assert!(!bench.law.limits_rate());
    assert_eq!(bench.law.0.min_rtt, MinRtt::new(Some(100_000), at(bench.ms - 100)));
}

#[test]
fn probe_rtt_waits_for_a_round_and_without_a_full_pipe_leads_back_to_startup() {
    let mut bench = Bench::new(1);
    bench.round(10);
    bench.ms = 10_200;
    bench.ack(10, |sample| sample.in_flight = 0);
    assert_eq!(bench.mode(), Mode::ProbeRtt);
    bench.ms += 1_000;
    // What is delivered was sent before: no round is over.
    bench.ack(1, |sample| sample.rate.as_mut().unwrap().prior_delivered = 0);
    assert_eq!(bench.mode(), Mode::ProbeRtt);
    bench.ack(1, |_| ());
    assert_eq!(bench.mode(), Mode::Startup);
}

#[test]
fn a_lower_rtt_renews_the_estimate_and_a_delayed_ack_does_not_end_it() {
    let mut bench = Bench::probing(1);
    bench.ack(20, |sample| sample.last_rtt = Some(Dur::from_us(99_999)));
    assert_eq!(bench.law.0.min_rtt, MinRtt::new(Some(99_999), at(bench.ms)));
    // Ten seconds on an ACK of half a segment that was sent alone may be late.
    let half = |sample: &mut AckSample| {
        sample.acked = 500;
        sample.rate.as_mut().unwrap().delivered = 500;
        sample.last_rtt = Some(Dur::from_ms(140));
    };
    bench.ms += 10_000;
    bench.ack(1, half);
    assert_eq!((bench.law.0.min_rtt.get(), bench.mode()), (Some(99_999), Mode::ProbeRtt));
    bench.ack(1, |sample| sample.last_rtt = Some(Dur::from_ms(140)));
    assert_eq!(bench.law.0.min_rtt.get(), Some(140_000));
}

/// A segment that leaves when nothing is in flight, after silence.
fn restart(ms: u64) -> Sent {
    Sent { now: at(ms), bytes: MSS, app_limited: true, ..Sent::default() }
}

#[test]
fn a_restart_after_silence_paces_at_the_bandwidth_and_puts_probe_rtt_off() {
    let _reached = must_reach(["bbr.restart_after_silence"]);
    let mut bench = in_phase(0);
    bench.law.0.pace(320);
    bench.law.on_idle_restart(1_000);
    let cwnd = bench.cwnd();
    bench.ms += 11_000;
    let restart = restart(bench.ms);
    let others = [
        Sent { in_flight: MSS, outstanding: MSS, ..restart },
        Sent { bytes: 0, ..restart },
        Sent { app_limited: false, ..restart },
    ];
    for other in others {
        bench.law.on_sent(&other);
        assert_eq!((bench.law.0.idle_restart, bench.law.0.rate.get()), (false, paced(20, 320)));
    }
    bench.law.on_sent(&restart);
    assert_eq!((bench.law.0.idle_restart, bench.law.0.rate.get()), (true, paced(20, 256)));
    assert_eq!(bench.cwnd(), cwnd, "the window stays");
    bench.ack(1, |_| ());
    assert_eq!((bench.mode(), bench.law.0.idle_restart), (Mode::ProbeBw, false));
}

#[test]
fn what_is_sent_when_all_before_it_is_lost_begins_anew_and_delivery_goes_on() {
    let mut bench = in_phase(0);
    let delivered_at = bench.law.0.delivered_at;
    bench.law.on_sent(&Sent { outstanding: MSS, ..restart(bench.ms + 50) });
    assert_eq!((bench.law.0.idle_restart, bench.law.0.delivered_at), (true, delivered_at));
    bench.law.on_sent(&restart(bench.ms + 60));
    assert_eq!(bench.law.0.delivered_at, at(bench.ms + 60));
}

#[test]
fn silence_ends_probe_rtt_and_the_phase_counts_from_the_last_delivery() {
    let mut bench = Bench::probing(1);
    bench.ms += 10_000;
    bench.ack(20, |sample| sample.in_flight = 0);
    assert_eq!(bench.mode(), Mode::ProbeRtt);
    bench.law.on_sent(&Sent { outstanding: MSS, ..restart(bench.ms + 200) });
    assert_eq!(bench.mode(), Mode::ProbeRtt, "not more than 200 ms");
    bench.law.on_sent(&restart(bench.ms + 201));
    assert_eq!((bench.mode(), bench.law.0.cycle.lasted(at(bench.ms + 201))), (Mode::ProbeBw, 201_000));
}

#[test]
fn losses_and_marks_leave_the_window_and_a_timeout_leaves_four_segments() {
    let _reached = must_reach(["bbr.timeout"]);
    let mut bench = Bench::new(1);
    [10, 20, 20].iter().for_each(|n| bench.round(*n));
    let (state, pipe) = (bench.law.state(), bench.law.0.pipe);
    for why in [Congestion::Ecn, Congestion::Loss] {
        bench.law.on_congestion(&crate::cc::event(why, 5_000));
        assert_eq!((bench.law.state(), bench.law.0.pipe, bench.law.0.recovery.saved()), (state, pipe, 60));
    }
    bench.law.on_congestion(&crate::cc::event(Congestion::Timeout, 5_000));
    assert_eq!(bench.law.state(), state);
    // Recovery has taken the window to one segment. In what follows a timeout it is four at least, and then as before.
    bench.law.set_cwnd(MSS);
    bench.ack(1, |sample| (sample.in_recovery, sample.in_flight) = (true, 0));
    assert_eq!(bench.cwnd(), 4);
    bench.law.on_further_loss();
    bench.ack(1, |_| ());
    assert_eq!(bench.cwnd(), 61);
}

#[test]
fn a_loss_after_a_timeout_is_another_timeout() {
    let mut bench = Bench::new(1);
    [10, 20, 20].iter().for_each(|n| bench.round(*n));
    let pipe = bench.law.0.pipe;
    let mut expected = bench.law.0.clone();
    expected.on_timeout();
    bench.law.on_further_loss();
    assert_ne!(bench.law.0.pipe, pipe);
    assert_eq!((bench.law.0.pipe, bench.law.0.rounds.start), (expected.pipe, true));
}

#[test]
fn the_window_to_return_to_is_the_last_one_that_was_not_cut() {
    let mut bench = Bench::new(1);
    bench.round(20);
    for cwnd in [40, 30] {
        bench.law.set_cwnd(cwnd * MSS);
        bench.law.on_congestion(&crate::cc::event(Congestion::Ecn, 5_000));
        assert_eq!(bench.law.0.recovery.saved(), cwnd);
    }
    bench.ms += 11_000;
    bench.ack(1, |sample| sample.in_flight = 10 * MSS);
    assert_eq!((bench.mode(), bench.cwnd()), (Mode::ProbeRtt, 4));
    bench.law.on_congestion(&crate::cc::event(Congestion::Loss, 5_000));
    assert_eq!(bench.law.0.recovery.saved(), 30);
}

#[test]
fn a_loss_after_a_timeout_begins_a_fast_recovery() {
    let mut bench = Bench::new(1);
    bench.round(20);
    bench.law.on_congestion(&crate::cc::event(Congestion::Timeout, 5_000));
    bench.ack(1, |sample| (sample.in_recovery, sample.in_flight) = (true, 0));
    bench.law.on_congestion(&crate::cc::event(Congestion::Loss, 5_000));
    bench.ack(2, |sample| (sample.in_recovery, sample.in_flight) = (true, 3 * MSS));
    assert_eq!(bench.cwnd(), 5, "as much as is delivered, and not slow start");
}

#[test]
fn an_ack_that_delivers_nothing_leaves_window_silence_and_the_time_of_the_last_delivery() {
    let mut bench = Bench::new(1);
    bench.ack(10, |sample| sample.prior_in_flight = 0);
    assert_eq!(bench.law.0.rounds.count, 1, "what was taken for lost may arrive");
    let (cwnd, delivered_at) = (bench.cwnd(), bench.law.0.delivered_at);
    bench.law.on_sent(&Sent { outstanding: MSS, ..restart(bench.ms) });
    bench.ack(0, |sample| (sample.rate, sample.lost_total) = (None, 3 * MSS));
    assert_eq!((bench.cwnd(), bench.law.0.delivered_at, bench.law.0.idle_restart), (cwnd, delivered_at, true));
}

#[test]
fn a_timeout_forgets_how_full_the_pipe_is() {
    let rounds = |timeout: bool| {
        let mut bench = Bench::new(1);
        [10, 20, 20, 20].iter().for_each(|n| bench.round(*n));
        if timeout {
            bench.law.on_congestion(&crate::cc::event(Congestion::Timeout, 5_000));
        }
        (0..9).take_while(|_| (bench.round(20), bench.mode()).1 == Mode::Startup).count()
    };
    // Two of three rounds had brought no more. After a timeout what the next brings is growth, and three more must follow.
    assert_eq!((rounds(false), rounds(true)), (0, 3));
}

#[test]
fn a_fast_recovery_conserves_packets_for_a_round_that_begins_with_it() {
    let _reached = must_reach(["bbr.conservation", "bbr.restored_window"]);
    let mut bench = Bench::new(1);
    [10, 20].iter().for_each(|n| bench.round(*n));
    bench.law.on_congestion(&crate::cc::event(Congestion::Loss, 5_000));
    let recovery = |sample: &mut AckSample| (sample.in_recovery, sample.in_flight) = (true, 30 * MSS);
    bench.ack(2, |sample| {
        recovery(sample);
        sample.lost_total = 3 * MSS;
    });
    assert_eq!((bench.cwnd(), bench.law.0.rounds.began), (32, bench.delivered));
    // Sent before that: the round is not over.
    bench.ack(2, |sample| {
        recovery(sample);
        sample.rate.as_mut().unwrap().prior_delivered -= MSS;
    });
    assert_eq!(bench.cwnd(), 32);
    bench.ack(2, recovery);
    assert_eq!(bench.cwnd(), 34, "as slow start from then on");
    bench.ack(2, |_| ());
    assert_eq!(bench.cwnd(), 42, "40 before, and what this ACK delivers");
}

#[test]
fn an_undo_looks_for_the_full_pipe_anew_and_restores_the_threshold() {
    let _reached = must_reach(["bbr.undo"]);
    let mut bench = Bench::new(1);
    [10, 20, 20].iter().for_each(|n| bench.round(*n));
    let before = CcState { cwnd: 99 * MSS, ssthresh: 77 * MSS };
    bench.law.set_ssthresh(70 * MSS);
    let cwnd = bench.cwnd();
    bench.law.on_undo(before);
    assert_eq!((bench.cwnd(), bench.law.window().ssthresh(), bench.law.0.pipe), (cwnd, 77 * MSS, Pipe::default()));
    bench.law.on_undo(CcState { ssthresh: 7 * MSS, ..before });
    assert_eq!(bench.law.window().ssthresh(), 77 * MSS);
}

#[test]
fn the_rate_of_a_policer_is_the_bandwidth() {
    let _reached = must_reach(["bbr.policer"]);
    let mut bench = in_phase(0);
    // A fifth and more of 20 is lost in each of two intervals: four rounds with the first, then four.
    for _ in 0..8 {
        let lost = bench.lost + 5 * MSS;
        bench.ack(20, |sample| sample.lost_total = lost);
    }
    let policed = bench.law.0.long_term.policed();
    assert_eq!((policed, bench.law.0.pacing_gain), (Some(bench.law.0.bw()), UNIT));
    assert!(policed.is_some());
    // For 48 rounds of ProbeBW, whatever more is delivered.
    for _ in 0..47 {
        bench.round(40);
        assert_eq!((Some(bench.law.0.bw()), bench.law.0.pacing_gain), (policed, UNIT));
    }
    bench.round(40);
    assert_eq!((bench.law.0.bw(), bench.mode()), (Bandwidth::of(40 * MSS, MSS, 100_000), Mode::ProbeBw));
}

#[test]
fn samples_below_a_microsecond_and_acks_of_nothing_change_no_model() {
    let mut bench = Bench::new(1);
    bench.round(10);
    let count = bench.law.0.rounds.count;
    bench.ack(90, |sample| sample.rate.as_mut().unwrap().interval = Dur::from_ns(999));
    assert_eq!((bench.law.0.rounds.count, bench.law.0.bw()), (count, Bandwidth::of(10 * MSS, MSS, 100_000)));
    bench.ms += 11_000;
    bench.ack(0, |sample| (sample.prior_in_flight, sample.rate) = (0, None));
    assert_eq!(bench.mode(), Mode::Startup, "nothing was outstanding");
    bench.ack(0, |sample| sample.rate = None);
    assert_eq!(bench.mode(), Mode::ProbeRtt);
}

#[test]
fn a_trace_has_what_ss_shows() {
    let mut bench = Bench::new(1);
    bench.round(10);
    // 1677 units are 799655.914 bits a second of segments of 1000 bytes; 739/256 twice.
    let values = bench.law.values();
    assert!((values[0] - 799_655.914).abs() < 1e-3);
    assert_eq!(values[1..], [0.1, 2.88671875, 2.88671875]);
    bench.law.0.min_rtt = MinRtt::default();
    assert!(bench.law.values()[1].is_nan());
}

#[test]
fn recoveries_that_set_the_window_themselves_are_refused() {
    let refused = |recovery| {
        let config = profile("linux-7").unwrap().config.clone();
        let config = Config { congestion: WindowLaw::Bbr(Params {}), recovery, ..config };
        config.check().err().map(|refused| refused.to_string())
    };
    assert_eq!([RecoveryKind::Rack, RecoveryKind::LinuxNewReno].map(refused), [None, None]);
    let problem =
        "`recovery` must be \"linux-newreno\" or \"rack\" with congestion = \"bbr\", which sets its window by itself";
    assert_eq!(refused(RecoveryKind::Sack).as_deref(), Some(problem));
}
