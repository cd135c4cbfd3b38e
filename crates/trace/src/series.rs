//! Packet-by-packet series of one connection, thinned, for a time-sequence graph.

use ecnlab_wire::{Ecn, Flags};

use crate::connection::{Connection, Seen};
use crate::outstanding::Cause;
use crate::packet::Segment;

/// Kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A data segment: its first and last byte.
    Data,
    /// A fast retransmission.
    Fast,
    /// A retransmission for a hole reported by SACK.
    Sack,
    /// A retransmission after a partial ACK.
    Partial,
    /// A retransmission by the timer or after it.
    Timeout,
    /// A tail loss probe.
    Tail,
    /// A segment marked as dropped in the capture.
    Dropped,
    /// An ACK: its acknowledgement number and the end of the advertised window.
    Ack,
    /// A duplicate ACK.
    Duplicate,
    /// A SACK block.
    Block,
    /// Data with CE.
    Ce,
    /// An ACK with ECE.
    Ece,
    /// Data with CWR.
    Cwr,
    /// A round-trip time, in nanoseconds.
    Rtt,
    /// Bytes outstanding.
    Flight,
}

/// Names of the kinds, in the order of [`Kind`].
pub const KINDS: [&str; 15] = [
    "data",
    "fast",
    "sack",
    "partial",
    "timeout",
    "tail",
    "dropped",
    "ack",
    "duplicate",
    "block",
    "ce",
    "ece",
    "cwr",
    "rtt",
    "flight",
];

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Packet number.
    pub packet: u64,
    /// Nanoseconds since 1970.
    pub time: u64,
    /// Index in the key of the end whose data the row describes.
    pub end: u8,
    /// Kind of the row.
    pub kind: Kind,
    /// Lower value: an offset, nanoseconds or bytes, depending on the kind.
    pub low: i64,
    /// Upper value.
    pub high: i64,
}

/// Rows of one connection, with a limit per kind: above it every second row is dropped.
#[derive(Debug)]
pub struct Series {
    rows: [Thinned; KINDS.len()],
    rtts: [u64; 2],
}

#[derive(Clone, Debug)]
struct Thinned {
    rows: Vec<Row>,
    most: usize,
    every: u64,
    seen: u64,
}

impl Thinned {
    fn add(&mut self, row: Row) {
        if self.seen.is_multiple_of(self.every) {
            if self.rows.len() == self.most {
                let mut keep = false;
                self.rows.retain(|_| {
                    keep = !keep;
                    keep
                });
                self.every *= 2;
            }
            if self.seen.is_multiple_of(self.every) {
                self.rows.push(row);
            }
        }
        self.seen += 1;
    }
}

impl Series {
    /// Starts empty; at most `most` rows of each kind.
    pub fn new(most: usize) -> Series {
        let thinned = Thinned { rows: Vec::new(), most: most.max(2), every: 1, seen: 0 };
        Series { rows: std::array::from_fn(|_| thinned.clone()), rtts: [0; 2] }
    }

    /// Processes a packet of the connection, after the connection itself.
    pub fn take(&mut self, segment: &Segment<'_>, seen: &Seen, connection: &Connection) {
        let me = usize::from(!segment.from_low);
        if segment.seq_len() > 0 {
            self.data(segment, seen, connection, me);
        }
        if segment.flags.contains(Flags::ACK) {
            self.ack(segment, seen, connection, 1 - me);
        }
    }

    fn data(&mut self, segment: &Segment<'_>, seen: &Seen, connection: &Connection, me: usize) {
        let stream = &connection.ends[me].stream;
        let low = stream.relative(stream.offset(segment.seq));
        let high = low + i64::from(segment.seq_len());
        let kind = match (segment.dropped, seen.sending.again) {
            (true, _) => Kind::Dropped,
            (_, None) => Kind::Data,
            (_, Some(Cause::Fast)) => Kind::Fast,
            (_, Some(Cause::Sack)) => Kind::Sack,
            (_, Some(Cause::Partial)) => Kind::Partial,
            (_, Some(Cause::Timeout)) => Kind::Timeout,
            (_, Some(Cause::Tail)) => Kind::Tail,
        };
        self.add(segment, me, kind, low, high);
        if segment.ecn == Ecn::Ce {
            self.add(segment, me, Kind::Ce, low, high);
        }
        if segment.flags.contains(Flags::CWR) && !segment.flags.contains(Flags::SYN) {
            self.add(segment, me, Kind::Cwr, low, high);
        }
        let flight = stream.flight() as i64;
        self.add(segment, me, Kind::Flight, 0, flight);
    }

    /// Adds rows for an ACK of the data of `peer`.
    fn ack(&mut self, segment: &Segment<'_>, seen: &Seen, connection: &Connection, peer: usize) {
        let (stream, me) = (&connection.ends[peer].stream, &connection.ends[1 - peer]);
        let low = stream.relative(stream.offset(segment.ack));
        let kind = if seen.acked.duplicate { Kind::Duplicate } else { Kind::Ack };
        self.add(segment, peer, kind, low, low + me.window() as i64);
        if segment.flags.contains(Flags::ECE) && !segment.flags.contains(Flags::SYN) {
            self.add(segment, peer, Kind::Ece, low, low);
        }
        for block in segment.parsed_options().sack() {
            let [low, high] = [block.start, block.end].map(|seq| stream.relative(stream.offset(seq)));
            self.add(segment, peer, Kind::Block, low, high);
        }
        let count = stream.rtt.summary.count;
        if count > self.rtts[peer] && segment.timed {
            self.rtts[peer] = count;
            self.add(segment, peer, Kind::Rtt, 0, stream.last_rtt() as i64);
        }
    }

    fn add(&mut self, segment: &Segment<'_>, end: usize, kind: Kind, low: i64, high: i64) {
        self.rows[kind as usize].add(Row {
            packet: segment.number,
            time: segment.time,
            end: end as u8,
            kind,
            low,
            high,
        });
    }

    /// Returns the rows in order of time and, per kind, the number of packets that each row represents.
    pub fn finish(self) -> (Vec<Row>, [u64; KINDS.len()]) {
        let every = std::array::from_fn(|i| self.rows[i].every);
        let mut rows: Vec<Row> = self.rows.into_iter().flat_map(|thinned| thinned.rows).collect();
        rows.sort_by_key(|row| (row.packet, row.kind as u8));
        (rows, every)
    }
}
