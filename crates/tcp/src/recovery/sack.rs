//! SACK-based recovery: RFC 6675's, and the counter of Fall and Floyd (1996) that ns-2's Sack1 uses.

use super::{Progress, Scheme};
use crate::cc::CongestionControl;
use crate::config::{Config, SackRule};
use crate::facts::Facts;
use crate::flight::{Chunk, Cx, DUP_THRESH, Flight, How};

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "sack",
    label: "SACK",
    summary: "Holes chosen from the SACK scoreboard, paced by an estimate of the data in flight.",
    reference: "RFC 6675; K. Fall and S. Floyd, 'Simulation-based comparisons of Tahoe, Reno, and SACK TCP', CCR 26(3), 1996",
    without_sack: Some("newreno"),
    ..Facts::PLAIN
};

#[derive(Clone, Debug, Default)]
pub(crate) struct Sack;

impl Scheme for Sack {
    fn counts_sacks(&self) -> bool {
        true
    }

    fn on_dupack(&mut self, tx: &mut Flight, cx: &mut Cx) {
        let counter = cx.config.sack_rule == SackRule::Counter;
        if tx.recovery.active {
            if counter {
                tx.recovery.pipe = tx.recovery.pipe.saturating_sub(tx.mss.into());
            }
            return;
        }
        // §5 steps 1 and 2: DupThresh duplicate ACKs, or enough SACKed above the first hole.
        let lost = tx.recovery.dupacks == DUP_THRESH || (!counter && lost_below(tx) > tx.una);
        if lost && tx.may_fast_retransmit(true, cx.config) {
            // §5 steps (4.1) to (4.3).
            tx.enter_recovery(cx);
            let gone = u64::from(DUP_THRESH) * u64::from(tx.mss);
            tx.recovery.pipe = tx.in_flight().saturating_sub(gone);
        }
    }

    fn on_new_ack(&mut self, tx: &mut Flight, _: u64, cx: &mut Cx) -> Progress {
        if tx.una >= tx.recovery.recover {
            // §5 step A.
            tx.leave_recovery();
        } else if cx.config.sack_rule == SackRule::Counter {
            // A partial ACK means that two segments left the network: the retransmission and the lost one.
            tx.recovery.pipe = tx.recovery.pipe.saturating_sub(2 * u64::from(tx.mss));
        }
        Progress { grow: false, rearm: true }
    }

    fn outside(&mut self, tx: &mut Flight, config: &Config) {
        if config.sack_rule == SackRule::Counter {
            // Fall and Floyd's scoreboard starts with the first duplicate ACK and ends with recovery.
            tx.sacked.clear();
        }
    }

    fn begin_burst(&mut self, tx: &mut Flight, config: &Config) {
        match config.sack_rule {
            // §5 step B: SetPipe on each ACK.
            SackRule::Rfc6675 => tx.recovery.pipe = pipe(tx),
            // The ACK that starts recovery triggers only the retransmission of the lost segment (ns-2's tcp-sack1.cc,
            // recv).
            SackRule::Counter if tx.recovery.head_due => tx.recovery.burst_left = 0,
            SackRule::Counter => {}
        }
    }

    fn next(&mut self, tx: &mut Flight, config: &Config) -> Option<Chunk> {
        // §5 step C: while cwnd - pipe >= 1 SMSS.
        if tx.law.cwnd().saturating_sub(tx.recovery.pipe) < u64::from(tx.mss) {
            return None;
        }
        let chunk = match config.sack_rule {
            SackRule::Rfc6675 => next_seg(tx),
            SackRule::Counter => hole(tx, u64::MAX).or_else(|| tx.new_data()),
        }?;
        // Step C.4. Fall and Floyd count segments, a short one as a full one.
        tx.recovery.pipe += match config.sack_rule {
            SackRule::Rfc6675 => u64::from(chunk.len),
            SackRule::Counter => u64::from(tx.mss),
        };
        Some(chunk)
    }
}

/// NextSeg() of RFC 6675 §4.
fn next_seg(tx: &mut Flight) -> Option<Chunk> {
    // Rules 1 to 3: a lost hole, else new data, else any hole.
    hole(tx, lost_below(tx)).or_else(|| tx.new_data()).or_else(|| hole(tx, u64::MAX)).or_else(|| rescue(tx))
}

/// Rule 4: once per recovery, the last outstanding segment, so that its loss need not wait for the timer.
fn rescue(tx: &mut Flight) -> Option<Chunk> {
    let top = tx.sacked.highest()?;
    let end = tx.max.min(tx.end);
    if tx.recovery.rescued || end <= top {
        return None;
    }
    tx.recovery.rescued = true;
    let start = top.max(end.saturating_sub(tx.mss.into()));
    // HighRxt does not change: the holes below are not retransmitted by this.
    Some(Chunk { start, len: (end - start) as u32, fin: tx.fin_ends(end), how: How::Rescue })
}

/// The lowest hole not yet retransmitted in this recovery, below a SACKed byte and below `limit`.
pub(super) fn hole(tx: &Flight, limit: u64) -> Option<Chunk> {
    let top = tx.sacked.highest()?;
    let start = tx.sacked.next_gap(tx.recovery.high_rxt.max(tx.una));
    if start >= top.min(limit) {
        return None;
    }
    let end = tx.sacked.next_start(start).unwrap_or(top).min(tx.end).min(start + u64::from(tx.mss));
    (end > start).then_some(Chunk { start, len: (end - start) as u32, fin: tx.fin_ends(end), how: How::Hole })
}

/// IsLost() of RFC 6675 §4 as a boundary: unSACKed bytes below it are lost, because DupThresh SACKed ranges, or more
/// than (DupThresh - 1)·SMSS SACKed bytes, lie above them.
fn lost_below(tx: &Flight) -> u64 {
    let enough = u64::from(DUP_THRESH - 1) * u64::from(tx.mss);
    let mut bytes = 0;
    for (i, range) in tx.sacked.as_slice().iter().rev().enumerate() {
        bytes += range.end - range.start;
        if i + 1 >= DUP_THRESH as usize || bytes > enough {
            return range.start;
        }
    }
    0
}

/// SetPipe() of RFC 6675 §4: bytes neither SACKed nor lost, plus retransmitted bytes.
fn pipe(tx: &Flight) -> u64 {
    let unsacked = |from: u64, to: u64| {
        let sacked = tx.sacked.bytes_below(to) - tx.sacked.bytes_below(from);
        to.saturating_sub(from).saturating_sub(sacked)
    };
    let lost = lost_below(tx).clamp(tx.una, tx.max);
    let resent = tx.recovery.high_rxt.clamp(tx.una, tx.max);
    unsacked(lost, tx.max) + unsacked(tx.una, resent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;
    use ecnlab_wire::Seq;

    /// Ten segments of 1000 bytes outstanding: offsets 1 to 10001; those named, from 1, are SACKed.
    fn ten_outstanding(sacked: &[u64]) -> Flight {
        let mut config = profile("modern").unwrap().config.clone();
        config.mss = ecnlab_base::Bytes(1_000);
        let mut tx = Flight::new(&config, Seq(0));
        (tx.una, tx.nxt, tx.max, tx.end) = (1, 10_001, 10_001, 10_001);
        tx.set_peer_window(1 << 20, &config);
        for n in sacked {
            tx.sacked.insert(1 + (n - 1) * 1_000, 1 + n * 1_000);
        }
        tx
    }

    #[test]
    fn lost_means_more_than_two_segments_sacked_above_or_three_ranges() {
        assert_eq!(lost_below(&ten_outstanding(&[3, 4])), 0, "2000 bytes are not more than 2000");
        assert_eq!(lost_below(&ten_outstanding(&[3, 4, 5])), 2_001);
        assert_eq!(lost_below(&ten_outstanding(&[2, 4, 6, 8])), 3_001, "three ranges above segment 3");
    }

    #[test]
    fn three_small_ranges_prove_a_loss() {
        let mut tx = ten_outstanding(&[]);
        let lost = [9_501, 7_501, 5_501].map(|start| {
            tx.sacked.insert(start, start + 500);
            lost_below(&tx)
        });
        assert_eq!(lost, [0, 0, 5_501], "1500 bytes");
    }

    #[test]
    fn pipe_leaves_out_the_lost_and_counts_the_resent() {
        // Segments 1, 2 are lost, 3 to 5 held, 6 to 10 in flight.
        let mut tx = ten_outstanding(&[3, 4, 5]);
        tx.recovery.high_rxt = tx.una;
        assert_eq!(pipe(&tx), 5_000);
        tx.recovery.high_rxt = 1_001;
        assert_eq!(pipe(&tx), 6_000);
        // With too little SACKed, nothing is lost: 8 of 10 segments in flight.
        let mut tx = ten_outstanding(&[3, 4]);
        tx.recovery.high_rxt = tx.una;
        assert_eq!(pipe(&tx), 8_000);
    }

    #[test]
    fn next_seg_takes_lost_holes_then_new_data_then_holes_then_the_rescue() {
        let mut tx = ten_outstanding(&[2, 5, 6, 7, 9]);
        tx.recovery.high_rxt = 1_001;
        tx.end = 11_001;
        let mut order = Vec::new();
        while let Some(chunk) = next_seg(&mut tx) {
            order.push((chunk.start, chunk.how));
            match chunk.how {
                How::Hole => tx.recovery.high_rxt = chunk.start + u64::from(chunk.len),
                How::InOrder => (tx.nxt, tx.max) = (11_001, 11_001),
                _ => {}
            }
        }
        // Above segments 3 and 4 more than two segments are SACKed; above 8 only one.
        let expected =
            [(2_001, How::Hole), (3_001, How::Hole), (10_001, How::InOrder), (7_001, How::Hole), (10_001, How::Rescue)];
        assert_eq!(order, expected);
    }
}
