//! TCP over simulated links, against arithmetic done by hand.

use crate::common;

use common::{crr, droptail, flow, ftp, number, path, red, tcp};
use ecnlab_base::{Bytes, Dur};
use ecnlab_engine::{Errors, Plan, run};
use ecnlab_tcp::registry::{EcnKind, RecoveryKind};

#[test]
fn a_window_limited_flow_gets_its_window_each_round_trip() {
    // Eight segments of 1448 B (1460 less 12 of timestamps) in a receive buffer of 8 * 1460. The round trip:
    // data 1500 B at 10 Mbit/s 1.2 ms and at 8 Mbit/s 1.5 ms, 100 ms there; ACK 52 B back, 52 us + 41.6 us and 100 ms.
    let tcp = tcp("modern", |c| {
        c.receive_buffer = Bytes(8 * 1460);
        c.window_scaling = false;
        c.ack_every = 1;
    });
    let out = run(&path(&droptail(100.0), "8 Mbps", "100 ms", vec![flow("f", 2, &tcp, ftp())]), 1).expect("a run");
    // 11680 B of window hold 8 segments of 1448 and 96 B that wait (no silly segments); all eight leave in
    // one round trip of 202.7936 ms.
    let expected = 8.0 * 1448.0 * 8.0 / 0.202_793_6;
    let goodput = number(&out, "flows", "goodput_bps", 0);
    assert!((goodput - expected).abs() < 0.01 * expected, "{goodput} {expected}");
    assert_eq!(number(&out, "flows_run", "retransmits", 0), 0.0);
}

#[test]
fn one_flow_fills_the_bottleneck_whatever_its_recovery() {
    for &recovery in RecoveryKind::ALL {
        let tcp = tcp("modern", |c| c.recovery = recovery);
        // 2 Mbit/s, 22 ms and more: a buffer of 20 packets is more than the pipe holds, so AIMD keeps it full.
        let out = run(&path(&droptail(20.0), "2 Mbps", "10 ms", vec![flow("f", 2, &tcp, ftp())]), 1).expect("a run");
        let utilisation = number(&out, "links", "utilisation", 2);
        // Tahoe starts over after each loss. Reno needs a timeout where the probe that overflows the buffer is
        // followed by a second loss one window later. NewReno repairs one loss a round trip, and where its timer
        // runs out on the way, half of the inflated flight is more than the path holds: it overshoots again.
        let weak = !recovery.needs_sack();
        let floor = if weak { 0.9 } else { 0.99 };
        assert!(utilisation > floor && utilisation < 1.0001, "{recovery:?}: {utilisation}");
        assert!(number(&out, "flows", "retransmits", 0) > 0.0, "{recovery:?}");
    }
}

#[test]
fn marks_take_the_place_of_drops() {
    for scheme in [EcnKind::Rfc2481, EcnKind::Rfc3168] {
        let tcp = tcp("modern", |c| c.ecn = scheme);
        let flows = (0..4).map(|i| flow(&format!("f{i}"), 2, &tcp, ftp())).collect();
        let out = run(&path(&red(5.0, 25.0, 0.1), "2 Mbps", "10 ms", flows), 1).expect("a run");
        assert!(number(&out, "queues", "marks", 3 * 2 - 2) > 100.0);
        let retransmits: f64 = (0..4).map(|i| number(&out, "flows", "retransmits", i)).sum();
        let cuts: f64 = (0..4).map(|i| number(&out, "flows", "ecn_reductions", i)).sum();
        assert_eq!(retransmits, 0.0, "{scheme:?}");
        assert!(cuts > 100.0, "{scheme:?}: {cuts}");
        assert_eq!(number(&out, "flows", "ecn", 0), 1.0);
    }
}

#[test]
fn a_transaction_takes_its_round_trips() {
    // linux-2.0 (a window of 2 once the handshake's ACK has been counted, no timestamps), nothing lost:
    // 8 Mbit/s and 50 ms make a round trip of just over 100 ms. SYN and SYN-ACK: one. The request and the
    // first 2 of 4 segments: one. The other 2: one.
    let tcp = tcp("linux-2.0", |c| c.ack_every = 1);
    let plan =
        Plan { warmup: Dur::ZERO, ..path(&droptail(100.0), "8 Mbps", "50 ms", vec![flow("t", 2, &tcp, crr(5_000))]) };
    let out = run(&plan, 1).expect("a run");
    let latency = number(&out, "transactions", "latency_s", 3);
    assert!((0.3..0.31).contains(&latency), "{latency}");
    let done = number(&out, "flows_run", "exchanges", 0);
    assert!((done - 60.0 / latency).abs() < 2.0, "{done} transactions of {latency} s");
}

#[test]
fn heavy_random_loss_stalls_nobody() {
    for &recovery in RecoveryKind::ALL {
        for scheme in [EcnKind::Off, EcnKind::Rfc3168] {
            let tcp = tcp("modern", |c| {
                c.recovery = recovery;
                c.ecn = scheme;
            });
            let flows = vec![flow("bulk", 2, &tcp, ftp()), flow("mice", 2, &tcp, crr(20_000))];
            let mut plan = path(&droptail(20.0), "5 Mbps", "5 ms", flows);
            plan.duration = Dur::from_s(40);
            for link in &mut plan.links {
                link.errors = Errors { loss: 0.05, ..Errors::default() };
            }
            let out = run(&plan, 3).expect("a run that balances");
            let what = format!("{recovery:?} {scheme:?}");
            assert!(number(&out, "flows", "bytes_delivered", 0) > 500_000.0, "{what}");
            assert!(number(&out, "flows", "exchanges", 1) > 20.0, "{what}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let tcp = tcp("linux-2.2", |c| c.ecn = EcnKind::Rfc3168);
    let flows = vec![flow("a", 2, &tcp, ftp()), flow("b", 2, &tcp, crr(5_000))];
    let mut plan = path(&red(3.0, 9.0, 0.1), "1.5 Mbps", "10 ms", flows);
    plan.sample = Some(Dur::from_ms(100));
    plan.packet_events = true;
    (plan.duration, plan.warmup) = (Dur::from_s(20), Dur::from_s(5));
    let text = |seed| format!("{:?}", run(&plan, seed).expect("a run"));
    assert!(text(1) == text(1));
    assert!(text(1) != text(2));
}
