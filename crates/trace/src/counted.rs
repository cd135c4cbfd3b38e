//! Feedback that counts marks: AccECN (RFC 9768), and DCTCP's echo (RFC 8257 §3.2) if that standard is selected.

mod ace;
mod bytes;
mod expected;
mod half;
mod handshake;
mod marks;
mod prompt;

use ecnlab_wire::{Ecn, Flags, TcpOptions};

use crate::ecn_seen::Place;
use crate::packet::Segment;
use crate::rules::{Rule, Violations};
use crate::stream::{Acked, Sending, Stream};
use half::Half;
use handshake::Handshake;

pub(crate) use bytes::Reported;
pub use marks::Marks;

/// The three flags of the ACE field (RFC 9768 §3.2.2).
pub(crate) const ACE: Flags = Flags::AE.union(Flags::CWR).union(Flags::ECE);

/// The ACE field as a number.
pub(crate) fn ace_of(flags: Flags) -> u8 {
    let bit = |flag, value| if flags.contains(flag) { value } else { 0 };
    bit(Flags::AE, 4) + bit(Flags::CWR, 2) + bit(Flags::ECE, 1)
}

/// Encoding of the feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// AccECN: a packet counter in three flags, byte counters in an option.
    AccEcn,
    /// DCTCP: ECE gives the CE state of the acknowledged data.
    Dctcp,
}

/// A packet, after its connection has processed it.
pub(crate) struct Passing<'a> {
    pub segment: &'a Segment<'a>,
    pub options: &'a TcpOptions,
    pub sending: Sending,
    pub acked: Acked,
    /// End of the sender's data captured before this packet.
    pub arrived: u64,
    /// The sender's data stream and its peer's.
    pub own: &'a Stream,
    pub peers: &'a Stream,
}

impl Passing<'_> {
    /// Visibility of marks on the sender's data at the capture point.
    fn to_peer(&self) -> Place {
        Place::of(self.peers.answer, self.own.answer, false)
    }
    /// Visibility of marks on the peer's data at the capture point.
    fn to_sender(&self) -> Place {
        Place::of(self.own.answer, self.peers.answer, false)
    }
    /// Returns whether it is a pure ACK.
    fn is_bare(&self) -> bool {
        self.segment.len == 0 && !self.segment.flags.intersects(Flags::SYN | Flags::FIN | Flags::RST)
    }
}

/// State of a connection with counting feedback.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    scheme: Scheme,
    handshake: Handshake,
    /// The data of each end, in the order of the connection's key.
    halves: [Half; 2],
}

impl Counted {
    pub fn new(scheme: Scheme) -> Box<Counted> {
        Box::new(Counted { scheme, handshake: Handshake::default(), halves: Default::default() })
    }

    /// Starts with unknown counters, for a connection that began before the capture.
    pub fn joined() -> Box<Counted> {
        let mut counted = Counted::new(Scheme::AccEcn);
        counted.halves.iter_mut().for_each(Half::join);
        counted
    }

    /// Bytes allocated on the heap.
    pub fn heap(&self) -> usize {
        size_of::<Counted>() + self.halves.iter().map(Half::heap).sum::<usize>()
    }

    /// Marks reported to end `i`.
    pub fn marks(&self, i: usize) -> &Marks {
        &self.halves[i].marks
    }

    /// Counters of the options about the data of end `i`.
    pub fn reported(&self, i: usize) -> Reported {
        self.halves[i].reported()
    }

    /// Returns whether the server declined AccECN after agreeing to it.
    pub fn is_declined(&self) -> bool {
        self.handshake.is_declined()
    }

    /// Processes a SYN or SYN-ACK of end `i`.
    #[cold]
    pub fn set_up(&mut self, i: usize, segment: &Segment<'_>, options: &TcpOptions, found: &mut Violations) {
        self.handshake.set_up(segment, options, found);
        // The peer's segments are at most as large as the MSS that this end announces.
        self.halves[1 - i].segment = options.mss.map(u32::from);
    }

    /// Processes a packet of end `i` and adds violations to `found`.
    #[inline(never)]
    pub fn take(&mut self, i: usize, passing: &Passing<'_>, opener: usize, found: &mut Violations) {
        let flags = passing.segment.flags;
        self.halves[i].send(passing, self.scheme);
        if flags.intersects(Flags::SYN | Flags::RST) || !flags.contains(Flags::ACK) {
            return;
        }
        let reflects = self.scheme == Scheme::AccEcn && i == opener && self.handshake.reflects(passing, found);
        if self.scheme == Scheme::AccEcn
            && i != opener
            && passing.segment.ecn != Ecn::NotEct
            && self.handshake.forbids_ect(passing.to_sender())
        {
            found.add(Rule::EctAfterFallback, passing.segment.number, passing.segment.time);
        }
        if self.scheme == Scheme::AccEcn && i == opener {
            self.halves[1 - i].note_start(passing);
        }
        self.halves[1 - i].on_peer(passing, self.scheme, reflects, found);
    }
}
