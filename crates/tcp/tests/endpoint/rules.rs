//! Single rules of sending and acknowledging, with arithmetic to redo by hand.

use std::sync::Arc;

use ecnlab_base::{Bytes, Dur, Time};
use ecnlab_tcp::registry::RecoveryKind;
use ecnlab_tcp::{Config, Endpoint, profile};
use ecnlab_wire::{Flags, IpVersion, Segment, Seq};

use super::pair::{Pair, Path};

fn config(name: &str, change: impl FnOnce(&mut Config)) -> Arc<Config> {
    let mut config = profile(name).unwrap().config.clone();
    change(&mut config);
    config.check().unwrap();
    Arc::new(config)
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Dur::from_ms(ms)
}

/// One-way delay 50 ms.
fn pair(config: &Arc<Config>) -> Pair {
    Pair::new(config, config, [1, 2], Path::clean(Dur::from_ms(50)), 1)
}

/// When `end` sent segments with data, in milliseconds.
fn data_times(pair: &Pair, end: usize) -> Vec<u64> {
    pair.log.iter().filter(|(_, from, s)| *from == end && s.len > 0).map(|(at, ..)| at.ms()).collect()
}

/// When endpoint 1 sent ACKs without data after its SYN-ACK.
fn ack_times(pair: &Pair) -> Vec<u64> {
    pair.log.iter().filter(|(_, from, s)| *from == 1 && s.is_pure_ack()).map(|(at, ..)| at.ms()).collect()
}

#[test]
fn options_are_what_both_ends_know() {
    let (modern, old) = (config("modern", |_| {}), config("linux-2.0", |_| {}));
    for (client, server, payload) in [(&modern, &modern, 1448), (&modern, &old, 1460), (&old, &modern, 1460)] {
        let mut pair = Pair::new(client, server, [1, 2], Path::clean(Dur::from_ms(50)), 1);
        pair.write(0, 5_000);
        pair.run_until(ms(1_000));
        let first = pair.log.iter().find(|(_, _, s)| s.len > 0).unwrap().2;
        assert_eq!((first.len, first.wire_len), (payload, 1_500));
        assert_eq!(pair.ends[1].received(), 5_000);
    }
}

#[test]
fn the_initial_window_is_one_segment_after_a_lost_syn() {
    let config = config("modern", |_| {});
    for (lost, segments) in [(false, 10), (true, 1)] {
        let path = Path { loss: f64::from(u8::from(lost)), ..Path::clean(Dur::from_ms(50)) };
        let mut pair = Pair::new(&config, &config, [1, 2], path, 1);
        pair.path.loss = 0.0;
        pair.write(0, u64::MAX);
        pair.run_until(ms(if lost { 1_149 } else { 149 }));
        assert_eq!(data_times(&pair, 0).len(), segments);
    }
}

#[test]
fn one_segment_waits_for_the_delayed_ack_two_do_not() {
    let config = config("modern", |_| {});
    let mut pair = pair(&config);
    pair.write(0, 1_448);
    pair.run_until(ms(500));
    // Data leaves at 100, arrives at 150; 40 ms later its ACK.
    assert_eq!(ack_times(&pair), [190]);
    pair.write(0, 2 * 1_448);
    pair.run_until(ms(1_000));
    assert_eq!(ack_times(&pair), [190, 550]);
}

#[test]
fn linux_2_0_delays_a_pushed_segment_by_20_ms() {
    let config = config("linux-2.0", |_| {});
    let mut pair = pair(&config);
    pair.write(0, 1_000);
    pair.run_until(ms(900));
    assert_eq!(ack_times(&pair), [170]);
}

#[test]
fn limited_transmit_sends_new_data_on_the_first_two_duplicates() {
    for (limited, sent) in [(false, 10), (true, 12)] {
        let config = config("modern", |c| {
            c.limited_transmit = limited;
            c.recovery = RecoveryKind::Reno;
        });
        let mut pair = pair(&config);
        pair.drop_data[0] = vec![1];
        pair.write(0, u64::MAX);
        // The initial window leaves at 100. Without its first segment the ACKs, which come at 200, are all
        // duplicates; the third starts the fast retransmit.
        while pair.ends[0].counters().dupacks_received < 2 {
            assert!(pair.step());
        }
        assert_eq!(data_times(&pair, 0).len(), sent);
    }
}

#[test]
fn a_timeout_goes_back_and_doubles() {
    let config = config("modern", |_| {});
    let mut pair = pair(&config);
    pair.write(0, 1_000);
    pair.run_until(ms(1_000));
    pair.path.loss = 1.0;
    pair.write(0, 1_000);
    pair.run_until(ms(6_000));
    // RTT samples: 100 ms for the SYN, then 140 with the delayed ACK: SRTT = 105, 4·RTTVAR = 3·50 + 40 = 190, less
    // than 200: RTO = 305 ms; then 610, 1220, 2440.
    let t = data_times(&pair, 0);
    assert_eq!(t[1..], [1_000, 1_305, 1_915, 3_135, 5_575]);
    assert_eq!(pair.ends[0].counters().timeouts, 4);
    assert_eq!(pair.ends[0].sample().cwnd, 1_448);
}

#[test]
fn after_idleness_the_window_is_the_initial_one() {
    for (restart, segments) in [(true, 10), (false, 20)] {
        let config = config("modern", |c| c.idle_restart = restart);
        let mut pair = pair(&config);
        pair.write(0, 10 * 1_448);
        pair.run_until(ms(5_000));
        // Ten segments, acknowledged in slow start: the window is 20.
        pair.write(0, 40 * 1_448);
        assert_eq!(data_times(&pair, 0).len(), 10 + segments);
    }
}

#[test]
fn a_closed_window_is_probed_until_it_opens() {
    let config = config("linux-2.0", |_| {});
    let mut out = Vec::new();
    let mut end = Endpoint::connect(&config, IpVersion::V4, Seq(0), Time::ZERO, &mut out);
    let answer = |ack: u32, window, flags| Segment {
        seq: if flags == Flags::ACK { Seq(501) } else { Seq(500) },
        ack: Seq(ack),
        window,
        flags,
        mss: Some(1_460),
        ..Segment::default()
    };
    end.on_segment(&answer(1, 0, Flags::SYN | Flags::ACK), ms(100), &mut out);
    out.clear();
    end.write(3_000, ms(100), &mut out);
    assert!(out.is_empty());
    // The timer of 3 s, then doubled.
    let mut probes = Vec::new();
    for _ in 0..3 {
        let now = end.deadline();
        end.on_deadline(now, &mut out);
        probes.extend(out.drain(..).map(|s| (now.ms(), s.seq.0, s.len)));
        end.on_segment(&answer(1, 0, Flags::ACK), now, &mut out);
        assert!(out.is_empty());
    }
    assert_eq!(probes, [(3_100, 1, 1), (9_100, 1, 1), (21_100, 1, 1)]);
    assert_eq!(end.counters().timeouts, 0);
    // The initial window of two, and one for the ACK.
    end.on_segment(&answer(2, 32_000, Flags::ACK), ms(22_000), &mut out);
    assert_eq!(out.iter().map(|s| (s.seq.0, s.len)).collect::<Vec<_>>(), [(2, 1_460), (1_462, 1_460), (2_922, 79)]);
}

#[test]
fn a_peer_that_never_answers_is_given_up() {
    let config = config("modern", |c| c.max_syn_timeouts = 3);
    let mut pair = Pair::new(&config, &config, [1, 2], Path { loss: 1.0, ..Path::clean(Dur::from_ms(50)) }, 1);
    while pair.step() {}
    // 1 + 2 + 4 + 8 s.
    assert_eq!(pair.now, ms(15_000));
    assert!(pair.ends[0].is_closed());
}

#[test]
fn fixed_headers_count_as_ns_2_does() {
    let config = config("ns-2.35", |c| {
        c.recovery = RecoveryKind::Sack;
        c.receive_buffer = Bytes(1_000_000);
    });
    let mut pair = pair(&config);
    pair.drop_data[0] = vec![5];
    pair.write(0, u64::MAX);
    pair.run_until(ms(600));
    for (_, _, s) in &pair.log {
        let expected = if s.len > 0 { 1_040 } else { 40 + 8 * s.sack.as_slice().len() as u32 };
        assert_eq!(s.wire_len, expected);
    }
    assert!(pair.log.iter().any(|(_, _, s)| s.wire_len == 48), "an ACK with one SACK block");
}

#[test]
fn newreno_sends_one_hole_a_round_trip_sack_all_at_once() {
    for (recovery, last_hole_ms) in [(RecoveryKind::NewReno, 400), (RecoveryKind::Sack, 200)] {
        let config = config("modern", |c| {
            c.recovery = recovery;
            c.initial_window = 20;
        });
        let mut pair = pair(&config);
        pair.drop_data[0] = vec![2, 5, 9];
        pair.write(0, u64::MAX);
        pair.run_until(ms(900));
        let resent_9 =
            pair.log.iter().filter(|(_, from, s)| *from == 0 && s.seq == Seq(2 + 8 * 1_448) && s.len > 0).nth(1);
        assert_eq!(resent_9.unwrap().0.ms(), last_hole_ms);
        assert_eq!(pair.ends[0].counters().retransmits(), 3);
        assert_eq!(pair.ends[0].counters().timeouts, 0);
    }
}

#[test]
fn only_the_last_segment_of_what_was_written_has_psh() {
    let config = config("modern", |_| {});
    let mut pair = pair(&config);
    pair.write(0, 3 * 1_448 + 1);
    pair.run_until(ms(500));
    let pushed: Vec<_> = pair.log.iter().filter(|(_, from, s)| *from == 0 && s.len > 0).collect();
    let pushed: Vec<bool> = pushed.iter().map(|(_, _, s)| s.flags.contains(Flags::PSH)).collect();
    assert_eq!(pushed, [false, false, false, true]);
    pair.close(0);
    assert!(!pair.log.last().unwrap().2.flags.contains(Flags::PSH), "a FIN without data pushes none");
}
