//! Parameters computed from the link: ns-2's `thresh_ 0`, `maxthresh_ 0` and `q_weight_ 0, -1, -2`,
//! which Floyd, Gummadi & Shenker ("Adaptive RED", 2001, §5) recommend.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use ecnlab_base::{Bytes, Dur, Length};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Params;
use crate::{Impossible, LinkContext};

/// Units of a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
}

/// A threshold: a length, or computed from the link and expressed in a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// `"5 packets"`, `"15 kB"`.
    At(Length),
    /// `"auto packets"`, `"auto bytes"`: `min_th` half the `target_delay`'s worth of packets, but at
    /// least 5 packets; `max_th` three times `min_th`.
    Auto(Unit),
}

/// The weight of the newest sample in the average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weight {
    /// This weight.
    Of(f64),
    /// The weight for which the average's time constant, on a link that is kept busy with packets of
    /// `mean_packet`, is this long: 1 - exp(-1/(T·C)), C packets a second. `"1 s"` is ns-2's
    /// `q_weight_ 0`, `"100 ms"` its `-2`.
    TimeConstant(Dur),
    /// `"auto"`: a time constant of ten round trips, taken as three times the link's delay and
    /// transmission time and at least 100 ms; ns-2's `q_weight_ -1`.
    Auto,
}

/// The thresholds, in one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// The unit of both.
    pub unit: Unit,
    /// `min_th`.
    pub min: f64,
    /// `max_th`.
    pub max: f64,
}

impl Thresholds {
    /// Both, in the syntax of scenarios.
    pub fn lengths(self) -> (Length, Length) {
        let length = match self.unit {
            Unit::Packets => Length::Packets,
            Unit::Bytes => Length::Bytes,
        };
        (length(self.min), length(self.max))
    }
}

/// Packets of `mean_packet` that the link sends in a second: ns-2's `ptc`.
pub(super) fn capacity(link: LinkContext, mean_packet: Bytes) -> f64 {
    link.rate.bps() as f64 / (8.0 * mean_packet.0 as f64)
}

/// Rejects thresholds in different units, in the wrong order, or an explicit minimum above an automatic maximum.
pub(super) fn check_thresholds(min: Threshold, max: Threshold) -> Result<(), Impossible> {
    Impossible::unless(min.unit() == max.unit(), "max_th", || {
        format!("{max} and min_th, {min}, must be in the same unit")
    })?;
    match (min, max) {
        (Threshold::At(low), Threshold::At(high)) => Impossible::unless(low.value() < high.value(), "min_th", || {
            format!("{low} must be less than max_th, {high}")
        }),
        (Threshold::At(low), Threshold::Auto(_)) => Impossible::unless(low.value() > 0.0, "min_th", || {
            "an automatic max_th is three times min_th, which must be above 0".to_owned()
        }),
        (Threshold::Auto(_), Threshold::At(_)) => Err(Impossible {
            key: "max_th".to_owned(),
            message: format!("with an automatic min_th it must be automatic too: write \"{min}\""),
        }),
        (Threshold::Auto(_), Threshold::Auto(_)) => Ok(()),
    }
}

/// The thresholds of `params` on `link`.
pub fn thresholds(params: &Params, link: LinkContext) -> Thresholds {
    let min = match params.min_th {
        Threshold::At(length) => length.value(),
        Threshold::Auto(unit) => {
            let target = params.target_delay.as_secs() * capacity(link, params.mean_packet);
            let packets = libm::fmax(5.0, target / 2.0);
            match unit {
                Unit::Packets => packets,
                Unit::Bytes => packets * params.mean_packet.0 as f64,
            }
        }
    };
    let max = match params.max_th {
        Threshold::At(length) => length.value(),
        Threshold::Auto(_) => 3.0 * min,
    };
    Thresholds { unit: params.min_th.unit(), min, max }
}

impl Threshold {
    fn unit(self) -> Unit {
        match self {
            Threshold::At(Length::Packets(_)) => Unit::Packets,
            Threshold::At(Length::Bytes(_)) => Unit::Bytes,
            Threshold::Auto(unit) => unit,
        }
    }
}

impl Weight {
    pub(super) fn check(self) -> Result<(), Impossible> {
        let possible = match self {
            Weight::Of(w) => w > 0.0 && w <= 1.0,
            Weight::TimeConstant(t) => !t.is_zero(),
            Weight::Auto => true,
        };
        Impossible::unless(possible, "weight", || format!("{self} must be above 0, and at most 1 if it is a number"))
    }

    /// The weight on `link`.
    pub fn resolve(self, link: LinkContext, mean_packet: Bytes) -> f64 {
        let capacity = capacity(link, mean_packet);
        let weight = |constant: f64| -libm::expm1(-1.0 / (constant * capacity));
        match self {
            Weight::Of(w) => w,
            Weight::TimeConstant(t) => weight(t.as_secs()),
            Weight::Auto => weight(10.0 * libm::fmax(0.1, 3.0 * (link.delay.as_secs() + 1.0 / capacity))),
        }
    }
}

impl Default for Weight {
    /// 0.002: the value of FJ93's simulations.
    fn default() -> Weight {
        Weight::Of(0.002)
    }
}

/// The number of a length, without its unit.
trait Value {
    fn value(self) -> f64;
}

impl Value for Length {
    fn value(self) -> f64 {
        match self {
            Length::Packets(n) | Length::Bytes(n) => n,
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threshold::At(length) => length.fmt(f),
            Threshold::Auto(Unit::Packets) => f.write_str("auto packets"),
            Threshold::Auto(Unit::Bytes) => f.write_str("auto bytes"),
        }
    }
}

impl FromStr for Threshold {
    type Err = String;
    fn from_str(text: &str) -> Result<Threshold, String> {
        match text.trim() {
            "auto packets" => Ok(Threshold::Auto(Unit::Packets)),
            "auto bytes" => Ok(Threshold::Auto(Unit::Bytes)),
            "auto" => Err("write the unit: \"auto packets\" or \"auto bytes\"".to_owned()),
            length => length.parse().map(Threshold::At).map_err(|e: ecnlab_base::ParseUnitError| e.to_string()),
        }
    }
}

impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Threshold, D::Error> {
        d.deserialize_str(ThresholdVisitor)
    }
}

struct ThresholdVisitor;

impl Visitor<'_> for ThresholdVisitor {
    type Value = Threshold;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a queue length in quotes, such as \"5 packets\", \"15 kB\" or \"auto bytes\"")
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Threshold, E> {
        text.parse().map_err(E::custom)
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl JsonSchema for Threshold {
    fn schema_name() -> Cow<'static, str> {
        "Threshold".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let length = generator.subschema_for::<Length>();
        json_schema!({ "anyOf": [length, { "enum": ["auto packets", "auto bytes"] }] })
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Weight::Of(w) => w.fmt(f),
            Weight::TimeConstant(t) => t.fmt(f),
            Weight::Auto => f.write_str("auto"),
        }
    }
}

impl<'de> Deserialize<'de> for Weight {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Weight, D::Error> {
        d.deserialize_any(WeightVisitor)
    }
}

struct WeightVisitor;

impl Visitor<'_> for WeightVisitor {
    type Value = Weight;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number such as 0.002, \"auto\", or a time constant such as \"100 ms\"")
    }
    fn visit_f64<E>(self, w: f64) -> Result<Weight, E> {
        Ok(Weight::Of(w))
    }
    fn visit_i64<E>(self, w: i64) -> Result<Weight, E> {
        Ok(Weight::Of(w as f64))
    }
    fn visit_u64<E>(self, w: u64) -> Result<Weight, E> {
        Ok(Weight::Of(w as f64))
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Weight, E> {
        match text {
            "auto" => Ok(Weight::Auto),
            time => time.parse().map(Weight::TimeConstant).map_err(E::custom),
        }
    }
}

impl Serialize for Weight {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Weight::Of(w) => s.serialize_f64(*w),
            other => s.collect_str(other),
        }
    }
}

impl JsonSchema for Weight {
    fn schema_name() -> Cow<'static, str> {
        "Weight".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = generator.subschema_for::<Dur>();
        json_schema!({ "anyOf": [{ "type": "number", "exclusiveMinimum": 0, "maximum": 1 }, { "const": "auto" }, time] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_base::Rate;

    fn link(bps: u64, delay_ms: u64) -> LinkContext {
        LinkContext { rate: Rate::from_bps(bps), delay: Dur::from_ms(delay_ms) }
    }

    fn automatic(unit: Unit) -> Params {
        Params::new(Threshold::Auto(unit), Threshold::Auto(unit))
    }

    #[test]
    fn the_thresholds_of_a_slow_link_are_5_and_15_packets() {
        // 0.7 Mbit/s: 175 packets of 500 B a second, 0.875 in 5 ms, half of which is below 5.
        let th = thresholds(&automatic(Unit::Packets), link(700_000, 20));
        assert_eq!((th.min, th.max), (5.0, 15.0));
        let th = thresholds(&automatic(Unit::Bytes), link(700_000, 20));
        assert_eq!((th.min, th.max), (2500.0, 7500.0));
    }

    #[test]
    fn the_thresholds_of_a_fast_link_follow_the_target_delay() {
        // 100 Mbit/s: 25000 packets a second, 125 in 5 ms, half of it 62.5.
        let th = thresholds(&automatic(Unit::Packets), link(100_000_000, 1));
        assert!((th.min - 62.5).abs() < 1e-9 && (th.max - 187.5).abs() < 1e-9, "{th:?}");
    }

    #[test]
    fn an_automatic_max_th_is_three_times_an_explicit_min_th() {
        let params = Params::new(Threshold::At(Length::Bytes(6000.0)), Threshold::Auto(Unit::Bytes));
        assert_eq!(params.check(), Ok(()));
        assert_eq!(thresholds(&params, link(700_000, 20)).max, 18_000.0);
    }

    #[test]
    fn weights_are_those_of_ns2() {
        let on = |weight: Weight, link| weight.resolve(link, Bytes(500));
        // q_weight_ -1 at 0.7 Mbit/s, 20 ms: 3·(0.02 + 1/175) = 77 ms, so 100 ms; 1 - exp(-1/(10·0.1·175)).
        assert!((on(Weight::Auto, link(700_000, 20)) - 0.005_698_0).abs() < 5e-8);
        // With 200 ms: 3·(0.2 + 1/175) = 0.61714 s; 1 - exp(-1/1080).
        assert!((on(Weight::Auto, link(700_000, 200)) - 0.000_925_5).abs() < 5e-8);
        // q_weight_ 0: 1 - exp(-1/175). q_weight_ -2: 1 - exp(-10/175).
        assert!((on(Weight::TimeConstant(Dur::from_s(1)), link(700_000, 20)) - 0.005_698_0).abs() < 5e-8);
        assert!((on(Weight::TimeConstant(Dur::from_ms(100)), link(700_000, 20)) - 0.055_540_8).abs() < 5e-7);
        assert_eq!(on(Weight::Of(0.002), link(700_000, 20)), 0.002);
    }

    #[test]
    fn thresholds_and_weights_read_back_as_written() {
        for text in ["5 packets", "15000 B", "auto packets", "auto bytes"] {
            assert_eq!(text.parse::<Threshold>().map(|t| t.to_string()), Ok(text.to_owned()));
        }
        for json in ["0.002", "0.25", "\"auto\"", "\"100 ms\""] {
            let weight: Weight = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&weight).unwrap(), json);
        }
    }

    #[test]
    fn a_whole_number_is_a_weight_in_toml_and_in_json() {
        assert_eq!(serde_json::from_str::<Weight>("1").ok(), Some(Weight::Of(1.0)));
        let table: toml::Table = toml::from_str("weight = 1").unwrap();
        assert_eq!(table["weight"].clone().try_into::<Weight>().ok(), Some(Weight::Of(1.0)));
    }

    #[test]
    fn another_type_is_refused_with_an_example() {
        let message = |error: serde_json::Error| error.to_string();
        assert!(
            message(serde_json::from_str::<Weight>("true").unwrap_err()).contains("a time constant such as \"100 ms\"")
        );
        assert!(message(serde_json::from_str::<Threshold>("5").unwrap_err()).contains("such as \"5 packets\""));
        assert!(message(serde_json::from_str::<super::super::Bottom>("true").unwrap_err()).contains("or \"auto\""));
    }

    /// An editor finds what may be written by the name of the type.
    #[test]
    fn the_schema_lists_the_other_forms_of_a_key() {
        let schema = schemars::schema_for!(Params);
        let of = |name: &str| schema.get("$defs").and_then(|all| all.get(name)).map(|one| one["anyOf"].to_string());
        let accepts =
            |name: &str, word: &str| assert!(of(name).is_some_and(|one| one.contains(word)), "{name}: {schema:?}");
        accepts("Threshold", "\"auto packets\"");
        accepts("Weight", "\"auto\"");
        accepts("Bottom", "\"auto\"");
    }

    #[test]
    fn an_auto_without_unit_and_a_strange_weight_are_refused() {
        assert!("auto".parse::<Threshold>().unwrap_err().contains("auto packets"));
        assert!(serde_json::from_str::<Weight>("\"automatic\"").unwrap_err().to_string().contains("automatic"));
        assert!(serde_json::from_str::<Weight>("true").is_err());
    }
}
