//! PIE, `pie`, and the laws built on it, `docsis_pie` and `fq_pie`, as whole queues, against arithmetic done by hand.

use crate::bench;

use ecnlab_aqm::registry::Params;
use ecnlab_aqm::{Common, Config, DropReason};
use ecnlab_base::Length;
use ecnlab_base::coverage::must_reach;
use ecnlab_wire::Ecn;

/// Times are in ms.
struct Here;

type Bench = bench::Bench<1000, Here>;

impl Bench {
    fn pie(keys: &str, limit: f64) -> Bench {
        Bench::of(Params::Pie(toml::from_str(keys).unwrap()), limit, true)
    }
    fn fq_pie(keys: &str, limit: f64) -> Bench {
        Bench::of(Params::FqPie(toml::from_str(&format!("salt = 1\n{keys}")).unwrap()), limit, true)
    }
    fn of(params: Params, limit: f64, ecn: bool) -> Bench {
        Bench::new(&Config::new(params, Common { ecn, ..Common::with_limit(Length::Packets(limit)) }))
    }
    fn put(&mut self, ms: u64, ecn: Ecn) -> u32 {
        self.put_as(ms, 0, 1250, ecn, 0)
    }
    fn fill(&mut self, ms: u64, packets: u32) {
        for _ in 0..packets {
            self.put(ms, Ecn::NotEct);
        }
    }
    /// Packets of 1250 B, of which 1 Mbit/s takes 10 ms each, leave from `from` to `to`.
    fn leave(&mut self, from: u64, to: u64) {
        for ms in (from..=to).step_by(10) {
            self.take(ms);
        }
    }
    fn p(&mut self, ms: u64) -> f64 {
        self.queue.observe(Self::at(ms));
        self.queue.value("pie_p").unwrap()
    }
    fn delay(&mut self, ms: u64) -> f64 {
        self.queue.observe(Self::at(ms));
        self.queue.value("pie_delay_s").unwrap()
    }
    fn early(&self) -> Vec<u32> {
        assert!(self.diary.dropped.iter().all(|(_, why)| *why == DropReason::Early));
        self.dropped()
    }
}

/// RFC 8033's form, with updates of 10 ms, no burst and a gain at which p is clear.
const RFC: &str = "profile = \"rfc8033\"\ntarget = \"20 ms\"\ntupdate = \"10 ms\"\nmax_burst = \"0 s\"";

#[test]
fn the_probability_follows_the_delay_of_the_packet_that_last_left() {
    let mut bench = Bench::pie(&format!("{RFC}\nalpha = 1.0\nbeta = 100.0"), 1000.0);
    bench.fill(0, 50);
    // The packets wait 0, 10, 20 ... ms; an update comes before a departure of the same instant, so that at 10 ms it sees the
    // one of 0 ms.
    bench.leave(0, 50);
    // (1·(0 - 0.020) + 0)/2048 at 10 ms, and 0.98 of it: below 0. At 20 ms (1·(0.010 - 0.020) + 100·0.010)/2048 = 0.99/2048 =
    // 4.834e-4. At 30 ms (0 + 1)/32: 0.031733. At 40 ms (0.010 + 1)/2: 0.536733. At 50 ms + 0.02.
    let expected = 0.99 / 2048.0 + 1.0 / 32.0 + 1.01 / 2.0 + 0.02;
    assert!((bench.p(50) - expected).abs() < 1e-12 && bench.delay(50) == 0.04, "{}", bench.p(50));
}

#[test]
fn arrivals_are_judged_by_what_they_find() {
    let mut bench = Bench::pie(&format!("{RFC}\nalpha = 1.0\nbeta = 100.0"), 1000.0);
    bench.fill(0, 50);
    bench.leave(0, 50);
    // p is 0.5567 from 50 ms on (above): the first sum is below 0.85, and the second, 1.11, above; from a tenth on ECN does
    // not help.
    let arrivals: Vec<u32> = (0..200).map(|_| bench.put(51, Ecn::Ect0)).collect();
    let early = bench.early();
    assert!(!early.contains(&arrivals[0]) && bench.diary.marked.is_empty());
    assert!(early.windows(2).all(|pair| pair[1] - pair[0] >= 2));
    // One that passes and then 1/0.5567 on average: 200/2.80 = 71.5; standard deviation of a gap √0.4433/0.5567 = 1.196,
    // of their number √200·1.196/2.80^1.5 = 3.6: four of them.
    assert!((57..=86).contains(&early.len()), "{}", early.len());
    // Not so an arrival that finds no more than 2·1024 B.
    let mut short = Bench::pie(&format!("{RFC}\nalpha = 1.0\nbeta = 100.0"), 1000.0);
    short.fill(0, 6);
    short.leave(0, 40);
    assert!(short.p(40) > 0.5);
    (0..9).for_each(|_| {
        short.put(41, Ecn::NotEct);
        short.take(41);
    });
    assert!(short.early().is_empty());
}

#[test]
fn below_a_tenth_capable_packets_are_marked() {
    let mut bench = Bench::pie(&format!("{RFC}\nalpha = 1.0\nbeta = 100.0"), 1000.0);
    bench.fill(0, 50);
    bench.leave(0, 30);
    // p is 0.0317 at 30 ms: 0.85 is reached by the 27th, 0.857.
    let first = bench.put(31, Ecn::Ect0);
    (1..400).for_each(|i| {
        bench.put(31, if i % 2 == 0 { Ecn::Ect0 } else { Ecn::NotEct });
    });
    let marked: Vec<u32> = bench.diary.marked.iter().map(|(id, _)| id - first).collect();
    let dropped: Vec<u32> = bench.early().iter().map(|id| id - first).collect();
    assert!(marked.iter().all(|id| id % 2 == 0) && dropped.iter().all(|id| id % 2 == 1));
    let mut signals: Vec<u32> = marked.iter().chain(&dropped).copied().collect();
    signals.sort_unstable();
    // One each 26 + 1/0.0317 = 57.5 arrivals.
    assert!(signals[0] >= 26 && signals.windows(2).all(|pair| pair[1] - pair[0] >= 27), "{signals:?}");
    assert!((3..=12).contains(&signals.len()) && !marked.is_empty() && !dropped.is_empty(), "{signals:?}");
}

#[test]
fn linux_takes_its_first_step_after_half_a_second_and_one_each_16_ms() {
    let mut bench = Bench::pie("", 1000.0);
    bench.fill(0, 500);
    bench.leave(0, 500);
    assert_eq!(bench.p(503), 0.0);
    // The packet of 500 ms has waited so long: (0.125·0.485 + 1.25·0.5)/2048 + 0.02.
    let first = 0.685_625 / 2048.0 + 0.02;
    assert!((bench.p(519) - first).abs() < 1e-9, "{}", bench.p(519));
    bench.leave(510, 510);
    // At 520 ms the packet of 510 ms: (0.125·0.495 + 1.25·0.01)/2 + 0.02, as p is at 2 %.
    assert!((bench.p(520) - (first + 0.074_375 / 2.0 + 0.02)).abs() < 1e-9, "{}", bench.p(520));
}

#[test]
fn a_full_queue_drops_what_arrives() {
    let _reached = must_reach(["pie.linux_full"]);
    let mut bench = Bench::pie("", 5.0);
    bench.fill(0, 7);
    assert_eq!(bench.diary.dropped, [(6, DropReason::Tail), (7, DropReason::Tail)]);
    assert_eq!(bench.drain(0).len(), 5);
}

#[test]
fn it_does_not_matter_when_it_is_looked_at() {
    let run = |look: bool| {
        let mut bench = Bench::pie("dq_rate_estimator = true", 1000.0);
        bench.fill(0, 300);
        for ms in 0..3000 {
            if ms % 10 == 0 {
                bench.take(ms);
            }
            if ms % 8 == 0 {
                bench.put(ms, Ecn::NotEct);
            }
            if look {
                bench.p(ms);
            }
        }
        (bench.early(), bench.p(3000))
    };
    let (dropped, p) = run(false);
    assert_eq!(run(true), (dropped.clone(), p));
    assert!(!dropped.is_empty() && p > 0.0);
}

#[test]
fn flows_have_queues_of_their_own_and_take_turns() {
    let mut bench = Bench::fq_pie("", 100.0);
    for flow in [1, 2] {
        (0..3).for_each(|_| {
            bench.put_as(0, flow, 1250, Ecn::NotEct, 0);
        });
    }
    // 1514 - 1250 is positive: two packets of a flow, then two of the other; 1514 - 986 = 528 is enough for one more.
    let flows: Vec<u64> = bench.drain(0).iter().map(|packet| packet.flow).collect();
    assert_eq!(flows, [1, 1, 2, 2, 1, 2]);
}

#[test]
fn only_the_flow_whose_queue_is_long_is_signalled() {
    for (keys, marks) in [("ecn_prob = 0", false), ("ecn_prob = 100", true)] {
        let mut bench = Bench::fq_pie(keys, 10_000.0);
        for _ in 0..400 {
            bench.put_as(0, 1, 1250, Ecn::Ect0, 0);
        }
        // At 10 ms each, with a packet of flow 2 every 100 ms. From 504 ms on the delay is above 250 ms, and p of flow 1, past 0.1
        // from the third update on, rises by 0.04 each: about 0.9 after 22, at 840 ms.
        let mut of_2 = Vec::new();
        for ms in (0..840).step_by(10) {
            if ms % 100 == 0 {
                of_2.push(bench.put_as(ms, 2, 1250, Ecn::Ect0, 0));
            }
            bench.take(ms);
        }
        let first = bench.put_as(841, 1, 1250, Ecn::Ect0, 0);
        let second = bench.put_as(841, 1, 1250, Ecn::Ect0, 0);
        let marked: Vec<u32> = bench.diary.marked.iter().map(|(id, _)| *id).collect();
        let signalled = if marks { marked } else { bench.early() };
        assert!(signalled.contains(&first) || signalled.contains(&second), "{keys}: {signalled:?}");
        assert!(of_2.iter().all(|id| !signalled.contains(id)));
    }
}

#[test]
fn all_flows_have_one_limit() {
    let mut bench = Bench::fq_pie("", 5.0);
    (1..=7).for_each(|flow| {
        bench.put_as(0, flow, 1250, Ecn::NotEct, 0);
    });
    assert_eq!(bench.diary.dropped, [(6, DropReason::Tail), (7, DropReason::Tail)]);
}

#[test]
fn a_modem_drops_once_and_then_lets_a_burst_through() {
    let mut bench = Bench::of(Params::DocsisPie(toml::from_str("").unwrap()), 100.0, false);
    bench.fill(0, 60);
    // 60 packets are 600 ms. At 16 ms (0.25·0.590 + 2.5·0.600)/2048 + 0.02; at 32 ms 0.25·0.590/2 + 0.02 more.
    let first = 1.6475 / 2048.0 + 0.02;
    assert!((bench.p(16) - first).abs() < 1e-12 && bench.delay(16) == 0.6);
    assert!((bench.p(32) - first - 0.1475 / 2.0 - 0.02).abs() < 1e-12);
    // p is 0.1146, and a packet of 1250 B counts with 0.14: the seventh, 0.979, may be dropped.
    while bench.early().is_empty() {
        bench.put(33, Ecn::Ect0);
        bench.put(33, Ecn::Ect0);
        bench.take(33);
        bench.take(33);
    }
    assert!(bench.early()[0] >= 60 + 7);
    // 142 ms are let through: nine updates.
    assert_eq!([bench.p(48), bench.p(176)], [0.0; 2]);
    assert!(bench.p(192) > 0.0);
}
