//! NewReno as Linux 7 does it where the peer permits no SACK: each duplicate ACK stands for a segment that has arrived,
//! the first segment outstanding is lost after three of them and with each partial ACK, and the window goes down in
//! proportion (net/ipv4/tcp_input.c; tcp_newreno_mark_lost in net/ipv4/tcp_recovery.c).
//!
//! The sender goes through the states of [`CongestionState`] in the order of [`FastRetransAlert`]. Windows and flights are counted in segments.

use ecnlab_base::{Dur, Time};

use super::{CaState, CongestionState, FastRetransAlert, Reordering};
use crate::config::{Config, Invalid};
use crate::recovery::{InUse, Scheme, TakeAck};
use crate::sender::{AckSample, AckSeen, Burst, Chunk, CwndValidation, Cx, How, Scoreboard, Sender};

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

/// The law; its state once data may flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinuxNewReno(Option<Box<Book>>);

impl Scheme for LinuxNewReno {
    const TAKES_ACKS: Option<TakeAck> = Some(|tx, seen, cx| {
        with(tx, |book, tx| book.on_ack(tx, seen, cx));
    });

    fn check(config: &Config) -> Result<(), Invalid> {
        CongestionState::check(config)
    }

    fn on_established(tx: &mut Sender, _: Option<Dur>) {
        tx.scheme = InUse::LinuxNewReno(LinuxNewReno(Some(Box::new(Book {
            scoreboard: Scoreboard::default(),
            congestion: CongestionState::sackless(),
            validation: CwndValidation::default(),
            path: Reordering::default(),
            burst: Burst::default(),
            head_due: false,
        }))));
        tx.recovery.active = true;
    }

    #[inline(never)]
    fn next(tx: &mut Sender, _: &Config) -> Option<Chunk> {
        with(tx, |book, tx| book.next(tx)).flatten()
    }

    fn on_sent(tx: &mut Sender, chunk: Chunk, cx: &Cx) -> bool {
        // In parts, so that other senders may keep them in registers.
        on_sent(tx, chunk.start, (chunk.len, chunk.fin, chunk.how), cx);
        true
    }

    #[inline(never)]
    fn end_burst(tx: &mut Sender, _: &Config, _: Time) {
        with(tx, |book, tx| {
            let burst = std::mem::take(&mut book.burst);
            book.validation.end_burst(burst, &book.scoreboard, tx);
        });
    }

    fn on_timeout(tx: &mut Sender, cx: &mut Cx) {
        with(tx, |book, tx| book.on_timeout(tx, cx));
    }

    fn reduce_for_ecn(tx: &mut Sender, _: u64, cx: &mut Cx) {
        with(tx, |book, tx| {
            book.congestion.begin(tx.flight());
            book.congestion.enter_cwr(tx, cx);
        });
    }

    fn in_recovery(tx: &Sender) -> bool {
        matches!(&tx.scheme, InUse::LinuxNewReno(LinuxNewReno(Some(book))) if book.congestion.in_recovery())
    }
}

/// Calls `f` with the law's state apart from the sender's.
fn with<T>(tx: &mut Sender, f: impl FnOnce(&mut Book, &mut Sender) -> T) -> Option<T> {
    let InUse::LinuxNewReno(LinuxNewReno(slot)) = &mut tx.scheme else { return None };
    let mut book = slot.take()?;
    let result = f(&mut book, tx);
    tx.scheme = InUse::LinuxNewReno(LinuxNewReno(Some(book)));
    Some(result)
}

#[cold]
#[inline(never)]
fn on_sent(tx: &mut Sender, start: u64, (len, fin, how): (u32, bool, How), cx: &Cx) {
    let chunk = Chunk { start, len, fin, how };
    with(tx, |book, tx| {
        let stamp = tx.clock(cx.config, cx.now);
        if how != How::Probe && book.sent(chunk, tx.una, cx.now, stamp) {
            tx.arm(cx.config, cx.now);
        }
    });
}

impl Book {
    fn on_ack(&mut self, tx: &mut Sender, seen: AckSeen, cx: &mut Cx) {
        let before = tx.una;
        self.congestion.begin(tx.flight());
        let mut sample = AckSample::new(&seen, before, before, tx.recovery.recover);
        let idle = self.scoreboard.is_empty();
        self.take_in(tx, seen.ack, &mut sample);
        if let Some(rtt) = sample.rtt(tx, cx) {
            tx.take_rtt(rtt, cx);
            tx.rto.end_backoff();
        }
        if idle {
            return;
        }
        self.congestion.prefer = Default::default();
        if sample.duplicate || sample.echo || self.congestion.ca_state != CaState::Open {
            cx.counters.dupacks_received += u64::from(sample.duplicate);
            self.fastretrans_alert(tx, before, &mut sample, cx);
        }
        if sample.advanced {
            tx.rearm(cx);
        }
        let opens = sample.advanced && self.validation.allows_growth(tx, cx.config);
        self.congestion.control_window(tx, &self.scoreboard, &sample, opens);
    }

    /// Takes in the acknowledgement number. One segment of what it covers filled a hole; the duplicate ACKs before
    /// counted the others.
    fn take_in(&mut self, tx: &mut Sender, ack: u64, sample: &mut AckSample) {
        let outstanding = self.scoreboard.len();
        self.scoreboard.acknowledge(ack, |s| sample.acknowledge(s));
        let (delivered, excess) = self.scoreboard.settle_sacked(outstanding - self.scoreboard.len());
        sample.delivered = delivered;
        if excess {
            self.path.note_excess(outstanding);
        }
        if sample.advanced {
            tx.acknowledge(ack);
        }
    }

    // ---- what to send ----

    fn next(&mut self, tx: &Sender) -> Option<Chunk> {
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
    fn on_timeout(&mut self, tx: &mut Sender, cx: &mut Cx) {
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
    fn identify(&mut self, _: &mut Sender, sample: &mut AckSample, _: &Cx) {
        let lost = match self.congestion.ca_state {
            CaState::Recovery => sample.advanced,
            CaState::Loss => false,
            _ => self.scoreboard.sacked() >= self.path.degree(),
        };
        if lost && self.scoreboard.lose_head() {
            sample.lost += 1;
        }
    }

    fn filled_late(&mut self, tx: &Sender, before: u64) {
        self.path.note_late(before, tx.una, tx.mss);
    }

    /// tcp_add_reno_sack and tcp_reset_reno_sack.
    fn recount(&mut self, _: &Sender, sample: &mut AckSample) {
        if sample.advanced {
            self.scoreboard.forget_sacked();
        }
        if sample.duplicate {
            let sacked = self.scoreboard.sacked();
            if self.scoreboard.presume_sacked() {
                self.path.note_excess(self.scoreboard.len());
            }
            sample.delivered += u32::from(self.scoreboard.sacked() > sacked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Counters;
    use crate::ecn;
    use crate::profile;
    use crate::registry::{EcnKind, RecoveryKind};
    use ecnlab_wire::Seq;

    /// A sender of segments of 1000 bytes without timestamps, with a window of ten.
    struct Host {
        tx: Sender,
        config: Config,
        counters: Counters,
        ecn: ecn::Scheme,
    }

    impl Host {
        /// Which sends `segments` at once.
        fn sending(segments: u64) -> Host {
            let mut config = profile("linux-7").unwrap().config.clone();
            (config.sack, config.recovery) = (false, RecoveryKind::LinuxNewReno);
            let mut tx = Sender::new(&config, Seq(0));
            tx.set_peer_window(1 << 20, &config);
            tx.syn_sent(&config, Time::ZERO);
            let ecn = ecn::Scheme::new(EcnKind::Off);
            let mut host = Host { tx, config, counters: Counters::default(), ecn };
            host.with(|tx, cx| tx.establish(1_000, None, cx));
            host.tx.write(segments * 1_000);
            host.burst();
            host
        }

        fn with<T>(&mut self, f: impl FnOnce(&mut Sender, &mut Cx) -> T) -> T {
            let Host { tx, config, counters, ecn } = self;
            f(tx, &mut Cx { config, now: Time::ZERO + Dur::from_ms(100), counters, ecn })
        }

        /// Sends what may be sent. Returns the first offsets.
        fn burst(&mut self) -> Vec<u64> {
            self.with(|tx, cx| {
                tx.begin_burst(cx.config, cx.now);
                let mut sent = Vec::new();
                while let Some(chunk) = tx.next(cx.config) {
                    tx.sent(chunk, cx);
                    sent.push(chunk.start);
                }
                tx.end_burst(cx.config, cx.now);
                sent
            })
        }

        /// An ACK of all up to the n-th segment. Returns what is sent then.
        fn ack(&mut self, n: u64) -> Vec<u64> {
            let seen = AckSeen { ack: 1 + n * 1_000, echo: false, bare: true, new_sack: false, echoed: None };
            self.with(|tx, cx| with(tx, |book, tx| book.on_ack(tx, seen, cx)));
            self.burst()
        }

        fn book(&self) -> &Book {
            match &self.tx.scheme {
                InUse::LinuxNewReno(LinuxNewReno(Some(book))) => book,
                _ => panic!("another scheme"),
            }
        }

        fn state(&self) -> (CaState, u32) {
            (self.book().congestion.ca_state, self.book().scoreboard.sacked())
        }
    }

    #[test]
    fn an_ack_of_new_data_begins_the_count_anew_outside_recovery_only() {
        let mut host = Host::sending(10);
        assert!(host.ack(0).is_empty() && host.ack(0).is_empty());
        assert_eq!(host.state(), (CaState::Disorder, 2));
        // The hole was filled late. One of the two sacked stays above it for all one knows, and counts no more.
        assert!(host.ack(2).is_empty());
        assert_eq!(host.state(), (CaState::Open, 0));
        assert_eq!([host.ack(2), host.ack(2), host.ack(2)].concat(), [2_001]);
        assert_eq!(host.state(), (CaState::Recovery, 3));
        // In recovery two of the three are among those acknowledged.
        assert_eq!(host.ack(5), [5_001]);
        assert_eq!(host.state(), (CaState::Recovery, 1));
    }

    #[test]
    fn duplicates_beyond_what_can_be_held_change_what_means_a_loss() {
        let mut host = Host::sending(2);
        (0..2).for_each(|_| drop(host.ack(0)));
        assert_eq!((host.state(), host.book().path.degree()), ((CaState::Disorder, 1), 2));
        // Four can be sacked of five; two more cannot be left of four once three of the five are acknowledged.
        let mut host = Host::sending(5);
        (0..4).for_each(|_| drop(host.ack(0)));
        host.ack(3);
        assert_eq!((host.state(), host.book().path.degree()), ((CaState::Recovery, 1), 5));
    }

    #[test]
    fn after_a_timeout_only_duplicates_of_new_data_leave_the_flight() {
        let mut host = Host::sending(10);
        host.with(LinuxNewReno::on_timeout);
        assert_eq!(host.burst(), [1]);
        assert!(host.ack(0).is_empty(), "of what was sent before");
        assert_eq!(host.state(), (CaState::Loss, 0));
        host.tx.write(5_000);
        assert_eq!(host.ack(1), [10_001, 11_001]);
        assert_eq!(host.ack(1), [1_001]);
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
