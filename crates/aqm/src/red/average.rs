//! The average queue: an exponentially weighted moving average of what arrivals find.

use ecnlab_base::{Bytes, Dur, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::View;

/// How the average decays over idle time, through m packets that might have been sent in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Idle {
    /// avg·(1-w)^m, m = idle time / transmission time of `mean_packet`, not rounded (FJ93 §4, figure 2).
    #[default]
    Fj93,
    /// avg·(1-w)^(m+1), m rounded down: the arrival itself is a sample of zero (ns-2).
    Ns2,
}

/// The average, kept in packets and in bytes; the thresholds' unit says which one decides.
#[derive(Clone, Copy, Debug)]
pub struct Ewma {
    /// In packets.
    pub packets: f64,
    /// In bytes.
    pub bytes: f64,
    weight: f64,
    idle: Idle,
    /// Transmissions of a mean packet in a second.
    per_second: f64,
}

impl Ewma {
    /// An average of zero.
    pub fn new(weight: f64, idle: Idle, rate: Rate, mean_packet: Bytes) -> Ewma {
        let per_second = rate.bps() as f64 / (8.0 * mean_packet.0 as f64);
        Ewma { packets: 0.0, bytes: 0.0, weight, idle, per_second }
    }

    /// A packet arrives and finds `view`: avg = (1-w)·avg + w·q, or the decay where the link was idle.
    #[inline]
    pub fn arrival(&mut self, view: &View) {
        match view.idle {
            None => {
                self.packets += self.weight * (view.packets as f64 - self.packets);
                self.bytes += self.weight * (view.bytes as f64 - self.bytes);
            }
            Some(idle) => self.decay(idle),
        }
    }

    fn decay(&mut self, idle: Dur) {
        let m = idle.as_secs() * self.per_second;
        let samples = match self.idle {
            Idle::Fj93 => m,
            Idle::Ns2 => libm::floor(m) + 1.0,
        };
        let left = libm::pow(1.0 - self.weight, samples);
        self.packets *= left;
        self.bytes *= left;
    }
}
