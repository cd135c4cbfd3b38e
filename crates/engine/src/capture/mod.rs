//! Captures: passes packets to a sink at the tapped interfaces of a run.
//!
//! The engine writes no files itself. The caller supplies a [`Sink`]; [`Files`] is a sink that converts packets to
//! bytes ([`bytes`]) for the caller's writers. [`write_captures`] writes capture files from the log of a virtual-time kernel.

pub mod bytes;
mod files;
mod guest;
mod taps;

use ecnlab_aqm::DropReason;
use ecnlab_base::Time;

use crate::packet::{Cargo, Packet, Payload};

pub use files::{EPOCH_NS, Files, Settings};
pub use guest::write_captures;
pub(crate) use taps::Taps;

/// A capture: packets of several interfaces in one stream, in order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Capture {
    /// Its name, unique in the run.
    pub name: String,
    /// The captured interfaces.
    pub interfaces: Vec<Interface>,
    /// Outgoing packets are captured when they arrive at the queue, with the queue's decision, instead of when they
    /// leave it.
    pub before_queue: bool,
}

/// A node's end of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// Its name in the file.
    pub name: String,
    /// Index of the link that leaves the node here.
    pub out: Option<usize>,
    /// Index of the link that reaches the node here.
    pub into: Option<usize>,
}

/// Fate of a packet at a capture point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was received, or sent unchanged.
    Passed,
    /// This interface's queue marked it CE.
    Marked,
    /// This interface's queue dropped it.
    Dropped(DropReason),
}

impl Fate {
    /// Comment on the packet in a capture file.
    pub const fn comment(self) -> Option<&'static str> {
        match self {
            Fate::Passed => None,
            Fate::Marked => Some("marked: the queue of this interface sets CE"),
            Fate::Dropped(DropReason::Early) => Some("dropped: early, by the queue of this interface"),
            Fate::Dropped(DropReason::Forced) => Some("dropped: forced, by the queue of this interface"),
            Fate::Dropped(DropReason::Tail) => Some("dropped: the queue of this interface was full"),
        }
    }
}

/// A captured packet.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Index of the capture.
    pub capture: u32,
    /// Index of the interface in it.
    pub interface: u32,
    /// Whether it went out from the node.
    pub outbound: bool,
    /// Capture time.
    pub time: Time,
    /// Its fate.
    pub fate: Fate,
    /// The packet, with its codepoint after the queue.
    pub packet: Packet,
    /// Its contents; the current codepoint is in `packet`.
    pub cargo: Cargo,
    /// The payload of a datagram of QUIC. Other payload is only counted.
    pub payload: Option<Payload>,
}

/// Receiver of the packets captured in a run.
pub trait Sink {
    /// Takes a packet; packets of one capture arrive in order of time. Returning false stops the run.
    fn take(&mut self, seen: &Seen) -> bool;

    /// Takes a line of a key log (NSS format), which comes before the packets that it decrypts.
    fn secret(&mut self, _line: &str) {}
}
