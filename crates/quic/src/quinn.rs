//! quinn-proto.

#[path = "quinn_like/mod.rs"]
#[allow(clippy::duplicate_mod, reason = "the driver of quinn-proto and of its fork, each with the types of its crate")]
mod ends;
mod stack;

pub use ends::connection;
