//! Queue disciplines. A discipline decides (pass, signal, drop); only [`Queue`] turns a signal into a CE mark or a
//! drop, with a source quench if enabled.

mod across;
mod composed;
mod config;
mod contract;
mod laws;
mod machine;
mod record;
mod recorded;
pub mod registry;

use ecnlab_base::Dur;
use ecnlab_wire::{Dscp, Ecn, QuenchCause};

pub use across::*;
pub use composed::*;
pub use config::{Admit, Class, Codepoint, Common, Config, Forced, Full, MarkAt, Member};
pub use contract::across::{Across, AcrossView, Decision, InnerView};
pub use contract::facts::Facts;
pub use contract::impossible::Impossible;
pub use contract::law::{Aqm, LinkContext, PacketView, SpeaksBack, View};
pub use contract::params::LawParams;
pub use contract::{facts, userlaw};
pub use laws::*;
pub use machine::bucket::Bucket;
pub use machine::queue::Queue;
pub use machine::replay;
pub use machine::tree::{ClassReading, ClassSample};
pub use record::columns::{Columns, Integral};
pub use record::counters::{Counters, Group, Kind, Tally};
pub use record::interval::Departures;
pub use record::stats::{Sojourns, Stats};
pub use recorded::Recorded;

/// Decision of a discipline on one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Accept the packet.
    Pass,
    /// Signal congestion: mark CE if the packet is ECN-capable, else drop.
    Signal,
    /// Signal by an early drop, ECN-capable or not (RED past `mark_p`).
    SignalByDrop,
    /// Drop it, ECN-capable or not.
    Drop,
    /// Mark CE if it is ECN-capable, whether or not the queue has ECN on, and accept it in any case.
    MarkIfCapable,
    /// Compare an arriving packet with a queued one chosen with equal probability: if both are of the same flow, both
    /// are dropped, ECN-capable or not; otherwise, or if the queue is empty, [`Aqm::on_unlike`] decides. A packet that
    /// leaves passes.
    Compare,
}

/// Reason of a CE mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkReason {
    /// A signal of the discipline.
    Law,
    /// The queue exceeded a threshold above which all ECN-capable packets are marked ([`Verdict::MarkIfCapable`]).
    Threshold,
    /// The congestion of another inner queue, by a law across both (RFC 9332 §2.1).
    Coupled,
}

/// Reason of a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// A signal by drop.
    Early,
    /// The discipline's [`Verdict::Drop`] (for RED: the average is past its upper threshold).
    Forced,
    /// The queue was full.
    Tail,
}

/// A queued item, the engine's packet; small and `Copy`.
pub trait Item: Copy {
    /// Bytes on the wire.
    fn wire_len(&self) -> u32;
    /// The codepoint in its IP header.
    fn ecn(&self) -> Ecn;
    /// The DSCP in its IP header.
    fn dscp(&self) -> Dscp;
    /// Sets the codepoint to CE.
    fn mark(&mut self);
    /// The index of the flow group it is counted under.
    fn group(&self) -> usize;
    /// Identifies its five-tuple: equal for all packets of a connection in one direction.
    fn flow_key(&self) -> u64;
    /// Hashes of its source and its destination, for queues that are fair between hosts.
    fn hosts(&self) -> (u32, u32) {
        (0, 0)
    }
}

/// A source quench that the router owes the sender of `packet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owed<P> {
    /// The packet as it arrived, before any mark.
    pub packet: P,
    /// Whether it was marked or dropped.
    pub cause: QuenchCause,
    /// Bytes of the source quench on the wire.
    pub wire_len: u32,
    /// The time until it is sent.
    pub delay: Dur,
}

/// Observer of each packet's fate; a type parameter, so that a run without observation has no cost.
pub trait Watch<P> {
    /// `packet` entered the queue.
    fn enqueued(&mut self, _packet: &P) {}
    /// `packet` was marked CE.
    fn marked(&mut self, _packet: &P, _why: MarkReason) {}
    /// A packet that arrived with CE is signalled by the law; it is not marked again.
    fn signalled_ce(&mut self, _packet: &P) {}
    /// `packet` was dropped.
    fn dropped(&mut self, _packet: &P, _why: DropReason) {}
    /// `packet` left the queue for the wire.
    fn dequeued(&mut self, _packet: &P) {}
    /// The router owes a source quench; the observer decides whether and how to send it.
    fn quenched(&mut self, _owed: &Owed<P>) {}
}

/// Observer that does nothing.
impl<P> Watch<P> for () {}
