//! A TCP endpoint without I/O, clock or threads: segments and time in, segments and a deadline out.
//!
//! A driver calls [`Endpoint::on_segment`] and [`Endpoint::on_deadline`], sends what they leave in the
//! output and comes back at [`Endpoint::deadline`]. Sequence numbers are 32 bits on the wire and 64-bit
//! offsets inside; only the edge handles their wrap.
//!
//! Window laws are in [`cc`], what ends slow start in `slow_start`, loss recovery in `recovery`, ECN feedback in [`ecn`], one law a file; each
//! has a row in [`registry`] and a page in `docs/laws`.

mod ack_sample;
mod boxed;
pub mod cc;
pub mod config;
mod config_check;
mod control_packets;
mod counters;
pub mod ecn;
mod ecn_control;
mod ecn_echo;
mod ecn_flags;
mod ecn_roles;
mod endpoint;
mod facts;
mod flight;
mod handshake;
mod hooks;
mod input;
mod invalid;
mod law;
mod max_filter;
mod output;
mod profile;
mod ranges;
mod receiver;
mod recovery;
pub mod registry;
mod remedies;
mod rto;
mod rules;
mod sender;
mod slow_start;
mod wheel;
mod window;
mod window_law;

pub use config::{Config, Headers};
pub use counters::Counters;
pub use endpoint::{Endpoint, Out, Sample, State};
pub use facts::{Facts, Marks, Paces, QuickAcks};
pub use invalid::{Invalid, Remedy};
pub use profile::{Profile, ProfileError, Setting, profile, profiles};
pub use remedies::Refusal;
pub use rules::Rules;
