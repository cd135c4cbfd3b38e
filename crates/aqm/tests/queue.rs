//! What a queue does with a verdict, with a full buffer, and with time.

use crate::packet;

use ecnlab_aqm::red::{self, Above, Idle, Threshold, Weight};
use ecnlab_aqm::registry::Params;
use ecnlab_aqm::{
    Admit, Common, Config, DropReason, Forced, Full, Kind, LinkContext, MarkAt, MarkReason, Owed, Queue, Watch,
    droptail,
};
use ecnlab_base::coverage::must_reach;
use ecnlab_base::{Bytes, Dur, Length, Rate, Rng, Time};
use ecnlab_wire::{Dscp, Ecn, QuenchCause};
use packet::Packet;

/// A RED whose average is the queue that an arrival finds, with the thresholds of Akujobi et al. 2003 in packets:
/// 15, `thresh` and 45.
fn speaking(thresh: f64, change: impl FnOnce(&mut red::Params, &mut Common)) -> Bench {
    let at = |n| Threshold::At(Length::Packets(n));
    let becn = red::Becn { thresh: Length::Packets(thresh), quench_size: Bytes(40), delay: Dur::ZERO };
    let mut params =
        red::Params { weight: Weight::Of(1.0), max_p: 1.0, becn: Some(becn), ..red::Params::new(at(15.0), at(45.0)) };
    let mut common = Common { ecn: true, ..Common::with_limit(Length::Packets(90.0)) };
    change(&mut params, &mut common);
    Bench::new(Params::Red(params), common.limit, |c| *c = common)
}

/// What befell whom, in order, and the source quenches owed.
#[derive(Default)]
struct Diary(Vec<(&'static str, u32)>, Vec<Owed<Packet>>);

impl Watch<Packet> for Diary {
    fn enqueued(&mut self, packet: &Packet) {
        self.0.push(("in", packet.id));
    }
    fn marked(&mut self, packet: &Packet, _: MarkReason) {
        self.0.push(("mark", packet.id));
    }
    fn signalled_ce(&mut self, packet: &Packet) {
        self.0.push(("on ce", packet.id));
    }
    fn dropped(&mut self, packet: &Packet, why: DropReason) {
        let what = match why {
            DropReason::Early => "early",
            DropReason::Forced => "forced",
            DropReason::Tail => "tail",
        };
        self.0.push((what, packet.id));
    }
    fn dequeued(&mut self, packet: &Packet) {
        self.0.push(("out", packet.id));
    }
    fn quenched(&mut self, owed: &Owed<Packet>) {
        self.1.push(*owed);
    }
}

/// A queue under test on a link of 1 Mbit/s, on which 125 B take 1 ms; packets are numbered from 1.
struct Bench {
    queue: Queue<Packet>,
    diary: Diary,
    sent: u32,
}

impl Bench {
    fn new(params: Params, limit: Length, change: impl FnOnce(&mut Common)) -> Bench {
        let mut config = Config::new(params, Common::with_limit(limit));
        change(&mut config.common);
        assert_eq!(config.check(), Ok(()));
        let link = LinkContext { rate: Rate::from_bps(1_000_000), delay: Dur::from_ms(10) };
        Bench {
            queue: Queue::new(&config, link, &["plain", "ecn"].map(str::to_owned), Rng::named(1, "queue")),
            diary: Diary::default(),
            sent: 0,
        }
    }
    fn droptail(limit: Length, change: impl FnOnce(&mut Common)) -> Bench {
        Bench::new(Params::DropTail(droptail::Params {}), limit, change)
    }
    /// From `from` packets found in the queue, all are signalled, or dropped if `above`.
    fn signalling(from: f64, above: Above, change: impl FnOnce(&mut Common)) -> Bench {
        let at = |n| Threshold::At(Length::Packets(n));
        let params = red::Params { weight: Weight::Of(1.0), above, ..red::Params::new(at(from - 0.5), at(from)) };
        Bench::new(Params::Red(params), Length::Packets(10.0), change)
    }
    fn put(&mut self, ms: u64, len: u32, ecn: Ecn) {
        self.sent += 1;
        let group = usize::from(ecn.is_capable());
        let packet = Packet { id: self.sent, len, ecn, dscp: Dscp::default(), group, flow: group as u64 };
        self.queue.enqueue(packet, at(ms), &mut self.diary);
    }
    fn fill(&mut self, packets: usize, ecn: Ecn) {
        for _ in 0..packets {
            self.put(0, 125, ecn);
        }
    }
    fn take(&mut self, ms: u64) -> Option<Packet> {
        self.queue.dequeue(at(ms), &mut self.diary)
    }
    /// Who befell what, by number.
    fn befell(&self, what: &str) -> Vec<u32> {
        self.diary.0.iter().filter(|(kind, _)| *kind == what).map(|&(_, id)| id).collect()
    }
    /// Fills the queue up to `held` packets that the law passes, ready for an arrival that it is to judge.
    fn fill_to(&mut self, held: usize) {
        while self.queue.packets() < held {
            self.put(0, 125, Ecn::Ect0);
        }
        self.diary = Diary::default();
    }
    /// Puts packets of this codepoint into a queue kept at `held` until one befalls `what`; the source quenches of all.
    fn until(&mut self, held: usize, ecn: Ecn, what: &str) -> Vec<(u32, QuenchCause, u32)> {
        let mut owed = Vec::new();
        for _ in 0..100 {
            self.put(0, 125, ecn);
            owed.extend(self.diary.1.drain(..).map(|o| (o.packet.id, o.cause, o.wire_len)));
            if !self.befell(what).is_empty() {
                return owed;
            }
            while self.queue.packets() > held {
                self.take(0);
            }
        }
        panic!("none befell {what}");
    }
    fn drain(&mut self) -> Vec<Packet> {
        std::iter::from_fn(|| self.take(1_000)).collect()
    }
    fn drain_ids(&mut self) -> Vec<u32> {
        self.drain().iter().map(|p| p.id).collect()
    }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Dur::from_ms(ms)
}

#[test]
fn it_is_first_in_first_out() {
    let mut bench = Bench::droptail(Length::Packets(10.0), |_| {});
    bench.fill(3, Ecn::NotEct);
    assert_eq!((bench.queue.packets(), bench.queue.bytes(), bench.queue.head_len()), (3, 375, Some(125)));
    assert_eq!(bench.drain_ids(), [1, 2, 3]);
    assert_eq!((bench.queue.packets(), bench.queue.bytes(), bench.queue.head_len()), (0, 0, None));
}

#[test]
fn a_full_queue_drops_at_the_tail_or_at_the_front() {
    let _reached = must_reach(["fifo.full_drops_arrival", "fifo.full_drops_head"]);
    for (full, dropped, left) in [(Full::Tail, [4, 5], [1, 2, 3]), (Full::Front, [1, 2], [3, 4, 5])] {
        let mut bench = Bench::droptail(Length::Packets(3.0), |c| c.full = full);
        bench.fill(5, Ecn::NotEct);
        assert_eq!(bench.befell("tail"), dropped);
        assert_eq!(bench.drain_ids(), left);
    }
}

#[test]
fn a_full_queue_may_drop_any_each_as_likely() {
    let _reached = must_reach(["fifo.full_drops_any"]);
    // Three held and one arrives: 4000 times, each of the four leaves about 1000 times.
    let mut seen = [0_u32; 4];
    let mut bench = Bench::droptail(Length::Packets(3.0), |c| c.full = Full::Random);
    for _ in 0..4_000 {
        bench.drain();
        bench.diary.0.clear();
        let first = bench.sent + 1;
        for _ in 0..4 {
            bench.put(1_000, 125, Ecn::NotEct);
        }
        seen[(bench.befell("tail")[0] - first) as usize] += 1;
    }
    // Five standard deviations of a binomial of 4000 and 1/4: 5 * 27.4.
    assert!(seen.iter().all(|&n| n.abs_diff(1000) < 137), "{seen:?}");
}

#[test]
fn a_limit_in_bytes_admits_what_fits() {
    let mut bench = Bench::droptail(Length::Bytes(1000.0), |_| {});
    bench.put(0, 600, Ecn::NotEct);
    bench.put(0, 500, Ecn::NotEct); // 1100
    bench.put(0, 400, Ecn::NotEct); // exactly 1000
    bench.put(0, 1, Ecn::NotEct);
    assert_eq!(bench.befell("tail"), [2, 4]);
    assert_eq!(bench.queue.bytes(), 1000);
}

#[test]
fn at_the_front_as_many_leave_as_the_arrival_needs() {
    let mut bench = Bench::droptail(Length::Bytes(1000.0), |c| c.full = Full::Front);
    for len in [200, 300, 400, 600] {
        bench.put(0, len, Ecn::NotEct);
    }
    // 900 held and 600 arrive: 200 and 300 leave, 400 + 600 fit.
    assert_eq!(bench.befell("tail"), [1, 2]);
    // More than the limit itself: all leave, and so does it.
    bench.put(0, 1001, Ecn::NotEct);
    assert_eq!(bench.befell("tail"), [1, 2, 3, 4, 5]);
    assert_eq!(bench.queue.packets(), 0);
}

#[test]
fn below_admits_the_packet_that_goes_over() {
    let mut bench = Bench::droptail(Length::Bytes(1000.0), |c| c.admit = Admit::Below);
    for len in [999, 500, 1] {
        bench.put(0, len, Ecn::NotEct);
    }
    assert_eq!(bench.befell("tail"), [3]);
    assert_eq!(bench.queue.bytes(), 1499);
    let mut packets = Bench::droptail(Length::Packets(2.0), |c| c.admit = Admit::Below);
    packets.fill(3, Ecn::NotEct);
    assert_eq!(packets.befell("tail"), [3]);
}

#[test]
fn a_signal_is_ce_for_the_capable_and_a_drop_for_others() {
    let mut bench = Bench::signalling(1.0, Above::Mark, |c| c.ecn = true);
    for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::NotEct, Ecn::Ce] {
        bench.put(0, 125, ecn);
    }
    // The first finds an empty queue.
    assert_eq!(bench.befell("mark"), [2]);
    assert_eq!(bench.befell("on ce"), [4]);
    assert_eq!(bench.befell("early"), [3]);
    let counts = bench.queue.counters().total().ect;
    assert_eq!((counts.marks.packets, counts.on_ce.packets, counts.arrived_ce), (1, 1, 1));
    let codepoints: Vec<Ecn> = bench.drain().iter().map(|p| p.ecn).collect();
    assert_eq!(codepoints, [Ecn::Ect0, Ecn::Ce, Ecn::Ce]);
}

#[test]
fn with_ecn_off_a_capable_packet_is_dropped_early() {
    let mut bench = Bench::signalling(1.0, Above::Mark, |_| {});
    bench.fill(2, Ecn::Ect0);
    assert_eq!(bench.befell("early"), [2]);
    assert_eq!(bench.queue.counters().total().ect.early.packets, 1);
}

#[test]
fn a_forced_drop_takes_the_capable_too() {
    let _reached = must_reach(["fifo.forced_drop_of_arrival", "fifo.forced_drop_as_when_full"]);
    let mut bench = Bench::signalling(1.0, Above::Drop, |c| c.ecn = true);
    bench.fill(2, Ecn::Ect0);
    assert_eq!(bench.befell("forced"), [2]);
    let mut front = Bench::signalling(1.0, Above::Drop, |c| {
        c.forced = Forced::Full;
        c.full = Full::Front;
    });
    front.fill(2, Ecn::Ect0);
    assert_eq!(front.befell("forced"), [1]);
    assert_eq!(front.drain_ids(), [2]);
}

#[test]
fn a_mark_at_the_front_goes_to_the_head() {
    let _reached = must_reach(["fifo.mark_at_front"]);
    let front = |c: &mut Common| {
        c.ecn = true;
        c.mark_at = MarkAt::Front;
    };
    // The head can carry it once; the second signal stays with its own packet.
    let mut bench = Bench::signalling(1.0, Above::Mark, front);
    bench.fill(3, Ecn::Ect0);
    assert_eq!(bench.befell("mark"), [1, 3]);
    // A head that cannot carry it.
    let mut bench = Bench::signalling(1.0, Above::Mark, front);
    bench.put(0, 125, Ecn::NotEct);
    bench.put(0, 125, Ecn::Ect0);
    assert_eq!(bench.befell("mark"), [2]);
    // A packet that cannot carry it is dropped, though the head could.
    let mut bench = Bench::signalling(1.0, Above::Mark, front);
    bench.put(0, 125, Ecn::Ect0);
    bench.put(0, 125, Ecn::NotEct);
    assert_eq!((bench.befell("mark"), bench.befell("early")), (vec![], vec![2]));
}

#[test]
fn a_chosen_packet_without_room_is_a_tail_drop_and_no_mark() {
    let mut bench = Bench::signalling(1.0, Above::Mark, |c| {
        c.ecn = true;
        c.limit = Length::Packets(1.0);
    });
    bench.fill(2, Ecn::Ect0);
    assert_eq!((bench.befell("mark"), bench.befell("tail")), (vec![], vec![2]));
}

/// The branches of the pseudo-code of Akujobi et al. 2003 §IV-A, one line each: the queue that the packet finds, which
/// is the average; its codepoint; what becomes of it; the source quench.
#[test]
fn the_router_speaks_back_by_the_papers_branches() {
    use QuenchCause::{Dropped, Marked};
    let branches = [
        // Above max_th: drop, and quench the sender of an ECN-capable packet, marked before or not.
        (45, Ecn::Ect0, "forced", Some(Dropped)),
        (45, Ecn::Ect1, "forced", Some(Dropped)),
        (45, Ecn::Ce, "forced", Some(Dropped)),
        (45, Ecn::NotEct, "forced", None),
        // From min_th to becnthresh: mark and be silent.
        (19, Ecn::Ect0, "mark", None),
        (19, Ecn::Ce, "on ce", None),
        // The gap in the pseudo-code: a packet that cannot be marked is dropped, as RED does.
        (19, Ecn::NotEct, "early", None),
        // From becnthresh to max_th: mark and quench, unless the packet was marked before.
        (20, Ecn::Ect0, "mark", Some(Marked)),
        (44, Ecn::Ect1, "mark", Some(Marked)),
        (30, Ecn::Ce, "on ce", None),
        (30, Ecn::NotEct, "early", None),
    ];
    for (held, ecn, what, quenches) in branches {
        let mut bench = speaking(20.0, |_, _| {});
        bench.fill_to(held);
        let owed = bench.until(held, ecn, what);
        let chosen = bench.befell(what)[0];
        let expected: Vec<_> = quenches.map(|cause| (chosen, cause, 40)).into_iter().collect();
        assert_eq!(owed, expected, "{held} {ecn:?}");
    }
}

#[test]
fn the_ends_of_becnthresh_are_becn_and_nearly_ecn() {
    // At min_th each mark causes a quench; at max_th none does, though drops past max_th still are.
    for (thresh, held, what, quenches) in
        [(15.0, 16, "mark", 1), (15.0, 44, "mark", 1), (45.0, 44, "mark", 0), (45.0, 45, "forced", 1)]
    {
        let mut bench = speaking(thresh, |_, _| {});
        bench.fill_to(held);
        assert_eq!(bench.until(held, Ecn::Ect0, what).len(), quenches, "{thresh} {held}");
    }
}

#[test]
fn a_packet_without_room_is_quenched_as_any_drop() {
    // §IV-A: "for every marked and/or dropped packet" while the average exceeds becnthresh. A slow
    // average is still between the thresholds when the queue is full.
    let mut bench = speaking(20.0, |p, _| (p.weight, p.max_p) = (Weight::Of(0.01), 1e-9));
    bench.fill_to(90);
    while bench.queue.value("average_packets").unwrap() < 20.0 {
        bench.put(0, 125, Ecn::NotEct);
    }
    assert_eq!(bench.diary.1, []);
    bench.put(0, 125, Ecn::Ect0);
    let owed = bench.diary.1[0];
    assert_eq!((owed.packet.id, owed.cause), (bench.sent, QuenchCause::Dropped));
    assert_eq!(*bench.befell("tail").last().unwrap(), bench.sent);
}

#[test]
fn the_mark_at_the_front_is_quenched_to_the_sender_of_the_head() {
    let mut bench = speaking(20.0, |params, common| {
        params.becn = Some(red::Becn { thresh: Length::Packets(20.0), quench_size: Bytes(56), delay: Dur::ZERO });
        common.mark_at = MarkAt::Front;
    });
    bench.fill_to(30);
    let owed = bench.until(30, Ecn::Ect0, "mark");
    // It carries the mark, and it has the requested length.
    assert_eq!(owed.last(), Some(&(bench.befell("mark")[0], QuenchCause::Marked, 56)));
}

#[test]
fn quenches_are_counted_with_their_group() {
    let mut bench = speaking(20.0, |_, _| {});
    bench.fill_to(30);
    let before = bench.queue.counters().total().all().quenches;
    let owed = bench.until(30, Ecn::Ect0, "mark");
    let groups = bench.queue.counters().groups();
    assert_eq!((groups[0].all().quenches, groups[1].ect.quenches), (0, before + owed.len() as u64));
    assert_eq!(groups[1].not_ect.quenches, 0);
}

#[test]
fn counters_distinguish_groups_and_classes() {
    let mut bench = Bench::signalling(2.0, Above::Mark, |c| c.ecn = true);
    bench.put(0, 100, Ecn::NotEct);
    bench.put(0, 1000, Ecn::Ect0);
    bench.put(0, 100, Ecn::NotEct); // dropped early
    bench.put(0, 1000, Ecn::Ect0); // marked
    bench.take(1);
    let counters = bench.queue.counters();
    let [plain, capable] = counters.groups() else { panic!("two groups") };
    let tally = |packets, bytes| ecnlab_aqm::Tally { packets, bytes };
    let expected_plain =
        Kind { arrived: tally(2, 200), departed: tally(1, 100), early: tally(1, 100), ..Kind::default() };
    assert_eq!(plain.not_ect, expected_plain);
    assert_eq!(capable.ect, Kind { arrived: tally(2, 2000), marks: tally(1, 1000), ..Kind::default() });
    assert_eq!((plain.ect, capable.not_ect), (Kind::default(), Kind::default()));
    assert_eq!(counters.total().all().held(), tally(2, 2000));
    // A window is a difference.
    let before = counters.clone();
    bench.take(2);
    assert_eq!(bench.queue.counters().since(&before).total().all().departed, tally(1, 1000));
}

#[test]
fn time_averages_are_those_of_the_steps() {
    let mut bench = Bench::droptail(Length::Packets(10.0), |_| {});
    bench.put(0, 125, Ecn::NotEct);
    bench.put(2, 250, Ecn::NotEct);
    bench.take(5);
    bench.take(6);
    let stats = bench.queue.cut_stats(at(10));
    // 1 packet for 2 ms, 2 for 3, 1 for 1, none for 4: 9/10; squares 15/10 - 0.81.
    assert!((stats.mean_packets() - 0.9).abs() < 1e-12);
    assert!((stats.variance_packets() - 0.69).abs() < 1e-12);
    // 125 B for 2 ms, 375 for 3, 250 for 1: 1625/10.
    assert!((stats.mean_bytes() - 162.5).abs() < 1e-12);
    // 5 ms and 4 ms in the queue.
    assert_eq!((stats.sojourns(), stats.sojourn_max()), (2, Dur::from_ms(5)));
    assert!((stats.sojourn_mean_s() - 0.0045).abs() < 1e-15);
    assert!(stats.mean("share_below").is_nan() && stats.mean("average_mean_packets").is_nan());
}

#[test]
fn a_cut_parts_the_time_and_the_parts_make_the_whole() {
    let mut whole = Bench::droptail(Length::Packets(10.0), |_| {});
    let mut parts = Bench::droptail(Length::Packets(10.0), |_| {});
    for bench in [&mut whole, &mut parts] {
        bench.fill(4, Ecn::NotEct);
    }
    let warmup = parts.queue.cut_stats(at(3));
    for bench in [&mut whole, &mut parts] {
        bench.take(7);
    }
    let rest = parts.queue.cut_stats(at(9));
    assert_eq!((warmup.span(), rest.span()), (Dur::from_ms(3), Dur::from_ms(6)));
    assert_eq!((warmup.sojourn_max(), rest.sojourn_max()), (Dur::ZERO, Dur::from_ms(7)));
    assert_eq!(warmup.plus(&rest), whole.queue.cut_stats(at(9)));
}

#[test]
fn the_average_is_weighted_by_time_and_its_regions_with_it() {
    // An average that is the queue found; thresholds 1 and 3 packets.
    let threshold = |n| Threshold::At(Length::Packets(n));
    let params =
        red::Params { weight: Weight::Of(1.0), max_p: 1e-9, ..red::Params::new(threshold(1.0), threshold(3.0)) };
    let mut bench = Bench::new(Params::Red(params), Length::Packets(10.0), |_| {});
    bench.put(0, 100, Ecn::NotEct); // avg 0 until 1 ms
    bench.put(1, 100, Ecn::NotEct); // avg 1 until 3 ms
    bench.put(3, 100, Ecn::NotEct); // avg 2 until 4 ms
    bench.put(4, 100, Ecn::NotEct); // avg 3 until 10 ms; dropped
    let stats = bench.queue.cut_stats(at(10));
    assert!((stats.mean("average_mean_packets") - 2.2).abs() < 1e-12); // (0 + 2 + 2 + 18)/10
    assert!((stats.mean("average_mean_bytes") - 220.0).abs() < 1e-9);
    assert_eq!(["share_below", "share_in_region", "share_above"].map(|name| stats.mean(name)), [0.1, 0.3, 0.6]);
}

#[test]
fn idle_time_begins_when_the_transmission_ends() {
    // 125 B take 1 ms here, and so does a mean packet. With w = 1/2 and ns-2's rounding, an arrival after
    // m whole idle milliseconds leaves avg/2^(m+1); one during the transmission leaves avg/2.
    let avg_of_arrival_at = |us: u64| {
        let threshold = |n| Threshold::At(Length::Packets(n));
        let params = red::Params {
            weight: Weight::Of(0.5),
            idle: Idle::Ns2,
            mean_packet: ecnlab_base::Bytes(125),
            ..red::Params::new(threshold(5.0), threshold(15.0))
        };
        let mut bench = Bench::new(Params::Red(params), Length::Packets(10.0), |_| {});
        bench.fill(3, Ecn::NotEct);
        // The first found an idle link and left the average at 0; then 1/2 and 5/4.
        assert_eq!(bench.queue.value("average_packets").unwrap(), 1.25);
        while bench.take(1).is_some() {}
        let last = Packet { id: 9, len: 125, ecn: Ecn::NotEct, dscp: Dscp::default(), group: 0, flow: 0 };
        bench.queue.enqueue(last, Time::ZERO + Dur::from_us(us), &mut ());
        bench.queue.value("average_packets").unwrap()
    };
    // The last packet leaves the queue at 1 ms and is sent at 2 ms.
    assert_eq!(avg_of_arrival_at(1_500), 0.625);
    assert_eq!(avg_of_arrival_at(2_900), 0.625);
    assert_eq!(avg_of_arrival_at(3_000), 0.3125);
    assert_eq!(avg_of_arrival_at(5_100), 0.078_125);
}

#[test]
fn adaptive_red_ticks_without_a_timer() {
    let threshold = |n| Threshold::At(Length::Packets(n));
    let params = red::Params {
        max_p: 0.1,
        adaptive: Some(red::Floyd::default()),
        ..red::Params::new(threshold(5.0), threshold(15.0))
    };
    let mut bench = Bench::new(Params::Red(params), Length::Packets(60.0), |_| {});
    let max_p = |bench: &Bench| bench.queue.value("max_p").unwrap();
    bench.queue.observe(at(499));
    assert_eq!(max_p(&bench), 0.1);
    // Under the target: times 0.9 at 0.5, 1.0 and 1.5 s.
    bench.queue.observe(at(1_600));
    assert!((max_p(&bench) - 0.0729).abs() < 1e-12);
    // 0.0729 * 0.9^18 = 0.01094 is over the bottom of 0.01; the step to 0.00985 is the last.
    bench.queue.observe(at(60_000));
    assert!((max_p(&bench) - 0.0729 * 0.9_f64.powi(19)).abs() < 1e-12, "{}", max_p(&bench));
}

mod conservation {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Copy, Debug)]
    enum Op {
        Put { len: u32, ecn: Ecn, us: u64 },
        Take { us: u64 },
    }

    fn ops() -> impl Strategy<Value = Vec<Op>> {
        let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1), Just(Ecn::Ce)];
        let put = (40..1500_u32, ecn, 0..3_000_u64).prop_map(|(len, ecn, us)| Op::Put { len, ecn, us });
        let take = (0..3_000_u64).prop_map(|us| Op::Take { us });
        // The limits are a dozen packets at most.
        proptest::collection::vec(prop_oneof![2 => put, 1 => take], 1..100)
    }

    fn common() -> impl Strategy<Value = Common> {
        let limit = prop_oneof![
            (1..12_u32).prop_map(|n| Length::Packets(f64::from(n))),
            (1..9_000_u32).prop_map(|n| Length::Bytes(f64::from(n))),
        ];
        let full = prop_oneof![Just(Full::Tail), Just(Full::Random), Just(Full::Front)];
        let admit = prop_oneof![Just(Admit::Fits), Just(Admit::Below)];
        let forced = prop_oneof![Just(Forced::Arriving), Just(Forced::Full)];
        let mark_at = prop_oneof![Just(MarkAt::Tail), Just(MarkAt::Front)];
        (limit, full, admit, forced, mark_at, any::<bool>()).prop_map(|(limit, full, admit, forced, mark_at, ecn)| {
            Common { limit, full, admit, forced, mark_at, ecn, quantiles: false }
        })
    }

    fn law() -> impl Strategy<Value = Params> {
        let above = prop_oneof![Just(Above::Drop), Just(Above::Mark)];
        let red = (above, any::<bool>(), 0.05..1.0_f64).prop_map(|(above, gentle, max_p)| {
            let at = |n| Threshold::At(Length::Packets(n));
            let params = red::Params::new(at(1.0), at(4.0));
            Params::Red(red::Params { above, gentle, max_p, weight: Weight::Of(0.3), ..params })
        });
        prop_oneof![1 => Just(Params::DropTail(droptail::Params {})), 4 => red]
    }

    /// Every packet that came is in the diary's books exactly once: out, dropped or still held.
    fn fates(diary: &Diary, what: &[&str]) -> usize {
        diary.0.iter().filter(|(kind, _)| what.contains(kind)).count()
    }

    proptest! {
        #[test]
        fn arrived_is_departed_and_dropped_and_held(law in law(), common in common(), ops in ops()) {
            let mut bench = Bench::new(law, common.limit, |c| *c = common);
            let mut now = Time::ZERO;
            for op in ops {
                match op {
                    Op::Put { len, ecn, us } => {
                        now += Dur::from_us(us);
                        bench.sent += 1;
                        let flow = u64::from(bench.sent % 2);
                        let (dscp, group) = (Dscp::default(), flow as usize);
                        let packet = Packet { id: bench.sent, len, ecn, dscp, group, flow };
                        bench.queue.enqueue(packet, now, &mut bench.diary);
                    }
                    Op::Take { us } => {
                        now += Dur::from_us(us);
                        bench.queue.dequeue(now, &mut bench.diary);
                    }
                }
                prop_assert!(bench.queue.is_balanced());
            }
            let all = bench.queue.counters().total().all();
            prop_assert_eq!(all.arrived.packets, u64::from(bench.sent));
            prop_assert_eq!(all.departed.packets as usize, fates(&bench.diary, &["out"]));
            prop_assert_eq!(all.dropped().packets as usize, fates(&bench.diary, &["early", "forced", "tail"]));
            prop_assert_eq!(all.marks.packets as usize, fates(&bench.diary, &["mark"]));
            prop_assert_eq!(bench.queue.counters().total().not_ect.marks.packets, 0);
            // Whoever left was held once, and left once, in order of arrival.
            let out = bench.befell("out");
            prop_assert!(out.windows(2).all(|pair| pair[0] < pair[1]));
        }

        /// Straight through an open queue is in and out again.
        #[test]
        fn passing_is_entering_and_leaving(common in common(), ops in ops()) {
            let [mut way, mut straight] = [0, 1].map(|_| Bench::new(Params::DropTail(droptail::Params {}), common.limit, |c| *c = common));
            if !straight.queue.is_open() {
                return Ok(());
            }
            let mut now = Time::ZERO;
            for op in ops {
                let Op::Put { len, ecn, us } = op else { continue };
                now += Dur::from_us(us);
                way.sent += 1;
                let packet = Packet { id: way.sent, len, ecn, dscp: Dscp::default(), group: 0, flow: 0 };
                way.queue.enqueue(packet, now, &mut way.diary);
                prop_assert_eq!(way.queue.dequeue(now, &mut way.diary), Some(packet));
                straight.queue.count_passed(0, ecn, ecnlab_aqm::Tally { packets: 1, bytes: len.into() });
            }
            prop_assert_eq!(way.queue.counters(), straight.queue.counters());
            prop_assert_eq!(way.queue.cut_stats(now), straight.queue.cut_stats(now));
        }
    }
}
