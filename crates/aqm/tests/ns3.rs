//! What ns-3's test suites of queue discs expect, of the laws here: src/traffic-control/test and src/test/ns3tc at 14064644. Arrivals,
//! settings and expected counts are theirs; docs/validation.md lists which of their tests have no counterpart.

use crate::bench;
use crate::packet;

use ecnlab_aqm::registry::Params;
use ecnlab_aqm::{Common, Config, DropReason, Full, LinkContext, MarkReason, Queue};
use ecnlab_base::{Dur, Length, Rate, Rng, Time};
use ecnlab_wire::{Dscp, Ecn};

use packet::Packet;

/// Times are in tenths of a millisecond.
struct Here;

type Bench = bench::Bench<100, Here>;

impl Bench {
    /// So many packets at once.
    fn fill(&mut self, t: u64, packets: u32, flow: u64, len: u32, ecn: Ecn) {
        for _ in 0..packets {
            self.put_as(t, flow, len, ecn, 0);
        }
    }
    /// Drops and marks, of the law and of the threshold, behind a departure at each of these times.
    fn counts(&mut self, times: &[u64]) -> Vec<[usize; 3]> {
        times.iter().map(|t| (self.take(*t), self.now()).1).collect()
    }
    fn now(&self) -> [usize; 3] {
        let marked = |why| self.diary.marked.iter().filter(|(_, w)| *w == why).count();
        [self.diary.dropped.len(), marked(MarkReason::Law), marked(MarkReason::Threshold)]
    }
}

fn packets(limit: f64, ecn: bool) -> Common {
    Common { ecn, ..Common::with_limit(Length::Packets(limit)) }
}

fn codel(keys: &str) -> Params {
    Params::Codel(toml::from_str(&format!("mtu = \"1500 B\"\nsqrt = \"linux\"\n{keys}")).unwrap())
}

#[test]
fn codel_suite_drops_and_marks() {
    let times = [100, 2100, 2100, 4200];
    // BasicDrop: 0, 1, 1, then one more each time that it takes up drop_next: at 420 ms for 310, 360 and 416 (Linux's roots).
    let mut bench = Bench::new(&Config::new(codel(""), packets(500.0, false)));
    bench.fill(0, 20, 1, 1000, Ecn::NotEct);
    assert_eq!(bench.counts(&times), [[0, 0, 0], [1, 0, 0], [1, 0, 0], [4, 0, 0]]);
    assert_eq!(bench.queue.packets(), 20 - 4 - 4);
    // BasicMark 2: marks, one a departure.
    let mut bench = Bench::new(&Config::new(codel(""), packets(500.0, true)));
    bench.fill(0, 20, 1, 1000, Ecn::Ect0);
    assert_eq!(bench.counts(&times), [[0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 2, 0]]);
    // BasicMark 3: three capable packets and a threshold of 2 ms, which does not count what the law has marked; then drops.
    let mut bench = Bench::new(&Config::new(codel("ce_threshold = \"2 ms\""), packets(500.0, true)));
    bench.fill(0, 3, 1, 1000, Ecn::Ect0);
    bench.fill(0, 17, 1, 1000, Ecn::NotEct);
    assert_eq!(bench.counts(&times), [[0, 0, 1], [0, 1, 1], [0, 1, 2], [3, 1, 2]]);
    // BasicMark 4: below the threshold at 1 ms, above at 3 and 10 ms.
    let mut bench = Bench::new(&Config::new(codel("ce_threshold = \"2 ms\""), packets(500.0, true)));
    bench.fill(0, 20, 1, 1000, Ecn::Ect0);
    assert_eq!(bench.counts(&[10, 30, 100]), [[0, 0, 0], [0, 0, 1], [0, 0, 2]]);
    // BasicOverflow: 503 packets, 500 places.
    let mut bench = Bench::new(&Config::new(codel(""), packets(500.0, false)));
    bench.fill(0, 503, 1, 1000, Ecn::NotEct);
    assert_eq!(bench.diary.dropped, [501, 502, 503].map(|id| (id, DropReason::Tail)));
}

fn fq_codel(keys: &str, limit: f64) -> Bench {
    let params = Params::FqCodel(toml::from_str(&format!("salt = 7\n{keys}")).unwrap());
    Bench::new(&Config::new(params, Common { full: Full::Fattest, ..packets(limit, true) }))
}

#[test]
fn fq_codel_suite_limit_and_deficits() {
    // PacketLimit: three packets of one flow and two of another where four have room: the first is left with one.
    let mut bench = fq_codel("", 4.0);
    bench.fill(0, 3, 1, 120, Ecn::NotEct);
    bench.fill(0, 2, 2, 120, Ecn::NotEct);
    assert_eq!((bench.dropped(), bench.queue.packets()), (vec![1, 2], 3));
    // Deficit, three times as large, as 256 B are the least quantum here. Flow 1 has -90 behind its first packet and is still the
    // first of the new flows. So it gets 180 and is old. Flow 2, new: -90, then 180 and old, behind flow 1. Flow 1: -180, then 90, behind
    // flow 2. Flow 2: -180, then 90. Flow 1: -270.
    let mut bench = fq_codel("quantum = \"270 B\"", 100.0);
    bench.fill(0, 1, 1, 360, Ecn::NotEct);
    assert_eq!(bench.take(0).map(|p| p.flow), Some(1));
    bench.fill(0, 2, 1, 360, Ecn::NotEct);
    bench.fill(0, 2, 2, 360, Ecn::NotEct);
    let flows: Vec<u64> = bench.drain(0).iter().map(|p| p.flow).collect();
    assert_eq!(flows, [2, 1, 2, 1]);
}

/// ECNMarking: five flows of 20 packets of 120 B, the first three ECN-capable; 60 departures at this distance. ns-3's CoDel judges by
/// the backlog of its flow, Linux's and ours by all: so it is one CoDel here, with a flow's turns. 13 packets are the first to take up the
/// quantum of 1514 B, drops take nothing, so the turns are 1 to 13, 14 to 26, and so on, and 53 to 60. Of each flow what is held, dropped,
/// and marked by the law and by the threshold.
fn ecn_marking(keys: &str, gap: u64) -> Vec<[usize; 4]> {
    let row = |flow: u64| {
        let mut bench = Bench::new(&Config::new(codel(keys), packets(10_240.0, true)));
        bench.fill(0, 20, flow, 120, if flow < 3 { Ecn::Ect0 } else { Ecn::NotEct });
        for turn in 13 * flow + 1..=60.min(13 * (flow + 1)) {
            bench.take(gap * turn);
        }
        let [dropped, law, threshold] = bench.now();
        [bench.queue.packets(), dropped, law, threshold]
    };
    (0..5).map(row).collect()
}

#[test]
fn fq_codel_suite_marks_of_flows() {
    // Each 110 ms. The second to the seventh of a flow's thirteen find more than 1500 B behind them.
    let rows = ecn_marking("", 1100);
    for [held, dropped, law, _] in &rows[..3] {
        assert_eq!((*held > 0, *dropped, *law), (true, 0, 6), "{rows:?}");
    }
    for [held, dropped, law, _] in &rows[3..] {
        assert_eq!((*held > 0, *dropped, *law), (true, 4, 0), "{rows:?}");
    }
    // Each 0.1 ms, with a threshold of 2 ms: the second flow's last six packets waited 2.1 ms and more, all of the third.
    let rows = ecn_marking("ce_threshold = \"2 ms\"", 1);
    let marks: Vec<[usize; 2]> = rows.iter().map(|row| [row[1], row[3]]).collect();
    assert_eq!(marks, [[0, 0], [0, 6], [0, 13], [0, 0], [0, 0]]);
    // Each 110 ms, with the threshold: every ECN-capable packet that leaves is marked, by one or the other.
    let rows = ecn_marking("ce_threshold = \"2 ms\"", 1100);
    for [held, dropped, law, threshold] in &rows[..3] {
        assert_eq!((*held > 0, *dropped, law + threshold), (true, 0, 20 - held), "{rows:?}");
    }
    assert!(rows[3..].iter().all(|row| row[1..] == [4, 0, 0]), "{rows:?}");
}

#[test]
fn cobalt_suite_drops_and_marks() {
    let cobalt = |keys: &str, limit, ecn| {
        Bench::new(&Config::new(Params::Cobalt(toml::from_str(keys).unwrap()), packets(limit, ecn)))
    };
    // DropTest: 200 packets, one each 10 ms, 100 places. BLUE takes a step at each of the hundred that find no room.
    let mut bench = cobalt("", 100.0, true);
    (1..=200).for_each(|i| bench.fill(100 * i, 1, 1, 1500, Ecn::Ect0));
    assert_eq!((bench.dropped().len(), bench.queue.value("cobalt_p")), (100, Some(100.0 / 256.0)));
    let times = [100, 2100, 2100, 4200];
    // MarkTest 2: none at 10 ms, one at 210 ms, one more at once, since drop_next is now, one at 420 ms.
    let mut bench = cobalt("", 500.0, true);
    bench.fill(0, 20, 1, 1000, Ecn::Ect0);
    assert_eq!(bench.counts(&times), [[0, 0, 0], [0, 1, 0], [0, 2, 0], [0, 3, 0]]);
    // MarkTest 3: three capable packets; at 420 ms one is dropped each time that drop_next is taken up.
    let mut bench = cobalt("", 500.0, true);
    bench.fill(0, 3, 1, 1000, Ecn::Ect0);
    bench.fill(0, 17, 1, 1000, Ecn::NotEct);
    let counts = bench.counts(&times);
    assert_eq!(counts[..3], [[0, 0, 0], [0, 1, 0], [0, 2, 0]]);
    assert!(counts[3][0] > 0 && counts[3][1] == 2, "{counts:?}");
    // MarkTest 1: the first drop finds as many packets held as the first mark.
    let mut bench = cobalt("", 500.0, false);
    bench.fill(0, 20, 1, 1000, Ecn::NotEct);
    let first = bench.counts(&times[..2]);
    assert!(first[0] == [0, 0, 0] && first[1][0] > 0, "{first:?}");
}

/// A queue of 300 packets on ns-3's link, with these random numbers.
fn drawn(params: Params, ecn: bool, seed: u64) -> Queue<Packet> {
    let link = LinkContext { rate: Rate::from_bps(1_500_000), delay: Dur::from_ms(20) };
    Queue::new(&Config::new(params, packets(300.0, ecn)), link, &["all".to_owned()], Rng::named(seed, "ns3"))
}

fn sized(id: u32, len: u32, ecn: Ecn) -> Packet {
    Packet { id, len, ecn, dscp: Dscp::default(), group: 0, flow: 0 }
}

/// PIE's suite: 400 packets of 1000 B, one each 10 ms, and as many departures at a longer distance, in ms. Drops and marks of twenty
/// draws, and the p that the arrivals of the last find.
struct Pie {
    drops: usize,
    marks: usize,
    p: Vec<f64>,
}

fn pie(keys: &str, gap: u64, ecn: bool, capable: Ecn) -> Pie {
    let keys = format!("profile = \"rfc8033\"\nmean_pktsize = \"1000 B\"\n{keys}");
    let (mut seen, mut p) = (bench::Diary::default(), Vec::new());
    for seed in 0..20 {
        let mut queue = drawn(Params::Pie(toml::from_str(&keys).unwrap()), ecn, seed);
        p.clear();
        for ms in 1..=gap * 400 {
            let now = Time::ZERO + Dur::from_ms(ms);
            if ms % 10 == 0 && ms <= 4000 {
                queue.enqueue(sized(1, 1000, capable), now, &mut seen);
                p.push(queue.value("pie_p").unwrap());
            }
            if ms % gap == 0 {
                queue.dequeue(now, &mut seen);
            }
        }
    }
    assert!(seen.dropped.iter().all(|(_, why)| *why == DropReason::Early), "no forced drops");
    Pie { drops: seen.dropped.len(), marks: seen.marked.len(), p }
}

#[test]
fn pie_suite_compares_settings() {
    let set = |tupdate: u32, target: u32| {
        format!("tupdate = \"{tupdate} ms\"\ntarget = \"{target} ms\"\nmax_burst = \"100 ms\"")
    };
    let drops = |tupdate, target, gap| pie(&set(tupdate, target), gap, false, Ecn::NotEct).drops;
    let second = drops(30, 20, 12);
    assert!(second > 0);
    let (third, fourth, fifth) = (drops(30, 80, 12), drops(30, 20, 15), drops(90, 20, 15));
    assert!(third < second, "test 3: a higher target");
    assert!(fourth > second, "test 4: slower departures");
    assert!(fifth < fourth, "test 5: rarer updates");
    assert!(pie("dq_rate_estimator = true", 14, false, Ecn::NotEct).drops > 0, "test 6");
}

#[test]
fn pie_suite_caps_steps_and_marks_below_a_threshold() {
    // Test 8: p takes no step of more than 0.02 from above 0.1.
    let run = pie("", 14, false, Ecn::NotEct);
    let steps: Vec<f64> = run.p.windows(2).filter(|pair| pair[0] > 0.1).map(|pair| pair[1] - pair[0]).collect();
    assert!(run.drops > 0 && !steps.is_empty() && steps.iter().all(|step| *step <= 0.02 + 1e-12), "{steps:?}");
    // Tests 9 to 11: marks only where the law and the packets have ECN, and drops of capable packets once p is above 0.3.
    let threshold = "mark_ecnth = 0.3";
    let [plain, off] = [(true, Ecn::NotEct), (false, Ecn::Ect0)].map(|(ecn, of)| pie(threshold, 14, ecn, of));
    assert!([&plain, &off].iter().all(|run| run.marks == 0 && run.drops > 0));
    let both = pie(threshold, 14, true, Ecn::Ect0);
    assert!(both.marks > 0 && both.drops > 0 && both.p.iter().any(|p| *p > 0.3), "{} {}", both.marks, both.drops);
}

/// RED's suite: 300 packets of 500 B at once, where 300 have room. Drops and marks of a hundred draws.
fn red(keys: &str, ecn: bool, capable: Ecn) -> [usize; 2] {
    let keys = format!("idle = \"ns2\"\nfirst_passes = true\nspare_short = true\n{keys}");
    let mut seen = bench::Diary::default();
    for seed in 0..100 {
        let mut queue = drawn(Params::Red(toml::from_str(&keys).unwrap()), ecn, seed);
        for id in 1..=300 {
            queue.enqueue(sized(id, 500, capable), Time::ZERO, &mut seen);
        }
    }
    [seen.dropped.len(), seen.marked.len()]
}

#[test]
fn red_suite_compares_settings() {
    let set = |min: u32, max: u32, weight: f64, more: &str| {
        format!("min_th = \"{min} packets\"\nmax_th = \"{max} packets\"\nweight = {weight}\n{more}")
    };
    let drops = |keys: String| red(&keys, false, Ecn::NotEct)[0];
    let wait = "spacing = \"wait\"\ngentle = true";
    let third = drops(set(70, 150, 0.02, wait));
    assert!(third > 0, "test 3: a faster average");
    let more = [
        ("test 4: a lower max_th", drops(set(70, 100, 0.02, wait))),
        ("test 5: a higher max_p", drops(set(70, 150, 0.02, &format!("max_p = 0.2\n{wait}")))),
        ("test 6: not gentle", drops(set(70, 150, 0.02, "spacing = \"wait\""))),
        ("test 7: no wait", drops(set(70, 150, 0.02, "spacing = \"uniform\"\ngentle = true"))),
    ];
    assert!(more.iter().all(|(_, drops)| *drops > third), "{third} {more:?}");
    // Tests 8 to 10: marks where the law and the packets have ECN, and then no early drops.
    let half = set(30, 90, 0.002, &format!("max_p = 0.5\n{wait}"));
    let [plain, off, both] =
        [(true, Ecn::NotEct), (false, Ecn::Ect0), (true, Ecn::Ect0)].map(|(ecn, of)| red(&half, ecn, of));
    assert!(plain[0] > 0 && plain[1] == 0 && off[0] > 0 && off[1] == 0 && both[0] == 0 && both[1] > 0);
}

#[test]
fn red_suite_without_drops() {
    // Test 1: eight packets where eight have room, in order. Test 2: 300 packets leave an average of 300 - (1 - 0.998^300)/0.002 = 74.2,
    // just above 70, where p is at most 0.02·4.2/80: with `wait` there is no signal before 1/p = 950 packets.
    let eight = "min_th = \"2 packets\"\nmax_th = \"5 packets\"\nweight = 0.002\nspacing = \"wait\"\ngentle = true";
    let mut bench = Bench::new(&Config::new(Params::Red(toml::from_str(eight).unwrap()), packets(8.0, false)));
    bench.fill(0, 8, 1, 500, Ecn::NotEct);
    assert_eq!(bench.drain(0).iter().map(|p| p.id).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7, 8]);
    let keys = "min_th = \"70 packets\"\nmax_th = \"150 packets\"\nweight = 0.002\nspacing = \"wait\"\ngentle = true";
    assert_eq!(red(keys, false, Ecn::NotEct), [0, 0]);
}
