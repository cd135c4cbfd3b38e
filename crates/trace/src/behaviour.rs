//! Behaviour of the two ends of each connection, counted so that two TCP implementations can be compared: ACKs by segments
//! covered and cause, bursts, reductions, round-trip times, spacing.
//!
//! Every count is made at every capture point. [`Sender`] is meaningful where the data leaves its sender, [`Receiver`]
//! where it arrives, [`Spacing`] at any point on the way.

mod receiver;
mod sender;
mod spacing;
#[cfg(test)]
mod tests;

use ecnlab_wire::{Ecn, Flags};

pub use receiver::{CAUSES, Receiver};
pub use sender::{Reductions, Sender};
pub use spacing::Spacing;

use crate::connection::{Connection, Seen};
use crate::outstanding::Cause;
use crate::packet::{Key, Segment};
use crate::stats::Summary;
use crate::tracker::Tracker;

/// A data segment, as read by the parts of a [`Direction`]. Sequence numbers are offsets in the stream.
#[derive(Clone, Copy, Debug)]
struct Data {
    time: u64,
    start: u64,
    end: u64,
    push: bool,
    ce: bool,
    cwr: bool,
    /// Bytes not seen before.
    fresh: u64,
    /// Cause of the retransmission, if it is one.
    again: Option<Cause>,
    /// The retransmission was started by a timer.
    timer: bool,
    /// It fills a hole or leaves one before it.
    reordered: bool,
    /// Bytes outstanding, including this segment.
    flight: u64,
    /// It was sent after the warm-up.
    counted: bool,
}

/// An ACK of the direction's data.
#[derive(Clone, Copy, Debug)]
struct Ack {
    time: u64,
    /// Offset of the acknowledgement number.
    offset: u64,
    /// No data, no SYN, FIN or RST.
    pure: bool,
    ece: bool,
    /// It has SACK blocks.
    sack: bool,
    /// First byte not acknowledged, after this ACK.
    una: u64,
    /// One past the last byte sent.
    next: u64,
    /// The round-trip time that this ACK measures.
    rtt: Option<u64>,
    counted: bool,
}

/// Distribution of burst sizes in segments: bursts of 1, 2, 3, and 4 or more; count, sum, minimum and maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Bursts of 1, 2, 3, and 4 or more segments.
    pub counts: [u64; 4],
    /// Summary over all bursts.
    pub summary: Summary,
}

impl Sizes {
    /// Adds a burst of `segments`, at least one.
    fn add(&mut self, segments: u64) {
        self.counts[segments.clamp(1, 4) as usize - 1] += 1;
        self.summary.add(segments);
    }
}

/// One direction of a connection: the data of one end and the ACKs of that data.
#[derive(Clone, Debug, Default)]
pub struct Direction {
    /// Counts that are meaningful at the data's sender.
    pub sender: Sender,
    /// Counts that are meaningful at the data's receiver.
    pub receiver: Receiver,
    /// Counts that are meaningful at any point on the path.
    pub spacing: Spacing,
    rtts: u64,
}

/// The directions of all connections of a capture.
pub struct Behaviours {
    tracker: Tracker,
    directions: Vec<[Direction; 2]>,
    /// Packets before this time, in nanoseconds since 1970, update the state but are not counted.
    from: u64,
    /// Maximum distance between segments of a burst, in nanoseconds.
    gap: u64,
}

impl Behaviours {
    /// Starts with no connection. Packets before `from` (nanoseconds since 1970) update the state but are not counted;
    /// data segments of a connection at most `gap` nanoseconds apart form one burst.
    pub fn new(from: u64, gap: u64) -> Behaviours {
        Behaviours { tracker: Tracker::default(), directions: Vec::new(), from, gap }
    }

    /// Processes a packet.
    pub fn take(&mut self, segment: &Segment<'_>) {
        let (index, seen) = self.tracker.take(segment);
        if index >= self.directions.len() {
            self.directions.resize_with(index + 1, Default::default);
        }
        // Without data there is nothing to count.
        let Some(seen) = seen else { return };
        let connection = self.tracker.connection(index);
        let (me, counted) = (usize::from(!segment.from_low), segment.time >= self.from);
        let directions = &mut self.directions[index];
        if segment.flags.contains(Flags::ACK) && !segment.flags.contains(Flags::SYN) {
            directions[1 - me].ack(segment, &connection, 1 - me, counted);
        }
        if segment.len > 0 {
            directions[me].data(segment, &seen, &connection, me, (counted, self.gap));
        }
    }

    /// Iterates over all directions: the connection's key, the end that sends the data, and the counts.
    pub fn directions(&self) -> impl Iterator<Item = (Key, usize, &Direction)> {
        let each = self.tracker.connections().zip(&self.directions);
        each.flat_map(|(connection, pair)| {
            let key = connection.key;
            [(key, 0, &pair[0]), (key, 1, &pair[1])]
        })
    }
}

impl Direction {
    fn data(
        &mut self,
        segment: &Segment<'_>,
        seen: &Seen,
        connection: &Connection,
        me: usize,
        (counted, gap): (bool, u64),
    ) {
        let (stream, sending) = (&connection.ends[me].stream, &seen.sending);
        let start = stream.offset(segment.seq);
        let data = Data {
            time: segment.time,
            start,
            end: start + u64::from(segment.len),
            push: segment.flags.contains(Flags::PSH),
            ce: segment.ecn == Ecn::Ce,
            cwr: segment.flags.contains(Flags::CWR),
            fresh: sending.fresh,
            again: sending.again,
            timer: sending.timer,
            reordered: sending.late || sending.gap,
            flight: stream.flight(),
            counted,
        };
        self.sender.data(&data);
        self.receiver.data(&data);
        self.spacing.data(&data, gap);
    }

    /// Processes an ACK from the peer of `owner`, the end that sends the data.
    fn ack(&mut self, segment: &Segment<'_>, connection: &Connection, owner: usize, counted: bool) {
        let stream = &connection.ends[owner].stream;
        let samples = std::mem::replace(&mut self.rtts, stream.rtt.summary.count);
        let control = Flags::SYN | Flags::FIN | Flags::RST;
        let ack = Ack {
            time: segment.time,
            offset: stream.offset(segment.ack),
            pure: segment.len == 0 && !segment.flags.intersects(control),
            ece: segment.flags.contains(Flags::ECE),
            sack: !segment.parsed_options().sack().is_empty(),
            una: stream.una(),
            next: stream.next(),
            rtt: (self.rtts > samples).then(|| stream.last_rtt()),
            counted,
        };
        self.sender.ack(&ack);
        self.receiver.ack(&ack);
    }
}
