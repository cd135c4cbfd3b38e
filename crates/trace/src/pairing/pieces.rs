//! Data captured in segments of different size at the two points, because a host's offload splits or merges them (TSO,
//! GRO): paired by their ranges of sequence numbers.

use ecnlab_wire::Flags;

use super::{Known, Packet, Path, WINDOW_NS, delay};
use crate::ranges::Ranges;

/// Number of segments of a direction at which those of the last two minutes are paired.
const CROWDED: usize = 8192;
/// Offset of the first sequence number.
const ORIGIN: u64 = 1 << 40;
/// Largest segment, with offload (Linux: GSO_MAX_SIZE).
const LARGEST: u64 = 1 << 19;

/// A segment with data that has no counterpart of the same size.
struct Piece {
    start: u64,
    end: u64,
    packet: Packet,
    /// The ranges found at the other point.
    found: Ranges,
}

impl Piece {
    /// Bytes not found at the other point.
    fn lacking(&self) -> u64 {
        let mut bytes = 0;
        self.found.for_missing(self.start, self.end, |low, high| bytes += high - low);
        bytes
    }
}

/// Segments of one direction at both points.
#[derive(Default)]
pub(super) struct Pieces {
    origin: Option<u32>,
    sides: [Vec<Piece>; 2],
}

impl Pieces {
    /// Adds a segment of the first or the second point; returns whether they should be paired.
    pub fn add(&mut self, seq: u32, len: u32, packet: Packet, side: usize) -> bool {
        let origin = *self.origin.get_or_insert(seq);
        let start = ORIGIN.wrapping_add_signed(i64::from(seq.wrapping_sub(origin) as i32));
        self.sides[side].push(Piece { start, end: start + u64::from(len), packet, found: Ranges::default() });
        self.sides.iter().map(Vec::len).sum::<usize>() >= CROWDED
    }

    /// Calls `pair` for each pair of segments that share bytes, with the flags to ignore, and counts segments without
    /// counterpart, of the last two minutes only if `all`.
    pub fn settle(&mut self, known: &Known, path: &mut Path, all: bool, mut pair: impl FnMut(Packet, Packet, Flags)) {
        let newest = self.sides.iter().flatten().map(|piece| piece.packet.time).max().unwrap_or(0);
        let [firsts, seconds] = &mut self.sides;
        firsts.sort_by_key(|piece| (piece.start, piece.packet.time));
        seconds.sort_by_key(|piece| piece.packet.time);
        for second in &mut *seconds {
            let low = firsts.partition_point(|first| first.start + LARGEST < second.start);
            let high = firsts.partition_point(|first| first.start < second.end);
            let near = firsts.get_mut(low..high).unwrap_or_default();
            let mut order: Vec<usize> = (0..near.len()).filter(|&i| near[i].end > second.start).collect();
            order.sort_by_key(|&i| {
                let first = &near[i].packet;
                (!known.admits(delay(first, &second.packet)), first.time)
            });
            for i in order {
                join(&mut near[i], second, path, &mut pair);
            }
        }
        let old = newest.saturating_sub(WINDOW_NS);
        for (side, pieces) in self.sides.iter_mut().enumerate() {
            let crowded = pieces.len() >= CROWDED / 2;
            pieces.retain(|piece| {
                let lacking = piece.lacking();
                let keep = lacking > 0 && !all && !crowded && piece.packet.time > old;
                if !keep && lacking > 0 {
                    path.lack(side, &piece.packet, piece.end - piece.start, lacking);
                }
                keep
            });
        }
    }
}

/// Pairs the bytes of two segments that neither has found at the other point before.
fn join(first: &mut Piece, second: &mut Piece, path: &mut Path, pair: &mut impl FnMut(Packet, Packet, Flags)) {
    let (low, high) = (first.start.max(second.start), first.end.min(second.end));
    let mut common = Vec::new();
    second.found.for_missing(low, high, |low, high| {
        first.found.for_missing(low, high, |low, high| common.push((low, high)));
    });
    if common.is_empty() {
        return;
    }
    for (low, high) in common {
        first.found.insert(low, high);
        second.found.insert(low, high);
    }
    let begins = first.start == second.start;
    if begins {
        path.took(delay(&first.packet, &second.packet));
    }
    // Offload sets CWR on the first of several segments only (RFC 3168 §6.1.2).
    pair(first.packet, second.packet, if begins { Flags::empty() } else { Flags::CWR });
}
