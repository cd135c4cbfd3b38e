//! What a sender with RACK and tail loss probes (RFC 8985) makes of the ACKs in a capture: the states that Linux passes
//! through (net/ipv4/tcp_input.c, `tcp_fastretrans_alert` and what it calls), without the window, which a capture does not
//! show.
//!
//! A retransmission is held against what such a sender would do. The connection's own evidence, or else that of the other
//! connections of its host, says in the end which reading of its retransmissions is the right one.

use std::collections::VecDeque;

use crate::arrivals::Arrivals;
use crate::ranges::Ranges;
use crate::stream::{Cause, DUPLICATES, MOST_SEGMENTS, Sent};

/// The reordering timer fires so much later than what it waits for (Linux: TCP_TIMEOUT_MIN_US).
const SLACK: u64 = 2_000_000;
/// Linux' timestamps, and those of many others, count milliseconds.
const TICK: u64 = 1_000_000;
/// The most segments by which a path is thought to reorder (Linux: net.ipv4.tcp_max_reordering).
const MAX_REORDERING: u64 = 300;

/// Sendings remembered before those are forgotten that no longer matter.
const MOST_SENDINGS: usize = 4 * MOST_SEGMENTS;

/// Retransmissions as this reading has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// By cause, in the order of [`Cause`].
    pub causes: [u64; 5],
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Recoveries begun.
    pub recoveries: u64,
    /// Reductions that ECE asked for.
    pub reductions: u64,
}

/// What was seen of a sender that only one with RACK does, and what none with RACK does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// Of RACK.
    pub for_it: u32,
    /// Against it.
    pub against: u32,
}

impl Evidence {
    /// Whether the sender has RACK; `None` if nothing tells.
    pub fn verdict(self) -> Option<bool> {
        (self.for_it != self.against).then_some(self.for_it > self.against)
    }

    /// With that of another connection of the same host.
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

/// What the sender's timer is set for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Timer {
    #[default]
    Timeout,
    /// What may have been reordered is then lost: due at this time.
    Reordering(u64),
    Probe,
}

/// An ACK, as far as it has been read.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    advanced: bool,
    sacked: bool,
    duplicate: bool,
    echo: bool,
    echoed: Option<u32>,
    /// Something sent once only, from below the recovery point, has arrived.
    original: bool,
    /// Something that was sent again is acknowledged.
    resent: bool,
    lost_again: bool,
    /// When what is acknowledged, then what is reported, was sent: of those sent once only, the first and the last.
    acked: Option<(u64, u64)>,
    reported: Option<(u64, u64)>,
    /// The lowest offset that has arrived after higher ones without having been sent again.
    late: Option<u64>,
    /// Nothing was outstanding.
    idle: bool,
    /// When the first segment outstanding was last sent, before anything was acknowledged.
    head: Option<u64>,
    /// One past the highest offset that had arrived before.
    highest: u64,
    /// The first offset that was not acknowledged before.
    before: u64,
}

/// The stream that a reading is of.
pub(crate) struct View<'a> {
    pub segments: &'a mut VecDeque<Sent>,
    pub arrivals: &'a mut Arrivals,
    pub una: u64,
    pub next: u64,
    pub time: u64,
    /// Timers fire so much before or behind the time that is reckoned for them.
    pub late: u64,
}

/// A retransmission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Again {
    pub start: u64,
    pub end: u64,
    /// It comes as fast behind an ACK as this end answers.
    pub answers: bool,
    /// It comes two round trips behind whatever came or went before.
    pub quiet: bool,
    /// The timestamp it carries.
    pub stamp: Option<u32>,
    /// Read without RACK, a reason for it was to be seen.
    pub explained: bool,
}

/// The reading.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rack {
    pub tally: Tally,
    pub evidence: Evidence,
    state: State,
    /// Where the present state ends.
    recover: u64,
    timer: Timer,
    told: Told,
    // Segments reported, taken for lost, and sent again, the copy being in flight.
    held: u32,
    lost: u32,
    copies: u32,
    /// Times and offsets of transmissions in their order; of what has arrived or is taken for lost they are stale.
    order: VecDeque<(u64, u64)>,
    /// Offsets of what was sent again, with the timestamp.
    stamps: Vec<(u64, u32)>,
    highest: u64,
    /// What SACK has reported.
    reported: Ranges,
    /// Bytes of the largest segment.
    largest: u64,
    /// What was outstanding when a probe went ends here.
    probe: Option<u64>,
    /// The probe was sent before.
    probe_again: bool,
    /// Something has arrived since losses were last looked for.
    news: bool,
    /// Segments by which the path is thought to reorder, where that is more than the usual.
    reordering: u32,
    reordered: bool,
    /// A reduction is in force that might be taken back.
    armed: bool,
    /// The recovery has just begun.
    fresh: bool,
    /// The timestamp of the first retransmission of an episode.
    stamp: Option<u32>,
    /// What the clock of timestamps shows more than that of the capture.
    clock: Option<u32>,
    /// A timeout may prove spurious (RFC 5682); new data goes first.
    frto: bool,
    new_first: bool,
    /// Timeouts since anything was acknowledged.
    timeouts: u32,
    /// When a timer last had something sent.
    fired: Option<u64>,
    /// A recovery has begun by a timer, and nothing was sent yet.
    silent: bool,
}

impl Rack {
    /// A reading that begins with `segments` outstanding, of which none was sent again or reported.
    pub fn begin(segments: &VecDeque<Sent>, tally: Tally) -> Box<Rack> {
        let order = segments.iter().map(|s| (s.time, s.start)).collect();
        let largest = segments.iter().map(|s| s.end - s.start).max().unwrap_or(1);
        Box::new(Rack { tally, order, largest, timer: Timer::Probe, ..Rack::default() })
    }

    // ---- an ACK ----

    /// An ACK comes. `duplicate` says that it has what a duplicate must have; `echo` that it has ECE.
    pub fn hear(&mut self, view: &mut View, ack: u64, duplicate: bool, echo: bool, echoed: Option<u32>) {
        self.expire(view, false);
        self.evidence.against += u32::from(std::mem::take(&mut self.silent));
        let before = view.una;
        self.told = Told {
            advanced: ack > before,
            duplicate: duplicate && ack == before,
            echo,
            echoed,
            idle: view.segments.is_empty(),
            highest: self.highest.max(before),
            before,
            head: view.segments.front().map(|s| s.time),
            ..Told::default()
        };
    }

    /// SACK reports a block.
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
        self.told.sacked = true;
        self.arrived(sent, arrivals, time);
        if !sent.twice {
            widen(&mut self.told.reported, sent.time);
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

    /// A segment is acknowledged.
    pub fn acknowledged(&mut self, sent: &Sent, arrivals: &mut Arrivals, time: u64) {
        self.told.resent |= sent.twice;
        self.held -= u32::from(sent.held);
        self.lost -= u32::from(sent.lost);
        self.copies -= u32::from(sent.copy);
        if sent.held {
            return;
        }
        if !sent.twice {
            widen(&mut self.told.acked, sent.time);
            self.note_first_copy(sent);
        }
        // Its echo is of the first copy.
        let stamp = || self.stamps.binary_search_by_key(&sent.start, |s| s.0).ok().map(|i| self.stamps[i].1);
        let spurious = sent.twice && is_before(self.told.echoed, stamp());
        if !spurious {
            self.arrived(sent, arrivals, time);
        }
    }

    fn arrived(&mut self, sent: &Sent, arrivals: &mut Arrivals, time: u64) {
        self.news |= arrivals.note(sent.time, sent.end, sent.twice, time);
    }

    fn note_first_copy(&mut self, sent: &Sent) {
        let told = &mut self.told;
        told.original |= sent.end <= self.recover;
        if sent.start < told.highest {
            told.late = Some(told.late.map_or(sent.start, |late| late.min(sent.start)));
        }
    }

    /// The ACK has been read: what it leads to.
    pub fn heard(&mut self, view: &mut View) {
        if self.told.advanced {
            self.timeouts = 0;
            self.reported.trim_below(view.una);
            self.stamps.drain(..self.stamps.partition_point(|s| s.0 < view.una));
        }
        if view.segments.is_empty() {
            self.timer = Timer::Timeout;
        }
        let mut restart = self.told.advanced;
        restart |= self.take_rtt(view);
        self.note_reordering(self.told.late, view);
        if self.told.idle {
            self.probe_is_over(view);
            return;
        }
        self.end_probe(view);
        let told = self.told;
        if told.duplicate || told.sacked || told.echo || self.state != State::Open {
            restart &= !self.alert(view);
        }
        self.trim(view);
        if restart {
            let may_probe = matches!(self.state, State::Open | State::Cwr) && !view.segments.is_empty();
            self.timer = if may_probe { Timer::Probe } else { Timer::Timeout };
        }
    }

    /// Whether the timer is set anew because what SACK reports left before the first segment outstanding.
    fn take_rtt(&mut self, view: &mut View) -> bool {
        let told = &self.told;
        let acked = told.acked.filter(|_| !told.resent);
        let Some((first, last)) = told.reported.or(acked) else {
            if let Some(rtt) =
                told.echoed.filter(|_| told.advanced).and_then(|echoed| self.stamped_rtt(echoed, view.time))
            {
                view.arrivals.least(rtt);
            }
            return false;
        };
        view.arrivals.least(view.time.saturating_sub(last));
        !told.advanced && told.reported.is_some() && told.head.is_some_and(|head| first < head)
    }

    /// What the echo of a timestamp tells where all that is acknowledged was sent again (RFC 7323 §4.1), by a clock of
    /// milliseconds.
    fn stamped_rtt(&self, echoed: u32, time: u64) -> Option<u64> {
        let ticks = self.clock?.wrapping_add((time / TICK) as u32).wrapping_sub(echoed);
        ((ticks as i32) >= 0).then(|| u64::from(ticks) * TICK)
    }

    fn note_reordering(&mut self, late: Option<u64>, view: &View) {
        let highest = self.highest.max(view.una);
        let Some(late) = late.filter(|&late| late < highest) else { return };
        let segments = (highest - late).div_ceil(self.largest).min(MAX_REORDERING) as u32;
        self.reordering = self.reordering.max(segments);
        self.reordered = true;
    }

    // ---- states: the kernel's tcp_fastretrans_alert ----

    /// Returns whether the timer now runs for what may have been reordered.
    fn alert(&mut self, view: &mut View) -> bool {
        if self.state == State::Open {
            self.stamp = None;
        } else if view.una >= self.recover {
            self.leave(view);
        }
        match self.state {
            State::Recovery => self.in_recovery(view),
            State::Loss => self.in_loss(view),
            _ => self.look_around(view),
        }
    }

    fn leave(&mut self, view: &mut View) {
        match self.state {
            State::Cwr if view.una > self.recover => self.state = State::Open,
            State::Recovery => self.recovered(view),
            _ => {}
        }
    }

    fn recovered(&mut self, view: &mut View) {
        if self.may_undo() {
            self.take_back(false, view);
        }
        self.state = State::Open;
    }

    fn in_recovery(&mut self, view: &mut View) -> bool {
        if self.told.advanced && self.may_undo() {
            self.note_reordering(Some(self.told.before), view);
            if self.copies > 0 {
                return false;
            }
            self.forget_stamp(view);
            self.take_back(true, view);
            self.keep_open(view);
        }
        let waits = self.identify(view);
        if self.state != State::Recovery && self.lost > 0 {
            self.recover(view);
        }
        waits
    }

    /// The kernel's tcp_process_loss.
    fn in_loss(&mut self, view: &mut View) -> bool {
        self.after_timeout(view);
        let waits = self.identify(view);
        if self.state == State::Open || self.told.lost_again {
            return self.look_around(view) | waits;
        }
        waits
    }

    fn after_timeout(&mut self, view: &mut View) {
        let (told, recovered) = (self.told, view.una >= self.recover);
        self.new_first = false;
        if (told.advanced && self.may_undo()) || (self.frto && told.original) {
            self.take_back(true, view);
            self.state = State::Open;
            return;
        }
        if self.frto {
            if view.next > self.recover {
                self.frto &= !(told.sacked || told.duplicate);
            } else if told.advanced && !recovered {
                // New data goes next, if there is any.
                self.new_first = true;
                return;
            }
        }
        if recovered {
            self.recovered(view);
        }
    }

    fn look_around(&mut self, view: &mut View) -> bool {
        let waits = self.identify(view);
        if self.lost > 0 {
            self.recover(view);
            return waits;
        }
        self.forget_stamp(view);
        if self.told.echo && self.state < State::Cwr {
            self.armed = false;
            self.reduce(view);
            self.state = State::Cwr;
            self.tally.reductions += 1;
        }
        if self.state != State::Cwr {
            self.keep_open(view);
        }
        waits
    }

    fn identify(&mut self, view: &mut View) -> bool {
        if view.segments.is_empty() || !std::mem::take(&mut self.news) {
            return false;
        }
        let copies = self.copies;
        let wait = self.find_lost(view);
        self.told.lost_again |= self.copies < copies;
        if wait > 0 {
            self.timer = Timer::Reordering(view.time.saturating_add(wait).saturating_add(SLACK));
        }
        wait > 0
    }

    fn keep_open(&mut self, view: &View) {
        let disorder = self.held + self.lost > 0 || self.any_copy(view);
        let state = if disorder { State::Disorder } else { State::Open };
        if self.state != state {
            self.state = state;
            self.recover = view.next;
        }
    }

    /// tcp_enter_recovery.
    fn recover(&mut self, view: &View) {
        self.forget_stamp(view);
        (self.armed, self.fresh) = (true, true);
        self.tally.recoveries += 1;
        if self.state != State::Cwr {
            self.reduce(view);
        }
        self.state = State::Recovery;
    }

    /// tcp_init_cwnd_reduction.
    fn reduce(&mut self, view: &View) {
        self.probe = None;
        self.recover = view.next;
    }

    // ---- undo ----

    fn may_undo(&self) -> bool {
        self.armed && self.stamp.is_none_or(|stamp| is_before(self.told.echoed, Some(stamp)))
    }

    fn take_back(&mut self, none_lost: bool, view: &mut View) {
        if none_lost {
            view.segments.iter_mut().for_each(|s| s.lost = false);
            self.lost = 0;
        }
        self.armed = false;
        self.news = true;
    }

    fn any_copy(&self, view: &View) -> bool {
        self.copies > 0 || view.segments.front().is_some_and(|s| s.twice)
    }

    fn forget_stamp(&mut self, view: &View) {
        if !self.any_copy(view) {
            self.stamp = None;
        }
    }

    // ---- probes ----

    /// Whether the ACK proves a loss that the probe has repaired (RFC 8985 §7.4.2); it may end the episode.
    fn probe_is_over(&mut self, view: &View) -> bool {
        let Some(end) = self.probe.filter(|&end| view.una >= end) else { return false };
        if self.probe_again && view.una > end {
            return true;
        }
        if !self.probe_again || (self.told.duplicate && !self.told.sacked) {
            self.probe = None;
        }
        false
    }

    fn end_probe(&mut self, view: &View) {
        if self.probe_is_over(view) {
            self.reduce(view);
            self.state = State::Cwr;
            self.keep_open(view);
        }
    }

    // ---- losses, by time ----

    /// RFC 8985 §6.2 step 5. Returns how long something in flight may still take.
    fn find_lost(&mut self, view: &mut View) -> u64 {
        let patient = self.reordered || (self.state < State::Recovery && self.held < self.reordering.max(DUPLICATES));
        let mut wait = 0;
        for k in 0..self.order.len() {
            let (time, start) = self.order[k];
            let Some(i) = pending(view.segments, time, start) else { continue };
            let Some(left) = view.arrivals.left(time, view.segments[i].end, patient, view.time) else { break };
            wait = wait.max(left);
            if left == 0 {
                self.lose(&mut view.segments[i]);
            }
        }
        self.trim(view);
        wait
    }

    fn lose(&mut self, sent: &mut Sent) {
        if sent.held {
            return;
        }
        if sent.lost {
            self.copies -= u32::from(std::mem::take(&mut sent.copy));
        } else {
            sent.lost = true;
            self.lost += 1;
        }
    }

    fn remember(&mut self, view: &View, start: u64) {
        if self.order.len() >= MOST_SENDINGS {
            self.order.retain(|&(time, start)| pending(view.segments, time, start).is_some());
        }
        self.order.push_back((view.time, start));
    }

    fn trim(&mut self, view: &View) {
        while self.order.front().is_some_and(|&(time, start)| pending(view.segments, time, start).is_none()) {
            self.order.pop_front();
        }
    }

    /// The reordering timer has fired, if it was due.
    fn expire(&mut self, view: &mut View, sends: bool) {
        let Timer::Reordering(due) = self.timer else { return };
        if if sends { view.time + view.late < due } else { view.time <= due + view.late } {
            return;
        }
        let found = (self.lost, self.copies);
        let now = std::mem::replace(&mut view.time, due);
        self.find_lost(view);
        if found != (self.lost, self.copies) && self.state != State::Recovery {
            // In a reduction that goes on the window may be full.
            self.silent = self.state != State::Cwr && self.copies < self.lost;
            self.recover(view);
        }
        view.time = now;
        self.timer = Timer::Timeout;
        self.fired = Some(due);
    }

    // ---- sending ----

    /// New data are sent; `quiet` two round trips behind whatever came or went before, `first` with nothing outstanding.
    pub fn send(&mut self, view: &mut View, (start, end): (u64, u64), quiet: bool, first: bool) {
        self.expire(view, true);
        self.new_first = false;
        self.largest = self.largest.max(end - start);
        self.remember(view, start);
        if quiet && self.timer == Timer::Probe && self.probe.is_none() {
            (self.probe, self.probe_again) = (Some(end), false);
            self.timer = Timer::Timeout;
        } else if matches!(self.state, State::Open | State::Cwr) {
            self.timer = Timer::Probe;
        } else if first || self.timer == Timer::Probe {
            self.timer = Timer::Timeout;
        }
    }

    /// Something is sent again. Returns why, and whether the retransmission timer began it.
    pub fn send_again(&mut self, view: &mut View, again: Again) -> (Cause, bool) {
        self.expire(view, true);
        self.silent &= self.fired.is_some_and(|at| view.time.abs_diff(at) > 2 * view.late);
        self.evidence.against += u32::from(std::mem::take(&mut self.silent));
        let at = view.segments.partition_point(|s| s.end <= again.start);
        let waits = view.segments.get(at).is_some_and(|s| s.lost && !s.copy && !s.held);
        let (cause, timer) = self.cause(view, &again, waits);
        self.tally.causes[cause as usize] += 1;
        self.tally.timeouts += u64::from(timer);
        self.book(view, at, &again, cause);
        (cause, timer)
    }

    fn cause(&mut self, view: &mut View, again: &Again, waits: bool) -> (Cause, bool) {
        let by_timer = self.fired.is_some_and(|at| view.time.abs_diff(at) <= 2 * view.late);
        if waits && (again.answers || by_timer) {
            self.evidence.for_it += u32::from(!again.answers || !again.explained);
            return (self.in_turn(), false);
        }
        let tail = again.end == view.next && self.timer == Timer::Probe && self.probe.is_none();
        // The timer has fired in the instant of an ACK: nothing else has the first segment sent again so soon.
        let repeated = self.state == State::Loss && again.start <= view.una;
        if again.answers && !again.quiet && !tail && !repeated {
            self.evidence.against += 1;
            return (self.in_turn(), false);
        }
        if self.timer == Timer::Probe && self.probe.is_none() {
            if tail {
                self.evidence.for_it += u32::from(again.start > view.una && !(again.answers && again.explained));
                (self.probe, self.probe_again) = (Some(view.next), true);
                self.timer = Timer::Timeout;
                return (Cause::Tail, false);
            }
            self.evidence.against += 1;
        } else if again.start > view.una {
            self.evidence.against += 1;
        }
        self.time_out(view);
        (Cause::Timeout, true)
    }

    /// What is sent again in its turn.
    fn in_turn(&mut self) -> Cause {
        if self.state == State::Loss {
            self.frto &= !std::mem::take(&mut self.new_first);
            Cause::Timeout
        } else if std::mem::take(&mut self.fresh) {
            Cause::Fast
        } else {
            Cause::Sack
        }
    }

    /// tcp_enter_loss.
    fn time_out(&mut self, view: &mut View) {
        for i in 0..view.segments.len() {
            let sent = &mut view.segments[i];
            if i == 0 || view.arrivals.has_had_its_time(sent.time, view.time) {
                self.lose(sent);
            }
        }
        self.armed |= self.state <= State::Disorder
            || self.recover <= view.una
            || (self.state == State::Loss && self.timeouts == 0);
        if self.state <= State::Disorder && self.held >= DUPLICATES {
            self.reordering = self.reordering.min(DUPLICATES);
        }
        self.frto = self.state < State::Recovery || self.timeouts > 0;
        self.state = State::Loss;
        self.timer = Timer::Timeout;
        self.timeouts += 1;
        self.reduce(view);
        self.fired = Some(view.time);
    }

    fn book(&mut self, view: &mut View, at: usize, again: &Again, cause: Cause) {
        let mut seen = at;
        while let Some(sent) = view.segments.get_mut(seen).filter(|s| s.start < again.end) {
            if cause != Cause::Tail && !sent.copy {
                sent.copy = true;
                self.copies += 1;
            }
            sent.twice = true;
            let start = sent.start;
            if let Some(stamp) = again.stamp {
                match self.stamps.binary_search_by_key(&start, |s| s.0) {
                    Ok(known) => self.stamps[known].1 = stamp,
                    Err(place) => self.stamps.insert(place, (start, stamp)),
                }
            }
            self.remember(view, start);
            seen += 1;
        }
        if cause != Cause::Tail && self.stamp.is_none() {
            // Without timestamps no echo is ever earlier.
            self.stamp = Some(again.stamp.unwrap_or(0));
        }
        self.clock = again.stamp.map(|stamp| stamp.wrapping_sub((view.time / TICK) as u32));
    }
}

/// The segment of an entry of the order of transmissions, unless the entry is stale.
fn pending(segments: &VecDeque<Sent>, time: u64, start: u64) -> Option<usize> {
    let i = segments.partition_point(|s| s.end <= start);
    let sent = segments.get(i).filter(|s| s.start <= start && s.time == time)?;
    (!sent.held && (!sent.lost || sent.copy)).then_some(i)
}

/// Whether an echoed timestamp is earlier than `stamp`.
fn is_before(echoed: Option<u32>, stamp: Option<u32>) -> bool {
    echoed.zip(stamp).is_some_and(|(echoed, stamp)| (echoed.wrapping_sub(stamp) as i32) < 0)
}

fn widen(span: &mut Option<(u64, u64)>, at: u64) {
    *span = Some((span.map_or(at, |(first, _)| first), at));
}
