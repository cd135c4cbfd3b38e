//! Queue protection and NQB within `dualpi2`: what becomes of packets of L, against arithmetic done by hand.

use crate::bench;

use ecnlab_aqm::registry::Params;
use ecnlab_aqm::{Common, Config, DropReason, MarkReason};
use ecnlab_base::Length;
use ecnlab_base::coverage::must_reach;
use ecnlab_wire::Ecn;

/// Times are in µs. The link has 1 Mbit/s.
struct Here;

type Bench = bench::Bench<1, Here>;

/// The DSCP of RFC 9956.
const NQB: u8 = 45;

impl Bench {
    fn of(keys: &str, limit: f64) -> Bench {
        let common = Common { ecn: true, ..Common::with_limit(Length::Packets(limit)) };
        Bench::new(&Config::new(Params::DualPi2(toml::from_str(keys).unwrap()), common))
    }
    fn put(&mut self, us: u64, flow: u64, len: u32, ecn: Ecn) -> u32 {
        self.put_as(us, flow, len, ecn, 0)
    }
    fn ids(&mut self, us: u64) -> Vec<u32> {
        self.drain(us).iter().map(|packet| packet.id).collect()
    }
}

/// Nine packets of 500 B of flow 0 in L: 36 ms of 1 Mbit/s. The ramp begins at two frames of 2000 B, 32 ms, and ends 0.524 ms
/// later, so that from the tenth packet on the whole size counts.
fn filled(keys: &str, limit: f64) -> Bench {
    let mut bench = Bench::of(keys, limit);
    for _ in 0..9 {
        bench.put(0, 0, 500, Ecn::Ect1);
    }
    bench
}

#[test]
fn packets_of_a_flow_to_blame_go_to_c() {
    let _reached = must_reach(["dualpi2.redirected"]);
    let mut bench = filled("protection = {}", 100.0);
    // 500 B are 1.024 ms of score: 36·1.024 is above 1·4 ms². 40 B of another flow are 81.92 µs: 36·0.08192 = 2.95 is not.
    let [tenth, eleventh] = [0, 0].map(|flow| bench.put(0, flow, 500, Ecn::Ect1));
    let innocent = bench.put(0, 5, 40, Ecn::Ect1);
    // The law of C is never called.
    let classic = bench.put(0, 5, 500, Ecn::Ect0);
    assert_eq!(bench.queue.value("sanctioned"), Some(2.0));
    // L goes first, by its credit.
    assert_eq!(bench.ids(0), [1, 2, 3, 4, 5, 6, 7, 8, 9, innocent, tenth, eleventh, classic]);
    assert!(bench.diary.dropped.is_empty() && bench.diary.marked.is_empty());
    let whole = bench.queue.cut_stats(Bench::at(500_000));
    // Two in half a second.
    assert!((whole.mean("sanctioned_per_s") - 4.0).abs() < 1e-9);
    let rows = bench.queue.cut_classes(&whole);
    let counts = |i: usize| [rows[i].counts.all().arrived, rows[i].counts.all().departed].map(|tally| tally.packets);
    assert_eq!([counts(0), counts(1), counts(2)], [[13, 13], [10, 10], [3, 3]]);
    // In the next window there is none, and the count goes on.
    let whole = bench.queue.cut_stats(Bench::at(600_000));
    assert_eq!((whole.mean("sanctioned_per_s"), bench.queue.value("sanctioned")), (0.0, Some(2.0)));
}

#[test]
fn without_protection_nothing_is_redirected_and_there_is_nothing_to_count() {
    let mut bench = filled("", 100.0);
    let tenth = bench.put(0, 0, 500, Ecn::Ect1);
    let classic = bench.put(0, 0, 500, Ecn::Ect0);
    assert_eq!(bench.ids(0)[8..], [9, tenth, classic]);
    assert!(bench.queue.value("sanctioned").unwrap().is_nan());
    assert!(bench.queue.cut_stats(Bench::at(1000)).mean("sanctioned_per_s").is_nan());
}

#[test]
fn a_score_fades() {
    // 40 B are 81.92 µs of score, and critical at 36 ms are 4/36 = 0.111 ms: the second at once is too much, 163.84 µs; 60 µs
    // later it is 103.84 µs, and not (4540 B are 36.32 ms: 3.77 ms²).
    for (us, place) in [(0, 1.0), (60, 0.0)] {
        let mut bench = filled("protection = {}", 100.0);
        bench.put(0, 5, 40, Ecn::Ect1);
        bench.put(us, 5, 40, Ecn::Ect1);
        assert_eq!(bench.queue.value("sanctioned"), Some(place), "{us} µs");
    }
    // With nothing in L nothing counts.
    let mut bench = filled("protection = {}", 100.0);
    bench.put(0, 0, 500, Ecn::Ect1);
    assert_eq!((bench.ids(0).len(), bench.queue.value("sanctioned")), (10, Some(1.0)));
    bench.put(1, 0, 500, Ecn::Ect1);
    assert_eq!(bench.queue.value("sanctioned"), Some(1.0));
}

#[test]
fn what_is_redirected_is_judged_as_a_packet_of_c() {
    // p' = 1 at 17 ms (dualpi2.rs): with `overflow` 1/2, so that all of L is marked by the step and a quarter of C.
    let keys = "protection = {}\nalpha = 0.00390625\nbeta = 1000.0\ndrop_on_overload = false";
    let mut bench = filled(keys, 4000.0);
    let redirected: Vec<u32> = (0..2000).map(|_| bench.put(0, 0, 1500, Ecn::Ect1)).collect();
    bench.drain(17_000);
    let why = |of_c: bool, reason| {
        bench.diary.marked.iter().filter(|(id, why)| redirected.contains(id) == of_c && *why == reason).count()
    };
    assert_eq!((why(false, MarkReason::Threshold), why(false, MarkReason::Law)), (9, 0));
    // Four standard deviations of 0.0097.
    assert!((why(true, MarkReason::Law) as f64 / 2000.0 - 0.25).abs() < 0.039);
    assert_eq!(why(true, MarkReason::Threshold) + why(true, MarkReason::Coupled), 0);
}

#[test]
fn what_finds_no_room_is_counted_where_it_was_sent() {
    let mut bench = filled("protection = {}", 9.0);
    let refused = bench.put(0, 0, 500, Ecn::Ect1);
    assert_eq!(bench.diary.dropped, [(refused, DropReason::Tail)]);
    let whole = bench.queue.cut_stats(Bench::at(0));
    let rows = bench.queue.cut_classes(&whole);
    assert_eq!([1, 2].map(|i| rows[i].counts.all().tail.packets), [0, 1]);
}

#[test]
fn nqb_packets_are_in_l_without_signals() {
    // 1001 µs are more than the step's 1 ms. What is Not-ECT is dropped there, unless `nqb` is given.
    let late = |keys: &str, ecn| {
        let mut bench = Bench::of(keys, 100.0);
        bench.put(0, 1, 500, Ecn::NotEct);
        bench.put_as(0, 0, 500, ecn, NQB);
        let left = bench.ids(1001);
        (left, bench.diary.marked.len(), bench.dropped())
    };
    assert_eq!(late("l4s = { dscp = [\"NQB\"] }", Ecn::NotEct), (vec![1], 0, vec![2]));
    // L goes first.
    assert_eq!(late("nqb = [\"NQB\"]", Ecn::NotEct), (vec![2, 1], 0, vec![]));
    // An ECN-capable one is marked as any of L.
    assert_eq!(late("nqb = [\"NQB\"]", Ecn::Ect0), (vec![2, 1], 1, vec![]));
    // Another DSCP of the user's; 45 then belongs to C.
    assert_eq!(late("nqb = [44]", Ecn::NotEct), (vec![1, 2], 0, vec![]));
}

#[test]
fn nqb_packets_take_no_part_in_the_coupled_marks_but_in_overload() {
    let _reached = must_reach(["dualpi2.rfc9332_nqb_passes"]);
    // RFC 9332's form, p' = 25·0.010 = 0.25 at 10 ms: p_CL = 0.5, each second ECT(1) after the first is marked, whatever
    // is between.
    let rfc = |beta| {
        let keys = "profile = \"rfc9332\"\ntarget = \"10 ms\"\ntupdate = \"10 ms\"\nalpha = 1e-9\nmin_th = \"1 s\"\n";
        Bench::of(&format!("{keys}beta = {beta}\nnqb = [\"NQB\"]"), 100.0)
    };
    let mut bench = rfc(25.0);
    for _ in 0..5 {
        bench.put(0, 0, 125, Ecn::Ect1);
        bench.put_as(0, 1, 125, Ecn::NotEct, NQB);
    }
    assert_eq!(bench.ids(11_000).len(), 10);
    // ECT(1) are 1, 3, 5, 7, 9: the third and the fifth of them.
    assert_eq!(bench.diary.marked, [(5, MarkReason::Coupled), (9, MarkReason::Coupled)]);
    // p' = 0.5: p_C = 0.25, every fourth is dropped, from the fifth on, and none marked.
    let mut bench = rfc(50.0);
    for _ in 0..9 {
        bench.put_as(0, 1, 125, Ecn::NotEct, NQB);
    }
    bench.drain(11_000);
    assert_eq!((bench.dropped(), bench.diary.marked.len()), (vec![5, 9], 0));
    // Linux: p' = 1 drops all while two MTU are left; with p' at 1/2, where all of L is marked, none.
    let linux = |more: &str| {
        let mut bench = Bench::of(&format!("alpha = 0.00390625\nbeta = 1000.0\nnqb = [\"NQB\"]\n{more}"), 100.0);
        for _ in 0..5 {
            bench.put_as(0, 1, 1514, Ecn::NotEct, NQB);
        }
        bench.drain(17_000);
        bench.dropped()
    };
    assert_eq!((linux(""), linux("drop_on_overload = false")), (vec![1, 2, 3], vec![]));
    assert!(linux("drop_on_overload = false\ndrop_enqueue = true").is_empty());
}
