//! Links whose rate and delay change, and outages, against arithmetic done by hand.

use crate::common;

use common::{droptail, flow, ftp, number, path, tcp};
use ecnlab_base::{Bytes, Dist, Dur, Steps, Time};
use ecnlab_engine::{Aggregation, Changes, Label, Link, LinkPlan, Output, Packet, Plan, run};
use ecnlab_wire::Ecn;
use proptest::prelude::*;

fn ms(x: u64) -> Time {
    Time::ZERO + Dur::from_ms(x)
}

/// A link of 1 Mbit/s and 20 ms: 1000 B take 8 ms.
fn link(changes: Changes) -> LinkPlan {
    let [link, _] = common::duplex("l", 0, 1, "1 Mbps", "20 ms", &droptail(1000.0));
    LinkPlan { changes, ..link }
}

fn rates(steps: &[(u64, u64)]) -> Changes {
    let steps = steps.iter().map(|&(at, kbps)| (ms(at), 1000 * kbps)).collect();
    Changes { rate: Some(Steps::new(steps, None)), ..Changes::default() }
}

fn delays(steps: &[(u64, u64)]) -> Changes {
    let steps = steps.iter().map(|&(at, delay)| (ms(at), Dur::from_ms(delay).ps())).collect();
    Changes { delay: Some(Steps::new(steps, None)), ..Changes::default() }
}

fn packet(len: u32) -> Packet {
    Label { wire_len: len, to: 1, ecn: Ecn::Ect0, has_data: true, ..Label::default() }.into()
}

/// Offers packets of these lengths at these times; returns when each was delivered.
fn deliveries(plan: &LinkPlan, arrivals: &[(Time, u32)]) -> Vec<Time> {
    let (mut link, mut out) = (Link::new(plan, &["all".to_owned()], 1), Vec::new());
    for &(at, len) in arrivals {
        drain(&mut link, at, &mut out);
        if link.is_clear(at) {
            link.pass(packet(len), at);
        } else {
            link.enqueue(packet(len), at, &mut ());
        }
    }
    drain(&mut link, Time::from_ps(u64::MAX / 4), &mut out);
    out
}

fn drain(link: &mut Link, until: Time, out: &mut Vec<Time>) {
    common::drain(link, until, |at, _| out.push(at));
}

fn pair(at: u64) -> [(Time, u32); 2] {
    [(ms(at), 1000); 2]
}

#[test]
fn a_packet_in_transmission_goes_on_at_the_new_rate() {
    // 4 ms at 1 Mbit/s send 500 B, 8 ms at 0.5 Mbit/s the rest. The second takes 16 ms.
    assert_eq!(deliveries(&link(rates(&[(0, 1000), (4, 500)])), &pair(0)), [ms(32), ms(48)]);
    // 8 ms at 1 Mbit/s, then 4 ms at 2 Mbit/s: a change at the very end of a packet concerns the next one.
    assert_eq!(deliveries(&link(rates(&[(0, 1000), (8, 2000)])), &pair(0)), [ms(28), ms(32)]);
    // Several steps within one packet: 1000 + 2000 + 4000 bits in 1 ms each, and 1000 at 1 Mbit/s.
    assert_eq!(deliveries(&link(rates(&[(0, 1000), (1, 2000), (2, 4000), (3, 1000)])), &pair(0)[..1]), [ms(24)]);
}

#[test]
fn at_rate_zero_a_packet_waits() {
    assert_eq!(deliveries(&link(rates(&[(0, 1000), (4, 0), (104, 1000)])), &pair(0)), [ms(128), ms(136)]);
    // One that arrives within the outage starts at its end.
    assert_eq!(deliveries(&link(rates(&[(0, 1000), (4, 0), (104, 1000)])), &pair(50)), [ms(132), ms(140)]);
    // A link that stays silent delivers nothing.
    assert_eq!(deliveries(&link(rates(&[(0, 1000), (12, 0)])), &pair(0)), [ms(28)]);
}

#[test]
fn a_shorter_delay_lets_no_packet_overtake() {
    // The first leaves at 8 ms with 20 ms, the second at 16 ms with 5 ms: it would arrive at 21 ms.
    assert_eq!(deliveries(&link(delays(&[(0, 20), (10, 5)])), &pair(0)), [ms(28), ms(28)]);
    // A third that leaves at 24 ms arrives with its own delay.
    assert_eq!(deliveries(&link(delays(&[(0, 20), (10, 5)])), &[pair(0), pair(16)].concat()), [28, 28, 29, 37].map(ms));
    // A longer delay applies to what leaves from then on: also to a packet whose last bit leaves then.
    assert_eq!(deliveries(&link(delays(&[(0, 20), (8, 50)])), &pair(0)), [ms(58), ms(66)]);
}

#[test]
fn packets_sent_in_a_lossy_outage_are_lost() {
    let lost = |from, to| link(Changes { lost: [(ms(from), ms(to))].into(), ..Changes::default() });
    // Packets are in transmission from 0 to 8, 16, 24 and 32 ms.
    let four = [pair(0), pair(0)].concat();
    assert_eq!(deliveries(&lost(8, 16), &four), [28, 44, 52].map(ms));
    assert_eq!(deliveries(&lost(7, 17), &four), [ms(52)]);
    assert_eq!(deliveries(&lost(100, 200), &four), [28, 36, 44, 52].map(ms));
}

#[test]
fn a_fast_link_follows_a_rate_of_many_steps() {
    // 1 and 3 Mbit/s in turn, 1 ms each: 2 Mbit/s on average, so that 100 packets of 1000 B take 400 ms.
    let steps = Steps::new(vec![(ms(0), 1_000_000), (ms(1), 3_000_000)], Some(Dur::from_ms(2)));
    let changes = Changes { rate: Some(steps), ..Changes::default() };
    let got = deliveries(&link(changes), &vec![(ms(0), 1000); 100]);
    assert_eq!(got.last(), Some(&ms(420)));
}

fn bursts(aggregation: Aggregation) -> LinkPlan {
    link(Changes { aggregation: Some(aggregation), ..Changes::default() })
}

const WHOLE: Aggregation = Aggregation { time: None, bytes: None, every: None, access: Dist::Constant(Dur::ZERO) };

#[test]
fn packets_of_a_burst_leave_and_arrive_together() {
    // The first packet goes alone, for it is alone in the queue. The others wait until 8 ms.
    let five = vec![(ms(0), 1000); 5];
    // All four: 32 ms.
    assert_eq!(deliveries(&bursts(WHOLE), &five), [28, 60, 60, 60, 60].map(ms));
    // 2500 B in 20 ms: two packets.
    let time = Aggregation { time: Some(Dur::from_ms(20)), ..WHOLE };
    assert_eq!(deliveries(&bursts(time), &five), [28, 44, 44, 60, 60].map(ms));
    // Three packets are 3000 B.
    let bytes = Aggregation { bytes: Some(Bytes(3000)), ..WHOLE };
    assert_eq!(deliveries(&bursts(bytes), &five), [28, 52, 52, 52, 60].map(ms));
    // A packet of more than the limit goes alone.
    let few = Aggregation { bytes: Some(Bytes(500)), ..WHOLE };
    assert_eq!(deliveries(&bursts(few), &five[..2]), [28, 36].map(ms));
}

#[test]
fn bursts_begin_in_their_slots_and_after_their_access_time() {
    let five = vec![(ms(1), 1000); 5];
    // Slots of 20 ms with room for two packets: at 20, 40 and 60 ms.
    let slots = Aggregation { every: Some(Dur::from_ms(20)), ..WHOLE };
    assert_eq!(deliveries(&bursts(slots), &five), [56, 56, 76, 76, 88].map(ms));
    // 3 ms before each burst: from 4 to 12 ms, from 15 to 47 ms.
    let access = Aggregation { access: Dist::Constant(Dur::from_ms(3)), ..WHOLE };
    assert_eq!(deliveries(&bursts(access), &five), [32, 67, 67, 67, 67].map(ms));
}

#[test]
fn a_burst_follows_the_rate_and_is_lost_as_a_whole() {
    let five = vec![(ms(0), 1000); 5];
    // From 8 ms on: 1 Mbit/s for 8 ms, then 0.5 Mbit/s: 1000 B in 8 ms, 3000 B in 48 ms.
    let slower = Changes { aggregation: Some(WHOLE), ..rates(&[(0, 1000), (16, 500)]) };
    assert_eq!(deliveries(&link(slower), &five), [28, 84, 84, 84, 84].map(ms));
    let lost = Changes { aggregation: Some(WHOLE), lost: [(ms(39), ms(40))].into(), ..Changes::default() };
    assert_eq!(deliveries(&link(lost), &five), [ms(28)]);
}

proptest! {
    #[test]
    fn steps_of_one_rate_are_that_rate(
        gaps in prop::collection::vec((0_u64..20_000, 40_u32..1500), 1..60),
        mut at in prop::collection::vec(1_u64..1000, 0..20),
    ) {
        at.sort_unstable();
        at.dedup();
        let mut now = Time::ZERO;
        let arrivals: Vec<_> = gaps.iter().map(|&(gap, len)| { now += Dur::from_us(gap); (now, len) }).collect();
        let steps: Vec<_> = std::iter::once(0).chain(at).map(|at| (at, 1000)).collect();
        let delays = Steps::new(vec![(ms(0), Dur::from_ms(20).ps()), (ms(300), Dur::from_ms(20).ps())], None);
        let changes = Changes { delay: Some(delays), ..rates(&steps) };
        prop_assert_eq!(deliveries(&link(changes), &arrivals), deliveries(&link(Changes::default()), &arrivals));
    }
}

const PIPE: usize = 2;

/// The tables of a bulk transfer of 20 s through a link of 2 Mbit/s with `changes`.
fn transfer(changes: Changes) -> Output {
    let mut plan = path(&droptail(30.0), "2 Mbps", "10 ms", vec![flow("f", 2, &tcp("modern", |_| {}), ftp())]);
    plan.links[PIPE].changes = changes;
    run(&Plan { duration: Dur::from_s(20), warmup: Dur::from_s(4), ..plan }, 1).expect("a run that balances")
}

#[test]
fn utilisation_is_of_the_mean_rate_in_the_measured_window() {
    // 2 Mbit/s up to 12 s, then 1 Mbit/s: from 4 to 20 s 1.5 Mbit/s, which the transfer fills.
    let steps = Steps::new(vec![(ms(0), 2_000_000), (ms(12_000), 1_000_000)], None);
    let out = transfer(Changes { rate: Some(steps), ..Changes::default() });
    assert_eq!(number(&out, "links", "rate_bps", PIPE), 1.5e6);
    let used = number(&out, "links", "utilisation", PIPE);
    assert!((0.95..=1.0).contains(&used), "{used}");
}

#[test]
fn bursts_carry_as_much_as_single_packets() {
    let aggregation =
        Aggregation { time: Some(Dur::from_ms(40)), access: Dist::Uniform(Dur::ZERO, Dur::from_ms(2)), ..WHOLE };
    let out = transfer(Changes { aggregation: Some(aggregation), ..Changes::default() });
    // At most six packets of 6 ms follow 1 ms of access on average: 36 of 37 ms.
    let used = number(&out, "links", "utilisation", PIPE);
    assert!((0.9..=36.5 / 37.0).contains(&used), "{used}");
}

#[test]
fn a_transfer_survives_outages_that_hold_and_that_lose_packets() {
    let steps = Steps::new(vec![(ms(0), 2_000_000), (ms(10_000), 0), (ms(12_000), 2_000_000)], None);
    let held = transfer(Changes { rate: Some(steps), ..Changes::default() });
    let lost = transfer(Changes { lost: [(ms(10_000), ms(12_000))].into(), ..Changes::default() });
    for out in [&held, &lost] {
        // Two of 16 seconds are lost, then up to 2 s until the last of three timeouts. Where packets are held, the queue
        // is full when they leave, and drops what slow start sends twice: another timeout, of 3.7 s after an RTT of 2 s.
        let goodput = number(out, "flows", "goodput_bps", 0);
        assert!((2e6 * 9.0 / 16.0..2e6 * 14.1 / 16.0).contains(&goodput), "{goodput}");
        assert!(number(out, "flows", "timeouts", 0) >= 3.0);
    }
    assert_eq!(number(&held, "links", "lost", PIPE), 0.0);
    assert!(number(&lost, "links", "lost", PIPE) > 0.0);
}
