//! Queues of several queues: `fq`, `fq_codel` and `classes`, against arithmetic done by hand.

use crate::bench;
use crate::packet::Packet;

use ecnlab_aqm::registry::Params;
use ecnlab_aqm::{
    Class, Codepoint, Common, Config, DropReason, Full, MarkReason, Member, Tally, classes, codel, droptail, fq,
    fq_codel,
};
use ecnlab_base::coverage::must_reach;
use ecnlab_base::{Bytes, Dur, Length};
use ecnlab_wire::{Dscp, Ecn};
use proptest::prelude::*;

/// Times are in ms.
struct Here;

type Bench = bench::Bench<1000, Here>;

impl Bench {
    fn fq_codel(limit: f64, change: impl FnOnce(&mut fq_codel::Params)) -> Bench {
        let mut params: fq_codel::Params = toml::from_str("salt = 7").unwrap();
        change(&mut params);
        let common = Common { full: Full::Fattest, ecn: true, ..Common::with_limit(Length::Packets(limit)) };
        Bench::new(&Config::new(Params::FqCodel(params), common))
    }
    fn put(&mut self, ms: u64, flow: u64, len: u32, ecn: Ecn) -> u32 {
        self.put_as(ms, flow, len, ecn, 0)
    }
    /// So many packets at time zero.
    fn fill(&mut self, packets: u32, flow: u64, len: u32, ecn: Ecn) {
        for _ in 0..packets {
            self.put(0, flow, len, ecn);
        }
    }
    fn flows(&mut self, ms: u64) -> Vec<u64> {
        self.drain(ms).iter().map(|packet| packet.flow).collect()
    }
}

fn droptail(packets: f64) -> Config {
    Config::new(Params::DropTail(droptail::Params {}), Common::with_limit(Length::Packets(packets)))
}

/// `fq` or `classes` with these classes.
fn composed(params: Params, limit: f64, full: Full, classes: Vec<(&str, Member, Config)>) -> Config {
    let common = Common { full, ..Common::with_limit(Length::Packets(limit)) };
    let class = |(name, member, queue): (&str, _, _)| (name.to_owned(), Class { member, queue });
    Config { classes: classes.into_iter().map(class).collect(), ..Config::new(params, common) }
}

fn classes(schedule: classes::Schedule) -> Params {
    let tshift = (schedule == classes::Schedule::TimeShifted).then(|| Dur::from_ms(50));
    Params::Classes(classes::Params { schedule, tshift, memory: None, drop_batch: 1 })
}

fn order(order: u32) -> Member {
    Member { order, ..Member::default() }
}

#[test]
fn codel_in_a_class_judges_by_the_backlog_of_the_class() {
    // Behind the first packet of the low class are 1000 B of it, behind the second 500 B: no more than 1514 B, though
    // the high class has 20 kB. So none is above, though they wait for 10 and 120 ms, more than the interval apart.
    let low = Config::new(Params::Codel(codel::Params::default()), Common::with_limit(Length::Packets(99.0)));
    let high = Member { groups: vec!["high".to_owned()], order: 1, ..Member::default() };
    let two = vec![("low", order(0), low), ("high", high, droptail(99.0))];
    let mut bench = Bench::new(&composed(classes(classes::Schedule::Strict), 999.0, Full::Tail, two));
    bench.fill(3, 1, 500, Ecn::NotEct);
    bench.fill(20, 100, 1000, Ecn::NotEct);
    assert_eq!([10, 120].map(|ms| bench.take(ms).map(|packet| packet.id)), [Some(1), Some(2)]);
    assert!(bench.dropped().is_empty());
}

#[test]
fn flows_take_turns_by_bytes() {
    let mut bench = Bench::fq_codel(100.0, |_| {});
    // Quantum 1514. Flow 1, new: 1000 (514 left), 1000 (-486), then old. Flow 2, new: 500, 500, 500 (14 left), 500
    // (-486), then old. Flow 1: 1514 - 486 = 1028: 1000 (28 left), 1000 (-972). Flow 2 is empty.
    bench.fill(4, 1, 1000, Ecn::NotEct);
    bench.fill(4, 2, 500, Ecn::NotEct);
    assert_eq!(bench.flows(1), [1, 1, 2, 2, 2, 2, 1, 1]);
}

#[test]
fn a_sparse_flow_does_not_wait() {
    let mut bench = Bench::fq_codel(100.0, |_| {});
    bench.fill(10, 1, 1500, Ecn::NotEct);
    // 1514, 14, then -1486: the flow is old.
    assert_eq!([bench.take(0), bench.take(0)].map(|p| p.map(|p| p.flow)), [Some(1), Some(1)]);
    bench.put(1, 2, 100, Ecn::NotEct);
    assert_eq!(bench.take(1).map(|p| p.flow), Some(2));
}

#[test]
fn the_fattest_flow_makes_room_from_its_head_and_the_arriving_packet_stays() {
    let _reached = must_reach(["tree.full_sheds_fattest", "fifo.shed"]);
    let mut bench = Bench::fq_codel(10.0, |p| p.drop_batch = 3);
    // Flow 1 has 8 packets of 1000 B, flow 2 has 2 of 100 B; the eleventh packet is of flow 2. Half of 8000 B are four
    // packets, the batch is three: 1, 2 and 3 leave.
    bench.fill(8, 1, 1000, Ecn::Ect0);
    bench.fill(3, 2, 100, Ecn::NotEct);
    assert_eq!(bench.diary.dropped, [1, 2, 3].map(|id| (id, DropReason::Tail)));
    assert_eq!((bench.queue.packets(), bench.queue.bytes()), (8, 5300));
    // With the batch of Linux, 64, it is half its bytes: 11,000 B are held as it happens, and 5500 B are reached with the
    // sixth.
    let mut bench = Bench::fq_codel(10.0, |_| {});
    bench.fill(11, 1, 1000, Ecn::NotEct);
    assert_eq!(bench.dropped(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn memory_is_a_limit_too() {
    // 1000 B take 1576 B of memory: 5 are 7880 B, 6 are 9456 B. Half of 6000 B is 3000 B: three leave.
    let mut bench = Bench::fq_codel(100.0, |p| p.memory = Bytes(9_000));
    bench.fill(6, 1, 1000, Ecn::NotEct);
    assert_eq!(bench.dropped(), [1, 2, 3]);
}

#[test]
fn each_flow_has_a_codel_of_its_own() {
    let mut bench = Bench::fq_codel(1000.0, |_| {});
    // Flow 1 stays late; flow 2 sends one packet at a time, which leaves at once.
    bench.fill(100, 1, 1500, Ecn::Ect0);
    let mut sparse = Vec::new();
    for ms in (10..400).step_by(10) {
        sparse.push(bench.put(ms, 2, 100, Ecn::Ect0));
        bench.take(ms);
        bench.take(ms);
    }
    // Marks, not drops, and of flow 1 alone: above since 10 ms (the first packet looked at), so the first is at 110
    // ms, then at 210 and 281 (290), 338 (340), 388 (390).
    assert_eq!((bench.diary.dropped.len(), bench.diary.marked.len()), (0, 5));
    assert!(bench.diary.marked.iter().all(|(id, why)| !sparse.contains(id) && *why == MarkReason::Law));
}

#[test]
fn one_codel_is_no_queue_of_queues_but_marks_alike() {
    let params = codel::Params { ce_threshold: Some(Dur::from_ms(1)), ..codel::Params::default() };
    let mut config = Config::new(Params::Codel(params), Common::with_limit(Length::Packets(1000.0)));
    config.common.quantiles = true;
    let mut bench = Bench::new(&config);
    // 1 ms is not longer than 1 ms; Not-ECT cannot be marked; the third stays 3 ms. ECN is off for the law.
    let first = [bench.put(0, 1, 1500, Ecn::Ect0), bench.put(0, 2, 1500, Ecn::NotEct)];
    assert_eq!(bench.take(1).unwrap().id, first[0]);
    let third = bench.put(2, 3, 1500, Ecn::Ect1);
    assert_eq!([3, 5].map(|ms| bench.take(ms).unwrap().id), [first[1], third]);
    assert_eq!(bench.diary.marked, [(third, MarkReason::Threshold)]);
    let total = bench.queue.counters().total().all();
    assert_eq!((total.marks.packets, total.threshold.packets), (1, 1));
    // Sojourns 1, 3 and 3 ms.
    let stats = bench.queue.cut_stats(Bench::at(10));
    assert_eq!(bench.queue.class_names(), ["all"]);
    assert!(
        (stats.sojourn_quantile_s(0.3) - 0.001).abs() < 4e-6 && (stats.sojourn_quantile_s(0.5) - 0.003).abs() < 12e-6
    );
}

#[test]
fn codel_drops_what_cannot_be_marked_and_gives_the_packet_behind() {
    let mut config = Config::new(Params::Codel(codel::Params::default()), Common::with_limit(Length::Packets(1000.0)));
    config.common.ecn = true;
    let mut bench = Bench::new(&config);
    bench.fill(20, 1, 1500, Ecn::NotEct);
    // ns-3's CoDelQueueDiscBasicDrop: drops 0, 1, 0 and 2 (crates/aqm/src/laws/codel.rs). Ids: 1 | 3 behind 2 | 4 | 7.
    assert_eq!([10, 210, 210, 420].map(|ms| bench.take(ms).unwrap().id), [1, 3, 4, 7]);
    assert_eq!(bench.diary.dropped, [2, 5, 6].map(|id| (id, DropReason::Early)));
    let stats = bench.queue.cut_stats(Bench::at(420));
    // Dropping from 210 on: half of the time.
    assert_eq!((bench.queue.value("codel_count"), stats.mean("share_dropping")), (Some(3.0), 0.5));
}

#[test]
fn fq_gives_each_flow_the_requested_queue() {
    let each = || vec![("each", Member::default(), droptail(2.0))];
    let config = composed(Params::Fq(fq::Params { salt: Some(7), ..fq::Params::default() }), 100.0, Full::Tail, each());
    let mut bench = Bench::new(&config);
    // Two packets of each flow have room.
    bench.fill(3, 1, 1000, Ecn::NotEct);
    bench.put(0, 2, 1000, Ecn::NotEct);
    assert_eq!((bench.dropped(), bench.flows(1)), (vec![3], vec![1, 1, 2]));
    let wrong = composed(Params::Fq(fq::Params::default()), 9.0, Full::Tail, vec![("one", order(0), droptail(2.0))]);
    assert_eq!(wrong.check().unwrap_err().key, "class");
}

#[test]
fn classes_differ_by_codepoint_and_group() {
    let l4s = Member { codepoints: vec![Codepoint::Ect1, Codepoint::Ce], ..order(0) };
    let high = Member { groups: vec!["high".to_owned()], ..order(1) };
    let inner = vec![("l4s", l4s, droptail(9.0)), ("high", high, droptail(9.0)), ("rest", order(2), droptail(1.0))];
    let mut bench = Bench::new(&composed(classes(classes::Schedule::Strict), 4.0, Full::Tail, inner));
    for (flow, ecn) in
        [(1, Ecn::NotEct), (101, Ecn::Ect0), (2, Ecn::Ect1), (3, Ecn::Ect0), (102, Ecn::Ce), (4, Ecn::Ect1)]
    {
        bench.put(0, flow, 500, ecn);
    }
    // Flow 3 finds its class full, flow 4 all of them: 4 packets are held.
    assert_eq!((bench.dropped(), bench.flows(2)), (vec![4, 6], vec![2, 102, 101, 1]));
    assert_eq!(bench.queue.class_names(), ["all", "l4s", "high", "rest"]);
    let whole = bench.queue.cut_stats(Bench::at(2));
    let rows = bench.queue.cut_classes(&whole);
    let counts = |name: &str| {
        let all = rows.iter().find(|row| row.name == name).unwrap().counts.all();
        [all.arrived, all.departed, all.tail].map(|tally| tally.packets)
    };
    assert_eq!(
        [counts("all"), counts("l4s"), counts("high"), counts("rest")],
        [[6, 4, 2], [3, 2, 1], [1, 1, 0], [2, 1, 1]]
    );
}

#[test]
fn classes_differ_by_dscp() {
    // RFC 9956: NQB is 45. RFC 2597: AF41 is 34. A class that lists a codepoint too wants both.
    let member = |order_: u32, keys: &str| Member { order: order_, ..toml::from_str(keys).unwrap() };
    let inner = vec![
        ("nqb", member(0, "dscp = [45, \"EF\"]"), droptail(9.0)),
        ("video", member(1, "dscp = [\"AF41\"]\ncodepoints = [\"ect0\"]"), droptail(9.0)),
        ("rest", order(2), droptail(9.0)),
    ];
    let mut bench = Bench::new(&composed(classes(classes::Schedule::Strict), 9.0, Full::Tail, inner));
    let packets = [(1, 0, Ecn::Ect0), (2, 34, Ecn::NotEct), (3, 34, Ecn::Ect0), (4, 46, Ecn::NotEct), (5, 45, Ecn::Ce)];
    for (flow, dscp, ecn) in packets {
        bench.put_as(0, flow, 500, ecn, dscp);
    }
    assert_eq!(bench.flows(1), [4, 5, 3, 1, 2]);
}

#[test]
fn a_time_shifted_fifo_prefers_the_first_class_by_the_shift() {
    let low_delay = Member { codepoints: vec![Codepoint::Ect1], ..order(0) };
    let inner = vec![("low-delay", low_delay, droptail(9.0)), ("rest", order(1), droptail(9.0))];
    let mut bench = Bench::new(&composed(classes(classes::Schedule::TimeShifted), 9.0, Full::Tail, inner));
    // The rest came at 0 ms, and counts as of 50 ms: 20, 49 and 50 ms go before it, 51 ms behind it.
    bench.put(0, 1, 500, Ecn::NotEct);
    for (ms, flow) in [(20, 2), (49, 3), (50, 4), (51, 5)] {
        bench.put(ms, flow, 500, Ecn::Ect1);
    }
    assert_eq!(bench.flows(60), [2, 3, 4, 1, 5]);
}

#[test]
fn classes_may_have_classes() {
    let flows = Config::new(
        Params::FqCodel(toml::from_str("salt = 7").unwrap()),
        Common { full: Full::Fattest, ..Common::with_limit(Length::Packets(3.0)) },
    );
    let high = Member { groups: vec!["high".to_owned()], ..order(1) };
    let inner = vec![("bulk", order(0), flows), ("high", high, droptail(9.0))];
    let mut bench = Bench::new(&composed(classes(classes::Schedule::Drr), 100.0, Full::Tail, inner));
    bench.fill(4, 1, 1500, Ecn::NotEct);
    bench.put(0, 101, 1500, Ecn::NotEct);
    // The fourth of flow 1 is one too many: half of 6000 B is reached with the second.
    assert_eq!(bench.dropped(), [1, 2]);
    // DRR, 1514 B a round: a tree has no head to measure, it sends while its deficit is positive: 1500 (14 left), 1500
    // (-1486, empty); then the other.
    assert_eq!(bench.flows(1), [1, 1, 101]);
}

/// Half the link's rate, packet by packet: 125 B take 2 ms.
fn half_rate() -> Config {
    let tbf = Params::Tbf(toml::from_str("rate = \"500 kbps\"\nburst = \"0 B\"").unwrap());
    Config::new(tbf, Common::with_limit(Length::Packets(9.0)))
}

#[test]
fn a_class_that_waits_for_its_rate_leaves_its_place_to_those_that_came_later() {
    let high = Member { groups: vec!["high".to_owned()], ..order(0) };
    let inner = vec![("high", high, half_rate()), ("rest", order(1), droptail(9.0))];
    let mut bench = Bench::new(&composed(classes(classes::Schedule::Fifo), 9.0, Full::Tail, inner));
    for (ms, flow) in [(0, 101), (0, 102), (1, 1)] {
        bench.put(ms, flow, 125, Ecn::NotEct);
    }
    // The first of "high" leaves at 1 ms, the second not before 3 ms.
    assert_eq!((bench.flows(1), bench.queue.ready()), (vec![101, 1], Bench::at(3)));
    assert_eq!(bench.flows(3), [102]);
}

#[test]
fn a_sparse_class_does_not_wait_though_another_has_a_rate() {
    let low_delay = Member { codepoints: vec![Codepoint::Ect1], ..order(0) };
    let high = Member { groups: vec!["high".to_owned()], ..order(1) };
    let inner =
        vec![("slow", low_delay, half_rate()), ("high", high, droptail(9.0)), ("rest", order(2), droptail(9.0))];
    let mut bench = Bench::new(&composed(classes(classes::Schedule::DrrPlus), 99.0, Full::Tail, inner));
    // 1514 - 1000 = 514, then -486: after two packets the rest is old, and has 1028 B in its next round, then 28 B.
    bench.fill(5, 1, 1000, Ecn::NotEct);
    assert_eq!([0; 3].map(|_| bench.take(0).map(|packet| packet.flow)), [Some(1); 3]);
    bench.put(0, 101, 100, Ecn::NotEct);
    assert_eq!(bench.flows(0), [101, 1, 1]);
    // "high" is polled again, and is empty; "slow" has another packet at 12 ms.
    bench.put(10, 102, 100, Ecn::NotEct);
    for flow in [2, 3] {
        bench.put(10, flow, 125, Ecn::Ect1);
    }
    assert_eq!((bench.flows(10), bench.queue.ready()), (vec![102, 2], Bench::at(12)));
    assert_eq!(bench.flows(12), [3]);
}

/// Behind a token bucket of half the link's rate, one packet deep, CoDel marks what has waited for more than 1 ms when it is
/// judged. Packets of 125 B fill it at 0, the first leaves, and the second is judged at 1 ms, in time; it may leave at 2 ms.
fn judged_at_1_ms(limit: u32, full: Full) -> Bench {
    let params = codel::Params { ce_threshold: Some(Dur::from_ms(1)), ..codel::Params::default() };
    let common = Common { full, ..Common::with_limit(Length::Packets(limit.into())) };
    let inner = vec![("inner", Member::default(), Config::new(Params::Codel(params), common))];
    let tbf = Params::Tbf(toml::from_str("rate = \"500 kbps\"\nburst = \"125 B\"").unwrap());
    let mut bench = Bench::new(&composed(tbf, 99.0, Full::Tail, inner));
    bench.fill(limit, 1, 125, Ecn::Ect0);
    assert_eq!([0, 1].map(|ms| bench.take(ms).map(|packet| packet.id)), [Some(1), None]);
    bench
}

#[test]
fn what_comes_to_the_head_for_a_judged_packet_is_judged_itself() {
    let mut bench = judged_at_1_ms(2, Full::Front);
    (0..2).for_each(|_| _ = bench.put(1, 1, 125, Ecn::Ect0));
    assert_eq!(bench.dropped(), [2]);
    // The third has waited for 3 ms.
    assert_eq!((bench.take(4).map(|packet| packet.id), bench.diary.marked.len()), (Some(3), 1));
}

#[test]
fn a_judged_packet_is_not_judged_again_when_one_behind_it_is_dropped() {
    let mut bench = judged_at_1_ms(20, Full::Random);
    (0..3).for_each(|_| _ = bench.put(1, 1, 125, Ecn::Ect0));
    let dropped = bench.dropped();
    assert!(dropped.iter().any(|&id| id <= 20) && !dropped.contains(&2), "{dropped:?}");
    assert_eq!((bench.take(4).map(|packet| packet.id), bench.diary.marked.len()), (Some(2), 0));
}

#[test]
fn what_cannot_be_is_refused_by_key() {
    let two = || vec![("a", order(0), droptail(1.0)), ("b", order(0), droptail(1.0))];
    let refused = |config: Config| config.check().unwrap_err().key;
    assert_eq!(refused(composed(classes(classes::Schedule::Drr), 9.0, Full::Tail, two())), "class");
    assert_eq!(refused(composed(classes(classes::Schedule::Drr), 9.0, Full::Tail, vec![])), "class");
    assert_eq!(refused(composed(classes(classes::Schedule::Drr), 9.0, Full::Random, two())), "full");
    assert_eq!(
        refused(composed(
            classes(classes::Schedule::TimeShifted),
            9.0,
            Full::Tail,
            vec![("a", order(0), droptail(1.0))]
        )),
        "schedule"
    );
    assert_eq!(
        refused(composed(classes(classes::Schedule::Drr), 9.0, Full::Tail, vec![("a", order(0), droptail(0.5))])),
        "class.a.limit"
    );
    let small = Member { turn: Bytes(255), ..order(0) };
    assert_eq!(
        refused(composed(classes(classes::Schedule::Drr), 9.0, Full::Tail, vec![("a", small, droptail(1.0))])),
        "class.a.turn"
    );
    let mut fattest = droptail(9.0);
    fattest.common.full = Full::Fattest;
    assert_eq!(refused(fattest), "full");
    for text in ["flows = 0", "quantum = \"255 B\"", "drop_batch = 0", "interval = \"0 s\""] {
        let params: fq_codel::Params = toml::from_str(text).unwrap();
        let key = refused(Config::new(Params::FqCodel(params), Common::with_limit(Length::Packets(9.0))));
        assert!(text.starts_with(&key), "{text}: {key}");
    }
}

/// `outer` queues of flows, each with `inner` queues like `each`.
fn nested(outer: u32, inner: Params, each: Config) -> Config {
    let alike = |flows| Params::Fq(fq::Params { flows, salt: Some(7), ..fq::Params::default() });
    let inner = composed(inner, 99.0, Full::Tail, vec![("each", Member::default(), each)]);
    composed(alike(outer), 999.0, Full::Tail, vec![("each", Member::default(), inner)])
}

#[test]
fn inner_queues_in_use_are_all_that_take_memory() {
    // 67 million FIFOs of some 900 B would take 60 GB.
    let inner = Params::Fq(fq::Params { flows: 1024, ..fq::Params::default() });
    let mut bench = Bench::new(&nested(65_536, inner, droptail(9.0)));
    (0..5).for_each(|flow| bench.fill(2, flow, 1000, Ecn::NotEct));
    assert_eq!((bench.queue.packets(), bench.queue.bytes()), (10, 10_000));
    // Five flows in five queues, quantum 1514: two packets of each, one flow after the other.
    assert_eq!(bench.flows(1), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
}

#[test]
fn an_inner_queue_made_at_its_first_packet_is_as_one_made_at_time_zero() {
    // Of the two queues of flows the first is made at once and the other when packets come at 1.003 s: of each, PIE's
    // ticks are at multiples of its interval, and its draws are the same.
    let pie = Config::new(Params::Pie(toml::from_str("").unwrap()), Common::with_limit(Length::Packets(99.0)));
    let config = nested(2, classes(classes::Schedule::Strict), pie);
    let dropped_of = |wanted: usize| {
        let mut bench = Bench::new(&config);
        let packet = |flow| Packet { id: 0, len: 1500, ecn: Ecn::NotEct, dscp: Dscp::from_bits(0), group: 0, flow };
        let flow = (0..).find(|flow| bench.queue.place(&packet(*flow))[0] == wanted).unwrap();
        let mut bench = Bench::new(&config);
        for ms in 1003..3003 {
            bench.put(ms, flow, 1500, Ecn::NotEct);
            if ms % 2 == 0 {
                bench.take(ms);
            }
        }
        bench.dropped()
    };
    let first = dropped_of(0);
    assert!(first.len() > 100);
    assert_eq!(first, dropped_of(1));
}

proptest! {
    #[test]
    fn nothing_is_lost_or_made(
        schedule in prop_oneof![
            Just(classes::Schedule::Fifo), Just(classes::Schedule::Strict), Just(classes::Schedule::Drr),
            Just(classes::Schedule::DrrPlus), Just(classes::Schedule::Wrr), Just(classes::Schedule::TimeShifted),
        ],
        full in prop_oneof![Just(Full::Tail), Just(Full::Fattest)],
        limit in 1..30_u32,
        acts in prop::collection::vec((any::<bool>(), 0..120_u64, 1..3000_u32, 0..4_u8, 0..40_u64), 0..300),
    ) {
        let flows = Config::new(
            Params::FqCodel(toml::from_str("flows = 4\ntarget = \"1 ms\"\ninterval = \"10 ms\"").unwrap()),
            Common { full: Full::Fattest, ecn: true, ..Common::with_limit(Length::Packets(12.0)) },
        );
        let l4s = Member { codepoints: vec![Codepoint::Ect1], ..order(0) };
        let config = composed(classes(schedule), f64::from(limit), full, vec![("l", l4s, droptail(8.0)), ("rest", order(1), flows)]);
        let mut bench = Bench::new(&config);
        let mut ms = 0;
        for (arrives, flow, len, bits, pause) in acts {
            ms += pause;
            if arrives {
                bench.put(ms, flow, len, Ecn::from_bits(bits));
                prop_assert!(bench.queue.packets() <= limit as usize);
            } else {
                // A queue that holds packets may only report none if laws dropped them all.
                let some = bench.queue.packets() > 0;
                let dropped = bench.diary.dropped.len();
                let none = bench.take(ms).is_none();
                prop_assert!(!some || !none || bench.diary.dropped.len() > dropped);
                prop_assert!(!none || bench.queue.packets() == 0);
            }
        }
        let total = bench.queue.counters().total().all();
        let held = Tally { packets: bench.queue.packets() as u64, bytes: bench.queue.bytes() };
        prop_assert_eq!(total.held(), held);
        prop_assert_eq!(total.dropped().packets as usize, bench.diary.dropped.len());
        prop_assert_eq!(total.marks.packets as usize, bench.diary.marked.len());
    }
}
