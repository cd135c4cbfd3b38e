//! Common part of Linux's schemes: ACK processing in the order of the kernel's `tcp_ack` (net/ipv4/tcp_input.c), and
//! the handling of sent segments. A [`LossDetection`] decides which segments are lost. Windows and flights are counted
//! in segments.

use std::ops::Range;

use ecnlab_base::{Dur, Time};

use super::{Burst, CaState, CongestionState, Delivery, Duplicates, FastRetransAlert, Reordering, ca_state};
use crate::config::Config;
use crate::flight::{AckSeen, Chunk, Cx, Flight, How};
use crate::invalid::Invalid;
use crate::law::Law;
use crate::recovery::Scheme;

/// The parts in which Linux's schemes differ.
pub(crate) trait LossDetection: FastRetransAlert + Default {
    /// Whether the scheme uses the receiver's SACKs.
    const HEEDS_SACK: bool;
    /// Whether the retransmission timer is started for each segment, instead of once per burst.
    const ARMS_EACH: bool = true;

    /// Reordering of the path.
    fn path(&mut self) -> &mut Reordering;
    /// Processes the SACK reports, then the cumulative acknowledgement.
    fn take_in(&mut self, tx: &mut Flight, ack: u64, delivery: &mut Delivery, cx: &Cx);
    /// Processes an RTT sample.
    fn note_rtt(&mut self, _rtt: Dur, _delivery: &mut Delivery, _cx: &Cx) {}
    /// Called before loss detection.
    fn note_arrival(&mut self, _tx: &mut Flight, _delivery: &Delivery, _cx: &mut Cx) {}
    /// Sets the timer after an ACK.
    fn restart_timer(&mut self, tx: &mut Flight, delivery: &Delivery, cx: &Cx) {
        if delivery.advanced {
            tx.rearm(cx);
        }
    }
    /// Returns the next chunk to send.
    fn next(&mut self, tx: &mut Flight) -> Option<Chunk>;
    /// Called when the first outstanding segment is retransmitted. Returns whether that restarts the timer
    /// (tcp_xmit_retransmit_queue).
    fn head_sent_again(&mut self) -> bool {
        true
    }
    /// Called after a `burst` with new segments.
    fn after_burst(&mut self, _tx: &mut Flight, _burst: Burst, _config: &Config, _now: Time) {}
    /// Called when the timer fires. Returns whether it was a timer of the scheme, and not a retransmission timeout.
    fn on_timer(&mut self, _tx: &mut Flight, _cx: &mut Cx) -> bool {
        false
    }
    /// Called on a retransmission timeout with data outstanding (tcp_retransmit_timer).
    fn on_timeout(&mut self, tx: &mut Flight, cx: &mut Cx);
}

/// A scheme of Linux. Boxed because it is much larger than the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Linux<D>(pub(super) Box<WithAck<D>>);

/// A loss detection with the ACK being processed.
#[derive(Clone, Debug, Default)]
pub(crate) struct WithAck<D> {
    pub detection: D,
    delivery: Delivery,
    /// The D-SACK of the ACK that is processed next.
    duplicates: Duplicates,
}

impl<D: LossDetection> Scheme for Linux<D> {
    /// Linux's schemes have their own duplicate ACKs, probes and window limits, and none of ns-2's.
    fn check(&self, config: &Config) -> Vec<Invalid> {
        CongestionState::check(config)
    }

    #[inline(always)]
    fn deliver(&mut self, tx: &mut Flight, seen: &AckSeen, cx: &Cx) {
        let WithAck { detection, delivery, duplicates } = &mut *self.0;
        detection.congestion().begin(tx.in_flight());
        *delivery = Delivery::new(seen, tx.una, tx.scoreboard.highest(), tx.recovery.recover);
        delivery.note_duplicates(std::mem::take(duplicates));
        delivery.idle = tx.scoreboard.is_empty();
        detection.take_in(tx, seen.ack, delivery, cx);
    }

    #[inline(always)]
    fn rtt(&mut self, tx: &mut Flight, _: &AckSeen, _: u64, cx: &Cx) -> Option<Dur> {
        let WithAck { detection, delivery, .. } = &mut *self.0;
        let rtt = delivery.rtt(tx, cx)?;
        detection.note_rtt(rtt, delivery, cx);
        Some(rtt)
    }

    #[inline]
    fn last_rtt(&self, rtt: Option<Dur>, cx: &Cx) -> Option<Dur> {
        self.0.delivery.last_timed().map(|last| cx.now.since(last)).or(rtt)
    }

    fn decide(&mut self, tx: &mut Flight, _: &AckSeen, una: u64, cx: &mut Cx) -> u64 {
        let WithAck { detection, delivery, .. } = &mut *self.0;
        detection.note_arrival(tx, delivery, cx);
        let duplicates = delivery.duplicates.segments > 0;
        if delivery.idle {
            if duplicates {
                detection.fastretrans_alert(tx, una, delivery, cx);
            }
            tx.restart_probe_timer(cx);
            return 0;
        }
        let sacked = D::HEEDS_SACK && delivery.sacked;
        detection.congestion().prefer = Default::default();
        let all_well = detection.congestion().ca_state == CaState::Open;
        if delivery.duplicate || sacked || duplicates || delivery.echo || !all_well {
            let duplicate = if D::HEEDS_SACK { sacked && !delivery.advanced } else { delivery.duplicate };
            cx.counters.dupacks_received += u64::from(duplicate);
            detection.fastretrans_alert(tx, una, delivery, cx);
        }
        detection.restart_timer(tx, delivery, cx);
        let moves = delivery.advanced || (sacked && detection.path().is_high());
        detection.congestion().control_window(tx, delivery, moves, cx.config)
    }

    fn open(&self, law: &mut Law, acked: u64) {
        ca_state::grow(law, acked);
    }

    fn on_established(&mut self, tx: &mut Flight, rtt: Option<Dur>) {
        if let Some(rtt) = rtt {
            self.0.detection.path().note_rtt(rtt);
        }
        tx.recovery.active = true;
    }

    fn on_sacked(&mut self, tx: &mut Flight, block: Range<u64>, new: u64, now: Time) {
        if D::HEEDS_SACK {
            tx.scoreboard.report(block.start, block.end, new);
        } else {
            tx.scoreboard.segments.report(block, now);
        }
    }

    fn on_dsack(&mut self, tx: &mut Flight, block: Range<u64>, ack: u64) {
        if D::HEEDS_SACK {
            self.0.duplicates = self.0.detection.congestion().on_dsack(tx, block, ack);
        }
    }

    #[inline(never)]
    fn next(&mut self, tx: &mut Flight, _: &Config) -> Option<Chunk> {
        self.0.detection.next(tx)
    }

    #[cold]
    #[inline(never)]
    fn on_sent(&mut self, tx: &mut Flight, chunk: Chunk, cx: &Cx) -> bool {
        let sent = chunk.how != How::Probe && self.0.detection.congestion().sent(tx, chunk, cx);
        if sent && self.0.detection.head_sent_again() {
            tx.arm(cx.config, cx.now);
        }
        true
    }

    fn arm(&mut self, tx: &mut Flight, cx: &Cx) {
        if D::ARMS_EACH {
            tx.arm(cx.config, cx.now);
        }
    }

    #[inline]
    fn end_burst(&mut self, tx: &mut Flight, config: &Config, now: Time) {
        let burst = self.0.detection.congestion().end_burst(tx);
        if burst.new > 0 {
            self.0.detection.after_burst(tx, burst, config, now);
        }
    }

    fn on_timer(&mut self, tx: &mut Flight, cx: &mut Cx) -> bool {
        self.0.detection.on_timer(tx, cx)
    }

    fn probes_without_data(&self) -> bool {
        true
    }

    fn on_timeout(&mut self, tx: &mut Flight, cx: &mut Cx) {
        self.0.detection.on_timeout(tx, cx);
    }

    fn reduce_for_ecn(&mut self, tx: &mut Flight, _: u64, cx: &mut Cx) {
        self.0.detection.congestion().begin(tx.in_flight());
        self.0.detection.congestion().enter_cwr(tx, cx);
        self.0.detection.after_calm(tx);
    }

    #[inline]
    fn in_recovery(&self, _: &Flight) -> bool {
        self.0.detection.ca_state() >= CaState::Recovery
    }

    /// Nothing in Open and Disorder, as for ECN-Echo: entering either sets the recovery point without a reduction.
    fn reduced_until(&self, tx: &Flight) -> u64 {
        if self.0.detection.ca_state() >= CaState::Cwr { tx.recovery.recover } else { 0 }
    }

    fn lost(&self, tx: &Flight) -> u64 {
        tx.scoreboard.lost_bytes()
    }

    fn in_flight(&self, tx: &Flight) -> u64 {
        u64::from(tx.scoreboard.in_flight()) * u64::from(tx.mss)
    }

    /// The scoreboard has not yet processed the ACK.
    fn in_flight_before(&self, tx: &Flight, _: &AckSeen) -> u64 {
        self.in_flight(tx)
    }
}
