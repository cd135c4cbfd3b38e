//! `cake` and `cobalt`, against arithmetic done by hand. Packets of 125 B take 1 ms on the link; times are in ms.

use crate::bench;

use ecnlab_aqm::registry::Params;
use ecnlab_aqm::replay::{Arrival, replay};
use ecnlab_aqm::{Class, Common, Config, DropReason, Full, LinkContext, MarkReason, Member, cake, classes, cobalt};
use ecnlab_base::coverage::must_reach;
use ecnlab_base::{Dur, Length, Rate, Rng, Time};
use ecnlab_wire::{Dscp, Ecn};

struct Here;

type Bench = bench::Bench<1000, Here>;

const BE: u8 = 0;
const CS1: u8 = 8;
const EF: u8 = 46;

fn config(keys: &str) -> Config {
    let params: cake::Params = toml::from_str(&format!("salt = 7\n{keys}")).unwrap();
    let common = Common { full: Full::Fattest, ecn: true, ..Common::with_limit(Length::Packets(1e6)) };
    Config::new(Params::Cake(params), common)
}

impl Bench {
    fn cake(keys: &str) -> Bench {
        Bench::new(&config(keys))
    }
    fn put(&mut self, ms: u64, flow: u64, len: u32, ecn: Ecn) -> u32 {
        self.put_as(ms, flow, len, ecn, BE)
    }
    fn fill(&mut self, packets: u32, flow: u64, len: u32, ecn: Ecn) {
        for _ in 0..packets {
            self.put(0, flow, len, ecn);
        }
    }
    fn ids(&mut self, times: &[u64]) -> Vec<u32> {
        times.iter().filter_map(|ms| self.take(*ms)).map(|packet| packet.id).collect()
    }
}

#[test]
fn flows_take_turns_and_a_sparse_one_does_not_wait() {
    // Quantum 1514, less a byte now and then. Flow 1: 1514, 514, -486, and is old.
    let mut bench = Bench::cake("");
    bench.fill(4, 1, 1000, Ecn::NotEct);
    assert_eq!(bench.ids(&[0, 0]), [1, 2]);
    let sparse = bench.put(1, 2, 100, Ecn::NotEct);
    assert_eq!(bench.ids(&[1, 1, 1]), [sparse, 3, 4]);
}

#[test]
fn a_flow_never_used_is_signalled_at_its_second_packet_above_the_target() {
    // At 10 ms the first is above 5 ms; at 11 ms the second is signalled, and then none up to 11 + 70.7 ms.
    let mut bench = Bench::cake("");
    bench.fill(5, 1, 125, Ecn::Ect0);
    assert_eq!(bench.ids(&[10, 11, 12, 13, 14]), [1, 2, 3, 4, 5]);
    assert_eq!(bench.diary.marked, [(2, MarkReason::Law)]);
    // What cannot be marked is dropped, and the next packet leaves. Flow 2 has a COBALT of its own.
    let mut bench = Bench::cake("");
    bench.fill(3, 1, 125, Ecn::NotEct);
    bench.put(0, 2, 125, Ecn::NotEct);
    assert_eq!(bench.ids(&[10, 11, 12]), [1, 3, 4]);
    assert_eq!(bench.diary.dropped, [(2, DropReason::Early)]);
    // The last packet of a flow is spared.
    let mut bench = Bench::cake("");
    bench.fill(2, 1, 125, Ecn::NotEct);
    assert_eq!((bench.ids(&[10, 11]), bench.dropped()), (vec![1, 2], vec![]));
}

#[test]
fn the_longest_queue_gives_way_at_its_head_and_is_signalled() {
    // 1000 B take 1576 B of memory: 5 are 7880 B, 6 are 9456 B.
    let mut bench = Bench::cake("memory = \"9 kB\"");
    bench.fill(4, 1, 1000, Ecn::Ect0);
    bench.fill(2, 2, 1000, Ecn::Ect0);
    assert_eq!(bench.diary.dropped, [(1, DropReason::Tail)]);
    // The queue that was full is signalled at its first packet that is above; the other at the second.
    assert_eq!(bench.ids(&[10, 11, 12, 13, 14]), [2, 3, 5, 6, 4]);
    assert_eq!(bench.diary.marked.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [2, 6]);
}

#[test]
fn of_several_tins_the_longest_queue_gives_way() {
    // Bulk has more bytes, but best effort the longest queue.
    let mut bench = Bench::cake("memory = \"20 kB\"");
    for flow in 1..=6 {
        bench.put_as(0, flow, 1000, Ecn::NotEct, CS1);
    }
    for _ in 0..7 {
        bench.put_as(0, 9, 1000, Ecn::NotEct, BE);
    }
    assert_eq!(bench.dropped(), [7]);
}

fn packets(n: u64, len: u32, dscp: u8) -> Vec<Arrival> {
    let arrival = |i: u64| Arrival {
        at: Time::ZERO + Dur::from_us(10 * i),
        len,
        ecn: Ecn::NotEct,
        dscp: Dscp::from_bits(dscp),
        group: 0,
        flow: i,
    };
    (0..n).map(arrival).collect()
}

/// When packets leave a link of 10 Mbit/s, in µs.
fn leaves(keys: &str, arrivals: &[Arrival]) -> Vec<u64> {
    let link = LinkContext { rate: Rate::from_bps(10_000_000), delay: Dur::ZERO };
    let config = config(keys);
    assert_eq!((config.check(), config.check_before(link.rate)), (Ok(()), Ok(())));
    let fates = replay(&config, link, &["all".to_owned()], Rng::named(1, "cake"), arrivals);
    fates.iter().filter_map(|fate| fate.left).map(|left| left.ns() / 1000).collect()
}

#[test]
fn the_virtual_clock_has_no_burst() {
    // 8 Mbit/s: 1000 B take 1 ms. Each packet of a flow of its own; the first leaves as it comes.
    let at = leaves("rate = \"8 Mbps\"\ndiffserv = \"besteffort\"", &packets(4, 1000, BE));
    assert_eq!(at, [0, 1000, 2000, 3000]);
    // Without a rate the link's: 800 µs.
    assert_eq!(leaves("diffserv = \"besteffort\"", &packets(4, 1000, BE)), [0, 800, 1600, 2400]);
    // With 38 B more each, 1038 µs; in cells, 22 of 53 B for 1038 B, 1166 µs; PTM: 1016 B, 1016 µs.
    let keys = "rate = \"8 Mbps\"\ndiffserv = \"besteffort\"\n";
    assert_eq!(leaves(&format!("{keys}overhead = 38"), &packets(3, 1000, BE)), [0, 1038, 2076]);
    assert_eq!(leaves(&format!("{keys}overhead = 38\nframing = \"atm\""), &packets(3, 1000, BE)), [0, 1166, 2332]);
    assert_eq!(leaves(&format!("{keys}framing = \"ptm\""), &packets(3, 1000, BE)), [0, 1016, 2032]);
    assert_eq!(leaves(&format!("{keys}mpu = 100"), &packets(3, 50, BE)), [0, 100, 200]);
}

#[test]
fn voice_goes_before_the_rest_up_to_its_rate_and_each_tin_has_a_row() {
    let mut bench = Bench::cake("rate = \"800 kbps\"");
    // 100 B/ms. Voice, 25 B/ms: a packet of 100 B is 1 ms of the whole and 4 ms of voice.
    for _ in 0..3 {
        bench.put_as(0, 1, 100, Ecn::NotEct, BE);
    }
    let voice = bench.put_as(0, 2, 100, Ecn::NotEct, EF);
    let second = bench.put_as(0, 2, 100, Ecn::NotEct, EF);
    assert_eq!(bench.ids(&[0, 1, 2, 3]), [voice, 1, 2, 3]);
    assert_eq!(bench.take(3), None);
    assert_eq!(bench.queue.ready(), Bench::at(4));
    let samples: Vec<u64> = bench.queue.class_samples(&[]).iter().map(|sample| sample.held.packets).collect();
    assert_eq!(samples, [1, 0, 0, 1]);
    assert_eq!(bench.ids(&[4]), [second]);
    assert_eq!(bench.queue.class_names(), ["all", "best-effort", "bulk", "voice"]);
    let whole = bench.queue.cut_stats(Bench::at(5));
    let rows = bench.queue.cut_classes(&whole);
    let departed: Vec<u64> = rows.iter().map(|row| row.counts.all().departed.packets).collect();
    assert_eq!(departed, [5, 3, 0, 2]);
    // Best effort: 1, 2, 3 ms; voice: 0 and 4 ms. Of its packets one waits for 4 of 5 ms, and all three 1 ms.
    let sojourn: Vec<f64> = rows.iter().map(|row| 1e3 * row.stats.sojourn_mean_s()).collect();
    assert!((sojourn[0] - 2.0).abs() < 1e-9 && (sojourn[1] - 2.0).abs() < 1e-9 && (sojourn[3] - 2.0).abs() < 1e-9);
    assert!((rows[3].stats.mean_packets() - 0.8).abs() < 1e-9 && (rows[1].stats.mean_packets() - 1.2).abs() < 1e-9);
}

#[test]
fn hosts_share_alike_however_many_flows_they_have() {
    // Source 1 has four flows, source 2 one; all have packets all the time.
    let served = |keys: &str| {
        let mut bench = Bench::cake(keys);
        for _ in 0..200 {
            for flow in [1000, 1001, 1002, 1003, 2000] {
                bench.put(0, flow, 1000, Ecn::Ect0);
            }
        }
        (0..200).filter_map(|_| bench.take(0)).filter(|packet| packet.flow == 2000).count()
    };
    // A half, or a fifth; a round more or less.
    for mode in ["dual-srchost", "srchost"] {
        assert!(served(&format!("isolation = \"{mode}\"")).abs_diff(100) < 5, "{mode}");
    }
    // All have one destination, which has more flows than any source.
    for mode in ["flows", "dual-dsthost", "triple-isolate"] {
        assert!(served(&format!("isolation = \"{mode}\"")).abs_diff(40) < 5, "{mode}");
    }
    // In the order in which they came.
    assert_eq!(served("isolation = \"flowblind\""), 40);
}

#[test]
fn flowblind_is_one_fifo() {
    let mut bench = Bench::cake("isolation = \"flowblind\"");
    for flow in 0..9 {
        bench.put(0, flow, 1400, Ecn::NotEct);
    }
    let ids: Vec<u32> = bench.drain(0).iter().map(|packet| packet.id).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn at_ingress_what_cobalt_drops_has_taken_its_time() {
    // 20 kbit/s: 125 B take 50 ms, and 1514 B 605.6; above are sojourns of more than four times that, 2422.4 ms. The 50th
    // packet, at 2450 ms, is the first of them; at 2500 ms the 51st is dropped, and the 52nd leaves.
    let ready = |keys: &str| {
        let mut bench = Bench::cake(&format!("rate = \"20 kbps\"\ndiffserv = \"besteffort\"\n{keys}"));
        bench.fill(60, 1, 125, Ecn::NotEct);
        let times: Vec<u64> = (0..=50).map(|k| 50 * k).collect();
        let ids = bench.ids(&times);
        assert_eq!((ids[49..].to_vec(), bench.dropped()), (vec![50, 52], vec![51]));
        assert_eq!(bench.take(2501), None);
        bench.queue.ready()
    };
    assert_eq!((ready(""), ready("ingress = true")), (Bench::at(2550), Bench::at(2600)));
}

#[test]
fn within_other_queues_it_loses_packets_and_is_peeked_at() {
    // Six packets fit; the seventh makes the fattest class lose half its bytes, four packets at once, of the longest queue.
    let class = |queue| Class { member: Member::default(), queue };
    let schedule = classes::Params { schedule: classes::Schedule::Drr, tshift: None, memory: None, drop_batch: 64 };
    let common = Common { full: Full::Fattest, ..Common::with_limit(Length::Packets(6.0)) };
    let mut outer = Config::new(Params::Classes(schedule), common);
    outer.classes.insert("home".to_owned(), class(config("ingress = true")));
    let mut bench = Bench::new(&outer);
    bench.fill(7, 1, 1000, Ecn::Ect0);
    assert_eq!(bench.dropped(), [1, 2, 3, 4]);
    assert_eq!(bench.drain(0).len(), 3);
    // A token bucket of 8 kbit/s around it, with room for one packet of 1000 B.
    let tbf = Params::Tbf(toml::from_str("rate = \"8 kbps\"\nburst = \"1 kB\"").unwrap());
    let mut outer = Config::new(tbf, Common::with_limit(Length::Packets(99.0)));
    outer.classes.insert("inner".to_owned(), class(config("")));
    let mut bench = Bench::new(&outer);
    bench.fill(5, 1, 1000, Ecn::NotEct);
    assert_eq!(bench.ids(&[0]), [1]);
    // At 999 ms the second is above the target and let go, and waits for its tokens. At 2000 ms signals are due at 999 and 1070
    // ms: the third and the fourth are dropped, and the fifth is the last.
    assert_eq!((bench.take(999), bench.queue.ready()), (None, Bench::at(1000)));
    assert_eq!((bench.ids(&[1000, 2000, 3000]), bench.dropped()), (vec![2, 5], vec![3, 4]));
}

#[test]
fn cobalt_over_one_fifo_signals_spares_the_last_and_drops_at_random_when_it_was_full() {
    let _reached = must_reach(["fifo.forced_drop_on_departure"]);
    let params = cobalt::Params { p_inc: 1.0, ..cobalt::Params::default() };
    let common = Common { ecn: true, ..Common::with_limit(Length::Packets(4.0)) };
    let mut bench = Bench::new(&Config::new(Params::Cobalt(params), common));
    bench.fill(4, 1, 125, Ecn::Ect0);
    assert_eq!(bench.ids(&[10, 11]), [1, 2]);
    assert_eq!(bench.diary.marked, [(2, MarkReason::Law)]);
    // Full: the arrival is dropped, and BLUE drops all but the last.
    for _ in 0..3 {
        bench.put(12, 1, 125, Ecn::Ect0);
    }
    assert_eq!(bench.diary.dropped, [(7, DropReason::Tail)]);
    assert_eq!(bench.queue.value("cobalt_p"), Some(4_294_967_295.0 / 4_294_967_296.0));
    assert_eq!(bench.ids(&[13]), [6]);
    assert_eq!(bench.diary.dropped[1..], [3, 4, 5].map(|id| (id, DropReason::Forced)));
}
