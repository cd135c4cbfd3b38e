//! Queues for named classes of packets, told apart by codepoint or flow group, each with a discipline of its own.

use ecnlab_base::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::Class;
use crate::layout::{Compose, Inner, Layout};
use crate::members::{self, in_order};
use crate::scheduler::{Credit, Rounds, Scheduler};
use crate::{Config, Impossible};

/// The keys in `[queue.NAME]` of a queue with classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Which class is next.
    pub schedule: Schedule,
    /// The most memory that all packets take: their bytes and 576 B each. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// With `full = "fattest"`: so many packets it loses at a time, if they are no more than half its bytes. Default 1.
    #[serde(default = "one")]
    pub drop_batch: u32,
}

/// Which class is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Schedule {
    /// The one whose packet came first.
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
    /// Two classes by `share`, with a credit (Linux's `sch_dualpi2`).
    #[serde(rename = "wrr")]
    Wrr,
}

fn one() -> u32 {
    1
}

impl Params {
    /// Refuses impossible values, naming the key.
    pub fn check(&self, config: &Config) -> Result<(), Impossible> {
        members::check(config)?;
        let classes = in_order(config);
        let n = classes.len();
        Impossible::unless(self.drop_batch > 0, "drop_batch", || {
            "0 packets make no room: write at least 1".to_owned()
        })?;
        Impossible::unless(self.schedule != Schedule::Wrr || n == 2, "schedule", || {
            format!("\"wrr\" is for two classes, here are {n}: write \"drr\"")
        })?;
        for (name, class) in classes {
            let at = |key: &str| format!("class.{name}.{key}");
            Impossible::unless(class.member.turn.0 >= 256, &at("turn"), || {
                "less than 256 B would make rounds many for a packet: write 1514 B or so".to_owned()
            })?;
            Impossible::unless((1..=1000).contains(&class.member.share), &at("share"), || {
                "shares are 1 to 1000: write one of them".to_owned()
            })?;
        }
        Ok(())
    }

    fn scheduler(&self, classes: &[(&str, &Class)]) -> Scheduler {
        let quanta = || classes.iter().map(|(_, class)| class.member.turn.0 as i64).collect();
        match (self.schedule, classes) {
            (Schedule::Fifo, _) => Scheduler::Fifo,
            (Schedule::Wrr, [(_, a), (_, b)]) => {
                Scheduler::Credit(Credit::new([a, b].map(|class| i64::from(class.member.share))))
            }
            (Schedule::Drr, _) => Scheduler::Rounds(Rounds::new(quanta(), false)),
            (Schedule::DrrPlus, _) => Scheduler::Rounds(Rounds::new(quanta(), true)),
            (Schedule::Strict | Schedule::Wrr, _) => Scheduler::Strict,
        }
    }
}

/// Queues for classes.
#[derive(Clone, Copy, Debug)]
pub struct Classes;

impl Compose for Classes {
    type Params = Params;

    const INNER: bool = true;

    fn layout(params: &Params, config: &Config, groups: &[String]) -> Layout {
        Layout {
            classifier: members::classifier(config, groups),
            scheduler: params.scheduler(&in_order(config)),
            queues: Inner::Named(members::queues(config)),
            memory: params.memory.map(|memory| memory.0),
            batch: params.drop_batch,
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
    fn one_packet_at_a_time_makes_room_if_nothing_is_said() {
        assert_eq!(toml::from_str::<Params>("schedule = \"drr\"").unwrap().drop_batch, 1);
        assert_eq!(refused("schedule = \"drr\"", &["a"]), None);
        assert_eq!(refused("schedule = \"drr\"\ndrop_batch = 0", &["a"]).map(|e| e.key), Some("drop_batch".to_owned()));
    }

    #[test]
    fn who_writes_no_class_or_two_for_the_rest_is_told_which() {
        let told = |classes: &[&str]| refused("schedule = \"strict\"", classes).map(|e| e.message).unwrap_or_default();
        assert!(told(&[]).contains("there is none"), "{}", told(&[]));
        assert!(told(&["a", "b"]).contains("a, b all take the rest"), "{}", told(&["a", "b"]));
    }
}
