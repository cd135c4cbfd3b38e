//! The DS field of the IP header.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

/// A DSCP: the six high bits of the IPv4 TOS octet or the IPv6 traffic class (RFC 2474 §3), from 0 to 63. Files give it
/// as a number or by its name in IANA's registry: `"EF"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Dscp(u8);

/// Names in IANA, "Differentiated Services Field Codepoints"; NQB is from RFC 9956.
const NAMES: [&str; 24] = [
    "CS0",
    "CS1",
    "CS2",
    "CS3",
    "CS4",
    "CS5",
    "CS6",
    "CS7",
    "AF11",
    "AF12",
    "AF13",
    "AF21",
    "AF22",
    "AF23",
    "AF31",
    "AF32",
    "AF33",
    "AF41",
    "AF42",
    "AF43",
    "EF",
    "VOICE-ADMIT",
    "LE",
    "NQB",
];
/// Values of [`NAMES`].
const BITS: [u8; 24] = [0, 8, 16, 24, 32, 40, 48, 56, 10, 12, 14, 18, 20, 22, 26, 28, 30, 34, 36, 38, 46, 44, 1, 45];

impl Dscp {
    /// Returns the DSCP with these six bits; the two high bits of `bits` are ignored.
    pub const fn from_bits(bits: u8) -> Dscp {
        Dscp(bits & 0x3f)
    }
    /// The six bits, from 0 to 63.
    pub const fn bits(self) -> u8 {
        self.0
    }
    /// Returns whether it is CS0, the default (RFC 2474 §4.1).
    pub const fn is_default(&self) -> bool {
        self.0 == 0
    }

    fn named(name: &str) -> Option<Dscp> {
        NAMES.iter().zip(BITS).find(|(known, _)| **known == name).map(|(_, bits)| Dscp(bits))
    }
}

impl<'de> Deserialize<'de> for Dscp {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Dscp, D::Error> {
        struct NumberOrName;
        impl de::Visitor<'_> for NumberOrName {
            type Value = Dscp;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number from 0 to 63, or a name such as \"EF\"")
            }
            fn visit_i64<E: de::Error>(self, n: i64) -> Result<Dscp, E> {
                match u8::try_from(n) {
                    Ok(bits @ 0..=63) => Ok(Dscp(bits)),
                    _ => Err(E::custom(format!("{n} is not a DSCP; write a number from 0 to 63"))),
                }
            }
            fn visit_u64<E: de::Error>(self, n: u64) -> Result<Dscp, E> {
                self.visit_i64(i64::try_from(n).unwrap_or(i64::MAX))
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<Dscp, E> {
                Dscp::named(name).ok_or_else(|| E::unknown_variant(name, &NAMES))
            }
        }
        d.deserialize_any(NumberOrName)
    }
}

impl JsonSchema for Dscp {
    fn schema_name() -> Cow<'static, str> {
        "Dscp".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "a DSCP: a number from 0 to 63, or its name",
            "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 63 }, { "enum": NAMES }],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::{IntoDeserializer, value};

    #[test]
    fn names_are_those_of_the_rfcs() {
        // RFC 2474 §4.2.2: class selector n is n000 in binary. RFC 2597 §6: AFxy is 8x + 2y. RFC 3246 §2.7: EF is 101110.
        // RFC 8622 §5: LE is 000001.
        for n in 0..8 {
            assert_eq!(Dscp::named(&format!("CS{n}")), Some(Dscp(8 * n)));
        }
        for (x, y) in (1..=4).flat_map(|x| (1..=3).map(move |y| (x, y))) {
            assert_eq!(Dscp::named(&format!("AF{x}{y}")), Some(Dscp(8 * x + 2 * y)));
        }
        assert_eq!(["EF", "LE", "NQB", "VOICE-ADMIT"].map(Dscp::named), [46, 1, 45, 44].map(|bits| Some(Dscp(bits))));
        assert_eq!((Dscp::named("ef"), Dscp::from_bits(0xff)), (None, Dscp(63)));
        assert_eq!([0, 1].map(|bits| Dscp(bits).is_default()), [true, false]);
    }

    fn read<'de, V: IntoDeserializer<'de, value::Error>>(value: V) -> Result<Dscp, String> {
        Dscp::deserialize(value.into_deserializer()).map_err(|error| error.to_string())
    }

    #[test]
    fn numbers_and_names_are_read() {
        assert_eq!([read(0_i64), read(63_i64), read(46_u64), read("LE")], [0, 63, 46, 1].map(|bits| Ok(Dscp(bits))));
        for wrong in [read(64_i64), read(-1_i64), read(64_u64), read(u64::MAX)] {
            assert!(wrong.unwrap_err().ends_with("is not a DSCP; write a number from 0 to 63"));
        }
        assert!(read("ef").unwrap_err().contains("unknown variant `ef`, expected one of"));
        assert!(read(true).unwrap_err().ends_with("expected a number from 0 to 63, or a name such as \"EF\""));
    }

    #[test]
    fn the_schema_has_numbers_and_names() {
        assert_eq!(Dscp::schema_name(), "Dscp");
        let schema = Dscp::json_schema(&mut SchemaGenerator::default());
        let forms = schema.get("anyOf").unwrap().as_array().unwrap();
        assert_eq!((&forms[0]["maximum"], forms[1]["enum"].as_array().unwrap().len()), (&63.into(), NAMES.len()));
    }
}
