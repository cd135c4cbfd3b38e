//! Pairs the packets of two captures: by all fields that routers do not change, by the IPv4 identification and, if
//! these are equal, by order and time. Ambiguous packets are reported as such.

mod lost;
mod pieces;

use std::collections::{BTreeMap, HashMap, VecDeque};

use ecnlab_wire::{Ecn, Flags};

use crate::packet::{Key, Segment};
pub use lost::Lost;
use pieces::Pieces;

/// Maximum time in flight plus clock offset.
const WINDOW_NS: u64 = 120_000_000_000;
/// Maximum number of identical packets that wait for their counterparts.
const MOST_ALIKE: usize = 1024;
/// Tolerance for a delay outside the known range of delays, in addition to the spread of that range.
const SLACK_NS: i64 = 1_000_000;

/// ECN fields of packets of one direction at the first and at the second capture point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The connection.
    pub key: Key,
    /// The key's first endpoint sent them.
    pub from_low: bool,
    /// Codepoint at the first point.
    pub before: u8,
    /// Codepoint at the second point.
    pub after: u8,
    /// Flags ECE, CWR and AE that were set at only one of the two points.
    pub flags: u16,
}

/// Result of a comparison of two captures.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Number of packets per combination of ECN fields.
    pub changes: BTreeMap<Change, u64>,
    /// Packets per direction that were captured at both points but cannot be paired: original and retransmission differ
    /// only in their ECN bits, and one of them was lost.
    pub ambiguous: BTreeMap<(Key, bool), u64>,
    /// Counts of each direction.
    pub paths: BTreeMap<(Key, bool), Path>,
    /// Time of the first packet at each point, in nanoseconds since 1970.
    pub starts: [u64; 2],
}

/// One direction between the two points.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// Packets found at both points; if a host merges or splits segments, pairs of segments that share bytes.
    pub paired: u64,
    /// Packets found only at the first and only at the second point.
    pub only: [u64; 2],
    /// Their payload bytes, and those of segments found in part.
    pub only_bytes: [u64; 2],
    /// Packets with CE among the packets found only at one point.
    pub only_ce: [u64; 2],
    /// Minimum and maximum delay from the first to the second point, by their clocks, in nanoseconds.
    pub delays: Option<(i64, i64)>,
    /// Sum and number of the delays.
    pub delay_sum: (i128, u64),
    /// The first of `only` and of segments found in part: at most `lost::MAX_LOST` packets, those with CE before others.
    pub lost: Vec<Lost>,
}

impl Path {
    fn took(&mut self, delay: i64) {
        let (least, most) = self.delays.unwrap_or((delay, delay));
        self.delays = Some((least.min(delay), most.max(delay)));
        self.delay_sum = (self.delay_sum.0 + i128::from(delay), self.delay_sum.1 + 1);
    }
    /// Counts a packet of `len` bytes of which `missing` were not found at the other point.
    fn lack(&mut self, side: usize, packet: &Packet, len: u64, missing: u64) {
        self.only[side] += u64::from(missing == len);
        self.only_bytes[side] += missing;
        self.only_ce[side] += u64::from(packet.ecn == Ecn::Ce);
        let Packet { number, time, ecn, .. } = *packet;
        lost::list(&mut self.lost, Lost { side, number, time, ecn: ecn.bits(), len, missing });
    }
    /// Mean delay, in nanoseconds.
    pub fn delay_mean(&self) -> Option<f64> {
        (self.delay_sum.1 > 0).then(|| self.delay_sum.0 as f64 / self.delay_sum.1 as f64)
    }
}

/// Identity of a packet at both points: all fields that routers do not change.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Print {
    key: Key,
    from_low: bool,
    seq: u32,
    ack: u32,
    len: u32,
    flags: u16,
    options: u64,
}

const ECN_FLAGS: Flags = Flags::ECE.union(Flags::CWR).union(Flags::AE);

impl Print {
    pub fn of(segment: &Segment<'_>) -> Print {
        // FNV-1a over the options, whose timestamps distinguish a retransmission from the original.
        let options = segment
            .options
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
        Print {
            key: segment.key,
            from_low: segment.from_low,
            seq: segment.seq.0,
            ack: segment.ack.0,
            len: segment.len,
            flags: segment.flags.difference(ECN_FLAGS).bits(),
            options,
        }
    }
}

/// The remaining fields of a packet.
#[derive(Clone, Copy)]
pub(crate) struct Packet {
    pub number: u64,
    pub time: u64,
    pub id: u16,
    pub ecn: Ecn,
    pub flags: Flags,
}

impl Packet {
    /// Returns the fields that are compared.
    fn bits(&self) -> (u8, u16) {
        (self.ecn.bits(), (self.flags & ECN_FLAGS).bits())
    }
}

/// Identical packets of the first and of the second point, in order.
#[derive(Default)]
struct Alike {
    sides: [Vec<Packet>; 2],
    /// Time of the last packet.
    last: u64,
}

/// Knowledge about a direction.
#[derive(Clone, Copy, Default)]
struct Known {
    /// A packet had the same identification at both points: no router rewrites it.
    ids: bool,
    /// Different packets have the same identification.
    same_for_all: bool,
    /// Identification and numbers of the last packet at each place.
    last: [Option<(u16, u32, u32)>; 2],
    /// Minimum and maximum delay from the first to the second point, by their clocks.
    delays: Option<(i64, i64)>,
}

impl Known {
    /// Records the identification of a packet; returns whether identifications distinguish packets.
    fn note(&mut self, print: &Print, id: u16, side: usize) -> bool {
        let last = self.last[side].replace((id, print.seq, print.ack));
        self.same_for_all |=
            last.is_some_and(|(before, seq, ack)| before == id && (seq, ack) != (print.seq, print.ack));
        id != 0 && !self.same_for_all
    }
    fn took(&mut self, delay: i64) {
        let (least, most) = self.delays.unwrap_or((delay, delay));
        self.delays = Some((least.min(delay), most.max(delay)));
    }
    /// Returns whether a delay is plausible.
    fn admits(&self, delay: i64) -> bool {
        self.delays.is_none_or(|(least, most)| {
            let more = (most - least).saturating_add(SLACK_NS);
            (least.saturating_sub(more)..=most.saturating_add(more)).contains(&delay)
        })
    }
}

fn delay(a: &Packet, b: &Packet) -> i64 {
    b.time.wrapping_sub(a.time) as i64
}

/// Collects packets for a [`Comparison`].
#[derive(Default)]
pub(crate) struct Pairing {
    found: Comparison,
    waiting: HashMap<Print, Alike>,
    order: VecDeque<(u64, Print)>,
    known: HashMap<(Key, bool), Known>,
    pieces: HashMap<(Key, bool), Pieces>,
}

impl Pairing {
    /// Adds a packet of the `first` or the second point, in order of time.
    pub fn take(&mut self, print: Print, packet: Packet, first: bool) {
        self.forget(packet.time);
        let known = self.known.entry((print.key, print.from_low)).or_default();
        let numbered = known.note(&print, packet.id, usize::from(!first));
        let alike = self.waiting.entry(print).or_default();
        let twins = &mut alike.sides[usize::from(first)];
        let mut same = twins.iter().enumerate().filter(|(_, twin)| numbered && twin.id == packet.id);
        if let (Some((place, _)), None) = (same.next(), same.next()) {
            let twin = twins.remove(place);
            if alike.sides.iter().all(Vec::is_empty) {
                self.waiting.remove(&print);
            }
            let (a, b) = if first { (packet, twin) } else { (twin, packet) };
            known.ids = true;
            known.took(delay(&a, &b));
            self.pair(print, a, b);
            return;
        }
        if alike.sides.iter().all(Vec::is_empty) {
            self.order.push_back((packet.time, print));
        }
        alike.last = packet.time;
        alike.sides[usize::from(!first)].push(packet);
        if alike.sides.iter().map(Vec::len).sum::<usize>() >= MOST_ALIKE {
            self.resolve(print, true);
        }
    }

    /// Stops waiting for counterparts of packets older than two minutes.
    fn forget(&mut self, now: u64) {
        while let Some((time, print)) = self.order.front().copied() {
            if now.saturating_sub(time) < WINDOW_NS {
                break;
            }
            self.order.pop_front();
            match self.waiting.get(&print).map(|alike| alike.last) {
                Some(last) if now.saturating_sub(last) < WINDOW_NS => self.order.push_back((last, print)),
                Some(_) => self.resolve(print, true),
                None => {}
            }
        }
    }

    /// Finishes the comparison after the last packet.
    pub fn finish(mut self) -> Comparison {
        // Unambiguous packets first: they give the delays by which the others are distinguished.
        let mut rest: Vec<Print> = self.order.drain(..).map(|(_, print)| print).collect();
        rest.retain(|print| !self.resolve_if(*print, false));
        rest.into_iter().for_each(|print| self.resolve(print, true));
        let directions: Vec<(Key, bool)> = self.pieces.keys().copied().collect();
        directions.into_iter().for_each(|direction| self.settle(direction, true));
        self.found
    }

    fn resolve(&mut self, print: Print, choose: bool) {
        self.resolve_if(print, choose);
    }

    /// Pairs identical packets; returns whether they were paired. Ambiguous ones are paired only if `choose`.
    fn resolve_if(&mut self, print: Print, choose: bool) -> bool {
        let direction = (print.key, print.from_low);
        let known = self.known.get(&direction).copied().unwrap_or_default();
        let Some(alike) = self.waiting.get_mut(&print) else { return true };
        if known.ids && !known.same_for_all {
            // A packet that had passed both points would have a counterpart.
            let ids = [0, 1].map(|side: usize| alike.sides[side].iter().map(|packet| packet.id).collect::<Vec<_>>());
            let gone = |side: usize, packet: &Packet| packet.id != 0 && !ids[1 - side].contains(&packet.id);
            let mut lone = Vec::new();
            for side in [0, 1] {
                lone.extend(alike.sides[side].extract_if(.., |packet| gone(side, packet)).map(|packet| (packet, side)));
            }
            lone.into_iter().for_each(|(packet, side)| self.lack(print, packet, side));
        }
        let Some(alike) = self.waiting.get(&print) else { return true };
        if alike.sides[0].len() != alike.sides[1].len() && !choose {
            return false;
        }
        let Some(Alike { sides: [a, b], .. }) = self.waiting.remove(&print) else { return true };
        if let ([one], [other]) = (&a[..], &b[..]) {
            self.known.entry(direction).or_default().took(delay(one, other));
        }
        let (few, many, longer) = if a.len() <= b.len() { (&a, &b, 1) } else { (&b, &a, 0) };
        let fit = |x: &Packet, y: &Packet| known.admits(if longer == 1 { delay(x, y) } else { delay(y, x) });
        let Some(places) = assign(few, many, fit) else {
            *self.found.ambiguous.entry(direction).or_default() += few.len() as u64;
            let path = self.found.paths.entry(direction).or_default();
            path.only[longer] += (many.len() - few.len()) as u64;
            path.only_bytes[longer] += u64::from(print.len) * (many.len() - few.len()) as u64;
            return true;
        };
        for (one, &i) in few.iter().zip(&places) {
            let (first, second) = if longer == 1 { (*one, many[i]) } else { (many[i], *one) };
            self.pair(print, first, second);
        }
        for (_, packet) in many.iter().enumerate().filter(|(i, _)| !places.contains(i)) {
            self.lack(print, *packet, longer);
        }
        true
    }

    /// Records a packet that has no counterpart of the same size.
    fn lack(&mut self, print: Print, packet: Packet, side: usize) {
        let direction = (print.key, print.from_low);
        if print.len == 0 {
            self.found.paths.entry(direction).or_default().lack(side, &packet, 0, 0);
        } else if self.pieces.entry(direction).or_default().add(print.seq, print.len, packet, side) {
            self.settle(direction, false);
        }
    }

    /// Pairs segments of different size.
    fn settle(&mut self, direction: (Key, bool), all: bool) {
        let Some(pieces) = self.pieces.get_mut(&direction) else { return };
        let known = self.known.get(&direction).copied().unwrap_or_default();
        let path = self.found.paths.entry(direction).or_default();
        let (changes, mut paired) = (&mut self.found.changes, 0);
        pieces.settle(&known, path, all, |a, b, ignored| {
            paired += 1;
            *changes.entry(change(direction, a, b, ignored)).or_default() += 1;
        });
        path.paired += paired;
    }

    fn pair(&mut self, print: Print, a: Packet, b: Packet) {
        let direction = (print.key, print.from_low);
        *self.found.changes.entry(change(direction, a, b, Flags::empty())).or_default() += 1;
        let path = self.found.paths.entry(direction).or_default();
        path.paired += 1;
        path.took(delay(&a, &b));
    }
}

/// Returns the change between a packet at the first and at the second point, without the flags `ignored`.
fn change((key, from_low): (Key, bool), a: Packet, b: Packet, ignored: Flags) -> Change {
    let flags = ((a.flags ^ b.flags) & ECN_FLAGS).difference(ignored).bits();
    Change { key, from_low, before: a.ecn.bits(), after: b.ecn.bits(), flags }
}

/// Returns for each of `few` its counterpart in `many`, in order, such that all `fit`: positions that every valid
/// assignment shares, or others with the same bits. `None` if assignments differ. If none fits, time is ignored and any
/// order-preserving assignment is valid.
fn assign(few: &[Packet], many: &[Packet], fit: impl Fn(&Packet, &Packet) -> bool) -> Option<Vec<usize>> {
    let ranges = ranges(few, many, fit).unwrap_or_else(|| {
        let spare = many.len() - few.len();
        (0..few.len()).map(|i| (i, i + spare)).collect()
    });
    let same = |&(low, high): &(usize, usize)| many[low..=high].iter().all(|p| p.bits() == many[low].bits());
    ranges.iter().all(same).then(|| ranges.iter().map(|range| range.0).collect())
}

/// Returns for each of `few` the first and the last possible position in `many` if all fit; `None` if no assignment
/// fits.
fn ranges(few: &[Packet], many: &[Packet], fit: impl Fn(&Packet, &Packet) -> bool) -> Option<Vec<(usize, usize)>> {
    let mut lows = Vec::with_capacity(few.len());
    let mut place = 0;
    for packet in few {
        place += many[place..].iter().position(|other| fit(packet, other))?;
        lows.push(place);
        place += 1;
    }
    let mut end = many.len();
    let mut ranges = Vec::with_capacity(few.len());
    for (packet, low) in few.iter().zip(lows).rev() {
        end = many[..end].iter().rposition(|other| fit(packet, other))?;
        ranges.push((low, end));
    }
    ranges.reverse();
    Some(ranges)
}
