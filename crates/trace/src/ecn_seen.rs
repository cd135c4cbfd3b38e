//! What the rules of ECN look at in a packet.

use ecnlab_wire::Ecn;

/// A receiver takes no longer to answer at its own interface, beside its part of the sender's time.
pub(crate) const AT_ONCE: u64 = 1_000_000;
const PART: u64 = 10;

/// What is looked at when this end sends data.
#[derive(Clone, Copy, Debug)]
pub struct Data {
    /// The number of the packet.
    pub number: u64,
    /// When.
    pub time: u64,
    /// Where it begins and ends.
    pub start: u64,
    /// One past its end.
    pub end: u64,
    /// Payload bytes.
    pub len: u32,
    /// Its codepoint.
    pub ecn: Ecn,
    /// Whether it has CWR.
    pub cwr: bool,
    /// Whether it was sent before.
    pub again: bool,
    /// Whether it is lost behind this point.
    pub dropped: bool,
    /// Outstanding data, this included.
    pub flight: u64,
    /// Whether it may be more than the window: let out by duplicate ACKs, or by no ACK, as a tail loss probe is (RFC 8985
    /// §7.3).
    pub beyond: bool,
    /// Whether the peer's window has no room for another such segment.
    pub limited: bool,
    /// First byte not acknowledged.
    pub una: u64,
    /// One past the last byte sent.
    pub next: u64,
}

/// What is looked at when an ACK comes back.
#[derive(Clone, Copy, Debug)]
pub struct Echo {
    /// The number of the packet.
    pub number: u64,
    /// When.
    pub time: u64,
    /// Whether it has ECE.
    pub ece: bool,
    /// Whether it is older than another.
    pub old: bool,
    /// First byte not acknowledged, with this ACK.
    pub una: u64,
    /// One past the last byte sent.
    pub next: u64,
    /// Outstanding data before this ACK.
    pub flight: u64,
    /// How long the sender of the data is away: it hears of this, and what it sends then comes by here, so much later.
    pub answer: u64,
    /// Whether this place is nearer to that sender than to the receiver: from afar its reasons cannot be told.
    pub near: bool,
    /// What this place shows of marks.
    pub place: Place,
}

/// What a place shows of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Data are missing, and with them perhaps marks.
    Gaps,
    /// Marks may be set behind it.
    #[default]
    Before,
    /// The receiver's own interface: no mark is set behind it.
    Receiver,
}

impl Place {
    /// The place at which the receiver takes `receiver` to answer and the sender `sender`, in nanoseconds. A router that
    /// marks has to be a wire away from the capture, so that only a receiver that answers at once is taken to be there.
    pub fn of(receiver: Option<u64>, sender: Option<u64>, missing: bool) -> Place {
        match (receiver, sender) {
            _ if missing => Place::Gaps,
            (Some(receiver), Some(sender)) if receiver <= AT_ONCE && receiver.saturating_mul(PART) < sender => {
                Place::Receiver
            }
            _ => Place::Before,
        }
    }
}
