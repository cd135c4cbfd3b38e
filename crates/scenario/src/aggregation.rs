//! Bursts of packets on a link.

use ecnlab_base::{Bytes, Dist, Dur};
use ecnlab_engine as engine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bursts of packets that leave the queue together and arrive together. At least one of `time`, `bytes` and `every`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Aggregation {
    /// Longest transmission time of a burst of several packets, such as 4 ms of Wi-Fi. Default: `every`, or no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Dur>,
    /// Most bytes of a burst of several packets. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Length of a slot: bursts begin at its multiples. Default: a burst begins when the transmitter is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Dur>,
    /// Time from the choice of the packets of a burst to their transmission, as for access to a shared medium; drawn for
    /// each burst. Default 0 s.
    #[serde(default)]
    pub access: Dist<Dur>,
}

impl From<&Aggregation> for engine::Aggregation {
    fn from(table: &Aggregation) -> engine::Aggregation {
        let &Aggregation { time, bytes, every, access } = table;
        engine::Aggregation { time, bytes, every, access }
    }
}
