//! Step marking, `pi`, `rem`, `blue`, `avq`, `choke`, `sfb`, `gred`, `gsp` and `policer`, as whole queues, against arithmetic done by hand.

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
    fn of(name: &str, keys: &str, limit: f64, ecn: bool) -> Bench {
        let params = Params::deserialize(name, toml::from_str::<toml::Table>(keys).unwrap()).unwrap();
        Bench::new(&Config::new(params, Common { ecn, ..Common::with_limit(Length::Packets(limit)) }))
    }
    /// So many packets of 1250 B, of which 1 Mbit/s takes 10 ms each. The number of the last.
    fn fill(&mut self, ms: u64, packets: u32, ecn: Ecn) -> u32 {
        (0..packets).map(|_| self.put_as(ms, 0, 1250, ecn, 0)).last().unwrap_or_default()
    }
    fn leave(&mut self, from: u64, to: u64) {
        for ms in (from..=to).step_by(10) {
            self.take(ms);
        }
    }
    fn marked(&self) -> Vec<u32> {
        self.diary.marked.iter().map(|(id, _)| *id).collect()
    }
    fn value(&mut self, name: &str, ms: u64) -> f64 {
        self.queue.observe(Self::at(ms));
        self.queue.value(name).unwrap()
    }
}

#[test]
fn a_step_in_packets_or_bytes_signals_what_finds_more() {
    let _reached = must_reach(["step.long_queue", "fifo.early_drop_on_arrival"]);
    for threshold in ["3 packets", "3750 B"] {
        let mut bench = Bench::of("step", &format!("threshold = \"{threshold}\""), 100.0, true);
        bench.fill(0, 6, Ecn::Ect0);
        // The fourth finds 3, the fifth 4.
        assert_eq!((bench.marked(), bench.dropped()), (vec![5, 6], vec![]));
        bench.fill(0, 1, Ecn::NotEct);
        assert_eq!(bench.diary.dropped, [(7, DropReason::Early)]);
        bench.leave(0, 30);
        bench.fill(30, 3, Ecn::Ect0);
        // 2 are left: they find 2, 3 and 4.
        assert_eq!(bench.marked(), [5, 6, 10]);
    }
}

#[test]
fn a_step_in_time_signals_what_waited_longer() {
    let _reached = must_reach(["step.long_sojourn", "fifo.early_drop_on_departure"]);
    let mut bench = Bench::of("step", "threshold = \"20 ms\"", 100.0, true);
    bench.fill(0, 5, Ecn::Ect0);
    bench.leave(0, 40);
    assert_eq!((bench.marked(), bench.dropped()), (vec![4, 5], vec![]));
    bench.fill(50, 2, Ecn::NotEct);
    assert!(bench.take(71).is_none());
    assert_eq!(bench.dropped(), [6, 7]);
}

#[test]
fn pi_follows_the_length_at_its_samples() {
    let keys = "q_ref = \"10 packets\"\na = 0.02\nb = 0.01\nfrequency = 100.0";
    let mut bench = Bench::of("pi", keys, 100.0, true);
    bench.fill(5, 30, Ecn::Ect0);
    // At 10 ms 0.02·(30 - 10) - 0.01·(0 - 10) = 0.5; at 20 ms 0.5 + 0.02·(30 - 10) - 0.01·(30 - 10) = 0.7.
    assert!((bench.value("signal_p", 10) - 0.5).abs() < 1e-12);
    assert!((bench.value("signal_p", 20) - 0.7).abs() < 1e-12);
    assert!(bench.marked().is_empty());
    bench.drain(21);
    // At 30 ms 0.7 - 0.2 - 0.2, and at 40 ms 0.3 - 0.2 + 0.1.
    assert!((bench.value("signal_p", 30) - 0.3).abs() < 1e-12);
    assert!((bench.value("signal_p", 40) - 0.2).abs() < 1e-12);
    // Two samples more take it to 0, where it stays.
    assert_eq!(bench.value("signal_p", 70), 0.0);
}

#[test]
fn rem_follows_what_comes_and_what_waits() {
    let keys =
        "target = \"4 packets\"\ngamma = 0.5\nalpha = 0.25\nphi = 2.0\ninterval = \"20 ms\"\nmean_packet = \"1250 B\"";
    let mut bench = Bench::of("rem", keys, 1000.0, true);
    bench.fill(5, 9, Ecn::Ect0);
    bench.take(5);
    // In 20 ms the link sends 2; 9 came and 8 wait: 0.5·(9 + 0.25·(8 - 4) - 2) = 4, and p = 1 - 2^-4.
    assert!((bench.value("signal_p", 20) - 0.9375).abs() < 1e-12);
    assert!(bench.marked().is_empty());
    let last = bench.fill(21, 100, Ecn::Ect0);
    // 93.75 of 100, with a standard deviation of 2.4; four of them.
    assert!((84..=100).contains(&bench.marked().len()) && bench.marked().iter().all(|&id| id > 9 && id <= last));
}

#[test]
fn blue_learns_from_overflows_and_from_idle_times() {
    let mut bench = Bench::of("blue", "increment = 0.5\ndecrement = 0.125\nfreeze_time = \"10 ms\"", 3.0, true);
    bench.fill(15, 3, Ecn::Ect0);
    // Two find no room, at the same time. (The idle link changed p, which was 0, at 10 ms.)
    bench.fill(25, 2, Ecn::Ect0);
    assert_eq!((bench.value("signal_p", 25), bench.dropped()), (0.5, vec![4, 5]));
    bench.leave(30, 50);
    // The last left at 50 ms, and the link is idle from 60 ms on: at 60, 70 and 80 ms.
    bench.fill(85, 1, Ecn::NotEct);
    assert_eq!(bench.value("signal_p", 85), 0.125);
}

#[test]
fn avq_signals_what_a_slower_link_would_drop() {
    let keys = "initial = 0.5\nalpha = 1e-9\nbuffer = \"5100 B\"";
    let mut bench = Bench::of("avq", keys, 100.0, true);
    // The virtual link takes 20 ms for a packet: of a packet each 10 ms it takes half.
    for i in 0..20 {
        bench.fill(10 * i, 1, Ecn::Ect0);
        bench.take(10 * i);
    }
    // The virtual queue has 1, 1.5, 2 ... 4 packets after the seventh; the eighth would make it 4.5, 5625 B; then every other.
    assert_eq!((bench.marked(), bench.dropped()), (vec![8, 10, 12, 14, 16, 18, 20], vec![]));
    assert!((bench.value("avq_capacity_bps", 200) - 500_000.0).abs() < 1.0);
}

#[test]
fn choke_drops_two_of_one_flow() {
    let _reached = must_reach(["choke.compare", "choke.unlike", "fifo.pair_dropped"]);
    let keys = "min_th = \"2 packets\"\nmax_th = \"9 packets\"\nmax_p = 0.000001\nweight = 1.0";
    let mut bench = Bench::of("choke", keys, 100.0, true);
    let put = |bench: &mut Bench, flow: u64| bench.put_as(0, flow, 1250, Ecn::Ect0, 0);
    // The third finds 2, all of its flow.
    (0..3).for_each(|_| {
        put(&mut bench, 1);
    });
    let dropped = bench.dropped();
    assert!(dropped.len() == 2 && dropped[0] < 3 && dropped[1] == 3, "{dropped:?}");
    assert!(bench.diary.dropped.iter().all(|(_, why)| *why == DropReason::Forced));
    // Others of other flows: RED's probability is next to nothing.
    (2..5).for_each(|flow| {
        put(&mut bench, flow);
    });
    assert_eq!((bench.dropped().len(), bench.marked()), (2, vec![]));
    let left: Vec<u64> = bench.drain(0).iter().map(|packet| packet.flow).collect();
    assert_eq!(left, [1, 2, 3, 4]);
}

#[test]
fn choke_drops_a_flow_as_often_as_its_share_of_the_queue() {
    let keys = "min_th = \"8 packets\"\nmax_th = \"99 packets\"\nmax_p = 0.000001\nweight = 1.0";
    let mut bench = Bench::of("choke", keys, 1000.0, true);
    let mut pairs = 0;
    for _ in 0..400 {
        // Six of flow 1 and two of flow 2; then one of flow 2.
        for flow in [1, 1, 2, 1, 1, 2, 1, 1] {
            bench.put_as(0, flow, 1250, Ecn::Ect0, 0);
        }
        let before = bench.dropped().len();
        bench.put_as(0, 2, 1250, Ecn::Ect0, 0);
        let now = bench.dropped().len() - before;
        assert!(now == 0 || now == 2);
        pairs += now / 2;
        bench.drain(0);
    }
    // A quarter of 400, with a standard deviation of 8.7; four of them.
    assert!((65..=135).contains(&pairs), "{pairs}");
}

#[test]
fn choke_has_nothing_to_draw_from_an_empty_queue() {
    let keys = "min_th = \"1 packets\"\nmax_th = \"3 packets\"\nweight = 0.5";
    let mut bench = Bench::of("choke", keys, 100.0, true);
    (0..20).for_each(|flow| {
        bench.put_as(0, flow, 1250, Ecn::Ect0, 0);
    });
    bench.drain(0);
    // The average is 18 and falls to 9, above max_th.
    let last = bench.put_as(0, 7, 1250, Ecn::Ect0, 0);
    assert_eq!((bench.marked().last(), bench.dropped()), (Some(&last), vec![]));
}

#[test]
fn choke_may_empty_a_queue_of_many() {
    let keys = "min_th = \"1 packets\"\nmax_th = \"5 packets\"\nweight = 1.0";
    let choke = Params::deserialize("choke", toml::from_str::<toml::Table>(keys).unwrap()).unwrap();
    let each = Config::new(choke, Common::with_limit(Length::Packets(9.0)));
    for rounds in ["drr", "drr++"] {
        let keys = format!("flows = 4\nsalt = 1\nrounds = \"{rounds}\"");
        let params = Params::deserialize("fq", toml::from_str::<toml::Table>(&keys).unwrap()).unwrap();
        let mut config = Config::new(params, Common::with_limit(Length::Packets(30.0)));
        config.classes.insert(
            "each".to_owned(),
            ecnlab_aqm::Class { member: ecnlab_aqm::Member::default(), queue: each.clone() },
        );
        let mut bench = Bench::new(&config);
        let mut left = 0;
        for t in 0..500 {
            // Of one flow the second goes with the first.
            for flow in [t % 7, t % 3, t % 3] {
                bench.put_as(t, flow, 125, Ecn::NotEct, 0);
            }
            left += u64::from(bench.take(t).is_some());
        }
        let dropped = bench.dropped().len() as u64;
        assert_eq!(left + dropped + bench.drain(500).len() as u64, 1500);
        assert!(left > 300 && dropped > 300, "{left} {dropped}");
    }
}

#[test]
fn sfb_has_bins_for_each_flow() {
    let keys = "bin_size = 2\nmax = 4\nincrement = 0.001";
    let mut bench = Bench::of("sfb", keys, 100.0, true);
    (0..8).for_each(|_| {
        bench.put_as(0, 1, 1250, Ecn::Ect0, 0);
    });
    bench.put_as(0, 2, 1250, Ecn::Ect0, 0);
    // Four fill the bins of flow 1, and four more are dropped.
    assert!(bench.diary.dropped.iter().all(|(_, why)| *why == DropReason::Early));
    assert_eq!(bench.dropped(), [5, 6, 7, 8]);
    let left: Vec<u64> = bench.drain(0).iter().map(|packet| packet.flow).collect();
    assert_eq!(left, [1, 1, 1, 1, 2]);
    bench.put_as(0, 1, 1250, Ecn::Ect0, 0);
    assert_eq!(bench.dropped().len(), 4);
}

#[test]
fn a_full_sfb_drops_what_arrives() {
    let mut bench = Bench::of("sfb", "", 3.0, true);
    bench.fill(0, 5, Ecn::Ect0);
    assert_eq!(bench.diary.dropped, [(4, DropReason::Tail), (5, DropReason::Tail)]);
}

#[test]
fn gred_classifies_packets_by_their_dscp() {
    // AF11 is 10.
    let keys = "weight = 1.0\naverage = \"rio\"\n[virtual.in]\ndscp = [10]\nmin_th = \"6 packets\"\nmax_th = \"7 packets\"\n\
                [virtual.out]\nmin_th = \"2 packets\"\nmax_th = \"3 packets\"\nprio = 1";
    let mut bench = Bench::of("gred", keys, 100.0, true);
    // Three in profile; one out of profile finds 3 in all, and a fourth in profile 3 of its own.
    let comes = |(ms, dscp)| bench.put_as(ms, 0, 1250, Ecn::Ect0, dscp);
    let ids: Vec<u32> = [(1, 10), (2, 10), (3, 10), (4, 0), (5, 10), (6, 46)].map(comes).into();
    assert_eq!((bench.marked(), bench.dropped()), (vec![ids[3], ids[5]], vec![]));
    // One FIFO.
    let left: Vec<u32> = bench.drain(6).iter().map(|packet| packet.id).collect();
    assert_eq!(left, ids);
}

#[test]
fn gsp_signals_once_in_an_interval() {
    let keys = "threshold = \"3 packets\"\ninterval = \"20 ms\"\nadaptive = false";
    let mut bench = Bench::of("gsp", keys, 100.0, false);
    bench.fill(1, 8, Ecn::NotEct);
    // The fifth finds 4. At 22 ms the next: the interval is over after 21 ms.
    assert_eq!(bench.diary.dropped, [(5, DropReason::Early)]);
    bench.fill(21, 2, Ecn::NotEct);
    bench.fill(22, 2, Ecn::NotEct);
    assert_eq!(bench.dropped(), [5, 11]);
}

#[test]
fn a_policer_drops_what_exceeds_rate_and_burst_and_its_fifo_drops_what_finds_no_room() {
    let _reached = must_reach(["policer.exceed"]);
    // The bucket holds 4 packets of 1250 B and fills at half the link's 1 Mbit/s, a packet each 20 ms; the FIFO holds 3.
    let mut bench = Bench::of("policer", "rate = \"500 kbps\"\nburst = \"5000 B\"", 3.0, false);
    bench.fill(0, 6, Ecn::Ect0);
    assert_eq!(bench.diary.dropped, [(4, DropReason::Tail), (5, DropReason::Early), (6, DropReason::Early)]);
    // The fourth packet took its tokens although it found no room, as in Linux, where the action precedes the discipline.
    bench.leave(0, 20);
    bench.fill(20, 2, Ecn::NotEct);
    assert_eq!((bench.dropped(), bench.marked()), (vec![4, 5, 6, 8], vec![]));
    assert_eq!(bench.take(20).map(|packet| packet.id), Some(7));
}
