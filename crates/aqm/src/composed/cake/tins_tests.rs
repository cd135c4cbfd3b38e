//! Tins and their turns, with arithmetic done by hand.

use super::*;
use ecnlab_base::Dur;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

const BE: Dscp = Dscp::from_bits(0);
const EF: Dscp = Dscp::from_bits(46);
const CS1: Dscp = Dscp::from_bits(8);

/// Tins whose queues are lengths of packets. Times are in ns.
struct Bench {
    tins: Tins,
    queues: Vec<std::collections::VecDeque<u32>>,
}

impl Bench {
    fn new(keys: &str) -> Bench {
        let params: Params = toml::from_str(keys).unwrap();
        let all = Tin::all(&params);
        let mut tins = Tins::new(&params, all);
        tins.begin(Rate::from_bps(1_000_000_000), &mut Rng::named(1, "tins"));
        let queues = vec![Default::default(); tins.tins.len() * QUEUES];
        Bench { tins, queues }
    }
    fn put(&mut self, ns: u64, flow: u64, dscp: Dscp, len: u32) -> usize {
        let i = self.tins.claim(&Header { flow, hosts: (1, 2), dscp }).unwrap();
        self.queues[i].push_back(len);
        self.tins.arrived(i, at(ns));
        i
    }
    /// The place of the queue that gives a packet, if one does.
    fn take(&mut self, ns: u64) -> Option<usize> {
        loop {
            let i = self.tins.next(&|_| None, at(ns))?;
            let Some(len) = self.queues[i].pop_front() else {
                self.tins.found_empty(i, true);
                continue;
            };
            self.tins.sent(i, len, &|_| None, at(ns));
            return Some(i);
        }
    }
    /// The tins that give packets, each as soon as it may, and the time after which nothing is left.
    fn order(&mut self, mut ns: u64) -> (Vec<usize>, u64) {
        let mut order = Vec::new();
        while self.tins.packets > 0 {
            if let Some(i) = self.take(ns) {
                order.push(i / QUEUES);
            } else {
                ns = self.ready();
            }
        }
        (order, ns)
    }
    fn ready(&self) -> u64 {
        self.tins.ready(&|_| None).ns()
    }
}

fn at(ns: u64) -> Time {
    Time::ZERO + Dur::from_ns(ns)
}

fn tins(keys: &str) -> Vec<(&'static str, Pace, i64, u64)> {
    let tin = |tin: Tin| (tin.name, tin.pace, tin.quantum, tin.flow_quantum);
    Tin::all(&toml::from_str(keys).unwrap()).into_iter().map(tin).collect()
}

#[test]
fn tins_have_parts_of_the_rate_and_of_the_round() {
    // 64 Mbit/s are 8,000,000 B/s, of which 1/4096 are 1953 B, at most 1514.
    let mega = |n: u64| Pace::of(n * 1_000_000);
    assert_eq!(tins("rate = \"64 Mbps\"\ndiffserv = \"besteffort\""), [("best-effort", mega(8), 65_535, 1514)]);
    assert_eq!(
        tins("rate = \"64 Mbps\""),
        [("best-effort", mega(8), 1024, 1514), ("bulk", Pace::of(500_000), 64, 300), ("voice", mega(2), 256, 488)]
    );
    assert_eq!(
        tins("rate = \"64 Mbps\"\ndiffserv = \"diffserv4\""),
        [
            ("best-effort", mega(8), 1024, 1514),
            ("bulk", Pace::of(500_000), 64, 300),
            ("video", mega(4), 512, 976),
            ("voice", mega(2), 256, 488)
        ]
    );
    // 7/8 of the one before, cut down: 8, 7, 6.125, 5.359375, 4.689453 Mbyte/s; 256, 224, 196, 171, 149, 130, 113, 98.
    for diffserv in ["precedence", "diffserv8"] {
        let eight = tins(&format!("rate = \"64 Mbps\"\ndiffserv = \"{diffserv}\""));
        let quanta: Vec<i64> = eight.iter().map(|tin| tin.2).collect();
        assert_eq!(quanta, [256, 224, 196, 171, 149, 130, 113, 98]);
        let paces: Vec<Pace> = eight.iter().take(5).map(|tin| tin.1).collect();
        assert_eq!(paces, [8_000_000, 7_000_000, 6_125_000, 5_359_375, 4_689_453].map(Pace::of));
        assert_eq!((eight[0].0, eight[7].0, eight[4].3), ("tin0", "tin7", 1144));
    }
    // Without a rate flows have a packet a round.
    assert_eq!(tins("diffserv = \"besteffort\""), [("best-effort", Pace::NONE, 65_535, 1514)]);
}

#[test]
fn each_dscp_has_its_tin() {
    // The DSCPs of each tin but the one for all others, as the comments of sch_cake.c list them.
    let members = |diffserv: Diffserv, tin| -> Vec<u8> {
        (0..64).filter(|bits| usize::from(diffserv.tin(Dscp::from_bits(*bits))) == tin).collect()
    };
    assert_eq!(members(Diffserv::Besteffort, 0).len(), 64);
    assert_eq!(members(Diffserv::Precedence, 5), [40, 41, 42, 43, 44, 45, 46, 47]);
    // LE, CS1; TOS4, VA, EF, CS6, CS7.
    assert_eq!([1, 2].map(|tin| members(Diffserv::Diffserv3, tin)), [vec![1, 8], vec![4, 44, 46, 48, 56]]);
    // TOS4, CS2, AF2x, CS3, AF3x, AF4x; CS4, CS5, VA, EF, CS6, CS7.
    assert_eq!(members(Diffserv::Diffserv4, 1), [1, 8]);
    assert_eq!(members(Diffserv::Diffserv4, 2), [4, 16, 18, 20, 22, 24, 26, 28, 30, 34, 36, 38]);
    assert_eq!(members(Diffserv::Diffserv4, 3), [32, 40, 44, 46, 48, 56]);
    assert_eq!([0, 5, 7].map(|tin| members(Diffserv::Diffserv8, tin)), [vec![1], vec![16], vec![48, 56]]);
    assert_eq!(members(Diffserv::Diffserv8, 1), [2, 8, 10, 12, 14]);
    assert_eq!(members(Diffserv::Diffserv8, 3), [24, 26, 28, 30, 34, 36, 38]);
    assert_eq!([4, 6].map(|tin| members(Diffserv::Diffserv8, tin)), [vec![4, 18, 20, 22], vec![32, 40, 44, 46]]);
}

#[test]
fn packets_leave_one_by_one_at_the_rate() {
    // 8 Mbit/s: 1000 ns a byte. Three packets of 500 B at 1000 ns, one later.
    let mut bench = Bench::new("rate = \"8 Mbps\"\ndiffserv = \"besteffort\"");
    for _ in 0..3 {
        bench.put(1_000, 1, BE, 500);
    }
    assert!(bench.take(1_000).is_some());
    assert_eq!((bench.take(1_000), bench.ready()), (None, 501_000));
    assert!(bench.take(500_999).is_none() && bench.take(501_000).is_some());
    // What comes late to the gate finds it where it would have been: 1001, not 1100 + 500.
    assert!(bench.take(1_100_000).is_some());
    assert_eq!((bench.take(1_100_000), bench.ready()), (None, u64::MAX / 1000));
    bench.put(1_300_000, 1, BE, 500);
    assert_eq!((bench.take(1_300_000), bench.ready()), (None, 1_501_000));
    // Empty and late it begins anew.
    assert!(bench.take(1_501_000).is_some());
    bench.put(3_000_000, 1, BE, 500);
    assert!(bench.take(3_000_000).is_some());
    assert_eq!(bench.tins.gate.opens(), 3_500_000);
}

#[test]
fn a_tin_within_its_rate_goes_first_and_past_it_the_one_that_is_due_first() {
    // 8 Mbit/s: a packet of 1000 B takes 1 ms; in voice, a quarter of the rate, 4 ms. All come at 0; voice is the last in
    // the list of those within their rates. It goes at 0 and is due at 4 ms; best effort at 1, 2, 3 ms, due at 1 + 1 = 2,
    // 2 + 1 = 3, 4; at 4 both are within, and voice goes. And so on.
    let mut bench = Bench::new("rate = \"8 Mbps\"");
    for _ in 0..6 {
        bench.put(0, 1, BE, 1000);
    }
    for _ in 0..2 {
        bench.put(0, 2, EF, 1000);
    }
    assert_eq!(bench.order(0), (vec![2, 0, 0, 0, 2, 0, 0, 0], 7_000_000));
}

#[test]
fn a_tin_past_its_rate_has_what_others_leave() {
    // Bulk alone has the whole rate.
    let mut bench = Bench::new("rate = \"8 Mbps\"");
    for _ in 0..5 {
        bench.put(0, 1, CS1, 1000);
    }
    assert_eq!(bench.order(0), (vec![1; 5], 4_000_000));
}

#[test]
fn without_a_rate_tins_take_turns_by_bytes() {
    // 1024 B a round for best effort, 64 for bulk: one packet of bulk for 16 of best effort, in the long run.
    let mut bench = Bench::new("");
    for _ in 0..400 {
        bench.put(0, 1, BE, 1000);
        bench.put(0, 2, CS1, 1000);
    }
    let order: Vec<usize> = (0..340).filter_map(|_| bench.take(0)).map(|i| i / QUEUES).collect();
    let bulk = order.iter().filter(|tin| **tin == 1).count();
    assert!(bulk.abs_diff(20) <= 1, "{bulk}");
    assert!(bench.tins.gate.opens() == 0);
}

#[test]
fn a_drop_of_the_law_is_followed_by_the_same_flow_and_costs_nothing() {
    let mut bench = Bench::new("rate = \"8 Mbps\"\ndiffserv = \"besteffort\"");
    let first = bench.put(0, 1, BE, 1000);
    bench.put(0, 1, BE, 1000);
    bench.put(0, 2, BE, 1000);
    assert_eq!(bench.tins.next(&|_| None, at(0)), Some(first));
    bench.queues[first].pop_front();
    bench.tins.lost(first, 1000, at(0));
    assert_eq!((bench.take(0), bench.tins.gate.opens()), (Some(first), 1_000_000));
    assert_eq!(bench.tins.among(0), Some(0));
}

#[test]
fn at_ingress_a_drop_of_the_law_costs_its_time_and_the_next_flow_may_go() {
    let mut bench = Bench::new("rate = \"8 Mbps\"\ndiffserv = \"besteffort\"\ningress = true");
    let first = bench.put(0, 1, BE, 400);
    bench.put(0, 1, BE, 400);
    let second = bench.put(0, 2, BE, 400);
    // The flow has a quantum of 300 B, so that a drop of 400 B takes its turn.
    assert_eq!(bench.tins.next(&|_| None, at(0)), Some(first));
    bench.queues[first].pop_front();
    bench.tins.lost(first, 400, at(0));
    assert_eq!(bench.take(0), Some(second));
    // 800 µs for both; the packet that left alone would keep the gate closed for 600.
    assert_eq!(bench.tins.gate.opens(), 600_000);
    assert_eq!(bench.tins.among(first), Some(1));
}

#[test]
fn what_is_dropped_to_make_room_costs_time_at_ingress_only() {
    let opens = |keys: &str| {
        let mut bench = Bench::new(&format!("rate = \"8 Mbps\"\ndiffserv = \"besteffort\"\noverhead = 10\n{keys}"));
        let i = bench.put(0, 1, BE, 490);
        for _ in 0..3 {
            bench.put(0, 1, BE, 490);
        }
        bench.take(0);
        bench.queues[i].pop_front();
        bench.tins.shed(i, Tally { packets: 1, bytes: 490 }, at(0));
        (bench.tins.gate.opens(), bench.tins.packets)
    };
    assert_eq!((opens(""), opens("ingress = true")), ((500_000, 2), (750_000, 2)));
}

#[test]
fn hashes_are_salted() {
    let place = |salt: &str, flow| {
        let bench = Bench::new(&format!("diffserv = \"besteffort\"\n{salt}"));
        bench.tins.place(&Header { flow, hosts: (1, 2), dscp: BE }).unwrap()
    };
    assert_eq!(place("salt = 3", 1), place("salt = 3", 1));
    assert!((1..9).any(|flow| place("salt = 3", flow) != place("salt = 4", flow)));
}

proptest! {
    /// Every packet leaves, at the rate, and the flows of a tin in the order in which they came.
    #[test]
    fn everything_leaves_in_time(
        diffserv in 0usize..5,
        paced in any::<bool>(),
        packets in proptest::collection::vec((0u64..3, 0u8..64, 40u32..1500), 1..60),
    ) {
        let diffserv = ["besteffort", "precedence", "diffserv3", "diffserv4", "diffserv8"][diffserv];
        let rate = if paced { "rate = \"8 Mbps\"\n" } else { "" };
        let mut bench = Bench::new(&format!("{rate}diffserv = \"{diffserv}\""));
        for (flow, dscp, len) in &packets {
            bench.put(0, *flow, Dscp::from_bits(*dscp), *len);
        }
        let (order, end) = bench.order(0);
        prop_assert_eq!(order.len(), packets.len());
        let all: u64 = packets.iter().map(|(.., len)| u64::from(*len)).sum();
        prop_assert!(!paced || end < all * 1000 && all * 1000 - end <= 1_500_000);
    }
}
