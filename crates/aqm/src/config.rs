//! Configuration of a queue.

use std::collections::BTreeMap;

use ecnlab_base::{Bytes, Length, Rate, UserLaw};
use ecnlab_wire::{Dscp, Ecn};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Impossible;
use crate::contract::userlaw::Supply;
use crate::registry;

/// Default bytes of a class per round: an Ethernet frame.
pub(crate) const QUANTUM: Bytes = Bytes(1514);

/// A queue: its discipline and the common keys of all queues. The contents of `[queue.NAME]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Config {
    /// The discipline and its parameters.
    #[serde(flatten)]
    pub params: registry::Params,
    /// Common keys of all queues.
    #[serde(flatten)]
    pub common: Common,
    /// The inner queues of a discipline that has some: the tables `[queue.NAME.class.CLASS]`.
    #[serde(rename = "class", skip_serializing_if = "BTreeMap::is_empty")]
    pub classes: BTreeMap<String, Class>,
}

/// An inner queue and the packets assigned to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Class {
    /// Assignment of packets, and scheduling.
    #[serde(flatten)]
    pub member: Member,
    /// The queue.
    #[serde(flatten)]
    pub queue: Config,
}

/// The keys of a class in addition to those of a queue. A packet belongs to a class if it matches all keys of the class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// The codepoints of its packets. Default: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codepoints: Vec<Codepoint>,
    /// The DSCPs of its packets: numbers from 0 to 63, or names such as "EF" (CS0 to CS7, AF11 to AF43, EF,
    /// VOICE-ADMIT, LE, NQB). Default: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dscp: Vec<Dscp>,
    /// The flow groups of its packets. Default: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Order of the class; classes with equal values are ordered by name. The first is preferred by `strict` and served
    /// first by `wrr`. Default 0.
    #[serde(default)]
    pub order: u32,
    /// Weight of the class with `wrr`, 1 to 1000. Default 1.
    #[serde(default = "one")]
    pub share: u32,
    /// Bytes that it may send a round of `drr` and `drr++`, 256 B to 1 GB. Default 1514 B.
    #[serde(default = "quantum")]
    pub turn: Bytes,
}

/// A codepoint of the ECN field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Codepoint {
    /// Not-ECT.
    NotEct,
    /// ECT(0).
    Ect0,
    /// ECT(1).
    Ect1,
    /// CE.
    Ce,
}

impl From<Codepoint> for Ecn {
    fn from(codepoint: Codepoint) -> Ecn {
        match codepoint {
            Codepoint::NotEct => Ecn::NotEct,
            Codepoint::Ect0 => Ecn::Ect0,
            Codepoint::Ect1 => Ecn::Ect1,
            Codepoint::Ce => Ecn::Ce,
        }
    }
}

fn one() -> u32 {
    1
}
fn quantum() -> Bytes {
    QUANTUM
}

impl Default for Member {
    fn default() -> Member {
        Member { codepoints: Vec::new(), dscp: Vec::new(), groups: Vec::new(), order: 0, share: one(), turn: quantum() }
    }
}

impl Member {
    /// The names of these keys; no discipline may use one.
    pub const KEYS: [&'static str; 6] = ["codepoints", "dscp", "groups", "order", "share", "turn"];

    /// Returns whether all keys have their defaults.
    pub(crate) fn is_default(&self) -> bool {
        *self == Member::default()
    }
    /// Returns whether a key for the schedules of `classes` is set.
    pub(crate) fn has_turn(&self) -> bool {
        self.share != one() || self.turn != quantum()
    }
    /// Whether it matches every packet.
    pub(crate) fn takes_all(&self) -> bool {
        self.codepoints.is_empty() && self.dscp.is_empty() && self.groups.is_empty()
    }
}

/// Common keys of all queues in `[queue.NAME]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Common {
    /// Limit of the queue, such as "60 packets" or "30 kB", excluding the packet in transmission.
    pub limit: Length,
    /// The packet dropped when an arriving packet finds no room; a queue with inner queues supports `tail` and
    /// `fattest`. Default `tail`.
    #[serde(default)]
    pub full: Full,
    /// Condition for admitting a packet: it fits, or the queue is below its limit. Default `fits`.
    #[serde(default)]
    pub admit: Admit,
    /// The packet dropped when the law forces a drop: the arriving packet, or the one that the key `full` selects.
    /// Default `arriving`.
    #[serde(default)]
    pub forced: Forced,
    /// Which packet carries the mark: the arriving one, or the one at the head. Default `tail`.
    #[serde(default)]
    pub mark_at: MarkAt,
    /// Whether a signal to an ECN-capable packet is CE rather than a drop. Default false.
    #[serde(default)]
    pub ecn: bool,
    /// Whether quantiles of sojourn times are recorded, of the queue and of each flow group in it: in the tables `sojourns`,
    /// `sojourn_bins`, `classes` and `links`. Queues with inner queues always record them. Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quantiles: bool,
}

/// The packet dropped when an arriving packet finds no room (RFC 2884 §2, RFC 2309 §2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Full {
    /// The arriving packet.
    #[default]
    Tail,
    /// One of the queued packets or the arriving packet, with equal probability.
    Random,
    /// The packet at the head.
    Front,
    /// Packets at the head of the inner queue with the most bytes, once the arriving packet is in (RFC 8290 §4.1).
    Fattest,
}

/// Condition for admitting a packet. Both are equivalent for a limit in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Admit {
    /// The packet fits: the queue including the packet is within the limit.
    #[default]
    Fits,
    /// The queue is below its limit, so that the last packet may exceed it (ns-2's RED tests its byte limit before the
    /// packet is added).
    Below,
}

/// The packet dropped on [`crate::Verdict::Drop`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forced {
    /// The arriving packet.
    #[default]
    Arriving,
    /// The packet selected by [`Full`] (ns-2's RED with `drop_rand_` or `drop_front_`).
    Full,
}

/// Which packet carries a mark that the law decided on for an ECN-capable arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkAt {
    /// The arriving packet.
    #[default]
    Tail,
    /// The packet at the head, which reaches its receiver earlier by the queueing delay (Liu & Jain 2001).
    ///
    /// If the head cannot carry the mark, being Not-ECT or already CE, or the queue is empty, the arriving packet is
    /// marked, so that no signal is lost. A Not-ECT arrival is dropped and never passes its signal to the head, so that
    /// each class's share of signals stays its share of arrivals.
    Front,
}

impl Common {
    /// The names of these keys, as a scenario spells them.
    pub const KEYS: [&'static str; 7] = ["limit", "full", "admit", "forced", "mark_at", "ecn", "quantiles"];

    /// Returns a queue of `limit` with the defaults for all other keys.
    pub fn with_limit(limit: Length) -> Common {
        Common {
            limit,
            full: Full::default(),
            admit: Admit::default(),
            forced: Forced::default(),
            mark_at: MarkAt::default(),
            ecn: false,
            quantiles: false,
        }
    }
}

impl Config {
    /// A queue without inner queues.
    pub fn new(params: registry::Params, common: Common) -> Config {
        Config { params, common, classes: BTreeMap::new() }
    }

    /// Passes every user-defined law, its own and those of inner queues, to `supply`, with the path of its queue: "" or
    /// `class.NAME`, and so on.
    pub fn supply(&mut self, supply: &mut dyn FnMut(&str, &mut UserLaw<dyn Supply>)) {
        self.supply_at("", supply);
    }

    fn supply_at(&mut self, at: &str, supply: &mut dyn FnMut(&str, &mut UserLaw<dyn Supply>)) {
        if let Some(law) = self.params.user_law_mut() {
            supply(at, law);
        }
        for (name, class) in &mut self.classes {
            let dot = if at.is_empty() { "" } else { "." };
            class.queue.supply_at(&format!("{at}{dot}class.{name}"), supply);
        }
    }

    /// Returns a user-defined law that has not been supplied, its own or an inner queue's, by its name in the scenario.
    pub fn unsupplied(&self) -> Option<&str> {
        let own = self.params.user_law().filter(|law| law.law().is_none()).map(|law| law.python.as_str());
        own.or_else(|| self.classes.values().find_map(|class| class.queue.unsupplied()))
    }

    /// Returns the flow groups that it refers to by name, each with the key that names it.
    pub fn groups(&self) -> Vec<(String, &str)> {
        let mut all: Vec<_> = self.params.groups().into_iter().map(|(key, group)| (key.to_owned(), group)).collect();
        for (name, class) in &self.classes {
            let inner = class.queue.groups();
            all.extend(class.member.groups.iter().map(|group| (format!("class.{name}.groups"), group.as_str())));
            all.extend(inner.into_iter().map(|(key, group)| (format!("class.{name}.{key}"), group)));
        }
        all
    }

    /// Checks the values; the error names the key.
    pub fn check(&self) -> Result<(), Impossible> {
        let limit = self.common.limit;
        let possible = match limit {
            Length::Packets(n) => n >= 1.0 && libm::floor(n) == n,
            Length::Bytes(n) => n >= 1.0,
        };
        Impossible::unless(possible, "limit", || {
            format!("{limit} is not a valid limit: write whole packets or bytes, at least one")
        })?;
        Impossible::unless(!self.common.ecn || self.params.marks(), "ecn", || {
            format!("\"{}\" marks no packet: leave it out", self.params.name())
        })?;
        self.check_full()?;
        self.params.check(self)?;
        for (name, class) in &self.classes {
            class.queue.check().map_err(|e| e.inside(name))?;
        }
        Ok(())
    }

    /// The rate to which a shaper limits the whole queue, if there is one.
    pub fn rate(&self) -> Option<Rate> {
        self.params.rate()
    }

    /// Rejects rates that are invalid for a link of rate `link`, naming the key. The queue has passed
    /// [`Config::check`].
    pub fn check_before(&self, link: Rate) -> Result<(), Impossible> {
        self.params.check_before(link)?;
        for (name, class) in &self.classes {
            class.queue.check_before(link).map_err(|e| e.inside(name))?;
        }
        Ok(())
    }

    /// The valid values of `full` differ for one FIFO and for several queues.
    fn check_full(&self) -> Result<(), Impossible> {
        let Common { full, admit, forced, mark_at, .. } = self.common;
        if !self.params.is_composed() {
            return Impossible::unless(full != Full::Fattest, "full", || {
                "\"fattest\" is for queues of several queues: write \"tail\", \"random\" or \"front\"".to_owned()
            });
        }
        Impossible::unless(matches!(full, Full::Tail | Full::Fattest), "full", || {
            "several queues have no common head: write \"tail\" or \"fattest\"".to_owned()
        })?;
        let leave_out =
            || "it has no effect with several queues: leave it out, or write it in their classes".to_owned();
        Impossible::unless(admit == Admit::default(), "admit", leave_out)?;
        Impossible::unless(forced == Forced::default(), "forced", leave_out)?;
        Impossible::unless(mark_at == MarkAt::default(), "mark_at", leave_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{droptail, registry::Params};

    fn droptail(limit: Length) -> Config {
        Config::new(Params::DropTail(droptail::Params {}), Common::with_limit(limit))
    }

    fn strict() -> Config {
        let params = toml::from_str("schedule = \"strict\"").unwrap();
        Config::new(Params::Classes(params), Common::with_limit(Length::Packets(9.0)))
    }

    #[test]
    fn the_keys_are_those_of_the_struct() {
        let all = Common { quantiles: true, ..Common::with_limit(Length::Packets(1.0)) };
        let json = serde_json::to_value(all).unwrap();
        let mut keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
        let mut named = Common::KEYS.to_vec();
        keys.sort_unstable();
        named.sort_unstable();
        assert_eq!(keys, named);
    }

    #[test]
    fn a_limit_is_whole_and_not_zero() {
        assert_eq!(droptail(Length::Packets(60.0)).check(), Ok(()));
        assert_eq!(droptail(Length::Bytes(30_000.0)).check(), Ok(()));
        for limit in [Length::Packets(0.0), Length::Packets(1.5), Length::Bytes(0.0), Length::Packets(f64::NAN)] {
            assert_eq!(droptail(limit).check().unwrap_err().key, "limit");
        }
    }

    #[test]
    fn the_groups_of_all_classes_are_named_with_the_key_that_names_them() {
        let class = |groups: &[&str], queue| {
            let groups = groups.iter().map(|&group| group.to_owned()).collect();
            Class { member: Member { groups, ..Member::default() }, queue }
        };
        // A discipline names groups in keys of its own, too.
        let params = Params::DualPi2(toml::from_str("l4s = { groups = [\"game\", \"call\"] }").unwrap());
        let dualpi2 = Config::new(params, Common::with_limit(Length::Packets(9.0)));
        let mut inner = strict();
        inner.classes.insert("bulk".to_owned(), class(&["ftp"], droptail(Length::Packets(9.0))));
        inner.classes.insert("low".to_owned(), class(&[], dualpi2));
        let mut outer = strict();
        outer.classes.insert("voice".to_owned(), class(&["sip", "rtp"], droptail(Length::Packets(9.0))));
        outer.classes.insert("rest".to_owned(), class(&[], inner));
        let groups = outer.groups();
        let named: Vec<(&str, &str)> = groups.iter().map(|(key, group)| (key.as_str(), *group)).collect();
        assert_eq!(
            named,
            [
                ("class.rest.class.bulk.groups", "ftp"),
                ("class.rest.class.low.l4s.groups", "game"),
                ("class.rest.class.low.l4s.groups", "call"),
                ("class.voice.groups", "sip"),
                ("class.voice.groups", "rtp"),
            ]
        );
    }

    #[test]
    fn a_share_or_bytes_a_round_need_turns() {
        let has_turn = |keys: &str| toml::from_str::<Member>(keys).unwrap().has_turn();
        assert_eq!(["", "order = 3", "share = 1\nturn = \"1514 B\""].map(has_turn), [false; 3]);
        assert_eq!(["share = 2", "turn = \"1500 B\""].map(has_turn), [true; 2]);
    }

    #[test]
    fn only_what_holds_all_packets_to_a_rate_has_one() {
        let tbf = Params::Tbf(toml::from_str("rate = \"3 Mbps\"\nburst = \"5 kB\"").unwrap());
        let tbf = Config::new(tbf, Common::with_limit(Length::Packets(9.0)));
        let rates = [droptail(Length::Packets(9.0)), strict(), tbf].map(|config| config.rate());
        assert_eq!(rates, [None, None, Some(Rate::from_bps(3_000_000))]);
    }

    #[test]
    fn a_config_is_written_as_a_scenario_writes_it() {
        let json = serde_json::to_value(droptail(Length::Packets(60.0))).unwrap();
        assert_eq!(json["discipline"], "droptail");
        assert_eq!(json["limit"], "60 packets");
        assert_eq!(json["full"], "tail");
    }
}
