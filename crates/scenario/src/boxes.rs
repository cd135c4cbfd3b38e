//! `[box.NAME]`: a box that is hostile to ECN, where it stands, and what cannot be.

use ecnlab_engine::{BoxPlan, Setup};
use ecnlab_wire::{Ecn, Flags};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnostic::suggest;
use crate::file::Link;
use crate::findings::Findings;
use crate::path::Path;
use crate::tables::Tables;

/// A box that is hostile to ECN. Links name it in `boxes`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostileBox {
    /// Action on a SYN with ECE or CWR, such as an ECN-setup SYN (RFC 3168 §6.1.1): "pass" is none, "strip" clears
    /// both flags, "drop" drops it, "reset" drops it and answers with an RST. Default `pass`.
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
    /// The share of connections that the box acts on, drawn for each connection; packets of the others pass unchanged.
    /// Default 1.
    #[serde(default = "all")]
    pub share: f64,
}

fn all() -> f64 {
    1.0
}

/// The action on a SYN or SYN-ACK with ECE or CWR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Treatment {
    /// It passes.
    #[default]
    Pass,
    /// ECE and CWR are cleared.
    Strip,
    /// It is dropped.
    Drop,
    /// It is dropped and answered with an RST, in the name of the host that it was for.
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
    /// (key, codepoint that comes, codepoint that leaves), as far as the table says.
    fn pairs(&self) -> impl Iterator<Item = (&'static str, Ecn, Ecn)> {
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
    /// Whether it acts on TCP headers, or only on those of IP.
    pub fn reads_tcp(&self) -> bool {
        !self.clear.is_empty() || [self.syn, self.syn_ack].iter().any(|setup| *setup != Treatment::Pass)
    }

    /// The box `name` on the link instance `link`, for the engine.
    pub fn plan(&self, name: &str, link: &str) -> BoxPlan {
        let mut plan = BoxPlan::idle(name, &format!("box.{link}.{name}"));
        plan.share = self.share;
        (plan.syn, plan.syn_ack) = (self.syn.into(), self.syn_ack.into());
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

/// Whether every box does something, and what it says can be.
pub(crate) fn check(tables: &Tables, found: &mut Findings<'_>) {
    for (name, hostile) in &tables.boxes {
        let path = Path::of(&["box", name]);
        let share = path.key("share");
        let message = format!("`{share}` is {}, not a share", hostile.share);
        found.unless((0.0..=1.0).contains(&hostile.share), &share, message, "write a number from 0 to 1");
        for (key, came, leaves) in hostile.rewrite.pairs() {
            let at = path.key("rewrite").key(key);
            found.unless(
                came != leaves,
                &at,
                format!("`{at}` changes nothing"),
                "write another codepoint, or leave it out",
            );
        }
        for (i, flag) in hostile.clear.iter().enumerate() {
            let at = path.key("clear").index(i);
            found.unless(
                !hostile.clear[..i].contains(flag),
                &at,
                format!("`{at}` is in this list already"),
                "leave it out",
            );
        }
        let idle = !hostile.reads_tcp() && hostile.rewrite.pairs().next().is_none();
        if idle {
            found.key(&path, format!("`{path}` has no action"), "give it syn, syn_ack, clear or rewrite");
        }
    }
}

/// Whether the boxes that `link`, at `path`, names are there.
pub(crate) fn check_names(link: &Link, path: &Path, tables: &Tables, found: &mut Findings<'_>) {
    let names: Vec<&String> = tables.boxes.keys().collect();
    for (i, name) in link.boxes.iter().enumerate() {
        let at = path.key("boxes").index(i);
        if !tables.boxes.contains_key(name) {
            found.value(&at, format!("`{at}`: there is no box `{name}`"), suggest(name, &names, "boxes"));
        }
        let once = !link.boxes[..i].contains(name);
        found.unless(once, &at, format!("`{at}`: `{name}` is in this list already"), "name each box once");
    }
}
