//! Named classes of packets, distinguished by codepoint, DSCP or flow group, each with its own queue and discipline.

use ecnlab_base::{Bytes, Dur};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::composed::members::{self, in_order};
use crate::config::Class;
use crate::contract::facts::Facts;
use crate::machine::layout::{Compose, Inner, Layout};
use crate::machine::scheduler::{Credit, MTU, Rounds, Scheduler};
use crate::{Config, Impossible};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "classes",
    label: "classes",
    summary: "inner queues for classes of packets, each with its discipline",
    ..Facts::OF_CLASSES
};

/// The keys in `[queue.NAME]` of a queue with classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Scheduler of the classes.
    pub schedule: Schedule,
    /// With `schedule = "time-shifted"`: time shift by which packets of the second class count as arrived later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tshift: Option<Dur>,
    /// Memory limit for all packets: their bytes and 576 B each. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// With `full = "fattest"`: number of packets dropped at a time, if they are at most half the bytes of that queue.
    /// Default 1.
    #[serde(default = "one")]
    pub drop_batch: u32,
}

/// Scheduler of the classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Schedule {
    /// The class with the oldest head packet.
    #[serde(rename = "fifo")]
    Fifo,
    /// The first in order that holds a packet.
    #[serde(rename = "strict")]
    Strict,
    /// Rounds by `turn` (Shreedhar & Varghese 1996).
    #[serde(rename = "drr")]
    Drr,
    /// Rounds by `turn`, classes that become active first (RFC 8290 §4.2).
    #[serde(rename = "drr++")]
    DrrPlus,
    /// By `share`, with a credit for each class; for two classes as in Linux's `sch_dualpi2`.
    #[serde(rename = "wrr")]
    Wrr,
    /// For two classes: the one whose head packet arrived first, with packets of the second shifted by `tshift` (RFC
    /// 9332 §4.2.2).
    #[serde(rename = "time-shifted")]
    TimeShifted,
}

fn one() -> u32 {
    1
}

impl Params {
    /// Checks the values; the error names the key.
    pub fn check(&self, config: &Config) -> Result<(), Impossible> {
        let classes = in_order(config);
        let n = classes.len();
        Impossible::unless(self.drop_batch > 0, "drop_batch", || {
            "0 packets make no room: write at least 1".to_owned()
        })?;
        let for_two = self.schedule == Schedule::TimeShifted;
        Impossible::unless(!for_two || n == 2 || n == 0, "schedule", || {
            format!("\"time-shifted\" is for two classes, here are {n}: write \"drr\"")
        })?;
        self.check_tshift()?;
        members::check(config)?;
        for (name, class) in classes {
            let at = |key: &str| format!("class.{name}.{key}");
            Impossible::unless_quantum(class.member.turn, 256, &at("turn"))?;
            Impossible::unless((1..=1000).contains(&class.member.share), &at("share"), || {
                "shares are 1 to 1000: write one of them".to_owned()
            })?;
        }
        Ok(())
    }

    /// Rejects a missing `tshift` with `time-shifted`, and `tshift` with other schedules.
    fn check_tshift(&self) -> Result<(), Impossible> {
        let (used, given) = (self.schedule == Schedule::TimeShifted, self.tshift.is_some());
        Impossible::unless(given || !used, "tshift", || {
            "\"time-shifted\" needs it: write by how much later the second class counts, such as \"50 ms\"".to_owned()
        })?;
        Impossible::unless(used || !given, "tshift", || "only \"time-shifted\" has a shift: leave it out".to_owned())
    }

    fn scheduler(&self, classes: &[(&str, &Class)]) -> Scheduler {
        let quanta = || classes.iter().map(|(_, class)| class.member.turn.0 as i64).collect();
        let shares = || classes.iter().map(|(_, class)| class.member.share.into()).collect();
        match self.schedule {
            Schedule::Fifo => Scheduler::Fifo,
            Schedule::Strict => Scheduler::Strict,
            Schedule::Drr => Scheduler::Rounds(Rounds::new(quanta(), false)),
            Schedule::DrrPlus => Scheduler::Rounds(Rounds::new(quanta(), true)),
            Schedule::Wrr => Scheduler::Credit(Credit::new(shares(), MTU)),
            Schedule::TimeShifted => Scheduler::TimeShifted(self.tshift.unwrap_or_default()),
        }
    }
}

/// Queues for classes.
#[derive(Clone, Copy, Debug)]
pub struct Classes;

impl Compose for Classes {
    type Params = Params;

    fn layout(params: &Params, config: &Config, groups: &[String]) -> Layout {
        Layout {
            classifier: members::classifier(config, groups),
            scheduler: params.scheduler(&in_order(config)),
            queues: Inner::Named(members::queues(config)),
            memory: params.memory.map(|memory| memory.0),
            batch: params.drop_batch,
            law: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Member;
    use crate::{Common, Impossible, droptail, registry};
    use ecnlab_base::Length;

    fn refused(keys: &str, classes: &[&str]) -> Option<Impossible> {
        let queue = |params| Config::new(params, Common::with_limit(Length::Packets(9.0)));
        let mut config = queue(registry::Params::Classes(toml::from_str(keys).unwrap()));
        for name in classes {
            let queue = queue(registry::Params::DropTail(droptail::Params {}));
            config.classes.insert((*name).to_owned(), Class { member: Member::default(), queue });
        }
        config.check().err()
    }

    #[test]
    fn one_packet_at_a_time_makes_room_by_default() {
        assert_eq!(toml::from_str::<Params>("schedule = \"drr\"").unwrap().drop_batch, 1);
        assert_eq!(refused("schedule = \"drr\"", &["a"]), None);
        assert_eq!(refused("schedule = \"drr\"\ndrop_batch = 0", &["a"]).map(|e| e.key), Some("drop_batch".to_owned()));
    }

    #[test]
    fn a_shift_is_for_the_schedule_that_has_one_and_for_two_classes() {
        let wrong = |keys: &str, classes: &[&str]| refused(keys, classes).map(|e| e.key);
        assert_eq!(wrong("schedule = \"time-shifted\"", &["a", "b"]), Some("tshift".to_owned()));
        assert_eq!(wrong("schedule = \"strict\"\ntshift = \"50 ms\"", &["a", "b"]), Some("tshift".to_owned()));
        assert_eq!(wrong("schedule = \"time-shifted\"\ntshift = \"50 ms\"", &["a"]), Some("schedule".to_owned()));
        let three = refused("schedule = \"time-shifted\"\ntshift = \"50 ms\"", &["a", "b", "c"]).unwrap();
        assert_eq!(three.to_string(), "schedule: \"time-shifted\" is for two classes, here are 3: write \"drr\"");
    }

    #[test]
    fn shares_are_of_any_number_of_classes_in_their_order() {
        let queue = |params| Config::new(params, Common::with_limit(Length::Packets(9.0)));
        let params: Params = toml::from_str("schedule = \"wrr\"").unwrap();
        let mut config = queue(registry::Params::Classes(params.clone()));
        for (name, keys) in [("a", "share = 1"), ("b", "codepoints = [\"ect0\"]"), ("c", "groups = [\"x\"]\nshare = 3")]
        {
            let queue = queue(registry::Params::DropTail(droptail::Params {}));
            let member = toml::from_str(keys).unwrap();
            config.classes.insert(name.to_owned(), Class { member, queue });
        }
        config.classes.get_mut("a").unwrap().member.order = 9;
        assert_eq!(config.check(), Ok(()));
        let Scheduler::Credit(credit) = params.scheduler(&in_order(&config)) else { panic!("another schedule") };
        assert_eq!(credit.weights(), [1, 3, 1]);
    }

    #[test]
    fn no_class_or_two_for_the_rest_is_refused_by_name() {
        let message =
            |classes: &[&str]| refused("schedule = \"strict\"", classes).map(|e| e.message).unwrap_or_default();
        assert!(message(&[]).contains("there is none"), "{}", message(&[]));
        assert!(message(&["a", "b"]).contains("a, b all take the remaining packets"), "{}", message(&["a", "b"]));
    }
}
