//! Which packet of one capture is which of another: by all that routers leave alone, by IPv4's identification, and of those
//! that are alike in all that, by order and time. Where nothing tells them apart, that is what is said.

use std::collections::{BTreeMap, HashMap, VecDeque};

use ecnlab_wire::{Ecn, Flags};

use crate::packet::{Key, Segment};

/// How long a packet may be under way, and how far the clocks may be apart.
const WINDOW_NS: u64 = 120_000_000_000;
/// So many packets that are alike wait for one another.
const MOST_ALIKE: usize = 1024;
/// A delay may be longer or shorter by so much than all that are known, besides their spread.
const SLACK_NS: i64 = 1_000_000;

/// What packets of one direction had at the one place and at the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The connection.
    pub key: Key,
    /// Whether the key's first endpoint sent them.
    pub from_low: bool,
    /// Codepoint at the first place.
    pub before: u8,
    /// Codepoint at the second.
    pub after: u8,
    /// Flags ECE, CWR and AE that were set at the first place only or at the second only.
    pub flags: u16,
}

/// What two captures show of the same packets.
#[derive(Debug, Default)]
pub struct Comparison {
    /// How many packets had what.
    pub changes: BTreeMap<Change, u64>,
    /// Packets of a connection's direction that were seen at both places, and of which it cannot be told which had been
    /// which: original and retransmission are alike but for their ECN bits, and one of them was lost.
    pub cannot_tell: BTreeMap<(Key, bool), u64>,
    /// Packets that only the first place saw.
    pub only_first: u64,
    /// Packets that only the second saw.
    pub only_second: u64,
}

/// What makes a packet the same at both places: all that routers have no business to change.
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
        // FNV-1a over the options, whose timestamps tell a retransmission from its original.
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

/// What else there is of a packet.
#[derive(Clone, Copy)]
pub(crate) struct Packet {
    pub time: u64,
    pub id: u16,
    pub ecn: Ecn,
    pub flags: Flags,
}

impl Packet {
    /// All that is compared.
    fn bits(&self) -> (u8, u16) {
        (self.ecn.bits(), (self.flags & ECN_FLAGS).bits())
    }
}

/// Packets that are alike, of the first place and of the second, in order.
#[derive(Default)]
struct Alike {
    sides: [Vec<Packet>; 2],
    /// When the last one came.
    last: u64,
}

/// What is known of a direction.
#[derive(Clone, Copy, Default)]
struct Known {
    /// A packet had the same identification at both places: nothing on the way rewrites it.
    ids: bool,
    /// Different packets have the same.
    same_for_all: bool,
    /// Identification and numbers of the last packet at each place.
    last: [Option<(u16, u32, u32)>; 2],
    /// The least and the greatest time from the first place to the second, by their clocks.
    delays: Option<(i64, i64)>,
}

impl Known {
    /// Notes the identification of a packet; whether it tells anything.
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
    /// Whether a packet may have taken so long.
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

/// Packets on their way into a [`Comparison`].
#[derive(Default)]
pub(crate) struct Pairing {
    found: Comparison,
    waiting: HashMap<Print, Alike>,
    order: VecDeque<(u64, Print)>,
    known: HashMap<(Key, bool), Known>,
}

impl Pairing {
    /// Takes in a packet of the `first` place or of the second, in order of time.
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

    /// Gives up waiting for packets that are like those of two minutes ago.
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

    /// All packets are there.
    pub fn finish(mut self) -> Comparison {
        // Those that leave no choice first: they tell of the delays by which the others are told apart.
        let mut rest: Vec<Print> = self.order.drain(..).map(|(_, print)| print).collect();
        rest.retain(|print| !self.resolve_if(*print, false));
        rest.into_iter().for_each(|print| self.resolve(print, true));
        self.found
    }

    fn resolve(&mut self, print: Print, choose: bool) {
        self.resolve_if(print, choose);
    }

    /// Pairs packets that are alike; whether that was done. If not to `choose`, only where there is nothing to choose.
    fn resolve_if(&mut self, print: Print, choose: bool) -> bool {
        let direction = (print.key, print.from_low);
        let known = self.known.get(&direction).copied().unwrap_or_default();
        let Some(alike) = self.waiting.get_mut(&print) else { return true };
        if known.ids && !known.same_for_all {
            // Had it passed both places, there would be a twin.
            let ids = [0, 1].map(|side: usize| alike.sides[side].iter().map(|packet| packet.id).collect::<Vec<_>>());
            let [a, b] = [0, 1].map(|side| {
                let before = alike.sides[side].len();
                alike.sides[side].retain(|packet| packet.id == 0 || ids[1 - side].contains(&packet.id));
                (before - alike.sides[side].len()) as u64
            });
            self.found.only_first += a;
            self.found.only_second += b;
        }
        if alike.sides[0].len() != alike.sides[1].len() && !choose {
            return false;
        }
        let Some(Alike { sides: [a, b], .. }) = self.waiting.remove(&print) else { return true };
        self.found.only_first += a.len().saturating_sub(b.len()) as u64;
        self.found.only_second += b.len().saturating_sub(a.len()) as u64;
        if let ([one], [other]) = (&a[..], &b[..]) {
            self.known.entry(direction).or_default().took(delay(one, other));
        }
        let pairs: Option<Vec<(Packet, Packet)>> = if a.len() <= b.len() {
            let places = assign(&a, &b, |a, b| known.admits(delay(a, b)));
            places.map(|places| a.iter().zip(places).map(|(a, i)| (*a, b[i])).collect())
        } else {
            let places = assign(&b, &a, |b, a| known.admits(delay(a, b)));
            places.map(|places| b.iter().zip(places).map(|(b, i)| (a[i], *b)).collect())
        };
        match pairs {
            Some(pairs) => pairs.into_iter().for_each(|(a, b)| self.pair(print, a, b)),
            None => *self.found.cannot_tell.entry(direction).or_default() += a.len().min(b.len()) as u64,
        }
        true
    }

    fn pair(&mut self, print: Print, a: Packet, b: Packet) {
        let flags = ((a.flags ^ b.flags) & ECN_FLAGS).bits();
        let (before, after) = (a.ecn.bits(), b.ecn.bits());
        let change = Change { key: print.key, from_low: print.from_low, before, after, flags };
        *self.found.changes.entry(change).or_default() += 1;
    }
}

/// For each of `few` its twin among `many`, in order, such that all `fit`: places that any such choice has, or others with
/// the same bits. `None` if choices differ. Where none fits, time is no help, and any order-keeping choice counts.
fn assign(few: &[Packet], many: &[Packet], fit: impl Fn(&Packet, &Packet) -> bool) -> Option<Vec<usize>> {
    let ranges = ranges(few, many, fit).unwrap_or_else(|| {
        let spare = many.len() - few.len();
        (0..few.len()).map(|i| (i, i + spare)).collect()
    });
    let same = |&(low, high): &(usize, usize)| many[low..=high].iter().all(|p| p.bits() == many[low].bits());
    ranges.iter().all(same).then(|| ranges.iter().map(|range| range.0).collect())
}

/// The first and the last place among `many` that each of `few` can have if all fit; `None` if they cannot.
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
