//! AVQ, the adaptive virtual queue: Kunniyur and Srikant, "Analysis and design of an adaptive virtual queue (AVQ) algorithm for
//! active queue management", SIGCOMM 2001, as the authors' code in ns-2.35 has it (`queue/vq.cc`).
//!
//! Each arrival also enters a virtual queue that drains more slowly than the link. Packets that would overflow it are
//! signalled. Its capacity is a token bucket that fills at the desired rate and is charged for arrivals.

use ecnlab_base::facts::Column;
use ecnlab_base::{Bytes, Length, Rng, Time, coverage_mark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::Facts;
use crate::record::columns::{Average, Columns, averages_first};
use crate::{Aqm, Impossible, LawParams, LinkContext, PacketView, Verdict, View};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "avq",
    label: "AVQ",
    summary: "adaptive virtual queue (Kunniyur & Srikant 2001): signals packets that would overflow a slower virtual queue",
    reference: "S. Kunniyur and R. Srikant, 'Analysis and design of an adaptive virtual queue (AVQ) algorithm for active queue management', SIGCOMM 2001; ns-2.35, queue/vq.cc",
    columns: Columns {
        values: &[Column::new("avq_capacity_bps", "bit/s", "AVQ's virtual capacity")],
        means: &[Column::new("mean_avq_capacity_bps", "bit/s", "time average of AVQ's virtual capacity")],
    },
    shown: &["gamma", "alpha"],
    judges_departures: false,
    ..Facts::PLAIN
};

/// AVQ's keys in `[queue.NAME]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Target utilisation of the link, above 0 and at most 1. Default 0.98 (ns-2.35: `gamma_`).
    pub gamma: f64,
    /// Gain of the capacity's adaptation, per second, above 0 and at most 1000. Default 0.15 (ns-2.35: `alpha2`, a
    /// constant of the code).
    pub alpha: f64,
    /// The capacity at the first packet, as a part of the link's rate: 0 to 1. Default 0.8 (ns-2.35: `ecnlim_`).
    pub initial: f64,
    /// The size of the virtual queue, in packets or bytes. Default: the limit of the queue (ns-2.35: `buflim_` 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Length>,
    /// Bytes of a packet in the units of `buffer` and `limit`. Default 1000 B (ns-2.35: `mean_pktsize_`).
    pub mean_packet: Bytes,
}

impl Default for Params {
    fn default() -> Params {
        Params { gamma: 0.98, alpha: 0.15, initial: 0.8, buffer: None, mean_packet: Bytes(1000) }
    }
}

impl Params {
    /// Checks the values; the error names the key.
    pub fn check(&self) -> Result<(), Impossible> {
        Impossible::unless(self.gamma > 0.0 && self.gamma <= 1.0, "gamma", || {
            format!("{} is not a utilisation: it must be above 0 and at most 1", self.gamma)
        })?;
        Impossible::unless(self.alpha > 0.0 && self.alpha <= 1000.0, "alpha", || {
            format!("{} is not a valid gain: write such as 0.15, above 0 and at most 1000", self.alpha)
        })?;
        Impossible::unless((0.0..=1.0).contains(&self.initial), "initial", || {
            format!("{} is not a fraction of the link's rate: write 0 to 1", self.initial)
        })?;
        let (Length::Packets(buffer) | Length::Bytes(buffer)) = self.buffer.unwrap_or(Length::Packets(1.0));
        Impossible::unless(buffer > 0.0, "buffer", || "0 would signal every packet: leave it out".to_owned())?;
        Impossible::unless(self.mean_packet.0 > 0, "mean_packet", || "a packet has at least one byte".to_owned())
    }

    fn bytes(&self, length: Length) -> f64 {
        match length {
            Length::Packets(packets) => packets * self.mean_packet.0 as f64,
            Length::Bytes(bytes) => bytes,
        }
    }
}

/// AVQ on one queue. All lengths are in bytes, all rates in bytes a second.
#[derive(Clone, Debug)]
pub struct Avq {
    params: Params,
    /// The link's rate.
    rate: f64,
    /// The size of the virtual queue.
    buffer: f64,
    /// Length of the virtual queue.
    held: f64,
    /// The rate at which it drains.
    capacity: f64,
    /// Time at which it last drained.
    drained: Time,
    /// Time at which its capacity last changed.
    adapted: Time,
    begun: bool,
    average: Average,
}

impl Avq {
    /// Whether the virtual queue has room for `size` bytes now; if so, they are in it.
    fn takes(&mut self, size: f64, now: Time) -> bool {
        let drained = self.capacity * now.since(self.drained).as_secs();
        self.drained = now;
        self.held = libm::fmax(self.held - drained, 0.0);
        let fits = self.held + size <= self.buffer;
        if fits {
            self.held += size;
        }
        fits
    }

    /// The token bucket of the capacity: it fills at the wanted rate, and `size` bytes are taken from it.
    fn adapt(&mut self, size: f64, now: Time) {
        let wanted = self.params.gamma * self.rate * now.since(self.adapted).as_secs();
        self.adapted = now;
        self.capacity = (self.capacity + self.params.alpha * (wanted - size)).clamp(0.0, self.rate);
    }
}

impl LawParams for Params {
    type Law = Avq;

    fn in_force(&self, _link: LinkContext, limit: Length) -> Params {
        Params { buffer: Some(self.buffer.unwrap_or(limit)), ..*self }
    }

    fn law(&self, link: LinkContext) -> Avq {
        let rate = link.rate.bps() as f64 / 8.0;
        Avq {
            params: *self,
            rate,
            buffer: self.buffer.map_or(f64::INFINITY, |buffer| self.bytes(buffer)),
            held: 0.0,
            capacity: self.initial * rate,
            drained: Time::ZERO,
            adapted: Time::ZERO,
            begun: false,
            average: Average::default(),
        }
    }
}

impl Aqm for Avq {
    fn limited(&mut self, limit: Length) {
        self.buffer = self.params.bytes(self.params.buffer.unwrap_or(limit));
    }

    fn on_enqueue(&mut self, packet: &PacketView, _view: &View, now: Time, _rng: &mut Rng) -> Verdict {
        if !std::mem::replace(&mut self.begun, true) {
            self.adapted = now;
        }
        let size = f64::from(packet.size);
        let fits = self.takes(size, now);
        // Dropped packets do not count for the rate that the capacity follows.
        if fits || packet.can_mark {
            self.adapt(size, now);
        }
        if fits {
            Verdict::Pass
        } else {
            coverage_mark!("avq.virtual_overflow");
            Verdict::Signal
        }
    }

    averages_first! { self => 8.0 * self.capacity }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Integral;
    use ecnlab_base::coverage::must_reach;
    use ecnlab_base::{Dur, Rate};

    /// 1000 B/s.
    const LINK: LinkContext = LinkContext { rate: Rate::from_bps(8_000), delay: Dur::ZERO };

    fn law(keys: &str, limit: Length) -> Avq {
        let params: Params = toml::from_str(keys).unwrap();
        assert_eq!(params.check(), Ok(()));
        let mut law = params.law(LINK);
        law.limited(limit);
        law
    }

    fn arrive(law: &mut Avq, ms: u64, size: u32, can_mark: bool) -> Verdict {
        let ecn = ecnlab_wire::Ecn::Ect0;
        let packet = PacketView { size, ecn, flow: 0, can_mark, sojourn: Dur::ZERO };
        let view = View { packets: 0, bytes: 0, in_all: 0, idle: None, polled: false };
        law.on_enqueue(&packet, &view, Time::ZERO + Dur::from_ms(ms), &mut Rng::named(1, "avq"))
    }

    #[test]
    fn what_a_scenario_leaves_out_is_of_ns2() {
        let Params { gamma, alpha, initial, buffer, mean_packet } = toml::from_str("").unwrap();
        assert_eq!((gamma, alpha, initial), (0.98, 0.15, 0.8));
        assert_eq!((buffer, mean_packet), (None, Bytes(1000)));
    }

    #[test]
    fn the_virtual_queue_is_as_long_as_the_queue_or_as_a_key_states() {
        assert_eq!(law("", Length::Packets(20.0)).buffer, 20_000.0);
        assert_eq!(law("mean_packet = \"500 B\"", Length::Packets(20.0)).buffer, 10_000.0);
        assert_eq!(law("", Length::Bytes(20.0)).buffer, 20.0);
        assert_eq!(law("buffer = \"2 packets\"", Length::Bytes(20.0)).buffer, 2000.0);
        assert_eq!(law("buffer = \"5 kB\"", Length::Bytes(20.0)).buffer, 5000.0);
    }

    #[test]
    fn what_would_overflow_the_virtual_queue_is_signalled() {
        let _reached = must_reach(["avq.virtual_overflow"]);
        // The capacity hardly moves: 500 B/s, while the link sends 1000.
        let mut law = law("initial = 0.5\nalpha = 1e-12\nbuffer = \"1000 B\"", Length::Packets(50.0));
        assert_eq!(arrive(&mut law, 1000, 600, true), Verdict::Pass);
        assert_eq!(arrive(&mut law, 1000, 400, true), Verdict::Pass);
        // 1000 - 50 in 100 ms; 60 do not fit and leave it as it was, 49 do.
        assert_eq!(arrive(&mut law, 1100, 60, true), Verdict::Signal);
        assert_eq!(arrive(&mut law, 1100, 49, true), Verdict::Pass);
        assert_eq!(arrive(&mut law, 1100, 2, true), Verdict::Signal);
        // In 2 s all is gone, and no more than all.
        assert_eq!(arrive(&mut law, 3100, 1001, true), Verdict::Signal);
        assert_eq!((law.held < 1e-6, arrive(&mut law, 3100, 1000, true)), (true, Verdict::Pass));
    }

    #[test]
    fn the_capacity_fills_at_the_wanted_rate_and_pays_for_what_comes() {
        let mut law = law("initial = 0.5\nalpha = 0.5\ngamma = 0.75", Length::Packets(50.0));
        // The first packet begins: 500 - 0.5·100.
        arrive(&mut law, 1000, 100, true);
        assert_eq!(law.values(), [8.0 * 450.0]);
        // 450 + 0.5·(750·0.4 - 100).
        arrive(&mut law, 1400, 100, true);
        assert!((law.capacity - 550.0).abs() < 1e-9);
        // No more than the link, and no less than nothing.
        arrive(&mut law, 9000, 100, true);
        assert_eq!(law.capacity, 1000.0);
        arrive(&mut law, 9000, 3000, true);
        assert_eq!(law.capacity, 0.0);
    }

    #[test]
    fn what_is_dropped_does_not_count() {
        for (can_mark, capacity) in [(true, 500.0 + 0.5 * (75.0 - 100.0)), (false, 500.0)] {
            let mut law = law("initial = 0.5\nalpha = 0.5\ngamma = 0.75\nbuffer = \"10 B\"", Length::Packets(50.0));
            arrive(&mut law, 0, 0, can_mark);
            assert_eq!(arrive(&mut law, 100, 100, can_mark), Verdict::Signal);
            assert!((law.capacity - capacity).abs() < 1e-9, "{}", law.capacity);
            // The time until the next packet that counts is not lost: 750·0.2 in all.
            arrive(&mut law, 200, 0, can_mark);
            let time = if can_mark { 75.0 } else { 150.0 };
            assert!((law.capacity - capacity - 0.5 * time).abs() < 1e-9, "{}", law.capacity);
        }
    }

    #[test]
    fn the_capacity_is_averaged_over_time() {
        let mut law = law("initial = 0.5", Length::Packets(50.0));
        law.elapsed(Dur::from_ps(10));
        assert_eq!((law.cut(), law.cut()), (vec![Integral::Value(40_000.0)], vec![Integral::Value(0.0)]));
    }

    #[test]
    fn what_cannot_be_is_refused_by_key() {
        for keys in [
            "gamma = 0.0",
            "gamma = 1.01",
            "gamma = nan",
            "alpha = 0.0",
            "alpha = 1000.5",
            "initial = -0.01",
            "initial = 1.01",
            "buffer = \"0 packets\"",
            "mean_packet = \"0 B\"",
        ] {
            let params: Params = toml::from_str(keys).unwrap();
            let key = params.check().err().map(|refused| refused.key).unwrap_or_default();
            assert!(!key.is_empty() && keys.starts_with(&key), "{keys}: {key}");
        }
        law("gamma = 1.0\nalpha = 1000.0\ninitial = 0.0\nmean_packet = \"1 B\"", Length::Packets(1.0));
    }
}
