//! Queues that let packets wait although the link is free: `tbf`, `htb` and `cbq`, against arithmetic done by hand.

mod packet;

use ecnlab_aqm::registry::Params;
use ecnlab_aqm::{Class, Common, Config, Full, Item, LinkContext, MarkReason, Member, Queue, Watch, codel, droptail};
use ecnlab_base::{Dur, Length, Rate, Rng, Time};
use ecnlab_wire::{Dscp, Ecn};
use packet::Packet;
use proptest::prelude::*;

/// A link of 10 Mbit/s, on which 1250 B take 1 ms, behind a queue. Packets of 1250 B that belong to group "a" or "b".
struct Bench {
    queue: Queue<Packet>,
    now: Time,
    free: Time,
    sent: u32,
    marked: Vec<u32>,
}

struct Marks<'a>(&'a mut Vec<u32>);

impl Watch<Packet> for Marks<'_> {
    fn marked(&mut self, packet: &Packet, _: MarkReason) {
        self.0.push(packet.id);
    }
}

impl Bench {
    fn new(config: &Config) -> Bench {
        let rate = Rate::from_bps(10_000_000);
        assert_eq!((config.check(), config.check_before(rate)), (Ok(()), Ok(())));
        let link = LinkContext { rate, delay: Dur::from_ms(10) };
        let groups = ["a", "b"].map(str::to_owned);
        let queue = Queue::new(config, link, &groups, Rng::named(1, "queue"));
        Bench { queue, now: Time::ZERO, free: Time::ZERO, sent: 0, marked: Vec::new() }
    }

    /// So many packets of a group come at `us`; what has left until then, as [`Bench::until`].
    fn put(&mut self, us: u64, packets: u32, group: usize) -> Vec<(u64, usize)> {
        self.put_sized(us, packets, group, 1250)
    }

    fn put_sized(&mut self, us: u64, packets: u32, group: usize, len: u32) -> Vec<(u64, usize)> {
        let before = self.until(us);
        self.add(packets, group, len);
        before
    }

    /// So many packets of each group come now.
    fn fill(&mut self, packets: [u32; 2]) {
        (0..2).for_each(|group| self.add(packets[group], group, 1250));
    }

    fn add(&mut self, packets: u32, group: usize, len: u32) {
        for _ in 0..packets {
            self.sent += 1;
            let packet = Packet { id: self.sent, len, ecn: Ecn::Ect0, dscp: Dscp::default(), group, flow: 0 };
            self.queue.enqueue(packet, self.now, &mut Marks(&mut self.marked));
        }
        assert!(self.queue.is_balanced());
    }

    /// When packets up to `us` leave, in µs, and their groups.
    fn until(&mut self, us: u64) -> Vec<(u64, usize)> {
        let (end, mut gone) = (Time::ZERO + Dur::from_us(us), Vec::new());
        while self.queue.packets() > 0 {
            let start = self.free.max(self.now).max(self.queue.ready());
            if start > end {
                break;
            }
            self.now = start;
            if let Some(packet) = self.queue.dequeue(start, &mut Marks(&mut self.marked)) {
                gone.push((start.ps() / 1_000_000, packet.group()));
                self.free = start + Rate::from_bps(10_000_000).time_for(packet.wire_len().into());
            } else {
                assert!(self.queue.packets() == 0 || self.queue.ready() > start, "nothing at {start:?}, nor later");
            }
            assert!(self.queue.is_balanced());
        }
        self.now = end;
        gone
    }

    /// The milliseconds, rounded down, at which packets up to `ms` leave.
    fn times(&mut self, ms: u64) -> Vec<u64> {
        self.until(1_000 * ms).into_iter().map(|(us, _)| us / 1_000).collect()
    }

    /// How many packets of each group leave up to `ms`, while both always hold more.
    fn shares(&mut self, ms: u64) -> [usize; 2] {
        let gone = self.until(1_000 * ms);
        [0, 1].map(|group| gone.iter().filter(|(_, of)| *of == group).count())
    }
}

fn queue(params: Params) -> Config {
    Config::new(params, Common::with_limit(Length::Packets(100_000.0)))
}

fn droptail() -> Config {
    queue(Params::DropTail(droptail::Params {}))
}

fn shaped(name: &str, keys: &str) -> Config {
    queue(Params::deserialize(name, toml::from_str::<toml::Table>(keys).unwrap()).unwrap())
}

fn of_group(group: &str) -> Member {
    Member { groups: vec![group.to_owned()], ..Member::default() }
}

/// With a class `a` for group "a", and `b` for the rest.
fn with_classes(mut config: Config, a: Config, b: Config) -> Config {
    config.classes.insert("a".to_owned(), Class { member: of_group("a"), queue: a });
    config.classes.insert("b".to_owned(), Class { member: Member { order: 1, ..Member::default() }, queue: b });
    config
}

fn with_inner(mut config: Config, queue: Config) -> Config {
    config.classes.insert("inner".to_owned(), Class { member: Member::default(), queue });
    config
}

fn tbf(keys: &str) -> Config {
    shaped("tbf", keys)
}

#[test]
fn a_token_bucket_lets_a_burst_go_and_then_its_rate() {
    // 125 B a millisecond. 3000 B: one packet at 0 (1750 left), one at 1 ms (1875 - 1250 = 625 left). At 2 ms there are
    // 750, and 500 more take 4 ms. Then one every 10 ms.
    let mut bench = Bench::new(&tbf("rate = \"1 Mbps\"\nburst = \"3 kB\""));
    bench.put(0, 6, 0);
    assert_eq!(bench.times(40), [0, 1, 6, 16, 26, 36]);
    // 4 ms later there are 500 B; 200 ms later the bucket is full, and not more than that.
    bench.put(200_000, 4, 0);
    assert_eq!(bench.times(300), [200, 201, 206, 216]);
}

#[test]
fn a_peak_rate_spreads_the_burst() {
    // 625 B a millisecond at the peak: one packet every 2 ms, while 5000 B last: 0, 2, 4, 6 ms leave 750 B at 6 ms, 1000 B at
    // 8 ms, 1250 B at 10 ms.
    let keys = "rate = \"1 Mbps\"\nburst = \"5 kB\"\npeakrate = \"5 Mbps\"\nmtu = \"1250 B\"";
    let mut bench = Bench::new(&tbf(keys));
    bench.put(0, 6, 0);
    assert_eq!(bench.times(40), [0, 2, 4, 6, 10, 20]);
}

#[test]
fn a_virtual_clock_has_no_burst() {
    let mut bench = Bench::new(&tbf("rate = \"1 Mbps\"\nburst = \"0 B\""));
    bench.put(0, 3, 0);
    assert_eq!(bench.times(90), [0, 10, 20]);
    // The clock is at 30 ms when nothing is there, and at 100 ms when something comes.
    bench.put(100_000, 2, 0);
    bench.add(2, 0, 125);
    assert_eq!(bench.times(200), [100, 110, 120, 121]);
}

#[test]
fn a_packet_larger_than_the_bucket_leaves_when_it_is_full() {
    // 1000 B take 8 ms to fill. After 1250 B, 250 B are owed: 10 ms.
    let mut bench = Bench::new(&tbf("rate = \"1 Mbps\"\nburst = \"1 kB\""));
    bench.put(0, 3, 0);
    assert_eq!(bench.times(40), [0, 10, 20]);
}

#[test]
fn a_law_judges_when_the_packet_before_has_left_and_with_a_virtual_clock_when_its_own_time_comes() {
    // CoDel marks what has waited more than 5 ms. The second packet leaves at 10 ms, and is judged at 1 ms, when the link is
    // free; the third is judged at 11 ms.
    let params = codel::Params { ce_threshold: Some(Dur::from_ms(5)), ..codel::Params::default() };
    let codel = || queue(Params::Codel(params));
    let marks = |burst: &str| {
        let config = with_inner(tbf(&format!("rate = \"1 Mbps\"\nburst = \"{burst}\"")), codel());
        let mut bench = Bench::new(&config);
        bench.put(0, 3, 0);
        assert_eq!(bench.times(50), [0, 10, 20]);
        bench.marked
    };
    assert_eq!((marks("1250 B"), marks("0 B")), (vec![3], vec![2, 3]));
}

#[test]
fn the_head_that_was_judged_is_still_in_the_queue_and_may_be_dropped() {
    // Room for two, and the head makes room: the second is judged at 1 ms, dropped at 2 ms, and the third leaves at 10 ms.
    let mut config = tbf("rate = \"1 Mbps\"\nburst = \"1250 B\"");
    let mut inner = droptail();
    inner.common = Common { full: Full::Front, ..Common::with_limit(Length::Packets(2.0)) };
    config = with_inner(config, inner);
    let mut bench = Bench::new(&config);
    assert_eq!(bench.put(0, 2, 0), []);
    assert_eq!(bench.put(1_500, 1, 0), [(0, 0)]);
    assert_eq!(bench.queue.packets(), 2);
    bench.put(2_000, 1, 0);
    assert_eq!((bench.queue.packets(), bench.times(50)), (2, vec![10, 20]));
}

#[test]
fn what_a_token_bucket_has_looked_at_is_not_overtaken() {
    // "a" goes before "b", but the packet of "b" that the bucket waits for is next (Linux's qdisc_peek_dequeued).
    let strict = shaped("classes", "schedule = \"strict\"");
    let inner = with_classes(strict, droptail(), droptail());
    let mut bench = Bench::new(&with_inner(tbf("rate = \"1 Mbps\"\nburst = \"1250 B\""), inner));
    bench.put(0, 3, 1);
    assert_eq!(bench.put(5_000, 2, 0), [(0, 1)]);
    assert_eq!(bench.until(60_000), [(10_000, 1), (20_000, 0), (30_000, 0), (40_000, 1)]);
}

#[test]
fn a_class_that_is_shaped_leaves_the_link_to_the_others() {
    for schedule in ["strict", "drr", "drr++", "fifo", "wrr"] {
        let classes = shaped("classes", &format!("schedule = \"{schedule}\""));
        let mut bench = Bench::new(&with_classes(classes, tbf("rate = \"1 Mbps\"\nburst = \"1250 B\""), droptail()));
        bench.fill([20, 200]);
        // "a" has 1 Mbit/s: ten packets in 100 ms; the link is never idle.
        let shares = bench.shares(99);
        assert_eq!(shares, [10, 90], "{schedule}");
        // Alone it has no more, and the link is idle.
        bench.put(400_000, 3, 0);
        assert_eq!(bench.times(450), [400, 410, 420], "{schedule}");
    }
}

fn htb(classes: &str) -> Config {
    with_classes(shaped("htb", classes), droptail(), droptail())
}

const BOTH: &str = "burst = \"1250 B\"\ncburst = \"1250 B\"\n";

#[test]
fn a_class_sends_while_it_owes_nothing() {
    // 2500 B, 125 B a millisecond: 0 (1250 left), 1 ms (125 left), 2 ms (1000 owed), 10 ms (1250 owed), 20 ms.
    let depth = "burst = \"2500 B\"\ncburst = \"2500 B\"";
    let keys = format!("[sharing.a]\nrate = \"1 Mbps\"\n{depth}\n[sharing.b]\nrate = \"1 Mbps\"\n{depth}");
    let mut bench = Bench::new(&htb(&keys));
    bench.put(0, 5, 0);
    assert_eq!(bench.times(40), [0, 1, 2, 10, 20]);
}

#[test]
fn a_class_borrows_up_to_its_ceiling() {
    // 0: own 0 left, ceiling 0 left. 1 ms: own 125, ceiling 250: it sends; own 1125 owed, ceiling 1000 owed, which are 4 ms.
    // 5 ms: own 625 owed, so it borrows; ceiling 1250 owed, which are 5 ms. 10 ms: own is 0, and pays. 15 ms: it borrows.
    let keys = format!(
        "[sharing.link]\nrate = \"5 Mbps\"\n{BOTH}[sharing.a]\nrate = \"1 Mbps\"\nceil = \"2 Mbps\"\nparent = \"link\"\n{BOTH}\
         [sharing.b]\nrate = \"1 Mbps\"\nparent = \"link\"\n{BOTH}"
    );
    let mut bench = Bench::new(&htb(&keys));
    bench.put(0, 6, 0);
    assert_eq!(bench.times(40), [0, 1, 5, 10, 15, 20]);
}

fn family(a: &str, b: &str) -> String {
    format!(
        "[sharing.link]\nrate = \"8 Mbps\"\n[sharing.a]\nrate = \"1 Mbps\"\nceil = \"8 Mbps\"\nparent = \"link\"\n{a}\n\
         [sharing.b]\nrate = \"3 Mbps\"\nceil = \"8 Mbps\"\nparent = \"link\"\n{b}\n"
    )
}

/// What the groups send in 10 s, with 10 s of packets of both.
fn ten_seconds(config: &Config) -> [usize; 2] {
    let mut bench = Bench::new(config);
    bench.fill([10_000; 2]);
    bench.shares(10_000)
}

fn near(shares: [usize; 2], mbps: [usize; 2]) {
    // 1 Mbit/s are 1000 packets in 10 s. Bursts, and packets under way, are a few.
    let close = (0..2).all(|i| shares[i].abs_diff(1_000 * mbps[i]) <= 10);
    assert!(close, "{shares:?} packets, not {mbps:?} Mbit/s");
}

#[test]
fn what_is_left_of_a_parent_is_shared_by_quantum_and_priority() {
    let quantum = |bytes: u32| format!("quantum = \"{bytes} B\"");
    // 4 Mbit/s are left of 8: 2 and 2; 3 and 1; all of it to the one of the lower number.
    near(ten_seconds(&htb(&family(&quantum(1250), &quantum(1250)))), [3, 5]);
    near(ten_seconds(&htb(&family(&quantum(3750), &quantum(1250)))), [4, 4]);
    near(ten_seconds(&htb(&family("", "priority = 1"))), [5, 3]);
    // Where one is silent the other has all.
    let mut bench = Bench::new(&htb(&family("", "")));
    bench.put(0, 10_000, 0);
    near(bench.shares(10_000), [8, 0]);
}

#[test]
fn hierarchies_lend_from_level_to_level() {
    // a (1 Mbit/s) and its parent (2, up to 8) are below the link (8), as b is (3). Both want all: a has 1 of its own and 1 of
    // its parent's before anything is lent by the link, whose 3 are shared alike.
    let keys = "[sharing.link]\nrate = \"8 Mbps\"\n[sharing.agency]\nrate = \"2 Mbps\"\nceil = \"8 Mbps\"\nparent = \"link\"\n\
         [sharing.a]\nrate = \"1 Mbps\"\nceil = \"8 Mbps\"\nparent = \"agency\"\nquantum = \"1250 B\"\n\
         [sharing.b]\nrate = \"2 Mbps\"\nceil = \"8 Mbps\"\nparent = \"link\"\nquantum = \"1250 B\"\n";
    near(ten_seconds(&htb(keys)), [4, 4]);
    // An agency that has 2 at most holds a to 2, and b has the rest.
    near(
        ten_seconds(&htb(&keys.replace(
            "rate = \"2 Mbps\"\nceil = \"8 Mbps\"\nparent = \"link\"\n[",
            "rate = \"2 Mbps\"\nparent = \"link\"\n[",
        ))),
        [2, 6],
    );
}

fn cbq(keys: &str) -> Config {
    let all = format!("mean_packet = \"1250 B\"\n{keys}");
    with_classes(shaped("cbq", &all), droptail(), droptail())
}

const BOUNDED: &str = "rate = \"1 Mbps\"\nbounded = true\nmaxburst = 4\n";

fn two_bounded() -> String {
    format!("[sharing.a]\n{BOUNDED}[sharing.b]\n{BOUNDED}")
}

#[test]
fn an_average_idle_time_allows_a_burst_and_then_the_rate() {
    // A packet takes 1 ms on the link and 10 ms of the class: each of a burst leaves it 9 ms short. Four spend the average
    // that a pause has filled; then the next leaves 10 ms after the one before.
    let mut bench = Bench::new(&cbq(&two_bounded()));
    bench.put(0, 7, 0);
    assert_eq!(bench.times(100), [0, 1, 2, 3, 13, 23, 33]);
    // After a pause the first packet fills the average, and four more spend it.
    bench.put(1_000_000, 7, 0);
    assert_eq!(bench.times(1_100), [1000, 1001, 1002, 1003, 1004, 1014, 1024]);
}

#[test]
fn a_slow_clock_makes_bursts() {
    // Ticks of 10 ms. The class would wake up at 13 ms, and does at 20 ms: it was 7 ms longer idle than it must, which one
    // packet more uses up (7 - 7/32 - 9 < 0). That one ends at 22 ms: awake at 31 ms, so at 40 ms; and so on.
    let mut bench = Bench::new(&cbq(&format!("timer = \"10 ms\"\n{}", two_bounded())));
    bench.put(0, 10, 0);
    assert_eq!(bench.times(100), [0, 1, 2, 3, 20, 21, 40, 41, 60, 61]);
}

#[test]
fn a_packet_that_comes_wakes_its_class() {
    // Ticks of a second; the class may send from 13 ms on, and is asked when something comes. Then it was 1 ms longer idle
    // than it must, and sends once more.
    let mut bench = Bench::new(&cbq(&format!("timer = \"1 s\"\n{}", two_bounded())));
    bench.put(0, 5, 0);
    assert_eq!(bench.put(12_000, 1, 0).len(), 4);
    assert_eq!(bench.put(14_000, 1, 0), []);
    assert_eq!(bench.times(500), [14, 15]);
}

#[test]
fn minburst_sends_several_at_once_and_rests_as_much_longer() {
    // offtime = 9 ms · (1 + ((32/31)^(n-1) - 1)·32). For 2 packets: 9 ms · (1 + 32/31) = 18.29 ms: asleep at 4 ms until
    // 4 + 9 + 18.29 = 31.29 ms. Then the average is 18.29 ms up: two more of a burst (18.29 > 9 + 9·(1 - 1/32)).
    let mut bench = Bench::new(&cbq(&two_bounded().replace("maxburst = 4", "maxburst = 4\nminburst = 2")));
    bench.put(0, 7, 0);
    assert_eq!(bench.times(60), [0, 1, 2, 3, 31, 32, 33]);
}

#[test]
fn a_class_that_is_not_bounded_borrows_what_the_others_leave() {
    let one = format!("[sharing.a]\nrate = \"1 Mbps\"\n[sharing.b]\n{BOUNDED}");
    near(ten_seconds(&cbq(&one)), [9, 1]);
    let mut bench = Bench::new(&cbq(&one));
    bench.put(0, 10_000, 0);
    assert_eq!(bench.shares(9_999), [10_000, 0]);
}

#[test]
fn a_bounded_parent_bounds_its_classes_together() {
    let keys = |b: &str| {
        format!(
            "[sharing.agency]\nrate = \"4 Mbps\"\nbounded = true\n[sharing.a]\nrate = \"1 Mbps\"\nparent = \"agency\"\n\
             [sharing.b]\nrate = \"3 Mbps\"\nparent = \"agency\"\n{b}"
        )
    };
    // What a class sends of its own, the parent owes, and its average forgets some of that: it has 1 or 2 % more than its rate.
    let mut bench = Bench::new(&cbq(&keys("")));
    bench.put(0, 10_000, 0);
    let shares = bench.shares(10_000);
    assert!((4_000..4_100).contains(&shares[0]), "{shares:?}");
    // An isolated class does not lend: its packets are not counted in the parent, of which the other has all.
    let shares = ten_seconds(&cbq(&keys("bounded = true\nisolated = true\n")));
    assert!((4_000..4_100).contains(&shares[0]) && shares[1].abs_diff(3_000) < 40, "{shares:?}");
}

#[test]
fn what_is_held_by_shapers_all_comes_out() {
    let shapers = [tbf("rate = \"1 Mbps\"\nburst = \"1250 B\""), htb(&family("", "")), cbq(&two_bounded())];
    for config in shapers {
        let mut bench = Bench::new(&config);
        bench.fill([50; 2]);
        assert_eq!(bench.until(10_000_000).len(), 100);
        assert_eq!(bench.queue.counters().total().all().departed.packets, 100);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever comes when, a token bucket never lets more go than its depth and its rate (RFC 2697's conformance).
    #[test]
    fn a_token_bucket_is_obeyed_between_any_two_departures(
        arrivals in prop::collection::vec((0_u64..30_000, 40_u32..1500), 1..60),
    ) {
        let mut bench = Bench::new(&tbf("rate = \"1 Mbps\"\nburst = \"3 kB\""));
        let (mut at, mut gone, mut sizes) = (0, Vec::new(), Vec::new());
        for &(gap, len) in &arrivals {
            at += gap;
            gone.extend(bench.put_sized(at, 1, 0, len));
            sizes.push(u64::from(len));
        }
        gone.extend(bench.until(at + 10_000_000));
        prop_assert_eq!(gone.len(), sizes.len());
        for i in 0..gone.len() {
            for k in i..gone.len() {
                // 1 Mbit/s are 1/8 byte a microsecond; times are rounded down to one.
                let most = 3_000.0 + (gone[k].0 - gone[i].0 + 1) as f64 / 8.0;
                prop_assert!(sizes[i..=k].iter().sum::<u64>() as f64 <= most);
            }
        }
    }

    /// Shapers within shapers give all packets in the end, and say when to ask.
    #[test]
    fn shapers_within_shapers_come_to_an_end(
        arrivals in prop::collection::vec((0_u64..20_000, 40_u32..1500, 0_usize..2), 1..60),
        outer in 0_usize..5,
        inner in 0_usize..4,
    ) {
        let within = || match inner {
            0 => tbf("rate = \"700 kbps\"\nburst = \"0 B\""),
            1 => with_inner(tbf("rate = \"900 kbps\"\nburst = \"2 kB\""), shaped("fq_codel", "salt = 7")),
            2 => htb(&family("", "priority = 1")),
            _ => cbq(&two_bounded()),
        };
        let config = match outer {
            0 => with_inner(tbf("rate = \"1 Mbps\"\nburst = \"3 kB\""), within()),
            1 => with_classes(shaped("htb", &family("", "")), within(), droptail()),
            2 => with_classes(shaped("cbq", &two_bounded()), within(), within()),
            3 => with_classes(shaped("classes", "schedule = \"drr\""), within(), droptail()),
            _ => with_classes(shaped("classes", "schedule = \"wrr\""), within(), within()),
        };
        let mut bench = Bench::new(&config);
        let (mut at, mut gone) = (0, 0);
        for &(gap, len, group) in &arrivals {
            at += gap;
            gone += bench.put_sized(at, 1, group, len).len();
        }
        gone += bench.until(at + 60_000_000).len();
        let dropped = bench.queue.counters().total().all().dropped().packets as usize;
        prop_assert_eq!(gone + dropped, arrivals.len());
    }
}
