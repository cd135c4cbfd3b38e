//! Times at which a link carries no packets.

use ecnlab_base::varying::MOST_STEPS;
use ecnlab_base::{Dist, Dur, Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Times at which a link sends nothing, or sends without effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Outages {
    /// Pairs of a start and a length, in order: `[["10 s", "500 ms"]]`. Either these or `up` and `down`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<(Dur, Dur)>,
    /// Time without an outage, drawn before each; the first begins at the start of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<Dist<Dur>>,
    /// Length of an outage, drawn for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down: Option<Dist<Dur>>,
    /// What happens to packets. Default `held`.
    #[serde(default)]
    pub packets: Fate,
}

/// What an outage does to packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Fate {
    /// The transmitter stops: packets wait in the queue, and one in transmission continues after the outage.
    #[default]
    Held,
    /// The transmitter goes on without a receiver: packets in transmission are lost.
    Lost,
}

impl Outages {
    /// Starts and ends of the outages in a run of length `duration`, in order and without overlap.
    pub fn draw(&self, duration: Dur, rng: &mut Rng) -> Vec<(Time, Time)> {
        let (Some(up), Some(down)) = (&self.up, &self.down) else {
            return self
                .times
                .iter()
                .map(|&(at, length)| (Time::ZERO + at, (Time::ZERO + at).saturating_add(length)))
                .collect();
        };
        let (mut all, mut now) = (Vec::new(), Time::ZERO);
        let end = Time::ZERO + duration;
        for _ in 0..MOST_STEPS {
            let start = now.saturating_add(up.draw(rng));
            if start >= end {
                break;
            }
            now = start.saturating_add(down.draw(rng).min(duration));
            all.push((start, now));
        }
        all.retain(|(start, end)| start < end);
        all
    }
}
