//! Laws across inner queues, `dualpi2` and `pi2`, against arithmetic done by hand.

use crate::bench;

use ecnlab_aqm::registry::Params;
use ecnlab_aqm::{Common, Config, DropReason, MarkReason, Tally};
use ecnlab_base::Length;
use ecnlab_base::coverage::must_reach;
use ecnlab_wire::Ecn;
use proptest::prelude::*;

/// Times are in µs.
struct Here;

type Bench = bench::Bench<1, Here>;

impl Bench {
    fn dualpi2(keys: &str) -> Bench {
        Bench::of(Params::DualPi2(toml::from_str(keys).unwrap()), 10_000.0)
    }
    fn of(params: Params, limit: f64) -> Bench {
        Bench::new(&Config::new(params, Common { ecn: true, ..Common::with_limit(Length::Packets(limit)) }))
    }
    fn put(&mut self, us: u64, len: u32, ecn: Ecn) -> u32 {
        self.put_as(us, 0, len, ecn, 0)
    }
    /// So many packets at time zero.
    fn fill(&mut self, packets: u32, len: u32, ecn: Ecn) {
        for _ in 0..packets {
            self.put(0, len, ecn);
        }
    }
    fn ids(&mut self, us: u64) -> Vec<u32> {
        self.drain(us).iter().map(|packet| packet.id).collect()
    }
    fn marked(&self, why: MarkReason) -> Vec<u32> {
        self.diary.marked.iter().filter(|(_, reason)| *reason == why).map(|(id, _)| *id).collect()
    }
    /// Who was dropped as a signal, as all were.
    fn signalled(&self) -> Vec<u32> {
        assert!(self.diary.dropped.iter().all(|(_, why)| *why == DropReason::Early));
        self.dropped()
    }
}

/// RFC 9332's form, whose p' is `beta` times the delay of 10 ms that it finds at its first update; L's own law is off.
fn rfc(beta: f64) -> String {
    let controller = "target = \"10 ms\"\ntupdate = \"10 ms\"\nalpha = 1e-9";
    format!("profile = \"rfc9332\"\n{controller}\nbeta = {beta}\nmin_th = \"1 s\"")
}

#[test]
fn codepoint_dscp_or_group_bring_a_packet_into_l() {
    let mut bench = Bench::dualpi2("l4s = { codepoints = [\"ect1\", \"ce\"], dscp = [\"NQB\"], groups = [\"high\"] }");
    let packets = [(0, Ecn::NotEct, 0), (0, Ecn::Ect0, 0), (0, Ecn::Ect1, 0), (0, Ecn::Ce, 0), (0, Ecn::NotEct, 45)];
    for (flow, ecn, dscp) in packets.into_iter().chain([(100, Ecn::Ect0, 0)]) {
        bench.put_as(0, flow, 500, ecn, dscp);
    }
    // L goes first: 3, 4, 5 and 6; then C.
    assert_eq!(
        (bench.ids(0), bench.queue.class_names()),
        (vec![3, 4, 5, 6, 1, 2], vec!["all".into(), "L".into(), "C".into()])
    );
}

#[test]
fn both_queues_share_by_a_credit_of_ten_to_ninety() {
    let mut bench = Bench::dualpi2("");
    bench.fill(30, 1514, Ecn::NotEct);
    bench.fill(30, 1514, Ecn::Ect1);
    // Linux: the credit begins at 1514·(10 - 90) = -121,120. A packet of L adds 1514·10: eight make it 0, the ninth
    // 15,140; one of C takes 1514·90 = 136,260 off, and it is -121,120 again: nine to one.
    let left = bench.ids(0);
    let of_c: Vec<usize> = (0..60).filter(|&i| left[i] <= 30).collect();
    assert_eq!(of_c[..3], [9, 19, 29]);
    // L is empty after 33 packets: 30 of its own and 3 of C.
    assert!(left[33..].iter().all(|&id| id <= 30));
}

#[test]
fn a_shift_replaces_the_shares() {
    let mut bench = Bench::dualpi2("tshift = \"30 ms\"");
    let [c, l] = [(0, Ecn::NotEct), (30_000, Ecn::Ect1)].map(|(us, ecn)| bench.put(us, 500, ecn));
    let late = bench.put(30_001, 500, Ecn::Ect1);
    assert_eq!(bench.ids(30_001), [l, c, late]);
}

#[test]
fn l_is_marked_with_k_times_p_and_c_with_its_square_at_even_distances() {
    let _reached = must_reach(["dualpi2.rfc9332_l4s_signal", "dualpi2.rfc9332_classic_signal"]);
    // p' = 25·0.010 = 0.25 from 10 ms on: p_CL = 0.5 and p_C = 0.0625.
    let mut bench = Bench::dualpi2(&rfc(25.0));
    bench.fill(10, 125, Ecn::Ect1);
    bench.fill(20, 125, Ecn::NotEct);
    bench.fill(20, 125, Ecn::Ect0);
    assert_eq!(bench.ids(11_000).len(), 49);
    // recur: 0.5, 1.0, which is not above 1, 1.5: the third is marked and 0.5 is left; then each second.
    assert_eq!(bench.marked(MarkReason::Coupled), [3, 5, 7, 9]);
    // 17·0.0625 = 1.0625 is above 1, and so is 33·0.0625 - 1: the 17th of C, Not-ECT, is dropped, the 33rd marked.
    assert_eq!((bench.signalled(), bench.marked(MarkReason::Law)), (vec![10 + 17], vec![10 + 33]));
    assert_eq!(bench.queue.value("pi2_p"), Some(0.25));
    let total = bench.queue.counters().total().all();
    assert_eq!((total.marks.packets, total.coupled.packets, total.threshold.packets), (5, 4, 0));
    let stats = bench.queue.cut_stats(Bench::at(20_000));
    // 0 for 10 ms and 0.25 for 10 ms.
    assert!((stats.mean("mean_pi2_p") - 0.125).abs() < 1e-12);
}

#[test]
fn in_overload_both_queues_drop_with_the_square_and_the_rest_of_l_is_marked() {
    let _reached = must_reach(["dualpi2.rfc9332_l4s_drop", "dualpi2.rfc9332_classic_drop"]);
    // p' = 50·0.010 = 0.5, k·p' = 1: p_C = 0.25. Only L holds packets: its delay counts as C's does.
    let mut bench = Bench::dualpi2(&rfc(50.0));
    bench.fill(9, 125, Ecn::Ect1);
    bench.ids(11_000);
    // L's sum takes 0.25 for the drop, then 1 for the mark: 0.25, 1.25 -> 0.25; 0.5, 1.5 -> 0.5; 0.75 -> 0.75; 1.0, 2.0 ->
    // 1.0; 1.25: the fifth is dropped, and 0.25 is left; so is the ninth.
    assert_eq!((bench.signalled(), bench.marked(MarkReason::Coupled)), (vec![5, 9], vec![1, 2, 3, 4, 6, 7, 8]));
    // C, whatever its codepoint: 5·0.25 is above 1, and 9·0.25 - 1.
    let mut bench = Bench::dualpi2(&rfc(50.0));
    bench.fill(9, 125, Ecn::Ect0);
    bench.ids(11_000);
    assert_eq!((bench.signalled(), bench.diary.marked.len()), (vec![5, 9], 0));
    // Just below 1 nothing capable is dropped: 49.9·0.010 = 0.499, p_C = 0.249.
    let mut bench = Bench::dualpi2(&rfc(49.9));
    bench.fill(9, 125, Ecn::Ect0);
    bench.ids(11_000);
    assert_eq!((bench.signalled(), bench.marked(MarkReason::Law)), (vec![], vec![5, 9]));
}

#[test]
fn the_ramp_of_l_marks_by_its_own_delay_unless_the_queue_is_short() {
    // RFC 9332 A.1: 800 µs and a range of 400 µs: at 1000 µs 0.5.
    let marks = |us, keys: &str| {
        let mut bench = Bench::dualpi2(&format!("profile = \"rfc9332\"\n{keys}"));
        bench.fill(8, 125, Ecn::Ect1);
        bench.ids(us);
        assert_eq!(bench.diary.marked.len(), bench.marked(MarkReason::Law).len());
        bench.marked(MarkReason::Law)
    };
    // 0.5 each for the six behind which more than one packet is left: the third and the fifth.
    assert_eq!(marks(1000, ""), [3, 5]);
    // 1 each: 1.0 is not above 1, then all six but the first.
    assert_eq!((marks(1200, ""), marks(5000, "")), (vec![2, 3, 4, 5, 6], vec![2, 3, 4, 5, 6]));
    assert!(marks(800, "").is_empty());
    assert_eq!(marks(1200, "th_len = 0"), [2, 3, 4, 5, 6, 7]);
    // Without a range it is a step.
    assert_eq!((marks(799, "range = \"0 s\""), marks(800, "range = \"0 s\"")), (vec![], vec![2, 3, 4, 5, 6]));
}

#[test]
fn of_the_ramp_and_the_coupling_the_greater_marks() {
    // p_CL = 2·10·0.010 = 0.2; the ramp begins at 10.8 ms, and is at 0.25 at 10.9 ms and at 0.15 at 10.86 ms.
    let marks = |us| {
        let keys = rfc(10.0).replace("min_th = \"1 s\"", "min_th = \"10.8 ms\"");
        let mut bench = Bench::dualpi2(&keys);
        bench.fill(7, 125, Ecn::Ect1);
        bench.ids(us);
        bench.diary.marked
    };
    // 0.25 each: the fifth. 0.2 each: the sixth, as 5·0.2 is not above 1.
    assert_eq!((marks(10_900), marks(10_860)), (vec![(5, MarkReason::Law)], vec![(6, MarkReason::Coupled)]));
    // p_CL = 2·25·0.010 = 0.5, and at 11 ms the ramp is at 200/400 = 0.5, too: such a mark is the coupling's.
    let mut bench = Bench::dualpi2(&rfc(25.0).replace("min_th = \"1 s\"", "min_th = \"10.8 ms\""));
    bench.fill(6, 125, Ecn::Ect1);
    bench.drain(11_000);
    assert_eq!(bench.diary.marked, [(3, MarkReason::Coupled), (5, MarkReason::Coupled)]);
}

/// Linux's form, whose p' is `beta` times the delay of 16 ms that it finds at its first update.
fn linux(beta: f64, more: &str) -> String {
    format!("alpha = 0.00390625\nbeta = {beta}\nstep_thresh = \"1 s\"\n{more}")
}

/// The share that is marked, of packets that leave at 17 ms with a backlog.
fn share(keys: &str, ecn: Ecn) -> f64 {
    let mut bench = Bench::dualpi2(keys);
    bench.fill(4000, 1500, ecn);
    let left = (0..3990).filter(|_| bench.take(17_000).is_some()).count();
    assert_eq!((bench.diary.dropped.len(), left), (0, 3990));
    bench.diary.marked.len() as f64 / 3990.0
}

#[test]
fn linux_draws_l_with_k_times_p_and_c_with_two_draws() {
    let _reached = must_reach(["dualpi2.linux_l4s_signal", "dualpi2.linux_classic_signal"]);
    // beta 15.625 Hz is 4000/256: in Linux's units 4294, and p' = 16,000,000·4294/64 = 1,073,500,000, 0.24994 of 2^32.
    let keys = linux(15.625, "");
    // 0.49989 and 0.06247: four standard deviations are 0.0317 and 0.0153.
    assert!((share(&keys, Ecn::Ect1) - 0.4999).abs() < 0.0317, "{}", share(&keys, Ecn::Ect1));
    assert!((share(&keys, Ecn::Ect0) - 0.0625).abs() < 0.0153, "{}", share(&keys, Ecn::Ect0));
    // With k = 3 L has three times p'; C the same.
    let keys = linux(15.625, "coupling_factor = 3");
    assert!((share(&keys, Ecn::Ect1) - 0.7498).abs() < 0.0274, "{}", share(&keys, Ecn::Ect1));
}

#[test]
fn linux_spares_what_leaves_less_than_two_mtu_behind() {
    let _reached = must_reach(["dualpi2.linux_short_queue_passes"]);
    // With `overflow` p' stops at 1/2: all of L is marked while 3028 B are left.
    let keys = linux(1000.0, "drop_on_overload = false");
    let mut bench = Bench::dualpi2(&keys);
    bench.fill(4, 1514, Ecn::Ect1);
    bench.ids(17_000);
    // Behind the third there are 1514 B.
    assert_eq!(bench.marked(MarkReason::Coupled), [1, 2]);
    // Behind the first there are 4000 B, behind the second 3000 B.
    let mut bench = Bench::dualpi2(&keys);
    bench.fill(5, 1000, Ecn::Ect1);
    bench.drain(17_000);
    assert_eq!(bench.marked(MarkReason::Coupled), [1]);
}

#[test]
fn in_overload_linux_drops_with_the_square_or_stops_at_one_over_k() {
    let _reached = must_reach(["dualpi2.linux_l4s_drop", "dualpi2.linux_classic_drop"]);
    // p' = 1: all is dropped while two MTU are left, also what is ECN-capable.
    for ecn in [Ecn::Ect1, Ecn::Ect0] {
        let mut bench = Bench::dualpi2(&linux(1000.0, ""));
        bench.fill(5, 1514, ecn);
        assert_eq!((bench.ids(17_000), bench.signalled()), (vec![4, 5], vec![1, 2, 3]));
    }
    // With `overflow` p' = 1/2: nothing capable is dropped, and a quarter of C is marked; 0.0274 are four standard
    // deviations.
    let of_c = share(&linux(1000.0, "drop_on_overload = false"), Ecn::Ect0);
    assert!((of_c - 0.25).abs() < 0.0274, "{of_c}");
    // With k = 3 p' is (2^32 - 1)/3 in Linux's units, and k·p' all of 2^32 - 1, no more: a ninth of C is marked; 0.0199.
    let of_c = share(&linux(1000.0, "drop_on_overload = false\ncoupling_factor = 3"), Ecn::Ect0);
    assert!((of_c - 1.0 / 9.0).abs() < 0.0199, "{of_c}");
}

#[test]
fn in_overload_linux_marks_what_it_does_not_drop_of_l() {
    // beta 46.875 Hz is 12000/256: in Linux's units 12884, and p' = 16,000,000·12884/64 = 3,221,000,000, 0.74995 of 2^32:
    // k·p' is above 1, and p'² = 0.5624 of L are dropped. 0.0314 are four standard deviations.
    let mut bench = Bench::dualpi2(&linux(46.875, ""));
    bench.fill(4000, 1500, Ecn::Ect1);
    let left = bench.drain(17_000).len();
    let dropped = bench.signalled().len();
    assert!((dropped as f64 / 4000.0 - 0.5624).abs() < 0.0314, "{dropped}");
    // All others are marked, but the last three, behind which 3000 B are left or less.
    assert_eq!(bench.marked(MarkReason::Coupled).len(), left - 3);
}

#[test]
fn linux_steps_in_l_after_the_coupled_law() {
    let _reached = must_reach(["dualpi2.linux_step"]);
    let mut bench = Bench::dualpi2("l4s = { groups = [\"high\"] }");
    let [on_time, late, plain] = [Ecn::Ect1, Ecn::Ect1, Ecn::NotEct].map(|ecn| bench.put_as(0, 100, 500, ecn, 0));
    // 1 ms is not longer than 1 ms. What cannot be marked is dropped.
    assert_eq!([1000, 1001, 1001].map(|us| bench.take(us).map(|packet| packet.id)), [Some(on_time), Some(late), None]);
    assert_eq!((bench.marked(MarkReason::Threshold), bench.signalled()), (vec![late], vec![plain]));
    // C has no step.
    bench.put(0, 500, Ecn::Ect0);
    assert!(bench.take(9000).is_some());
    assert_eq!(bench.diary.marked.len(), 1);
    // A packet that both mark is counted as the step's.
    let mut bench = Bench::dualpi2("beta = 1000.0\ndrop_on_overload = false");
    bench.fill(4, 1514, Ecn::Ect1);
    bench.ids(17_000);
    assert_eq!((bench.marked(MarkReason::Threshold), bench.marked(MarkReason::Coupled)), (vec![1, 2, 3, 4], vec![]));
}

#[test]
fn linux_may_judge_what_arrives() {
    let mut bench = Bench::dualpi2(&linux(1000.0, "drop_enqueue = true"));
    bench.fill(2, 1514, Ecn::Ect0);
    // At 17 ms p' = 1, and 3028 B are held: what comes is dropped, what leaves is not.
    let refused = bench.put(17_000, 1514, Ecn::Ect0);
    assert_eq!((bench.ids(17_000), bench.signalled()), (vec![1, 2], vec![refused]));
}

#[test]
fn the_limit_holds_for_both_queues_together() {
    let _reached = must_reach(["tree.full_drops_arrival"]);
    let mut bench = Bench::of(Params::DualPi2(toml::from_str("").unwrap()), 3.0);
    for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect1, Ecn::Ect1, Ecn::NotEct] {
        bench.put(0, 500, ecn);
    }
    assert_eq!(bench.diary.dropped, [(4, DropReason::Tail), (5, DropReason::Tail)]);
}

#[test]
fn classes_count_what_the_law_across_them_does() {
    let mut bench = Bench::dualpi2(&rfc(25.0));
    bench.fill(10, 125, Ecn::Ect1);
    bench.fill(20, 125, Ecn::NotEct);
    bench.ids(11_000);
    let whole = bench.queue.cut_stats(Bench::at(11_000));
    let rows = bench.queue.cut_classes(&whole);
    let counts = |i: usize| {
        let all = rows[i].counts.all();
        [all.arrived, all.departed, all.marks, all.coupled, all.early].map(|tally| tally.packets)
    };
    assert_eq!([counts(0), counts(1), counts(2)], [[30, 29, 4, 4, 1], [10, 10, 4, 4, 0], [20, 19, 0, 0, 1]]);
    // The sojourn of the packet that was dropped is in no mean.
    assert_eq!([0, 1, 2].map(|i| rows[i].stats.sojourns()), [29, 10, 19]);
}

#[test]
fn pi2_squares_for_classic_packets_and_not_for_scalable_ones() {
    let _reached = must_reach(["pi2.signal"]);
    // The controller updates at 32 ms: 3.90625 Hz is 1000/256, in Linux's units 1073, and 32,000,000·1073/64 =
    // 536,500,000 is 0.12491 of 2^32: 0.2498 of ECT(1), 0.0156 of ECT(0).
    let share = |ecn| {
        let keys = "alpha = 0.00390625\nbeta = 3.90625";
        let mut bench = Bench::of(Params::Pi2(toml::from_str(keys).unwrap()), 10_000.0);
        bench.fill(8000, 1500, ecn);
        let left = (0..7990).filter(|_| bench.take(33_000).is_some()).count();
        assert_eq!((bench.diary.dropped.len(), left), (0, 7990));
        assert_eq!(bench.marked(MarkReason::Law).len(), bench.diary.marked.len());
        bench.diary.marked.len() as f64 / 7990.0
    };
    // Four standard deviations are 0.0194 and 0.0056.
    assert!((share(Ecn::Ect1) - 0.2498).abs() < 0.0194, "{}", share(Ecn::Ect1));
    assert!((share(Ecn::Ect0) - 0.0156).abs() < 0.0056, "{}", share(Ecn::Ect0));
}

#[test]
fn pi2_is_one_queue_whose_controller_stops_at_one_over_k() {
    let mut bench = Bench::of(Params::Pi2(toml::from_str("beta = 1000.0").unwrap()), 10_000.0);
    for ecn in [Ecn::Ect1, Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ect1] {
        bench.put(0, 1514, ecn);
    }
    // In the order in which they came; while two MTU are left, ECT(1) is marked with k/k.
    let left = bench.ids(33_000);
    assert!(left.is_sorted() && left.contains(&1) && bench.marked(MarkReason::Law).contains(&1));
    assert!((bench.queue.value("pi2_p").unwrap() - 0.5).abs() < 1e-9);
    assert_eq!(bench.queue.class_names(), ["all"]);
    // 0 until 32 ms, then 1/2 until the next update at 64 ms.
    assert!((bench.queue.cut_stats(Bench::at(64_000)).mean("mean_pi2_p") - 0.25).abs() < 1e-9);
}

#[test]
fn pi2_spares_what_leaves_less_than_two_mtu_behind() {
    let _reached = must_reach(["pi2.short_queue_passes"]);
    let marks = |packets, len| {
        let mut bench = Bench::of(Params::Pi2(toml::from_str("beta = 1000.0").unwrap()), 10_000.0);
        bench.fill(packets, len, Ecn::Ect1);
        bench.drain(33_000);
        bench.marked(MarkReason::Law)
    };
    // k/k of ECT(1) is all of it. Behind the second of four there are 3028 B, behind the third 1514 B; of five smaller ones
    // there are 4000 B behind the first, 3000 B behind the second.
    assert_eq!((marks(4, 1514), marks(5, 1000)), (vec![1, 2], vec![1]));
}

proptest! {
    #[test]
    fn nothing_is_lost_or_made(
        keys in prop_oneof![
            Just(""), Just("profile = \"rfc9332\""), Just("profile = \"rfc9332\"\ntarget = \"1 ms\"\nbeta = 50.0"),
            Just("target = \"1 ms\"\nbeta = 50.0\ndrop_enqueue = true"), Just("beta = 90.0\ndrop_on_overload = false"),
        ],
        limit in 1..30_u32,
        acts in prop::collection::vec((any::<bool>(), 1..3000_u32, 0..4_u8, 0..20_000_u64), 0..300),
    ) {
        let mut bench = Bench::of(Params::DualPi2(toml::from_str(keys).unwrap()), f64::from(limit));
        let mut us = 0;
        for (arrives, len, bits, pause) in acts {
            us += pause;
            if arrives {
                bench.put(us, len, Ecn::from_bits(bits));
                prop_assert!(bench.queue.packets() <= limit as usize);
            } else if bench.take(us).is_none() {
                prop_assert_eq!(bench.queue.packets(), 0);
            }
        }
        let total = bench.queue.counters().total().all();
        let held = Tally { packets: bench.queue.packets() as u64, bytes: bench.queue.bytes() };
        prop_assert_eq!(total.held(), held);
        prop_assert_eq!(total.dropped().packets as usize, bench.diary.dropped.len());
        prop_assert_eq!(total.marks.packets as usize, bench.diary.marked.len());
        prop_assert!((0.0..=1.0).contains(&bench.queue.value("pi2_p").unwrap()));
    }
}
