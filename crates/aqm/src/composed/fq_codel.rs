//! FQ-CoDel: RFC 8290. Flows in queues of their own, served in rounds, each with CoDel.
//!
//! Where Linux (net/sched/sch_fq_codel.c) specifies more than the RFC, this follows Linux: `docs/laws/fq_codel.md`.

use ecnlab_base::{Bytes, Dur};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::composed::fq::FlowQueues;
use crate::contract::facts::{ActsAbove, Facts};
use crate::machine::layout::{Compose, Layout};
use crate::registry;
use crate::{Config, Impossible, codel, fq};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "fq_codel",
    label: "FQ-CoDel",
    summary: "FQ-CoDel (RFC 8290): flows in queues of their own, each with CoDel",
    reference: "RFC 8290; Linux, net/sched/sch_fq_codel.c",
    shown: &["target", "interval", "quantum"],
    acts_above: &[ActsAbove::late("target")],
    defaults: &[("limit", "\"10240 packets\""), ("full", "\"fattest\""), ("ecn", "true")],
    separates_flows: true,
    ..Facts::PLAIN
};

/// FQ-CoDel's keys in `[queue.NAME]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Number of queues over which flows are hashed, 1 to 65536. Default 1024 (RFC 8290 §5.2).
    #[serde(default = "fq::default_flows")]
    pub flows: u32,
    /// Salt of the flow hash. Default: drawn for each queue and seed (RFC 8290 §4.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<u64>,
    /// Bytes that each flow may send a round, 256 B to 1 GB. Default 1514 B (RFC 8290 §5.2).
    #[serde(default = "fq::default_quantum")]
    pub quantum: Bytes,
    /// Memory limit for all packets: their bytes and 576 B each. Default 32 MiB (Linux's `memory_limit`).
    #[serde(default = "default_memory")]
    pub memory: Bytes,
    /// Number of packets dropped at a time from the fattest flow, if they are at most half its bytes. Default 64 (RFC
    /// 8290 §4.1, Linux).
    #[serde(default = "fq::default_batch")]
    pub drop_batch: u32,
    /// CoDel's `target` of each flow. Default 5 ms (RFC 8290 §5.2).
    #[serde(default = "default_target")]
    pub target: Dur,
    /// CoDel's `interval` of each flow. Default 100 ms (RFC 8290 §5.2).
    #[serde(default = "default_interval")]
    pub interval: Dur,
    /// CoDel's `mtu`: no flow is signalled while all flows together hold no more than this. Default 1514 B (Linux).
    #[serde(default = "default_mtu")]
    pub mtu: Bytes,
    /// Computation of 1/√count in CoDel. Default `exact` (RFC 8289 §5.6).
    #[serde(default)]
    pub sqrt: codel::Sqrt,
    /// Time unit of CoDel. Default `exact`.
    #[serde(default, skip_serializing_if = "codel::Clock::is_exact")]
    pub clock: codel::Clock,
    /// Sojourn above which ECN-capable packets are marked, independent of CoDel's state. Default: no such marks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Dur>,
}

fn default_memory() -> Bytes {
    Bytes(32 << 20)
}
fn default_target() -> Dur {
    codel::Params::default().target
}
fn default_interval() -> Dur {
    codel::Params::default().interval
}
fn default_mtu() -> Bytes {
    codel::Params::default().mtu
}

impl Params {
    /// The round-robin settings, without the law.
    fn rounds(&self) -> fq::Params {
        let Params { flows, salt, quantum, memory, drop_batch, .. } = *self;
        fq::Params { flows, salt, quantum, memory: Some(memory), drop_batch, rounds: fq::Order::DrrPlus }
    }

    /// The law of each flow.
    fn codel(&self) -> codel::Params {
        let Params { target, interval, mtu, sqrt, clock, ce_threshold, .. } = *self;
        codel::Params { target, interval, mtu, sqrt, clock, ce_threshold }
    }

    /// The queues of flows.
    fn queues(&self) -> FlowQueues {
        FlowQueues { rounds: self.rounds(), law: registry::Params::Codel(self.codel()) }
    }

    /// Checks the values; the error names the key.
    pub fn check(&self, config: &Config) -> Result<(), Impossible> {
        self.queues().check(config)
    }
}

/// FQ-CoDel on one link.
#[derive(Clone, Copy, Debug)]
pub struct FqCodel;

impl Compose for FqCodel {
    type Params = Params;

    fn layout(params: &Params, config: &Config, _groups: &[String]) -> Layout {
        params.queues().layout(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_scenario_leaves_out_is_of_rfc_8290_and_linux() {
        let expected = Params {
            flows: 1024,
            salt: None,
            quantum: Bytes(1514),
            memory: Bytes(32 * 1024 * 1024),
            drop_batch: 64,
            target: Dur::from_ms(5),
            interval: Dur::from_ms(100),
            mtu: Bytes(1514),
            sqrt: codel::Sqrt::Exact,
            clock: codel::Clock::Exact,
            ce_threshold: None,
        };
        assert_eq!(toml::from_str::<Params>("").unwrap(), expected);
    }
}
