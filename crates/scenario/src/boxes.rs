//! `[box.NAME]`: a middlebox that interferes with ECN, and its engine counterpart.

use ecnlab_base::{Bytes, Dur, Time};
use ecnlab_engine::{BoxPlan, Setup};
use ecnlab_wire::{Ecn, Flags};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A middlebox that interferes with ECN. Links name it in `boxes`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostileBox {
    /// Action on a SYN with ECE or CWR, such as an ECN-setup SYN (RFC 3168 §6.1.1): "pass" forwards it unchanged,
    /// "strip" clears both flags, "drop" drops it, "reset" drops it and replies with an RST. Default `pass`.
    #[serde(default)]
    pub syn: Treatment,
    /// The same action on a SYN-ACK with ECE or CWR. Default `pass`.
    #[serde(default)]
    pub syn_ack: Treatment,
    /// The flags that the box clears in segments other than SYNs: `["ece", "cwr"]`. Default: none.
    #[serde(default)]
    pub clear: Vec<Cleared>,
    /// From the ECN codepoint of an arriving packet to that of the leaving packet: `{ ect0 = "not-ect", ce = "ect0"
    /// }`. Keys and values are `not-ect`, `ect1`, `ect0`, `ce`; a codepoint left out is unchanged. Applied once to
    /// each packet. Default: nothing.
    #[serde(default)]
    pub rewrite: Rewrite,
    /// The codepoints of packets that the box drops, before it rewrites any: `["ect0", "ce"]`. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<Codepoint>,
    /// Size of the longest packet that passes, with its IP header. The box drops longer ones without a message (RFC 2923).
    /// Default: all sizes pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest: Option<Bytes>,
    /// Time from which the box acts. Default 0 s.
    #[serde(default, skip_serializing_if = "is_start")]
    pub start: Dur,
    /// The share of connections that the box acts on, drawn for each connection; packets of the others pass unchanged.
    /// Default 1.
    #[serde(default = "all")]
    pub share: f64,
}

/// Whether a box acts from the start of the run on.
fn is_start(start: &Dur) -> bool {
    start.is_zero()
}

fn all() -> f64 {
    1.0
}

/// The action on a SYN or SYN-ACK with ECE or CWR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Treatment {
    /// It is forwarded unchanged.
    #[default]
    Pass,
    /// ECE and CWR are cleared.
    Strip,
    /// It is dropped.
    Drop,
    /// It is dropped and answered with an RST on behalf of its destination.
    Reset,
}

/// A flag of the TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Cleared {
    /// ECN-Echo.
    Ece,
    /// Congestion window reduced.
    Cwr,
}

/// The codepoint that replaces each codepoint; those left out are unchanged.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Rewrite {
    /// Replacement of Not-ECT.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_ect: Option<Codepoint>,
    /// Replacement of ECT(1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ect1: Option<Codepoint>,
    /// Replacement of ECT(0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ect0: Option<Codepoint>,
    /// Replacement of CE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ce: Option<Codepoint>,
}

/// A codepoint of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Codepoint {
    /// Not ECN-capable.
    NotEct,
    /// ECT(1).
    Ect1,
    /// ECT(0).
    Ect0,
    /// Congestion experienced.
    Ce,
}

impl From<Codepoint> for Ecn {
    fn from(codepoint: Codepoint) -> Ecn {
        match codepoint {
            Codepoint::NotEct => Ecn::NotEct,
            Codepoint::Ect1 => Ecn::Ect1,
            Codepoint::Ect0 => Ecn::Ect0,
            Codepoint::Ce => Ecn::Ce,
        }
    }
}

impl From<Treatment> for Setup {
    fn from(treatment: Treatment) -> Setup {
        match treatment {
            Treatment::Pass => Setup::Pass,
            Treatment::Strip => Setup::Strip,
            Treatment::Drop => Setup::Drop,
            Treatment::Reset => Setup::Reset,
        }
    }
}

impl Rewrite {
    /// Iterates over (key, arriving codepoint, leaving codepoint) for the codepoints in the table.
    pub fn pairs(&self) -> impl Iterator<Item = (&'static str, Ecn, Ecn)> {
        let all = [
            ("not-ect", Ecn::NotEct, self.not_ect),
            ("ect1", Ecn::Ect1, self.ect1),
            ("ect0", Ecn::Ect0, self.ect0),
            ("ce", Ecn::Ce, self.ce),
        ];
        all.into_iter().filter_map(|(key, came, leaves)| leaves.map(|leaves| (key, came, leaves.into())))
    }
}

impl HostileBox {
    /// Returns whether it acts on TCP headers, or only on IP headers.
    pub fn reads_tcp(&self) -> bool {
        !self.clear.is_empty() || [self.syn, self.syn_ack].iter().any(|setup| *setup != Treatment::Pass)
    }

    /// Returns the engine's description of the box `name` on the link instance `link`.
    pub fn plan(&self, name: &str, link: &str) -> BoxPlan {
        let mut plan = BoxPlan::idle(name, &format!("box.{link}.{name}"));
        plan.share = self.share;
        (plan.syn, plan.syn_ack) = (self.syn.into(), self.syn_ack.into());
        for codepoint in &self.drop {
            plan.drops[usize::from(Ecn::from(*codepoint).bits())] = true;
        }
        plan.longest = self.longest.map_or(u32::MAX, |longest| u32::try_from(longest.0).unwrap_or(u32::MAX));
        plan.start = Time::ZERO + self.start;
        for flag in &self.clear {
            plan.clear |= match flag {
                Cleared::Ece => Flags::ECE,
                Cleared::Cwr => Flags::CWR,
            };
        }
        for (_, came, leaves) in self.rewrite.pairs() {
            plan.codepoints[usize::from(came.bits())] = leaves;
        }
        plan
    }
}
