//! NewReno as Linux 7 does it where the peer permits no SACK: each duplicate ACK stands for a segment that has arrived,
//! the first segment outstanding is lost after three of them and with each partial ACK, and the window goes down in
//! proportion (net/ipv4/tcp_input.c; tcp_newreno_mark_lost in net/ipv4/tcp_recovery.c).
//!
//! The sender goes through the states of [`CongestionState`] in the order of [`FastRetransAlert`]. Windows and flights are counted in segments.

use ecnlab_base::{Dur, Time};

use super::{CaState, CongestionState, FastRetransAlert, Reordering};
use crate::config::{Config, Invalid};
use crate::recovery::Scheme;
use crate::sender::{AckSeen, Burst, Chunk, CwndValidation, Cx, Delivery, Flight, How, Scoreboard};

/// The state of the law.
#[derive(Clone, Debug)]
struct Book {
    /// What is outstanding; how many of it are sacked is counted from duplicate ACKs.
    scoreboard: Scoreboard,
    congestion: CongestionState,
    validation: CwndValidation,
    /// As many duplicate ACKs as this degree mean a loss.
    path: Reordering,
    burst: Burst,
    /// After a timeout the first segment outstanding goes, whatever the window.
    head_due: bool,
}

/// The law. Boxed, for it is far larger than other schemes.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinuxNewReno(Box<Book>);

impl Default for Book {
    fn default() -> Book {
        Book {
            scoreboard: Scoreboard::default(),
            congestion: CongestionState::sackless(),
            validation: CwndValidation::default(),
            path: Reordering::default(),
            burst: Burst::default(),
            head_due: false,
        }
    }
}

impl Scheme for LinuxNewReno {
    const TAKES_ACKS: bool = true;

    fn check(config: &Config) -> Result<(), Invalid> {
        CongestionState::check(config)
    }

    fn take_ack(&mut self, tx: &mut Flight, seen: AckSeen, cx: &mut Cx) {
        self.0.on_ack(tx, seen, cx);
    }

    fn on_established(&mut self, tx: &mut Flight, _: Option<Dur>) {
        tx.recovery.active = true;
    }

    #[inline(never)]
    fn next(&mut self, tx: &mut Flight, _: &Config) -> Option<Chunk> {
        self.0.next(tx)
    }

    #[cold]
    #[inline(never)]
    fn on_sent(&mut self, tx: &mut Flight, chunk: Chunk, cx: &Cx) -> bool {
        let stamp = tx.clock(cx.config, cx.now);
        if chunk.how != How::Probe && self.0.sent(chunk, tx.una, cx.now, stamp) {
            tx.arm(cx.config, cx.now);
        }
        true
    }

    #[inline(never)]
    fn end_burst(&mut self, tx: &mut Flight, _: &Config, _: Time) {
        let burst = std::mem::take(&mut self.0.burst);
        self.0.validation.end_burst(burst, &self.0.scoreboard, tx);
    }

    fn on_timeout(&mut self, tx: &mut Flight, cx: &mut Cx) {
        self.0.on_timeout(tx, cx);
    }

    fn reduce_for_ecn(&mut self, tx: &mut Flight, _: u64, cx: &mut Cx) {
        self.0.congestion.begin(tx.in_flight());
        self.0.congestion.enter_cwr(tx, cx);
    }

    fn in_recovery(&self, _: &Flight) -> bool {
        self.0.congestion.in_recovery()
    }
}

impl Book {
    fn on_ack(&mut self, tx: &mut Flight, seen: AckSeen, cx: &mut Cx) {
        let before = tx.una;
        self.congestion.begin(tx.in_flight());
        let mut delivery = Delivery::new(&seen, before, before, tx.recovery.recover);
        let idle = self.scoreboard.is_empty();
        self.take_in(tx, seen.ack, &mut delivery);
        if let Some(rtt) = delivery.rtt(tx, cx) {
            tx.take_rtt(rtt, cx);
            tx.rto.end_backoff();
        }
        if idle {
            return;
        }
        self.congestion.prefer = Default::default();
        if delivery.duplicate || delivery.echo || self.congestion.ca_state != CaState::Open {
            cx.counters.dupacks_received += u64::from(delivery.duplicate);
            self.fastretrans_alert(tx, before, &mut delivery, cx);
        }
        if delivery.advanced {
            tx.rearm(cx);
        }
        let opens = delivery.advanced && self.validation.allows_growth(tx, cx.config);
        self.congestion.control_window(tx, &self.scoreboard, &delivery, opens);
    }

    /// Takes in the acknowledgement number. One segment of what it covers filled a hole; the duplicate ACKs before
    /// counted the others.
    fn take_in(&mut self, tx: &mut Flight, ack: u64, delivery: &mut Delivery) {
        let outstanding = self.scoreboard.len();
        self.scoreboard.acknowledge(ack, |s| delivery.acknowledge(s));
        let (delivered, excess) = self.scoreboard.settle_sacked(outstanding - self.scoreboard.len());
        delivery.delivered = delivered;
        if excess {
            self.path.note_excess(outstanding);
        }
        if delivery.advanced {
            tx.acknowledge(ack);
        }
    }

    // ---- what to send ----

    fn next(&mut self, tx: &Flight) -> Option<Chunk> {
        if std::mem::take(&mut self.head_due) {
            return self.scoreboard.head().map(|s| s.again(tx.una, How::InOrder));
        }
        self.congestion.next(&mut self.scoreboard, tx)
    }

    /// A chunk has been sent. Returns whether it sets the retransmission timer: the first segment again does
    /// (tcp_xmit_retransmit_queue).
    fn sent(&mut self, chunk: Chunk, una: u64, now: Time, stamp: u32) -> bool {
        let before = self.scoreboard.len();
        self.scoreboard.sent(chunk.start, chunk.len, chunk.fin, false, now);
        if self.congestion.is_reducing() {
            self.congestion.prr.sent(1);
        }
        if self.scoreboard.len() > before {
            self.burst.sent(before);
            return false;
        }
        self.congestion.retransmitted(stamp);
        chunk.start <= una
    }

    /// Without SACK nothing tells what has arrived: all is lost (tcp_timeout_mark_lost).
    fn on_timeout(&mut self, tx: &mut Flight, cx: &mut Cx) {
        self.scoreboard.forget_sacked();
        self.scoreboard.lose_after_timeout(|_| true);
        self.head_due = true;
        self.congestion.time_out(tx, &self.scoreboard, cx);
    }
}

impl FastRetransAlert for Book {
    fn parts(&mut self) -> (&mut CongestionState, &mut Scoreboard) {
        (&mut self.congestion, &mut self.scoreboard)
    }

    /// tcp_newreno_mark_lost.
    fn identify(&mut self, _: &mut Flight, delivery: &mut Delivery, _: &Cx) {
        let lost = match self.congestion.ca_state {
            CaState::Recovery => delivery.advanced,
            CaState::Loss => false,
            _ => self.scoreboard.sacked() >= self.path.degree(),
        };
        if lost && self.scoreboard.lose_head() {
            delivery.lost += 1;
        }
    }

    fn filled_late(&mut self, tx: &Flight, before: u64) {
        self.path.note_late(before, tx.una, tx.mss);
    }

    /// tcp_add_reno_sack and tcp_reset_reno_sack.
    fn recount(&mut self, _: &Flight, delivery: &mut Delivery) {
        if delivery.advanced {
            self.scoreboard.forget_sacked();
        }
        if delivery.duplicate {
            let sacked = self.scoreboard.sacked();
            if self.scoreboard.presume_sacked() {
                self.path.note_excess(self.scoreboard.len());
            }
            delivery.delivered += u32::from(self.scoreboard.sacked() > sacked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;
    use crate::recovery::InUse;
    use crate::recovery::linux::host::Host;
    use crate::registry::RecoveryKind;
    use crate::sender::Sender;

    /// A host without timestamps and SACK that sends so many segments at once. Its window is ten.
    fn sending(segments: u64) -> Host {
        let mut config = profile("linux-7").unwrap().config.clone();
        (config.sack, config.recovery) = (false, RecoveryKind::LinuxNewReno);
        Host::sending(segments, config)
    }

    impl Host {
        /// An ACK of all up to the n-th segment. Returns what is sent then.
        fn acknowledge(&mut self, n: u64) -> Vec<u64> {
            self.ack(100, 1 + n * 1_000, false);
            self.burst(100)
        }

        fn book(&self) -> &Book {
            match &self.tx.scheme {
                InUse::LinuxNewReno(newreno) => &newreno.0,
                _ => panic!("another scheme"),
            }
        }

        fn state(&self) -> (CaState, u32) {
            (self.book().congestion.ca_state, self.book().scoreboard.sacked())
        }
    }

    #[test]
    fn an_ack_of_new_data_begins_the_count_anew_outside_recovery_only() {
        let mut host = sending(10);
        assert!(host.acknowledge(0).is_empty() && host.acknowledge(0).is_empty());
        assert_eq!(host.state(), (CaState::Disorder, 2));
        // The hole was filled late. One of the two sacked stays above it for all one knows, and counts no more.
        assert!(host.acknowledge(2).is_empty());
        assert_eq!(host.state(), (CaState::Open, 0));
        assert_eq!([host.acknowledge(2), host.acknowledge(2), host.acknowledge(2)].concat(), [2_001]);
        assert_eq!(host.state(), (CaState::Recovery, 3));
        // In recovery two of the three are among those acknowledged.
        assert_eq!(host.acknowledge(5), [5_001]);
        assert_eq!(host.state(), (CaState::Recovery, 1));
    }

    #[test]
    fn duplicates_beyond_what_can_be_held_change_what_means_a_loss() {
        let mut host = sending(2);
        (0..2).for_each(|_| drop(host.acknowledge(0)));
        assert_eq!((host.state(), host.book().path.degree()), ((CaState::Disorder, 1), 2));
        // Four can be sacked of five; two more cannot be left of four once three of the five are acknowledged.
        let mut host = sending(5);
        (0..4).for_each(|_| drop(host.acknowledge(0)));
        host.acknowledge(3);
        assert_eq!((host.state(), host.book().path.degree()), ((CaState::Recovery, 1), 5));
    }

    #[test]
    fn after_a_timeout_only_duplicates_of_new_data_leave_the_flight() {
        let mut host = sending(10);
        host.with(100, Sender::on_timeout);
        assert_eq!(host.burst(100), [1]);
        assert!(host.acknowledge(0).is_empty(), "of what was sent before");
        assert_eq!(host.state(), (CaState::Loss, 0));
        host.tx.flight.write(5_000);
        assert_eq!(host.acknowledge(1), [10_001, 11_001]);
        assert_eq!(host.acknowledge(1), [1_001]);
        assert_eq!((host.state(), host.book().scoreboard.in_flight()), ((CaState::Loss, 1), 2));
    }

    #[test]
    fn what_it_cannot_be_combined_with_names_its_key() {
        let mut config = profile("linux-7").unwrap().config.clone();
        config.recovery = RecoveryKind::LinuxNewReno;
        assert!(config.check().is_ok(), "SACK may be permitted; it is not heeded");
        config.ecn_response = crate::config::EcnResponse::Ns2;
        let refused = config.check().unwrap_err();
        assert_eq!(refused.key, "ecn_response");
        assert!(refused.to_string().contains("linux-newreno"));
    }
}
