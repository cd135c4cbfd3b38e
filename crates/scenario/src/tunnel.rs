//! `[tunnel.NAME]`: what the ends of a tunnel do with ECN fields (RFC 6040).

use ecnlab_base::Bytes;
use ecnlab_engine::{Egress, Ingress, TunnelPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A tunnel. Links name it in `tunnel`. Links in succession that name the same one are one tunnel.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tunnel {
    /// The ECN field of the outer header: "normal" copies the inner one (RFC 6040 §4.1), "compatibility" writes
    /// Not-ECT (RFC 6040 §4.1; the limited functionality of RFC 3168 §9.1.1), "rfc3168-full" copies it but for CE,
    /// which becomes ECT(0) (RFC 3168 §9.1.1). Default `normal`.
    #[serde(default)]
    pub ingress: In,
    /// What becomes of both fields at the end: by figure 4 of RFC 6040 (§4.2), by RFC 3168 §9.1, or by RFC 2003, which
    /// discards the outer header. Default `rfc6040`.
    #[serde(default)]
    pub egress: Out,
    /// Bytes that the outer header adds to each packet on the wire. IPv4 in IPv4 has 20 B. Default 0 B.
    #[serde(default)]
    pub overhead: Bytes,
}

/// What the ingress writes into the outer header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum In {
    /// A copy of the inner field.
    #[default]
    Normal,
    /// Not-ECT.
    Compatibility,
    /// A copy, but ECT(0) for CE.
    Rfc3168Full,
}

/// What the egress makes of both headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Out {
    /// Figure 4 of RFC 6040.
    #[default]
    Rfc6040,
    /// CE is copied; it drops what is not ECN-capable.
    Rfc3168Full,
    /// The inner field stays; CE in the outer header alone drops the packet.
    Rfc3168Limited,
    /// The inner field stays.
    Rfc2003,
}

impl From<In> for Ingress {
    fn from(ingress: In) -> Ingress {
        match ingress {
            In::Normal => Ingress::Normal,
            In::Compatibility => Ingress::Compatibility,
            In::Rfc3168Full => Ingress::Rfc3168Full,
        }
    }
}

impl From<Out> for Egress {
    fn from(egress: Out) -> Egress {
        match egress {
            Out::Rfc6040 => Egress::Rfc6040,
            Out::Rfc3168Full => Egress::Rfc3168Full,
            Out::Rfc3168Limited => Egress::Rfc3168Limited,
            Out::Rfc2003 => Egress::Rfc2003,
        }
    }
}

impl Tunnel {
    /// The tunnel `name`, which has this `number`, for the engine.
    pub fn plan(&self, name: &str, number: usize) -> TunnelPlan {
        TunnelPlan {
            name: name.to_owned(),
            number: number as u32,
            ingress: self.ingress.into(),
            egress: self.egress.into(),
            overhead: self.overhead.0 as u32,
        }
    }
}
