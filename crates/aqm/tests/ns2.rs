//! RED's average against ns-2's own, packet by packet.

use ecnlab_aqm::red::{self, Idle, Threshold, Weight};
use ecnlab_aqm::registry::Params;
use ecnlab_aqm::{Common, Config, Item, LinkContext, Queue};
use ecnlab_base::{Dur, Length, Rate, Rng, Time};
use ecnlab_wire::{Dscp, Ecn};

#[derive(Clone, Copy)]
struct Packet(u32);

impl Item for Packet {
    fn wire_len(&self) -> u32 {
        self.0
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn dscp(&self) -> Dscp {
        Dscp::default()
    }
    fn mark(&mut self) {}
    fn group(&self) -> usize {
        0
    }
    fn flow_key(&self) -> u64 {
        0
    }
}

/// Arrival in µs, bytes, and `ave_` after it as ns-2.35 traces it: Queue/RED with `queue_in_bytes_ true`,
/// `q_weight_ -2`, `mean_pktsize_ 500`, `thresh_ 50`, `maxthresh_ 60` on 1 Mbit/s and 10 ms.
const NS2: [(u64, u32, f64); 12] = [
    (10_008, 1000, 0.0),
    (12_004, 500, 0.0),
    (13_004, 500, 19.6053),
    (14_508, 1000, 58.0471),
    (16_008, 1000, 134.192),
    (17_008, 1000, 246.562),
    (20_004, 500, 374.131),
    (31_008, 1000, 457.488),
    (45_008, 1000, 498.365),
    (75_004, 500, 460.049),
    (76_004, 500, 442.01),
    (140_008, 1000, 242.58),
];

#[test]
fn the_average_is_that_of_ns2_through_busy_and_idle_time() {
    let at = |packets: f64| Threshold::At(Length::Bytes(500.0 * packets));
    let params = red::Params {
        weight: Weight::TimeConstant(Dur::from_ms(100)),
        idle: Idle::Ns2,
        ..red::Params::new(at(50.0), at(60.0))
    };
    let config = Config::new(Params::Red(params), Common::with_limit(Length::Bytes(50_000.0)));
    let link = LinkContext { rate: Rate::from_bps(1_000_000), delay: Dur::from_ms(10) };
    let mut queue = Queue::new(&config, link, &["all".to_owned()], Rng::named(1, "ns2"));
    let mut free = Time::ZERO;
    for (us, len, ave) in NS2 {
        let now = Time::ZERO + Dur::from_us(us);
        serve(&mut queue, &mut free, now, link.rate);
        queue.enqueue(Packet(len), now, &mut ());
        free = free.max(now);
        serve(&mut queue, &mut free, now, link.rate);
        let bytes = queue.value("average_bytes").unwrap_or(f64::NAN);
        // ns-2 prints six digits.
        assert!((bytes - ave).abs() <= 1e-5 * ave, "at {us} µs: {bytes}, ns-2 {ave}");
    }
}

/// Sends what the link, free at `free`, begins to send by `now`.
fn serve(queue: &mut Queue<Packet>, free: &mut Time, now: Time, rate: Rate) {
    while *free <= now
        && let Some(packet) = queue.dequeue(*free, &mut ())
    {
        *free += rate.time_for(u64::from(packet.0));
    }
}
