//! The laws by name: one row each. A law is one file, one row here, one test script, one docs page.

use ecnlab_base::Outside;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::cc::{self, CongestionControl, Params};
use crate::invalid::Invalid;
use crate::outside::Supply;

/// One law as a reader finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Law {
    /// What kind of law: "congestion", "slow_start", "recovery" or "ecn".
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

/// The rows of a family: module in the family's folder (`linux/rack`: in a folder of it), name, summary.
macro_rules! rows {
    ($rows:ident, $family:literal, $folder:literal;
     $($module:ident $(/ $part:ident)?, $name:literal, $summary:literal;)+) => {
        pub(crate) const $rows: &[Law] = &[$(Law {
            family: $family,
            name: $name,
            summary: $summary,
            file: concat!("crates/tcp/src/", $folder, "/", stringify!($module), $("/", stringify!($part),)? ".rs"),
            page: concat!("docs/laws/", $name, ".md"),
        },)+];
    };
}

/// A family of laws without parameters: the enum by which a [`crate::Config`] names one, and their
/// rows. In brackets, the name of doing without.
macro_rules! family {
    ($(#[$doc:meta])* $kind:ident, $rows:ident, $family:literal, $folder:literal;
     $([$none:ident, $none_name:literal, $none_summary:literal])?
     $($variant:ident, $module:ident $(/ $part:ident)?, $name:literal, $summary:literal;)+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum $kind {
            $(#[doc = $none_summary] #[serde(rename = $none_name)] $none,)?
            $(#[doc = $summary] #[serde(rename = $name)] $variant,)+
        }
        rows! { $rows, $family, $folder; $($module $(/ $part)?, $name, $summary;)+ }
        impl $kind {
            /// All there are.
            pub const ALL: &[$kind] = &[$($kind::$none,)? $($kind::$variant),+];

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
macro_rules! window_family {
    ($($law:ident($module:ident::$params:ident), $name:literal, $summary:literal;)+) => {
        /// A window law with its parameters: `"reno"`, or `{ kind = "ecn-alpha-beta", beta = 0.8 }`. A parameter
        /// left out, and every one of a law given by its name alone, has the default of the law's source.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(remote = "Self", tag = "kind", deny_unknown_fields)]
        pub enum WindowLaw {
            $(#[doc = $summary] #[serde(rename = $name)] $law(cc::$module::$params),)+
        }
        rows! { CONGESTION, "congestion", "cc"; $($module, $name, $summary;)+ }
        impl WindowLaw {
            /// Its name in a scenario.
            pub const fn name(&self) -> &'static str {
                match self { $(WindowLaw::$law(_) => $name,)+ }
            }
            /// Whether it has parameters.
            pub(crate) const fn has_params(&self) -> bool {
                match self { $(WindowLaw::$law(_) => <cc::$module::$params as Params>::ANY,)+ }
            }
            /// Refuses parameters that the law cannot have.
            pub(crate) fn check(&self) -> Result<(), Invalid> {
                match self { $(WindowLaw::$law(params) => params.check(),)+ }
            }
            /// [`CongestionControl::OWNS_WINDOW`].
            pub(crate) const fn owns_window(&self) -> bool {
                match self { $(WindowLaw::$law(_) => <<cc::$module::$params as Params>::Law as CongestionControl>::OWNS_WINDOW,)+ }
            }
            /// The key that asks for feedback with a count of marks.
            pub(crate) fn needs_count(&self) -> Option<&'static str> {
                match self { $(WindowLaw::$law(params) => params.needs_count(),)+ }
            }
            /// Sets the parameters that were left out and depend on the TCP profile.
            pub(crate) fn settle(&mut self, profile: &str) {
                match self { $(WindowLaw::$law(params) => params.settle(profile),)+ }
            }
            /// The law's name and object, if it stands in a file of the user's.
            pub fn outside(&self) -> Option<&Outside<dyn Supply>> {
                match self { $(WindowLaw::$law(params) => params.outside(),)+ }
            }
            /// The same, to be supplied.
            pub fn outside_mut(&mut self) -> Option<&mut Outside<dyn Supply>> {
                match self { $(WindowLaw::$law(params) => params.outside_mut(),)+ }
            }
            /// The keys by which tables without `kind` name laws, each with the name of its law.
            pub fn named_by() -> impl Iterator<Item = (&'static str, &'static str)> {
                [$((<cc::$module::$params as Params>::NAMED_BY, $name),)+].into_iter().filter_map(|(key, name)| Some((key?, name)))
            }
            /// [`cc::CongestionControl::SLOW_START`].
            pub(crate) const fn has_slow_start(&self) -> bool {
                match self {
                    $(WindowLaw::$law(_) => <<cc::$module::$params as Params>::Law as cc::CongestionControl>::SLOW_START,)+
                }
            }
            /// The schema of each law's parameters, by the law's name.
            pub(crate) fn schemas(generator: &mut SchemaGenerator) -> Vec<(&'static str, Schema)> {
                vec![$(($name, cc::$module::$params::json_schema(generator)),)+]
            }
        }
    };
}

/// The rows of the window laws: name in the code, module and type of the parameters, name, summary. `$make` makes of
/// them, behind `$head`, what it needs: here the names, in `crate::cc` the law in use.
macro_rules! window_laws {
    ($make:ident! { $($head:tt)* }) => {
        $make! { $($head)*
            Reno(reno::Params), "reno", "Slow start and congestion avoidance: one segment more a round trip, half on congestion.";
            EcnAlphaBeta(ecn_alpha_beta::Params), "ecn-alpha-beta", "Reno that on ECN-Echo keeps beta of its window and then adds alpha segments a round trip, until a loss.";
            Abe(ecn_alpha_beta::AbeParams), "abe", "Reno that on ECN-Echo in congestion avoidance keeps 0.8 of its window (Alternative Backoff with ECN).";
            Cubic(cubic::Params), "cubic", "A window that after a reduction follows a cubic function of time, and never falls behind Reno's.";
            Dctcp(dctcp::Params), "dctcp", "Reno that on ECN-Echo gives up half of the part of its data that is marked.";
            Bbr(bbr::Params), "bbr", "Sends at the greatest delivery rate of late, with two round trips of it in flight at most; losses and marks do not slow it (BBRv1 as Linux has it).";
            HighSpeed(highspeed::Params), "highspeed", "Reno up to 38 segments; the larger the window, the more a round trip adds and the less congestion takes (HighSpeed TCP).";
            Scalable(scalable::Params), "scalable", "A window to which each segment acknowledged adds a hundredth of one, and of which congestion takes an eighth (Scalable TCP).";
            Vegas(vegas::Params), "vegas", "A window that each round trip follows the number of its segments that wait in queues, which the RTT tells.";
            Ledbat(ledbat::Params), "ledbat", "A window for background traffic, which grows while its queueing delay is below a target and shrinks above it (LEDBAT).";
            Prague(prague::Params), "prague", "A paced window with a fraction, which marks reduce by half of their share once in 25 ms or a round trip, for L4S (Prague).";
            External(external::Params), "external", "A class in a file of Python, which has the methods of a window law.";
        }
    };
}
pub(crate) use window_laws;

window_laws! { window_family! {} }

/// The rows of the rules by which slow start ends: type, module, name, summary.
macro_rules! slow_start_exits {
    ($make:ident! { $($head:tt)* }) => {
        $make! { $($head)*
            Hystart, hystart, "hystart", "Slow start also ends where ACKs come in a train of half the least RTT, or the RTT has grown by an eighth (Linux).";
            HystartPlusPlus, hystart_plus_plus, "hystart++", "Where the RTT has grown by an eighth, slow start goes on at a quarter of its pace, and ends after five round trips.";
        }
    };
}
pub(crate) use slow_start_exits;

slow_start_exits! { family! {
    /// The rules by which slow start ends.
    SlowStartKind, SLOW_START, "slow_start", "slow_start";
    [Standard, "standard", "Slow start ends at ssthresh, by a loss or by a mark (RFC 5681)."]
} }

/// The rows of the loss recovery schemes, in the same way.
macro_rules! recovery_schemes {
    ($make:ident! { $($head:tt)* }) => {
        $make! { $($head)*
            Tahoe, tahoe, "tahoe", "Fast retransmit, then slow start from one segment.";
            Reno, reno, "reno", "Fast recovery that the first new ACK ends.";
            NewReno, newreno, "newreno", "Fast recovery that lasts until everything outstanding at its start is acknowledged.";
            LinuxNewReno, linux/newreno, "linux-newreno", "Linux's recovery without SACK: duplicate ACKs count as arrivals; the reduction of the window is proportional, and undone if timestamps show that it was spurious.";
            Sack, sack, "sack", "Holes chosen from the SACK scoreboard, paced by an estimate of the data in flight.";
            Rack, linux/rack, "rack", "Losses detected by the time at which a segment was sent, a probe after a silence, and a proportional reduction of the window (RACK-TLP, PRR).";
            Fack, fack, "fack", "Data in flight counted from the forward-most byte the receiver reports.";
        }
    };
}
pub(crate) use recovery_schemes;

recovery_schemes! { family! {
    /// The loss recovery schemes.
    RecoveryKind, RECOVERY, "recovery", "recovery";
} }

/// The rows of the ECN feedback schemes, in the same way.
macro_rules! ecn_schemes {
    ($make:ident! { $($head:tt)* }) => {
        $make! { $($head)*
            Rfc2481, rfc2481, "rfc2481", "The experimental ECN of 1999: CWR on the first data packet, retransmissions ECN-capable.";
            Rfc3168, rfc3168, "rfc3168", "Standard ECN: CWR on the first new data, retransmissions not ECN-capable.";
            Dctcp, dctcp, "dctcp", "DCTCP's feedback: ECE on an ACK means that the data it acknowledges were marked, no more and no less.";
            AccEcn, accecn, "accecn", "More accurate ECN: counts of marked packets in three flags of every segment, and of bytes in an option.";
            Becn, becn, "becn", "Historic BECN: responds to the routers' source quenches and ignores echoes. Nothing is negotiated.";
            EcnBecn, becn, "ecn-becn", "Historic ECN+BECN: RFC 2481's ECN that also responds to source quenches; the echo is the backup of a lost source quench.";
            EcnBecnBoth, becn, "ecn-becn-both", "Historic ECN+BECN that also responds to the echo of a mark after the source quench for it.";
            AccEcnLinux, accecn, "accecn-linux", "More accurate ECN as Linux 7 has it: control packets and retransmissions ECN-capable, an option on every segment.";
        }
    };
}
pub(crate) use ecn_schemes;

ecn_schemes! { family! {
    /// The ECN feedback schemes.
    EcnKind, ECN, "ecn", "ecn";
    [Off, "off", "No ECN: neither offered nor accepted."]
} }

/// Every law of this crate.
pub fn laws() -> impl Iterator<Item = &'static Law> {
    CONGESTION.iter().chain(SLOW_START).chain(RECOVERY).chain(ECN)
}
