//! Capture analysis: reconstructs TCP connections from packets, as tcptrace does, including ECN.
//!
//! [`Capture`] reads packets from a file or a stream; [`Tracker`] groups them into connections, in memory that grows
//! with the number of connections, not of packets. [`analyse`] does both.

mod analysis;
mod arrivals;
mod behaviour;
mod brief;
mod capture;
mod compare;
mod compressed;
mod connection;
mod container;
mod counted;
mod datagrams;
mod duplicates;
mod echo_cause;
mod ecn;
mod ecn_seen;
mod error;
mod filter;
mod fragments;
mod input;
mod link;
mod outstanding;
mod packet;
mod pairing;
mod pipeline;
mod rack;
mod ranges;
mod rules;
mod series;
mod stats;
mod stream;
pub mod tables;
mod ticks;
mod tracker;
mod tunnel;
mod twice;
mod verdict;

pub use analysis::{analyse, analyse_capture};
pub use behaviour::{Behaviours, CAUSES, Direction, Receiver, Reductions, Sender, Sizes, Spacing};
pub use capture::{Analysis, Capture, Totals, Unread};
pub use compare::compare;
pub use connection::{Connection, Counts, End, Negotiation, Seen};
pub use container::{Interface, Reader, Record};
pub use counted::Marks;
pub use datagrams::{Datagrams, Flow};
pub use ecn::{Counts as EcnCounts, EcnState};
pub use error::TraceError;
pub use filter::Filter;
pub use input::Input;
pub use outstanding::Cause;
pub use packet::{Key, Segment, endpoint};
pub use pairing::{Change, Comparison, Lost, Path};
pub use rules::{RULES, Rule, Standard, Violation, Violations};
pub use series::{KINDS, Kind, Row, Series};
pub use stats::{Distribution, Summary};
pub use stream::{Acked, CapturedAck, Counts as StreamCounts, Sending, Stream};
pub use tracker::Tracker;
pub use tunnel::UdpTunnels;
pub use twice::Twice;
pub use verdict::{Class, Evidence, Need, Vantage, Verdict};
