//! Tests of a server's ECN behaviour as in TBIT (Padhye and Floyd 2001). Without I/O and clock, so that the same prober
//! tests simulated and real hosts.
//!
//! A [`Session`] opens two connections, one without ECN and one with. [`probe`] drives it over the links of a plan;
//! `ecnlab-live` drives it over a TUN device.

mod answers;
mod dialogue;
mod path;
mod reader;
mod session;

pub use answers::{Answers, Back, Echo, Finding, Reduction, Reply, Seen};
pub use path::{Failure, probe};
pub use session::{CONNECTIONS, Outgoing, REQUEST, Session};
