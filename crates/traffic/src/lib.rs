//! Sources of demand: what applications ask of the network, and when they ask again.
//!
//! A source states its demands and its next wake; it never sees a congestion window, a packet or
//! the event queue. The same source drives the simulator's endpoints and real sockets.

mod cbr;
mod crr;
mod ftp;
mod object;
mod on_off;
mod registry;
mod udp;
mod web;

pub use cbr::{Cbr, Params as CbrParams};
pub use crr::{Crr, Params as CrrParams};
pub use ftp::{Ftp, Params as FtpParams};
pub use object::Object;
pub use on_off::{OnOff, Params as OnOffParams};
pub use registry::{Params, ROWS, Row, Traffic};
pub use udp::{Codepoint, SquidParams};
pub use web::{PageSpacing, Params as WebParams, Web};

use ecnlab_base::{Bytes, Rng, Time};
use ecnlab_wire::Ecn;

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

/// What a source asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// A connection's worth of work over TCP.
    Exchange(Exchange),
    /// One UDP datagram from `from` to `to`, of so many bytes on the wire, headers included.
    Datagram(u32),
}

/// One connection's worth of work: the opener connects and writes `request` bytes; when all have
/// arrived the other side writes `response` bytes; when those have arrived the opener closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Given back to [`Source::on_done`].
    pub key: u32,
    /// Who connects.
    pub opener: Side,
    /// Which of the flow's nodes take part: index of a `from` node and of a `to` node. A source that
    /// is no [pool](Source::POOL) has one of each.
    pub ends: [u32; 2],
    /// Bytes the opener writes; [`ENDLESS`] for a transfer without end.
    pub request: u64,
    /// Bytes written in answer; 0 for a one-way transfer.
    pub response: u64,
    /// When it counts as done.
    pub done: Done,
}

impl Exchange {
    /// Whether nothing is written in answer.
    pub const fn is_one_way(&self) -> bool {
        self.response == 0
    }
}

/// When an exchange counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// When the last byte has arrived: of the response, or of the request if there is no response.
    Arrived,
    /// Of a one-way transfer: when the opener has the acknowledgement of its last byte.
    Acknowledged,
}

/// What becomes of the exchanges that a stopped source has under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnderWay {
    /// They are completed.
    Completed,
    /// Their opener writes no more than it has sent.
    Cut,
}

/// Why parameters are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impossible {
    /// The key at fault.
    pub key: &'static str,
    /// What is wrong with its value and, behind `; `, what would do.
    pub message: String,
}

/// Parameters that may hold what cannot be.
pub trait Checked {
    /// Refuses impossible values, naming the key.
    ///
    /// # Errors
    /// The first key whose value cannot be.
    fn check(&self) -> Result<(), Impossible> {
        Ok(())
    }
    /// The greatest datagram that the source sends, headers included; 0 B of traffic over TCP.
    fn largest_datagram(&self) -> Bytes {
        Bytes(0)
    }
}

/// States demand and its next wake.
pub trait Source {
    /// Whether it needs TCP endpoints at its ends.
    const TCP: bool = true;
    /// Whether an array at an end of the flow is a pool that one source draws its nodes from, rather
    /// than a source for each node.
    const POOL: bool = false;

    /// Appends what begins at `now`; returns when it wants to be asked again. A source that is asked
    /// earlier than it wanted has nothing to add and says again when.
    fn poll(&mut self, now: Time, rng: &mut Rng, out: &mut Vec<Demand>) -> Option<Time>;

    /// The exchange `key` was completed at `now`; returns when it wants to be asked again.
    fn on_done(&mut self, _key: u32, _now: Time) -> Option<Time> {
        None
    }

    /// The exchange `key` was given up or reset; returns when it wants to be asked again.
    fn on_failed(&mut self, key: u32, now: Time) -> Option<Time> {
        self.on_done(key, now)
    }

    /// From now on it asks for nothing new.
    fn stop(&mut self) -> UnderWay;

    /// The codepoint of its datagrams.
    fn codepoint(&self) -> Ecn {
        Ecn::NotEct
    }

    /// An ICMP source quench about one of its datagrams came at `now`. Whether it sends more slowly for it.
    fn on_quench(&mut self, _now: Time) -> bool {
        false
    }

    /// The web objects it has asked for, in that order.
    fn objects(&self) -> &[Object] {
        &[]
    }
}
