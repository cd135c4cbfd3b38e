//! Registry of traffic kinds: one row per kind, from name to constructor.

use ecnlab_base::{Bytes, Rng, Time};
use ecnlab_wire::Ecn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Cbr, Checked, Crr, Demand, Ftp, Impossible, Live, Object, OnOff, Source, UnderWay, Web, cbr, crr, ftp, live,
    on_off, web,
};

/// A kind of traffic, for the documentation and the command line.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name in a scenario file.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
}

macro_rules! traffic {
    ($($variant:ident, $module:ident, $name:literal, $about:literal;)*) => {
        /// Value of `traffic = { kind = "…" }` of a flow.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum Params {
            $(#[doc = $about] #[serde(rename = $name)] $variant($module::Params),)*
        }

        /// Every kind of traffic.
        pub const ROWS: &[Row] = &[$(Row { name: $name, about: $about },)*];

        /// A source of any kind, without dynamic dispatch. Boxed, for the sizes of the kinds differ by a factor of ten.
        #[derive(Clone, Debug)]
        pub enum Traffic {
            $(#[doc = $about] $variant(Box<$variant>),)*
        }

        impl Params {
            /// The kind's name.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Params::$variant(_) => $name,)*
                }
            }
            /// [`Source::TCP`] of the kind.
            pub const fn uses_tcp(&self) -> bool {
                match self {
                    $(Params::$variant(_) => $variant::TCP,)*
                }
            }
            /// [`Source::POOL`] of the kind.
            pub const fn is_pool(&self) -> bool {
                match self {
                    $(Params::$variant(_) => $variant::POOL,)*
                }
            }
        }

        impl Checked for Params {
            fn check(&self) -> Result<(), Impossible> {
                match self {
                    $(Params::$variant(p) => p.check(),)*
                }
            }
            fn largest_datagram(&self) -> Bytes {
                match self {
                    $(Params::$variant(p) => p.largest_datagram(),)*
                }
            }
        }

        impl Traffic {
            /// Creates the source from `params`, with the given numbers of `from` nodes and `to` nodes.
            pub fn new(params: &Params, ends: [u32; 2]) -> Traffic {
                match params {
                    $(Params::$variant(p) => Traffic::$variant(Box::new($variant::new(p, ends))),)*
                }
            }
        }

        impl Source for Traffic {
            fn poll(&mut self, now: Time, rng: &mut Rng, out: &mut Vec<Demand>) -> Option<Time> {
                match self {
                    $(Traffic::$variant(s) => s.poll(now, rng, out),)*
                }
            }
            fn on_done(&mut self, key: u32, now: Time) -> Option<Time> {
                match self {
                    $(Traffic::$variant(s) => s.on_done(key, now),)*
                }
            }
            fn on_failed(&mut self, key: u32, now: Time) -> Option<Time> {
                match self {
                    $(Traffic::$variant(s) => s.on_failed(key, now),)*
                }
            }
            fn stop(&mut self) -> UnderWay {
                match self {
                    $(Traffic::$variant(s) => s.stop(),)*
                }
            }
            fn codepoint(&self) -> Ecn {
                match self {
                    $(Traffic::$variant(s) => s.codepoint(),)*
                }
            }
            fn on_quench(&mut self, now: Time) -> bool {
                match self {
                    $(Traffic::$variant(s) => s.on_quench(now),)*
                }
            }
            fn objects(&self) -> &[Object] {
                match self {
                    $(Traffic::$variant(s) => s.objects(),)*
                }
            }
        }
    };
}

traffic! {
    Ftp, ftp, "ftp", "A bulk transfer, endless or of a size";
    Live, live, "live", "One connection whose application limits it: data at a rate, or none, with times of bulk data";
    Crr, crr, "crr", "Connect, request, response, close, and again: Netperf's TCP_CRR";
    Web, web, "web", "Sessions of pages of objects, each request and each response on its own connection";
    Cbr, cbr, "cbr", "UDP datagrams at a constant rate";
    OnOff, on_off, "on-off", "UDP datagrams at a constant rate in bursts";
}
