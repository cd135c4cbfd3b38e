//! CAKE, Common Applications Kept Enhanced: Linux's net/sched/sch_cake.c. Tins of flows, each flow with its own queue
//! and COBALT, fair between flows and between hosts, behind a virtual clock.

mod hosts;
mod pace;
mod rounds;
mod tins;
mod ways;

use ecnlab_base::{Bytes, Dur, Length, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::pace::Pace;
use self::tins::{Tin, Tins};
use crate::config::QUANTUM;
use crate::contract::facts::{ActsAbove, Facts};
use crate::machine::layout::{Classifier, Compose, Inner, Layout};
use crate::machine::scheduler::Scheduler;
use crate::{Common, Config, Impossible, cobalt, registry};

/// Queues of a tin (`CAKE_QUEUES`).
const QUEUES: usize = 1024;
/// Minimum of the memory limit derived from rate and RTT, in bytes (`cake_reconfigure`).
const LEAST_MEMORY: u64 = 4 << 20;
/// Default memory limit in packets of `mtu` (`sch->limit` of `cake_init`).
const MOST_PACKETS: u64 = 10_240;

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "cake",
    label: "CAKE",
    summary: "CAKE (Linux): tins of flows with COBALT each, hosts and flows isolated, behind a virtual clock",
    reference: "Linux, net/sched/sch_cake.c",
    shown: &["rate", "rtt", "diffserv", "isolation"],
    acts_above: &[ActsAbove::late("target")],
    // Linux has no limit in packets: memory is used up long before this one is.
    defaults: &[("limit", "\"1000000 packets\""), ("full", "\"fattest\""), ("ecn", "true")],
    separates_flows: true,
    ..Facts::PLAIN
};

/// CAKE's keys in `[queue.NAME]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Shaping rate, applied to packets with `overhead` and `framing`: at least 512 bit/s and at most the link's rate
    /// (`bandwidth` of `tc`). Default: none, packets leave at the link's rate (`cake_config_init`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Assumed RTT of flows, 1 µs to 1000 s: COBALT's interval. Default 100 ms
    /// (`cake_config_init`).
    #[serde(default = "default_rtt")]
    pub rtt: Dur,
    /// COBALT's target, at most `rtt`. Default: a twentieth of `rtt` (`tc`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Dur>,
    /// The tins, by the DSCP of packets. Default `diffserv3` (`cake_config_init`).
    #[serde(default)]
    pub diffserv: Diffserv,
    /// Entities between which it is fair. Default `triple-isolate` (`cake_config_init`).
    #[serde(default)]
    pub isolation: Isolation,
    /// Bytes on the wire in addition to the IP packet, -64 to 256. Default 0.
    #[serde(default)]
    pub overhead: i32,
    /// Minimum bytes on the wire, including `overhead`: 0 to 256. Default 0.
    #[serde(default)]
    pub mpu: u32,
    /// Framing of the link (`noatm`, `atm` and `ptm` of `tc`). Default `plain`.
    #[serde(default)]
    pub framing: Framing,
    /// The link is after the bottleneck, so packets dropped by COBALT have already used the bottleneck's time. Default
    /// false (`cake_config_init`).
    #[serde(default)]
    pub ingress: bool,
    /// Memory limit for all packets (`memlimit` of `tc`): their bytes and 576 B each. Default: four times the bytes
    /// that `rate` carries in `rtt`, at least 4 MiB and at most 10240 packets of `mtu`; without `rate` that maximum
    /// (`cake_reconfigure`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// The longest packet, 256 B to 65535 B. Default 1514 B (an Ethernet frame: Linux's `psched_mtu`).
    #[serde(default = "default_mtu")]
    pub mtu: Bytes,
    /// Salt of the hashes of flows and hosts. Default: drawn for each queue and seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<u64>,
}

/// The tins: their number and the packets assigned to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Diffserv {
    /// One.
    Besteffort,
    /// Eight, by the three bits of the old IP precedence.
    Precedence,
    /// Three: best effort, bulk, voice.
    #[default]
    Diffserv3,
    /// Four: best effort, bulk, video, voice.
    Diffserv4,
    /// Eight.
    Diffserv8,
}

/// Entities between which CAKE is fair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Nobody: all packets of a tin are one queue.
    Flowblind,
    /// Sources.
    Srchost,
    /// Destinations.
    Dsthost,
    /// Pairs of source and destination.
    Hosts,
    /// Flows.
    Flows,
    /// Sources, and the flows of each.
    DualSrchost,
    /// Destinations, and the flows of each.
    DualDsthost,
    /// Sources and destinations, and the flows of each.
    #[default]
    TripleIsolate,
}

/// Framing of the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// Frames of variable length (`noatm`).
    #[default]
    Plain,
    /// Cells of 53 bytes for 48.
    Atm,
    /// One additional byte per 64 bytes or part of them.
    Ptm,
}

fn default_rtt() -> Dur {
    Dur::from_ms(100)
}
fn default_mtu() -> Bytes {
    QUANTUM
}

impl Params {
    /// The rate in bytes per second, as in Linux.
    fn bytes_per_s(&self) -> Option<u64> {
        self.rate.map(|rate| rate.bps() / 8)
    }

    fn target(&self) -> Dur {
        self.target.unwrap_or(Dur::from_ps(self.rtt.ps() / 20))
    }

    /// `cake_reconfigure`. Linux keeps microseconds of the round trip.
    fn memory(&self) -> u64 {
        let most = MOST_PACKETS * self.mtu.0;
        match (self.memory, self.bytes_per_s()) {
            (Some(memory), _) => memory.0,
            (None, Some(rate)) => {
                let bytes = u128::from(rate) * u128::from(self.rtt.whole(Dur::from_us(1))) / 250_000;
                u64::try_from(bytes).unwrap_or(u64::MAX).clamp(LEAST_MEMORY.min(most), most)
            }
            (None, None) => most,
        }
    }

    /// COBALT of the flows of a tin (`cake_set_rate`): slow links allow for the time that a packet takes.
    fn cobalt(&self, pace: &Pace) -> cobalt::Params {
        let ns = |dur: Dur| dur.whole(Dur::from_ns(1));
        let (rtt, least) = (ns(self.rtt), ns(self.target()));
        let mtu_time = pace.time(self.mtu.0);
        let target = (mtu_time * 3 / 2).max(least);
        let interval = (rtt + target - least).max(target * 2);
        let [target, interval, mtu_time] = [target, interval, mtu_time].map(Dur::from_ns);
        cobalt::Params { target, interval, mtu_time, ..cobalt::Params::default() }
    }

    /// Checks the values; the error names the key.
    pub fn check(&self, config: &Config) -> Result<(), Impossible> {
        Impossible::unless(config.classes.is_empty(), "class", || {
            "tins and flows are its only classes: leave it out".to_owned()
        })?;
        let Params { rtt, rate, overhead, mpu, memory, mtu, .. } = self;
        let most = Dur::from_s(1000);
        Impossible::unless(*rtt >= Dur::from_us(1) && *rtt <= most, "rtt", || {
            format!("{rtt} is not 1 us to {most}: write the round trip that most flows have, such as 100 ms")
        })?;
        Impossible::unless(self.target() <= *rtt, "target", || {
            format!("{} is above the round trip, {rtt}: leave it out, or write less", self.target())
        })?;
        Impossible::unless(rate.is_none_or(|rate| rate.bps() >= 512), "rate", || {
            "it is less than 512 bit/s, the least that sch_cake counts with: write a higher one".to_owned()
        })?;
        Impossible::unless((-64..=256).contains(overhead), "overhead", || {
            format!("{overhead} is not -64 to 256 bytes, as tc takes them: write such as 18 for Ethernet")
        })?;
        Impossible::unless(*mpu <= 256, "mpu", || format!("{mpu} is not 0 to 256 bytes, as tc takes them"))?;
        Impossible::unless((256..=65_535).contains(&mtu.0), "mtu", || {
            format!("{mtu} is not 256 to 65535 B: write the longest packet, such as 1514 B")
        })?;
        Impossible::unless(memory.is_none_or(|memory| memory.0 >= mtu.0 + 576), "memory", || {
            format!("it holds no packet of `mtu`, {mtu}, with 576 B more: write such as \"4 MB\"")
        })
    }
}

/// CAKE on one link.
#[derive(Clone, Copy, Debug)]
pub struct Cake;

impl Compose for Cake {
    type Params = Params;

    fn in_force(params: &Params) -> Params {
        Params { target: Some(params.target()), memory: Some(Bytes(params.memory())), ..params.clone() }
    }

    fn layout(params: &Params, config: &Config, _groups: &[String]) -> Layout {
        let common = Common { ecn: config.common.ecn, ..Common::with_limit(Length::Packets(f64::INFINITY)) };
        let tins = Tin::all(params);
        let queue = |tin: &Tin| Config::new(registry::Params::Cobalt(params.cobalt(&tin.pace)), common);
        let queues = tins.iter().map(|tin| (tin.name.to_owned(), queue(tin))).collect();
        Layout {
            classifier: Classifier::Rules(Vec::new()),
            scheduler: Scheduler::Shaped(Box::new(Tins::new(params, tins))),
            queues: Inner::Alike(QUEUES, queues),
            memory: Some(params.memory()),
            batch: 1,
            law: None,
        }
    }

    fn rate(params: &Params) -> Option<Rate> {
        params.rate
    }

    fn check_before(params: &Params, link: Rate) -> Result<(), Impossible> {
        Impossible::unless(params.rate.is_none_or(|rate| rate <= link), "rate", || {
            format!("it is above the rate of the link behind it, {link}: write a lower one")
        })
    }
}

#[cfg(test)]
mod tests;
