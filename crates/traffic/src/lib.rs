//! Traffic sources: the demands of applications and their timing.
//!
//! A source returns its demands and the time of its next poll; it has no access to congestion windows, packets or the
//! event queue. The same source drives the simulator's endpoints and real sockets.

mod cbr;
mod crr;
mod ftp;
mod live;
mod object;
mod on_off;
mod registry;
mod udp;
mod web;

pub use cbr::{Cbr, Params as CbrParams};
pub use crr::{Crr, Params as CrrParams};
pub use ftp::{Ftp, Params as FtpParams};
pub use live::{Live, Params as LiveParams};
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

/// Demand of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// An exchange on one TCP connection.
    Exchange(Exchange),
    /// One UDP datagram from `from` to `to`, of this many bytes on the wire, headers included.
    Datagram(u32),
    /// The application of the flow's connection has this many bytes to send; what it wrote before and TCP has not sent is
    /// discarded.
    Live(u64),
}

/// Work of one connection: the opener connects and writes `request` bytes; when all have arrived the other side writes
/// `response` bytes; when those have arrived the opener closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Identifier passed to [`Source::on_done`].
    pub key: u32,
    /// The side that opens the connection.
    pub opener: Side,
    /// The participating nodes of the flow: index of a `from` node and of a `to` node. A source that is not a
    /// [pool](Source::POOL) has one of each.
    pub ends: [u32; 2],
    /// Bytes the opener writes; [`ENDLESS`] for a transfer without end.
    pub request: u64,
    /// Bytes of the response; 0 for a one-way transfer.
    pub response: u64,
    /// Condition for completion.
    pub done: Done,
}

impl Exchange {
    /// Returns whether there is no response.
    pub const fn is_one_way(&self) -> bool {
        self.response == 0
    }
}

/// Condition for the completion of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The last byte of the response has arrived, or of the request if there is no response.
    Arrived,
    /// For a one-way transfer: the opener has received the acknowledgement of its last byte.
    Acknowledged,
}

/// Treatment of the exchanges in progress when a source stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnderWay {
    /// They are completed.
    Completed,
    /// Their opener writes no more than it has already sent.
    Cut,
}

/// Reason for rejecting parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impossible {
    /// The key with the invalid value.
    pub key: &'static str,
    /// The problem and, after `; `, the remedy.
    pub message: String,
}

/// Parameters with a validity check.
pub trait Checked {
    /// Rejects invalid values, naming the key.
    ///
    /// # Errors
    /// The first key with an invalid value.
    fn check(&self) -> Result<(), Impossible> {
        Ok(())
    }
    /// Largest datagram of the source, headers included; 0 B for TCP traffic.
    fn largest_datagram(&self) -> Bytes {
        Bytes(0)
    }
}

/// A source of demands.
pub trait Source {
    /// The source needs TCP endpoints at its ends.
    const TCP: bool = true;
    /// An array at an end of the flow is a pool from which one source selects nodes, instead of one source per node.
    const POOL: bool = false;

    /// Appends the demands that start at `now`; returns the time of the next poll. A source polled early adds nothing
    /// and returns the same time again.
    fn poll(&mut self, now: Time, rng: &mut Rng, out: &mut Vec<Demand>) -> Option<Time>;

    /// Handles the completion of exchange `key` at `now`; returns the time of the next poll.
    fn on_done(&mut self, _key: u32, _now: Time) -> Option<Time> {
        None
    }

    /// Handles the failure of exchange `key`: given up or reset; returns the time of the next poll.
    fn on_failed(&mut self, key: u32, now: Time) -> Option<Time> {
        self.on_done(key, now)
    }

    /// Stops the source: it starts nothing new.
    fn stop(&mut self) -> UnderWay;

    /// ECN codepoint of its datagrams.
    fn codepoint(&self) -> Ecn {
        Ecn::NotEct
    }

    /// Handles an ICMP source quench at `now` about one of its datagrams. Returns whether the source reduces its rate.
    fn on_quench(&mut self, _now: Time) -> bool {
        false
    }

    /// The web objects requested so far, in order.
    fn objects(&self) -> &[Object] {
        &[]
    }
}
