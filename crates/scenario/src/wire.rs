//! Wire impairments: jitter and burst losses.

use ecnlab_base::{Dist, Dur};
use ecnlab_engine as engine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A random delay per packet.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Jitter {
    /// Added to the propagation delay, drawn for each packet. A value of an unbounded distribution is at most 24 h.
    pub delay: Dist<Dur>,
    /// Allow reordering: a packet arrives at its own time and may overtake earlier ones. Otherwise it never arrives
    /// before the packet sent before it; a late packet delays those after it.
    pub reorder: bool,
}

impl From<&Jitter> for engine::Jitter {
    fn from(jitter: &Jitter) -> engine::Jitter {
        engine::Jitter { delay: jitter.delay, reorder: jitter.reorder }
    }
}

/// Burst losses, by the Markov chain of Gilbert and Elliott: two states, one step per packet.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BurstLoss {
    /// Probability of a step from the good state to the bad one.
    pub p: f64,
    /// Probability of a step from the bad state to the good one, above 0; a stay in the bad state is 1 / r packets
    /// long on average.
    pub r: f64,
    /// Probability that a packet is lost in the good state. Default 0.
    #[serde(default)]
    pub good: f64,
    /// Probability that a packet is lost in the bad state. Default 1.
    #[serde(default = "all")]
    pub bad: f64,
}

fn all() -> f64 {
    1.0
}

impl From<&BurstLoss> for engine::Bursts {
    fn from(loss: &BurstLoss) -> engine::Bursts {
        engine::Bursts { p: loss.p, r: loss.r, good: loss.good, bad: loss.bad }
    }
}
