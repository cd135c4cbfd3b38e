//! Properties of a packet that the ECN rules use.

use ecnlab_wire::Ecn;

/// Maximum response time of a receiver at its own interface, in nanoseconds, besides its fraction of the sender's
/// response time.
pub(crate) const AT_ONCE: u64 = 1_000_000;
pub(crate) const PART: u64 = 10;

/// Properties of data sent by this end.
#[derive(Clone, Copy, Debug)]
pub struct Data {
    /// Packet number.
    pub number: u64,
    /// Capture time in nanoseconds.
    pub time: u64,
    /// Offset of its first byte.
    pub start: u64,
    /// One past its end.
    pub end: u64,
    /// Payload bytes.
    pub len: u32,
    /// Its codepoint.
    pub ecn: Ecn,
    /// It has CWR.
    pub cwr: bool,
    /// It is a retransmission.
    pub again: bool,
    /// It is marked as dropped after this capture point.
    pub dropped: bool,
    /// Bytes outstanding, including this segment.
    pub flight: u64,
    /// It may exceed the congestion window: sent on duplicate ACKs, or without an ACK, such as a tail loss probe (RFC
    /// 8985 §7.3).
    pub beyond: bool,
    /// The receive window has no room for another segment of this size.
    pub limited: bool,
    /// First byte not acknowledged.
    pub una: u64,
    /// One past the last byte sent.
    pub next: u64,
}

/// Properties of an ACK.
#[derive(Clone, Copy, Debug)]
pub struct Echo {
    /// Packet number.
    pub number: u64,
    /// Capture time in nanoseconds.
    pub time: u64,
    /// It has ECE.
    pub ece: bool,
    /// It was captured after a newer ACK.
    pub old: bool,
    /// First byte not acknowledged, after this ACK.
    pub una: u64,
    /// One past the last byte sent.
    pub next: u64,
    /// Bytes outstanding before this ACK.
    pub flight: u64,
    /// Response time of the data sender as seen at this point, in nanoseconds: from this ACK to the data that it
    /// triggers.
    pub answer: u64,
    /// The capture point is closer to the data sender than to the receiver; from a distance the sender's reasons cannot
    /// be inferred.
    pub near: bool,
    /// Visibility of marks at the capture point.
    pub place: Place,
}

/// Visibility of marks at a capture point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Data is missing from the capture, and with it possibly marks.
    Gaps,
    /// Marks may be set downstream of the capture point.
    #[default]
    Before,
    /// The receiver's own interface: no mark is set downstream.
    Receiver,
}

impl Place {
    /// Infers the capture point from the response times of `receiver` and `sender`, in nanoseconds. A router that marks
    /// is at least one link away from the capture, so only an immediate response shows that the receiver is local.
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
