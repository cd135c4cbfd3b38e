//! Values with several notations: a rate or none.

use std::borrow::Cow;
use std::fmt;

use ecnlab_base::Rate;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A link's rate, or none: a delay box has no transmission time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkRate(pub Option<Rate>);

/// Notation for "no rate"; an omitted key would make a forgotten rate a silent choice.
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
