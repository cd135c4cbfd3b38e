use ecnlab_base::coverage::must_reach;

use super::rfc9438::Curve;
use super::*;
use crate::cc::{Amount, Congestion, Params as _, event};
use crate::law::{Law, start};
use crate::registry::WindowLaw;
use crate::{Config, profile};

const MSS: u32 = 1000;

fn at(ms: u64) -> Time {
    Time::ZERO + Dur::from_ms(ms)
}

/// CUBIC in congestion avoidance, with a window in segments.
fn cubic(segments: u64) -> Cubic {
    let mut law = Cubic::new(Params::default(), start("modern", MSS));
    law.set_cwnd(segments * 1_000);
    law.set_ssthresh(segments * 1_000);
    law
}

fn rfc(law: &mut Cubic) -> &mut Rfc9438 {
    match &mut law.variant {
        Variant::Rfc9438(rfc) => rfc,
        Variant::Linux(_) => panic!("RFC 9438's rules are in use"),
    }
}

fn sample(ms: u64, cwnd_limited: bool) -> AckSample {
    let one = Amount::of(1_000, MSS);
    AckSample {
        now: at(ms),
        acked: one.bytes,
        delivered: one,
        min_rtt: Dur::from_ms(100),
        srtt: Dur::from_ms(100),
        cwnd_limited,
        round: 1,
        ..AckSample::default()
    }
}

/// The ACK of one segment. Returns the window.
fn ack(law: &mut Cubic, ms: u64) -> u64 {
    law.on_ack(&sample(ms, true));
    law.grow(1_000);
    law.cwnd()
}

fn lose(law: &mut Cubic) -> (u64, u64) {
    let cwnd = law.cwnd();
    law.on_congestion(&event(Congestion::Loss, cwnd));
    (law.cwnd(), law.state().ssthresh)
}

#[test]
fn a_congestion_keeps_seven_tenths_and_fast_convergence_lowers_the_plateau() {
    let _reached = must_reach(["cubic.fast_convergence"]);
    let mut law = cubic(100);
    assert_eq!((lose(&mut law), rfc(&mut law).curve.w_max), ((70_000, 70_000), 100.0));
    // §4.7: at 80 of 100 the next plateau is 80 · 1.7 / 2 = 68.
    law.set_cwnd(80_000);
    assert_eq!((lose(&mut law), rfc(&mut law).curve.w_max), ((56_000, 56_000), 68.0));
    // As much as the last time is not less.
    law.set_cwnd(68_000);
    lose(&mut law);
    assert_eq!(rfc(&mut law).curve.w_max, 68.0);
    rfc(&mut law).params.fast_convergence = false;
    law.set_cwnd(60_000);
    assert_eq!((lose(&mut law), rfc(&mut law).curve.w_max), ((42_000, 42_000), 60.0));
}

#[test]
fn a_mark_in_congestion_avoidance_may_keep_more_than_a_loss() {
    let after = |why, ssthresh| {
        let mut law = cubic(100);
        rfc(&mut law).params.beta_ecn = Some(0.85);
        law.set_ssthresh(ssthresh);
        law.on_congestion(&event(why, 100_000));
        (law.cwnd(), law.state().ssthresh, rfc(&mut law).curve.w_max)
    };
    assert_eq!(after(Congestion::Ecn, 100_000), (85_000, 85_000, 100.0));
    assert_eq!(after(Congestion::Ecn, 100_001), (70_000, 70_000, 100.0), "in slow start");
    assert_eq!(after(Congestion::Loss, 100_000), (70_000, 70_000, 100.0));
    assert_eq!(after(Congestion::Timeout, 100_000), (1_000, 70_000, 0.0));
}

#[test]
fn linux_s_windows_are_whole_segments_and_slow_start_ends_at_ssthresh() {
    let _reached = must_reach(["cubic.linux_timeout"]);
    let params = Params { profile: Profile::Linux, ..Params::default() };
    let mut law = Cubic::new(params, start("linux-7", MSS));
    law.set_cwnd(99_000);
    law.set_ssthresh(100_000);
    law.on_ack(&sample(1_000, true));
    // One of two segments ends slow start; the other is one of 20.
    law.grow(2_000);
    let Variant::Linux(linux) = &mut law.variant else { panic!("Linux's rules are in use") };
    assert_eq!([18, 1].map(|acked| linux.curve.growth(100, acked, at(1_000))), [0, 1]);
    assert_eq!(law.cwnd(), 100_000);
    assert_eq!(lose(&mut law), (70_000, 70_000));
    law.on_congestion(&event(Congestion::Timeout, 70_000));
    assert_eq!((law.cwnd(), law.state().ssthresh), (1_000, 49_000));
}

/// Linux's CUBIC in congestion avoidance, with a window in segments.
fn linux(segments: u64) -> Cubic {
    let mut law = Cubic::new(Params { profile: Profile::Linux, ..Params::default() }, start("linux-7", MSS));
    law.set_cwnd(segments * 1_000);
    law.set_ssthresh(segments * 1_000);
    law
}

/// The window after an ACK of 20 segments, at which nothing is lost.
fn ack_of_20(law: &mut Cubic, ms: u64) -> u64 {
    law.on_ack(&sample(ms, true));
    law.grow(20_000);
    law.cwnd()
}

#[test]
fn linux_s_epoch_begins_behind_slow_start() {
    let mut law = linux(100);
    law.set_ssthresh(101_000);
    law.on_ack(&sample(1_000, true));
    law.grow(1_000);
    // 20 ACKs are a segment. Ten seconds on the curve would be far above: every second ACK.
    assert_eq!(ack_of_20(&mut law, 11_000), 102_000);
}

#[test]
fn linux_s_curve_survives_a_loss_and_not_a_timeout() {
    let after = |why| {
        let mut law = linux(100);
        // What is in flight does not matter.
        law.on_congestion(&event(why, 50_000));
        law.set_cwnd(70_000);
        (law.state().ssthresh, ack_of_20(&mut law, 1_000))
    };
    // K is 4.2 s away, and Reno's window grows by 20 · 8 / 15 / 70. Without a curve 20 ACKs are a segment.
    assert_eq!([after(Congestion::Loss), after(Congestion::Timeout)], [(70_000, 70_000), (70_000, 71_000)]);
}

#[test]
fn linux_counts_round_trips_and_no_pauses() {
    let lost = || {
        let mut law = linux(100);
        lose(&mut law);
        ack_of_20(&mut law, 1_000);
        law.on_sent(&Sent { now: at(1_000), in_flight: 1_000, ..Sent::default() });
        law
    };
    // Ten seconds after the epoch the curve is far above 70: every second ACK opens the window, and the 20 before do once.
    let mut law = lost();
    law.on_sent(&Sent { now: at(11_000), in_flight: 1_000, ..Sent::default() });
    assert_eq!(ack_of_20(&mut law, 11_000), 81_000);
    // With nothing in flight they do not count.
    let mut law = lost();
    law.on_sent(&Sent { now: at(11_000), in_flight: 0, ..Sent::default() });
    assert_eq!(ack_of_20(&mut law, 11_000), 70_000);
    // A round trip of ten seconds does: the window is to be where the curve is then.
    let mut law = lost();
    law.on_feedback(&AckSample { last_rtt: Some(Dur::from_ms(10_000)), ..sample(2_000, true) });
    assert_eq!(ack_of_20(&mut law, 2_000), 81_000);
}

#[test]
fn what_linux_has_fixed_is_refused() {
    let key = |set: fn(&mut Params)| {
        let mut params = Params { profile: Profile::Linux, ..Params::default() };
        set(&mut params);
        params.check().map_err(|invalid| invalid.key.to_owned())
    };
    assert_eq!(key(|_| ()), Ok(()));
    assert_eq!(key(|p| p.beta = 0.5), Err("congestion.beta".to_owned()));
    assert_eq!(key(|p| p.beta_ecn = Some(0.85)), Err("congestion.beta_ecn".to_owned()));
    assert_eq!(key(|p| p.c = 1.0), Err("congestion.c".to_owned()));
}

#[test]
fn a_profile_other_than_the_default_is_stored() {
    let stored = |params| serde_json::to_value::<Params>(params).unwrap().get("profile").cloned();
    assert_eq!(stored(Params { profile: Profile::Linux, ..Params::default() }), Some("linux".into()));
    assert_eq!(stored(Params::default()), None);
}

#[test]
fn floors_are_two_segments_after_a_loss_and_one_after_a_mark() {
    // 0.7 of 2 segments is 1.4; §4.6.
    assert_eq!(lose(&mut cubic(2)), (2_000, 2_000));
    let mut law = cubic(2);
    law.on_congestion(&event(Congestion::Ecn, 2_000));
    assert_eq!((law.cwnd(), law.state().ssthresh), (1_400, 2_000));
    law.on_congestion(&event(Congestion::Ecn, 1_000));
    assert_eq!(law.cwnd(), 1_000);
}

#[test]
fn the_window_follows_the_cubic_function() {
    let mut law = cubic(100);
    lose(&mut law);
    // K = cbrt(30 / 0.4) = 4.21716 s. At once W_cubic(0) = 70 is below W_est = 70 + 0.52941 / 70 = 70.00756.
    assert_eq!(ack(&mut law, 1_000), 70_007);
    assert!((rfc(&mut law).curve.k - 4.21716).abs() < 1e-5);
    // Two seconds on: W_cubic(2.1) = 0.4 · (-2.11716)³ + 100 = 96.204. One ACK goes 1/90 of the way from 90:
    // 6.204 / 90 = 0.06893.
    law.set_cwnd(90_000);
    assert_eq!(ack(&mut law, 3_000), 90_068);
    // Six seconds past K: W_cubic(10.1) = 0.4 · 5.88284³ + 100 = 181.4, but §4.2: at most 1.5 · 90 = 135.
    law.set_cwnd(90_000);
    assert_eq!(ack(&mut law, 11_000), 90_500);
}

#[test]
fn reno_s_growth_is_the_least_and_has_slope_one_above_the_last_congestion() {
    let mut law = cubic(10);
    lose(&mut law);
    // K = cbrt(3 / 0.4) = 1.957 s; at t = 0 W_cubic is 7. Each ACK adds 0.52941 / cwnd: 7.07563, 7.15045.
    assert_eq!([ack(&mut law, 1_000), ack(&mut law, 1_000)], [7_075, 7_150]);
    // §4.3: from cwnd_prior on 1 / cwnd: 10 + 0.1.
    law.set_cwnd(10_000);
    rfc(&mut law).curve.w_est = 10.0;
    assert_eq!(ack(&mut law, 1_000), 10_100);
}

#[test]
fn after_a_timeout_the_plateau_is_where_slow_start_ends() {
    let _reached = must_reach(["cubic.timeout"]);
    let mut law = cubic(100);
    law.on_congestion(&event(Congestion::Timeout, 100_000));
    assert_eq!((law.cwnd(), law.state().ssthresh), (1_000, 70_000));
    assert_eq!(ack(&mut law, 1_000), 2_000);
    law.set_cwnd(70_000);
    ack(&mut law, 1_000);
    assert_eq!((rfc(&mut law).curve.w_max, rfc(&mut law).curve.k), (70.0, 0.0));
    // W_cubic(5.1) = 70 + 0.4 · 5.1³ = 123.06, at most 1.5 · 70 = 105: 35 / 70.
    law.set_cwnd(70_000);
    assert_eq!(ack(&mut law, 6_000), 70_500);
}

#[test]
fn without_a_congestion_the_plateau_is_where_slow_start_was_left() {
    let mut law = cubic(50);
    // W_cubic(0.1) = 50.0004: below W_est = 50.02.
    assert_eq!(ack(&mut law, 1_000), 50_020);
    assert_eq!((rfc(&mut law).curve.w_max, rfc(&mut law).curve.k), (50.0, 0.0));
}

#[test]
fn time_without_data_to_send_does_not_count() {
    let mut law = cubic(100);
    lose(&mut law);
    ack(&mut law, 1_000);
    // Ten seconds idle, then three in which the application sends little: t is still zero.
    law.on_sent(&Sent { now: at(11_000), bytes: 1_000, outstanding: 0, ..Sent::default() });
    law.on_sent(&Sent { now: at(12_000), bytes: 1_000, outstanding: 1_000, ..Sent::default() });
    law.on_ack(&sample(14_000, false));
    assert_eq!(rfc(&mut law).curve.epoch, Some(at(14_000)));
    // 0.1 s later: W_cubic(0.1 + 0.1) = 0.4 · (-4.01716)³ + 100 = 74.069.
    law.set_cwnd(70_000);
    assert_eq!(ack(&mut law, 14_100), 70_058);
}

#[test]
fn idle_time_counts_from_the_last_ack_to_the_first_segment() {
    let mut law = cubic(100);
    lose(&mut law);
    ack(&mut law, 1_000);
    // Nothing is outstanding from 1 s to 11 s; the second segment ends no idle time.
    law.on_sent(&Sent { now: at(11_000), bytes: 1_000, outstanding: 0, ..Sent::default() });
    law.on_sent(&Sent { now: at(11_050), bytes: 1_000, outstanding: 1_000, ..Sent::default() });
    law.on_ack(&sample(11_100, true));
    assert_eq!(rfc(&mut law).curve.epoch, Some(at(11_000)));
}

#[test]
fn reno_s_window_counts_only_where_it_is_the_larger() {
    // §4.3: "if W_cubic(t) < W_est". Here, a second after the epoch at the plateau, both are 100: 99 and a segment for
    // the window of 64 that was acknowledged. So the target counts, W_cubic(1.1) = 100.0004, bounded by 1.5 · 64 = 96.
    let mut law = cubic(64);
    rfc(&mut law).curve = Curve { epoch: Some(Time::ZERO), w_max: 100.0, k: 1.0, w_est: 99.0, prior: 0.0 };
    law.on_ack(&sample(1_000, true));
    law.grow(64_000);
    assert_eq!(law.cwnd(), 96_000);
}

#[test]
fn deflation_is_reno_s() {
    let mut law = cubic(10);
    law.deflate(1_500);
    assert_eq!(law.cwnd(), 8_500);
}

#[test]
fn a_spurious_reduction_gives_back_window_and_curve() {
    let _reached = must_reach(["cubic.undo"]);
    let mut law = cubic(100);
    lose(&mut law);
    ack(&mut law, 1_000);
    law.set_cwnd(90_000);
    let (before, curve) = (law.state(), rfc(&mut law).curve);
    lose(&mut law);
    assert_ne!(rfc(&mut law).curve, curve);
    law.on_undo(before);
    assert_eq!((law.state(), rfc(&mut law).curve), (before, curve));
    // At the old window and past it there is nothing to give back: the newer curve stays.
    for cwnd in [90_000, 95_000] {
        lose(&mut law);
        let curve = rfc(&mut law).curve;
        law.set_cwnd(cwnd);
        law.on_undo(before);
        assert_eq!((law.cwnd(), rfc(&mut law).curve), (cwnd, curve));
    }
}

#[test]
fn parameters_past_their_bounds_are_refused() {
    let wrong = |beta, c| Params { beta, c, ..Params::default() }.check().err().map(|error| error.key);
    assert_eq!([wrong(0.0, 0.4), wrong(1.0, 0.4), wrong(f64::NAN, 0.4)], [Some("congestion.beta"); 3]);
    assert_eq!([wrong(0.7, 0.0), wrong(0.7, 1_001.0), wrong(0.7, f64::NAN)], [Some("congestion.c"); 3]);
    assert_eq!(wrong(0.7, 0.4), None);
    let marks = |beta| Params { beta_ecn: Some(beta), ..Params::default() }.check().err().map(|error| error.key);
    assert_eq!([marks(0.0), marks(1.0), marks(f64::NAN)], [Some("congestion.beta_ecn"); 3]);
    assert_eq!(marks(0.85), None);
}

#[test]
fn the_law_in_use_is_notified_of_sent_data_and_deflation() {
    let config =
        Config { congestion: WindowLaw::Cubic(Params::default()), ..profile("modern").unwrap().config.clone() };
    let mut law = Law::new(&config, MSS);
    law.set_cwnd(100_000);
    law.deflate(30_000);
    assert_eq!(law.cwnd(), 70_000);
    law.set_ssthresh(70_000);
    let ack = |law: &mut Law, ms| {
        law.on_ack(&sample(ms, true));
        law.grow(1_000);
    };
    ack(&mut law, 1_000);
    // CUBIC does not count the ten seconds in which nothing is outstanding (RFC 9438 §5.8). Another 0.1 s on it is still
    // where Reno is: 70 segments and 2/70. With them it would head for 1.5 · 70, a 70th part of the way.
    law.on_sent(&Sent { now: at(11_000), bytes: 1_000, outstanding: 0, ..Sent::default() });
    ack(&mut law, 11_100);
    assert_eq!(law.cwnd(), 70_028);
}
