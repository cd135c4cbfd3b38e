//! What a scenario says of a queue.

use ecnlab_base::Length;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::registry;

/// A queue: its law and what every queue has. The text of `[queue.NAME]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Config {
    /// The law and its parameters.
    #[serde(flatten)]
    pub params: registry::Params,
    /// What every queue has.
    #[serde(flatten)]
    pub common: Common,
}

/// The keys that every `[queue.NAME]` has, whatever its law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Common {
    /// The most that the queue holds, in packets or in bytes; the packet in transmission is not in it.
    pub limit: Length,
    /// Who leaves when a packet finds no room.
    #[serde(default)]
    pub full: Full,
    /// When there is room.
    #[serde(default)]
    pub admit: Admit,
    /// Who is dropped when the law forces a drop.
    #[serde(default)]
    pub forced: Forced,
    /// Which packet carries the mark.
    #[serde(default)]
    pub mark_at: MarkAt,
    /// Whether a signal to an ECN-capable packet is CE rather than a drop.
    #[serde(default)]
    pub ecn: bool,
}

/// Who leaves when a packet finds no room (RFC 2884 §2, RFC 2309 §2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Full {
    /// The arriving packet.
    #[default]
    Tail,
    /// One of those held and the arriving packet, each as likely.
    Random,
    /// The packet at the head.
    Front,
}

/// When there is room for a packet. Both say the same of a limit in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Admit {
    /// When it fits: what is held and the packet are within the limit.
    #[default]
    Fits,
    /// When what is held is below the limit, so that the last packet may stand over it
    /// (ns-2's RED: its byte limit is tested before the packet is added).
    Below,
}

/// Who is dropped on [`crate::Verdict::Drop`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forced {
    /// The arriving packet.
    #[default]
    Arriving,
    /// Whom [`Full`] names (ns-2's RED with `drop_rand_` or `drop_front_`).
    Full,
}

/// Which packet carries a mark that the law decided on for an ECN-capable arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkAt {
    /// The arriving packet.
    #[default]
    Tail,
    /// The packet at the head, which reaches its receiver a queue's delay sooner (Liu & Jain 2001).
    ///
    /// A head that cannot carry the mark, being Not-ECT or CE already, and an empty queue leave it
    /// with the arriving packet: no signal is lost. A Not-ECT arrival is dropped and never hands
    /// its signal to the head, so that the share of signals of each class stays its share of
    /// arrivals.
    Front,
}

/// A value that cannot be, and its key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {message}")]
pub struct Impossible {
    /// The key in `[queue.NAME]`, dotted for a table within.
    pub key: &'static str,
    /// What is wrong with its value, and what would do.
    pub message: String,
}

impl Impossible {
    /// `Ok` if `holds`, else `key` with the message.
    pub(crate) fn unless(holds: bool, key: &'static str, message: impl FnOnce() -> String) -> Result<(), Impossible> {
        if holds { Ok(()) } else { Err(Impossible { key, message: message() }) }
    }
}

impl Common {
    /// The names of these keys, as a scenario spells them.
    pub const KEYS: [&'static str; 6] = ["limit", "full", "admit", "forced", "mark_at", "ecn"];

    /// A queue of `limit` with everything else as it is when a scenario says nothing.
    pub fn with_limit(limit: Length) -> Common {
        Common {
            limit,
            full: Full::default(),
            admit: Admit::default(),
            forced: Forced::default(),
            mark_at: MarkAt::default(),
            ecn: false,
        }
    }
}

impl Config {
    /// Refuses impossible values, naming the key.
    pub fn check(&self) -> Result<(), Impossible> {
        let limit = self.common.limit;
        let possible = match limit {
            Length::Packets(n) => n >= 1.0 && libm::floor(n) == n,
            Length::Bytes(n) => n >= 1.0,
        };
        Impossible::unless(possible, "limit", || {
            format!("{limit} is no limit: write whole packets or bytes, at least one")
        })?;
        self.params.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{droptail, registry::Params};

    fn droptail(limit: Length) -> Config {
        Config { params: Params::DropTail(droptail::Params {}), common: Common::with_limit(limit) }
    }

    #[test]
    fn the_keys_are_those_of_the_struct() {
        let json = serde_json::to_value(Common::with_limit(Length::Packets(1.0))).unwrap();
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
    fn a_config_is_written_as_a_scenario_writes_it() {
        let json = serde_json::to_value(droptail(Length::Packets(60.0))).unwrap();
        assert_eq!(json["discipline"], "droptail");
        assert_eq!(json["limit"], "60 packets");
        assert_eq!(json["full"], "tail");
    }
}
