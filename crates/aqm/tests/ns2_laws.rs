//! PI, REM and AVQ against ns-2's own, before the same arrivals. `tests/tools/crosscheck/laws.tcl` has made what is in `ns2/`, and
//! `make crosscheck` makes it again.

use crate::packet;

use ecnlab_aqm::registry::Params;
use ecnlab_aqm::{Common, Config, DropReason, LinkContext, MarkReason, Queue, Watch};
use ecnlab_base::{Dur, Length, Rate, Rng, Time};
use ecnlab_wire::{Dscp, Ecn};

use packet::Packet;

/// ns-2 prints six digits.
const PRECISION: f64 = 5.1e-6;

/// Who was marked and who was dropped, by numbers from 0 as in ns-2.
#[derive(Default)]
struct Diary {
    marked: Vec<u32>,
    dropped: Vec<u32>,
}

impl Watch<Packet> for Diary {
    fn marked(&mut self, packet: &Packet, _why: MarkReason) {
        self.marked.push(packet.id);
    }
    fn dropped(&mut self, packet: &Packet, why: DropReason) {
        assert_eq!(why, DropReason::Tail);
        self.dropped.push(packet.id);
    }
}

/// A queue on a link of 10 Mbit/s.
struct Line {
    queue: Queue<Packet>,
    free: Time,
    sent: u32,
    diary: Diary,
}

impl Line {
    const LINK: LinkContext = LinkContext { rate: Rate::from_bps(10_000_000), delay: Dur::from_ms(10) };

    fn new(name: &str, keys: &str, limit: f64) -> Line {
        let params = Params::deserialize(name, toml::from_str::<toml::Table>(keys).unwrap()).unwrap();
        let config = Config::new(params, Common { ecn: true, ..Common::with_limit(Length::Packets(limit)) });
        assert_eq!(config.check(), Ok(()));
        let queue = Queue::new(&config, Self::LINK, &["all".to_owned()], Rng::named(1, "ns2"));
        Line { queue, free: Time::ZERO, sent: 0, diary: Diary::default() }
    }
    /// Packets of 1000 B come at once; the sender's first has 960 B.
    fn burst(&mut self, packets: u64, now: Time) {
        self.serve(now);
        self.free = self.free.max(now);
        for _ in 0..packets {
            let (id, dscp) = (self.sent, Dscp::from_bits(0));
            self.sent += 1;
            let len = if id == 0 { 960 } else { 1000 };
            let packet = Packet { id, len, ecn: Ecn::Ect0, dscp, group: 0, flow: 0 };
            self.queue.enqueue(packet, now, &mut self.diary);
            self.serve(now);
        }
    }
    /// What the link begins to send by `now`.
    fn serve(&mut self, now: Time) {
        while self.free <= now
            && let Some(packet) = self.queue.dequeue(self.free, &mut self.diary)
        {
            self.free += Self::LINK.rate.time_for(u64::from(packet.len));
        }
    }
    fn p(&mut self, now: Time) -> f64 {
        self.serve(now);
        self.queue.observe(now);
        self.queue.value("signal_p").unwrap()
    }
}

/// The script's bursts: when, in ns, and how many packets.
fn bursts() -> Vec<(u64, u64)> {
    let mut seed = 1_u64;
    let mut draw = |most: u64| {
        seed = (seed * 1_103_515_245 + 12_345) % (1 << 31);
        1 + (seed >> 16) % most
    };
    let mut ns = 0;
    let burst = |_| {
        ns += 1_000_000 * draw(48) + 1;
        (ns, draw(60))
    };
    (0..200).map(burst).collect()
}

fn at(ns: u64) -> Time {
    Time::ZERO + Dur::from_ns(ns)
}

/// Holds p of a law against what ns-2 printed: milliseconds and p 0.5 ms later.
fn follows(name: &str, keys: &str, printed: &str) {
    let mut line = Line::new(name, keys, 10_000.0);
    let mut coming = bursts().into_iter().peekable();
    let mut above = 0;
    for row in printed.lines() {
        let (ms, p) = row.split_once(' ').unwrap();
        let (now, p) = (1_000_000 * ms.parse::<u64>().unwrap() + 500_000, p.parse::<f64>().unwrap());
        while let Some((ns, packets)) = coming.next_if(|(ns, _)| *ns <= now) {
            line.burst(packets, at(ns));
        }
        let ours = line.p(at(now));
        assert!((ours - p).abs() <= PRECISION * p, "{name} at {ms} ms: {ours}, ns-2 {p}");
        above += usize::from(p > 0.0);
    }
    assert!(line.diary.dropped.is_empty() && !line.diary.marked.is_empty() && above > 80);
}

#[test]
fn pi_s_probability_is_that_of_ns2() {
    follows("pi", "", include_str!("ns2/pi.txt"));
    follows("pi", "a = 0.001\nb = 0.0009\nq_ref = \"30 packets\"", include_str!("ns2/pi-fast.txt"));
}

#[test]
fn rem_s_probability_is_that_of_ns2() {
    follows("rem", "", include_str!("ns2/rem.txt"));
    let keys = "gamma = 0.01\nweight = 0.1\ntarget = \"20 kB\"";
    follows("rem", keys, include_str!("ns2/rem-average.txt"));
}

/// Numbers of packets as stretches, first and last.
fn stretches(numbers: &[u32]) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for &n in numbers {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == n => *last = n,
            _ => found.push((n, n)),
        }
    }
    found
}

#[test]
fn avq_marks_and_drops_the_packets_that_ns2_does() {
    let mut line = Line::new("avq", "", 100.0);
    for (ns, packets) in bursts() {
        line.burst(packets, at(ns));
    }
    let printed = |word: &str| -> Vec<(u32, u32)> {
        let rows = include_str!("ns2/avq.txt").lines().filter_map(|row| row.strip_prefix(word)?.trim().split_once(' '));
        rows.map(|(first, last)| (first.parse().unwrap(), last.parse().unwrap())).collect()
    };
    let Diary { mut marked, dropped } = line.diary;
    // ns-2's trace does not show whether a packet was marked that found no room.
    marked.retain(|id| !dropped.contains(id));
    assert!(printed("marked").len() > 50 && printed("dropped").len() > 5);
    assert_eq!(stretches(&dropped), printed("dropped"));
    assert_eq!(stretches(&marked), printed("marked"));
}
