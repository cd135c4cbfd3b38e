//! The PI controller: Hollot, Misra, Towsley and Gong, "On designing improved controllers for AQM routers supporting TCP
//! flows", INFOCOM 2001, as ns-2.35 has it (`queue/pi.cc`).
//!
//! A controller computes a probability from the queue's length; arriving packets are signalled with it.

use ecnlab_base::{Bytes, Dur, Length, Rng, Time, coverage_mark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::Facts;
use crate::record::columns::{Average, SIGNAL_P, averages_first};
use crate::{Aqm, Impossible, LawParams, LinkContext, PacketView, Verdict, View};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "pi",
    label: "PI",
    summary: "the PI controller (Hollot et al. 2001): signals with a probability that follows the length",
    reference: "C. Hollot, V. Misra, D. Towsley and W. Gong, 'On designing improved controllers for AQM routers supporting TCP flows', INFOCOM 2001; ns-2.35, queue/pi.cc",
    columns: SIGNAL_P,
    shown: &["q_ref", "a", "b", "frequency"],
    judges_departures: false,
    ..Facts::PLAIN
};

/// PI's keys in `[queue.NAME]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Target length of the controller. Default 50 packets (ns-2.35).
    pub q_ref: Length,
    /// Increase of the probability per sample and packet above `q_ref`, above 0 and at most 1. Default 1.822e-5
    /// (ns-2.35).
    pub a: f64,
    /// Decrease of the probability per packet above `q_ref` at the previous sample, above 0 and below `a`. Default
    /// 1.816e-5 (ns-2.35).
    pub b: f64,
    /// Samples a second, at most 100,000. Default 170 (ns-2.35).
    pub frequency: f64,
    /// Packet size in bytes, if `q_ref` is in bytes: `a` and `b` are per packet. Default 500 B (ns-2.35).
    pub mean_packet: Bytes,
}

impl Default for Params {
    fn default() -> Params {
        Params { q_ref: Length::Packets(50.0), a: 1.822e-5, b: 1.816e-5, frequency: 170.0, mean_packet: Bytes(500) }
    }
}

impl Params {
    /// Checks the values; the error names the key.
    pub fn check(&self) -> Result<(), Impossible> {
        let (Length::Packets(q_ref) | Length::Bytes(q_ref)) = self.q_ref;
        Impossible::unless(q_ref >= 0.0, "q_ref", || format!("{} is not a valid target length", self.q_ref))?;
        Impossible::unless(self.a > 0.0 && self.a <= 1.0, "a", || {
            format!("{} is not a valid gain: write such as 1.822e-5, above 0 and at most 1", self.a)
        })?;
        Impossible::unless(self.b > 0.0 && self.b < self.a, "b", || {
            format!("{} must be above 0 and less than a, {}, or the probability never settles at q_ref", self.b, self.a)
        })?;
        Impossible::unless(self.frequency > 0.0, "frequency", || {
            format!("{} samples per second are not possible: write such as 170", self.frequency)
        })?;
        Impossible::unless_interval(self.interval(), "frequency")?;
        Impossible::unless(self.mean_packet.0 > 0, "mean_packet", || "a packet has at least one byte".to_owned())
    }

    fn interval(&self) -> Dur {
        Dur::from_secs(1.0 / self.frequency)
    }

    /// A length in packets.
    fn packets(&self, packets: u64, bytes: u64) -> f64 {
        match self.q_ref {
            Length::Packets(_) => packets as f64,
            Length::Bytes(_) => bytes as f64 / self.mean_packet.0 as f64,
        }
    }

    fn target(&self) -> f64 {
        match self.q_ref {
            Length::Packets(packets) => packets,
            Length::Bytes(bytes) => bytes / self.mean_packet.0 as f64,
        }
    }
}

/// PI on one queue.
#[derive(Clone, Debug)]
pub struct Pi {
    params: Params,
    p: f64,
    /// The length at the last sample, in packets.
    last: f64,
    average: Average,
}

impl LawParams for Params {
    type Law = Pi;

    fn law(&self, _link: LinkContext) -> Pi {
        Pi { params: *self, p: 0.0, last: 0.0, average: Average::default() }
    }
}

impl Aqm for Pi {
    fn on_enqueue(&mut self, _packet: &PacketView, _view: &View, _now: Time, rng: &mut Rng) -> Verdict {
        if rng.unit() < self.p {
            coverage_mark!("pi.signal");
            Verdict::Signal
        } else {
            Verdict::Pass
        }
    }

    fn tick(&self) -> Option<Dur> {
        Some(self.params.interval())
    }

    fn on_tick(&mut self, view: &View) {
        let (q, target) = (self.params.packets(view.packets, view.bytes), self.params.target());
        let step = self.params.a * (q - target) - self.params.b * (self.last - target);
        self.p = (self.p + step).clamp(0.0, 1.0);
        self.last = q;
    }

    averages_first! { self => self.p }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Integral;
    use ecnlab_base::Rate;
    use ecnlab_base::coverage::must_reach;

    const LINK: LinkContext = LinkContext { rate: Rate::from_bps(1_000_000), delay: Dur::ZERO };
    const PACKET: PacketView =
        PacketView { size: 1000, ecn: ecnlab_wire::Ecn::Ect0, flow: 0, can_mark: true, sojourn: Dur::ZERO };

    fn holding(packets: u64) -> View {
        let bytes = 1000 * packets;
        View { packets, bytes, in_all: bytes, idle: None, polled: false }
    }

    /// p after each sample.
    fn samples(keys: &str, lengths: &[u64]) -> Vec<f64> {
        let mut law = toml::from_str::<Params>(keys).unwrap().law(LINK);
        let sample = |&packets: &u64| {
            law.on_tick(&holding(packets));
            law.values()[0]
        };
        lengths.iter().map(sample).collect()
    }

    #[test]
    fn what_a_scenario_leaves_out_is_of_ns2() {
        let params: Params = toml::from_str("").unwrap();
        assert_eq!((params.q_ref, params.a, params.b), (Length::Packets(50.0), 1.822e-5, 1.816e-5));
        assert_eq!((params.frequency, params.mean_packet), (170.0, Bytes(500)));
        // 1/170 s.
        assert_eq!(params.law(LINK).tick(), Some(Dur::from_secs(1.0 / 170.0)));
    }

    #[test]
    fn each_sample_adds_what_it_is_above_the_target_and_takes_what_the_last_was() {
        // 0.5·(4 - 2) - 0.25·(0 - 2) = 1.5, limited to 1. 1 + 0.5·(1 - 2) - 0.25·(4 - 2) = 0. Then 0.5·(2 - 2) - 0.25·(1 - 2) =
        // 0.25, and 0.25 + 0.5·(3 - 2) - 0.25·(2 - 2) = 0.75; at last 0.75 + 0.5·(0 - 2) - 0.25·(3 - 2) < 0.
        let keys = "q_ref = \"2 packets\"\na = 0.5\nb = 0.25";
        assert_eq!(samples(keys, &[4, 1, 2, 3, 0]), [1.0, 0.0, 0.25, 0.75, 0.0]);
        // Packets of 1000 B are two of 500 B: 8 are 4 above 4, the first sample as above with all twice as large.
        let keys = "q_ref = \"2 kB\"\na = 0.125\nb = 0.0625";
        assert_eq!(samples(keys, &[4, 3]), [0.75, 0.75 + 0.125 * 2.0 - 0.0625 * 4.0]);
    }

    #[test]
    fn packets_are_signalled_with_the_probability() {
        let _reached = must_reach(["pi.signal"]);
        let mut law = toml::from_str::<Params>("q_ref = \"2 packets\"\na = 0.5\nb = 0.25").unwrap().law(LINK);
        let mut rng = Rng::named(1, "pi");
        let mut signals = |law: &mut Pi, n: u32| {
            (0..n).filter(|_| law.on_enqueue(&PACKET, &holding(1), Time::ZERO, &mut rng) == Verdict::Signal).count()
        };
        assert_eq!(signals(&mut law, 100), 0);
        law.on_tick(&holding(2));
        // p is 0.25·2 = 0.5: 500 of 1000, with a standard deviation of 15.8; four of them.
        let half = signals(&mut law, 1000);
        assert!((437..=563).contains(&half), "{half}");
        law.on_tick(&holding(4));
        assert_eq!(signals(&mut law, 100), 100);
    }

    #[test]
    fn the_probability_is_averaged_over_time() {
        let mut law = toml::from_str::<Params>("q_ref = \"2 packets\"\na = 0.5\nb = 0.25").unwrap().law(LINK);
        law.elapsed(Dur::from_ps(10));
        law.on_tick(&holding(2));
        law.elapsed(Dur::from_ps(30));
        // 0 for 10 ps and 0.5 for 30.
        assert_eq!((law.cut(), law.cut()), (vec![Integral::Value(15.0)], vec![Integral::Value(0.0)]));
    }

    #[test]
    fn what_cannot_be_is_refused_by_key() {
        for keys in [
            "a = 0.0",
            "a = 1.01",
            "a = nan",
            "b = 0.0",
            "b = 1.822e-5",
            "b = nan",
            "frequency = 0.0",
            "frequency = nan",
            "frequency = 100001.0",
            "mean_packet = \"0 B\"",
        ] {
            let params: Params = toml::from_str(keys).unwrap();
            let key = params.check().err().map(|refused| refused.key).unwrap_or_default();
            assert!(!key.is_empty() && keys.starts_with(&key), "{keys}: {key}");
        }
        for keys in ["", "q_ref = \"0 packets\"", "a = 1.0", "frequency = 100000.0", "mean_packet = \"1 B\""] {
            assert_eq!(toml::from_str::<Params>(keys).unwrap().check(), Ok(()), "{keys}");
        }
        let aimless = Params { q_ref: Length::Packets(f64::NAN), ..Params::default() };
        assert_eq!(aimless.check().err().map(|refused| refused.key), Some("q_ref".to_owned()));
    }
}
