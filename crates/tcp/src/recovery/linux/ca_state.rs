//! The five congestion states of the kernel (`tcp_ca_state`), and the transitions of tcp_fastretrans_alert and
//! tcp_enter_loss (net/ipv4/tcp_input.c). A reduction is proportional ([`Prr`]); a spurious one is undone ([`Undo`], and
//! F-RTO after a timeout). Which segments are lost is decided by the scheme.

use super::{Burst, CwndValidation, Delivery, Prr, Undo};
use crate::cc::{CcState, Congestion, CongestionControl};
use crate::config::{Config, EcnResponse, ReduceFrom, RttSampling};
use crate::flight::{Cause, Chunk, Cx, Flight, How};
use crate::invalid::{Invalid, ensure};
use crate::law::Law;

/// The kernel's `tcp_ca_state`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CaState {
    /// No sign of loss or congestion (TCP_CA_Open).
    #[default]
    Open,
    /// SACKs, duplicate ACKs or retransmissions are outstanding, and nothing is taken for lost (TCP_CA_Disorder).
    Disorder,
    /// ECN-Echo has come: the window is being reduced (TCP_CA_CWR).
    Cwr,
    /// Fast recovery: the window is being reduced and lost segments are retransmitted (TCP_CA_Recovery).
    Recovery,
    /// The retransmission timer has fired (TCP_CA_Loss).
    Loss,
}

/// Which segments are sent first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Prefer {
    /// New data only.
    #[default]
    New,
    /// Lost segments, then new data.
    Lost,
    /// New data; lost segments if there is none (F-RTO, RFC 5682 §3.1 step 2b).
    NewElseLost,
}

/// The congestion state of a sender, with its reduction and what may undo it.
#[derive(Clone, Debug, Default)]
pub(crate) struct CongestionState {
    pub ca_state: CaState,
    pub prefer: Prefer,
    pub prr: Prr,
    /// A reduction has begun since last asked.
    reduced: bool,
    undo: Undo,
    /// A timeout may prove spurious (F-RTO).
    frto: bool,
    /// The recovery has just begun: its first retransmission is the fast one.
    fresh: bool,
    /// A reduction was taken back: losses are to be looked for again.
    look_again: bool,
    /// Bytes outstanding before the ACK at hand.
    flight: u64,
    /// Whether the window is used, and what the burst at hand has sent.
    validation: CwndValidation,
    burst: Burst,
    /// There is no SACK: a reduction holds until something above the recovery point is acknowledged, lest the duplicate
    /// ACKs of what was sent twice begin another (RFC 6582 §3.2 step 2; the kernel's tcp_is_non_sack_preventing_reopen).
    sackless: bool,
}

impl CongestionState {
    /// Where no SACK tells what has arrived.
    pub fn sackless() -> CongestionState {
        CongestionState { sackless: true, ..CongestionState::default() }
    }

    /// Refuses what goes with none of this: here each segment is timed, and ns-2's windows are not known.
    pub fn check(config: &Config) -> Result<(), Invalid> {
        let name = config.recovery.name();
        ensure(config.rtt_sampling != RttSampling::TimedSegment, "rtt_sampling", || {
            format!("must not be timed-segment with recovery = \"{name}\", which times each segment")
        })?;
        ensure(config.ecn_response != EcnResponse::Ns2, "ecn_response", || {
            format!("must not be ns-2 with recovery = \"{name}\"")
        })
    }

    /// An ACK or another sign of congestion is about to be handled; `flight` bytes were outstanding before it.
    pub fn begin(&mut self, flight: u64) {
        self.flight = flight;
    }

    /// Whether the window is going down in proportion.
    pub fn is_reducing(&self) -> bool {
        matches!(self.ca_state, CaState::Cwr | CaState::Recovery)
    }

    /// Whether the window is being reduced after a loss.
    pub fn in_recovery(&self) -> bool {
        self.ca_state >= CaState::Recovery
    }

    /// Whether a reduction has begun, asked once.
    pub fn has_reduced(&mut self) -> bool {
        std::mem::take(&mut self.reduced)
    }

    /// Whether losses are to be looked for again, asked once.
    pub fn looks_again(&mut self) -> bool {
        std::mem::take(&mut self.look_again)
    }

    /// A chunk leaves. Returns whether it is the first segment outstanding, sent again.
    pub fn sent(&mut self, tx: &mut Flight, chunk: Chunk, cx: &Cx) -> bool {
        let outstanding = tx.scoreboard.len();
        let probe = chunk.how == How::Rescue;
        tx.scoreboard.sent(chunk.start, chunk.len, chunk.fin, probe, cx.now);
        if self.is_reducing() && !probe {
            self.prr.sent(1);
        }
        if tx.scoreboard.len() > outstanding {
            self.burst.sent(outstanding);
            return false;
        }
        if probe {
            return false;
        }
        self.retransmitted(tx.clock(cx.config, cx.now));
        chunk.start <= tx.una
    }

    /// A burst has ended: what it has sent.
    pub fn end_burst(&mut self, tx: &Flight) -> Burst {
        let burst = std::mem::take(&mut self.burst);
        self.validation.end_burst(burst, tx);
        burst
    }

    /// A segment was sent again at timestamp `stamp`.
    fn retransmitted(&mut self, stamp: u32) {
        self.undo.retransmitted(stamp);
    }

    // ---- an ACK that is not all well ----

    /// Before losses are looked for: what the ACK ends.
    pub fn hear(&mut self, tx: &mut Flight, delivery: &Delivery) {
        if delivery.echo {
            self.undo.ssthresh = None;
        }
        if self.ca_state == CaState::Open {
            self.undo.forget_stamp();
        } else if tx.una >= tx.recovery.recover {
            self.leave(tx, delivery);
        }
    }

    /// All that was outstanding at the reduction is acknowledged.
    fn leave(&mut self, tx: &mut Flight, delivery: &Delivery) {
        match self.ca_state {
            // CWR has then not yet reached the receiver: something above must be acknowledged.
            CaState::Cwr if tx.una > tx.recovery.recover => {
                self.end_reduction(tx);
                self.ca_state = CaState::Open;
            }
            CaState::Recovery => {
                self.recovered(tx, delivery);
                if self.ca_state == CaState::Open {
                    self.end_reduction(tx);
                }
            }
            _ => {}
        }
    }

    /// Recovery, or what follows a timeout, is over.
    fn recovered(&mut self, tx: &mut Flight, delivery: &Delivery) {
        if self.may_undo(tx, delivery) {
            self.take_back(tx, false);
        }
        self.open(tx);
    }

    /// All is well again, unless what has begun still holds.
    fn open(&mut self, tx: &Flight) {
        if self.sackless && tx.una == tx.recovery.recover {
            self.forget_stamp_unless_retransmitted(tx);
        } else {
            self.ca_state = CaState::Open;
        }
    }

    /// Whether a recovery whose data are all acknowledged still holds, and the ACK at hand has no more to say.
    pub fn holds(&self, tx: &Flight) -> bool {
        self.sackless && self.ca_state == CaState::Recovery && tx.una >= tx.recovery.recover
    }

    /// Whether the ACK proves that what was sent again was not lost. Without SACK the stamp is forgotten while a reduction
    /// holds (the kernel's tcp_packet_delayed).
    fn may_undo(&self, tx: &Flight, delivery: &Delivery) -> bool {
        let forgotten = self.sackless && !self.undo.has_stamp() && tx.una >= tx.recovery.recover;
        self.undo.may(delivery.echoed) && !forgotten
    }

    /// Whether the ACK was late, so that nothing was lost.
    pub fn was_late(&self, tx: &Flight, delivery: &Delivery) -> bool {
        delivery.advanced && self.may_undo(tx, delivery)
    }

    /// Nothing was lost, and nothing is still sent again.
    pub fn end_spurious_recovery(&mut self, tx: &mut Flight) {
        self.forget_stamp_unless_retransmitted(tx);
        self.take_back(tx, true);
        self.keep_open(tx);
    }

    /// The kernel's tcp_process_loss: an ACK after a timeout.
    pub fn after_timeout(&mut self, tx: &mut Flight, delivery: &Delivery) {
        let recovered = tx.una >= tx.recovery.recover;
        if self.was_late(tx, delivery) {
            self.take_back(tx, true);
            // Without SACK nothing tells what else is lost: the state stays.
            if !self.sackless || tx.una == tx.recovery.recover {
                self.open(tx);
            }
            return;
        }
        if self.frto {
            // RFC 5682 §3.1: what was sent before the timeout arrives, so it was not lost.
            if delivery.proves_original(self.sackless) {
                self.take_back(tx, true);
                return self.open(tx);
            }
            if tx.max > tx.recovery.recover {
                self.frto &= !(delivery.sacked || delivery.duplicate);
            } else if delivery.advanced && !recovered {
                tx.recovery.recover = tx.max;
                if tx.in_order().is_some() {
                    self.prefer = Prefer::NewElseLost;
                    return;
                }
                self.frto = false;
            }
        }
        if recovered {
            return self.recovered(tx, delivery);
        }
        self.prefer = Prefer::Lost;
    }

    /// Nothing is lost: hears ECN-Echo, or else all may be well again.
    pub fn try_to_open(&mut self, tx: &mut Flight, echo: bool, cx: &mut Cx) {
        self.forget_stamp_unless_retransmitted(tx);
        if echo && self.ca_state < CaState::Cwr {
            self.enter_cwr(tx, cx);
            cx.counters.ecn_reductions += 1;
        }
        if self.ca_state != CaState::Cwr {
            self.keep_open(tx);
        }
    }

    fn keep_open(&mut self, tx: &mut Flight) {
        let disorder = tx.scoreboard.sacked() + tx.scoreboard.lost() > 0 || tx.scoreboard.any_retransmitted();
        let state = if disorder { CaState::Disorder } else { CaState::Open };
        if self.ca_state != state {
            self.ca_state = state;
            tx.recovery.recover = tx.max;
        }
    }

    fn forget_stamp_unless_retransmitted(&mut self, tx: &Flight) {
        if !tx.scoreboard.any_retransmitted() {
            self.undo.forget_stamp();
        }
    }

    /// The kernel's tcp_undo_cwnd_reduction.
    fn take_back(&mut self, tx: &mut Flight, none_lost: bool) {
        if none_lost {
            tx.scoreboard.forget_lost();
        }
        self.undo.take_back(&mut tx.law);
        // Where the recovery holds nonetheless, the threshold given back is what its window goes to.
        self.prr.target = tx.law.state().ssthresh;
        self.look_again = true;
    }

    // ---- reductions ----

    /// The kernel's tcp_enter_cwr: ECN has proven the congestion, so nothing is taken back. At a window of one segment the
    /// sender may then be held.
    pub fn enter_cwr(&mut self, tx: &mut Flight, cx: &mut Cx) {
        self.undo.ssthresh = None;
        if self.ca_state >= CaState::Cwr {
            return;
        }
        self.undo.disarm();
        let waits = tx.waits_at_one_segment(cx.config);
        self.begin_reduction(tx, Congestion::Ecn, cx);
        self.ca_state = CaState::Cwr;
        if waits {
            tx.hold(cx);
        }
    }

    /// Something is lost.
    pub fn enter_recovery(&mut self, tx: &mut Flight, echo: bool, cx: &mut Cx) {
        self.forget_stamp_unless_retransmitted(tx);
        self.undo.ssthresh = None;
        self.undo.arm();
        self.fresh = true;
        cx.counters.fast_recoveries += 1;
        if self.ca_state != CaState::Cwr {
            if !echo {
                self.undo.ssthresh = Some(self.ssthresh(tx));
            }
            self.begin_reduction(tx, Congestion::Loss, cx);
        } else if tx.law.on_loss_after_mark() {
            self.prr.target = tx.law.state().ssthresh;
        }
        self.ca_state = CaState::Recovery;
    }

    /// A probe has repaired a loss, which calls for a reduction (RFC 8985 §7.4.2).
    pub fn reduce_at_once(&mut self, tx: &mut Flight, cx: &mut Cx) {
        self.begin_reduction(tx, Congestion::Loss, cx);
        self.ca_state = CaState::Cwr;
        self.end_reduction(tx);
        self.keep_open(tx);
    }

    /// The kernel's tcp_init_cwnd_reduction: where the window is to go. It stays until something is delivered.
    fn begin_reduction(&mut self, tx: &mut Flight, why: Congestion, cx: &mut Cx) {
        let cwnd = tx.law.cwnd();
        self.undo.window = cwnd;
        self.reduced = true;
        tx.law.on_congestion(&cx.congestion(why, self.reduction_base(tx, cx.config)));
        self.prr = Prr::new(cwnd / u64::from(tx.mss), tx.law.cwnd());
        tx.law.set_cwnd(cwnd);
        let cause = if why == Congestion::Ecn { Cause::Ecn } else { Cause::Loss };
        tx.reduced(cause, cx);
    }

    /// What is halved. The flight is the one before the ACK that signals congestion.
    fn reduction_base(&self, tx: &Flight, config: &Config) -> u64 {
        match config.reduce_from {
            ReduceFrom::Flight => self.flight,
            ReduceFrom::Window => tx.law.cwnd(),
        }
    }

    // ---- what to send, and how much ----

    /// What to send next: what goes before what, as far as the window goes.
    pub fn next(&mut self, tx: &mut Flight) -> Option<Chunk> {
        if tx.scoreboard.in_flight() >= tx.window_in_segments() {
            return None;
        }
        match self.prefer {
            Prefer::New => tx.in_order(),
            Prefer::Lost => self.lost_segment(tx).or_else(|| tx.in_order()),
            Prefer::NewElseLost => tx.in_order().or_else(|| {
                self.nothing_new();
                self.lost_segment(tx)
            }),
        }
    }

    fn lost_segment(&mut self, tx: &mut Flight) -> Option<Chunk> {
        let segment = tx.scoreboard.waiting()?;
        let how = if self.ca_state == CaState::Loss {
            How::InOrder
        } else if std::mem::take(&mut self.fresh) {
            How::FastHead
        } else {
            How::Hole
        };
        Some(segment.again(tx.una, how))
    }

    /// There was no new data to send instead of what is lost.
    fn nothing_new(&mut self) {
        self.frto = false;
        self.prefer = Prefer::Lost;
    }

    /// The kernel's tcp_cong_control: a reduction goes on, or the window opens, by so many bytes, if the ACK `moves` it.
    pub fn control_window(&mut self, tx: &mut Flight, delivery: &Delivery, moves: bool, config: &Config) -> u64 {
        let opens = moves && self.validation.allows_growth(tx, config);
        if self.is_reducing() {
            self.reduce(tx, delivery.delivered, delivery.advanced && delivery.lost == 0);
            return 0;
        }
        if opens && !delivery.no_growth { u64::from(delivery.delivered) * u64::from(tx.mss) } else { 0 }
    }

    /// The reduction goes on: so many segments were delivered; `clean` as in [`Prr::window`].
    pub fn reduce(&mut self, tx: &mut Flight, delivered: u32, clean: bool) {
        if delivered == 0 || tx.law.owns_window() {
            return;
        }
        let mss = u64::from(tx.mss);
        let window = self.prr.window(delivered.into(), tx.scoreboard.in_flight().into(), self.prr.target / mss, clean);
        tx.law.set_cwnd(window * mss);
    }

    /// The window is its target, unless the reduction was taken back.
    fn end_reduction(&mut self, tx: &mut Flight) {
        if (self.ca_state == CaState::Cwr || self.undo.is_armed()) && !tx.law.owns_window() {
            tx.law.set_cwnd(self.prr.target);
        }
    }

    /// The kernel's tcp_current_ssthresh.
    fn ssthresh(&self, tx: &Flight) -> u64 {
        let state = tx.law.state();
        if self.is_reducing() { state.ssthresh } else { state.ssthresh.max(state.cwnd / 2 + state.cwnd / 4) }
    }

    /// The kernel's tcp_enter_loss: the timer has fired, and `scoreboard` knows what is lost.
    pub fn time_out(&mut self, tx: &mut Flight, cx: &mut Cx) {
        let first = self.ca_state < CaState::Recovery;
        let new_window = tx.recovery.recover <= tx.una;
        if self.ca_state <= CaState::Disorder
            || new_window
            || (self.ca_state == CaState::Loss && tx.timer.timeouts == 0)
        {
            self.undo.ssthresh = Some(self.ssthresh(tx));
            self.undo.window = tx.law.cwnd();
            self.undo.arm();
            self.flight = tx.in_flight();
            tx.law.on_congestion(&cx.congestion(Congestion::Timeout, self.reduction_base(tx, cx.config)));
        } else {
            tx.law.on_further_loss();
        }
        tx.law.set_cwnd(u64::from(tx.scoreboard.in_flight() + 1) * u64::from(tx.mss));
        self.ca_state = CaState::Loss;
        self.reduced = true;
        self.frto = first || tx.timer.timeouts > 0;
        self.prefer = Prefer::New;
        tx.reduced(Cause::Timeout, cx);
        tx.recovery.stepped_back = Cause::Timeout;
        tx.timed_out(cx);
    }
}

/// An ACK of so many bytes opens the window: slow start ends at its threshold, and what is left of the ACK goes to
/// congestion avoidance (the kernel's tcp_slow_start).
pub(crate) fn grow(law: &mut Law, acked: u64) {
    let CcState { cwnd, ssthresh } = law.state();
    let starts = acked.min(ssthresh.saturating_sub(cwnd));
    for acked in [starts, acked - starts].into_iter().filter(|acked| *acked > 0) {
        law.grow(acked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Counters;
    use crate::ecn;
    use crate::profile;
    use crate::recovery::linux::host::bare_ack;
    use crate::registry::EcnKind;
    use ecnlab_base::Time;
    use ecnlab_wire::Seq;

    /// Does `act` with a sender that has ten segments of 1000 bytes outstanding, from offset 1, in a window of ten, and as
    /// many more to send.
    fn with_ten(ecn_response: EcnResponse, act: impl FnOnce(&mut CongestionState, &mut Flight, &mut Cx)) {
        let mut config = profile("linux-7").unwrap().config.clone();
        config.mss = ecnlab_base::Bytes(1_000);
        config.ecn_response = ecn_response;
        let mut tx = Flight::new(&config, Seq(0));
        (tx.una, tx.nxt, tx.max, tx.end) = (1, 10_001, 10_001, 20_001);
        tx.set_peer_window(1 << 20, &config);
        (0..10).for_each(|n| tx.scoreboard.sent(1 + n * 1_000, 1_000, false, false, Time::ZERO));
        let (mut counters, mut ecn) = (Counters::default(), ecn::Scheme::new(EcnKind::Off));
        let mut cx = Cx { config: &config, now: Time::ZERO, counters: &mut counters, ecn: &mut ecn };
        let mut congestion = CongestionState::default();
        congestion.begin(tx.in_flight());
        act(&mut congestion, &mut tx, &mut cx);
    }

    /// The segments up to the n-th arrive.
    fn acknowledge(tx: &mut Flight, n: u64) -> Delivery {
        let ack = 1 + n * 1_000;
        let mut delivery = Delivery::new(&bare_ack(ack), tx.una, tx.una, tx.recovery.recover);
        tx.una = ack;
        tx.scoreboard.acknowledge(tx.una, Time::ZERO, |s| delivery.acknowledge(s));
        delivery
    }

    #[test]
    fn ecn_takes_the_window_to_half_until_something_sent_after_it_has_arrived() {
        with_ten(EcnResponse::Linux, |congestion, tx, cx| {
            congestion.enter_cwr(tx, cx);
            assert_eq!((congestion.ca_state, tx.law.cwnd(), tx.law.state().ssthresh), (CaState::Cwr, 10_000, 5_000));
            let delivery = acknowledge(tx, 10);
            congestion.hear(tx, &delivery);
            assert_eq!(congestion.ca_state, CaState::Cwr, "CWR has not yet reached the receiver");
            tx.una = 11_001;
            congestion.hear(tx, &delivery);
            assert_eq!((congestion.ca_state, tx.law.cwnd()), (CaState::Open, 5_000));
        });
    }

    #[test]
    fn at_a_window_of_one_segment_ecn_holds_the_sender_but_in_linux() {
        for (response, window, sacked) in
            [(EcnResponse::Standard, 1, true), (EcnResponse::Standard, 2, false), (EcnResponse::Linux, 1, false)]
        {
            with_ten(response, |congestion, tx, cx| {
                tx.law.set_cwnd(window * 1_000);
                congestion.enter_cwr(tx, cx);
                assert_eq!(tx.is_held(), sacked);
            });
        }
    }

    #[test]
    fn what_arrives_from_before_a_timeout_gives_the_window_back() {
        with_ten(EcnResponse::Linux, |congestion, tx, cx| {
            tx.scoreboard.lose_after_timeout(|_| true);
            congestion.time_out(tx, cx);
            assert_eq!((congestion.ca_state, tx.law.cwnd(), tx.law.state().ssthresh), (CaState::Loss, 1_000, 5_000));
            tx.scoreboard.sent(1, 1_000, false, false, cx.now);
            congestion.retransmitted(0);
            // The retransmission's ACK; new data may show what became of the others (F-RTO).
            let delivery = acknowledge(tx, 1);
            congestion.after_timeout(tx, &delivery);
            assert_eq!((congestion.ca_state, congestion.prefer), (CaState::Loss, Prefer::NewElseLost));
            let delivery = acknowledge(tx, 2);
            assert!(delivery.proves_original(false));
            congestion.after_timeout(tx, &delivery);
            assert_eq!((congestion.ca_state, tx.law.cwnd(), tx.scoreboard.lost()), (CaState::Open, 10_000, 0));
            assert!(congestion.looks_again());
        });
    }

    #[test]
    fn a_recovery_ends_at_its_target_unless_it_was_for_nothing() {
        for (echoed, window) in [(Some(7), 5_000), (Some(6), 10_000)] {
            with_ten(EcnResponse::Linux, |congestion, tx, cx| {
                congestion.enter_recovery(tx, false, cx);
                tx.scoreboard.sent(1, 1_000, false, false, cx.now);
                congestion.retransmitted(7);
                let mut delivery = acknowledge(tx, 10);
                delivery.echoed = echoed;
                congestion.hear(tx, &delivery);
                assert_eq!((congestion.ca_state, tx.law.cwnd()), (CaState::Open, window));
            });
        }
    }

    #[test]
    fn without_sack_a_recovery_holds_at_its_point_and_ends_above_it() {
        with_ten(EcnResponse::Linux, |congestion, tx, cx| {
            *congestion = CongestionState::sackless();
            congestion.enter_recovery(tx, false, cx);
            tx.scoreboard.sent(1, 1_000, false, false, cx.now);
            congestion.retransmitted(7);
            let mut delivery = acknowledge(tx, 10);
            congestion.hear(tx, &delivery);
            assert_eq!((congestion.ca_state, congestion.holds(tx)), (CaState::Recovery, true));
            // The first retransmission is forgotten by then, and no echo can answer what was sent before it.
            delivery.echoed = Some(6);
            assert!(!congestion.was_late(tx, &delivery));
            tx.una = 11_001;
            congestion.hear(tx, &delivery);
            assert_eq!((congestion.ca_state, tx.law.cwnd()), (CaState::Open, 5_000));
        });
    }

    #[test]
    fn without_sack_a_late_original_gives_the_window_back_and_the_timeouts_state_stays() {
        with_ten(EcnResponse::Linux, |congestion, tx, cx| {
            *congestion = CongestionState::sackless();
            tx.scoreboard.lose_after_timeout(|_| true);
            congestion.time_out(tx, cx);
            tx.scoreboard.sent(1, 1_000, false, false, cx.now);
            congestion.retransmitted(7);
            let mut delivery = acknowledge(tx, 2);
            delivery.echoed = Some(6);
            congestion.after_timeout(tx, &delivery);
            assert_eq!((congestion.ca_state, tx.law.cwnd(), tx.scoreboard.lost()), (CaState::Loss, 10_000, 0));
        });
    }

    #[test]
    fn slow_start_ends_at_its_threshold_in_the_midst_of_an_ack() {
        with_ten(EcnResponse::Linux, |_, tx, _| {
            tx.law.set_cwnd(2_000);
            tx.law.set_ssthresh(4_000);
            // Two segments to the threshold; the other three are not yet a window of four.
            grow(&mut tx.law, 5_000);
            assert_eq!(tx.law.cwnd(), 4_000);
            grow(&mut tx.law, 1_000);
            assert_eq!(tx.law.cwnd(), 5_000);
        });
    }

    #[test]
    fn a_loss_that_a_probe_has_repaired_halves_the_window_at_once() {
        with_ten(EcnResponse::Linux, |congestion, tx, cx| {
            congestion.reduce_at_once(tx, cx);
            assert_eq!((congestion.ca_state, tx.law.cwnd()), (CaState::Open, 5_000));
            assert!(congestion.has_reduced() && !congestion.has_reduced());
        });
    }

    #[test]
    fn the_threshold_to_give_back_is_at_least_three_quarters_of_the_window() {
        with_ten(EcnResponse::Linux, |congestion, tx, _| {
            let mut kept = |ca_state, ssthresh| {
                congestion.ca_state = ca_state;
                tx.law.set_ssthresh(ssthresh);
                congestion.ssthresh(tx)
            };
            assert_eq!(kept(CaState::Open, 4_000), 7_500);
            assert_eq!(kept(CaState::Open, 9_000), 9_000);
            assert_eq!(kept(CaState::Cwr, 4_000), 4_000, "the window is on its way there");
        });
    }

    #[test]
    fn a_timeout_reduces_once_for_a_window_of_data() {
        // Whether the timeout sets the threshold anew, after what has gone before it.
        let reduces = |before: fn(&mut CongestionState, &mut Flight, &mut Cx)| {
            let mut reduced = false;
            with_ten(EcnResponse::Linux, |congestion, tx, cx| {
                before(congestion, tx, cx);
                tx.law.set_ssthresh(20_000);
                congestion.time_out(tx, cx);
                assert!(congestion.in_recovery());
                reduced = tx.law.state().ssthresh < 20_000;
            });
            reduced
        };
        assert!(reduces(|_, _, _| {}));
        assert!(reduces(|congestion, tx, cx| congestion.reduce_at_once(tx, cx)), "the state is open");
        assert!(!reduces(|congestion, tx, cx| congestion.enter_recovery(tx, false, cx)));
        assert!(
            reduces(|congestion, tx, cx| {
                congestion.enter_recovery(tx, false, cx);
                tx.una = tx.recovery.recover;
            }),
            "all outstanding at the reduction has arrived"
        );
        assert!(!reduces(|congestion, tx, cx| congestion.time_out(tx, cx)), "the same segment again");
        assert!(
            reduces(|congestion, tx, cx| {
                congestion.time_out(tx, cx);
                tx.timer.timeouts = 0;
            }),
            "another segment"
        );
    }

    #[test]
    fn a_timeout_in_recovery_is_not_taken_for_spurious() {
        for (recovers, spurious) in [(false, true), (true, false)] {
            with_ten(EcnResponse::Linux, |congestion, tx, cx| {
                if recovers {
                    congestion.enter_recovery(tx, false, cx);
                }
                congestion.time_out(tx, cx);
                assert_eq!(congestion.frto, spurious);
                // What is not taken for lost is in flight, and one segment more may leave.
                assert_eq!(tx.law.cwnd(), 11_000);
                congestion.time_out(tx, cx);
                assert!(congestion.frto, "the same segment again");
            });
        }
    }

    #[test]
    fn a_duplicate_after_new_data_proves_a_timeout_right() {
        // RFC 5682 §3.1 step 3 (a).
        for (sacked, duplicate, spurious) in [(false, false, true), (true, false, false), (false, true, false)] {
            with_ten(EcnResponse::Linux, |congestion, tx, cx| {
                tx.scoreboard.lose_after_timeout(|_| true);
                congestion.time_out(tx, cx);
                congestion.retransmitted(0);
                tx.max += 1_000;
                let mut delivery = Delivery::new(&bare_ack(1), tx.una, tx.una, tx.recovery.recover);
                (delivery.sacked, delivery.duplicate) = (sacked, duplicate);
                congestion.after_timeout(tx, &delivery);
                assert_eq!((congestion.frto, congestion.prefer), (spurious, Prefer::Lost));
            });
        }
    }

    #[test]
    fn without_new_data_a_timeout_is_taken_for_right() {
        with_ten(EcnResponse::Linux, |congestion, tx, cx| {
            congestion.time_out(tx, cx);
            congestion.nothing_new();
            assert_eq!((congestion.frto, congestion.prefer), (false, Prefer::Lost));
        });
    }

    #[test]
    fn with_sack_a_late_original_ends_what_the_timeout_began() {
        with_ten(EcnResponse::Linux, |congestion, tx, cx| {
            tx.scoreboard.lose_after_timeout(|_| true);
            congestion.time_out(tx, cx);
            tx.scoreboard.sent(1, 1_000, false, false, cx.now);
            congestion.retransmitted(7);
            let mut delivery = acknowledge(tx, 2);
            delivery.echoed = Some(6);
            congestion.after_timeout(tx, &delivery);
            assert_eq!((congestion.ca_state, tx.law.cwnd()), (CaState::Open, 10_000));
            assert!(congestion.looks_again() && !congestion.looks_again());
        });
    }

    #[test]
    fn what_is_sacked_or_lost_is_disorder() {
        with_ten(EcnResponse::Linux, |congestion, tx, _| {
            tx.scoreboard.report(1_001, 2_001, 1_000);
            tx.scoreboard.take_reports(|_| {});
            tx.scoreboard.lose_after_timeout(|_| true);
            assert_eq!((tx.scoreboard.sacked(), tx.scoreboard.lost()), (1, 9));
            congestion.keep_open(tx);
            assert_eq!(congestion.ca_state, CaState::Disorder);
        });
    }

    #[test]
    fn a_reduction_has_its_cause_and_counts_no_probe() {
        with_ten(EcnResponse::Linux, |congestion, tx, cx| {
            congestion.enter_cwr(tx, cx);
            assert_eq!(tx.recovery.cause, Cause::Ecn);
            let before = congestion.prr;
            congestion.sent(tx, Chunk { start: 9_001, len: 1_000, fin: false, how: How::Rescue }, cx);
            assert_eq!(congestion.prr, before);
        });
        with_ten(EcnResponse::Linux, |congestion, tx, cx| {
            congestion.enter_recovery(tx, false, cx);
            assert_eq!(tx.recovery.cause, Cause::Loss);
        });
    }
}
