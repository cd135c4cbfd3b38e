//! What a wire does to packets besides carrying them: jitter, and losses in bursts.

use ecnlab_base::{Dist, Dur};
use ecnlab_engine as engine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::findings::Findings;
use crate::path::Path;

/// A delay that is drawn for each packet.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Jitter {
    /// Added to the propagation delay, drawn for each packet. A value of an unbounded distribution is at most 24 h.
    pub delay: Dist<Dur>,
    /// Whether a packet arrives at its own time and may overtake those before it. If not, it never arrives before the
    /// packet sent before it; a late packet holds up those behind it.
    pub reorder: bool,
}

impl From<&Jitter> for engine::Jitter {
    fn from(jitter: &Jitter) -> engine::Jitter {
        engine::Jitter { delay: jitter.delay, reorder: jitter.reorder }
    }
}

/// Losses in bursts, by the Markov chain of Gilbert and Elliott: two states, one step for each packet.
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

/// Refuses what no wire does. `path` is the link's direction.
pub(crate) fn check(jitter: Option<&Jitter>, bursts: Option<&BurstLoss>, path: &Path, found: &mut Findings<'_>) {
    if let Some(jitter) = jitter {
        let at = path.key("jitter").key("delay");
        if jitter.delay.max().is_some_and(|max| max.is_zero()) {
            found.value(
                &at,
                format!("`{at}` is always 0 s"),
                "write a distribution such as { uniform = [\"0 s\", \"5 ms\"] }",
            );
        } else if jitter.delay.max().is_some_and(|max| max > Dur::from_s(86_400)) {
            found.value(&at, format!("`{at}` can exceed 24 h"), "write at most 24 h");
        }
    }
    let Some(bursts) = bursts else { return };
    let path = path.key("burst_loss");
    for (key, value) in [("p", bursts.p), ("r", bursts.r), ("good", bursts.good), ("bad", bursts.bad)] {
        if !(0.0..=1.0).contains(&value) {
            let at = path.key(key);
            found.value(&at, format!("`{at}` is {value}, not a probability"), "write a number from 0 to 1");
        }
    }
    if bursts.r == 0.0 {
        let at = path.key("r");
        let help = "write a number above 0; for losses at all times use `loss`";
        found.value(&at, format!("`{at}` is 0: the bad state would never end"), help);
    }
}
