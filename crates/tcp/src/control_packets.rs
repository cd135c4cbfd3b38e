//! The control packets that a configuration makes ECN-capable (RFC 8311).

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::IntoDeserializer;
use serde::de::value::SeqAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Packets other than data sent for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ControlPacket {
    /// SYN.
    Syn,
    /// SYN-ACK. An endpoint with it also reports CE on the SYN-ACK that it receives.
    SynAck,
    /// ACK without data.
    Ack,
    /// Probe of a closed window.
    Probe,
    /// Retransmitted data.
    Retransmission,
    /// FIN without data.
    Fin,
    /// RST.
    Rst,
}

impl ControlPacket {
    /// Its name in a configuration.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            ControlPacket::Syn => "syn",
            ControlPacket::SynAck => "syn-ack",
            ControlPacket::Ack => "ack",
            ControlPacket::Probe => "probe",
            ControlPacket::Retransmission => "retransmission",
            ControlPacket::Fin => "fin",
            ControlPacket::Rst => "rst",
        }
    }
}

/// Control packets on which CE is reported or needs no report: what the draft on ECN++ permits with feedback that counts marks.
pub(crate) const ALL: &[ControlPacket] = {
    use ControlPacket::*;
    &[Syn, SynAck, Ack, Probe, Retransmission, Fin, Rst]
};
/// The same with the feedback of RFC 3168, which has no report for a SYN or a pure ACK.
pub(crate) const WITH_ECHO: &[ControlPacket] = {
    use ControlPacket::*;
    &[SynAck, Probe, Retransmission, Fin, Rst]
};

/// Which control packets are ECN-capable.
#[derive(Clone, Debug, PartialEq)]
pub enum EcnControl {
    /// Those of the feedback scheme's own specification.
    Scheme,
    /// ECN++: all that draft-ietf-tcpm-generalized-ecn permits with the agreed feedback.
    Generalized,
    /// ECN+/TryOnce: the SYN-ACK, and another one that is not ECN-capable after a mark (RFC 5562).
    TryOnce,
    /// Those named, as far as the agreed feedback permits them.
    Packets(Vec<ControlPacket>),
}

impl EcnControl {
    /// The packets chosen.
    pub(crate) fn packets(&self) -> &[ControlPacket] {
        match self {
            EcnControl::Scheme => &[],
            EcnControl::Generalized => ALL,
            EcnControl::TryOnce => &[ControlPacket::SynAck],
            EcnControl::Packets(packets) => packets,
        }
    }
}

/// The values that are no list.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Named {
    /// Those of the feedback scheme's own specification.
    Scheme,
    /// ECN++: all that draft-ietf-tcpm-generalized-ecn permits with the agreed feedback.
    Generalized,
    /// ECN+/TryOnce (RFC 5562): the first SYN-ACK.
    TryOnce,
}

impl<'de> Deserialize<'de> for EcnControl {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<EcnControl, D::Error> {
        d.deserialize_any(NameOrList)
    }
}

struct NameOrList;

impl<'de> de::Visitor<'de> for NameOrList {
    type Value = EcnControl;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"scheme\", \"generalized\", \"try-once\" or a list of control packets")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<EcnControl, E> {
        Ok(match Named::deserialize(name.into_deserializer())? {
            Named::Scheme => EcnControl::Scheme,
            Named::Generalized => EcnControl::Generalized,
            Named::TryOnce => EcnControl::TryOnce,
        })
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<EcnControl, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(EcnControl::Packets)
    }
}

impl Serialize for EcnControl {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            EcnControl::Scheme => Named::Scheme.serialize(s),
            EcnControl::Generalized => Named::Generalized.serialize(s),
            EcnControl::TryOnce => Named::TryOnce.serialize(s),
            EcnControl::Packets(packets) => packets.serialize(s),
        }
    }
}

impl JsonSchema for EcnControl {
    fn schema_name() -> Cow<'static, str> {
        "EcnControl".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [Named::json_schema(generator), <Vec<ControlPacket>>::json_schema(generator)] })
    }
}
