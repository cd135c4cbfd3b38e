//! The laws by name: one row each. A law is one file, one row here, one test script, one docs page.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::cc::{Params, ecn_alpha_beta, reno};

/// One law as a reader finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Law {
    /// What kind of law: "congestion", "recovery" or "ecn".
    pub family: &'static str,
    /// Its name in a scenario.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Its source file, from the root of the repository.
    pub file: &'static str,
    /// Its docs page, from the root of the repository.
    pub page: &'static str,
}

/// The rows of a family: name, source file in the family's folder, summary.
macro_rules! rows {
    ($rows:ident, $family:literal, $folder:literal; $($name:literal, $file:literal, $summary:literal;)+) => {
        pub(crate) const $rows: &[Law] = &[$(Law {
            family: $family,
            name: $name,
            summary: $summary,
            file: concat!("crates/tcp/src/", $folder, "/", $file, ".rs"),
            page: concat!("docs/laws/", $name, ".md"),
        },)+];
    };
}

/// A family of laws without parameters: the enum by which a [`crate::Config`] names one, and their
/// rows. In brackets, the name of doing without.
macro_rules! family {
    ($(#[$doc:meta])* $kind:ident, $rows:ident, $family:literal, $folder:literal;
     $([$none:ident, $none_name:literal, $none_summary:literal])?
     $($variant:ident, $name:literal, $file:literal, $summary:literal;)+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum $kind {
            $(#[doc = $none_summary] #[serde(rename = $none_name)] $none,)?
            $(#[doc = $summary] #[serde(rename = $name)] $variant,)+
        }
        rows! { $rows, $family, $folder; $($name, $file, $summary;)+ }
        impl $kind {
            /// Its name in a scenario.
            pub const fn name(self) -> &'static str {
                match self {
                    $($kind::$none => $none_name,)?
                    $($kind::$variant => $name,)+
                }
            }
        }
    };
}

/// The window laws: as `family!`, but each with its parameters. How a scenario writes one is in
/// `crate::window_law`.
macro_rules! window_laws {
    ($($variant:ident($params:ty), $name:literal, $file:literal, $summary:literal;)+) => {
        /// A window law with its parameters: `"reno"`, or `{ kind = "ecn-alpha-beta", beta = 0.8 }`. A parameter
        /// left out, and every one of a law given by its name alone, has the default of the law's source.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(remote = "Self", tag = "kind", deny_unknown_fields)]
        pub enum WindowLaw {
            $(#[doc = $summary] #[serde(rename = $name)] $variant($params),)+
        }
        rows! { CONGESTION, "congestion", "cc"; $($name, $file, $summary;)+ }
        impl WindowLaw {
            /// Its name in a scenario.
            pub const fn name(&self) -> &'static str {
                match self { $(WindowLaw::$variant(_) => $name,)+ }
            }
            pub(crate) fn params(&self) -> &dyn Params {
                match self { $(WindowLaw::$variant(params) => params,)+ }
            }
            /// The schema of each law's parameters, by the law's name.
            pub(crate) fn schemas(generator: &mut SchemaGenerator) -> Vec<(&'static str, Schema)> {
                vec![$(($name, <$params>::json_schema(generator)),)+]
            }
        }
    };
}

window_laws! {
    Reno(reno::Params), "reno", "reno", "Slow start and congestion avoidance: one segment more a round trip, half on congestion.";
    EcnAlphaBeta(ecn_alpha_beta::Params), "ecn-alpha-beta", "ecn_alpha_beta", "Reno that on ECN-Echo keeps beta of its window and then adds alpha segments a round trip, until a loss.";
    Abe(ecn_alpha_beta::AbeParams), "abe", "ecn_alpha_beta", "Reno that on ECN-Echo in congestion avoidance keeps 0.8 of its window (Alternative Backoff with ECN).";
}

family! {
    /// The loss recovery schemes.
    RecoveryKind, RECOVERY, "recovery", "recovery";
    Tahoe, "tahoe", "tahoe", "Fast retransmit, then slow start from one segment.";
    Reno, "reno", "reno", "Fast recovery that the first new ACK ends.";
    NewReno, "newreno", "newreno", "Fast recovery that lasts until everything outstanding at its start is acknowledged.";
    Sack, "sack", "sack", "Holes chosen from the SACK scoreboard, paced by an estimate of the data in flight.";
    Rack, "rack", "rack", "Losses told by the time a segment was sent, a probe after a silence, and a window reduced in proportion (RACK-TLP, PRR).";
    Fack, "fack", "fack", "Data in flight counted from the forward-most byte the receiver reports.";
}

impl RecoveryKind {
    /// Whether it lives on the receiver's SACKs.
    pub const fn needs_sack(self) -> bool {
        matches!(self, RecoveryKind::Sack | RecoveryKind::Fack | RecoveryKind::Rack)
    }
}

family! {
    /// The ECN feedback schemes.
    EcnKind, ECN, "ecn", "ecn";
    [Off, "off", "No ECN: neither offered nor accepted."]
    Rfc2481, "rfc2481", "rfc2481", "The experimental ECN of 1999: CWR on the first data packet, retransmissions ECN-capable.";
    Rfc3168, "rfc3168", "rfc3168", "Standard ECN: CWR on the first new data, retransmissions not ECN-capable.";
    Becn, "becn", "becn", "Historic BECN: obeys the source quenches that routers send, and no echo. Nothing is negotiated.";
    EcnBecn, "ecn-becn", "becn", "Historic ECN+BECN: RFC 2481's ECN that also obeys source quenches, the echo standing in for those lost.";
    EcnBecnBoth, "ecn-becn-both", "becn", "Historic ECN+BECN that also hears the echo of a mark of which a source quench has told.";
}

/// Every law of this crate.
pub fn laws() -> impl Iterator<Item = &'static Law> {
    CONGESTION.iter().chain(RECOVERY).chain(ECN)
}
