//! Wall clock: the same TCP, queues and links as in the simulator, on real packets.
//!
//! [`Tun`] is a device of a network namespace, [`private`] makes a namespace that ends with its thread. [`converse`]
//! lets an endpoint of `tcp` speak over such a device to the kernel's TCP. A [`Router`] carries the packets of such
//! devices over the links of a scenario. [`write_captures`] makes capture files of what a virtual-time kernel has seen.
//!
//! This is the only room that does I/O on the network, reads a clock, and needs a capability (CAP_NET_ADMIN).
#![cfg(target_os = "linux")]

mod capture;
mod clock;
mod guest;
mod impair;
mod namespace;
pub mod packet;
mod peer;
mod probe;
mod router;
mod stream;
mod timing;
mod tun;

pub use clock::Clock;
pub use guest::write_captures;
pub use impair::{Impaired, Impairments};
pub use namespace::{Settings, private, within};
pub use peer::{Conversation, Failure, Heard, Role, Tally, converse};
pub use probe::{Target, probe};
pub use router::{Failure as RouterFailure, Out, Router};
pub use stream::{Reassembly, SendBuffer};
pub use tun::{MTU, Tun};
