//! Packets that a capture has more than once: a capture of all interfaces of a router, or of a mirror port that copies
//! both directions.

use std::collections::HashSet;

use crate::capture::{Analysis, Totals};
use crate::container::Interface;
use crate::error::TraceError;
use crate::packet::Segment;
use crate::tracker::Tracker;
use crate::twice::Twice;

/// Packets compared until the first copy: without one among them, later packets are not compared.
const ENOUGH: u64 = 8192;
/// Packets remembered.
const SLOTS: usize = 2048;
/// Longest time between two captures of a packet at two interfaces, in nanoseconds: half of the smallest retransmission
/// timeout in use.
const FORWARDED: u64 = 100_000_000;
/// Longest time between two copies of a packet at one interface. With an identification (IPv4), which a retransmission
/// has not in common with the original; and without.
const MIRRORED: u64 = 2_000_000;
const MIRRORED_WITHOUT_ID: u64 = 50_000;
/// A packet seen: hash of its fields, time and interface.
#[derive(Clone, Copy, Default)]
struct Slot {
    hash: u64,
    time: u64,
    device: u32,
}

/// Follows the connections, and looks for copies and for packets without a time.
pub(crate) struct Watched {
    pub tracker: Tracker,
    pub twice: Twice,
    pub untimed: HashSet<usize>,
    slots: Box<[Slot; SLOTS]>,
}

impl Watched {
    pub fn new(tracker: Tracker) -> Watched {
        let slots = Box::new([Slot::default(); SLOTS]);
        Watched { tracker, twice: Twice::default(), untimed: HashSet::new(), slots }
    }

    /// The analysis, when the reading has ended.
    pub fn analysis(self, totals: Totals, interfaces: Vec<Interface>, damage: Option<TraceError>) -> Analysis {
        let Watched { tracker, twice, untimed, .. } = self;
        Analysis { tracker, totals, interfaces, damage, twice, untimed }
    }

    /// Processes a segment.
    #[inline]
    pub fn take(&mut self, segment: &Segment<'_>) {
        let (index, _) = self.tracker.take(segment);
        if !segment.timed {
            self.untimed.insert(index);
            return;
        }
        if self.twice.packets < ENOUGH || self.twice.found() {
            self.compare(segment);
        }
    }

    fn compare(&mut self, segment: &Segment<'_>) {
        self.twice.packets += 1;
        let hash = fingerprint(segment);
        let slot = &mut self.slots[(hash >> 32) as usize % SLOTS];
        if slot.hash == hash && is_copy(slot, segment) {
            self.twice.add(slot.device, segment.device);
        } else {
            *slot = Slot { hash, time: segment.time, device: segment.device };
        }
    }
}

/// Hashes fields that routers do not change. Sequence numbers distinguish most connections.
#[inline]
fn fingerprint(segment: &Segment<'_>) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let numbers = (u64::from(segment.seq.0) << 32) | u64::from(segment.ack.0);
    let rest = (u64::from(segment.id) << 48) | (u64::from(segment.window) << 32) | u64::from(segment.len);
    let flags = u64::from(segment.flags.bits()) << 20 | u64::from(segment.key.mixed()) << 16;
    (numbers.wrapping_mul(ODD).rotate_left(29) ^ rest ^ flags).wrapping_mul(ODD)
}

/// Returns whether a segment with the fields of an earlier one is the same packet, not a retransmission or a duplicate
/// ACK.
#[cold]
fn is_copy(earlier: &Slot, segment: &Segment<'_>) -> bool {
    let limit = match (earlier.device == segment.device, segment.id > 0, segment.seq_len() > 0) {
        (false, _, _) => FORWARDED,
        (true, true, _) => MIRRORED,
        (true, false, true) => MIRRORED_WITHOUT_ID,
        (true, false, false) => return false,
    };
    segment.time.checked_sub(earlier.time).is_some_and(|after| after <= limit)
}
