//! The IP version of a host's packets.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Ipv6Header;

/// Bytes of an IPv4 header without options.
pub const IPV4_HEADER: u32 = 20;

/// A version of IP. Files give it as the number 4 or 6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IpVersion {
    /// IPv4 (RFC 791).
    #[default]
    V4,
    /// IPv6 (RFC 8200).
    V6,
}

impl IpVersion {
    /// Bytes of its header without IPv4 options and IPv6 extension headers.
    pub const fn header_len(self) -> u32 {
        match self {
            IpVersion::V4 => IPV4_HEADER,
            IpVersion::V6 => Ipv6Header::LEN as u32,
        }
    }
    /// Returns whether it is IPv4, the default.
    pub const fn is_v4(&self) -> bool {
        matches!(self, IpVersion::V4)
    }
}

impl<'de> Deserialize<'de> for IpVersion {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<IpVersion, D::Error> {
        match i64::deserialize(d)? {
            4 => Ok(IpVersion::V4),
            6 => Ok(IpVersion::V6),
            other => Err(de::Error::custom(format!("{other} is not a version of IP; write 4 or 6"))),
        }
    }
}

impl Serialize for IpVersion {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_u8(if self.is_v4() { 4 } else { 6 })
    }
}

impl JsonSchema for IpVersion {
    fn schema_name() -> Cow<'static, str> {
        "IpVersion".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "a version of IP", "enum": [4, 6] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::{IntoDeserializer, value};

    #[test]
    fn versions_are_read_as_numbers() {
        let read = |number: i64| {
            let number: value::I64Deserializer<value::Error> = number.into_deserializer();
            IpVersion::deserialize(number).map_err(|error| error.to_string())
        };
        assert_eq!([read(4), read(6)], [Ok(IpVersion::V4), Ok(IpVersion::V6)]);
        assert_eq!(read(5).unwrap_err(), "5 is not a version of IP; write 4 or 6");
        assert_eq!([IpVersion::V4, IpVersion::V6].map(IpVersion::header_len), [20, 40]);
    }
}
