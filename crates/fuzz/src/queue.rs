//! A queue: its settings, then what arrives and leaves when.

use ecnlab_aqm::{DropReason, Item, LinkContext, MarkReason, Queue, Recorded, Tally, Watch};
use ecnlab_base::facts::Column;
use ecnlab_base::{Dur, Length, Rate, Rng, Time};
use ecnlab_scenario::parse_scenario;
use ecnlab_wire::{Dscp, Ecn};

use crate::bytes::Bytes;

const AROUND: &str = "format = 1\nduration = \"10 s\"\n\
    [link.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbps\"\ndelay = \"1 ms\"\nqueue = \"q\"\n\
    [flow.f]\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\n[queue.q]\n";
/// Bytes held past which an input shows nothing new.
const MAX_BYTES: u64 = 1 << 30;

#[derive(Clone, Copy, Debug)]
struct Packet {
    len: u32,
    ecn: Ecn,
    dscp: Dscp,
    group: usize,
    flow: u64,
}

impl Item for Packet {
    fn wire_len(&self) -> u32 {
        self.len
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn dscp(&self) -> Dscp {
        self.dscp
    }
    fn mark(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn group(&self) -> usize {
        self.group
    }
    fn flow_key(&self) -> u64 {
        self.flow
    }
}

#[derive(Default)]
struct Tallies {
    entered: u64,
    left: u64,
    marked: u64,
    dropped: u64,
}

impl Watch<Packet> for Tallies {
    fn enqueued(&mut self, _: &Packet) {
        self.entered += 1;
    }
    fn marked(&mut self, packet: &Packet, _: MarkReason) {
        assert_eq!(packet.ecn, Ecn::Ce);
        self.marked += 1;
    }
    fn dropped(&mut self, _: &Packet, _: DropReason) {
        self.dropped += 1;
    }
    fn dequeued(&mut self, _: &Packet) {
        self.left += 1;
    }
}

/// Every packet is held, gone or dropped, and nothing is held past the limit.
pub fn queue(input: &[u8]) {
    let Some((settings, mut bytes)) = Bytes::behind_settings(input) else { return };
    let Ok(scenario) = parse_scenario("x.toml", &format!("{AROUND}{settings}")) else { return };
    let plan = scenario.plan(1);
    let Some(link) = plan.links.first() else { return };
    let rate = link.rate.unwrap_or(Rate::from_bps(10_000_000));
    let context = LinkContext { rate, delay: link.delay };
    let groups = ["plain", "ecn"].map(str::to_owned);
    let mut queue = Queue::new(&link.queue, context, &groups, Rng::named(1, "queue"));
    let columns = Recorded::of([&*link.queue]).queue_series;
    let (mut now, mut seen, mut arrived) = (Time::ZERO, Tallies::default(), 0);
    while !bytes.is_empty() && queue.bytes() < MAX_BYTES {
        let what = bytes.u8();
        now += bytes.pause();
        if what & 0x80 == 0 {
            let len = if what & 0x40 == 0 { 1_500 } else { u32::from(bytes.u16()).max(1) };
            let ecn = Ecn::from_bits(what & 3);
            let (flow, dscp) = (u64::from(what & 0x3f), Dscp::from_bits(what));
            let packet = Packet { len, ecn, dscp, group: usize::from(ecn.is_capable()), flow };
            // A burst of up to sixteen.
            for _ in 0..=(what >> 2 & 15) {
                queue.enqueue(packet, now, &mut seen);
                arrived += 1;
            }
        } else {
            for _ in 0..=(what & 15) {
                let _ = queue.dequeue(now, &mut seen);
            }
        }
        balanced(&queue, &seen, arrived);
        recorded(&queue, &columns);
        within(&queue, link.queue.common.limit);
    }
    let stats = queue.cut_stats(now + Dur::from_ms(1));
    assert!(stats.mean_packets() >= 0.0 && stats.mean_bytes() >= 0.0);
    assert!(stats.variance_packets() >= 0.0);
    assert!(stats.sojourns() == 0 || stats.sojourn_mean_s() >= 0.0);
}

fn balanced(queue: &Queue<Packet>, seen: &Tallies, arrived: u64) {
    assert!(queue.is_balanced());
    let total = queue.counters().total().all();
    assert_eq!(total.arrived.packets, arrived);
    assert_eq!((total.departed.packets, total.dropped().packets), (seen.left, seen.dropped));
    assert_eq!(total.marks.packets, seen.marked);
    assert_eq!(total.held(), Tally { packets: queue.packets() as u64, bytes: queue.bytes() });
    assert!(seen.entered >= seen.left);
}

/// The law has a value in each of its columns.
fn recorded(queue: &Queue<Packet>, columns: &[Column]) {
    for column in columns {
        let value = queue.value(column.name);
        // Missing without queue protection.
        let missing = column.name == "sanctioned" && value.is_some_and(f64::is_nan);
        assert!(missing || value.is_some_and(f64::is_finite), "{}: {value:?}", column.name);
    }
}

fn within(queue: &Queue<Packet>, limit: Length) {
    match limit {
        Length::Packets(most) => assert!(queue.packets() as f64 <= most),
        // One packet may stand over it with `admit = "below"`.
        Length::Bytes(most) => assert!(queue.bytes() as f64 <= most + 65_535.0),
    }
}
