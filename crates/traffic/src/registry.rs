//! Name to constructor, one row a kind of traffic.

use ecnlab_base::{Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Crr, Exchange, Ftp, Source, crr, ftp};

/// What the documentation and the command line say of one kind of traffic.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name in a scenario file.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
}

macro_rules! traffic {
    ($($variant:ident, $module:ident, $name:literal, $about:literal;)*) => {
        /// What `traffic = { kind = "…" }` of a flow says.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum Params {
            $(#[doc = $about] #[serde(rename = $name)] $variant($module::Params),)*
        }

        /// Every kind of traffic.
        pub const ROWS: &[Row] = &[$(Row { name: $name, about: $about },)*];

        /// A source of any kind, without dynamic dispatch.
        #[derive(Clone, Debug)]
        pub enum Traffic {
            $(#[doc = $about] $variant($variant),)*
        }

        impl Traffic {
            /// The source that `params` describe.
            pub fn new(params: &Params) -> Traffic {
                match params {
                    $(Params::$variant(p) => Traffic::$variant($variant::new(p)),)*
                }
            }
        }

        impl Source for Traffic {
            fn poll(&mut self, now: Time, rng: &mut Rng, out: &mut Vec<Exchange>) -> Option<Time> {
                match self {
                    $(Traffic::$variant(s) => s.poll(now, rng, out),)*
                }
            }
            fn on_done(&mut self, key: u32, now: Time) -> Option<Time> {
                match self {
                    $(Traffic::$variant(s) => s.on_done(key, now),)*
                }
            }
        }
    };
}

traffic! {
    Ftp, ftp, "ftp", "A bulk transfer, endless or of a size";
    Crr, crr, "crr", "Connect, request, response, close, and again: Netperf's TCP_CRR";
}
