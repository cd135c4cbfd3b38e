//! Values that may be written in more than one way: a time or a random one, a rate or none.

use std::borrow::Cow;
use std::fmt;

use ecnlab_base::{Dur, Rate, Rng};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A time, fixed or drawn once per run for each instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    /// Always this.
    Fixed(Dur),
    /// Uniform on [from, to).
    Uniform(Dur, Dur),
}

impl Spread {
    /// The value in the run with `seed`, from the stream called `stream`.
    pub fn draw(self, seed: u64, stream: &str) -> Dur {
        match self {
            Spread::Fixed(time) => time,
            Spread::Uniform(lo, hi) if lo < hi => lo + Dur::from_ps(Rng::named(seed, stream).below((hi - lo).ps())),
            Spread::Uniform(lo, _) => lo,
        }
    }

    /// The largest value it can have.
    pub fn max(self) -> Dur {
        match self {
            Spread::Fixed(time) => time,
            Spread::Uniform(lo, hi) => lo.max(hi),
        }
    }
}

impl Default for Spread {
    fn default() -> Spread {
        Spread::Fixed(Dur::ZERO)
    }
}

impl<'de> Deserialize<'de> for Spread {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Spread, D::Error> {
        d.deserialize_any(SpreadVisitor)
    }
}

struct SpreadVisitor;

impl<'de> Visitor<'de> for SpreadVisitor {
    type Value = Spread;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time such as \"20 ms\" or { uniform = [\"1 ms\", \"5 ms\"] }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Spread, E> {
        text.parse().map(Spread::Fixed).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Spread, A::Error> {
        let mut range = None;
        while let Some(key) = map.next_key::<String>()? {
            if key != "uniform" {
                return Err(de::Error::unknown_field(&key, &["uniform"]));
            }
            range = Some(map.next_value::<[Dur; 2]>()?);
        }
        match range {
            None => Err(de::Error::missing_field("uniform")),
            Some([lo, hi]) if lo > hi => {
                Err(de::Error::custom(format!("{lo} is more than {hi}; write the smaller first")))
            }
            Some([lo, hi]) => Ok(Spread::Uniform(lo, hi)),
        }
    }
}

impl Serialize for Spread {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Spread::Fixed(time) => time.serialize(s),
            Spread::Uniform(lo, hi) => s.collect_map([("uniform", [lo, hi])]),
        }
    }
}

impl JsonSchema for Spread {
    fn schema_name() -> Cow<'static, str> {
        "Spread".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = generator.subschema_for::<Dur>();
        json_schema!({
            "description": "A time such as \"20 ms\", or { uniform = [\"1 ms\", \"5 ms\"] }, drawn for each instance",
            "anyOf": [
                time,
                {
                    "type": "object",
                    "properties": { "uniform": { "type": "array", "items": time, "minItems": 2, "maxItems": 2 } },
                    "required": ["uniform"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}

/// A link's rate, or none: a delay box takes no time to put a packet on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkRate(pub Option<Rate>);

/// What stands for "no rate": leaving the key out would make forgetting it a silent choice.
const UNLIMITED: &str = "unlimited";

impl<'de> Deserialize<'de> for LinkRate {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<LinkRate, D::Error> {
        d.deserialize_str(LinkRateVisitor)
    }
}

struct LinkRateVisitor;

impl Visitor<'_> for LinkRateVisitor {
    type Value = LinkRate;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rate with its unit in quotes, such as \"1.5 Mbps\", or \"unlimited\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<LinkRate, E> {
        match text {
            UNLIMITED => Ok(LinkRate(None)),
            text => text.parse().map(|rate| LinkRate(Some(rate))).map_err(E::custom),
        }
    }
}

impl Serialize for LinkRate {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(rate) => rate.serialize(s),
            None => s.serialize_str(UNLIMITED),
        }
    }
}

impl JsonSchema for LinkRate {
    fn schema_name() -> Cow<'static, str> {
        "LinkRate".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rate = generator.subschema_for::<Rate>();
        json_schema!({ "anyOf": [rate, { "const": UNLIMITED, "description": "A delay box: no serialisation" }] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_stays_in_its_range_and_depends_on_its_stream_only() {
        let spread = Spread::Uniform(Dur::from_ms(1), Dur::from_ms(5));
        let draws: Vec<Dur> = (0..100).map(|i| spread.draw(7, &format!("delay.access[{i}]"))).collect();
        assert!(draws.iter().all(|d| (Dur::from_ms(1)..Dur::from_ms(5)).contains(d)));
        assert_ne!(draws[0], draws[1]);
        assert_eq!(draws[3], spread.draw(7, "delay.access[3]"));
        assert_eq!(Spread::Uniform(Dur::from_ms(2), Dur::from_ms(2)).draw(7, "x"), Dur::from_ms(2));
    }
}
