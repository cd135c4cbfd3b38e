//! The five congestion states of the kernel (`tcp_ca_state`), and the transitions of tcp_fastretrans_alert and
//! tcp_enter_loss (net/ipv4/tcp_input.c). Reductions use PRR ([`Prr`]); a spurious one is undone ([`Undo`], and F-RTO
//! after a timeout). The scheme decides which segments are lost.

use std::ops::Range;

use super::tail_probe::TailProbe;
use super::{Burst, CwndValidation, Delivery, DuplicateCount, Duplicates, Prr, ReorderingSteps, Undo};
use crate::cc::{CcState, Congestion, CongestionControl};
use crate::config::{Config, EcnResponse, RateLimitedGrowth, ReduceFrom, RttSampling};
use crate::flight::{Cause, Chunk, Cx, Flight, How};
use crate::invalid::{Invalid, Remedy, ensure_fit};
use crate::law::Law;

/// The kernel's `tcp_ca_state`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CaState {
    /// No sign of loss or congestion (TCP_CA_Open).
    #[default]
    Open,
    /// SACKs, duplicate ACKs or retransmissions are outstanding, but no segment is marked lost (TCP_CA_Disorder).
    Disorder,
    /// ECN-Echo was received: the window is being reduced (TCP_CA_CWR).
    Cwr,
    /// Fast recovery: the window is being reduced and lost segments are retransmitted (TCP_CA_Recovery).
    Recovery,
    /// The retransmission timer has fired (TCP_CA_Loss).
    Loss,
}

/// Order of new data and retransmissions.
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

/// The congestion state of a sender, with the current reduction and its undo state.
#[derive(Clone, Debug, Default)]
pub(crate) struct CongestionState {
    pub ca_state: CaState,
    pub prefer: Prefer,
    pub prr: Prr,
    /// The outstanding tail loss probe. A reduction ends its episode.
    pub probe: TailProbe,
    pub steps: ReorderingSteps,
    duplicates: DuplicateCount,
    undo: Undo,
    /// A timeout may be spurious (F-RTO).
    frto: bool,
    /// The recovery has just started: its first retransmission is the fast retransmit.
    fresh: bool,
    /// A reduction was undone: losses must be detected again.
    look_again: bool,
    /// Bytes outstanding before the current ACK.
    flight: u64,
    /// Congestion window validation, and the segments sent in the current burst.
    validation: CwndValidation,
    burst: Burst,
    /// SACK is not in use: a reduction lasts until data above the recovery point is acknowledged, so that duplicate
    /// ACKs of retransmissions do not start another (RFC 6582 §3.2 step 2; the kernel's
    /// tcp_is_non_sack_preventing_reopen).
    sackless: bool,
}

impl CongestionState {
    /// The initial state of a connection without SACK.
    pub fn sackless() -> CongestionState {
        CongestionState { sackless: true, ..CongestionState::default() }
    }

    /// The problems of a configuration that cannot be combined with Linux's schemes: these time each segment, and do
    /// not support ns-2's windows.
    pub fn check(config: &Config) -> Vec<Invalid> {
        const KEY: &str = "rate_limited_growth";
        let name = config.recovery.name();
        let timed = config.rtt_sampling != RttSampling::TimedSegment;
        let timed = ensure_fit(timed, "rtt_sampling", Remedy::set("rtt_sampling", "each-ack"), || {
            format!("must not be timed-segment with recovery = \"{name}\", which times each segment")
        });
        let response = config.ecn_response != EcnResponse::Ns2;
        let response = ensure_fit(response, "ecn_response", Remedy::set("ecn_response", "linux"), || {
            format!("must not be ns-2 with recovery = \"{name}\"")
        });
        let growth = config.rate_limited_growth != RateLimitedGrowth::Rfc7661;
        let growth = ensure_fit(growth, KEY, Remedy::set(KEY, "window-limited"), || {
            format!("must not be rfc7661 with recovery = \"{name}\", which reduces windows by PRR")
        });
        [timed, response, growth].into_iter().filter_map(Result::err).collect()
    }

    /// Called before an ACK or another congestion signal is processed. `flight` is the bytes outstanding before it.
    pub fn begin(&mut self, flight: u64) {
        self.flight = flight;
    }

    /// Whether PRR is reducing the window.
    pub fn is_reducing(&self) -> bool {
        matches!(self.ca_state, CaState::Cwr | CaState::Recovery)
    }

    /// Whether the sender is in fast recovery or recovers from a timeout.
    pub fn in_recovery(&self) -> bool {
        self.ca_state >= CaState::Recovery
    }

    /// Returns whether losses must be detected again, and clears the flag.
    pub fn looks_again(&mut self) -> bool {
        std::mem::take(&mut self.look_again)
    }

    /// Records a sent chunk. Returns whether it retransmits the first outstanding segment.
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
        self.duplicates.retransmitted();
        if probe {
            return false;
        }
        self.retransmitted(tx.clock(cx.config, cx.now));
        chunk.start <= tx.una
    }

    /// Ends a burst. Returns its new segments.
    #[inline]
    pub fn end_burst(&mut self, tx: &Flight) -> Burst {
        let burst = std::mem::take(&mut self.burst);
        self.validation.end_burst(burst, tx);
        burst
    }

    /// Records a retransmission at timestamp `stamp`.
    fn retransmitted(&mut self, stamp: u32) {
        self.undo.retransmitted(stamp);
    }

    // ---- D-SACK (RFC 2883) ----

    /// Processes the D-SACK of `block` in an ACK up to the offset `ack`, before the ACK itself (tcp_check_dsack,
    /// tcp_is_sackblock_valid, tcp_sacktag_one).
    pub fn on_dsack(&mut self, tx: &mut Flight, block: Range<u64>, ack: u64) -> Duplicates {
        let mut duplicates = self.duplicates.read(tx, &block, &self.probe);
        if duplicates.segments == 0 {
            return duplicates;
        }
        if block.end <= tx.una {
            self.undo.reported(duplicates.segments, block.end);
        } else if block.start > ack || (block.end <= ack && self.is_of_episode(tx, &block)) {
            let undo = &mut self.undo;
            tx.scoreboard.take_duplicate(block, |s| {
                undo.reported(1, s.end());
                if s.sacked && duplicates.late.is_none() {
                    duplicates.late = Some(s.start);
                }
            });
        }
        duplicates
    }

    /// Whether a D-SACK of acknowledged data is of the current reduction, or crosses its start.
    fn is_of_episode(&self, tx: &Flight, block: &Range<u64>) -> bool {
        let crosses = |marker| block.end > marker && block.start + tx.peer_window.greatest >= block.end;
        self.undo.marker().is_some_and(|marker| block.start >= marker || crosses(marker))
    }

    /// Undoes the reduction if D-SACKs have reported every retransmission (tcp_try_undo_dsack). Returns whether it is.
    pub fn undo_by_dsack(&mut self, tx: &mut Flight) -> bool {
        let undone = self.undo.all_reported();
        if undone {
            self.steps.undone();
            self.take_back(tx, false);
        }
        undone
    }

    // ---- ACK processing outside the Open state ----

    /// Leaves the state that the ACK ends. Called before loss detection.
    pub fn on_ack(&mut self, tx: &mut Flight, delivery: &Delivery) {
        if delivery.echo {
            self.undo.ssthresh = None;
        }
        if self.ca_state == CaState::Open {
            self.undo.forget_stamp();
        } else if tx.una >= tx.recovery.recover {
            self.leave(tx, delivery);
        }
    }

    /// Leaves the state when all data outstanding at the reduction is acknowledged.
    fn leave(&mut self, tx: &mut Flight, delivery: &Delivery) {
        match self.ca_state {
            // An ACK of exactly this data precedes the receipt of CWR: data above it must be acknowledged.
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

    /// Ends recovery, also that after a timeout.
    fn recovered(&mut self, tx: &mut Flight, delivery: &Delivery) {
        if self.may_undo(tx, delivery) {
            self.take_back(tx, false);
        } else {
            self.steps.recovered();
        }
        self.open(tx);
    }

    /// Returns to Open, unless a reduction without SACK still lasts.
    fn open(&mut self, tx: &Flight) {
        if self.sackless && tx.una == tx.recovery.recover {
            self.forget_stamp_unless_retransmitted(tx);
        } else {
            self.ca_state = CaState::Open;
        }
    }

    /// Whether a recovery without SACK still lasts although all its data is acknowledged. The current ACK then needs no
    /// further processing.
    pub fn holds(&self, tx: &Flight) -> bool {
        self.sackless && self.ca_state == CaState::Recovery && tx.una >= tx.recovery.recover
    }

    /// Whether the retransmitted data was not lost (tcp_may_undo).
    fn may_undo(&self, tx: &Flight, delivery: &Delivery) -> bool {
        self.undo.all_reported() || self.is_delayed(tx, delivery)
    }

    /// Whether the ACK proves that the retransmitted data was not lost. Without SACK the stamp is cleared while a
    /// reduction lasts (the kernel's tcp_packet_delayed).
    fn is_delayed(&self, tx: &Flight, delivery: &Delivery) -> bool {
        let forgotten = self.sackless && !self.undo.has_stamp() && tx.una >= tx.recovery.recover;
        self.undo.may(delivery.echoed) && !forgotten
    }

    /// Whether the ACK was only late and the reduction thus spurious.
    pub fn was_late(&self, tx: &Flight, delivery: &Delivery) -> bool {
        delivery.advanced && self.is_delayed(tx, delivery)
    }

    /// Ends a spurious recovery: no data was lost, and no retransmission is in flight.
    pub fn end_spurious_recovery(&mut self, tx: &mut Flight) {
        self.forget_stamp_unless_retransmitted(tx);
        self.take_back(tx, true);
        self.keep_open(tx);
    }

    /// The kernel's tcp_process_loss: processes an ACK after a timeout.
    pub fn after_timeout(&mut self, tx: &mut Flight, delivery: &Delivery) {
        let recovered = tx.una >= tx.recovery.recover;
        if delivery.advanced && self.may_undo(tx, delivery) {
            self.take_back(tx, true);
            // Without SACK it is unknown which other segments are lost: the state does not change.
            if !self.sackless || tx.una == tx.recovery.recover {
                self.open(tx);
            }
            return;
        }
        if self.frto {
            // RFC 5682 §3.1: data sent before the timeout arrives, so it was not lost.
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

    /// With no segment lost: responds to ECN-Echo, or returns to Open if possible.
    pub fn try_to_open(&mut self, tx: &mut Flight, echo: bool, cx: &mut Cx) {
        self.forget_stamp_unless_retransmitted(tx);
        if echo && self.ca_state < CaState::Cwr {
            let before = tx.law.state();
            self.enter_cwr(tx, cx);
            cx.counters.ecn_reductions += u64::from(tx.law.reduced_by_mark(before));
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
        // If the recovery nevertheless continues, the restored threshold is the target of the window.
        self.prr.target = tx.law.state().ssthresh;
        self.look_again = true;
    }

    // ---- reductions ----

    /// The kernel's tcp_enter_cwr: a reduction for ECN is never spurious, so it cannot be undone. With a window of one
    /// segment the sender may then be held.
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

    /// Enters fast recovery.
    pub fn enter_recovery(&mut self, tx: &mut Flight, echo: bool, cx: &mut Cx) {
        self.forget_stamp_unless_retransmitted(tx);
        self.undo.ssthresh = None;
        self.arm_undo(tx);
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

    /// The kernel's tcp_init_undo: retransmissions in flight may cause D-SACKs later.
    fn arm_undo(&mut self, tx: &Flight) {
        let probe = u32::from(self.probe.is_retransmission_out());
        self.undo.arm(tx.una, tx.scoreboard.retransmitted() + probe);
    }

    /// Reduces the window for a loss that a probe has repaired (RFC 8985 §7.4.2).
    pub fn reduce_at_once(&mut self, tx: &mut Flight, cx: &mut Cx) {
        self.begin_reduction(tx, Congestion::Loss, cx);
        self.ca_state = CaState::Cwr;
        self.end_reduction(tx);
        self.keep_open(tx);
    }

    /// The kernel's tcp_init_cwnd_reduction: sets the target of the window. The window does not change until data is
    /// delivered.
    fn begin_reduction(&mut self, tx: &mut Flight, why: Congestion, cx: &mut Cx) {
        let cwnd = tx.law.cwnd();
        self.undo.window = cwnd;
        self.probe.forget();
        tx.law.on_congestion(&cx.congestion(why, self.reduction_base(tx, cx.config)));
        self.prr = Prr::new(cwnd / u64::from(tx.mss), tx.law.cwnd());
        tx.law.set_cwnd(cwnd);
        let cause = if why == Congestion::Ecn { Cause::Ecn } else { Cause::Loss };
        tx.reduced(cause, cx);
    }

    /// The value in bytes that a reduction multiplies. FlightSize is the one before the ACK that signals congestion.
    fn reduction_base(&self, tx: &Flight, config: &Config) -> u64 {
        match config.reduce_from {
            ReduceFrom::Flight => self.flight,
            ReduceFrom::Window => tx.law.cwnd(),
        }
    }

    // ---- next chunk and window ----

    /// Returns the next chunk to send within the window, in the order of `prefer`.
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

    /// Ends F-RTO and retransmits lost segments if there is no new data to send.
    fn nothing_new(&mut self) {
        self.frto = false;
        self.prefer = Prefer::Lost;
    }

    /// The kernel's tcp_cong_control: continues a reduction, or returns the bytes by which the window opens if the ACK
    /// `moves` it.
    pub fn control_window(&mut self, tx: &mut Flight, delivery: &Delivery, moves: bool, config: &Config) -> u64 {
        let opens = moves && self.validation.allows_growth(tx, config);
        if self.is_reducing() {
            self.reduce(tx, delivery.delivered, delivery.advanced && delivery.lost == 0);
            return 0;
        }
        if opens && !delivery.no_growth { u64::from(delivery.delivered) * u64::from(tx.mss) } else { 0 }
    }

    /// Continues a reduction after `delivered` segments were delivered; `clean` as in [`Prr::window`].
    pub fn reduce(&mut self, tx: &mut Flight, delivered: u32, clean: bool) {
        if delivered == 0 || tx.law.owns_window() {
            return;
        }
        let mss = u64::from(tx.mss);
        let window = self.prr.window(delivered.into(), tx.scoreboard.in_flight().into(), self.prr.target / mss, clean);
        tx.law.set_cwnd(window * mss);
    }

    /// Sets the window to its target, unless the reduction was undone.
    fn end_reduction(&mut self, tx: &mut Flight) {
        if (self.ca_state == CaState::Cwr || self.undo.marker().is_some()) && !tx.law.owns_window() {
            tx.law.set_cwnd(self.prr.target);
        }
    }

    /// The kernel's tcp_current_ssthresh.
    fn ssthresh(&self, tx: &Flight) -> u64 {
        let state = tx.law.state();
        if self.is_reducing() { state.ssthresh } else { state.ssthresh.max(state.cwnd / 2 + state.cwnd / 4) }
    }

    /// The kernel's tcp_enter_loss: handles a timeout, after `scoreboard` has marked the lost segments.
    pub fn time_out(&mut self, tx: &mut Flight, cx: &mut Cx) {
        let first = self.ca_state < CaState::Recovery;
        let new_window = tx.recovery.recover <= tx.una;
        if self.ca_state <= CaState::Disorder
            || new_window
            || (self.ca_state == CaState::Loss && tx.timer.timeouts == 0)
        {
            self.undo.ssthresh = Some(self.ssthresh(tx));
            self.undo.window = tx.law.cwnd();
            self.arm_undo(tx);
            self.flight = tx.in_flight();
            tx.law.on_congestion(&cx.congestion(Congestion::Timeout, self.reduction_base(tx, cx.config)));
        } else {
            tx.law.on_further_loss();
        }
        tx.law.set_cwnd(u64::from(tx.scoreboard.in_flight() + 1) * u64::from(tx.mss));
        self.ca_state = CaState::Loss;
        self.probe.forget();
        self.frto = first || tx.timer.timeouts > 0;
        self.prefer = Prefer::New;
        tx.reduced(Cause::Timeout, cx);
        tx.recovery.stepped_back = Cause::Timeout;
        tx.timed_out(cx);
    }
}

/// Opens the window by `acked` bytes: slow start ends at its threshold, and the rest goes to congestion avoidance (the
/// kernel's tcp_slow_start).
pub(crate) fn grow(law: &mut Law, acked: u64) {
    let CcState { cwnd, ssthresh } = law.state();
    let starts = acked.min(ssthresh.saturating_sub(cwnd));
    for acked in [starts, acked - starts].into_iter().filter(|acked| *acked > 0) {
        law.grow(acked);
    }
}

#[cfg(test)]
mod tests;
