//! NewReno of Linux 7, used if the peer does not permit SACK: each duplicate ACK counts as a segment that has arrived,
//! the first outstanding segment is marked lost after three of them and on each partial ACK, and PRR reduces the window
//! (net/ipv4/tcp_input.c; tcp_newreno_mark_lost in net/ipv4/tcp_recovery.c).
//!
//! The sender uses the states of [`CongestionState`]; the common part of Linux's schemes is in [`Linux`].

use super::{CaState, CongestionState, Delivery, FastRetransAlert, Linux, LossDetection, Reordering};
use crate::facts::Facts;
use crate::flight::{Chunk, Cx, Flight, How};

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "linux-newreno",
    label: "NewReno (Linux)",
    summary: "Linux's recovery without SACK: duplicate ACKs count as arrivals; the reduction of the window is proportional, and undone if timestamps show that it was spurious.",
    reference: "Linux, net/ipv4/tcp_input.c and tcp_recovery.c",
    leaves_window: true,
    ..Facts::PLAIN
};

/// Linux's NewReno.
pub(crate) type LinuxNewReno = Linux<NewRenoState>;

/// The state of the scheme. The number of SACKed segments is counted from duplicate ACKs.
#[derive(Clone, Debug)]
pub(crate) struct NewRenoState {
    congestion: CongestionState,
    /// Reordering of the path. Its degree is the number of duplicate ACKs that indicate a loss.
    path: Reordering,
    /// After a timeout the first outstanding segment is sent regardless of the window.
    head_due: bool,
}

impl Default for NewRenoState {
    fn default() -> NewRenoState {
        NewRenoState { congestion: CongestionState::sackless(), path: Reordering::default(), head_due: false }
    }
}

impl LossDetection for NewRenoState {
    const HEEDS_SACK: bool = false;

    fn path(&mut self) -> &mut Reordering {
        &mut self.path
    }

    /// One of the acknowledged segments filled a hole; duplicate ACKs have already counted the others.
    fn take_in(&mut self, tx: &mut Flight, ack: u64, delivery: &mut Delivery, cx: &Cx) {
        let outstanding = tx.scoreboard.len();
        tx.scoreboard.acknowledge(ack, cx.now, |s| delivery.acknowledge(s));
        let (delivered, excess) = tx.scoreboard.settle_sacked(outstanding - tx.scoreboard.len());
        delivery.delivered = delivered;
        if excess {
            self.path.note_excess(outstanding);
        }
        if delivery.advanced {
            tx.acknowledge(ack);
        }
    }

    fn next(&mut self, tx: &mut Flight) -> Option<Chunk> {
        if std::mem::take(&mut self.head_due) {
            return tx.scoreboard.head().map(|s| s.again(tx.una, How::InOrder));
        }
        self.congestion.next(tx)
    }

    /// Without SACK it is unknown which segments have arrived: all are marked lost (tcp_timeout_mark_lost).
    fn on_timeout(&mut self, tx: &mut Flight, cx: &mut Cx) {
        tx.scoreboard.forget_sacked();
        tx.scoreboard.lose_after_timeout(|_| true);
        self.head_due = true;
        self.congestion.time_out(tx, cx);
    }
}

impl FastRetransAlert for NewRenoState {
    fn congestion(&mut self) -> &mut CongestionState {
        &mut self.congestion
    }

    fn ca_state(&self) -> CaState {
        self.congestion.ca_state
    }

    /// tcp_newreno_mark_lost.
    fn identify(&mut self, tx: &mut Flight, delivery: &mut Delivery, _: &Cx) {
        let lost = match self.congestion.ca_state {
            CaState::Recovery => delivery.advanced,
            CaState::Loss => false,
            _ => tx.scoreboard.sacked() >= self.path.degree(),
        };
        if lost && tx.scoreboard.lose_head() {
            delivery.lost += 1;
        }
    }

    fn filled_late(&mut self, tx: &Flight, before: u64) {
        self.path.note_late(before, tx.una, tx.mss);
    }

    /// tcp_add_reno_sack and tcp_reset_reno_sack.
    fn recount(&mut self, tx: &mut Flight, delivery: &mut Delivery) {
        if delivery.advanced {
            tx.scoreboard.forget_sacked();
        }
        if delivery.duplicate {
            let sacked = tx.scoreboard.sacked();
            if tx.scoreboard.presume_sacked() {
                self.path.note_excess(tx.scoreboard.len());
            }
            delivery.delivered += u32::from(tx.scoreboard.sacked() > sacked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;
    use crate::recovery::linux::host::{Host, bare_ack};
    use crate::registry::RecoveryKind;
    use crate::sender::InUse;
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

        fn book(&self) -> &NewRenoState {
            match &self.tx.scheme {
                InUse::LinuxNewReno(newreno) => &newreno.0.detection,
                _ => panic!("another scheme"),
            }
        }

        fn state(&self) -> (CaState, u32) {
            (self.book().congestion.ca_state, self.tx.flight.scoreboard.sacked())
        }
    }

    #[test]
    fn an_ack_of_new_data_begins_the_count_anew_outside_recovery_only() {
        let mut host = sending(10);
        assert!(host.acknowledge(0).is_empty() && host.acknowledge(0).is_empty());
        assert_eq!(host.state(), (CaState::Disorder, 2));
        // The hole was filled late. One of the two sacked may stay above it, and counts no more.
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
        assert_eq!((host.state(), host.tx.flight.scoreboard.in_flight()), ((CaState::Loss, 1), 2));
    }

    #[test]
    fn a_partial_ack_marks_one_loss_and_a_duplicate_too_many_no_delivery() {
        let mut host = sending(2);
        let mut newreno = NewRenoState::default();
        host.with(200, |tx, cx| {
            let mut delivery = Delivery::new(&bare_ack(1), 1, 1, 0);
            // One of two can be held.
            newreno.recount(&mut tx.flight, &mut delivery);
            newreno.recount(&mut tx.flight, &mut delivery);
            assert_eq!(delivery.delivered, 1);
            newreno.congestion.ca_state = CaState::Recovery;
            let mut delivery = Delivery::new(&bare_ack(1_001), 1, 1, 0);
            newreno.identify(&mut tx.flight, &mut delivery, cx);
            assert_eq!(delivery.lost, 1);
        });
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
