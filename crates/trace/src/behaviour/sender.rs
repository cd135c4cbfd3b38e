//! Bursts, window reductions and round-trip times, measured where the data leaves its sender.

use super::{Ack, Data, Sizes};
use crate::outstanding::Cause;
use crate::stats::{Distribution, Summary};

/// Window reductions of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reductions {
    /// Number of reductions.
    pub count: u64,
    /// Bytes outstanding at each reduction.
    pub before: Summary,
    /// Bytes outstanding one RTT after the reduction, for reductions whose data was acknowledged before the next one.
    pub after: Summary,
    /// Sum of the ratios after/before; `after` counts the terms.
    pub ratios: f64,
}

/// A reduction in progress.
#[derive(Clone, Copy, Debug)]
struct Answer {
    /// Index in [`Sender::reductions`].
    kind: usize,
    before: u64,
    /// The response ends when this offset is acknowledged.
    point: u64,
    acknowledged: bool,
    counted: bool,
}

/// Counts of the data segments that a sender sends.
#[derive(Clone, Debug, Default)]
pub struct Sender {
    /// Data segments, including retransmissions.
    pub data: u64,
    /// Data segments with PSH.
    pub pushed: u64,
    /// Data segments from one PSH to the next.
    pub push_distance: Summary,
    /// Data segments sent between two consecutive arriving ACKs.
    pub bursts: Sizes,
    /// Retransmitted data segments.
    pub retransmits: u64,
    /// Round-trip times in nanoseconds, each from a segment sent once to the ACK whose number is the segment's end.
    pub rtt: Distribution,
    /// Responses to ECE, and responses to losses.
    pub reductions: [Reductions; 2],
    /// Number of RTTs between consecutive reductions of either kind.
    pub between: Summary,
    burst: u64,
    since_push: u64,
    una: u64,
    next: u64,
    /// Bytes outstanding at the first ECE that the sender has not yet responded to.
    echo: Option<u64>,
    answer: Option<Answer>,
    rounds: u64,
    round_end: u64,
    last_round: Option<u64>,
}

const ECN: usize = 0;
const LOSS: usize = 1;

impl Sender {
    pub(super) fn data(&mut self, data: &Data) {
        if self.next == 0 {
            self.una = data.start;
        }
        self.next = self.next.max(data.end);
        self.since_push += 1;
        let distance = if data.push { std::mem::take(&mut self.since_push) } else { 0 };
        if data.counted {
            self.burst += 1;
            self.data += 1;
            self.retransmits += u64::from(data.again.is_some());
            if data.push {
                self.pushed += 1;
                self.push_distance.add(distance);
            }
        }
        match data.again {
            None if data.cwr && self.answer.is_none() => {
                if let Some(before) = self.echo.take() {
                    self.reduce(ECN, before, data);
                }
            }
            // A timeout is a reduction even during a recovery.
            Some(_) if data.timer => self.reduce(LOSS, data.flight, data),
            Some(Cause::Fast) if self.answer.is_none_or(|answer| answer.kind == ECN) => {
                self.reduce(LOSS, data.flight, data);
            }
            _ => {}
        }
    }

    fn reduce(&mut self, kind: usize, before: u64, data: &Data) {
        let answer = Answer { kind, before, point: self.next, acknowledged: false, counted: data.counted };
        self.answer = Some(answer);
        let last = self.last_round.replace(self.rounds);
        if data.counted {
            self.reductions[kind].count += 1;
            self.reductions[kind].before.add(before);
            if let Some(last) = last {
                self.between.add(self.rounds - last);
            }
        }
    }

    pub(super) fn ack(&mut self, ack: &Ack) {
        let flight = self.next.saturating_sub(self.una.min(self.next));
        if self.burst > 0 {
            self.bursts.add(std::mem::take(&mut self.burst));
        }
        if let Some(rtt) = ack.rtt.filter(|_| ack.counted) {
            self.rtt.add(rtt);
        }
        match &mut self.answer {
            Some(answer) if answer.acknowledged => {
                if answer.counted && answer.before > 0 {
                    let reductions = &mut self.reductions[answer.kind];
                    reductions.after.add(flight);
                    reductions.ratios += flight as f64 / answer.before as f64;
                }
                self.answer = None;
            }
            Some(answer) => answer.acknowledged = ack.una >= answer.point,
            None => {}
        }
        // Until the receiver sees CWR every ACK has ECE: these form one congestion signal.
        self.echo = if ack.ece { self.echo.or(Some(flight)) } else { None };
        (self.una, self.next) = (ack.una, ack.next);
        if ack.una >= self.round_end {
            self.rounds += 1;
            self.round_end = ack.next;
        }
    }
}
