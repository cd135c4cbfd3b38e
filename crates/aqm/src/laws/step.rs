//! Step marking: every packet above a threshold is signalled. The threshold is a queue length, tested on arrival (as
//! DCTCP expects of switches), or a sojourn time, tested on departure (the step of Linux's `dualpi2`).

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use ecnlab_base::{Dur, Length, Rng, Time, coverage_mark};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::contract::facts::{ActsAbove, Facts};
use crate::{Aqm, Impossible, LawParams, LinkContext, PacketView, Verdict, View};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "step",
    label: "step",
    summary: "signals every packet over a threshold: a length of the queue, or a time in it",
    reference: "RFC 8257, section 3.1; RFC 9332, appendix A; Linux, net/sched/sch_dualpi2.c",
    shown: &["threshold"],
    acts_above: &[ActsAbove::late("threshold")],
    ..Facts::PLAIN
};

/// The step's key in `[queue.NAME]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The threshold: a length, "20 packets" or "30 kB", or a sojourn time, "1 ms".
    pub threshold: Threshold,
}

/// Threshold of the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// `"20 packets"`, `"30 kB"`: the queue length found by an arriving packet, excluding that packet.
    Length(Length),
    /// `"1 ms"`: the sojourn time of a departing packet.
    Sojourn(Dur),
}

impl Params {
    /// Checks the values; the error names the key.
    pub fn check(&self) -> Result<(), Impossible> {
        let possible = match self.threshold {
            Threshold::Length(Length::Packets(n) | Length::Bytes(n)) => n >= 0.0,
            Threshold::Sojourn(time) => !time.is_zero(),
        };
        Impossible::unless(possible, "threshold", || {
            format!("{} would signal every queued packet: write the accepted length or delay", self.threshold)
        })
    }
}

/// The step on one queue. It has no state.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    threshold: Threshold,
}

impl LawParams for Params {
    type Law = Step;

    fn law(&self, _link: LinkContext) -> Step {
        Step { threshold: self.threshold }
    }
}

impl Aqm for Step {
    fn on_enqueue(&mut self, _packet: &PacketView, view: &View, _now: Time, _rng: &mut Rng) -> Verdict {
        let over = match self.threshold {
            Threshold::Length(Length::Packets(most)) => view.packets as f64 > most,
            Threshold::Length(Length::Bytes(most)) => view.bytes as f64 > most,
            Threshold::Sojourn(_) => false,
        };
        if over {
            coverage_mark!("step.long_queue");
            Verdict::Signal
        } else {
            Verdict::Pass
        }
    }

    fn on_dequeue(&mut self, packet: &PacketView, _view: &View, _now: Time, _rng: &mut Rng) -> Verdict {
        match self.threshold {
            Threshold::Sojourn(most) if packet.sojourn > most => {
                coverage_mark!("step.long_sojourn");
                Verdict::Signal
            }
            Threshold::Sojourn(_) | Threshold::Length(_) => Verdict::Pass,
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threshold::Length(length) => length.fmt(f),
            Threshold::Sojourn(time) => time.fmt(f),
        }
    }
}

impl FromStr for Threshold {
    type Err = String;
    fn from_str(text: &str) -> Result<Threshold, String> {
        let time = text.parse().map(Threshold::Sojourn);
        time.or_else(|_| text.parse().map(Threshold::Length)).map_err(|_: ecnlab_base::ParseUnitError| {
            format!(
                "`{text}` is neither a length nor a time; write such as \"20 packets\", \"30 kB\" or \"1 ms\", in quotes"
            )
        })
    }
}

impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Threshold, D::Error> {
        Cow::<str>::deserialize(d)?.parse().map_err(de::Error::custom)
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl JsonSchema for Threshold {
    fn schema_name() -> Cow<'static, str> {
        "StepThreshold".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (length, time) = (generator.subschema_for::<Length>(), generator.subschema_for::<Dur>());
        json_schema!({ "anyOf": [length, time] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_reads_back_as_written() {
        for text in ["20 packets", "30000 B", "1 ms"] {
            assert_eq!(text.parse::<Threshold>().map(|t| t.to_string()), Ok(text.to_owned()));
        }
        assert!("20 potatoes".parse::<Threshold>().unwrap_err().contains("neither a length nor a time"));
    }

    #[test]
    fn no_time_is_no_threshold_and_no_packets_is_one() {
        let key = |text: &str| Params { threshold: text.parse().unwrap() }.check().err().map(|refused| refused.key);
        assert_eq!(["0 ms", "0 packets", "0 B", "1 ns"].map(key), [Some("threshold".to_owned()), None, None, None]);
        let negative = Params { threshold: Threshold::Length(Length::Packets(f64::NAN)) };
        assert!(negative.check().is_err());
    }
}
