//! A queue before a link, in time.

use ecnlab_aqm::registry::Params;
use ecnlab_aqm::{Class, Common, Config, Item, LinkContext, MarkReason, Member, Queue, Watch, codel, droptail};
use ecnlab_base::{Dur, Length, Rate, Rng, Time};
use ecnlab_wire::{Dscp, Ecn};

use crate::packet::Packet;

/// A link of 10 Mbit/s, on which 1250 B take 1 ms, behind a queue. Packets of 1250 B that belong to group "a", "b" or "c".
pub struct Bench {
    pub queue: Queue<Packet>,
    now: Time,
    free: Time,
    sent: u32,
    pub marked: Vec<u32>,
}

struct Marks<'a>(&'a mut Vec<u32>);

impl Watch<Packet> for Marks<'_> {
    fn marked(&mut self, packet: &Packet, _: MarkReason) {
        self.0.push(packet.id);
    }
}

impl Bench {
    pub fn new(config: &Config) -> Bench {
        let rate = Rate::from_bps(10_000_000);
        assert_eq!((config.check(), config.check_before(rate)), (Ok(()), Ok(())));
        let link = LinkContext { rate, delay: Dur::from_ms(10) };
        let groups = ["a", "b", "c"].map(str::to_owned);
        let queue = Queue::new(config, link, &groups, Rng::named(1, "queue"));
        Bench { queue, now: Time::ZERO, free: Time::ZERO, sent: 0, marked: Vec::new() }
    }

    /// So many packets of a group come at `us`; what has left until then, as [`Bench::until`].
    pub fn put(&mut self, us: u64, packets: u32, group: usize) -> Vec<(u64, usize)> {
        self.put_sized(us, packets, group, 1250)
    }

    pub fn put_sized(&mut self, us: u64, packets: u32, group: usize, len: u32) -> Vec<(u64, usize)> {
        let before = self.until(us);
        self.add(packets, group, len);
        before
    }

    /// So many packets of "a" and "b" come now.
    pub fn fill(&mut self, packets: [u32; 2]) {
        (0..2).for_each(|group| self.add(packets[group], group, 1250));
    }

    pub fn add(&mut self, packets: u32, group: usize, len: u32) {
        for _ in 0..packets {
            self.sent += 1;
            let packet = Packet { id: self.sent, len, ecn: Ecn::Ect0, dscp: Dscp::default(), group, flow: 0 };
            self.queue.enqueue(packet, self.now, &mut Marks(&mut self.marked));
        }
        assert!(self.queue.is_balanced());
    }

    /// When packets up to `us` leave, in µs, and their groups.
    pub fn until(&mut self, us: u64) -> Vec<(u64, usize)> {
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
    pub fn times(&mut self, ms: u64) -> Vec<u64> {
        self.until(1_000 * ms).into_iter().map(|(us, _)| us / 1_000).collect()
    }

    /// The groups of the packets that leave up to `ms`, in their order: "aab".
    pub fn order(&mut self, ms: u64) -> String {
        groups(&self.until(1_000 * ms))
    }

    /// How many packets of "a" and "b" leave up to `ms`, while both always hold more.
    pub fn shares(&mut self, ms: u64) -> [usize; 2] {
        let gone = self.until(1_000 * ms);
        [0, 1].map(|group| gone.iter().filter(|(_, of)| *of == group).count())
    }
}

/// The groups of these packets: "aab".
pub fn groups(gone: &[(u64, usize)]) -> String {
    gone.iter().map(|(_, group)| ["a", "b", "c"][*group]).collect()
}

pub fn queue(params: Params) -> Config {
    Config::new(params, Common::with_limit(Length::Packets(100_000.0)))
}

pub fn droptail() -> Config {
    queue(Params::DropTail(droptail::Params {}))
}

pub fn shaped(name: &str, keys: &str) -> Config {
    queue(Params::deserialize(name, toml::from_str::<toml::Table>(keys).unwrap()).unwrap())
}

fn of_group(group: &str) -> Member {
    Member { groups: vec![group.to_owned()], ..Member::default() }
}

/// With a class `a` for group "a", and `b` for the rest.
pub fn with_classes(mut config: Config, a: Config, b: Config) -> Config {
    config.classes.insert("a".to_owned(), Class { member: of_group("a"), queue: a });
    config.classes.insert("b".to_owned(), Class { member: Member { order: 1, ..Member::default() }, queue: b });
    config
}

/// The same with a drop-tail class `c` for group "c".
pub fn with_c(mut config: Config) -> Config {
    config.classes.insert("c".to_owned(), Class { member: of_group("c"), queue: droptail() });
    config
}

/// CoDel that marks what has waited more than 5 ms.
pub fn marks_after_5_ms() -> Config {
    queue(Params::Codel(codel::Params { ce_threshold: Some(Dur::from_ms(5)), ..codel::Params::default() }))
}

/// The key of what is refused of a queue before a link of 10 Mbit/s.
pub fn refused(config: &Config) -> Option<String> {
    config.check().and_then(|()| config.check_before(Rate::from_bps(10_000_000))).err().map(|e| e.key)
}

pub fn with_inner(mut config: Config, queue: Config) -> Config {
    config.classes.insert("inner".to_owned(), Class { member: Member::default(), queue });
    config
}

/// What the groups send in 10 s, with 10 s of packets of both.
pub fn ten_seconds(config: &Config) -> [usize; 2] {
    let mut bench = Bench::new(config);
    bench.fill([10_000; 2]);
    bench.shares(10_000)
}

pub fn near(shares: [usize; 2], mbps: [usize; 2]) {
    // 1 Mbit/s are 1000 packets in 10 s. Bursts, and packets under way, are a few.
    let close = (0..2).all(|i| shares[i].abs_diff(1_000 * mbps[i]) <= 10);
    assert!(close, "{shares:?} packets, not {mbps:?} Mbit/s");
}
