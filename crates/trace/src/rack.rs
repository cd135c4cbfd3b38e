//! Model of a sender with RACK and tail loss probes (RFC 8985), driven by the ACKs in a capture: the states of Linux
//! (net/ipv4/tcp_input.c, `tcp_fastretrans_alert` and its callees), without the congestion window, which a capture does
//! not show.
//!
//! Each retransmission is compared with the action of such a sender. The connection's own evidence or, without any,
//! that of other connections of its host decides at the end which interpretation of its retransmissions applies.
//!
//! The sender in `ecnlab-tcp` (`recovery/linux/`) has the same states. This analysis deliberately shares no code with
//! it, so that captures of the simulated sender are checked by an independent implementation of the RFC. Counters of
//! real kernels check this one (docs/trace.md, `python/tests/test_linux_kernel.py`).

mod losses;
mod sending;
mod states;

use std::collections::VecDeque;

use crate::arrivals::Arrivals;
use crate::outstanding::{Cause, DUPLICATES, MOST_SEGMENTS, Sent};
use crate::ranges::Ranges;
use crate::ticks::{TICK, Ticks};

/// Delay added to the reordering timer, in nanoseconds (Linux: TCP_TIMEOUT_MIN_US).
const SLACK: u64 = 2_000_000;
/// A timer fires at most this early, in nanoseconds, because the minimum RTT is known in milliseconds.
const EARLY: u64 = 1_000_000;
/// A timer fires at most this late, in nanoseconds, because timer ticks last up to 10 ms (HZ).
const LATE: u64 = 20_000_000;
/// Maximum reordering degree, in segments (Linux: net.ipv4.tcp_max_reordering).
const MAX_REORDERING: u64 = 300;

/// Number of stored transmissions at which obsolete ones are removed.
const MOST_SENDINGS: usize = 4 * MOST_SEGMENTS;

/// Retransmissions according to the RACK interpretation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// By cause, in the order of [`Cause`].
    pub causes: [u64; 5],
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Recoveries begun.
    pub recoveries: u64,
    /// Reductions required by ECE.
    pub reductions: u64,
}

/// Evidence about a sender: actions that only a sender with RACK takes, and actions that no such sender takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// Number of observations for RACK.
    pub for_it: u32,
    /// Number of observations against RACK.
    pub against: u32,
}

impl Evidence {
    /// Returns whether the sender uses RACK; `None` if undecided.
    pub fn verdict(self) -> Option<bool> {
        (self.for_it != self.against).then_some(self.for_it > self.against)
    }

    /// Adds the evidence of another connection of the same host.
    pub fn and(self, other: Evidence) -> Evidence {
        Evidence {
            for_it: self.for_it.saturating_add(other.for_it),
            against: self.against.saturating_add(other.against),
        }
    }
}

/// The kernel's `tcp_ca_state`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    #[default]
    Open,
    Disorder,
    Cwr,
    Recovery,
    Loss,
}

/// Purpose of the sender's timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Timer {
    #[default]
    Timeout,
    /// Reordering timer, due at this time: segments that may have been reordered are then lost.
    Reordering(u64),
    Probe,
}

/// State of an ACK while it is processed.
#[derive(Clone, Copy, Debug, Default)]
struct AckState {
    advanced: bool,
    sacked: bool,
    duplicate: bool,
    echo: bool,
    echoed: Option<u32>,
    /// A segment sent only once, below the recovery point, has arrived.
    original: bool,
    /// A retransmitted segment is acknowledged.
    resent: bool,
    lost_again: bool,
    /// Send times of acknowledged, then of SACKed segments that were sent only once: first and last.
    acked: Option<(u64, u64)>,
    reported: Option<(u64, u64)>,
    /// Lowest offset that arrived after higher ones without a retransmission.
    late: Option<u64>,
    /// Nothing was outstanding.
    idle: bool,
    /// Last send time of the first outstanding segment, before this ACK.
    head: Option<u64>,
    /// One past the highest offset that had arrived before this ACK.
    highest: u64,
    /// First offset not acknowledged before this ACK.
    before: u64,
}

/// The stream that the RACK model follows.
pub(crate) struct View<'a> {
    pub segments: &'a mut VecDeque<Sent>,
    pub arrivals: &'a mut Arrivals,
    pub una: u64,
    pub next: u64,
    pub time: u64,
    /// The clock of the end's timestamps.
    pub clock: Option<Ticks>,
}

/// A retransmission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Again {
    pub start: u64,
    pub end: u64,
    /// It follows an ACK within this end's response time.
    pub answers: bool,
    /// It follows two RTTs without any packet in either direction.
    pub quiet: bool,
    /// The timestamp it carries.
    pub stamp: Option<u32>,
    /// Without RACK, the interpretation explains it without a timer.
    pub explained: bool,
}

/// State of the RACK model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rack {
    pub tally: Tally,
    pub evidence: Evidence,
    state: State,
    /// Offset at which the current state ends.
    recover: u64,
    timer: Timer,
    ack_state: AckState,
    // Numbers of segments SACKed, marked lost, and retransmitted with the copy in flight.
    held: u32,
    lost: u32,
    copies: u32,
    /// Times and offsets of transmissions in order; entries of arrived or lost segments are stale.
    order: VecDeque<(u64, u64)>,
    /// Offsets of retransmissions with their timestamps.
    stamps: Vec<(u64, u32)>,
    highest: u64,
    /// Ranges reported by SACK.
    reported: Ranges,
    /// Largest segment in bytes.
    largest: u64,
    /// End of the data outstanding when the tail loss probe was sent.
    probe: Option<u64>,
    /// The probe was a retransmission.
    probe_again: bool,
    /// A segment has arrived since the last loss detection.
    news: bool,
    /// Reordering degree in segments if above the default.
    reordering: u32,
    reordered: bool,
    /// A reduction is in effect that may be undone.
    armed: bool,
    /// The recovery has just begun.
    fresh: bool,
    /// The timestamp of the first retransmission of an episode.
    stamp: Option<u32>,
    /// A timeout may prove spurious (RFC 5682); new data is sent first.
    frto: bool,
    new_first: bool,
    /// Timeouts since the last acknowledgement of new data.
    timeouts: u32,
    /// Time of the last transmission triggered by a timer.
    fired: Option<u64>,
    /// A recovery was started by a timer, and nothing was sent yet.
    silent: bool,
    /// Time of the last ACK and the timestamp it echoes, if that timestamp gives the RTT.
    echo: Option<(u64, u32)>,
}

impl Rack {
    /// Starts with `segments` outstanding, none of them retransmitted or SACKed.
    pub fn begin(segments: &VecDeque<Sent>, tally: Tally) -> Box<Rack> {
        let order = segments.iter().map(|s| (s.time, s.start)).collect();
        let largest = segments.iter().map(|s| s.end - s.start).max().unwrap_or(1);
        Box::new(Rack { tally, order, largest, timer: Timer::Probe, ..Rack::default() })
    }

    /// Bytes allocated on the heap, including this structure.
    pub fn heap(&self) -> usize {
        let pair = size_of::<(u64, u64)>();
        size_of::<Rack>() + (self.order.capacity() + self.stamps.capacity()) * pair + self.reported.heap()
    }

    // ---- an ACK ----

    /// Begins an ACK. `duplicate` if it meets the conditions of a duplicate ACK; `echo` if it has ECE.
    pub fn begin_ack(&mut self, view: &mut View, ack: u64, duplicate: bool, echo: bool, echoed: Option<u32>) {
        self.expire(view, false);
        self.evidence.against += u32::from(std::mem::take(&mut self.silent));
        let before = view.una;
        self.ack_state = AckState {
            advanced: ack > before,
            duplicate: duplicate && ack == before,
            echo,
            echoed,
            idle: view.segments.is_empty(),
            highest: self.highest.max(before),
            before,
            head: view.segments.front().map(|s| s.time),
            ..AckState::default()
        };
    }

    /// Processes a SACK block.
    pub fn report(&mut self, view: &mut View, start: u64, end: u64) {
        if start <= view.una || end > view.next {
            return;
        }
        let reported = std::mem::take(&mut self.reported);
        reported.for_missing(start, end, |low, high| {
            let first = view.segments.partition_point(|s| s.end <= low);
            for sent in view.segments.iter_mut().skip(first).take_while(|s| s.start < high && s.end <= end) {
                if sent.start >= start && !sent.held {
                    self.hold(sent, view.arrivals, view.time);
                }
            }
        });
        self.reported = reported;
        self.reported.insert(start, end);
    }

    fn hold(&mut self, sent: &mut Sent, arrivals: &mut Arrivals, time: u64) {
        self.ack_state.sacked = true;
        self.arrived(sent, arrivals, time);
        if !sent.twice {
            widen(&mut self.ack_state.reported, sent.time);
            self.note_first_copy(sent);
        }
        self.held += 1;
        if sent.lost {
            self.lost -= 1;
            self.copies -= u32::from(std::mem::take(&mut sent.copy));
            sent.lost = false;
        }
        sent.held = true;
        self.highest = self.highest.max(sent.end);
    }

    /// Processes the acknowledgement of a segment.
    pub fn acknowledged(&mut self, sent: &Sent, arrivals: &mut Arrivals, time: u64) {
        self.ack_state.resent |= sent.twice;
        self.held -= u32::from(sent.held);
        self.lost -= u32::from(sent.lost);
        self.copies -= u32::from(sent.copy);
        if sent.held {
            return;
        }
        if !sent.twice {
            widen(&mut self.ack_state.acked, sent.time);
            self.note_first_copy(sent);
        }
        // The echoed timestamp is that of the first copy.
        let stamp = || self.stamps.binary_search_by_key(&sent.start, |s| s.0).ok().map(|i| self.stamps[i].1);
        let spurious = sent.twice && is_before(self.ack_state.echoed, stamp());
        if !spurious {
            self.arrived(sent, arrivals, time);
        }
    }

    fn arrived(&mut self, sent: &Sent, arrivals: &mut Arrivals, time: u64) {
        self.news |= arrivals.note(sent.time, sent.end, sent.twice, time);
    }

    fn note_first_copy(&mut self, sent: &Sent) {
        let ack_state = &mut self.ack_state;
        ack_state.original |= sent.end <= self.recover;
        if sent.start < ack_state.highest {
            ack_state.late = Some(ack_state.late.map_or(sent.start, |late| late.min(sent.start)));
        }
    }

    /// Ends an ACK and applies its effects.
    pub fn end_ack(&mut self, view: &mut View) {
        if self.ack_state.advanced {
            self.timeouts = 0;
            self.reported.trim_below(view.una);
            self.stamps.drain(..self.stamps.partition_point(|s| s.0 < view.una));
        }
        if view.segments.is_empty() {
            self.timer = Timer::Timeout;
        }
        let mut restart = self.ack_state.advanced;
        restart |= self.take_rtt(view);
        self.note_reordering(self.ack_state.late, view);
        if self.ack_state.idle {
            self.probe_is_over(view);
            return;
        }
        self.end_probe(view);
        let ack_state = self.ack_state;
        if ack_state.duplicate || ack_state.sacked || ack_state.echo || self.state != State::Open {
            restart &= !self.alert(view);
        }
        self.trim(view);
        if restart {
            let may_probe = matches!(self.state, State::Open | State::Cwr) && !view.segments.is_empty();
            self.timer = if may_probe { Timer::Probe } else { Timer::Timeout };
        }
    }

    /// Returns whether the timer is restarted because SACKed data was sent before the first outstanding segment.
    fn take_rtt(&mut self, view: &mut View) -> bool {
        let ack_state = &self.ack_state;
        let acked = ack_state.acked.filter(|_| !ack_state.resent);
        let Some((first, last)) = ack_state.reported.or(acked) else {
            self.echo = ack_state.echoed.filter(|_| ack_state.advanced).map(|echoed| (view.time, echoed));
            self.take_stamped_rtt(view, Ticks::latest);
            return false;
        };
        view.arrivals.least(view.time.saturating_sub(last));
        !ack_state.advanced && ack_state.reported.is_some() && ack_state.head.is_some_and(|head| first < head)
    }

    /// Takes an RTT sample from the echoed timestamp if all acknowledged segments were retransmitted (RFC 7323 §4.1),
    /// by the timestamp clock (Linux: tcp_rtt_tsopt_us).
    pub(super) fn take_stamped_rtt(&self, view: &mut View, shown: impl Fn(&Ticks, u64) -> u32) {
        let Some(((time, echoed), clock)) = self.echo.zip(view.clock) else { return };
        let ticks = shown(&clock, time).wrapping_sub(echoed) as i32;
        if ticks >= 0 {
            view.arrivals.least(u64::from(ticks.unsigned_abs().max(1)) * TICK);
        }
    }

    /// Returns whether the next packet, if sent immediately, gives a better reading of the clock at the last echo.
    pub fn waits_for_stamp(&self, time: u64) -> bool {
        self.echo.is_some_and(|(came, _)| time.saturating_sub(came) < TICK)
    }

    fn note_reordering(&mut self, late: Option<u64>, view: &View) {
        let highest = self.highest.max(view.una);
        let Some(late) = late.filter(|&late| late < highest) else { return };
        let segments = (highest - late).div_ceil(self.largest).min(MAX_REORDERING) as u32;
        self.reordering = self.reordering.max(segments);
        self.reordered = true;
    }
}

/// Returns the segment of an entry of the transmission order, unless the entry is stale.
fn pending(segments: &VecDeque<Sent>, time: u64, start: u64) -> Option<usize> {
    // Most entries are of the first segment.
    let is_first = segments.front().is_some_and(|s| s.end > start);
    let i = if is_first { 0 } else { segments.partition_point(|s| s.end <= start) };
    let sent = segments.get(i).filter(|s| s.start <= start && s.time == time)?;
    (!sent.held && (!sent.lost || sent.copy)).then_some(i)
}

/// Returns whether an echoed timestamp is earlier than `stamp`.
fn is_before(echoed: Option<u32>, stamp: Option<u32>) -> bool {
    echoed.zip(stamp).is_some_and(|(echoed, stamp)| (echoed.wrapping_sub(stamp) as i32) < 0)
}

fn widen(span: &mut Option<(u64, u64)>, at: u64) {
    *span = Some((span.map_or(at, |(first, _)| first), at));
}
