//! Selection of packets with probability p_b: the spacing of signals among the arriving packets.

use ecnlab_base::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Params;

/// Spacing of signals. At a constant p_b = 1/k, packets from one signal to the next:
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
    /// Uniform on 1..=k, mean (k+1)/2, by one random number R per gap, uniform on 0..1: the packet is signalled for which
    /// count·p_b reaches R; count includes the arriving packet. The first packet from `min_th` on draws R and passes (Linux
    /// include/net/red.h, `red_action`). Unlike `uniform` where p_b changes within a gap.
    Linux,
}

/// Unit that is signalled with equal probability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Probability {
    /// Each packet.
    #[default]
    Packets,
    /// Each byte: p_b·size/`mean_packet` before spacing (FJ93 §4; there the maximum packet size).
    Bytes,
    /// Each byte, as in ns-2 (`bytes_`): the count is in whole `mean_packet`s of bytes, rounded down, and
    /// size/`mean_packet` scales the result of the spacing, unless that is 1.
    BytesNs2,
}

/// Drops that restart the count of packets since the last signal, in addition to signals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CountReset {
    /// None (ns-2 with `ns1_compat_`; ns-3).
    Signals,
    /// Drops above the upper threshold (FJ93 figure 2).
    #[default]
    Forced,
    /// Drops above the upper threshold and on a full queue (ns-2).
    All,
}

/// Spaces signals: the counts since the last one, and random numbers.
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
    /// `linux`: the random number R of this gap; infinite if none is drawn.
    threshold: f64,
}

impl Spacer {
    /// Starts with zero counts.
    pub fn new(params: &Params) -> Spacer {
        Spacer {
            spacing: params.spacing,
            probability: params.probability,
            count_arrival: params.count_arrival,
            mean_packet: params.mean_packet.0 as f64,
            packets: 0,
            bytes: 0,
            threshold: f64::INFINITY,
        }
    }

    /// Whether the arriving packet is signalled; counts it.
    #[inline(always)]
    pub fn chooses(&mut self, p_b: f64, size: u32, rng: &mut Rng) -> bool {
        let p_a = self.spaced(p_b, size);
        let chosen = p_a >= 1.0 || (p_a > 0.0 && rng.unit() < p_a);
        if chosen {
            self.restart();
        } else {
            self.passed(size);
        }
        if self.spacing == Spacing::Linux && p_b < 1.0 {
            self.draw_threshold(rng);
        }
        chosen
    }

    #[cold]
    #[inline(never)]
    fn draw_threshold(&mut self, rng: &mut Rng) {
        if self.threshold == f64::INFINITY {
            self.restart();
            self.threshold = rng.unit();
        }
    }

    /// Counts a packet that was not signalled.
    #[inline]
    pub fn passed(&mut self, size: u32) {
        self.packets += 1;
        self.bytes += u64::from(size);
    }

    /// Restarts the counts.
    #[inline]
    pub fn restart(&mut self) {
        self.packets = 0;
        self.bytes = 0;
        self.threshold = f64::INFINITY;
    }

    /// The probability p_a of the arriving packet.
    #[inline(always)]
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

    #[inline(always)]
    fn space(&self, p: f64, count: f64) -> f64 {
        let room = match self.spacing {
            Spacing::Geometric => return p,
            Spacing::Wait if count * p < 1.0 => return 0.0,
            Spacing::Wait => 2.0 - count * p,
            Spacing::Linux if p < 1.0 && count * p < self.threshold => return 0.0,
            Spacing::Linux => return 1.0,
            Spacing::Uniform => 1.0 - count * p,
        };
        // Past the end of the range the signal is due.
        if p < room { p / room } else { 1.0 }
    }

    fn counts_arrival(&self) -> bool {
        self.count_arrival || matches!(self.spacing, Spacing::Wait | Spacing::Linux)
    }
    fn count_packets(&self) -> f64 {
        (self.packets + u64::from(self.counts_arrival())) as f64
    }
    fn count_bytes(&self, size: u32) -> f64 {
        (self.bytes + if self.counts_arrival() { u64::from(size) } else { 0 }) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::red::auto::{Threshold, Unit};

    fn spacer(change: impl FnOnce(&mut Params)) -> Spacer {
        let mut params = Params::new(Threshold::Auto(Unit::Packets), Threshold::Auto(Unit::Packets));
        change(&mut params);
        Spacer::new(&params)
    }

    /// P(gap = n) for n = 1, 2, ... at a constant p_b and size, from the probabilities of each packet.
    fn gaps(mut spacer: Spacer, p_b: f64, size: u32) -> Vec<f64> {
        let mut left = 1.0;
        let mut gaps = Vec::new();
        while left > 1e-9 && gaps.len() < 1000 {
            let p_a = spacer.spaced(p_b, size);
            gaps.push(left * p_a);
            left *= 1.0 - p_a;
            spacer.passed(size);
        }
        gaps
    }

    fn mean(gaps: &[f64]) -> f64 {
        gaps.iter().zip(1..).map(|(p, n)| p * f64::from(n)).sum()
    }

    fn all_close(values: &[f64], to: f64) -> bool {
        values.iter().all(|v| (v - to).abs() < 1e-9)
    }

    #[test]
    fn uniform_gaps_are_uniform_on_1_to_k() {
        // p_b = 1/8: p_a = 1/8, 1/7, ... 1/1, so each of 1..=8 has 1/8; mean 1/(2 p_b) + 1/2.
        let gaps = gaps(spacer(|_| {}), 0.125, 500);
        assert_eq!(gaps.len(), 8);
        assert!(all_close(&gaps, 0.125), "{gaps:?}");
        assert!((mean(&gaps) - 4.5).abs() < 1e-9);
    }

    #[test]
    fn a_count_that_includes_the_arrival_leaves_out_the_longest_gap() {
        // p_a = 1/7, 1/6, ... 1/1: each of 1..=7 has 1/7; mean 1/(2 p_b).
        let gaps = gaps(spacer(|p| p.count_arrival = true), 0.125, 500);
        assert_eq!(gaps.len(), 7);
        assert!(all_close(&gaps, 1.0 / 7.0), "{gaps:?}");
        assert!((mean(&gaps) - 4.0).abs() < 1e-9);
    }

    #[test]
    fn wait_gaps_are_uniform_on_k_to_2k_less_one() {
        // Nothing for 1..=7, then 1/8, 1/7, ... 1/1; mean (8 + 15)/2, near 1.5/p_b.
        let gaps = gaps(spacer(|p| p.spacing = Spacing::Wait), 0.125, 500);
        assert_eq!(gaps.len(), 15);
        assert!(all_close(&gaps[..7], 0.0) && all_close(&gaps[7..], 0.125), "{gaps:?}");
        assert!((mean(&gaps) - 11.5).abs() < 1e-9);
    }

    #[test]
    fn geometric_gaps_have_no_memory() {
        let gaps = gaps(spacer(|p| p.spacing = Spacing::Geometric), 0.125, 500);
        assert!((gaps[1] / gaps[0] - 0.875).abs() < 1e-9);
        assert!((mean(&gaps) - 8.0).abs() < 1e-5);
    }

    /// That 8000 gaps at p_b = 1/8 are uniform on 1..=8.
    fn assert_uniform_on_1_to_8(spacer: &mut Spacer, rng: &mut Rng) {
        let mut seen = [0_u32; 8];
        for _ in 0..8_000 {
            let gap = (1..).find(|_| spacer.chooses(0.125, 500, rng)).unwrap_or(0);
            seen[gap - 1] += 1;
        }
        // Chi-square over 8 cells of 1000: 7 degrees of freedom pass 24.3 once in a thousand.
        let chi2: f64 = seen.iter().map(|&n| (f64::from(n) - 1000.0) * (f64::from(n) - 1000.0) / 1000.0).sum();
        assert!(chi2 < 24.3, "{chi2}: {seen:?}");
    }

    fn linux() -> (Spacer, Rng) {
        (spacer(|p| p.spacing = Spacing::Linux), Rng::named(3, "spacing"))
    }

    #[test]
    fn linux_signals_the_packet_whose_count_times_p_reaches_the_number_drawn() {
        let (mut spacer, mut rng) = linux();
        for _ in 0..20 {
            let r = rng.clone().unit();
            spacer.restart();
            // The first packet draws R and passes. Then p_b is 1/50 for the packets with n/50 < R, and 1/100 for as many more.
            let n = libm::ceil(50.0 * r) as usize - 1;
            for p in [0.02].repeat(n + 1).into_iter().chain([0.01].repeat(n)) {
                assert!(!spacer.chooses(p, 500, &mut rng), "R = {r}, n = {n}");
            }
            assert_eq!(spacer.packets, 2 * n as u64);
            // The count of this packet is 2n+1, and the one at which 2p_b signals is at most n+1.
            assert!(spacer.chooses(0.02, 500, &mut rng), "R = {r}, n = {n}");
        }
    }

    #[test]
    fn linux_gaps_are_uniform_on_1_to_k_at_a_constant_p() {
        let (mut spacer, mut rng) = linux();
        assert!(!spacer.chooses(0.125, 500, &mut rng));
        assert_uniform_on_1_to_8(&mut spacer, &mut rng);
    }

    #[test]
    fn linux_draws_anew_after_packets_that_are_all_signalled() {
        let (mut spacer, mut rng) = linux();
        for _ in 0..2 {
            assert!(spacer.chooses(1.0, 500, &mut rng));
        }
        assert!(!spacer.chooses(0.999, 500, &mut rng), "the first packet in the region passes");
    }

    #[test]
    fn only_what_is_uncertain_is_drawn_and_a_draw_below_the_probability_hits() {
        let mut spacer = spacer(|p| p.spacing = Spacing::Geometric);
        let rng = Rng::named(3, "spacing");
        let first = rng.clone().unit();
        // No chance is taken at 0 and 1: the next draw is still the first.
        for (p, chosen) in [(0.0, false), (1.0, true)] {
            let mut rng = rng.clone();
            assert_eq!(spacer.chooses(p, 500, &mut rng), chosen);
            assert_eq!(rng.unit(), first);
        }
        // A draw is one of 2^53 from 0 on, so that p·2^53 of them lie below p.
        let step = f64::EPSILON / 2.0;
        assert!(!spacer.chooses(first, 500, &mut rng.clone()));
        assert!(spacer.chooses(first + step, 500, &mut rng.clone()));
    }

    #[test]
    fn draws_follow_the_probabilities() {
        let mut spacer = spacer(|_| {});
        let mut rng = Rng::named(3, "spacing");
        assert_uniform_on_1_to_8(&mut spacer, &mut rng);
    }

    #[test]
    fn byte_mode_scales_with_size() {
        let spacer = spacer(|p| p.probability = Probability::Bytes);
        assert_eq!(spacer.spaced(0.125, 500), 0.125);
        assert_eq!(spacer.spaced(0.125, 1000), 0.25);
        assert_eq!(spacer.spaced(0.125, 40), 0.01);
        assert_eq!(spacer.spaced(0.125, 9000), 1.0);
        assert_eq!(spacer.spaced(1.0, 40), 1.0);
    }

    #[test]
    fn ns2_byte_mode_counts_whole_mean_packets_and_scales_last() {
        let ns2 = |p: &mut Params| {
            p.probability = Probability::BytesNs2;
            p.spacing = Spacing::Wait;
        };
        // 1500 B: counts 3, 6, 9, 12, 15 against 1/p_b = 8. At 9: (1/8)/(2-9/8) = 1/7, times 3.
        let mut spacer_1500 = spacer(ns2);
        for p_a in [0.0, 0.0, 3.0 / 7.0, 0.75, 1.0] {
            assert!((spacer_1500.spaced(0.125, 1500) - p_a).abs() < 1e-12);
            spacer_1500.passed(1500);
        }
        // 700 B: 1.4, 2.8, 4.2 mean packets count 1, 2, 4: at p_b = 1/4 only the third reaches 1, times 1.4.
        let mut spacer_700 = spacer(ns2);
        for p_a in [0.0, 0.0, 0.35] {
            assert!((spacer_700.spaced(0.25, 700) - p_a).abs() < 1e-12);
            spacer_700.passed(700);
        }
        // 40 B count nothing, so that even p_b = 1 lets the first of them pass.
        assert_eq!(spacer(ns2).spaced(1.0, 40), 0.0);
        // What spacing makes certain stays so, whatever the size.
        assert_eq!(spacer(|p| p.probability = Probability::BytesNs2).spaced(1.0, 40), 1.0);
    }
}
