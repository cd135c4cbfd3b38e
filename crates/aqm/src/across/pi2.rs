//! PI2: De Schepper, Bondarenko, Tsang & Briscoe, "PI²: A Linearized AQM for both Classic and Scalable TCP", CoNEXT 2016.
//!
//! One queue, with the controller of DualPI2: Classic packets are signalled with p'², scalable ones with k·p'. The
//! defaults are those of the authors' first `sch_dualpi2` (github.com/olgabo/dualpi2), which with one queue is this
//! law.

use ecnlab_base::{Bytes, Dur, Length, Rng, Time, coverage_mark};
use ecnlab_wire::Ecn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::{ActsAbove, Facts};
use crate::dualpi2::pi::Fixed;
use crate::dualpi2::{self, roll};
use crate::machine::layout::{Classifier, Compose, Inner, Layout, Rule};
use crate::machine::scheduler::Scheduler;
use crate::record::columns::{Average, averages_first};
use crate::registry;
use crate::{
    Across, AcrossView, Common, Config, Decision, Impossible, InnerView, LawParams, LinkContext, MarkReason,
    PacketView, droptail,
};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "pi2",
    label: "PI2",
    summary: "PI2 (De Schepper et al. 2016): one queue, whose controller's output is squared for Classic traffic",
    reference: "K. De Schepper, O. Bondarenko, I. Tsang and B. Briscoe, 'PI2: a linearized AQM for both Classic and Scalable TCP', CoNEXT 2016",
    columns: dualpi2::CONTROLLER,
    shown: &["target", "coupling_factor"],
    acts_above: &[ActsAbove::aim("target")],
    defaults: &[("limit", "\"10000 packets\""), ("ecn", "true")],
    ..Facts::PLAIN
};

/// PI2's keys in `[queue.NAME]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Target delay of the controller. Default 20 ms.
    #[serde(default = "default_target")]
    pub target: Dur,
    /// Time between updates of p', at least 10 µs. Default 32 ms.
    #[serde(default = "default_tupdate")]
    pub tupdate: Dur,
    /// The integral gain, in Hz. Default 80/256.
    #[serde(default = "default_alpha")]
    pub alpha: f64,
    /// The proportional gain, in Hz. Default 800/256.
    #[serde(default = "default_beta")]
    pub beta: f64,
    /// k, 1 to 255: packets with ECT(1) or CE are signalled with k·p', and p' stops at 1/k. Default 2.
    #[serde(default = "default_coupling")]
    pub coupling_factor: u8,
    /// No packet is signalled while less than twice this is queued. Default 1514 B, an Ethernet frame.
    #[serde(default = "default_mtu")]
    pub mtu: Bytes,
}

fn default_target() -> Dur {
    Dur::from_ms(20)
}
fn default_tupdate() -> Dur {
    Dur::from_ms(32)
}
fn default_alpha() -> f64 {
    80.0 / 256.0
}
fn default_beta() -> f64 {
    800.0 / 256.0
}
fn default_coupling() -> u8 {
    2
}
fn default_mtu() -> Bytes {
    Bytes(1514)
}

impl Params {
    /// Checks the values; the error names the key.
    pub fn check(&self, config: &Config) -> Result<(), Impossible> {
        Impossible::unless(config.classes.is_empty(), "class", || "it has one queue: leave it out".to_owned())?;
        dualpi2::check_controller(self.tupdate, [self.alpha, self.beta].map(Some), 1.0 / 256.0, self.coupling_factor)
    }
}

/// PI2 on one link.
#[derive(Clone, Debug)]
pub struct Pi2 {
    params: Params,
    pi: Fixed,
    average: Average,
}

impl Compose for Pi2 {
    type Params = Params;

    fn layout(_params: &Params, _config: &Config, _groups: &[String]) -> Layout {
        let common = Common::with_limit(Length::Packets(f64::INFINITY));
        let fifo = Config::new(registry::Params::DropTail(droptail::Params {}), common);
        Layout {
            classifier: Classifier::Rules(vec![(0, Rule::ALL)]),
            scheduler: Scheduler::Fifo,
            queues: Inner::Alike(1, vec![(String::new(), fifo)]),
            memory: None,
            batch: 1,
            law: None,
        }
    }
}

impl LawParams for Params {
    type Law = Pi2;

    fn law(&self, _link: LinkContext) -> Pi2 {
        let Params { target, alpha, beta, coupling_factor, .. } = *self;
        let pi = Fixed::new(target, [alpha, beta], coupling_factor.into());
        Pi2 { params: *self, pi, average: Average::default() }
    }
}

impl Across for Pi2 {
    /// `should_drop` of the authors' code.
    fn on_dequeue(&mut self, packet: &PacketView, view: &AcrossView<'_>, rng: &mut Rng) -> Decision {
        if view.bytes() < 2 * self.params.mtu.0 {
            coverage_mark!("pi2.short_queue_passes");
            return Decision::Pass;
        }
        let prob = self.pi.prob();
        let signal = match packet.ecn {
            Ecn::Ect1 | Ecn::Ce => roll(prob.saturating_mul(self.params.coupling_factor.into()), rng),
            Ecn::NotEct | Ecn::Ect0 => roll(prob, rng) && roll(prob, rng),
        };
        if signal {
            coverage_mark!("pi2.signal");
            Decision::Signal(MarkReason::Law)
        } else {
            Decision::Pass
        }
    }

    fn tick(&self) -> Option<Dur> {
        Some(self.params.tupdate)
    }

    fn on_tick(&mut self, queues: &[InnerView], now: Time) {
        self.pi.update(queues.iter().map(|queue| queue.delay(now)).max().unwrap_or_default());
    }

    averages_first! { self => self.pi.p() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_scenario_leaves_out_is_of_the_authors() {
        let Params { target, tupdate, alpha, beta, coupling_factor, mtu } = toml::from_str("").unwrap();
        assert_eq!((target, tupdate, alpha, beta), (Dur::from_ms(20), Dur::from_ms(32), 0.3125, 3.125));
        assert_eq!((coupling_factor, mtu), (2, Bytes(1514)));
    }

    #[test]
    fn what_cannot_be_is_refused_by_key() {
        for keys in ["tupdate = \"0 s\"", "alpha = 0.0", "beta = 0.0", "coupling_factor = 0"] {
            let params: Params = toml::from_str(keys).unwrap();
            let config = Config::new(registry::Params::Pi2(params), Common::with_limit(Length::Packets(9.0)));
            let key = config.check().err().map(|e| e.key).unwrap_or_default();
            assert!(!key.is_empty() && keys.starts_with(&key), "{keys}: {key}");
        }
    }
}
