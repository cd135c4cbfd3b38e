//! ACK behaviour, measured where the data arrives.

use std::collections::VecDeque;

use super::{Ack, Data};
use crate::stats::Distribution;

/// Names of the causes of an ACK for a single segment, in the order of [`Receiver::single`].
pub const CAUSES: [&str; 7] = [
    "single_reordered",
    "single_delayed",
    "single_ce",
    "single_cwr",
    "single_ece_change",
    "single_pushed",
    "single_other",
];

/// An ACK this long after the arrival of the segment it acknowledges was sent by the delayed-ACK timer, in nanoseconds.
const DELAYED: u64 = 1_000_000;

/// A segment that has arrived and is not yet acknowledged.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    start: u64,
    end: u64,
    time: u64,
    push: bool,
    ce: bool,
    cwr: bool,
    reordered: bool,
}

/// Counts of the ACKs that a receiver sends.
#[derive(Clone, Debug, Default)]
pub struct Receiver {
    /// ACKs by number of newly covered segments: none (duplicates, window updates), 1, 2, more.
    pub covered: [u64; 4],
    /// ACKs for a single segment by cause, in the order of [`CAUSES`]; the first cause that applies counts.
    pub single: [u64; CAUSES.len()],
    /// Time from the arrival of the newest segment covered to the ACK, in nanoseconds.
    pub delay: Distribution,
    /// Time from the arrival of the oldest segment covered to the ACK, in nanoseconds.
    pub wait: Distribution,
    /// Time from the latest arrival to an ACK that covers no segment, in nanoseconds.
    pub duplicate_delay: Distribution,
    /// Data segments that had arrived before.
    pub duplicates: u64,
    waiting: VecDeque<Arrived>,
    acked: Option<u64>,
    latest: u64,
    ece: bool,
}

impl Receiver {
    pub(super) fn data(&mut self, data: &Data) {
        self.latest = data.time;
        if data.fresh == 0 {
            self.duplicates += u64::from(data.counted);
            return;
        }
        let Data { start, end, time, push, ce, cwr, reordered, .. } = *data;
        let place = self.waiting.partition_point(|arrived| arrived.start < start);
        self.waiting.insert(place, Arrived { start, end, time, push, ce, cwr, reordered });
    }

    pub(super) fn ack(&mut self, ack: &Ack) {
        let count = self.waiting.iter().take_while(|arrived| arrived.end <= ack.offset).count();
        let repeats = self.acked == Some(ack.offset) && ack.pure;
        let covered: Vec<Arrived> = self.waiting.drain(..count).collect();
        let turned = std::mem::replace(&mut self.ece, ack.ece) != ack.ece;
        self.acked = self.acked.max(Some(ack.offset));
        if !ack.counted || (count == 0 && !repeats) {
            return;
        }
        self.covered[count.min(3)] += 1;
        let times = || covered.iter().map(|arrived| arrived.time);
        if let Some((oldest, newest)) = times().min().zip(times().max()) {
            self.delay.add(ack.time.saturating_sub(newest));
            self.wait.add(ack.time.saturating_sub(oldest));
        } else {
            self.duplicate_delay.add(ack.time.saturating_sub(self.latest));
        }
        if let [segment] = covered[..] {
            self.single[cause(&segment, ack, turned)] += 1;
        }
    }
}

/// Returns the index in [`CAUSES`] of the reason why the receiver acknowledged `segment` alone.
fn cause(segment: &Arrived, ack: &Ack, turned: bool) -> usize {
    let seen = [
        segment.reordered || ack.sack,
        ack.time.saturating_sub(segment.time) >= DELAYED,
        segment.ce,
        segment.cwr,
        turned,
        segment.push,
    ];
    seen.iter().position(|&applies| applies).unwrap_or(CAUSES.len() - 1)
}
