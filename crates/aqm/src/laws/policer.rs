//! Policer: a token bucket without a buffer. A packet that finds its bytes in the bucket takes them and enters the FIFO of the
//! link; any other packet is dropped (Linux's net/sched/act_police.c, `tc ... action police rate R burst B conform-exceed drop`).

use ecnlab_base::{Bytes, Rate, Rng, Time, coverage_mark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::{ActsAbove, Facts};
use crate::machine::bucket::Bucket;
use crate::{Aqm, Impossible, LawParams, LinkContext, PacketView, Verdict, View};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "policer",
    label: "policer",
    summary: "drops packets that exceed a rate and a burst, and delays none",
    reference: "Linux, net/sched/act_police.c (tcf_police_act)",
    shown: &["rate", "burst"],
    acts_above: &[ActsAbove { key: "burst", consequence: "no packet of this size conforms" }],
    marks: false,
    uses_ecn: false,
    judges_departures: false,
    ..Facts::PLAIN
};

/// The policer's keys in `[queue.NAME]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Rate at which the bucket fills, in bytes of IP packets.
    pub rate: Rate,
    /// Depth of the bucket in bytes, at least the largest packet: a larger packet never conforms.
    pub burst: Bytes,
}

impl Params {
    /// Refuses a bucket that holds nothing.
    pub fn check(&self) -> Result<(), Impossible> {
        Impossible::unless(self.burst.0 > 0, "burst", || {
            "0 B would drop every packet: write at least a packet, such as 15 kB".to_owned()
        })
    }
}

/// The policer of one queue.
#[derive(Clone, Copy, Debug)]
pub struct Policer {
    bucket: Bucket,
    burst: Bytes,
}

impl LawParams for Params {
    type Law = Policer;

    fn law(&self, _link: LinkContext) -> Policer {
        Policer { bucket: Bucket::new(self.rate, self.burst), burst: self.burst }
    }
}

impl Aqm for Policer {
    fn on_enqueue(&mut self, packet: &PacketView, _view: &View, now: Time, _rng: &mut Rng) -> Verdict {
        let fits = u64::from(packet.size) <= self.burst.0;
        if fits && self.bucket.ready(packet.size) <= now {
            self.bucket.spend(now, packet.size);
            return Verdict::Pass;
        }
        coverage_mark!("policer.exceed");
        Verdict::SignalByDrop
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_base::Dur;
    use ecnlab_base::coverage::must_reach;
    use ecnlab_wire::Ecn;

    fn law(rate: &str, burst: u64) -> Policer {
        let link = LinkContext { rate: Rate::from_bps(1_000_000_000), delay: Dur::ZERO };
        Params { rate: rate.parse().unwrap(), burst: Bytes(burst) }.law(link)
    }

    /// Whether a packet of `size` bytes that arrives at `us` microseconds conforms.
    fn conforms(law: &mut Policer, us: u64, size: u32) -> bool {
        let packet = PacketView { size, ecn: Ecn::Ect0, flow: 0, can_mark: false, sojourn: Dur::ZERO };
        let view = View { packets: 0, bytes: 0, in_all: 0, idle: None, polled: false };
        law.on_enqueue(&packet, &view, Time::ZERO + Dur::from_us(us), &mut Rng::named(1, "policer")) == Verdict::Pass
    }

    fn conforming(law: &mut Policer, us: u64, packets: usize) -> usize {
        (0..packets).filter(|_| conforms(law, us, 1000)).count()
    }

    #[test]
    fn a_full_bucket_passes_a_burst_and_an_exceeding_packet_takes_no_tokens() {
        let _reached = must_reach(["policer.exceed"]);
        // 8 Mbit/s is a byte a microsecond. 5500 B: 5 packets of 1000 B, 500 B are left.
        let mut law = law("8 Mbps", 5500);
        assert_eq!(conforming(&mut law, 0, 9), 5);
        // The four excess packets took nothing, and a smaller packet finds its bytes: 500 of 500.
        assert!(conforms(&mut law, 0, 500) && !conforms(&mut law, 0, 1));
        // 1000 B are there after 1000 µs, not after 999.
        assert!(!conforms(&mut law, 999, 1000) && conforms(&mut law, 1000, 1000));
        // After 3 ms 3000 B; after any longer time the depth, 5500 B.
        assert_eq!(conforming(&mut law, 4000, 9), 3);
        assert_eq!(conforming(&mut law, 1_000_000, 9), 5);
        assert!(conforms(&mut law, 1_000_000, 500) && !conforms(&mut law, 1_000_000, 1));
    }

    #[test]
    fn the_sustained_rate_is_exact_and_does_not_drift() {
        // A packet each 500 µs is twice the rate. The bucket holds one: the packets of whole milliseconds conform.
        let mut law = law("8 Mbps", 1000);
        let passed: Vec<u64> = (0..2000).filter(|n| conforms(&mut law, 500 * n, 1000)).collect();
        assert_eq!(passed, (0..1000).map(|n| 2 * n).collect::<Vec<_>>());
    }

    #[test]
    fn a_rate_whose_packet_time_is_no_whole_picosecond_loses_less_than_one_a_packet() {
        // 1000 B at 7 Mbit/s take 1142.857142857… µs. At an arrival each 100 µs for 10 s, 10 s·7 Mbit/s/8000 bit = 8750 conform,
        // and the packet of the full bucket; the last of the exact boundaries, at 10 s, is not among the arrivals.
        let mut law = law("7 Mbps", 2000);
        let passed = (0..100_000).filter(|n| conforms(&mut law, 100 * n, 1000)).count();
        assert_eq!(passed, 8750 + 1);
    }

    #[test]
    fn a_packet_longer_than_the_bucket_never_conforms() {
        let mut law = law("8 Mbps", 1000);
        assert!(!conforms(&mut law, 1_000_000, 1001) && conforms(&mut law, 1_000_000, 1000));
    }

    #[test]
    fn a_bucket_of_nothing_is_refused() {
        let key = |burst| {
            let params = Params { rate: Rate::from_bps(1), burst: Bytes(burst) };
            params.check().err().map(|refused| refused.key)
        };
        assert_eq!((key(0).as_deref(), key(1)), (Some("burst"), None));
    }

    #[test]
    fn a_bucket_is_no_deeper_than_the_longest_time() {
        // 2^64 ps are 18,446,744 s, in which 1 bit/s carries 2305 packets of 8000 bits.
        let mut law = law("1 bps", u64::MAX);
        assert_eq!(conforming(&mut law, 1_000_000, 3000), 2305);
    }
}
