//! FQ-PIE: Linux's net/sched/sch_fq_pie.c. Flows in queues of their own, served in rounds, each with PIE.

use ecnlab_base::{Bytes, Dur};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::composed::fq::FlowQueues;
use crate::contract::facts::{ActsAbove, Facts};
use crate::machine::layout::{Compose, Layout};
use crate::registry;
use crate::{Config, Impossible, fq, pie};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "fq_pie",
    label: "FQ-PIE",
    summary: "FQ-PIE (Linux): flows in queues of their own, each with PIE",
    reference: "Linux, net/sched/sch_fq_pie.c",
    shown: &["target", "quantum"],
    acts_above: &[ActsAbove::aim("target")],
    defaults: &[("limit", "\"10240 packets\"")],
    separates_flows: true,
    ..Facts::PLAIN
};

/// FQ-PIE's keys in `[queue.NAME]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Number of queues over which flows are hashed, 1 to 65536. Default 1024 (Linux's `fq_pie_init`).
    #[serde(default = "fq::default_flows")]
    pub flows: u32,
    /// Salt of the flow hash. Default: drawn for each queue and seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<u64>,
    /// Bytes that each flow may send a round, 256 B to 1 GB. Default 1514 B (Linux: an Ethernet frame).
    #[serde(default = "fq::default_quantum")]
    pub quantum: Bytes,
    /// PIE's `target` of each flow. Default 15 ms (Linux).
    #[serde(default = "default_target")]
    pub target: Dur,
    /// PIE's `tupdate`. Default 15 ms (Linux).
    #[serde(default = "default_tupdate")]
    pub tupdate: Dur,
    /// PIE's `alpha`, in Hz, a multiple of 1/16. Default 1/8 (Linux).
    #[serde(default = "default_alpha")]
    pub alpha: f64,
    /// PIE's `beta`, in Hz, a multiple of 1/16. Default 5/4 (Linux).
    #[serde(default = "default_beta")]
    pub beta: f64,
    /// Up to this drop probability of its flow, in percent, an ECN-capable packet is marked, above it is dropped.
    /// Default 10 (Linux).
    #[serde(default = "default_ecn_prob")]
    pub ecn_prob: u8,
    /// PIE's `bytemode`. Default false (Linux).
    #[serde(default)]
    pub bytemode: bool,
    /// PIE's `dq_rate_estimator`: the rate is that at which the flow's own queue drains. Default false (Linux).
    #[serde(default)]
    pub dq_rate_estimator: bool,
    /// PIE's `mtu`: no flow is signalled while it holds less than twice this. Default 1514 B (Linux).
    #[serde(default = "default_mtu")]
    pub mtu: Bytes,
}

fn default_target() -> Dur {
    pie::Params::default().target
}
fn default_tupdate() -> Dur {
    pie::Params::default().tupdate
}
fn default_alpha() -> f64 {
    pie::Params::default().alpha
}
fn default_beta() -> f64 {
    pie::Params::default().beta
}
fn default_ecn_prob() -> u8 {
    10
}
fn default_mtu() -> Bytes {
    Bytes(1514)
}

impl Params {
    /// The round-robin settings, without the law.
    fn rounds(&self) -> fq::Params {
        let Params { flows, salt, quantum, .. } = *self;
        fq::Params { flows, salt, quantum, rounds: fq::Order::DrrPlus, ..fq::Params::default() }
    }

    /// The law of each flow.
    fn pie(&self) -> pie::Params {
        let Params { target, tupdate, alpha, beta, dq_rate_estimator, .. } = *self;
        pie::Params {
            profile: pie::Profile::Linux,
            target,
            tupdate,
            alpha,
            beta,
            dq_rate_estimator,
            mark_ecnth: f64::from(self.ecn_prob) / 100.0,
            bytemode: Some(self.bytemode),
            mtu: Some(self.mtu),
            ..pie::Params::default()
        }
    }

    /// The queues of flows.
    fn queues(&self) -> FlowQueues {
        FlowQueues { rounds: self.rounds(), law: registry::Params::Pie(self.pie()) }
    }

    /// Checks the values; the error names the key.
    pub fn check(&self, config: &Config) -> Result<(), Impossible> {
        Impossible::unless(self.ecn_prob <= 100, "ecn_prob", || {
            format!("{} is not a percentage: write 0 to 100", self.ecn_prob)
        })?;
        self.queues().check(config)
    }
}

/// FQ-PIE on one link.
#[derive(Clone, Copy, Debug)]
pub struct FqPie;

impl Compose for FqPie {
    type Params = Params;

    fn layout(params: &Params, config: &Config, _groups: &[String]) -> Layout {
        params.queues().layout(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Common;
    use ecnlab_base::Length;

    #[test]
    fn what_a_scenario_leaves_out_is_of_linux() {
        let expected = Params {
            flows: 1024,
            salt: None,
            quantum: Bytes(1514),
            target: Dur::from_ms(15),
            tupdate: Dur::from_ms(15),
            alpha: 0.125,
            beta: 1.25,
            ecn_prob: 10,
            bytemode: false,
            dq_rate_estimator: false,
            mtu: Bytes(1514),
        };
        let params: Params = toml::from_str("").unwrap();
        assert_eq!(params, expected);
        let pie = pie::Params { bytemode: Some(false), mtu: Some(Bytes(1514)), ..pie::Params::default() };
        assert_eq!(params.pie(), pie);
    }

    #[test]
    fn what_cannot_be_is_refused_by_key() {
        let refused = |keys: &str| {
            let params: Params = toml::from_str(keys).unwrap();
            let common = Common::with_limit(Length::Packets(9.0));
            Config::new(registry::Params::FqPie(params), common).check().err().map(|e| e.key)
        };
        for keys in
            ["flows = 0", "quantum = \"255 B\"", "ecn_prob = 101", "alpha = 0.1", "target = \"0 s\"", "mtu = \"0 B\""]
        {
            let key = refused(keys).unwrap_or_default();
            assert!(!key.is_empty() && keys.starts_with(&key), "{keys}: {key}");
        }
        assert_eq!(refused("ecn_prob = 100\nbytemode = true\ndq_rate_estimator = true"), None);
    }
}
