//! FACK (Mathis and Mahdavi 1996): data below the forward-most SACKed byte that is not SACKed has left the network. The
//! sender thus computes the data in flight and keeps it within the window.

use super::{Progress, Scheme, sack};
use crate::cc::CongestionControl;
use crate::config::Config;
use crate::facts::Facts;
use crate::flight::{Chunk, Cx, DUP_THRESH, Flight};

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "fack",
    label: "FACK",
    summary: "Data in flight counted from the forward-most byte the receiver reports.",
    reference: "M. Mathis and J. Mahdavi, 'Forward acknowledgement: refining TCP congestion control', SIGCOMM 1996",
    without_sack: Some("newreno"),
    ..Facts::PLAIN
};

#[derive(Clone, Debug, Default)]
pub(crate) struct Fack;

impl Scheme for Fack {
    fn counts_sacks(&self) -> bool {
        true
    }

    fn on_dupack(&mut self, tx: &mut Flight, cx: &mut Cx) {
        // §2.3: snd.fack is more than three segments ahead, or three duplicate ACKs.
        let ahead = forward_most(tx) - tx.una > u64::from(DUP_THRESH) * u64::from(tx.mss);
        if !tx.recovery.active
            && (ahead || tx.recovery.dupacks == DUP_THRESH)
            && tx.may_fast_retransmit(true, cx.config)
        {
            tx.enter_recovery(cx);
        }
    }

    fn on_new_ack(&mut self, tx: &mut Flight, _: u64, _: &mut Cx) -> Progress {
        // §2.4: recovery ends when all that was outstanding at its start is acknowledged.
        if tx.una >= tx.recovery.recover {
            tx.leave_recovery();
        }
        Progress { grow: false, rearm: true }
    }

    fn begin_burst(&mut self, tx: &mut Flight, _: &Config) {
        // §2.2: awnd = snd.nxt - snd.fack + retran_data.
        let r = &tx.recovery;
        let resent = r.high_rxt.clamp(tx.una, tx.max);
        let retran_data = (resent - tx.una).saturating_sub(tx.sacked.bytes_below(resent));
        tx.recovery.pipe = tx.max - forward_most(tx) + retran_data;
    }

    fn next(&mut self, tx: &mut Flight, _: &Config) -> Option<Chunk> {
        // §2.2: sending is allowed while awnd < cwnd; here in whole segments.
        if tx.recovery.pipe + u64::from(tx.mss) > tx.law.cwnd() {
            return None;
        }
        let chunk = sack::hole(tx, u64::MAX).or_else(|| tx.new_data())?;
        tx.recovery.pipe += u64::from(chunk.len);
        Some(chunk)
    }
}

/// snd.fack: one past the highest byte that the receiver is known to hold.
fn forward_most(tx: &Flight) -> u64 {
    tx.sacked.highest().map_or(tx.una, |top| top.clamp(tx.una, tx.max))
}
