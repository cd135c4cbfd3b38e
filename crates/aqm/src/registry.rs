//! The registry of disciplines, from the rows in `laws`, `across` and `composed`.

use ecnlab_base::facts::same;
use ecnlab_base::{Dur, Length, Rng, Time, UserLaw};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize as _, Serialize};

use crate::across::across_laws;
use crate::composed::composed_laws;
use crate::contract::across::across_hooks;
use crate::contract::facts::Facts;
use crate::contract::hooks::dispatch;
use crate::contract::law::aqm_hooks;
use crate::contract::userlaw::Supply;
use crate::laws::fifo_laws;
use crate::record::columns::{Columns, Integral};
use crate::{Across, AcrossView, Aqm, Decision, InnerView, LawParams, PacketView, SpeaksBack, Verdict, View};

/// A discipline with its source file and page.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Static properties.
    pub facts: &'static Facts,
    /// Path of its source file from the root of the repository.
    pub source: &'static str,
    /// Path of its page from the root of the repository.
    pub page: &'static str,
}

macro_rules! registry {
    (;
        laws { $($name:literal: $module:ident::$Law:ident;)+ }
        composed { $($cname:literal: $cmodule:ident::$Composed:ident;)+ }
        across { $($aname:literal: $amodule:ident::$Across:ident;)+ }
    ) => {
        /// The parameters of any law.
        #[allow(clippy::large_enum_variant, reason = "read once for a link, when a run is planned")]
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(tag = "discipline")]
        pub enum Params {
            $(#[doc = concat!("See [`crate::", stringify!($module), "`].")] #[serde(rename = $name)] $Law(crate::$module::Params),)+
            $(#[doc = concat!("See [`crate::", stringify!($cmodule), "`].")] #[serde(rename = $cname)] $Composed(crate::$cmodule::Params),)+
            $(#[doc = concat!("See [`crate::", stringify!($amodule), "`].")] #[serde(rename = $aname)] $Across(crate::$amodule::Params),)+
        }

        /// Any law: dispatch by a match on the variant, not a virtual call. The tag has a byte of its own: one that is
        /// hidden in a law's fields takes three instructions more to read, several times for each packet.
        #[derive(Debug)]
        #[repr(u8)]
        pub enum Law {
            $(#[doc = concat!("See [`crate::", stringify!($module), "`].")] $Law(crate::$module::$Law),)+
        }

        /// Any law across inner queues.
        #[derive(Clone, Debug)]
        pub(crate) enum Joint {
            $(#[doc = concat!("See [`crate::", stringify!($amodule), "`].")] $Across(crate::$amodule::$Across),)+
        }

        /// Every discipline.
        pub const ROWS: &[Row] = &[
            $(Row {
                facts: &crate::$module::FACTS,
                source: concat!("crates/aqm/src/laws/", stringify!($module), ".rs"),
                page: concat!("docs/laws/", $name, ".md"),
            },)+
            $(Row {
                facts: &crate::$cmodule::FACTS,
                source: concat!("crates/aqm/src/composed/", stringify!($cmodule), ".rs"),
                page: concat!("docs/laws/", $cname, ".md"),
            },)+
            $(Row {
                facts: &crate::$amodule::FACTS,
                source: concat!("crates/aqm/src/across/", stringify!($amodule), ".rs"),
                page: concat!("docs/laws/", $aname, ".md"),
            },)+
        ];

        impl Row {
            /// The JSON schema of its own keys in `[queue.NAME]`. It is not a field, so that a program which reads no schema
            /// has no code for any.
            pub fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
                match self.facts.name {
                    $($name => crate::$module::Params::json_schema(generator),)+
                    $($cname => crate::$cmodule::Params::json_schema(generator),)+
                    $($aname => crate::$amodule::Params::json_schema(generator),)+
                    _ => unreachable!("rows have the names of the registry"),
                }
            }
        }

        // The macro needs the name as a literal; it must equal that in the properties.
        $(const _: () = assert!(same($name, crate::$module::FACTS.name), "the registry calls a law otherwise than its facts");)+
        $(const _: () = assert!(same($cname, crate::$cmodule::FACTS.name), "the registry calls a law otherwise than its facts");)+
        $(const _: () = assert!(same($aname, crate::$amodule::FACTS.name), "the registry calls a law otherwise than its facts");)+

        const NAMES: &[&str] = &[$($name,)+ $($cname,)+ $($aname,)+];

        impl Params {
            /// Reads the keys of the law called `name`: those of `[queue.NAME]` less
            /// [`crate::Common::KEYS`] and `discipline`. An unknown name or key is an error.
            pub fn deserialize<'de, D: Deserializer<'de>>(name: &str, keys: D) -> Result<Params, D::Error> {
                match name {
                    $($name => crate::$module::Params::deserialize(keys).map(Params::$Law),)+
                    $($cname => crate::$cmodule::Params::deserialize(keys).map(Params::$Composed),)+
                    $($aname => crate::$amodule::Params::deserialize(keys).map(Params::$Across),)+
                    _ => Err(D::Error::unknown_variant(name, NAMES)),
                }
            }
            /// The law's name.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Params::$Law(_) => $name,)+
                    $(Params::$Composed(_) => $cname,)+
                    $(Params::$Across(_) => $aname,)+
                }
            }
            /// The name of the user-defined law, if there is one.
            pub(crate) fn user_law(&self) -> Option<&UserLaw<dyn Supply>> {
                match self {
                    $(Params::$Law(params) => params.user_law(),)+
                    $(Params::$Composed(_) => None,)+
                    $(Params::$Across(_) => None,)+
                }
            }
            /// The same, as a mutable reference, so that it can be supplied.
            pub(crate) fn user_law_mut(&mut self) -> Option<&mut UserLaw<dyn Supply>> {
                match self {
                    $(Params::$Law(params) => params.user_law_mut(),)+
                    $(Params::$Composed(_) => None,)+
                    $(Params::$Across(_) => None,)+
                }
            }
            /// Whether it is made of several queues.
            pub(crate) const fn is_composed(&self) -> bool {
                match self {
                    $(Params::$Law(_) => false,)+
                    $(Params::$Composed(_) => true,)+
                    $(Params::$Across(_) => true,)+
                }
            }
            /// Whether its signals may be marks.
            pub(crate) const fn marks(&self) -> bool {
                match self {
                    $(Params::$Law(_) => crate::$module::FACTS.marks,)+
                    $(Params::$Composed(_) => true,)+
                    $(Params::$Across(_) => true,)+
                }
            }
        }

        impl Joint {
            /// The columns of its facts.
            pub(crate) fn columns(&self) -> Columns {
                match self {
                    $(Joint::$Across(_) => crate::$amodule::FACTS.columns,)+
                }
            }
        }

        impl Law {
            /// Whether [`Aqm::on_dequeue`] has anything to decide.
            pub(crate) fn judges_departures(&self) -> bool {
                match self {
                    $(Law::$Law(_) => crate::$module::FACTS.judges_departures,)+
                }
            }
            /// The columns of its facts.
            pub(crate) fn columns(&self) -> Columns {
                match self {
                    $(Law::$Law(_) => crate::$module::FACTS.columns,)+
                }
            }
        }
    };
}

fifo_laws! { composed_laws, across_laws, registry; }

/// Evaluates `$what` for the law in use: a match on the variant, which the hot path can inline.
macro_rules! of_law {
    ($value:expr, $law:ident => $what:expr) => {
        fifo_laws! { variants; { Law, $value, $law => $what } }
    };
}
/// Defines the same for a law across inner queues.
macro_rules! of_joint {
    ($value:expr, $law:ident => $what:expr) => {
        across_laws! { variants; { Joint, $value, $law => $what } }
    };
}
macro_rules! variants {
    (; { $Enum:ident, $value:expr, $bound:ident => $what:expr }
     $kind:ident { $($name:literal: $module:ident::$Law:ident;)+ }) => {
        match $value { $($Enum::$Law($bound) => $what,)+ }
    };
}

impl Aqm for Law {
    aqm_hooks! { dispatch of_law }
}

impl Across for Joint {
    across_hooks! { dispatch of_joint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_row_has_its_file_and_its_page() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for row in ROWS {
            assert!(root.join(row.source).is_file(), "{} is missing", row.source);
            let page = std::fs::read_to_string(root.join(row.page)).unwrap_or_default();
            assert!(page.contains("\n# "), "{} is missing or has no title: make schema", row.page);
        }
    }

    #[test]
    fn a_page_names_every_key_of_its_law() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for row in ROWS {
            let page = std::fs::read_to_string(root.join(row.page)).unwrap();
            let schema = row.schema(&mut SchemaGenerator::default());
            let keys = schema.get("properties").and_then(|p| p.as_object()).into_iter().flatten();
            for (key, _) in keys {
                assert!(page.contains(&format!("`{key}`")), "{} does not speak of `{key}`", row.page);
            }
        }
    }

    #[test]
    fn no_discipline_has_a_key_of_queues_or_of_classes() {
        let shared: Vec<&str> = crate::Common::KEYS.into_iter().chain(crate::Member::KEYS).collect();
        for row in ROWS {
            let schema = row.schema(&mut SchemaGenerator::default());
            let keys = schema.get("properties").and_then(|p| p.as_object()).into_iter().flatten();
            let twice: Vec<&String> = keys.map(|(key, _)| key).filter(|key| shared.contains(&key.as_str())).collect();
            assert!(twice.is_empty(), "{}: {twice:?}", row.facts.name);
        }
    }

    #[test]
    fn an_unknown_law_is_refused_with_those_there_are() {
        let error = Params::deserialize("rde", toml::Table::new()).unwrap_err().to_string();
        assert!(error.contains("`rde`") && error.contains("`droptail`") && error.contains("`red`"), "{error}");
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let keys: toml::Table = toml::from_str("min_th = \"5 packets\"").unwrap();
        assert!(Params::deserialize("droptail", keys).unwrap_err().to_string().contains("min_th"));
    }
}
