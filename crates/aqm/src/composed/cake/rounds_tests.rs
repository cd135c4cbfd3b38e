//! Rounds of flows, with arithmetic done by hand.

use super::super::Isolation;
use super::*;

struct Bench {
    rounds: Rounds,
    rng: Rng,
    may_decay: bool,
}

impl Bench {
    /// With a quantum of 1000 B.
    fn new(isolation: Isolation) -> Bench {
        Bench { rounds: Rounds::new(1000, Apart::of(isolation)), rng: Rng::named(1, "rounds"), may_decay: true }
    }
    /// A packet of the flow with this hash, between these hosts, comes. The place of its queue.
    fn put(&mut self, hash: u32, hosts: [u32; 2]) -> usize {
        let i = self.rounds.claim(Some(hash), || hosts);
        self.rounds.arrived(i, &mut self.rng);
        i
    }
    /// Packets of flows that differ only in their hashes.
    fn fill(&mut self, hash: u32, packets: u32) {
        (0..packets).for_each(|_| assert_eq!(self.put(hash, [0; 2]), hash as usize));
    }
    /// The flow that gives its next packet, of so many bytes; empty ones before it are at rest or not.
    fn serve(&mut self, bytes: u64, at_rest: bool) -> usize {
        loop {
            let i = self.rounds.next(&mut self.may_decay, &mut self.rng).unwrap();
            if self.rounds.flows[i].packets > 0 {
                self.rounds.took(i);
                self.rounds.charge(i, bytes);
                self.may_decay = true;
                return i;
            }
            self.rounds.found_empty(i, at_rest);
        }
    }
    fn serve_all(&mut self, n: usize, bytes: u64) -> Vec<usize> {
        (0..n).map(|_| self.serve(bytes, true)).collect()
    }
}

#[test]
fn flows_take_turns_by_bytes_and_new_ones_go_first() {
    // Packets of 600 B, quanta of 999 or 1000. Flow 1: 1000, 400, -200 and it is bulk with 800. Flow 2, new: likewise. Flow
    // 1: 800, 200, -400. Flow 2 likewise.
    let mut bench = Bench::new(Isolation::Flows);
    bench.fill(1, 4);
    bench.fill(2, 4);
    assert_eq!(bench.serve_all(8, 600), [1, 1, 2, 2, 1, 1, 2, 2]);
}

#[test]
fn a_sparse_flow_overtakes_and_waits_in_the_rounds_when_its_quantum_is_used_up() {
    let mut bench = Bench::new(Isolation::Flows);
    // Flow 1 has 1000 - 1500 + 1000 - 100 = 400 B left, or a byte or two less, and is bulk.
    bench.fill(1, 9);
    assert_eq!([bench.serve(1500, true), bench.serve(100, true)], [1, 1]);
    bench.fill(2, 1);
    assert_eq!((bench.rounds.sparse, bench.rounds.bulk), (1, 1));
    assert_eq!(bench.serve(1000, true), 2);
    // Flow 2 is empty, and has nothing left: it gets a quantum behind flow 1, and counts as sparse.
    assert_eq!((bench.serve(100, true), bench.rounds.flows[2].kind), (1, Kind::Waiting));
    assert_eq!((bench.rounds.sparse, bench.rounds.bulk), (1, 1));
    // A packet that comes then makes it bulk.
    bench.fill(2, 1);
    assert_eq!((bench.rounds.sparse, bench.rounds.bulk), (0, 2));
    assert_eq!(bench.serve_all(2, 1000), [1, 2]);
}

#[test]
fn a_flow_that_is_empty_when_its_turn_comes_leaves() {
    let mut bench = Bench::new(Isolation::Flows);
    bench.fill(1, 9);
    bench.fill(2, 1);
    assert_eq!(bench.serve_all(2, 2000), [1, 2]);
    // Both are 1000 B in debt. Flow 2 waits while flow 1 has 1000 - 100 and then 900 - 1000 B.
    assert_eq!([bench.serve(100, true), bench.serve(1000, true)], [1, 1]);
    assert_eq!(bench.rounds.flows[2].kind, Kind::Waiting);
    assert_eq!((bench.serve(100, true), bench.rounds.flows[2].kind), (1, Kind::Out));
    assert_eq!((bench.rounds.sparse, bench.rounds.bulk), (0, 1));
}

#[test]
fn an_empty_flow_whose_law_is_not_at_rest_decays_and_is_polled_once_for_each_packet() {
    let mut bench = Bench::new(Isolation::Flows);
    bench.fill(1, 9);
    bench.fill(2, 1);
    bench.fill(3, 1);
    bench.serve_all(2, 2000);
    // Flow 3 goes; then flow 1 comes to its turn while 2 and 3 are found empty.
    assert_eq!(bench.serve(2000, false), 3);
    while bench.rounds.flows[2].kind != Kind::Decaying || bench.rounds.flows[3].kind != Kind::Decaying {
        assert_eq!(bench.serve(2000, false), 1);
    }
    assert_eq!((bench.rounds.sparse, bench.rounds.bulk), (0, 1));
    // One decaying flow is polled, and no other before the packet leaves.
    assert_eq!(bench.rounds.next(&mut bench.may_decay, &mut bench.rng), Some(2));
    bench.rounds.found_empty(2, false);
    assert_eq!(bench.rounds.next(&mut bench.may_decay, &mut bench.rng), Some(1));
    // The next time it is the other's turn; at rest it is out.
    bench.may_decay = true;
    assert_eq!(bench.rounds.next(&mut bench.may_decay, &mut bench.rng), Some(3));
    bench.rounds.found_empty(3, true);
    assert_eq!(bench.rounds.flows[3].kind, Kind::Out);
    // A packet makes a decaying flow new.
    bench.fill(2, 1);
    assert_eq!((bench.rounds.flows[2].kind, bench.serve(100, true)), (Kind::Sparse, 2));
}

#[test]
fn a_flow_may_leave_the_middle_of_a_list() {
    let mut bench = Bench::new(Isolation::Flows);
    for i in 1..=4 {
        bench.fill(i, 1);
    }
    bench.rounds.unlink(2);
    bench.rounds.put_last(3, List::New);
    let order = |rounds: &Rounds| {
        let first = rounds.lists[List::New as usize];
        let walk = |next: fn(&Flow) -> u16| -> Vec<u16> {
            let next = |i: &u16| Some(next(&rounds.flows[usize::from(*i)])).filter(|i| *i != first);
            std::iter::successors(Some(first), next).collect()
        };
        [walk(|flow| flow.behind), walk(|flow| flow.before)]
    };
    assert_eq!(order(&bench.rounds), [[1, 4, 3], [1, 3, 4]]);
    bench.rounds.put_last(1, List::New);
    assert_eq!(order(&bench.rounds), [[4, 3, 1], [4, 1, 3]]);
    bench.rounds.unlink(3);
    bench.rounds.unlink(1);
    bench.rounds.put_last(4, List::New);
    assert_eq!(order(&bench.rounds), [[4], [4]]);
    bench.rounds.unlink(4);
    assert_eq!(bench.rounds.lists, [NONE; 3]);
}

#[test]
fn nothing_is_next_where_nothing_is_listed() {
    let mut bench = Bench::new(Isolation::Flows);
    assert_eq!(bench.rounds.next(&mut bench.may_decay, &mut bench.rng), None);
    assert!(!bench.rounds.is_active());
}

#[test]
fn the_flows_of_a_host_share_a_quantum() {
    let mut bench = Bench::new(Isolation::DualSrchost);
    // Source 50 has three flows, source 60 one. A share is 1000·(65535/n)/65536, and up to one more by chance.
    for hash in [1, 2, 3] {
        bench.put(hash, [50, 0]);
    }
    bench.put(4, [60, 0]);
    let load = |bench: &Bench, i: usize| bench.rounds.hosts.load(bench.rounds.flows[i].hosts);
    // Sparse flows do not count.
    assert_eq!([1, 4].map(|i| load(&bench, i)), [1, 1]);
    for i in 1..=4 {
        bench.rounds.count_as(i, Kind::Bulk);
    }
    assert_eq!([1, 2, 3, 4].map(|i| load(&bench, i)), [3, 3, 3, 1]);
    let mut shares = |i| {
        let all: Vec<i64> = (0..4000).map(|_| bench.rounds.share(i, &mut bench.rng)).collect();
        (*all.iter().min().unwrap(), *all.iter().max().unwrap(), all.iter().sum::<i64>() as f64 / 4000.0)
    };
    // 1000·21845/65536 = 333.33, 1000·65535/65536 = 999.98.
    let (least, most, mean) = shares(1);
    assert_eq!((least, most), (333, 334));
    assert!((mean - 333.33).abs() < 0.04, "{mean}");
    assert_eq!((shares(4).1, shares(4).2 > 999.9), (1000, true));
}

#[test]
fn two_flows_of_one_host_have_what_one_of_another_has() {
    let mut bench = Bench::new(Isolation::DualSrchost);
    for _ in 0..400 {
        bench.put(1, [50, 0]);
        bench.put(2, [50, 0]);
        bench.put(3, [60, 0]);
    }
    let served = bench.serve_all(400, 500);
    let count = |flow| served.iter().filter(|i| **i == flow).count();
    let counts = [1, 2, 3].map(count);
    // A quarter each, and a half; a round more or less.
    assert!(counts[0].abs_diff(100) < 4 && counts[1].abs_diff(100) < 4 && counts[2].abs_diff(200) < 4, "{counts:?}");
}

#[test]
fn a_queue_that_another_flow_takes_over_counts_for_the_other_s_host() {
    let mut bench = Bench::new(Isolation::DualSrchost);
    // Eight flows of source 50 fill the set 0 to 7, all bulk; a ninth, of source 60, shares place 0.
    for hash in 0..8 {
        let i = bench.put(hash * 1024 + 7 * 1024, [50, 0]);
        bench.rounds.count_as(i, Kind::Bulk);
    }
    assert_eq!(bench.rounds.hosts.load([50, 0]), 8);
    assert_eq!(bench.put(99 * 1024, [60, 0]), 0);
    assert_eq!([50, 60].map(|host| bench.rounds.hosts.load([host, 0])), [7, 1]);
    // The flow that has it keeps it as it is.
    assert_eq!(bench.put(99 * 1024, [70, 0]), 0);
    assert_eq!([60, 70].map(|host| bench.rounds.hosts.load([host, 0])), [1, 1]);
}

#[test]
fn flowblind_is_one_queue() {
    let mut rounds = Rounds::new(1000, Apart::of(Isolation::Flowblind));
    assert_eq!((rounds.place(None), rounds.claim(None, || [1, 2])), (Place::Own(0), 0));
    assert_eq!(rounds.keys[0], 0);
}
