//! Token bucket filter: one inner queue, whose packets leave when enough tokens are available (Linux's net/sched/sch_tbf.c).
//!
//! With an empty bucket it is a virtual clock (Zhang 1990), like the shaper of Linux's net/sched/sch_cake.c.

use ecnlab_base::{Bytes, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::Facts;
use crate::contract::shape::{Heads, Shape};
use crate::machine::bucket::Bucket;
use crate::machine::layout::{Classifier, Compose, Inner, Layout};
use crate::machine::scheduler::Scheduler;
use crate::{Config, Impossible, droptail, registry};

/// The name of the class that is the inner queue.
const INNER: &str = "inner";

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "tbf",
    label: "token bucket",
    summary: "token bucket filter, or virtual clock: one inner queue whose packets leave at a rate",
    reference: "Linux, net/sched/sch_tbf.c",
    shown: &["rate", "burst"],
    ..Facts::OF_CLASSES
};

/// The keys in `[queue.NAME]` of a token bucket filter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Rate at which the bucket fills; below the rate of every link that uses the queue.
    pub rate: Rate,
    /// Depth of the bucket in bytes. `"0 B"`: a virtual clock, whose packets leave one by one, each after the transmission
    /// time of the packets before it at `rate`.
    pub burst: Bytes,
    /// Maximum rate of a burst; above `rate` and below the link's. Default: the link's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peakrate: Option<Rate>,
    /// Depth of the bucket of `peakrate` in bytes, at least a packet. Default 1514 B.
    #[serde(default = "default_mtu")]
    pub mtu: Bytes,
}

fn default_mtu() -> Bytes {
    crate::config::QUANTUM
}

impl Params {
    /// Checks the values; the error names the key.
    pub fn check(&self, config: &Config) -> Result<(), Impossible> {
        let Params { rate, burst, peakrate, mtu } = self;
        Impossible::unless(peakrate.is_none_or(|peak| peak > *rate), "peakrate", || {
            format!("it is not above `rate`, {rate}: write a higher one, or leave it out")
        })?;
        Impossible::unless(peakrate.is_none() || burst.0 > 0, "peakrate", || {
            "a virtual clock (burst \"0 B\") has no bursts: leave it out".to_owned()
        })?;
        Impossible::unless(mtu.0 > 0, "mtu", || {
            "0 B would hold no packet: write at least a packet, such as 1514 B".to_owned()
        })?;
        let only = config.classes.keys().all(|name| name == INNER);
        Impossible::unless(only, "class", || {
            format!("it has one inner queue: write one table, class.{INNER}, or none for a drop-tail queue")
        })?;
        let plain = config.classes.values().all(|class| class.member.is_default());
        Impossible::unless(plain, "class.inner", || {
            "all packets belong to it: leave out the keys that assign packets and order classes".to_owned()
        })
    }
}

/// The token bucket filter.
#[derive(Clone, Copy, Debug)]
pub struct Tbf;

impl Compose for Tbf {
    type Params = Params;

    fn layout(params: &Params, config: &Config, _groups: &[String]) -> Layout {
        let plain = || Config::new(registry::Params::DropTail(droptail::Params {}), config.common);
        let inner = config.classes.get(INNER).map_or_else(plain, |class| class.queue.clone());
        Layout {
            classifier: Classifier::Rules(Vec::new()),
            scheduler: Scheduler::Shaped(Box::new(Gate::new(params))),
            queues: Inner::Named(vec![(INNER.to_owned(), inner)]),
            memory: None,
            batch: 1,
            law: None,
        }
    }

    fn rate(params: &Params) -> Option<Rate> {
        Some(params.rate)
    }

    fn check_before(params: &Params, link: Rate) -> Result<(), Impossible> {
        for (key, rate) in [("rate", Some(params.rate)), ("peakrate", params.peakrate)] {
            Impossible::unless(rate.is_none_or(|rate| rate < link), key, || {
                format!("it is not below the rate of the link behind it, {link}: write a lower one")
            })?;
        }
        Ok(())
    }
}

/// Releases a packet when all buckets hold enough tokens.
#[derive(Clone, Debug)]
struct Gate {
    bucket: Bucket,
    peak: Option<Bucket>,
    /// Whether the length of a packet decides when it leaves.
    peeks: bool,
}

impl Gate {
    fn new(params: &Params) -> Gate {
        Gate {
            bucket: Bucket::new(params.rate, params.burst),
            peak: params.peakrate.map(|rate| Bucket::new(rate, params.mtu)),
            peeks: params.burst.0 > 0,
        }
    }

    fn opens(&self, len: u32) -> Time {
        let peak = self.peak.map_or(Time::ZERO, |peak| peak.ready(len));
        self.bucket.ready(len).max(peak)
    }
}

impl Shape for Gate {
    fn rate(&self, _i: usize) -> Rate {
        self.bucket.rate()
    }

    fn peeks(&self) -> bool {
        self.peeks
    }

    fn next(&mut self, heads: Heads<'_>, now: Time) -> Option<usize> {
        let len = heads(0)?;
        (self.opens(len) <= now).then_some(0)
    }

    fn sent(&mut self, _i: usize, len: u32, _heads: Heads<'_>, now: Time) {
        self.bucket.spend(now, len);
        if let Some(peak) = &mut self.peak {
            peak.spend(now, len);
        }
    }

    fn ready(&self, heads: Heads<'_>) -> Time {
        heads(0).map_or(Time::NEVER, |len| self.opens(len))
    }

    fn copy(&self) -> Box<dyn Shape> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Class, Member};
    use crate::{Common, codel};
    use ecnlab_base::Length;

    fn config(keys: &str) -> Config {
        let params = registry::Params::Tbf(toml::from_str(keys).unwrap());
        Config::new(params, Common::with_limit(Length::Packets(9.0)))
    }

    fn refused(keys: &str) -> Option<String> {
        config(keys).check().err().map(|e| e.key)
    }

    #[test]
    fn impossible_rates_and_buckets_are_refused() {
        assert_eq!(refused("rate = \"1 Mbps\"\nburst = \"0 B\""), None);
        assert_eq!(refused("rate = \"1 Mbps\"\nburst = \"3 kB\"\npeakrate = \"1 Mbps\"").as_deref(), Some("peakrate"));
        assert_eq!(refused("rate = \"1 Mbps\"\nburst = \"0 B\"\npeakrate = \"2 Mbps\"").as_deref(), Some("peakrate"));
        assert_eq!(refused("rate = \"1 Mbps\"\nburst = \"3 kB\"\nmtu = \"0 B\"").as_deref(), Some("mtu"));
    }

    #[test]
    fn it_is_slower_than_its_link_at_any_depth() {
        let key =
            |config: &Config, mbps: u64| config.check_before(Rate::from_bps(mbps * 1_000_000)).err().map(|e| e.key);
        let mut outer = config("rate = \"2 Mbps\"\nburst = \"3 kB\"\npeakrate = \"4 Mbps\"");
        assert_eq!([2, 4, 5].map(|mbps| key(&outer, mbps)), [Some("rate".into()), Some("peakrate".into()), None]);
        let queue = config("rate = \"6 Mbps\"\nburst = \"3 kB\"");
        outer.classes.insert(INNER.to_owned(), Class { member: Member::default(), queue });
        assert_eq!(key(&outer, 5).as_deref(), Some("class.inner.rate"));
    }

    #[test]
    fn it_has_one_inner_queue_or_a_drop_tail() {
        let mut tbf = config("rate = \"1 Mbps\"\nburst = \"3 kB\"");
        assert_eq!(tbf.check(), Ok(()));
        let queue = Config::new(registry::Params::Codel(codel::Params::default()), tbf.common);
        let class = |member| Class { member, queue: queue.clone() };
        tbf.classes.insert("other".to_owned(), class(Member::default()));
        assert_eq!(tbf.check().unwrap_err().key, "class");
        tbf.classes = [(INNER.to_owned(), class(Member { order: 1, ..Member::default() }))].into();
        assert_eq!(tbf.check().unwrap_err().key, "class.inner");
    }
}
