//! From p_b to a choice: how signals lie among the arriving packets.

use ecnlab_base::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Params;

/// How signals are spaced. At a constant p_b = 1/k, packets from one signal to the next:
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// Uniform on 1..=k, mean (k+1)/2: p_b/(1 - count·p_b) (FJ93 §7, method 2). With
    /// `count_arrival` uniform on 1..=k-1, mean k/2.
    #[default]
    Uniform,
    /// Uniform on k..=2k-1, mean (3k-1)/2: none before k, then p_b/(2 - count·p_b), where count
    /// includes the arriving packet (ns-2's `wait_`).
    Wait,
    /// Geometric, mean k: p_b itself (FJ93 §7, method 1).
    Geometric,
}

/// What is as likely as any other to be signalled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Probability {
    /// Each packet.
    #[default]
    Packets,
    /// Each byte: p_b·size/`mean_packet` before spacing (FJ93 §4; there the maximum packet size).
    Bytes,
    /// Each byte, ns-2's way (`bytes_`): count is whole `mean_packet`s of bytes, rounded down, and
    /// size/`mean_packet` scales what spacing gave, unless that is 1.
    BytesNs2,
}

/// Which drops restart the count of packets since the last signal, besides signals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CountReset {
    /// None (ns-2 with `ns1_compat_`; ns-3).
    Signals,
    /// Those past the upper threshold (FJ93 figure 2).
    #[default]
    Forced,
    /// Those and the ones for want of room (ns-2).
    All,
}

/// Spaces signals: counts since the last, and draws.
#[derive(Clone, Copy, Debug)]
pub struct Spacer {
    spacing: Spacing,
    probability: Probability,
    count_arrival: bool,
    mean_packet: f64,
    /// Packets since the last signal, without the one that arrives.
    packets: u64,
    /// Their bytes.
    bytes: u64,
}

impl Spacer {
    /// A spacer that has counted nothing.
    pub fn new(params: &Params) -> Spacer {
        Spacer {
            spacing: params.spacing,
            probability: params.probability,
            count_arrival: params.count_arrival,
            mean_packet: params.mean_packet.0 as f64,
            packets: 0,
            bytes: 0,
        }
    }

    /// Whether the arriving packet is signalled; counts it.
    #[inline]
    pub fn chooses(&mut self, p_b: f64, size: u32, rng: &mut Rng) -> bool {
        let p_a = self.spaced(p_b, size);
        let chosen = p_a >= 1.0 || (p_a > 0.0 && rng.unit() < p_a);
        if chosen {
            self.restart();
        } else {
            self.passed(size);
        }
        chosen
    }

    /// Counts a packet that was not signalled.
    #[inline]
    pub fn passed(&mut self, size: u32) {
        self.packets += 1;
        self.bytes += u64::from(size);
    }

    /// Counts from here.
    #[inline]
    pub fn restart(&mut self) {
        self.packets = 0;
        self.bytes = 0;
    }

    /// The probability p_a of the arriving packet.
    pub fn spaced(&self, p_b: f64, size: u32) -> f64 {
        let relative = f64::from(size) / self.mean_packet;
        match self.probability {
            Probability::Packets => self.space(p_b, self.count_packets()),
            Probability::Bytes if p_b < 1.0 => self.space(libm::fmin(p_b * relative, 1.0), self.count_packets()),
            Probability::Bytes => 1.0,
            Probability::BytesNs2 => {
                let p = self.space(p_b, libm::floor(self.count_bytes(size) / self.mean_packet));
                if p < 1.0 { libm::fmin(p * relative, 1.0) } else { 1.0 }
            }
        }
    }

    fn space(&self, p: f64, count: f64) -> f64 {
        let room = match self.spacing {
            Spacing::Geometric => return p,
            Spacing::Wait if count * p < 1.0 => return 0.0,
            Spacing::Wait => 2.0 - count * p,
            Spacing::Uniform => 1.0 - count * p,
        };
        // Past the end of the range the signal is due.
        if p < room { p / room } else { 1.0 }
    }

    fn counts_arrival(&self) -> bool {
        self.count_arrival || self.spacing == Spacing::Wait
    }
    fn count_packets(&self) -> f64 {
        (self.packets + u64::from(self.counts_arrival())) as f64
    }
    fn count_bytes(&self, size: u32) -> f64 {
        (self.bytes + if self.counts_arrival() { u64::from(size) } else { 0 }) as f64
    }
}
