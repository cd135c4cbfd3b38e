//! CHOKe: Pan, Prabhakar and Psounis, "CHOKe, a stateless active queue management scheme for approximating fair bandwidth
//! allocation", INFOCOM 2000, and Linux's net/sched/sch_choke.c.
//!
//! RED, but above the lower threshold an arriving packet is first compared with a random packet of the queue. If both
//! are of the same flow, both are dropped: flows with many queued packets are hit often.

use ecnlab_base::{Bytes, Length, Rng, Time, coverage_mark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::Facts;
use crate::record::columns::Integral;
use crate::red::{self, Above, Idle, Red, Spacing, Threshold, Weight};
use crate::{Aqm, Impossible, LawParams, LinkContext, PacketView, Verdict, View};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "choke",
    label: "CHOKe",
    summary: "CHOKe (Pan et al. 2000): RED that drops an arrival and a packet drawn from the queue if both are of one flow",
    reference: "R. Pan, B. Prabhakar and K. Psounis, 'CHOKe, a stateless active queue management scheme for approximating fair bandwidth allocation', INFOCOM 2000; Linux, net/sched/sch_choke.c",
    columns: red::FACTS.columns,
    shown: &["min_th", "max_th", "max_p"],
    judges_departures: false,
    ..Facts::PLAIN
};

/// CHOKe's keys in `[queue.NAME]`: the subset of RED's that Linux has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The average from which packets are compared, and signalled by RED.
    pub min_th: Threshold,
    /// The average from which all packets are signalled.
    pub max_th: Threshold,
    /// The probability as the average reaches `max_th`. Default 0.02, as RED's.
    #[serde(default = "default_max_p")]
    pub max_p: f64,
    /// The weight of the newest sample in the average. Default 0.002, as RED's.
    #[serde(default)]
    pub weight: Weight,
    /// A packet's typical size, which scales idle time. Default 500 B, as RED's.
    #[serde(default = "default_mean_packet")]
    pub mean_packet: Bytes,
    /// Treatment of packets from `max_th` on. Default `mark`: they are signalled (`sch_choke.c` without `harddrop`).
    #[serde(default = "default_above")]
    pub above: Above,
}

fn default_max_p() -> f64 {
    0.02
}
fn default_mean_packet() -> Bytes {
    Bytes(500)
}
fn default_above() -> Above {
    Above::Mark
}

impl Params {
    /// Checks the values; the error names the key.
    pub fn check(&self) -> Result<(), Impossible> {
        self.red().check()
    }

    fn red(&self) -> red::Params {
        let Params { min_th, max_th, max_p, weight, mean_packet, above } = *self;
        let like_linux = red::Params { idle: Idle::Linux, spacing: Spacing::Linux, ..red::Params::new(min_th, max_th) };
        red::Params { max_p, weight, mean_packet, above, ..like_linux }
    }
}

/// CHOKe on one queue.
#[derive(Clone, Debug)]
pub struct Choke {
    red: Red,
}

impl LawParams for Params {
    type Law = Choke;

    fn in_force(&self, link: LinkContext, limit: Length) -> Params {
        let red::Params { min_th, max_th, weight, .. } = self.red().in_force(link, limit);
        Params { min_th, max_th, weight, ..*self }
    }

    fn law(&self, link: LinkContext) -> Choke {
        Choke { red: self.red().law(link).in_whole_packets() }
    }
}

impl Aqm for Choke {
    fn on_enqueue(&mut self, packet: &PacketView, view: &View, now: Time, rng: &mut Rng) -> Verdict {
        self.red.arrival(view, now);
        if self.red.is_over_min() {
            coverage_mark!("choke.compare");
            Verdict::Compare
        } else {
            self.red.decide(packet.size, view, rng)
        }
    }

    fn on_unlike(&mut self, packet: &PacketView, view: &View, rng: &mut Rng) -> Verdict {
        coverage_mark!("choke.unlike");
        self.red.decide(packet.size, view, rng)
    }

    fn on_full(&mut self) {
        self.red.on_full();
    }

    fn values(&self) -> Vec<f64> {
        self.red.values()
    }

    fn elapsed(&mut self, time: ecnlab_base::Dur) {
        self.red.elapsed(time);
    }

    fn cut(&mut self) -> Vec<Integral> {
        self.red.cut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THRESHOLDS: &str = "min_th = \"5 packets\"\nmax_th = \"15 packets\"\n";

    #[test]
    fn what_a_scenario_leaves_out_is_red_s_but_for_linux_s_choices() {
        let params: Params = toml::from_str(THRESHOLDS).unwrap();
        let red = red::Params::new(params.min_th, params.max_th);
        let linux = red::Params { above: Above::Mark, idle: Idle::Linux, spacing: Spacing::Linux, ..red };
        assert_eq!(params.red(), linux);
    }

    #[test]
    fn the_probability_is_that_of_whole_packets() {
        // The average goes from 0 to 5.625 (0.5625 times 10): 5 whole packets, at which p_b is 0. At 5.625 p_b is 1/16, which signals
        // within 17 packets.
        let params: Params = toml::from_str(&format!("{THRESHOLDS}max_p = 1.0\nweight = 0.5625")).unwrap();
        let link = LinkContext { rate: ecnlab_base::Rate::from_bps(1_000_000), delay: ecnlab_base::Dur::ZERO };
        let mut choke = params.law(link);
        let packet = PacketView {
            size: 500,
            ecn: ecnlab_wire::Ecn::Ect0,
            flow: 0,
            can_mark: true,
            sojourn: ecnlab_base::Dur::ZERO,
        };
        let view =
            |packets: u64| View { packets, bytes: 500 * packets, in_all: 500 * packets, idle: None, polled: false };
        let mut rng = Rng::named(1, "choke");
        assert_eq!(choke.on_enqueue(&packet, &view(10), Time::ZERO, &mut rng), Verdict::Compare);
        assert_eq!(choke.values()[0], 5.625);
        for _ in 0..20 {
            assert_eq!(choke.on_unlike(&packet, &view(10), &mut rng), Verdict::Pass);
        }
    }

    #[test]
    fn what_cannot_be_is_refused_by_key() {
        for keys in ["max_p = 0.0", "weight = 0.0", "mean_packet = \"0 B\""] {
            let params: Params = toml::from_str(&format!("{THRESHOLDS}{keys}")).unwrap();
            let key = params.check().err().map(|refused| refused.key).unwrap_or_default();
            assert!(!key.is_empty() && keys.starts_with(&key), "{keys}: {key}");
        }
        let upside_down: Params = toml::from_str("min_th = \"5 packets\"\nmax_th = \"5 packets\"").unwrap();
        assert_eq!(upside_down.check().err().map(|refused| refused.key), Some("min_th".to_owned()));
    }
}
