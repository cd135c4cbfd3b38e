//! RACK-TLP (RFC 8985) with proportional rate reduction (RFC 6937, RFC 9937), as Linux 7 has them: a segment is lost once
//! one sent later has arrived and a reordering window has passed; a probe follows a silence.
//!
//! The sender is in one of five states, and each ACK passes through them in the order of the kernel's `tcp_ack`
//! (net/ipv4/tcp_input.c). Windows and flights are counted in segments.

mod detect;
mod probe;
mod states;
mod undo;

use ecnlab_base::{Dur, Time};

use super::{InUse, Scheme, TakeAck};
use crate::cc::{Ack, Congestion, CongestionControl};
use crate::config::{Config, EcnResponse, Invalid, RttSampling, ensure};
use crate::recovery::Cause;
use crate::sender::{AckSeen, Board, Chunk, Cx, How, Outstanding, Prr, Sender};
use detect::Detect;
use probe::Probe;
use undo::Undo;

/// What a sender is doing (the kernel's `tcp_ca_state`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    /// All is well.
    #[default]
    Open,
    /// Something was held or sent again, and nothing is lost.
    Disorder,
    /// ECN has told of congestion: the window is going down.
    Cwr,
    /// A loss has: the same, and what is lost is sent again.
    Recovery,
    /// The timer has fired.
    Loss,
}

/// What the sender's deadline is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Timer {
    /// A retransmission timeout, or a probe of a closed window.
    #[default]
    Timeout,
    /// What may be reordered is then lost (RFC 8985 §6.2 step 5).
    Reordering,
    /// A tail loss probe (RFC 8985 §7.2).
    Probe,
}

/// What the next burst begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum First {
    /// What the window admits.
    #[default]
    Nothing,
    /// The first segment outstanding, whatever the window: after a timeout.
    Head,
    /// A probe: a new segment beyond the window, or else the last one again.
    Probe,
}

/// What goes before what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Prefer {
    /// New data only.
    #[default]
    New,
    /// What is lost, then new data.
    Lost,
    /// New data; what is lost if there is none (F-RTO, RFC 5682 §3.1 step 2b).
    NewElseLost,
}

/// The least time to a timer beyond what it waits for, and the finest tick of a timer (Linux: TCP_TIMEOUT_MIN_US, HZ).
const SLACK: Dur = Dur::from_ms(2);
const TICK: Dur = Dur::from_ms(1);

/// The state of the law.
#[derive(Clone, Debug, Default)]
pub(crate) struct RackState {
    board: Board,
    state: State,
    timer: Timer,
    first: First,
    prefer: Prefer,
    detect: Detect,
    prr: Prr,
    probe: Probe,
    undo: Undo,
    /// A timeout may prove spurious (F-RTO).
    frto: bool,
    /// One past the highest byte reported by SACK.
    highest: u64,
    /// What this ACK's SACK blocks have told: first offset, end, bytes not known before.
    blocks: Vec<(u64, u64, u64)>,
    usage: Usage,
    /// Bytes outstanding before the ACK at hand.
    flight: u64,
    /// New segments of this burst, and whether nothing was outstanding before it.
    burst: (u32, bool),
}

/// Whether the window is what limits the sender (the kernel's tcp_cwnd_validate).
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    limited: bool,
    /// The most segments outstanding in this window of data.
    most: u32,
    /// The window of data ends here.
    until: u64,
}

/// What one ACK has told, in the course of its handling.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    /// It acknowledges new bytes.
    advanced: bool,
    /// It reports new bytes by SACK.
    sacked: bool,
    /// It has what a duplicate ACK must have.
    duplicate: bool,
    echo: bool,
    echoed: Option<u32>,
    /// Segments that it has acknowledged or reported for the first time.
    delivered: u32,
    /// Segments that it has made taken for lost.
    lost: u32,
    /// Something that was never sent again has arrived, from below the recovery point.
    original: bool,
    /// Of what it acknowledges, some was sent again.
    resent: bool,
    /// A retransmission was lost.
    lost_again: bool,
    /// The timer is to be set anew.
    set_timer: bool,
    /// First and last times of sending of what it acknowledges, then of what it reports, each sent once only.
    acked: Option<(Time, Time)>,
    reported: Option<(Time, Time)>,
    /// The lowest offset that arrived after higher ones without having been sent again.
    late: Option<u64>,
}

/// The law; its state once data may flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rack(Option<Box<RackState>>);

impl Scheme for Rack {
    const NEEDS_SACK: bool = true;
    const TAKES_ACKS: Option<TakeAck> = Some(|tx, seen, cx| {
        with(tx, |rack, tx| rack.on_ack(tx, seen, cx));
    });

    /// It sees to the duplicates, probes and windows of its own, and knows none of ns-2's.
    fn check(config: &Config) -> Result<(), Invalid> {
        ensure(config.rtt_sampling != RttSampling::TimedSegment, "rtt_sampling", || {
            "must not be timed-segment with recovery = \"rack\", which times each segment".into()
        })?;
        ensure(config.ecn_response != EcnResponse::Ns2, "ecn_response", || {
            "must not be ns-2 with recovery = \"rack\"".into()
        })
    }

    fn on_established(tx: &mut Sender, rtt: Option<Dur>) {
        let mut state = Box::<RackState>::default();
        if let Some(rtt) = rtt {
            state.detect.least_rtt(rtt);
        }
        tx.scheme = InUse::Rack(Rack(Some(state)));
        tx.recovery.active = true;
    }

    fn on_sacked(tx: &mut Sender, start: u64, end: u64, new: u64) {
        with(tx, |rack, _| rack.blocks.push((start, end, new)));
    }

    #[inline(never)]
    fn next(tx: &mut Sender, _: &Config) -> Option<Chunk> {
        with(tx, |rack, tx| rack.next(tx)).flatten()
    }

    fn on_sent(tx: &mut Sender, chunk: Chunk, cx: &Cx) -> bool {
        // In parts, so that other senders may keep them in registers.
        on_sent(tx, chunk.start, (chunk.len, chunk.fin, chunk.how), cx);
        true
    }

    /// The timer is set for a burst at once.
    fn arm(_: &mut Sender, _: &Cx) {}

    #[inline(never)]
    fn end_burst(tx: &mut Sender, config: &Config, now: Time) {
        with(tx, |rack, tx| rack.end_burst(tx, config, now));
    }

    fn on_timer(tx: &mut Sender, cx: &mut Cx) -> bool {
        with(tx, |rack, tx| rack.on_timer(tx, cx)).unwrap_or(false)
    }

    fn on_timeout(tx: &mut Sender, cx: &mut Cx) {
        with(tx, |rack, tx| rack.on_timeout(tx, cx));
    }

    fn reduce_for_ecn(tx: &mut Sender, _: u64, cx: &mut Cx) {
        with(tx, |rack, tx| {
            rack.flight = tx.flight();
            rack.enter_cwr(tx, cx);
        });
    }

    fn in_recovery(tx: &Sender) -> bool {
        matches!(&tx.scheme, InUse::Rack(Rack(Some(rack))) if rack.state >= State::Recovery)
    }
}

/// Calls `f` with the law's state apart from the sender's.
fn with<T>(tx: &mut Sender, f: impl FnOnce(&mut RackState, &mut Sender) -> T) -> Option<T> {
    let InUse::Rack(Rack(slot)) = &mut tx.scheme else { return None };
    let mut rack = slot.take()?;
    let result = f(&mut rack, tx);
    tx.scheme = InUse::Rack(Rack(Some(rack)));
    Some(result)
}

#[cold]
#[inline(never)]
fn on_sent(tx: &mut Sender, start: u64, (len, fin, how): (u32, bool, How), cx: &Cx) {
    let chunk = Chunk { start, len, fin, how };
    with(tx, |rack, tx| {
        let stamp = tx.clock(cx.config, cx.now);
        if how != How::Probe && rack.sent(chunk, tx.una, cx.now, stamp) {
            tx.arm(cx.config, cx.now);
        }
    });
}

impl RackState {
    // ---- an ACK ----

    fn on_ack(&mut self, tx: &mut Sender, seen: AckSeen, cx: &mut Cx) {
        let before = tx.una;
        self.flight = tx.flight();
        let mut told = Told {
            advanced: seen.ack > before,
            sacked: seen.new_sack,
            duplicate: seen.bare && seen.ack == before,
            echo: seen.echo,
            echoed: seen.echoed,
            ..Told::default()
        };
        let idle = self.board.is_empty();
        let highest = self.highest.max(before);
        let head_sent = self.take_blocks(tx, highest, &mut told, cx);
        self.take_ack(tx, seen.ack, highest, &mut told, cx);
        self.sample_rtt(tx, &mut told, head_sent, cx);
        self.note_reordering(tx, told.late);
        if idle {
            self.probe.on_ack(tx.una, &told);
            return;
        }
        self.end_probe(tx, &told, cx);
        let alert = told.duplicate || told.sacked || told.echo || self.state != State::Open;
        self.prefer = Prefer::New;
        if alert {
            cx.counters.dupacks_received += u64::from(!told.advanced && told.sacked);
            self.alert(tx, before, &mut told, cx);
        }
        if told.set_timer {
            self.set_timer(tx, cx.config, cx.now);
        }
        self.control_window(tx, &told, cx.config);
    }

    /// Takes in what SACK reports. Returns when the first segment outstanding was last sent.
    fn take_blocks(&mut self, tx: &Sender, highest: u64, told: &mut Told, cx: &Cx) -> Option<Time> {
        let mut blocks = std::mem::take(&mut self.blocks);
        blocks.sort_unstable();
        for &(start, end, new) in &blocks {
            let (detect, board) = (&mut self.detect, &mut self.board);
            board.hold(start, end, new, |s| {
                detect.advance(s, cx.now);
                told.delivered += 1;
                if !s.ever_resent {
                    told.late = told.late.min_of((s.start < highest).then_some(s.start));
                    told.original |= s.end() <= tx.recovery.recover;
                    widen(&mut told.reported, s.sent);
                }
            });
            self.highest = self.highest.max(end);
        }
        blocks.clear();
        self.blocks = blocks;
        self.board.head().map(|s| s.sent)
    }

    /// Takes in the acknowledgement number.
    fn take_ack(&mut self, tx: &mut Sender, ack: u64, highest: u64, told: &mut Told, cx: &Cx) {
        let spurious = |s: &Outstanding| {
            let sent = tx.clock(cx.config, s.sent);
            s.ever_resent && told.echoed.is_some_and(|echoed| (echoed.wrapping_sub(sent) as i32) < 0)
        };
        let detect = &mut self.detect;
        let mut seen = *told;
        self.board.acknowledge(ack, |s| {
            seen.resent |= s.ever_resent;
            if !s.ever_resent && !s.held {
                widen(&mut seen.acked, s.sent);
                seen.late = seen.late.min_of((s.start < highest).then_some(s.start));
                seen.original |= s.end() <= tx.recovery.recover;
            }
            if !s.held {
                seen.delivered += 1;
                if !spurious(s) {
                    detect.advance(s, cx.now);
                }
            }
        });
        *told = seen;
        if told.advanced {
            tx.una = ack;
            tx.nxt = tx.nxt.max(ack);
            tx.timeouts = 0;
            tx.sacked.trim_below(ack);
            told.set_timer = true;
        }
        if self.board.is_empty() {
            self.timer = Timer::Timeout;
        }
    }

    /// The kernel's tcp_ack_update_rtt: from what was sent once, else from the echoed timestamp (RFC 6298 §3).
    fn sample_rtt(&mut self, tx: &mut Sender, told: &mut Told, head_sent: Option<Time>, cx: &mut Cx) {
        let acked = told.acked.filter(|_| !told.resent);
        let own = acked.or(told.reported).map(|(first, _)| tx.rto.measure(cx.config, first, cx.now));
        let stamped = || tx.stamp_rtt(told.echoed?, cx).filter(|_| told.advanced);
        let by_stamp = cx.config.rtt_sampling == RttSampling::Timestamps;
        let rtt = if by_stamp { stamped().or(own) } else { own.or_else(stamped) };
        let Some(rtt) = rtt else { return };
        let last = told.reported.or(acked).map_or(rtt, |(_, last)| cx.now.since(last));
        self.detect.least_rtt(last);
        tx.take_rtt(rtt, cx);
        tx.rto.end_backoff();
        // A later segment's report does not put off the timeout of the first one (tcp_clean_rtx_queue).
        if let (false, Some((first, _)), Some(head)) = (told.advanced, told.reported, head_sent) {
            told.set_timer |= first < head;
        }
    }

    /// The kernel's tcp_cong_control: a reduction goes on, or the window opens.
    fn control_window(&mut self, tx: &mut Sender, told: &Told, config: &Config) {
        if matches!(self.state, State::Cwr | State::Recovery) {
            self.reduce(tx, told.delivered, told.advanced && told.lost == 0);
            return;
        }
        let may_grow = told.advanced || (told.sacked && self.detect.reordering_is_high());
        if may_grow
            && told.delivered > 0
            && tx.may_grow()
            && (self.is_window_limited(tx) || !config.grow_only_when_limited)
        {
            tx.law.on_ack(&Ack { acked: u64::from(told.delivered) * u64::from(tx.mss) });
        }
    }

    fn reduce(&mut self, tx: &mut Sender, delivered: u32, clean: bool) {
        if delivered == 0 {
            return;
        }
        let mss = u64::from(tx.mss);
        let in_flight = u64::from(self.board.in_flight());
        let window = self.prr.window(delivered.into(), in_flight, self.prr.target / mss, clean);
        tx.law.set_cwnd(window * mss);
    }

    // ---- what to send ----

    fn next(&mut self, tx: &Sender) -> Option<Chunk> {
        match std::mem::take(&mut self.first) {
            First::Head => return self.board.head().map(|s| again(s, tx.una, How::InOrder)),
            First::Probe => return self.probe(tx),
            First::Nothing => {}
        }
        if self.board.in_flight() >= window(tx) {
            return None;
        }
        match self.prefer {
            Prefer::New => tx.in_order(),
            Prefer::Lost => self.lost_segment(tx).or_else(|| tx.in_order()),
            Prefer::NewElseLost => tx.in_order().or_else(|| {
                self.frto = false;
                self.prefer = Prefer::Lost;
                self.lost_segment(tx)
            }),
        }
    }

    fn lost_segment(&mut self, tx: &Sender) -> Option<Chunk> {
        let segment = self.board.waiting()?;
        let how = match self.state {
            State::Loss => How::InOrder,
            _ if std::mem::take(&mut self.undo.fresh) => How::FastHead,
            _ => How::Hole,
        };
        Some(again(&segment, tx.una, how))
    }

    /// A chunk has been sent. Returns whether it sets the retransmission timer.
    pub fn sent(&mut self, chunk: Chunk, una: u64, now: Time, stamp: u32) -> bool {
        let before = self.board.len();
        let probe = chunk.how == How::Rescue;
        self.board.sent(chunk.start, chunk.len, chunk.fin, probe, now);
        if matches!(self.state, State::Cwr | State::Recovery) && !probe {
            self.prr.sent(1);
        }
        if self.board.len() > before {
            self.burst.1 |= before == 0;
            self.burst.0 += 1;
            return false;
        }
        if probe {
            return false;
        }
        self.undo.resent(stamp);
        chunk.start <= una && self.timer != Timer::Reordering
    }

    fn end_burst(&mut self, tx: &mut Sender, config: &Config, now: Time) {
        let (new, was_empty) = std::mem::take(&mut self.burst);
        let full = self.board.in_flight() >= window(tx);
        if new > 0 || full {
            self.note_usage(tx, full);
        }
        if new == 0 {
            return;
        }
        if was_empty || self.timer == Timer::Probe {
            self.rearm(tx, config, now);
        }
        if !std::mem::take(&mut self.probe.just_sent) {
            self.schedule_probe(tx, config, now, false);
        }
    }

    // ---- the window's use ----

    fn note_usage(&mut self, tx: &Sender, full: bool) {
        let outstanding = self.board.len();
        let usage = &mut self.usage;
        if tx.una >= usage.until || full || (!usage.limited && outstanding > usage.most) {
            *usage = Usage { limited: full, most: outstanding, until: tx.max };
        }
    }

    /// RFC 7661 §4.1; the kernel's tcp_is_cwnd_limited.
    fn is_window_limited(&self, tx: &Sender) -> bool {
        let state = tx.law.state();
        self.usage.limited || (state.cwnd < state.ssthresh && window(tx) < 2 * self.usage.most)
    }

    // ---- the timer ----

    fn on_timer(&mut self, tx: &mut Sender, cx: &mut Cx) -> bool {
        match self.timer {
            Timer::Timeout => return false,
            Timer::Reordering => self.on_reordering_timer(tx, cx),
            Timer::Probe => self.on_probe_timer(tx, cx),
        }
        true
    }

    /// The kernel's tcp_set_xmit_timer: a probe if one may be, or else the timeout.
    fn set_timer(&mut self, tx: &mut Sender, config: &Config, now: Time) {
        if self.board.is_empty() || !self.schedule_probe(tx, config, now, true) {
            self.rearm(tx, config, now);
        }
    }

    /// The kernel's tcp_rearm_rto: a whole timeout from now; in place of another timer, what was left of the timeout.
    fn rearm(&mut self, tx: &mut Sender, config: &Config, now: Time) {
        let timer = std::mem::take(&mut self.timer);
        if tx.is_held() {
            return;
        }
        let Some(head) = self.board.head() else {
            tx.deadline = Time::NEVER;
            return;
        };
        let from = if timer == Timer::Timeout { now } else { head.sent };
        let timeout = from.saturating_add(tx.rto.current(config));
        tx.deadline = timeout.max(now.saturating_add(TICK));
    }

    fn set(&mut self, tx: &mut Sender, timer: Timer, at: Time) {
        if !tx.is_held() {
            self.timer = timer;
            tx.deadline = at;
        }
    }
}

/// The window in whole segments.
fn window(tx: &Sender) -> u32 {
    (tx.law.cwnd() / u64::from(tx.mss)).min(u32::MAX.into()) as u32
}

/// The segment once more, but for what of it has been acknowledged.
fn again(segment: &Outstanding, una: u64, how: How) -> Chunk {
    let start = segment.start.max(una);
    let len = (segment.start + u64::from(segment.len)).saturating_sub(start) as u32;
    Chunk { start, len, fin: segment.fin, how }
}

fn widen(span: &mut Option<(Time, Time)>, at: Time) {
    *span = Some((span.map_or(at, |(first, _)| first), at));
}

trait MinOf {
    fn min_of(self, other: Self) -> Self;
}

impl MinOf for Option<u64> {
    /// The lesser of those that are there.
    fn min_of(self, other: Option<u64>) -> Option<u64> {
        match (self, other) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;

    #[test]
    fn what_it_cannot_be_combined_with_names_its_key() {
        let refused = |change: fn(&mut Config)| {
            let mut config = profile("linux-7").unwrap().config.clone();
            change(&mut config);
            config.check().unwrap_err().key
        };
        assert_eq!(refused(|c| c.sack = false), "sack");
        assert_eq!(refused(|c| c.rtt_sampling = RttSampling::TimedSegment), "rtt_sampling");
        assert_eq!(refused(|c| c.ecn_response = EcnResponse::Ns2), "ecn_response");
    }
}
