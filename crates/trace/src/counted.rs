//! Feedback that counts marks: AccECN (RFC 9768), and DCTCP's echo (RFC 8257 §3.2) where that standard is asked for.

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

pub use marks::Marks;

/// The three flags of the ACE field (RFC 9768 §3.2.2).
pub(crate) const ACE: Flags = Flags::AE.union(Flags::CWR).union(Flags::ECE);

/// The ACE field as a number.
pub(crate) fn ace_of(flags: Flags) -> u8 {
    let bit = |flag, value| if flags.contains(flag) { value } else { 0 };
    bit(Flags::AE, 4) + bit(Flags::CWR, 2) + bit(Flags::ECE, 1)
}

/// How marks are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// A count of packets in three flags, counts of bytes in an option.
    AccEcn,
    /// ECE is the state of the data that an ACK acknowledges.
    Dctcp,
}

/// A packet, behind what its connection has made of it.
pub(crate) struct Passing<'a> {
    pub segment: &'a Segment<'a>,
    pub options: &'a TcpOptions,
    pub sending: Sending,
    pub acked: Acked,
    /// Up to where the sender's data had come by here before it.
    pub arrived: u64,
    /// The sender's data, and those of its peer.
    pub own: &'a Stream,
    pub peers: &'a Stream,
}

impl Passing<'_> {
    /// What this place shows of marks on the sender's data.
    fn to_peer(&self) -> Place {
        Place::of(self.peers.answer, self.own.answer, false)
    }
    /// What it shows of those on its peer's.
    fn to_sender(&self) -> Place {
        Place::of(self.own.answer, self.peers.answer, false)
    }
    /// Whether it has nothing but an ACK.
    fn is_bare(&self) -> bool {
        self.segment.len == 0 && !self.segment.flags.intersects(Flags::SYN | Flags::FIN | Flags::RST)
    }
}

/// What is known of a connection whose feedback counts.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    scheme: Scheme,
    handshake: Handshake,
    /// Of the data of each end, in the order of the connection's key.
    halves: [Half; 2],
}

impl Counted {
    pub fn new(scheme: Scheme) -> Box<Counted> {
        Box::new(Counted { scheme, handshake: Handshake::default(), halves: Default::default() })
    }

    /// One that began before the capture: no count is known.
    pub fn joined() -> Box<Counted> {
        let mut counted = Counted::new(Scheme::AccEcn);
        counted.halves.iter_mut().for_each(Half::join);
        counted
    }

    /// Bytes on the heap.
    pub fn heap(&self) -> usize {
        size_of::<Counted>() + self.halves.iter().map(Half::heap).sum::<usize>()
    }

    /// What was told of the marks on the data of end `i`.
    pub fn marks(&self, i: usize) -> &Marks {
        &self.halves[i].marks
    }

    /// Whether the end that answers has declined AccECN after it had agreed to it.
    pub fn is_declined(&self) -> bool {
        self.handshake.is_declined()
    }

    /// A SYN or SYN-ACK of end `i`, which asks for ECN in the way `asked`.
    #[cold]
    pub fn set_up(&mut self, i: usize, segment: &Segment<'_>, options: &TcpOptions, found: &mut Violations) {
        self.handshake.set_up(segment, options, found);
        // The peer's data are no longer than this end takes.
        self.halves[1 - i].segment = options.mss.map(u32::from);
    }

    /// A packet of end `i`; what it breaks is booked in `found`.
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
        self.halves[1 - i].hear(passing, self.scheme, reflects, found);
    }
}
