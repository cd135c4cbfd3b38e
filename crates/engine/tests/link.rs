//! A link against arithmetic done by hand and against queueing theory.

use crate::common;

use ecnlab_aqm::registry::Params;
use ecnlab_aqm::{Common, Config, Full, codel, droptail, fq_codel, tbf};
use ecnlab_base::{Bytes, Dur, Length, Rate, Rng, Time};
use ecnlab_engine::{Changes, Errors, Label, Link, LinkPlan, Packet, Shaper};
use ecnlab_wire::Ecn;
use proptest::prelude::*;

fn plan(rate: &str, delay: &str, limit: f64) -> LinkPlan {
    let common = Common::with_limit(Length::Packets(limit));
    LinkPlan {
        name: "l".to_owned(),
        from: 0,
        to: 1,
        rate: Some(rate.parse().expect("a rate")),
        delay: delay.parse().expect("a time"),
        queue: Config::new(Params::DropTail(droptail::Params {}), common).into(),
        shaper: None,
        jitter: None,
        changes: Changes::default(),
        errors: Errors::default(),
        boxes: Vec::new(),
        tunnel: None,
    }
}

fn packet(wire_len: u32) -> Packet {
    Label { wire_len, to: 1, ecn: Ecn::Ect0, has_data: wire_len > 40, ..Label::default() }.into()
}

/// Offers packets of the given sizes at the given times; returns when each was delivered.
fn deliveries(plan: &LinkPlan, arrivals: &[(Time, u32)]) -> Vec<Time> {
    let mut link = Link::new(plan, &["all".to_owned()], 1);
    let mut out = Vec::new();
    for &(at, len) in arrivals {
        drain(&mut link, at, &mut out);
        offer(&mut link, len, at);
    }
    drain(&mut link, Time::from_ps(u64::MAX / 2), &mut out);
    out
}

/// As the engine does.
fn offer(link: &mut Link, len: u32, at: Time) {
    if link.is_clear(at) {
        link.pass(packet(len), at);
    } else {
        link.enqueue(packet(len), at, &mut ());
    }
}

/// Runs the link's own events up to `until`, as the engine would.
fn drain(link: &mut Link, until: Time, out: &mut Vec<Time>) {
    common::drain(link, until, |at, _| out.push(at));
}

fn ms(x: u64) -> Time {
    Time::ZERO + Dur::from_ms(x)
}

#[test]
fn a_packet_takes_its_serialisation_and_propagation_time() {
    // 1500 B at 1.5 Mbit/s take 8 ms, and 20 ms of propagation: 28 ms. The second waits for the first.
    let got = deliveries(&plan("1.5 Mbps", "20 ms", 10.0), &[(ms(0), 1500), (ms(1), 1500), (ms(100), 750)]);
    assert_eq!(got, [ms(28), ms(36), ms(124)]);
}

#[test]
fn a_full_queue_holds_its_limit_and_the_packet_in_transmission() {
    let arrivals: Vec<(Time, u32)> = (0..10).map(|_| (ms(0), 1500)).collect();
    let got = deliveries(&plan("1.5 Mbps", "0 ms", 3.0), &arrivals);
    assert_eq!(got, [ms(8), ms(16), ms(24), ms(32)]);
}

#[test]
fn a_shaper_is_a_slower_pipe_inside_the_link() {
    // 10 Mbit/s: 1.2 ms a packet on the wire. 1.5 Mbit/s: one packet every 8 ms. A bucket of two packets
    // lets two go at once; the third needs 8 ms of tokens from the first one's start.
    let shaper = Some(Shaper { rate: "1.5 Mbps".parse().expect("a rate"), burst: Bytes(3000) });
    let shaped = LinkPlan { shaper, ..plan("10 Mbps", "0 ms", 100.0) };
    let got = deliveries(&shaped, &[(ms(0), 1500); 5]);
    let at = |us: u64| Time::ZERO + Dur::from_us(us);
    assert_eq!(got, [at(1_200), at(2_400), at(9_200), at(17_200), at(25_200)]);
}

/// A token bucket filter with a FIFO of so many packets.
fn bucket(bps: u64, burst: u64, packets: f64) -> Config {
    let params = tbf::Params { rate: Rate::from_bps(bps), burst: Bytes(burst), peakrate: None, mtu: Bytes(1514) };
    Config::new(Params::Tbf(params), Common::with_limit(Length::Packets(packets)))
}

#[test]
fn a_token_bucket_in_the_queue_is_polled_when_its_tokens_are_there() {
    // As the shaper above: 3000 B, 8 ms a packet.
    let queue = bucket(1_500_000, 3_000, 100.0).into();
    let shaped = LinkPlan { queue, ..plan("10 Mbps", "0 ms", 100.0) };
    assert_eq!(shaped.drain_rate(), Some(Rate::from_bps(1_500_000)));
    let got = deliveries(&shaped, &[(ms(0), 1500); 5]);
    let at = |us: u64| Time::ZERO + Dur::from_us(us);
    assert_eq!(got, [at(1_200), at(2_400), at(9_200), at(17_200), at(25_200)]);
}

#[test]
fn lists_name_packets_of_the_link_from_one() {
    let errors = Errors { drop_packets: vec![1, 3], ..Errors::default() };
    let got = deliveries(&LinkPlan { errors, ..plan("1.5 Mbps", "0 ms", 10.0) }, &[(ms(0), 1500); 4]);
    assert_eq!(got, [ms(16), ms(32)]);
}

#[test]
fn bernoulli_losses_come_at_their_rate() {
    let n = 40_000;
    let errors = Errors { loss: 0.1, ..Errors::default() };
    let arrivals: Vec<(Time, u32)> = (0..n).map(|i| (ms(i * 8), 1500)).collect();
    let got = deliveries(&LinkPlan { errors, ..plan("1.5 Mbps", "0 ms", 10.0) }, &arrivals).len() as f64;
    // Five standard deviations: sqrt(40000 * 0.1 * 0.9) = 60.
    assert!((got - 36_000.0).abs() < 300.0, "{got}");
}

/// M/D/1: the mean wait of Poisson arrivals at load rho is rho / (2 mu (1 - rho)) (Pollaczek-Khinchine).
#[test]
fn a_fifo_agrees_with_m_d_1_and_with_little() {
    for rho in [0.5, 0.8] {
        let service = 0.008;
        let mut rng = Rng::named(11, "poisson");
        let mut link = Link::new(&plan("1.5 Mbps", "0 ms", 1e6), &["all".to_owned()], 1);
        let (mut now, mut out) = (0.0, Vec::new());
        let mut batches = Vec::new();
        for _ in 0..40 {
            for _ in 0..6_000 {
                now += rng.exponential(service / rho);
                let at = Time::ZERO + Dur::from_secs(now);
                drain(&mut link, at, &mut out);
                offer(&mut link, 1500, at);
            }
            let at = Time::ZERO + Dur::from_secs(now);
            let stats = link.cut_stats(at);
            batches.push(stats.sojourn_mean_s());
            // Little: packets waiting = departures a second * time waiting. Differs by the batch's ends only.
            let rate = stats.sojourns() as f64 / stats.span().as_secs();
            let little = rate * stats.sojourn_mean_s();
            assert!((stats.mean_packets() - little).abs() < 0.02 * little, "{} {little}", stats.mean_packets());
        }
        let n = batches.len() as f64;
        let mean = batches.iter().sum::<f64>() / n;
        let var = batches.iter().map(|b| (b - mean) * (b - mean)).sum::<f64>() / (n - 1.0);
        let error = libm::sqrt(var / n);
        let theory = rho * service / (2.0 * (1.0 - rho));
        assert!((mean - theory).abs() < 4.0 * error, "rho {rho}: {mean} +- {error}, theory {theory}");
        // The interval is narrow enough for the check to mean something.
        assert!(error < 0.03 * theory);
    }
}

proptest! {
    /// When a link is looked at makes no difference: departures are replayed at their own times.
    #[test]
    fn looking_at_a_link_does_not_change_it(
        gaps in prop::collection::vec((0_u64..20_000, 40_u32..1500), 1..60),
        looks in prop::collection::vec(0_u64..500_000, 0..60),
        shaped in 0..3,
    ) {
        let mut plan = plan("1.5 Mbps", "3 ms", 5.0);
        match shaped {
            0 => {}
            1 => plan.shaper = Some(Shaper { rate: Rate::from_bps(700_000), burst: Bytes(2_000) }),
            _ => plan.queue = bucket(700_000, 2_000, 5.0).into(),
        }
        let mut at = Time::ZERO;
        let arrivals: Vec<(Time, u32)> = gaps.iter().map(|&(gap, len)| { at += Dur::from_us(gap); (at, len) }).collect();
        let quiet = deliveries(&plan, &arrivals);

        let mut link = Link::new(&plan, &["all".to_owned()], 1);
        let mut out = Vec::new();
        let mut looks: Vec<Time> = looks.into_iter().map(|us| Time::ZERO + Dur::from_us(us)).collect();
        looks.sort_unstable();
        let mut looks = looks.into_iter().peekable();
        for &(at, len) in &arrivals {
            while let Some(look) = looks.next_if(|&l| l <= at) {
                drain(&mut link, look, &mut out);
                link.replay(look, &mut ());
            }
            drain(&mut link, at, &mut out);
            offer(&mut link, len, at);
        }
        drain(&mut link, Time::from_ps(u64::MAX / 2), &mut out);
        prop_assert_eq!(quiet, out);
    }
}

/// FQ-CoDel, with a short target so that it drops, and CoDel.
fn judged_at_departure() -> [Config; 2] {
    let fair: fq_codel::Params = serde_json::from_str(r#"{"salt": 7, "target": "1 ms", "interval": "20 ms"}"#).unwrap();
    let single: codel::Params = serde_json::from_str(r#"{"target": "1 ms", "interval": "20 ms"}"#).unwrap();
    let common = Common { ecn: true, ..Common::with_limit(Length::Packets(50.0)) };
    let fattest = Common { full: Full::Fattest, ..common };
    [Config::new(Params::FqCodel(fair), fattest), Config::new(Params::Codel(single), common)]
}

proptest! {
    /// Departures are replayed when somebody looks. What laws decide at them must not depend on who looks when.
    #[test]
    #[ignore = "slow: make slow"]
    fn how_often_a_link_is_looked_at_changes_nothing(
        arrivals in prop::collection::vec((0..9_000_u64, 40..1500_u32, 0..6_u32, 0..4_u8), 1..300),
        looks in 1..20_u64,
    ) {
        for queue in judged_at_departure() {
            let plan = LinkPlan { queue: queue.into(), ..plan("1.5 Mbps", "30 ms", 1.0) };
            let run = |looks: Option<u64>| {
                let mut link = Link::new(&plan, &["all".to_owned()], 1);
                let (mut now, mut out) = (Time::ZERO, Vec::new());
                for &(pause, wire_len, flow, bits) in &arrivals {
                    let next = now + Dur::from_us(pause);
                    for i in 1..looks.unwrap_or(1) {
                        let at = now + Dur::from_us(pause * i / looks.unwrap_or(1));
                        drain(&mut link, at, &mut out);
                        link.observe(at, &mut ());
                    }
                    now = next;
                    drain(&mut link, now, &mut out);
                    let ecn = Ecn::from_bits(bits);
                    link.enqueue(Label { wire_len, to: 1, flow, ecn, ..Label::default() }.into(), now, &mut ());
                }
                let end = now + Dur::from_ms(10_000);
                drain(&mut link, end, &mut out);
                link.observe(end, &mut ());
                (out, link.queue().counters().clone(), link.queue().is_balanced())
            };
            let (seldom, often) = (run(None), run(Some(looks)));
            prop_assert!(seldom.2);
            prop_assert_eq!(seldom, often);
        }
    }
}
