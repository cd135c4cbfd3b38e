//! Sources of demand: what applications ask of the network, and when they ask again.
//!
//! A source states its demands and its next wake; it never sees a congestion window, a packet or
//! the event queue. The same source drives the simulator's endpoints and real sockets.

mod crr;
mod ftp;
mod registry;

pub use crr::{Crr, Params as CrrParams};
pub use ftp::{Ftp, Params as FtpParams};
pub use registry::{Params, ROWS, Row, Traffic};

use ecnlab_base::{Rng, Time};

/// Bytes of a transfer that never ends.
pub const ENDLESS: u64 = u64::MAX;

/// The end of a flow that opens a connection. `From` sends the flow's main data, `To` receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The flow's `from` node.
    From,
    /// The flow's `to` node.
    To,
}

impl Side {
    /// The other end.
    pub const fn other(self) -> Side {
        match self {
            Side::From => Side::To,
            Side::To => Side::From,
        }
    }
    /// 0 for `From`, 1 for `To`.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// One connection's worth of work: the opener connects and writes `request` bytes; when all have
/// arrived the other side writes `response` bytes; when those have arrived the opener closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Given back to [`Source::on_done`].
    pub key: u32,
    /// Who connects.
    pub opener: Side,
    /// Bytes the opener writes; [`ENDLESS`] for a transfer without end.
    pub request: u64,
    /// Bytes written in answer; 0 for a one-way transfer, which is done when the request has arrived.
    pub response: u64,
}

/// States demand and its next wake.
pub trait Source {
    /// Appends the exchanges that begin at `now`; returns when it wants to be asked again.
    fn poll(&mut self, now: Time, rng: &mut Rng, out: &mut Vec<Exchange>) -> Option<Time>;

    /// The exchange `key` was completed at `now`; returns when it wants to be asked again.
    fn on_done(&mut self, _key: u32, _now: Time) -> Option<Time> {
        None
    }
}
