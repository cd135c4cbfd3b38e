//! Links whose rate, delay or availability changes during a run, and links with jitter.
//!
//! A packet in transmission at a change of rate goes on at the new rate: its last bit leaves when the integral of the
//! rate over time has reached its length. At rate zero it waits. Its propagation delay is that at the time its last bit
//! leaves.

use std::collections::VecDeque;
use std::sync::Arc;

use ecnlab_base::steps::Cursor;
use ecnlab_base::{Dur, Rng, Time};

use crate::jitter::Jolts;
use crate::plan::LinkPlan;

/// When a packet ends whose rate stays zero: later than any run.
const NO_END: Time = Time::from_ps(u64::MAX / 2);

/// Picoseconds in a second.
const PS: u128 = 1_000_000_000_000;

/// The parts of a link that vary from packet to packet.
pub struct Unsteady {
    jitter: Option<Jolts>,
    rate: Option<Cursor>,
    delay: Option<Cursor>,
    outages: Outages,
    /// Latest arrival so far: a shorter delay lets no packet overtake.
    latest: Time,
}

impl Unsteady {
    /// Creates those of `plan`; `None` if it has none. `stream` returns a random stream by its name.
    pub fn new(plan: &LinkPlan, stream: impl Fn(&str) -> Rng) -> Option<Unsteady> {
        let changes = &plan.changes;
        let unsteady = Unsteady {
            jitter: plan.jitter.map(|jitter| Jolts::new(jitter, stream("jitter"))),
            rate: changes.rate.as_ref().map(|steps| steps.cursor()),
            delay: changes.delay.as_ref().map(|steps| steps.cursor()),
            outages: Outages::new(&changes.lost),
            latest: Time::ZERO,
        };
        let any = unsteady.jitter.is_some() || unsteady.rate.is_some() || unsteady.delay.is_some();
        (any || !changes.lost.is_empty()).then_some(unsteady)
    }

    /// The extra delay of the next packet that leaves the queue, drawn also for one that is lost.
    pub fn draw(&mut self) -> Dur {
        self.jitter.as_mut().map_or(Dur::ZERO, Jolts::draw)
    }

    /// When the last bit of a packet of `len` bytes leaves, whose first leaves at `start`; `None` if the rate is fixed.
    pub fn end(&mut self, start: Time, len: u32) -> Option<Time> {
        self.rate.as_mut().map(|rate| finish(rate, start, len))
    }

    /// When a packet arrives whose last bit leaves at `end`, with a fixed `delay` and the drawn `jolt`.
    pub fn arrival(&mut self, end: Time, delay: Dur, jolt: Dur) -> Time {
        let delay = self.delay.as_mut().map_or(delay, |steps| {
            steps.seek(end);
            Dur::from_ps(steps.value())
        });
        let alone = end + delay + jolt;
        match &self.jitter {
            Some(jitter) if jitter.reorders() => alone,
            _ => {
                self.latest = self.latest.max(alone);
                self.latest
            }
        }
    }

    /// Whether a packet is lost that is in transmission from `start` to `end`, because nobody receives it.
    pub fn loses(&mut self, start: Time, end: Time) -> bool {
        self.outages.overlaps(start, end)
    }
}

/// When `len` bytes end that start at `start`, at the rates of `rate`.
fn finish(rate: &mut Cursor, start: Time, len: u32) -> Time {
    rate.seek(start);
    let (mut at, mut left) = (start, u128::from(len) * 8 * PS);
    loop {
        let bps = u128::from(rate.value());
        let room = bps * u128::from(rate.until().since(at).ps());
        if bps > 0 && left <= room {
            return at + Dur::from_ps(u64::try_from(left.div_ceil(bps)).unwrap_or(u64::MAX / 2)).min(NO_END.since(at));
        }
        if rate.until() >= NO_END {
            return NO_END;
        }
        left -= room;
        at = rate.until();
        rate.advance();
    }
}

/// Times at which packets are sent but not received.
struct Outages {
    /// From and to, in order, without overlap. Past ones are removed.
    times: VecDeque<(Time, Time)>,
}

impl Outages {
    fn new(times: &Arc<[(Time, Time)]>) -> Outages {
        Outages { times: times.iter().copied().collect() }
    }

    /// Whether any part of a transmission from `start` to `end` is within the times. Calls are in order of `start`.
    fn overlaps(&mut self, start: Time, end: Time) -> bool {
        while self.times.front().is_some_and(|(_, to)| *to <= start) {
            self.times.pop_front();
        }
        self.times.front().is_some_and(|(from, _)| *from < end)
    }
}
