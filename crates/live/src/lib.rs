//! Wall-clock operation: the TCP, queues and links of the simulator on real packets.
//!
//! [`Tun`] is a device of a network namespace, [`private`] creates a namespace that ends with its thread. [`converse`]
//! connects an endpoint of `tcp` with the kernel's TCP over such a device. A [`Router`] forwards packets between such
//! devices over the links of a scenario.
//!
//! This is the only crate that does network I/O, reads a clock, and needs a capability (CAP_NET_ADMIN).
#![cfg(target_os = "linux")]

mod capture;
mod clock;
mod hold;
mod impair;
mod namespace;
pub mod packet;
mod peer;
mod probe;
mod router;
mod stream;
mod timing;
mod tun;

pub use capture::Out;
pub use clock::Clock;
pub use impair::{Impaired, Impairments};
pub use namespace::{Settings, private, within};
pub use peer::{Conversation, Failure, Outcome, Role, Tally, converse};
pub use probe::{Target, probe};
pub use router::{Failure as RouterFailure, Router};
pub use stream::{Reassembly, SendBuffer};
pub use tun::{MTU, Tun};
