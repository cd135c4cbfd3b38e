//! Values of links with several notations: a rate, none, or one that changes; a delay, drawn or one that changes.

use std::borrow::Cow;
use std::fmt;

use ecnlab_base::{Dist, Dur, Rate, Rng, Varying};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A link's rate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LinkRate {
    /// None: a delay box has no transmission time.
    Unlimited,
    /// The same at all times.
    Fixed(Rate),
    /// A rate that changes.
    Varying(Varying<Rate>),
}

/// Notation for "no rate"; an omitted key would make a forgotten rate a silent choice.
const UNLIMITED: &str = "unlimited";

impl LinkRate {
    /// The highest rate, for which queues are configured; `None` if it is unlimited.
    pub fn most(&self) -> Option<Rate> {
        match self {
            LinkRate::Unlimited => None,
            LinkRate::Fixed(rate) => Some(*rate),
            LinkRate::Varying(varying) => Some(varying.max()),
        }
    }

    /// A rate that changes.
    pub fn varying(&self) -> Option<&Varying<Rate>> {
        if let LinkRate::Varying(varying) = self { Some(varying) } else { None }
    }

    /// As [`LinkRate::varying`].
    pub fn varying_mut(&mut self) -> Option<&mut Varying<Rate>> {
        if let LinkRate::Varying(varying) = self { Some(varying) } else { None }
    }
}

impl<'de> Deserialize<'de> for LinkRate {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<LinkRate, D::Error> {
        d.deserialize_any(LinkRateVisitor)
    }
}

struct LinkRateVisitor;

impl<'de> Visitor<'de> for LinkRateVisitor {
    type Value = LinkRate;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rate with its unit in quotes, such as \"1.5 Mbps\", or \"unlimited\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<LinkRate, E> {
        match text {
            UNLIMITED => Ok(LinkRate::Unlimited),
            text => text.parse().map(LinkRate::Fixed).map_err(E::custom),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<LinkRate, A::Error> {
        Varying::deserialize(SeqAccessDeserializer::new(seq)).map(LinkRate::Varying)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LinkRate, A::Error> {
        Varying::deserialize(MapAccessDeserializer::new(map)).map(LinkRate::Varying)
    }
}

impl Serialize for LinkRate {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            LinkRate::Unlimited => s.serialize_str(UNLIMITED),
            LinkRate::Fixed(rate) => rate.serialize(s),
            LinkRate::Varying(varying) => varying.serialize(s),
        }
    }
}

impl JsonSchema for LinkRate {
    fn schema_name() -> Cow<'static, str> {
        "LinkRate".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rate = generator.subschema_for::<Rate>();
        let varying = generator.subschema_for::<Varying<Rate>>();
        json_schema!({
            "anyOf": [rate, { "const": UNLIMITED, "description": "A delay box: no serialisation" }, varying],
        })
    }
}

/// A link's propagation delay.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LinkDelay {
    /// Drawn once for each link and run.
    Drawn(Dist<Dur>),
    /// A delay that changes.
    Varying(Varying<Dur>),
}

impl LinkDelay {
    /// Draws the delay; the longest of one that changes.
    pub fn draw(&self, rng: &mut Rng) -> Dur {
        match self {
            LinkDelay::Drawn(dist) => dist.draw(rng),
            LinkDelay::Varying(varying) => varying.max(),
        }
    }

    /// The largest value it can have; `None` if there is none.
    pub fn max(&self) -> Option<Dur> {
        match self {
            LinkDelay::Drawn(dist) => dist.max(),
            LinkDelay::Varying(varying) => Some(varying.max()),
        }
    }

    /// The mean of a distribution; the longest of one that changes.
    pub fn mean(&self) -> Dur {
        match self {
            LinkDelay::Drawn(dist) => dist.mean(),
            LinkDelay::Varying(varying) => varying.max(),
        }
    }

    /// A delay that changes.
    pub fn varying(&self) -> Option<&Varying<Dur>> {
        if let LinkDelay::Varying(varying) = self { Some(varying) } else { None }
    }

    /// As [`LinkDelay::varying`].
    pub fn varying_mut(&mut self) -> Option<&mut Varying<Dur>> {
        if let LinkDelay::Varying(varying) = self { Some(varying) } else { None }
    }
}

impl<'de> Deserialize<'de> for LinkDelay {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<LinkDelay, D::Error> {
        d.deserialize_any(LinkDelayVisitor)
    }
}

struct LinkDelayVisitor;

impl<'de> Visitor<'de> for LinkDelayVisitor {
    type Value = LinkDelay;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time such as \"20 ms\" or { uniform = [\"1 ms\", \"5 ms\"] }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<LinkDelay, E> {
        Dist::deserialize(text.into_deserializer()).map(LinkDelay::Drawn)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<LinkDelay, A::Error> {
        Varying::deserialize(SeqAccessDeserializer::new(seq)).map(LinkDelay::Varying)
    }

    /// The first key decides: a distribution is a table with one key.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LinkDelay, A::Error> {
        let first = map.next_key::<String>()?;
        let varies = first.as_ref().is_some_and(|key| Varying::<Dur>::has_key(key));
        let whole = MapAccessDeserializer::new(Again { first, rest: map });
        if varies {
            Varying::deserialize(whole).map(LinkDelay::Varying)
        } else {
            Dist::deserialize(whole).map(LinkDelay::Drawn)
        }
    }
}

/// A table whose first key has been read.
struct Again<A> {
    first: Option<String>,
    rest: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Again<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.first.take() {
            Some(key) => seed.deserialize(key.into_deserializer()).map(Some),
            None => self.rest.next_key_seed(seed),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.rest.next_value_seed(seed)
    }
}

impl Serialize for LinkDelay {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            LinkDelay::Drawn(dist) => dist.serialize(s),
            LinkDelay::Varying(varying) => varying.serialize(s),
        }
    }
}

impl JsonSchema for LinkDelay {
    fn schema_name() -> Cow<'static, str> {
        "LinkDelay".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let drawn = generator.subschema_for::<Dist<Dur>>();
        let varying = generator.subschema_for::<Varying<Dur>>();
        json_schema!({ "anyOf": [drawn, varying] })
    }
}
