//! What can be read off a queue and its classes, and that books which do not balance are found.

use crate::bench;
use crate::packet;

use ecnlab_aqm::red::{self, Threshold, Weight};
use ecnlab_aqm::registry::Params;
use ecnlab_aqm::{Class, Common, Config, Full, Member, Sojourns, Stats, Tally, classes, codel, droptail, fq_codel};
use ecnlab_base::facts::Column;
use ecnlab_base::{Bytes, Dur, Length};
use ecnlab_wire::Ecn;
use packet::LONGER;

/// Times are in ms.
struct Here;

type Bench = bench::Bench<1000, Here>;

impl Bench {
    fn put(&mut self, ms: u64, flow: u64, len: u32) -> u32 {
        self.put_as(ms, flow, len, Ecn::Ect0, 0)
    }
    fn flows(&mut self, ms: u64) -> Vec<u64> {
        self.drain(ms).iter().map(|packet| packet.flow).collect()
    }
}

fn packets(n: f64) -> Common {
    Common::with_limit(Length::Packets(n))
}

fn droptail(common: Common) -> Config {
    Config::new(Params::DropTail(droptail::Params {}), common)
}

/// A RED that neither signals nor drops below 9 packets, with an average that is the queue found.
fn red(change: impl FnOnce(&mut red::Params)) -> Config {
    let at = |n| Threshold::At(Length::Packets(n));
    let mut params = red::Params { weight: Weight::Of(1.0), max_p: 0.1, ..red::Params::new(at(5.0), at(9.0)) };
    change(&mut params);
    Config::new(Params::Red(params), packets(20.0))
}

fn becn(params: &mut red::Params) {
    params.becn = Some(red::Becn { thresh: Length::Packets(6.0), quench_size: Bytes(56), delay: Dur::ZERO });
}

fn high() -> Member {
    Member { groups: vec!["high".to_owned()], ..Member::default() }
}

fn rest() -> Member {
    Member { order: 1, ..Member::default() }
}

/// Two classes: the group "high", and the rest.
fn two(params: classes::Params, common: Common, high_queue: Config, rest_queue: Config) -> Config {
    let class = |name: &str, member, queue| (name.to_owned(), Class { member, queue });
    let classes = [class("high", high(), high_queue), class("rest", rest(), rest_queue)];
    Config { classes: classes.into_iter().collect(), ..Config::new(Params::Classes(params), common) }
}

fn by(schedule: classes::Schedule) -> classes::Params {
    classes::Params { schedule, tshift: None, memory: None, drop_batch: 1 }
}

fn plain(schedule: classes::Schedule) -> Config {
    two(by(schedule), packets(20.0), droptail(packets(9.0)), droptail(packets(9.0)))
}

#[test]
fn only_a_fifo_without_an_opinion_and_with_room_for_any_packet_is_open() {
    let is_open = |config: &Config| Bench::new(config).queue.is_open();
    assert!(is_open(&droptail(packets(1.0))));
    assert!(!is_open(&droptail(Common::with_limit(Length::Bytes(1e6)))), "a packet may be longer");
    assert!(!is_open(&droptail(Common { quantiles: true, ..packets(1.0) })), "each sojourn is counted");
    assert!(!is_open(&red(|_| {})), "each arrival moves the average");
    assert!(!is_open(&Config::new(Params::Codel(codel::Params::default()), packets(9.0))));
    assert!(!is_open(&plain(classes::Schedule::Strict)));
}

#[test]
fn a_queue_is_shaped_if_it_or_a_class_has_a_rate() {
    let is_shaped = |config: &Config| Bench::new(config).queue.is_shaped();
    let tbf = Params::Tbf(toml::from_str("rate = \"500 kbps\"\nburst = \"5 kB\"").unwrap());
    let tbf = Config::new(tbf, packets(9.0));
    assert!(!is_shaped(&droptail(packets(1.0))) && !is_shaped(&plain(classes::Schedule::Strict)));
    assert!(is_shaped(&tbf));
    assert!(is_shaped(&two(by(classes::Schedule::Strict), packets(20.0), droptail(packets(9.0)), tbf)));
    // Without a rate there is no time to wait for, empty or not.
    let mut bench = Bench::new(&plain(classes::Schedule::Strict));
    assert_eq!((bench.take(1), bench.queue.ready()), (None, Bench::at(0)));
}

#[test]
fn a_queue_speaks_back_if_one_of_its_laws_does() {
    let speaks = |config: &Config| Bench::new(config).queue.speaks_back();
    assert!(!speaks(&droptail(packets(1.0))) && !speaks(&red(|_| {})) && !speaks(&plain(classes::Schedule::Drr)));
    assert!(speaks(&red(becn)));
    assert!(speaks(&two(by(classes::Schedule::Drr), packets(20.0), droptail(packets(9.0)), red(becn))));
}

#[test]
fn the_head_of_several_queues_is_that_of_one_of_them() {
    let mut bench = Bench::new(&plain(classes::Schedule::Strict));
    assert_eq!(bench.queue.head_len(), None);
    bench.put(0, 1, 700);
    assert_eq!(bench.queue.head_len(), Some(700));
    bench.put(0, 101, 300);
    assert_eq!(bench.queue.head_len(), Some(300));
}

#[test]
fn fifo_serves_classes_by_the_arrival_of_their_heads() {
    // The class of the rest has classes of its own.
    let inner = plain(classes::Schedule::Fifo);
    let config = two(by(classes::Schedule::Fifo), packets(20.0), droptail(packets(9.0)), inner);
    let mut bench = Bench::new(&config);
    for (ms, flow) in [(0, 1), (1, 101), (2, 2), (3, 3), (4, 102)] {
        bench.put(ms, flow, 100);
    }
    assert_eq!(bench.flows(5), [1, 101, 2, 3, 102]);
}

#[test]
fn drr_measures_the_heads_of_its_classes() {
    // A turn of 300 B each. "high" sends 200 (100 left), the head of 200 waits; the rest sends 300; "high" has 400 and
    // sends 200; the rest 300.
    let turn = |member| Member { turn: Bytes(300), ..member };
    let mut config = plain(classes::Schedule::Drr);
    for class in config.classes.values_mut() {
        class.member = turn(class.member.clone());
    }
    let mut bench = Bench::new(&config);
    for (flow, len) in [(101, 200), (101, 200), (1, 300), (1, 300)] {
        bench.put(0, flow, len);
    }
    assert_eq!(bench.flows(1), [101, 1, 101, 1]);
}

#[test]
fn a_class_that_took_no_packet_in_has_not_become_active() {
    // DRR++ favours classes that become active. "high" has room for 150 B.
    let small = droptail(Common::with_limit(Length::Bytes(150.0)));
    let config = two(by(classes::Schedule::DrrPlus), packets(20.0), small, droptail(packets(9.0)));
    let mut bench = Bench::new(&config);
    (0..5).for_each(|_| _ = bench.put(0, 1, 700));
    // 1514 - 700 = 814, 114, then -586: the rest is old.
    assert_eq!([0; 3].map(|_| bench.take(0).map(|packet| packet.flow)), [Some(1); 3]);
    let refused = bench.put(1, 101, 200);
    assert_eq!(bench.dropped(), [refused]);
    // -586 + 1514 = 928, then 228: the rest may go on.
    assert_eq!(bench.take(1).map(|packet| packet.flow), Some(1));
    bench.put(2, 102, 100);
    assert_eq!(bench.flows(2), [102, 1]);
}

#[test]
fn a_limit_of_bytes_of_all_classes_is_kept_by_the_fattest() {
    let common = Common { full: Full::Fattest, ..Common::with_limit(Length::Bytes(1000.0)) };
    let mut bench =
        Bench::new(&two(by(classes::Schedule::Drr), common, droptail(packets(9.0)), droptail(packets(9.0))));
    let first = bench.put(0, 1, 400);
    bench.put(0, 1, 400);
    bench.put(0, 101, 200);
    assert_eq!((bench.queue.bytes(), bench.diary.dropped.len()), (1000, 0), "as much as the limit is within it");
    bench.put(0, 101, 100);
    assert_eq!(bench.dropped(), [first]);
}

#[test]
fn memory_is_a_limit_of_arrivals_where_nobody_makes_room() {
    // Two packets of 424 B take 2·(424 + 576) = 2000 B.
    for (memory, taken) in [(1999, 1), (2000, 2), (2999, 2)] {
        let params = classes::Params { memory: Some(Bytes(memory)), ..by(classes::Schedule::Drr) };
        let mut bench = Bench::new(&two(params, packets(20.0), droptail(packets(9.0)), droptail(packets(9.0))));
        (0..3).for_each(|_| _ = bench.put(0, 1, 424));
        assert_eq!((bench.diary.entered.len(), bench.diary.dropped.len()), (taken, 3 - taken), "{memory}");
    }
}

#[test]
fn memory_that_is_just_full_is_not_over() {
    let params: fq_codel::Params = toml::from_str("salt = 7\nmemory = \"2000 B\"").unwrap();
    let mut bench = Bench::new(&Config::new(Params::FqCodel(params), Common { full: Full::Fattest, ..packets(9.0) }));
    (0..2).for_each(|_| _ = bench.put(0, 1, 424));
    assert!(bench.diary.dropped.is_empty());
    bench.put(0, 1, 424);
    assert_eq!(bench.dropped(), [1, 2], "half of 1272 B is reached with the second");
}

#[test]
fn flows_that_differ_in_few_bits_have_queues_of_their_own() {
    // 8 and 16 have no bit in common with the salt, 7.
    let params: fq_codel::Params = toml::from_str("salt = 7").unwrap();
    let mut bench = Bench::new(&Config::new(Params::FqCodel(params), Common { full: Full::Fattest, ..packets(9.0) }));
    for flow in [8, 8, 16, 16] {
        bench.put(0, flow, 1600);
    }
    assert_eq!(bench.flows(1), [8, 16, 8, 16]);
}

/// A flow's place is the first of its hash's bits. The hash is the finaliser of SplitMix64, of which these are the known
/// outputs: the n-th of a seed is the hash of the seed and n - 1 times the generator's step.
#[test]
fn flows_lie_in_the_order_of_their_hashes() {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let of_0 = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f, 0xf88b_b8a8_724c_81ec];
    let of_1234567 = [
        6_457_827_717_110_365_317,
        3_203_168_211_198_807_973,
        9_817_491_932_198_370_423,
        4_593_380_528_125_082_431,
        16_408_922_859_458_223_821,
    ];
    let outputs = |seed: u64, all: &[u64]| {
        all.iter().zip(0..).map(|(&hash, n)| (hash, STEP.wrapping_mul(n).wrapping_add(seed))).collect::<Vec<_>>()
    };
    let mut flows = [outputs(0, &of_0), outputs(1_234_567, &of_1234567)].concat();
    flows.sort_unstable();
    let params: fq_codel::Params = toml::from_str("salt = 0").unwrap();
    let config = Config::new(Params::FqCodel(params), Common { full: Full::Fattest, ..packets(1.0) });
    for pair in flows.windows(2) {
        // Of two flows that hold as much, the first in order loses a packet.
        for order in [[0, 1], [1, 0]] {
            let mut bench = Bench::new(&config);
            let ids = order.map(|i| (bench.put(0, pair[i].1, 100), i));
            let lost = ids.iter().find(|(_, i)| *i == 0).map(|(id, _)| *id);
            assert_eq!(bench.dropped().first().copied(), lost, "{pair:x?}");
        }
    }
}

#[test]
fn quantiles_go_on_behind_a_cut() {
    let mut bench = Bench::new(&droptail(Common { quantiles: true, ..packets(9.0) }));
    for ms in [0, 10] {
        bench.put(ms, 1, 100);
        bench.take(ms + 4);
        let quantile = bench.queue.cut_stats(Bench::at(ms + 5)).sojourn_quantile_s(0.5);
        assert!((quantile - 0.004).abs() < 0.004 * 0.004, "{quantile}");
    }
}

/// One FIFO and a queue of classes: sojourns of 1, 3 and 5 ms, of which the second is of a packet of the group "high".
#[test]
fn quantiles_are_kept_of_each_flow_group() {
    for config in [droptail(Common { quantiles: true, ..packets(9.0) }), plain(classes::Schedule::Fifo)] {
        let mut bench = Bench::new(&config);
        bench.put(0, 1, 100);
        bench.take(1);
        bench.put(1, 101, 100);
        bench.put(2, 1, 100);
        bench.take(4);
        bench.take(7);
        let first = bench.queue.cut_stats(Bench::at(8));
        // Group "low": median 1 ms, and the rest 5 ms; to 0.4 %.
        let low = &first.sojourns_by_group()[0];
        assert_eq!((low.packets(), low.max()), (2, Dur::from_ms(5)));
        assert!((low.mean_s() - 0.003).abs() < 1e-15);
        assert!((low.quantile_s(0.5) - 0.001).abs() < 4e-6 && (low.quantile_s(0.51) - 0.005).abs() < 2e-5);
        let [from, to, n] = low.bins().map(|(from, to, n)| [from.ps(), to.ps(), n]).last().expect("a bin");
        assert!(from <= 5_000_000_000 && 5_000_000_000 < to && to - from < from / 125 && n == 1);
        let high = &first.sojourns_by_group()[1];
        assert_eq!((high.packets(), high.max(), high.bins().count()), (1, Dur::from_ms(3), 1));
        assert_eq!(first.sojourn_bins().map(|(_, _, n)| n).collect::<Vec<_>>(), [1, 1, 1]);
        // Behind a cut they begin anew, and go on; both parts together are the whole.
        bench.put(10, 1, 100);
        bench.take(12);
        let second = bench.queue.cut_stats(Bench::at(20));
        let groups = |stats: &Stats| stats.sojourns_by_group().iter().map(Sojourns::packets).collect::<Vec<_>>();
        assert_eq!([groups(&first), groups(&second), groups(&first.plus(&second))], [[2, 1], [1, 0], [3, 1]]);
        let whole = first.plus(&second);
        let low = &whole.sojourns_by_group()[0];
        assert!((low.mean_s() - 0.008 / 3.0).abs() < 1e-15 && (low.quantile_s(0.5) - 0.002).abs() < 8e-6);
        assert_eq!((low.max(), second.sojourns_by_group()[0].max()), (Dur::from_ms(5), Dur::from_ms(2)));
        assert!(second.sojourns_by_group()[1].quantile_s(0.5).is_nan());
    }
}

#[test]
fn without_quantiles_no_sojourn_is_kept() {
    let mut bench = Bench::new(&droptail(packets(9.0)));
    bench.put(0, 1, 100);
    bench.take(1);
    let stats = bench.queue.cut_stats(Bench::at(2));
    assert!(stats.sojourns_by_group().is_empty() && stats.sojourn_bins().next().is_none());
    assert!(stats.sojourn_quantile_s(0.5).is_nan());
}

#[test]
fn classes_and_their_classes_are_read_with_their_names() {
    let inner = plain(classes::Schedule::Strict);
    let mut bench = Bench::new(&two(by(classes::Schedule::Drr), packets(20.0), droptail(packets(1.0)), inner));
    assert_eq!(bench.queue.class_names(), ["all", "high", "rest", "rest/high", "rest/rest"]);
    // At 0: 100 B in "high", whose second is dropped, and 200 B in "rest/rest"; at 2 ms the first leaves.
    (0..2).for_each(|_| _ = bench.put(0, 101, 100));
    bench.put(0, 1, 200);
    assert_eq!(bench.diary.entered, [1, 3]);
    let held: Vec<[u64; 2]> =
        bench.queue.class_samples(&[]).iter().map(|sample| [sample.held.packets, sample.held.bytes]).collect();
    assert_eq!(held, [[2, 300], [1, 100], [1, 200], [0, 0], [1, 200]]);
    let first = read(&mut bench, 0);
    assert_eq!(bench.take(2).map(|packet| packet.flow), Some(101));
    let second = read(&mut bench, 4);
    let names: Vec<&str> = second.iter().map(|reading| reading.name.as_str()).collect();
    assert_eq!(names, bench.queue.class_names());
    // Arrived and departed since the first reading: nobody, and the one that left.
    let since: Vec<_> = second.into_iter().zip(&first).map(|(now, then)| now.since(then)).collect();
    let counts = |i: usize| [since[i].counts.all().arrived, since[i].counts.all().departed].map(|t| t.packets);
    assert_eq!([counts(0), counts(1), counts(2)], [[0, 1], [0, 1], [0, 0]]);
    assert_eq!(first[1].counts.all().tail, Tally { packets: 1, bytes: 100 });
    // Of 4 ms two packets were held for 2 and one for 2; in "high" one for 2; in the rest one for 4.
    let means = |i: usize| since[i].stats.mean_packets();
    assert_eq!([means(0), means(1), means(2), means(4)], [1.5, 0.5, 1.0, 1.0]);
    assert_eq!(since[0].stats.mean_bytes(), 250.0);
}

fn read(bench: &mut Bench, ms: u64) -> Vec<ecnlab_aqm::ClassReading> {
    let whole = bench.queue.cut_stats(Bench::at(ms));
    bench.queue.cut_classes(&whole)
}

#[test]
fn a_sample_has_the_requested_columns_of_each_class() {
    let column = |name| Column::new(name, "", "");
    let mut config = two(by(classes::Schedule::Drr), packets(20.0), droptail(packets(9.0)), red(|_| {}));
    let mut bench = Bench::new(&config);
    (0..3).for_each(|_| _ = bench.put(0, 1, 100));
    let samples = bench.queue.class_samples(&[column("average_packets"), column("codel_count")]);
    let values: Vec<Option<f64>> =
        samples.iter().flat_map(|sample| &sample.values).map(|value| (!value.is_nan()).then_some(*value)).collect();
    // The whole has no law, nor has drop-tail an average; RED's third arrival found two.
    assert_eq!(values, [None, None, None, None, Some(2.0), None]);
    // A FIFO has rows only if it keeps quantiles.
    config = red(|_| {});
    assert!(Bench::new(&config).queue.class_samples(&[column("max_p")]).is_empty());
    config.common.quantiles = true;
    let samples = Bench::new(&config).queue.class_samples(&[column("max_p")]);
    assert_eq!(samples.iter().map(|sample| sample.values.clone()).collect::<Vec<_>>(), [[0.1]]);
}

#[test]
fn the_laws_of_classes_tick_when_the_queue_is_looked_at() {
    let adaptive = red(|params| params.adaptive = Some(red::Floyd::default()));
    let mut bench = Bench::new(&two(by(classes::Schedule::Drr), packets(20.0), droptail(packets(9.0)), adaptive));
    bench.queue.observe(Bench::at(600));
    let max_p = Column::new("max_p", "", "");
    // Under the target, once: 0.9 of 0.1.
    let values = bench.queue.class_samples(&[max_p]).pop().unwrap().values;
    assert!((values[0] - 0.09).abs() < 1e-12, "{values:?}");
}

/// Conservation is checked in bytes, too: a packet that is longer when it is looked at again is found.
#[test]
fn books_that_do_not_balance_are_found() {
    for config in [droptail(packets(9.0)), plain(classes::Schedule::Strict)] {
        let mut bench = Bench::new(&config);
        bench.put(0, 1, 100);
        assert!(bench.queue.is_balanced());
        LONGER.set(1);
        let balanced = bench.queue.is_balanced();
        LONGER.set(0);
        assert!(!balanced);
        assert!(bench.queue.is_balanced());
    }
}
