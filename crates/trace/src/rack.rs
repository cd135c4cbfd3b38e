//! What a sender with RACK and tail loss probes (RFC 8985) makes of the ACKs in a capture: the states that Linux passes
//! through (net/ipv4/tcp_input.c, `tcp_fastretrans_alert` and what it calls), without the window, which a capture does not
//! show.
//!
//! A retransmission is held against what such a sender would do. The connection's own evidence, or else that of the other
//! connections of its host, says in the end which reading of its retransmissions is the right one.
//!
//! The sender in `ecnlab-tcp` (`recovery/linux/`) has the same states. This analysis shares no code with it on purpose:
//! captures of our own sender are judged by a second reading of the RFC. Counters of real kernels judge this one
//! (docs/trace.md, `python/tests/test_linux_kernel.py`).

mod losses;
mod sending;
mod states;

use std::collections::VecDeque;

use crate::arrivals::Arrivals;
use crate::outstanding::{Cause, DUPLICATES, MOST_SEGMENTS, Sent};
use crate::ranges::Ranges;
use crate::ticks::{TICK, Ticks};

/// The reordering timer fires so much later than what it waits for (Linux: TCP_TIMEOUT_MIN_US).
const SLACK: u64 = 2_000_000;
/// So much before the time that is reckoned for it a timer fires, where the least round trip is known in milliseconds.
const EARLY: u64 = 1_000_000;
/// So much behind it, where the clock of timers ticks in up to 10 ms (HZ).
const LATE: u64 = 20_000_000;
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
    /// The clock of the end's timestamps.
    pub clock: Option<Ticks>,
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
    /// Read without RACK, it needs no timer.
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
    /// A timeout may prove spurious (RFC 5682); new data goes first.
    frto: bool,
    new_first: bool,
    /// Timeouts since anything was acknowledged.
    timeouts: u32,
    /// When a timer last had something sent.
    fired: Option<u64>,
    /// A recovery has begun by a timer, and nothing was sent yet.
    silent: bool,
    /// When the last ACK came if it tells the round trip by the timestamp that it echoes, and that timestamp.
    echo: Option<(u64, u32)>,
}

impl Rack {
    /// A reading that begins with `segments` outstanding, of which none was sent again or reported.
    pub fn begin(segments: &VecDeque<Sent>, tally: Tally) -> Box<Rack> {
        let order = segments.iter().map(|s| (s.time, s.start)).collect();
        let largest = segments.iter().map(|s| s.end - s.start).max().unwrap_or(1);
        Box::new(Rack { tally, order, largest, timer: Timer::Probe, ..Rack::default() })
    }

    /// Bytes on the heap, its own among them.
    pub fn heap(&self) -> usize {
        let pair = size_of::<(u64, u64)>();
        size_of::<Rack>() + (self.order.capacity() + self.stamps.capacity()) * pair + self.reported.heap()
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
            self.echo = told.echoed.filter(|_| told.advanced).map(|echoed| (view.time, echoed));
            self.take_stamped_rtt(view, Ticks::latest);
            return false;
        };
        view.arrivals.least(view.time.saturating_sub(last));
        !told.advanced && told.reported.is_some() && told.head.is_some_and(|head| first < head)
    }

    /// What the echo of a timestamp tells where all that is acknowledged was sent again (RFC 7323 §4.1), by the clock of
    /// timestamps (Linux: tcp_rtt_tsopt_us).
    pub(super) fn take_stamped_rtt(&self, view: &mut View, shown: impl Fn(&Ticks, u64) -> u32) {
        let Some(((time, echoed), clock)) = self.echo.zip(view.clock) else { return };
        let ticks = shown(&clock, time).wrapping_sub(echoed) as i32;
        if ticks >= 0 {
            view.arrivals.least(u64::from(ticks.unsigned_abs().max(1)) * TICK);
        }
    }

    /// Whether the next packet, sent at once, tells more exactly what the clock showed when the last echo came.
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
