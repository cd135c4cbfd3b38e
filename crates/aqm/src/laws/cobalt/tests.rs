//! COBALT's rules, with arithmetic done by hand. Times are in microseconds after the first second unless stated otherwise.

use super::*;
use Verdict::{Drop, Pass, Signal};
use ecnlab_base::Rate;
use ecnlab_base::coverage::must_reach;
use ecnlab_wire::Ecn;

/// 2^32.
const TWO_32: u64 = 1 << 32;

/// When the tests begin: some packets have waited before.
const START: u64 = 1_000_000;

/// A COBALT whose packets are dequeued one by one.
struct Bench {
    cobalt: Cobalt,
    rng: Rng,
    can_mark: bool,
    /// Packets behind the one that leaves.
    behind: u64,
    now: u64,
}

impl Bench {
    fn new(change: impl FnOnce(&mut Params)) -> Bench {
        let mut params = Params::default();
        change(&mut params);
        assert_eq!(params.check(), Ok(()));
        let link = LinkContext { rate: Rate::from_bps(1_000_000), delay: Dur::from_ms(10) };
        Bench { cobalt: params.law(link), rng: Rng::named(1, "cobalt"), can_mark: true, behind: 2, now: 0 }
    }
    /// It is so late now.
    fn at(&mut self, us: u64) -> &mut Cobalt {
        self.cobalt.elapsed(Dur::from_us(START + us - self.now));
        self.now = START + us;
        &mut self.cobalt
    }
    /// The verdict on a packet that leaves at `at` after `sojourn`.
    fn leaves(&mut self, at: u64, sojourn: u64) -> Verdict {
        self.at(at);
        let packet =
            PacketView { size: 1500, ecn: Ecn::Ect0, flow: 0, can_mark: self.can_mark, sojourn: Dur::from_us(sojourn) };
        let view = view(self.behind, None);
        self.cobalt.on_dequeue(&packet, &view, Time::ZERO + Dur::from_us(START + at), &mut self.rng)
    }
    /// `drop_next`, in ns.
    fn next(&self) -> i64 {
        self.cobalt.drop_next - 1000 * START as i64
    }
    /// When BLUE last changed.
    fn blue_changed(&self) -> i64 {
        self.cobalt.blue_changed / 1000 - START as i64
    }
    /// When packets that leave each millisecond up to one are signalled, all of them late, in ms.
    fn signals(&mut self, from: u64, to: u64) -> Vec<u64> {
        (from..=to).filter(|ms| self.leaves(1000 * ms, 50_000) == Signal).collect()
    }
}

fn view(packets: u64, idle: Option<Dur>) -> View {
    let bytes = 1500 * packets;
    View { packets, bytes, in_all: bytes, idle, polled: idle.is_some() }
}

#[test]
fn what_a_scenario_leaves_out_is_of_sch_cake() {
    let expected = Params {
        target: Dur::from_ms(5),
        interval: Dur::from_ms(100),
        mtu_time: Dur::ZERO,
        p_inc: 1.0 / 256.0,
        p_dec: 1.0 / 4096.0,
    };
    assert_eq!(toml::from_str::<Params>("").unwrap(), expected);
    let cobalt = Bench::new(|_| {}).cobalt;
    // 2^32/256 = 2^24, 2^32/4096 = 2^20.
    assert_eq!((cobalt.p_inc, cobalt.p_dec), (1 << 24, 1 << 20));
    assert_eq!((fixed(1.0), fixed(0.0)), (u32::MAX, 0));
}

#[test]
fn impossible_values_are_refused() {
    let key = |change: fn(&mut Params)| {
        let mut params = Params::default();
        change(&mut params);
        params.check().err().map(|e| e.key)
    };
    assert_eq!(key(|p| p.interval = Dur::ZERO).as_deref(), Some("interval"));
    assert_eq!(key(|p| (p.interval, p.target) = (Dur::from_ns(1), Dur::ZERO)), None);
    // 2^32 - 1 ns are what 32 bits hold.
    assert_eq!(key(|p| p.interval = Dur::from_ns(TWO_32 - 1)), None);
    assert_eq!(key(|p| p.interval = Dur::from_ns(TWO_32)).as_deref(), Some("interval"));
    assert_eq!(key(|p| p.target = Dur::from_ms(100)), None);
    assert_eq!(key(|p| p.target = Dur::from_ms(101)).as_deref(), Some("target"));
    assert_eq!([key(|p| p.p_inc = 1.0), key(|p| p.p_dec = 0.0)], [None, None]);
    assert_eq!([key(|p| p.p_inc = 1.1), key(|p| p.p_inc = f64::NAN)], [Some("p_inc".into()), Some("p_inc".into())]);
    assert_eq!(key(|p| p.p_dec = -0.1).as_deref(), Some("p_dec"));
}

#[test]
fn roots_up_to_15_are_from_a_table_and_then_from_one_step_of_newton() {
    // The table lies within one of 2^32/√count.
    let off = |count: usize| (f64::from(ROOTS[count]) - ONE / libm::sqrt(count as f64)).abs();
    assert!((1..EXACT).all(|count| off(count) <= 1.0));
    assert_eq!(
        [0, 1, 2, 3, 4, 15].map(|n| ROOTS[n]),
        [u32::MAX, u32::MAX, 3037000500, 2479700525, (1 << 31) - 1, 1108955788]
    );
    // In reals, from 1/√15 = 0.258199 to 16: 0.258199·(3 - 16/15)/2 = 0.249592; 1/√16 is 0.25. Then to 17:
    // 0.249592·(3 - 17·0.062296)/2 = 0.242225; 1/√17 is 0.242536.
    let sixteen = next_root(ROOTS[15], 16);
    let real = |root: u32| f64::from(root) / ONE;
    assert!((real(sixteen) - 0.249_592).abs() < 1e-6, "{}", real(sixteen));
    assert!((real(next_root(sixteen, 17)) - 0.242_225).abs() < 2e-6, "{}", real(next_root(sixteen, 17)));
    // Back from 16 it is the one of the table again.
    assert_eq!(next_root(sixteen, 15), ROOTS[15]);
}

#[test]
fn a_queue_that_was_never_used_signals_at_the_second_packet_above_the_target() {
    // 1/√count is 0 as yet, so that the first signal is due at once; it comes with the next packet. Then count is 2.
    let mut bench = Bench::new(|_| {});
    assert_eq!([1_000, 1_001].map(|at| bench.leaves(at, 50_000)), [Pass, Signal]);
    assert_eq!((bench.cobalt.count, bench.cobalt.root), (2, ROOTS[2]));
}

#[test]
fn signals_come_an_interval_after_the_target_is_passed_and_then_at_interval_over_root_count() {
    // A packet in time puts `drop_next` an interval on, and 1/√count stays 0; the fade of a first series makes it 1. Here
    // the series is from a queue at rest: count 0, root 1.
    let mut bench = Bench::new(|_| {});
    bench.cobalt.root = u32::MAX;
    assert_eq!(bench.leaves(0, 0), Pass);
    // Above from 1 ms on; drop_next = 101 ms, less a nanosecond as 1 is 1 - 2^-32. Signal at 101 ms, count 2: + 100/√2 =
    // 171.71; + 100/√3 = 229.45; + 100/√4 = 279.45; + 100/√5 = 324.17.
    assert_eq!(bench.signals(1, 330), [101, 172, 230, 280, 325]);
    assert_eq!(bench.cobalt.count, 6);
}

#[test]
fn a_sojourn_is_above_if_longer_than_the_target_and_than_four_packets_take() {
    let above = |mtu_time: u64, among: u32, sojourn: u64| {
        let mut bench = Bench::new(|p| p.mtu_time = Dur::from_us(mtu_time));
        bench.cobalt.among(among);
        bench.leaves(1_000_000, sojourn);
        bench.cobalt.dropping
    };
    assert_eq!([5_000, 5_001].map(|sojourn| above(0, 0, sojourn)), [false, true]);
    // Four of 2 ms.
    assert_eq!([8_000, 8_001].map(|sojourn| above(2_000, 0, sojourn)), [false, true]);
    // Two of each of three flows; two flows are as many as four.
    assert_eq!([12_000, 12_001].map(|sojourn| above(2_000, 3, sojourn)), [false, true]);
    assert_eq!([8_000, 8_001].map(|sojourn| above(2_000, 2, sojourn)), [false, true]);
}

#[test]
fn times_are_whole_nanoseconds() {
    // Came at 1.9 ns, leaves at 6.2 ns: 6 - 1 = 5 ns, more than a target of 4.
    let mut bench = Bench::new(|p| p.target = Dur::from_ns(4));
    let packet = PacketView { size: 1, ecn: Ecn::Ect0, flow: 0, can_mark: true, sojourn: Dur::from_ps(4_300) };
    bench.cobalt.on_dequeue(&packet, &view(1, None), Time::from_ps(6_200), &mut bench.rng);
    assert!(bench.cobalt.dropping);
}

#[test]
fn the_count_fades_by_one_for_each_time_that_a_signal_would_have_been_due() {
    let _reached = must_reach(["cobalt.count_fades"]);
    let mut bench = Bench::new(|_| {});
    bench.cobalt.root = u32::MAX;
    bench.leaves(0, 0);
    assert_eq!(bench.signals(1, 280), [101, 172, 230, 280]);
    // Count 5, the next at 324.17 ms. In time at 324 ms: nothing is due, and `drop_next` stays. At 325: count 4, + 50 ms =
    // 374.17.
    assert_eq!(bench.leaves(324_000, 0), Pass);
    assert_eq!(bench.cobalt.count, 5);
    bench.leaves(325_000, 0);
    assert_eq!((bench.cobalt.count, bench.cobalt.root), (4, (1 << 31) - 1));
    // Late, at 700 ms: 374.17: 3, + 57.74 = 431.91: 2, + 70.71 = 502.62: 1, + 100 = 602.62: 0. At rest an interval later.
    bench.leaves(700_000, 0);
    assert_eq!((bench.cobalt.count, bench.next()), (0, 800_000_000));
    bench.at(799_999);
    assert!(!bench.cobalt.is_at_rest());
    bench.at(800_000);
    assert!(bench.cobalt.is_at_rest());
}

#[test]
fn a_series_that_begins_again_signals_at_once_if_its_count_has_not_faded() {
    let mut bench = Bench::new(|_| {});
    bench.cobalt.root = u32::MAX;
    bench.leaves(0, 0);
    assert_eq!(bench.signals(1, 280), [101, 172, 230, 280]);
    // In time at 300 ms, then late at 330 ms, after 324.17: due, and late, so the packet is signalled. Count 6; begins
    // anew: 330 + 100/√5 + 100/√6 = 330 + 44.72 + 40.82 = 415.54.
    bench.leaves(300_000, 0);
    assert_eq!((bench.leaves(330_000, 50_000), bench.cobalt.count), (Signal, 6));
    assert_eq!(bench.next() / 10_000, 41_554);
}

#[test]
fn signals_that_nobody_took_are_not_made_up_for() {
    let mut bench = Bench::new(|_| {});
    bench.cobalt.root = u32::MAX;
    bench.leaves(0, 0);
    assert_eq!(bench.signals(1, 101), [101]);
    // The next are due at 171.7 and 229.4 ms. A mark at 400 ms is one, and the next is due at once, not at 229.4.
    assert_eq!(bench.leaves(400_000, 300_000), Signal);
    assert_eq!(bench.next(), 400_000_000);
    // After a drop what is due stays due: from 400 ms on, + 100/√4 = 450.
    bench.can_mark = false;
    assert_eq!(bench.leaves(500_000, 300_000), Signal);
    assert_eq!((bench.cobalt.count, bench.next()), (4, 449_999_999));
}

#[test]
fn the_last_packet_may_be_marked_but_not_dropped() {
    let _reached = must_reach(["cobalt.signal"]);
    for (can_mark, behind, expected) in [(true, 0, Signal), (false, 0, Pass), (false, 1, Signal)] {
        let mut bench = Bench::new(|_| {});
        bench.leaves(1_000, 50_000);
        (bench.can_mark, bench.behind) = (can_mark, behind);
        assert_eq!(bench.leaves(1_001, 50_000), expected);
        // The signal counts in any case.
        assert_eq!(bench.cobalt.count, 2);
    }
}

#[test]
fn blue_drops_at_random_also_what_could_be_marked() {
    let _reached = must_reach(["cobalt.blue_drop"]);
    let mut bench = Bench::new(|p| p.p_inc = 0.25);
    bench.at(10_000).on_full();
    assert_eq!(bench.cobalt.p_drop, 1 << 30);
    // 4000 packets in time: 1000 are dropped, standard deviation 27.
    let dropped = (0..4000).filter(|i| bench.leaves(10_000 + i, 0) == Drop).count();
    assert!((890..1110).contains(&dropped), "{dropped}");
    // Never the last one.
    bench.behind = 0;
    assert!((0..4000).all(|i| bench.leaves(14_000 + i, 0) == Pass));
}

#[test]
fn a_packet_that_codel_has_marked_may_still_fall_to_blue() {
    let mut bench = Bench::new(|p| p.p_inc = 1.0);
    bench.at(10_000).on_full();
    // Full, so a signal is due at once. p is 1 - 2^-32.
    assert_eq!(bench.leaves(10_000, 50_000), Drop);
    bench.behind = 0;
    // count 1 + 1, then + 1; due again at 100/√2.
    assert_eq!(bench.leaves(90_000, 50_000), Signal);
}

#[test]
fn blue_rises_when_full_and_falls_when_empty_once_a_target_at_most() {
    let _reached = must_reach(["cobalt.blue_rises", "cobalt.blue_falls"]);
    let mut bench = Bench::new(|_| {});
    // The first at once; then the target, 5 ms, must have passed.
    let p = |bench: &mut Bench, at| {
        bench.at(at).on_full();
        bench.cobalt.p_drop >> 20
    };
    assert_eq!([0, 5_000, 5_001, 10_001, 10_002].map(|at| p(&mut bench, at)), [16, 16, 32, 32, 48]);
    let p = |bench: &mut Bench, at| {
        bench.at(at).on_empty();
        bench.cobalt.p_drop >> 20
    };
    assert_eq!([10_002, 15_002, 15_003, 20_003, 20_004].map(|at| p(&mut bench, at)), [48, 48, 47, 47, 46]);
    // Shed packets count as arrivals that found it full.
    bench.at(30_000).on_shed(3);
    assert_eq!(bench.cobalt.p_drop >> 20, 62);
    bench.at(40_000).on_shed(0);
    assert_eq!(bench.cobalt.p_drop >> 20, 62);
}

#[test]
fn blue_ends_at_one_and_at_nothing() {
    let mut bench = Bench::new(|p| (p.p_inc, p.p_dec) = (0.75, 0.8));
    bench.at(10_000).on_full();
    bench.at(20_000).on_full();
    assert_eq!(bench.cobalt.p_drop, u32::MAX);
    bench.at(30_000).on_empty();
    assert_eq!(bench.cobalt.p_drop, u32::MAX - fixed(0.8));
    bench.at(40_000).on_empty();
    assert_eq!(bench.cobalt.p_drop, 0);
    // Nothing that would fall, so the time stays.
    bench.at(50_000).on_empty();
    assert_eq!(bench.blue_changed(), 40_000);
}

#[test]
fn a_full_queue_is_signalled_at_its_next_packet_above() {
    let mut bench = Bench::new(|_| {});
    bench.at(1_000).on_full();
    assert_eq!((bench.cobalt.dropping, bench.cobalt.count, bench.next()), (true, 1, 1_000_000));
    bench.cobalt.p_drop = 0;
    assert_eq!((bench.leaves(2_000, 50_000), bench.cobalt.count), (Signal, 2));
    // A count that there is stays.
    bench.at(3_000).on_full();
    assert_eq!(bench.cobalt.count, 2);
}

#[test]
fn an_empty_queue_fades_by_one_if_due_and_ends_the_series() {
    let mut bench = Bench::new(|_| {});
    bench.at(1_000).on_full();
    bench.at(1_000).on_empty();
    // Due at 1 ms: count 0, next an interval on.
    assert_eq!((bench.cobalt.dropping, bench.cobalt.count, bench.next()), (false, 0, 100_999_999));
    bench.at(2_000).on_full();
    bench.cobalt.drop_next = 1_003_000_000;
    bench.at(2_999).on_empty();
    assert_eq!((bench.cobalt.dropping, bench.cobalt.count), (false, 1));
}

#[test]
fn a_queue_alone_was_found_empty_when_its_link_became_free() {
    let _reached = must_reach(["cobalt.found_empty"]);
    let packet = PacketView { size: 1500, ecn: Ecn::Ect0, flow: 0, can_mark: true, sojourn: Dur::ZERO };
    let p = |idle: Option<Dur>, among: bool| {
        let mut bench = Bench::new(|_| {});
        bench.at(1_000).on_full();
        if among {
            bench.cobalt.among(0);
        }
        bench.at(10_000);
        bench.cobalt.on_enqueue(&packet, &view(0, idle), Time::ZERO + Dur::from_us(START + 10_000), &mut bench.rng);
        (bench.cobalt.p_drop >> 20, bench.blue_changed())
    };
    // Idle for 3 ms: polled at 7 ms, 6 ms after it was full. For 4 ms: 5 ms after, which is not more than the target.
    assert_eq!(p(Some(Dur::from_ms(3)), false), (15, 7_000));
    assert_eq!(p(Some(Dur::from_ms(4)), false), (16, 1_000));
    // Neither while it is busy, nor among flows, whose scheduler polls none of them when all are empty.
    assert_eq!(p(None, false), (16, 1_000));
    assert_eq!(p(Some(Dur::from_ms(3)), true), (16, 1_000));
}

#[test]
fn it_is_at_rest_when_all_has_faded() {
    let rest = |change: fn(&mut Cobalt)| {
        let mut bench = Bench::new(|_| {});
        change(bench.at(7));
        bench.cobalt.is_at_rest()
    };
    assert!(rest(|_| {}));
    assert!(rest(|cobalt| cobalt.drop_next = 1_000_007_000));
    assert!(!rest(|cobalt| cobalt.drop_next = 1_000_007_001));
    assert!(!rest(|cobalt| cobalt.count = 1));
    assert!(!rest(|cobalt| cobalt.p_drop = 1));
}

#[test]
fn its_columns_are_the_count_and_blue_s_probability() {
    let mut bench = Bench::new(|p| p.p_inc = 0.5);
    bench.at(1_000).on_full();
    assert_eq!(bench.cobalt.values(), [1.0, 0.5]);
    // Nothing for 1 ms, 0.5 for 3 ms: 1.5 ms in picoseconds.
    bench.at(4_000);
    assert_eq!(bench.cobalt.cut(), [Integral::Value(1.5e9)]);
    assert_eq!(bench.cobalt.cut(), [Integral::Value(0.0)]);
}
