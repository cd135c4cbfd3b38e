//! Jitter and burst loss on a link, against arithmetic done by hand.

use crate::common;

use common::{crr, droptail, flow, ftp, number, path, red, tcp};
use ecnlab_base::{Bytes, Dist, Dur, Time};
use ecnlab_engine::{Bursts, Column, Errors, Jitter, Label, Link, LinkPlan, Output, Packet, Plan, run};
use ecnlab_tcp::registry::RecoveryKind;
use ecnlab_wire::Ecn;
use proptest::prelude::*;

const PIPE: usize = 2;

/// A link of 1 Mbit/s and 20 ms: 1000 B take 8 ms.
fn link(jitter: Option<Jitter>, errors: Errors) -> LinkPlan {
    let [link, _] = common::duplex("l", 0, 1, "1 Mbps", "20 ms", &droptail(1000.0));
    LinkPlan { jitter, errors, ..link }
}

fn packet(number: u32) -> Packet {
    Label { wire_len: 1000, to: 1, cargo: number, ecn: Ecn::Ect0, has_data: true, ..Label::default() }.into()
}

/// Offers packets at these times; returns when each was delivered, and which.
fn deliveries(plan: &LinkPlan, arrivals: &[Time]) -> Vec<(Time, u32)> {
    let (mut link, mut out) = (Link::new(plan, &["all".to_owned()], 1), Vec::new());
    for (number, &at) in arrivals.iter().enumerate() {
        drain(&mut link, at, &mut out);
        if link.is_clear(at) {
            link.pass(packet(number as u32), at);
        } else {
            link.enqueue(packet(number as u32), at, &mut ());
        }
    }
    drain(&mut link, Time::from_ps(u64::MAX / 2), &mut out);
    out
}

fn drain(link: &mut Link, until: Time, out: &mut Vec<(Time, u32)>) {
    common::drain(link, until, |at, packet| out.push((at, packet.cargo())));
}

fn every(gap: Dur, n: u64) -> Vec<Time> {
    (0..n).map(|i| Time::ZERO + Dur::from_ps(gap.ps() * i)).collect()
}

fn uniform(low: u64, high: u64, reorder: bool) -> Option<Jitter> {
    Some(Jitter { delay: Dist::Uniform(Dur::from_ms(low), Dur::from_ms(high)), reorder })
}

#[test]
fn jitter_adds_what_it_draws() {
    // One packet every 100 ms meets no other: 8 + 20 ms, and uniform on 0 to 30.
    let n = 20_000;
    for reorder in [false, true] {
        let sent = every(Dur::from_ms(100), n);
        let got = deliveries(&link(uniform(0, 30, reorder), Errors::default()), &sent);
        let extra = |&(at, number): &(Time, u32)| at.since(sent[number as usize]).as_secs() * 1e3 - 28.0;
        let extras: Vec<f64> = got.iter().map(extra).collect();
        assert_eq!(extras.len() as u64, n);
        assert!(extras.iter().all(|x| (-1e-9..30.0).contains(x)));
        // Standard deviation 30 / sqrt(12) = 8.66 ms; five standard errors.
        let mean = extras.iter().sum::<f64>() / n as f64;
        assert!((mean - 15.0).abs() < 5.0 * 8.66 / (n as f64).sqrt(), "{mean}");
    }
}

#[test]
fn packets_overtake_where_they_may_and_only_there() {
    let sent = every(Dur::from_ms(8), 5_000);
    let plain = deliveries(&link(None, Errors::default()), &sent);
    let order = |got: &[(Time, u32)]| got.windows(2).filter(|pair| pair[1].1 < pair[0].1).count();
    let mixed = deliveries(&link(uniform(0, 30, true), Errors::default()), &sent);
    let kept = deliveries(&link(uniform(0, 30, false), Errors::default()), &sent);
    assert_eq!((plain.len(), mixed.len(), kept.len()), (5_000, 5_000, 5_000));
    assert!(mixed.windows(2).chain(kept.windows(2)).all(|pair| pair[0].0 <= pair[1].0));
    assert_eq!(order(&kept), 0);
    // A packet leaves every 8 ms. Two in a row change places if the first draws over 8 ms more than the second, of
    // uniforms on 30 ms: (22/30)^2 / 2 = 0.2689. Neighbours among arrivals that are out of order are fewer than pairs of
    // neighbours in sending order that are, which is what is counted here.
    let mut at = vec![Time::ZERO; 5_000];
    mixed.iter().for_each(|&(time, number)| at[number as usize] = time);
    let changed = at.windows(2).filter(|pair| pair[1] < pair[0]).count() as f64;
    // Pairs that share a packet depend on each other; five standard deviations of independent ones, doubled.
    assert!((changed - 0.2689 * 5_000.0).abs() < 10.0 * (5_000.0_f64 * 0.2689 * 0.7311).sqrt(), "{changed}");
    assert!(order(&mixed) > 500);
    // Both have drawn the same: kept in order, a packet arrives when the latest so far does.
    let mut latest = Time::ZERO;
    for &(time, number) in &kept {
        latest = latest.max(at[number as usize]);
        assert_eq!(time, latest);
    }
}

#[test]
fn a_queue_behind_a_late_packet_is_not_held_up() {
    // All at once; the transmitter spaces them by 8 ms. Each arrives at its own time, though the first on the wire may
    // be the last to arrive.
    let got = deliveries(&link(uniform(0, 500, true), Errors::default()), &[Time::ZERO; 50]);
    let extra =
        |&(at, number): &(Time, u32)| at.since(Time::ZERO + Dur::from_ms(8 * u64::from(number) + 28)).as_secs() * 1e3;
    assert!(got.iter().map(extra).all(|x| (0.0..500.0).contains(&x)));
    assert!(got.windows(2).all(|pair| pair[0].0 <= pair[1].0) && got[0].1 != 0);
}

#[test]
fn a_link_loses_in_bursts_at_the_stationary_rate() {
    // p / (p + r) = 0.02 / 0.27 = 0.0741 of packets, in runs of 4; besides 0.1 on their own: 1 - 0.9259 * 0.9 = 0.1667.
    let n = 100_000;
    let bursts = Some(Bursts { p: 0.02, r: 0.25, good: 0.0, bad: 1.0 });
    let lost = |loss| {
        let got = deliveries(&link(None, Errors { loss, bursts, ..Errors::default() }), &every(Dur::from_ms(8), n));
        (n as usize - got.len()) as f64 / n as f64
    };
    // The states' correlation 0.73 makes the variance of the share (1 + 0.73) / (1 - 0.73) = 6.4 times a coin's.
    let error = 5.0 * (6.4_f64 * 0.0741 * 0.9259 / n as f64).sqrt();
    assert!((lost(0.0) - 0.0741).abs() < error, "{}", lost(0.0));
    assert!((lost(0.1) - 0.1667).abs() < error, "{}", lost(0.1));
}

proptest! {
    /// When a link is looked at makes no difference, also where packets overtake.
    #[test]
    fn looking_at_a_link_does_not_change_it(
        gaps in prop::collection::vec(0_u64..20_000, 1..60),
        looks in prop::collection::vec(0_u64..500_000, 0..60),
        reorder in any::<bool>(),
    ) {
        let bursts = Some(Bursts { p: 0.1, r: 0.5, good: 0.0, bad: 0.5 });
        let plan = link(uniform(0, 30, reorder), Errors { bursts, ..Errors::default() });
        let mut at = Time::ZERO;
        let arrivals: Vec<Time> = gaps.iter().map(|&gap| { at += Dur::from_us(gap); at }).collect();
        let quiet = deliveries(&plan, &arrivals);
        let (mut link, mut out) = (Link::new(&plan, &["all".to_owned()], 1), Vec::new());
        let mut looks: Vec<Time> = looks.into_iter().map(|us| Time::ZERO + Dur::from_us(us)).collect();
        looks.sort_unstable();
        let mut looks = looks.into_iter().peekable();
        for (number, &at) in arrivals.iter().enumerate() {
            while let Some(look) = looks.next_if(|&l| l <= at) {
                drain(&mut link, look, &mut out);
                link.replay(look, &mut ());
            }
            drain(&mut link, at, &mut out);
            link.enqueue(packet(number as u32), at, &mut ());
        }
        drain(&mut link, Time::from_ps(u64::MAX / 2), &mut out);
        prop_assert_eq!(quiet, out);
    }
}

/// Three connections and transactions over the pipe, whose wire is as `change` makes it.
fn network(change: impl Fn(&mut LinkPlan)) -> Plan {
    let tcp = tcp("modern", |_| {});
    let mut flows: Vec<_> = (0..3).map(|i| flow(&format!("f{i}"), 2, &tcp, ftp())).collect();
    flows.push(flow("t", 2, &tcp, crr(5000)));
    let mut plan = path(&red(5.0, 15.0, 0.1), "2 Mbps", "10 ms", flows);
    plan.links[PIPE..].iter_mut().for_each(change);
    Plan { warmup: Dur::ZERO, ..plan }
}

fn sum(out: &Output, column: &str) -> f64 {
    (0..4).map(|flow| number(out, "flows", column, flow)).sum()
}

#[test]
fn tcp_runs_over_them_and_every_packet_is_accounted_for() {
    let kept = run(&network(|link| link.jitter = uniform(0, 10, false)), 1).expect("a run that balances");
    let mixed = run(&network(|link| link.jitter = uniform(0, 10, true)), 1).expect("a run that balances");
    let bursts = Some(Bursts { p: 0.01, r: 0.3, good: 0.0, bad: 1.0 });
    let lossy = run(&network(|link| link.errors.bursts = bursts), 1).expect("a run that balances");
    let lost = number(&lossy, "links", "lost", PIPE);
    let share = lost / number(&lossy, "queues", "departed", 2 * PIPE);
    // 0.01 / 0.31 = 0.0323 in the long run; of some ten thousand packets, five standard errors with factor 5.4.
    assert!((share - 0.0323).abs() < 5.0 * (5.4_f64 * 0.031 / (lost / 0.0323)).sqrt(), "{share}");
    assert_eq!(number(&kept, "links", "lost", PIPE), 0.0);
    assert!([&kept, &mixed, &lossy].iter().all(|out| sum(out, "bytes_delivered") > 1e6));
}

#[test]
fn overtaking_looks_like_loss_and_a_varying_delay_in_order_does_not() {
    // A window of 20 segments that no queue drops: NewReno takes three duplicate ACKs for a loss (RFC 6582).
    let resent = |jitter| {
        let tcp = tcp("modern", |c| {
            c.recovery = RecoveryKind::NewReno;
            c.receive_buffer = Bytes(30_000);
        });
        let mut plan = path(&droptail(100.0), "10 Mbps", "10 ms", vec![flow("f", 2, &tcp, ftp())]);
        plan.links[PIPE].jitter = jitter;
        let out = run(&plan, 1).expect("a run");
        assert_eq!((number(&out, "links", "lost", PIPE), number(&out, "queues", "dropped", 2 * PIPE)), (0.0, 0.0));
        number(&out, "flows", "retransmits", 0)
    };
    assert_eq!((resent(None), resent(uniform(0, 10, false))), (0.0, 0.0));
    assert!(resent(uniform(0, 10, true)) > 100.0);
}

#[test]
fn one_wire_moves_no_other_draws() {
    // The streams of jitter and bursts are their own: the losses of `loss` hit the same packets with and without jitter.
    let lost = |jitter| {
        let errors = Errors { loss: 0.2, ..Errors::default() };
        let mut got: Vec<u32> = deliveries(&link(jitter, errors), &every(Dur::from_ms(100), 500))
            .iter()
            .map(|&(_, number)| number)
            .collect();
        got.sort_unstable();
        got
    };
    assert_eq!(lost(None), lost(uniform(0, 30, true)));
    let again =
        |reorder| format!("{:?}", run(&network(|link| link.jitter = uniform(0, 10, reorder)), 7).expect("a run"));
    assert_eq!(again(true), again(true));
    assert_ne!(again(true), again(false));
}

#[test]
fn the_log_has_each_packet_leave_and_arrive_in_time() {
    let mut plan = network(|link| link.jitter = uniform(0, 10, true));
    plan.duration = Dur::from_s(5);
    plan.packet_events = true;
    let out = run(&plan, 1).expect("a run");
    let Some(Column::U64(times)) = out.table("packets").and_then(|t| t.column("time_ps")) else { panic!("no times") };
    assert!(times.is_sorted());
}
