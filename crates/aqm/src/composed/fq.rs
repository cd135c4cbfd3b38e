//! Fair queueing: flows hashed over inner queues with the same settings, served in rounds.

use ecnlab_base::{Bytes, Length};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::QUANTUM;
use crate::contract::facts::Facts;
use crate::machine::layout::{Classifier, Compose, Inner, Layout};
use crate::machine::scheduler::{Rounds, Scheduler};
use crate::{Common, Config, Impossible, registry};

/// The name of the class that is the template of all inner queues.
const EACH: &str = "each";
/// Maximum number of inner queues.
const MAX_QUEUES: u32 = 65_536;

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "fq",
    label: "flow queues",
    summary: "flows in inner queues with the same settings, served in rounds",
    reference: "P. McKenney, 'Stochastic fairness queueing', INFOCOM 1990; M. Shreedhar and G. Varghese, 'Efficient fair queuing using deficit round-robin', IEEE/ACM ToN 4(3), 1996",
    shown: &["flows", "quantum"],
    separates_flows: true,
    ..Facts::OF_CLASSES
};

/// The keys in `[queue.NAME]` of flows in queues of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Number of inner queues, 1 to 65536. Default 1024 (RFC 8290 §5.2).
    #[serde(default = "default_flows")]
    pub flows: u32,
    /// Salt of the flow hash. Default: drawn for each queue and seed (RFC 8290 §4.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<u64>,
    /// Bytes that each queue may send a round, 256 B to 1 GB. Default 1514 B (RFC 8290 §5.2).
    #[serde(default = "default_quantum")]
    pub quantum: Bytes,
    /// Scheduler. Default `drr++` (RFC 8290 §4.2).
    #[serde(default)]
    pub rounds: Order,
    /// Memory limit for all packets: their bytes and 576 B each. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// With `full = "fattest"`: number of packets dropped at a time, if they are at most half the bytes of that queue.
    /// Default 64 (RFC 8290 §4.1; Linux's `drop_batch`).
    #[serde(default = "default_batch")]
    pub drop_batch: u32,
}

/// Schedulers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Order {
    /// A head packet leaves if its queue's deficit covers it (Shreedhar & Varghese 1996).
    #[serde(rename = "drr")]
    Drr,
    /// A queue with a positive deficit sends; those that become active go first (Linux's sch_fq_codel; RFC 8290 §4.2).
    #[default]
    #[serde(rename = "drr++")]
    DrrPlus,
}

pub(crate) fn default_flows() -> u32 {
    1024
}
pub(crate) fn default_quantum() -> Bytes {
    QUANTUM
}
pub(crate) fn default_batch() -> u32 {
    64
}

impl Default for Params {
    fn default() -> Params {
        Params {
            flows: default_flows(),
            salt: None,
            quantum: default_quantum(),
            rounds: Order::default(),
            memory: None,
            drop_batch: default_batch(),
        }
    }
}

impl Params {
    /// Checks its own values; the error names the key.
    pub fn check_own(&self) -> Result<(), Impossible> {
        let Params { flows, quantum, drop_batch, .. } = self;
        Impossible::unless((1..=MAX_QUEUES).contains(flows), "flows", || {
            format!("{flows} are not 1 to {MAX_QUEUES} queues: RFC 8290 has 1024")
        })?;
        Impossible::unless_quantum(*quantum, 256, "quantum")?;
        Impossible::unless(*drop_batch > 0, "drop_batch", || {
            "0 packets would make no room: write at least 1".to_owned()
        })
    }

    /// Checks the values, and that there is exactly one class, the template of all queues; the error names the key.
    pub fn check(&self, config: &Config) -> Result<(), Impossible> {
        self.check_own()?;
        let only = config.classes.keys().all(|name| name == EACH) && !config.classes.is_empty();
        Impossible::unless(only, "class", || {
            format!("the queues of all flows have the same settings: write one table, class.{EACH}")
        })?;
        let plain = config.classes.values().all(|class| class.member.is_default());
        Impossible::unless(plain, "class.each", || {
            "all flows belong to it: leave out the keys that assign packets and order classes".to_owned()
        })
    }

    /// Returns a layout of queues that are all configured as `each`.
    pub(crate) fn layout_of(&self, each: Config) -> Layout {
        let quanta = vec![self.quantum.0 as i64; self.flows as usize];
        Layout {
            classifier: Classifier::Flows(self.salt),
            scheduler: Scheduler::Rounds(Rounds::new(quanta, self.rounds == Order::DrrPlus)),
            queues: Inner::Alike(self.flows as usize, vec![(EACH.to_owned(), each)]),
            memory: self.memory.map(|memory| memory.0),
            batch: self.drop_batch,
            law: None,
        }
    }
}

/// Flow queues of a discipline that fixes the law of each flow: FQ-CoDel, FQ-PIE.
pub(crate) struct FlowQueues {
    /// The queues and their rounds.
    pub rounds: Params,
    /// The law of each flow.
    pub law: registry::Params,
}

impl FlowQueues {
    /// Checks the values; the error names the key.
    pub fn check(&self, config: &Config) -> Result<(), Impossible> {
        Impossible::unless(config.classes.is_empty(), "class", || {
            "flows are its only classes: leave it out".to_owned()
        })?;
        self.rounds.check_own()?;
        self.law.check(config)
    }

    /// The inner queues. Only the total of all flows is limited.
    pub fn layout(self, config: &Config) -> Layout {
        let common = Common { ecn: config.common.ecn, ..Common::with_limit(Length::Packets(f64::INFINITY)) };
        self.rounds.layout_of(Config::new(self.law, common))
    }
}

/// Fair queueing with any law.
#[derive(Clone, Copy, Debug)]
pub struct Fq;

impl Compose for Fq {
    type Params = Params;

    fn layout(params: &Params, config: &Config, _groups: &[String]) -> Layout {
        let each = config.classes.get(EACH).map(|class| class.queue.clone());
        params.layout_of(each.unwrap_or_else(|| config.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Class, Member};
    use crate::droptail;
    use ecnlab_base::Length;

    #[test]
    fn what_a_scenario_leaves_out_is_of_rfc_8290_and_linux() {
        let params: Params = toml::from_str("").unwrap();
        assert_eq!(params, Params::default());
        let Params { flows, quantum, rounds, drop_batch, .. } = params;
        assert_eq!((flows, quantum, rounds, drop_batch), (1024, Bytes(1514), Order::DrrPlus, 64));
    }

    #[test]
    fn the_class_of_all_flows_has_no_rule_of_membership() {
        let queue =
            Config::new(registry::Params::DropTail(droptail::Params {}), Common::with_limit(Length::Packets(9.0)));
        let key = |member: Member| {
            let mut config = Config::new(registry::Params::Fq(Params::default()), queue.common);
            config.classes.insert(EACH.to_owned(), Class { member, queue: queue.clone() });
            config.check().err().map(|e| e.key)
        };
        assert_eq!(key(Member::default()), None);
        assert_eq!(key(Member { order: 1, ..Member::default() }), Some("class.each".to_owned()));
    }

    #[test]
    fn rounds_may_be_of_256_bytes_and_queues_one() {
        assert_eq!(Params { flows: 1, quantum: Bytes(256), drop_batch: 1, ..Params::default() }.check_own(), Ok(()));
    }

    #[test]
    fn a_round_of_more_than_a_gigabyte_is_refused() {
        // 2^64 - 1 as a signed number would be -1, and no round would ever be enough.
        let key = |bytes| Params { quantum: Bytes(bytes), ..Params::default() }.check_own().err().map(|e| e.key);
        assert_eq!(key(1_000_000_000), None);
        assert_eq!([1_000_000_001, u64::MAX].map(key), [Some("quantum".to_owned()), Some("quantum".to_owned())]);
    }
}
