//! One flow captured at two places: what happened to its ECN bits in between.

use std::collections::{BTreeMap, HashMap, VecDeque};

use ecnlab_wire::{Ecn, Flags};

use crate::capture::Capture;
use crate::error::TraceError;
use crate::input::Input;
use crate::packet::{Key, Segment};

/// How long a packet may be under way, and how far the clocks may be apart.
const WINDOW_NS: u64 = 120_000_000_000;

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
    /// Packets that only the first place saw.
    pub only_first: u64,
    /// Packets that only the second saw.
    pub only_second: u64,
}

/// What makes a packet the same at both places: all that routers have no business to change.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Print {
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
    fn of(segment: &Segment<'_>) -> Print {
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

#[derive(Clone, Copy)]
struct Waiting {
    time: u64,
    ecn: Ecn,
    flags: Flags,
    first: bool,
}

/// Reads both captures side by side, in order of time, and pairs their packets. Packets wait for their twin two minutes of
/// the captures' time: memory does not grow with the captures.
///
/// # Errors
/// If one of them cannot be read to its end.
pub fn compare(first: Input, second: Input) -> Result<Comparison, TraceError> {
    let mut pairing = Pairing::default();
    let mut sides = [Side::new(first)?, Side::new(second)?];
    while let Some(which) = earlier(&sides) {
        let side = &mut sides[which];
        if let Some((print, packet)) = side.head.take() {
            pairing.take(print, Waiting { first: which == 0, ..packet });
        }
        side.advance()?;
    }
    Ok(pairing.finish())
}

fn earlier(sides: &[Side; 2]) -> Option<usize> {
    match [&sides[0].head, &sides[1].head].map(|head| head.as_ref().map(|h| h.1.time)) {
        [Some(a), Some(b)] => Some(usize::from(b < a)),
        [Some(_), None] => Some(0),
        [None, Some(_)] => Some(1),
        [None, None] => None,
    }
}

struct Side {
    capture: Capture,
    head: Option<(Print, Waiting)>,
}

impl Side {
    fn new(input: Input) -> Result<Side, TraceError> {
        let mut side = Side { capture: Capture::new(input)?, head: None };
        side.advance()?;
        Ok(side)
    }

    /// To the next TCP segment that passed here.
    fn advance(&mut self) -> Result<(), TraceError> {
        let head = &mut self.head;
        while head.is_none() {
            let more = self.capture.step(|segment| {
                if !segment.dropped {
                    let (time, ecn, flags) = (segment.time, segment.ecn, segment.flags);
                    *head = Some((Print::of(segment), Waiting { time, ecn, flags, first: true }));
                }
            })?;
            if !more {
                break;
            }
        }
        Ok(())
    }
}

#[derive(Default)]
struct Pairing {
    found: Comparison,
    waiting: HashMap<Print, VecDeque<Waiting>>,
    order: VecDeque<(u64, Print)>,
}

impl Pairing {
    fn take(&mut self, print: Print, packet: Waiting) {
        self.forget(packet.time);
        let queue = self.waiting.entry(print).or_default();
        match queue.front() {
            Some(twin) if twin.first != packet.first => {
                let twin = *twin;
                queue.pop_front();
                if queue.is_empty() {
                    self.waiting.remove(&print);
                }
                let (a, b) = if packet.first { (packet, twin) } else { (twin, packet) };
                self.pair(print, a, b);
            }
            _ => {
                queue.push_back(packet);
                self.order.push_back((packet.time, print));
            }
        }
    }

    fn pair(&mut self, print: Print, a: Waiting, b: Waiting) {
        let flags = ((a.flags ^ b.flags) & ECN_FLAGS).bits();
        let (before, after) = (a.ecn.bits(), b.ecn.bits());
        let change = Change { key: print.key, from_low: print.from_low, before, after, flags };
        *self.found.changes.entry(change).or_default() += 1;
    }

    /// Gives up packets that have waited too long.
    fn forget(&mut self, now: u64) {
        while let Some((time, print)) = self.order.front().copied() {
            if now.saturating_sub(time) < WINDOW_NS {
                break;
            }
            self.order.pop_front();
            if let Some(queue) = self.waiting.get_mut(&print) {
                while let Some(old) = queue.front().copied().filter(|old| old.time <= time) {
                    queue.pop_front();
                    self.found.lonely(old.first);
                }
                if queue.is_empty() {
                    self.waiting.remove(&print);
                }
            }
        }
    }

    fn finish(mut self) -> Comparison {
        let rest = self.waiting.into_values().flatten();
        rest.for_each(|packet| self.found.lonely(packet.first));
        self.found
    }
}

impl Comparison {
    fn lonely(&mut self, first: bool) {
        if first {
            self.only_first += 1;
        } else {
            self.only_second += 1;
        }
    }
}
