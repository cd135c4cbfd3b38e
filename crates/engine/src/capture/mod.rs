//! Captures: packets handed to whoever writes them down, at the places where a run is tapped.
//!
//! The engine writes nothing itself. A [`Sink`] is given from outside; [`Files`] is one that turns packets into bytes
//! ([`bytes`]) for writers given from outside.

pub mod bytes;
mod files;
mod taps;

use ecnlab_aqm::DropReason;
use ecnlab_base::Time;

use crate::packet::{Cargo, Packet};

pub use files::{EPOCH_NS, Files, Settings};
pub(crate) use taps::Taps;

/// A capture: the interfaces it sees, in one stream in order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Capture {
    /// Its name, unique in the run.
    pub name: String,
    /// Where it listens.
    pub interfaces: Vec<Interface>,
    /// Whether outgoing packets are seen when they come to the queue, with what it then makes of them, instead of when
    /// they leave it, those that do.
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

/// What became of a packet where it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It came in, or went out as it had come.
    Passed,
    /// The queue here gave it CE.
    Marked,
    /// The queue here dropped it.
    Dropped(DropReason),
}

impl Fate {
    /// What a packet's comment in a capture says of it.
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

/// A packet that was seen.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Index of the capture.
    pub capture: u32,
    /// Index of the interface in it.
    pub interface: u32,
    /// Whether it went out from the node.
    pub outbound: bool,
    /// When.
    pub time: Time,
    /// What became of it.
    pub fate: Fate,
    /// The packet, with the codepoint it has behind the queue.
    pub packet: Packet,
    /// What it carries; its codepoint is in `packet`.
    pub cargo: Cargo,
}

/// Takes what the captures of a run see.
pub trait Sink {
    /// Takes a packet. Those of one capture come in order of time. If the answer is no, the run stops.
    fn take(&mut self, seen: &Seen) -> bool;
}
