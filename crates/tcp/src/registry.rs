//! The laws by name: one row each, the rows of window laws in `cc/mod.rs` beside their modules. A law is one file, one row,
//! one test script, one docs page.

use std::borrow::Cow;

use ecnlab_base::UserLaw;
use ecnlab_base::facts::same;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cc::{self, Params, Supply, window_laws};
use crate::facts::Facts;
use crate::invalid::Invalid;

/// One law as a reader finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Law {
    /// What kind of law: "congestion", "slow_start", "recovery" or "ecn".
    pub family: &'static str,
    /// Static properties of the law.
    pub facts: &'static Facts,
    /// Its source file, from the root of the repository.
    pub file: &'static str,
    /// Its docs page, from the root of the repository.
    pub page: &'static str,
}

/// The rows of a family: module in the family's folder (`linux/rack`: in a folder of it), name, summary.
macro_rules! rows {
    ($rows:ident, $family:literal, $folder:ident;
     $($module:ident $(/ $part:ident)?, $name:literal, $facts:ident;)+) => {
        $(const _: () =
            assert!(same($name, crate::$folder::$module$(::$part)?::$facts.name), "the registry calls a law otherwise than its facts");)+
        pub(crate) const $rows: &[Law] = &[$(Law {
            family: $family,
            facts: &crate::$folder::$module$(::$part)?::$facts,
            file: concat!("crates/tcp/src/", stringify!($folder), "/", stringify!($module), $("/", stringify!($part),)? ".rs"),
            page: concat!("docs/laws/", $name, ".md"),
        },)+];
    };
}

/// A law as one of the values of a key.
fn choice(law: &Law) -> Value {
    json!({ "type": "string", "const": law.facts.name, "description": law.facts.summary })
}

/// The schema of a key that has one of these values.
fn choices(about: &str, all: impl Iterator<Item = Value>) -> Schema {
    json_schema!({ "description": about, "oneOf": all.collect::<Vec<_>>() })
}

/// A family of laws without parameters: the enum by which a [`crate::Config`] names one, and their
/// rows. In brackets, the values that name no law of the family.
macro_rules! family {
    ($about:literal; $kind:ident, $rows:ident, $family:literal, $folder:ident;
     $([$none:ident, $none_name:literal, $none_summary:literal])*
     $($variant:ident, $module:ident $(/ $part:ident)?, $name:literal, $facts:ident;)+) => {
        #[doc = $about]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $kind {
            $(#[doc = $none_summary] #[serde(rename = $none_name)] $none,)*
            $(#[doc = concat!("Called `", $name, "`.")] #[serde(rename = $name)] $variant,)+
        }
        impl JsonSchema for $kind {
            fn schema_name() -> Cow<'static, str> {
                stringify!($kind).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let without = [$(json!({ "type": "string", "const": $none_name, "description": $none_summary })),*];
                choices($about, without.into_iter().chain($rows.iter().map(choice)))
            }
        }
        rows! { $rows, $family, $folder; $($module $(/ $part)?, $name, $facts;)+ }
        impl $kind {
            /// All there are.
            pub const ALL: &[$kind] = &[$($kind::$none,)* $($kind::$variant),+];

            /// Its name in a scenario.
            pub const fn name(self) -> &'static str {
                match self {
                    $($kind::$none => $none_name,)*
                    $($kind::$variant => $name,)+
                }
            }
        }
    };
}

/// The window laws: as `family!`, but each with its parameters. How a scenario writes one is in
/// `crate::window_law`.
macro_rules! window_family {
    ($($law:ident($module:ident::$params:ident), $name:literal, $facts:ident;)+) => {
        /// A window law with its parameters: `"reno"`, or `{ kind = "ecn-alpha-beta", beta = 0.8 }`. A parameter
        /// left out, and every one of a law given by its name alone, has the default of the law's source.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(remote = "Self", tag = "kind", deny_unknown_fields)]
        pub enum WindowLaw {
            $(#[doc = concat!("See [`cc::", stringify!($module), "`].")] #[serde(rename = $name)] $law(cc::$module::$params),)+
        }
        rows! { CONGESTION, "congestion", cc; $($module, $name, $facts;)+ }
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
            /// [`Facts::owns_window`].
            pub(crate) const fn owns_window(&self) -> bool {
                match self { $(WindowLaw::$law(_) => cc::$module::$facts.owns_window,)+ }
            }
            /// The key that requires feedback with a count of marks.
            pub(crate) fn needs_count(&self) -> Option<&'static str> {
                match self { $(WindowLaw::$law(params) => params.needs_count(),)+ }
            }
            /// Whether the parameters require timestamps.
            pub(crate) fn needs_timestamps(&self) -> bool {
                match self { $(WindowLaw::$law(params) => params.needs_timestamps(),)+ }
            }
            /// Sets the parameters that were left out and depend on the TCP profile.
            pub(crate) fn settle(&mut self, profile: &str) {
                match self { $(WindowLaw::$law(params) => params.settle(profile),)+ }
            }
            /// The rule of its implementation that ends slow start.
            pub(crate) fn slow_start(&self) -> SlowStartKind {
                let name = match self { $(WindowLaw::$law(params) => params.slow_start(),)+ };
                let kind = SlowStartKind::ALL.iter().find(|kind| kind.name() == name);
                *kind.expect("a law names a rule of slow start that there is")
            }
            /// The name and object of a user-defined law, if it is one.
            pub fn user_law(&self) -> Option<&UserLaw<dyn Supply>> {
                match self { $(WindowLaw::$law(params) => params.user_law(),)+ }
            }
            /// The same, as a mutable reference, so that it can be supplied.
            pub fn user_law_mut(&mut self) -> Option<&mut UserLaw<dyn Supply>> {
                match self { $(WindowLaw::$law(params) => params.user_law_mut(),)+ }
            }
            /// The keys by which tables without `kind` name laws, each with the name of its law.
            pub fn named_by() -> impl Iterator<Item = (&'static str, &'static str)> {
                [$((cc::$module::$facts.named_by, $name),)+].into_iter().filter_map(|(key, name)| Some((key?, name)))
            }
            /// [`Facts::slow_start`].
            pub(crate) const fn has_slow_start(&self) -> bool {
                match self {
                    $(WindowLaw::$law(_) => cc::$module::$facts.slow_start,)+
                }
            }
            /// The schema of each law's parameters, by the law's name.
            pub(crate) fn schemas(generator: &mut SchemaGenerator) -> Vec<(&'static str, Schema)> {
                vec![$(($name, cc::$module::$params::json_schema(generator)),)+]
            }
        }
    };
}

window_laws! { window_family! {} }

/// The rows of the rules by which slow start ends: type, module, name, summary.
macro_rules! slow_start_exits {
    ($make:ident! { $($head:tt)* }) => {
        $make! { $($head)*
            Hystart, hystart, "hystart", FACTS;
            HystartPlusPlus, hystart_plus_plus, "hystart++", FACTS;
        }
    };
}
pub(crate) use slow_start_exits;

slow_start_exits! { family! {
    "The rules by which slow start ends.";
    SlowStartKind, SLOW_START, "slow_start", slow_start;
    [Standard, "standard", "Slow start ends at ssthresh, or on a loss or a mark (RFC 5681)."]
    [Law, "law", "The rule of the window law's implementation: `hystart` with CUBIC's `profile = \"linux\"`, `standard` with every other law."]
} }

/// The rows of the loss recovery schemes, in the same way.
macro_rules! recovery_schemes {
    ($make:ident! { $($head:tt)* }) => {
        $make! { $($head)*
            Tahoe, tahoe, "tahoe", FACTS;
            Reno, reno, "reno", FACTS;
            NewReno, newreno, "newreno", FACTS;
            LinuxNewReno, linux/newreno, "linux-newreno", FACTS;
            Sack, sack, "sack", FACTS;
            Rack, linux/rack, "rack", FACTS;
            Fack, fack, "fack", FACTS;
        }
    };
}
pub(crate) use recovery_schemes;

recovery_schemes! { family! {
    "The loss recovery schemes.";
    RecoveryKind, RECOVERY, "recovery", recovery;
} }

impl RecoveryKind {
    /// What there is to know of the scheme.
    pub(crate) const fn facts(self) -> &'static Facts {
        RECOVERY[self as usize].facts
    }
}

/// The rows of the ECN feedback schemes, in the same way.
macro_rules! ecn_schemes {
    ($make:ident! { $($head:tt)* }) => {
        $make! { $($head)*
            Rfc2481, rfc2481, "rfc2481", FACTS;
            Rfc3168, rfc3168, "rfc3168", FACTS;
            Dctcp, dctcp, "dctcp", FACTS;
            AccEcn, accecn, "accecn", FACTS;
            Becn, becn, "becn", FACTS;
            EcnBecn, becn, "ecn-becn", ECN_BECN;
            EcnBecnBoth, becn, "ecn-becn-both", ECN_BECN_BOTH;
            AccEcnLinux, accecn, "accecn-linux", LINUX;
        }
    };
}
pub(crate) use ecn_schemes;

ecn_schemes! { family! {
    "The ECN feedback schemes.";
    EcnKind, ECN, "ecn", ecn;
    [Off, "off", "No ECN: neither offered nor accepted."]
} }

/// Every law of this crate.
pub fn laws() -> impl Iterator<Item = &'static Law> {
    CONGESTION.iter().chain(SLOW_START).chain(RECOVERY).chain(ECN)
}
