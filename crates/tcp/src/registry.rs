//! The laws by name: one row each. A law is one file, one row here, one test script, one docs page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// A family of laws: the enum by which a [`crate::Config`] names one, and their rows. In
/// brackets, the name of doing without.
macro_rules! family {
    ($(#[$doc:meta])* $kind:ident, $rows:ident, $family:literal, $folder:literal;
     $([$none:ident, $none_name:literal, $none_summary:literal])?
     $($variant:ident, $name:literal, $summary:literal;)+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum $kind {
            $(#[doc = $none_summary] #[serde(rename = $none_name)] $none,)?
            $(#[doc = $summary] #[serde(rename = $name)] $variant,)+
        }
        const $rows: &[Law] = &[$(Law {
            family: $family,
            name: $name,
            summary: $summary,
            file: concat!("crates/tcp/src/", $folder, "/", $name, ".rs"),
            page: concat!("docs/laws/", $name, ".md"),
        },)+];
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

family! {
    /// The window laws.
    CongestionKind, CONGESTION, "congestion", "cc";
    Reno, "reno", "Slow start and congestion avoidance: one segment more a round trip, half on congestion.";
}

family! {
    /// The loss recovery schemes.
    RecoveryKind, RECOVERY, "recovery", "recovery";
    Tahoe, "tahoe", "Fast retransmit, then slow start from one segment.";
    Reno, "reno", "Fast recovery that the first new ACK ends.";
    NewReno, "newreno", "Fast recovery that lasts until everything outstanding at its start is acknowledged.";
    Sack, "sack", "Holes chosen from the SACK scoreboard, paced by an estimate of the data in flight.";
    Fack, "fack", "Data in flight counted from the forward-most byte the receiver reports.";
}

family! {
    /// The ECN feedback schemes.
    EcnKind, ECN, "ecn", "ecn";
    [Off, "off", "No ECN: neither offered nor accepted."]
    Rfc2481, "rfc2481", "The experimental ECN of 1999: CWR on the first data packet, retransmissions ECN-capable.";
    Rfc3168, "rfc3168", "Standard ECN: CWR on the first new data, retransmissions not ECN-capable.";
}

/// Every law of this crate.
pub fn laws() -> impl Iterator<Item = &'static Law> {
    CONGESTION.iter().chain(RECOVERY).chain(ECN)
}
