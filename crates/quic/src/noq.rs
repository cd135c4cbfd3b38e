//! noq-proto, a fork of quinn-proto. Each connection has one path.
//!
//! Generators and clocks of the system in noq-proto 1.4.0, outside of its tests and of features that are off (qlog, bloom):
//!
//! | of | here |
//! | --- | --- |
//! | `Endpoint` | has a seed (`rng_seed`) |
//! | `EndpointConfig::default`, `ServerConfig::with_crypto` | not called: the reset key comes from the seed, and there are no tokens |
//! | connection identifiers | from the seed |
//! | `Bbr3` | rejected: its seed has no setter |
//! | `StdSystemTime` | replaced by the epoch |
//! | maps with `RandomState` of `Endpoint` | without effect: they are not iterated |

#[path = "quinn_like/mod.rs"]
mod ends;
mod stack;

pub use ends::connection;
