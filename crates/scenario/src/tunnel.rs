//! `[tunnel.NAME]`: treatment of ECN fields at the ends of a tunnel (RFC 6040).

use ecnlab_base::Bytes;
use ecnlab_engine::{Egress, Ingress, TunnelPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A tunnel. Links name it in `tunnel`. Consecutive links that name the same tunnel form one tunnel.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tunnel {
    /// The ECN field of the outer header: "normal" copies the inner one (RFC 6040 §4.1), "compatibility" writes
    /// Not-ECT (RFC 6040 §4.1; the limited functionality of RFC 3168 §9.1.1), "rfc3168-full" copies it but for CE,
    /// which becomes ECT(0) (RFC 3168 §9.1.1). Default `normal`.
    #[serde(default)]
    pub ingress: In,
    /// Combination of both fields at the end: by figure 4 of RFC 6040 (§4.2), by RFC 3168 §9.1, or by RFC 2003, which
    /// discards the outer header. Default `rfc6040`.
    #[serde(default)]
    pub egress: Out,
    /// Bytes that the outer header adds to each packet on the wire. IPv4 in IPv4 has 20 B. Default 0 B.
    #[serde(default)]
    pub overhead: Bytes,
}

/// ECN field that the ingress writes into the outer header.
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

/// Combination of both headers at the egress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Out {
    /// Figure 4 of RFC 6040.
    #[default]
    Rfc6040,
    /// CE is copied; packets that are not ECN-capable are dropped.
    Rfc3168Full,
    /// The inner field is kept; a packet with CE only in the outer header is dropped.
    Rfc3168Limited,
    /// The inner field is kept.
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
    /// Returns the engine's description of the tunnel `name` with this `number`.
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
