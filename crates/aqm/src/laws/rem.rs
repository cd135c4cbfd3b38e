//! REM, Random Exponential Marking: Athuraliya, Li, Low and Yin, "REM: active queue management", IEEE Network 15(3), 2001, as
//! the authors' code in ns-2.35 has it (`queue/rem.cc`).
//!
//! A price depends on the arrival rate and the queue length; arriving packets are signalled with a probability
//! exponential in it.

use ecnlab_base::{Bytes, Dur, Length, Rng, Time, coverage_mark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::Facts;
use crate::record::columns::{Average, SIGNAL_P, averages_first};
use crate::{Aqm, Impossible, LawParams, LinkContext, PacketView, Verdict, View};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "rem",
    label: "REM",
    summary: "Random Exponential Marking (Athuraliya et al. 2001): a price of arrivals and length",
    reference: "S. Athuraliya, V. Li, S. Low and Q. Yin, 'REM: active queue management', IEEE Network 15(3), 2001; ns-2.35, queue/rem.cc",
    columns: SIGNAL_P,
    shown: &["target", "gamma", "phi"],
    judges_departures: false,
    ..Facts::PLAIN
};

/// REM's keys in `[queue.NAME]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Target length of the price (b*). Default 20 packets (ns-2.35: `pbo_`).
    pub target: Length,
    /// Step of the price per excess packet, above 0 and at most 1000. Default 0.001 (ns-2.35: `gamma_`).
    pub gamma: f64,
    /// Weight of a queued packet relative to an arriving one, above 0 and at most 1000. Default 0.1 (ns-2.35: a
    /// constant of the code).
    pub alpha: f64,
    /// The base: a packet passes with phi to the power of minus the price; above 1 and at most 1000. Default 1.001
    /// (ns-2.35: `phi_`).
    pub phi: f64,
    /// Time between updates of the price, at least 10 µs. Default 2 ms (ns-2.35: `pupdtime_`).
    pub interval: Dur,
    /// Weight of the last interval in the average arrival rate, above 0 and at most 1; 1 disables averaging. Default 1
    /// (ns-2.35: `inw_`).
    pub weight: f64,
    /// Bytes of a packet, which determine the link's capacity in packets per interval. Default 1000 B (ns-2.35:
    /// `mean_pktsize_`).
    pub mean_packet: Bytes,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            target: Length::Packets(20.0),
            gamma: 0.001,
            alpha: 0.1,
            phi: 1.001,
            interval: Dur::from_ms(2),
            weight: 1.0,
            mean_packet: Bytes(1000),
        }
    }
}

impl Params {
    /// Checks the values; the error names the key.
    pub fn check(&self) -> Result<(), Impossible> {
        let (Length::Packets(target) | Length::Bytes(target)) = self.target;
        Impossible::unless(target >= 0.0, "target", || format!("{} is not a valid target length", self.target))?;
        let gain = |value: f64, key: &str, such: &str| {
            Impossible::unless(value > 0.0 && value <= 1000.0, key, || {
                format!("{value} is not a valid gain: write such as {such}, above 0 and at most 1000")
            })
        };
        gain(self.gamma, "gamma", "0.001")?;
        gain(self.alpha, "alpha", "0.1")?;
        Impossible::unless(self.phi > 1.0 && self.phi <= 1000.0, "phi", || {
            format!("{} must be above 1, or no price leads to signals, and at most 1000: write such as 1.001", self.phi)
        })?;
        Impossible::unless_interval(self.interval, "interval")?;
        Impossible::unless(self.weight > 0.0 && self.weight <= 1.0, "weight", || {
            format!("{} must be above 0 and at most 1", self.weight)
        })?;
        Impossible::unless(self.mean_packet.0 > 0, "mean_packet", || "a packet has at least one byte".to_owned())
    }
}

/// REM on one queue.
#[derive(Clone, Debug)]
pub struct Rem {
    params: Params,
    /// Packets that the link sends in an interval.
    capacity: f64,
    /// Packets that arrived since the last update.
    arrived: f64,
    /// Average number of packets that arrive in an interval.
    rate: f64,
    price: f64,
    p: f64,
    average: Average,
}

impl Rem {
    /// A length in packets.
    fn packets(&self, packets: u64, bytes: u64) -> f64 {
        match self.params.target {
            Length::Packets(_) => packets as f64,
            Length::Bytes(_) => bytes as f64 / self.params.mean_packet.0 as f64,
        }
    }

    fn target(&self) -> f64 {
        match self.params.target {
            Length::Packets(packets) => packets,
            Length::Bytes(bytes) => bytes / self.params.mean_packet.0 as f64,
        }
    }
}

impl LawParams for Params {
    type Law = Rem;

    fn law(&self, link: LinkContext) -> Rem {
        let per_second = link.rate.bps() as f64 / (8.0 * self.mean_packet.0 as f64);
        Rem {
            params: *self,
            capacity: self.interval.as_secs() * per_second,
            arrived: 0.0,
            rate: 0.0,
            price: 0.0,
            p: 0.0,
            average: Average::default(),
        }
    }
}

impl Aqm for Rem {
    fn on_enqueue(&mut self, packet: &PacketView, _view: &View, _now: Time, rng: &mut Rng) -> Verdict {
        self.arrived += self.packets(1, packet.size.into());
        if rng.unit() < self.p {
            coverage_mark!("rem.signal");
            Verdict::Signal
        } else {
            Verdict::Pass
        }
    }

    fn tick(&self) -> Option<Dur> {
        Some(self.params.interval)
    }

    fn on_tick(&mut self, view: &View) {
        let Params { gamma, alpha, phi, weight, .. } = self.params;
        self.rate += weight * (std::mem::take(&mut self.arrived) - self.rate);
        let waiting = self.packets(view.packets, view.bytes) - self.target();
        self.price = libm::fmax(self.price + gamma * (self.rate + alpha * waiting - self.capacity), 0.0);
        self.p = -libm::expm1(-self.price * libm::log(phi));
    }

    averages_first! { self => self.p }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Integral;
    use ecnlab_base::Rate;
    use ecnlab_base::coverage::must_reach;

    /// 1000 B take 8 ms.
    const LINK: LinkContext = LinkContext { rate: Rate::from_bps(1_000_000), delay: Dur::ZERO };

    fn law(keys: &str) -> Rem {
        let params: Params = toml::from_str(keys).unwrap();
        assert_eq!(params.check(), Ok(()));
        params.law(LINK)
    }

    /// p after an interval in which `arrivals` packets of 2000 B came, at whose end `packets` of them wait.
    fn interval(law: &mut Rem, arrivals: u32, packets: u64) -> f64 {
        let mut rng = Rng::named(1, "rem");
        let ecn = ecnlab_wire::Ecn::Ect0;
        let packet = PacketView { size: 2000, ecn, flow: 0, can_mark: true, sojourn: Dur::ZERO };
        let bytes = 2000 * packets;
        let view = View { packets, bytes, in_all: bytes, idle: None, polled: false };
        (0..arrivals).for_each(|_| {
            law.on_enqueue(&packet, &view, Time::ZERO, &mut rng);
        });
        law.on_tick(&view);
        law.values()[0]
    }

    #[test]
    fn what_a_scenario_leaves_out_is_of_ns2() {
        let params: Params = toml::from_str("").unwrap();
        assert_eq!((params.target, params.gamma, params.alpha), (Length::Packets(20.0), 0.001, 0.1));
        assert_eq!((params.phi, params.interval, params.weight), (1.001, Dur::from_ms(2), 1.0));
        assert_eq!((params.mean_packet, law("").tick()), (Bytes(1000), Some(Dur::from_ms(2))));
        // 2 ms of 125 packets a second.
        assert_eq!(law("").capacity, 0.25);
    }

    #[test]
    fn the_price_grows_with_what_comes_too_much_and_what_waits_too_long() {
        // The link sends 2 packets in 16 ms.
        let keys = "target = \"4 packets\"\ngamma = 0.5\nalpha = 0.25\nphi = 2.0\ninterval = \"16 ms\"";
        let mut law = law(keys);
        // 0.5·(5 + 0.25·(8 - 4) - 2) = 2, and p = 1 - 2^-2.
        assert!((interval(&mut law, 5, 8) - 0.75).abs() < 1e-12 && law.price == 2.0);
        // 2 + 0.5·(1 + 0.25·(0 - 4) - 2) = 1.
        assert!((interval(&mut law, 1, 0) - 0.5).abs() < 1e-12 && law.price == 1.0);
        // 1 + 0.5·(0 - 1 - 2) is below 0.
        assert_eq!((interval(&mut law, 0, 0), law.price), (0.0, 0.0));
    }

    #[test]
    fn arrivals_may_be_averaged() {
        let mut law = law("weight = 0.5\ninterval = \"16 ms\"");
        // (0 + 4)/2, (2 + 8)/2.
        interval(&mut law, 4, 0);
        assert_eq!(law.rate, 2.0);
        interval(&mut law, 8, 0);
        assert_eq!((law.rate, law.arrived), (5.0, 0.0));
    }

    #[test]
    fn a_target_in_bytes_has_all_in_bytes() {
        // A packet of 2000 B is two of 1000 B: 0.5·(6 + 0.25·(8 - 4) - 2) = 2.5.
        let mut law = law("target = \"4 kB\"\ngamma = 0.5\nalpha = 0.25\ninterval = \"16 ms\"");
        interval(&mut law, 3, 4);
        assert_eq!(law.price, 2.5);
    }

    #[test]
    fn packets_are_signalled_with_the_probability() {
        let _reached = must_reach(["rem.signal"]);
        let mut law = law("gamma = 1.0\nphi = 2.0\ninterval = \"16 ms\"");
        let ecn = ecnlab_wire::Ecn::Ect0;
        let packet = PacketView { size: 2000, ecn, flow: 0, can_mark: true, sojourn: Dur::ZERO };
        let view = View { packets: 1, bytes: 2000, in_all: 2000, idle: None, polled: false };
        let mut rng = Rng::named(1, "rem");
        let mut signals = |law: &mut Rem| {
            let judge = |_: &u32| law.on_enqueue(&packet, &view, Time::ZERO, &mut rng) == Verdict::Signal;
            (0..1000).filter(judge).count()
        };
        assert_eq!(signals(&mut law), 0);
        // A price of 1: p = 1 - 2^-1. 500 of 1000, with a standard deviation of 15.8; four of them.
        law.price = 1.0;
        law.arrived = 2.0;
        law.params.target = Length::Packets(1.0);
        law.on_tick(&view);
        let half = signals(&mut law);
        assert!((437..=563).contains(&half), "{half}");
    }

    #[test]
    fn the_probability_is_averaged_over_time() {
        let mut law = law("target = \"4 packets\"\ngamma = 0.5\nalpha = 0.25\nphi = 2.0\ninterval = \"16 ms\"");
        law.elapsed(Dur::from_ps(10));
        let p = interval(&mut law, 5, 8);
        law.elapsed(Dur::from_ps(30));
        assert_eq!((law.cut(), law.cut()), (vec![Integral::Value(30.0 * p)], vec![Integral::Value(0.0)]));
    }

    #[test]
    fn what_cannot_be_is_refused_by_key() {
        for keys in [
            "gamma = 0.0",
            "gamma = 1000.5",
            "gamma = nan",
            "alpha = 0.0",
            "alpha = 1000.5",
            "phi = 1.0",
            "phi = 1000.5",
            "interval = \"9.999 us\"",
            "weight = 0.0",
            "weight = 1.01",
            "mean_packet = \"0 B\"",
        ] {
            let params: Params = toml::from_str(keys).unwrap();
            let key = params.check().err().map(|refused| refused.key).unwrap_or_default();
            assert!(!key.is_empty() && keys.starts_with(&key), "{keys}: {key}");
        }
        law(
            "gamma = 1000.0\nalpha = 1000.0\nphi = 1000.0\ninterval = \"10 us\"\ntarget = \"0 packets\"\nmean_packet = \"1 B\"",
        );
        let aimless = Params { target: Length::Packets(f64::NAN), ..Params::default() };
        assert_eq!(aimless.check().err().map(|refused| refused.key), Some("target".to_owned()));
    }
}
