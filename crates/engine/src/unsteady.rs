//! Links whose rate, delay or availability changes during a run, links that send in bursts, and links with jitter.
//!
//! A packet in transmission at a change of rate goes on at the new rate: its last bit leaves when the integral of the
//! rate over time has reached its length. At rate zero it waits. Its propagation delay is that at the time its last bit
//! leaves.

use std::collections::VecDeque;
use std::sync::Arc;

use ecnlab_base::steps::Cursor;
use ecnlab_base::{Dur, Rate, Rng, Time};

use crate::jitter::Jolts;
use crate::plan::{Aggregation, LinkPlan};

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
    bursts: Option<Bursts>,
    /// Latest arrival so far: a shorter delay lets no packet overtake.
    latest: Time,
}

impl Unsteady {
    /// Creates those of `plan`; `None` if it has none. `stream` returns a random stream by its name.
    pub fn new(plan: &LinkPlan, stream: impl Fn(&str) -> Rng) -> Option<Unsteady> {
        let (changes, plan_rate) = (&plan.changes, plan.rate);
        let unsteady = Unsteady {
            jitter: plan.jitter.map(|jitter| Jolts::new(jitter, stream("jitter"))),
            rate: changes.rate.as_ref().map(|steps| steps.cursor()),
            delay: changes.delay.as_ref().map(|steps| steps.cursor()),
            outages: Outages::new(&changes.lost),
            bursts: changes.aggregation.map(|plan| Bursts { plan, rng: stream("access"), fixed: plan_rate }),
            latest: Time::ZERO,
        };
        let any = unsteady.jitter.is_some() || unsteady.rate.is_some() || unsteady.delay.is_some();
        (any || unsteady.bursts.is_some() || !changes.lost.is_empty()).then_some(unsteady)
    }

    /// The extra delay of the next packet that leaves the queue, drawn also for one that is lost.
    pub fn draw(&mut self) -> Dur {
        self.jitter.as_mut().map_or(Dur::ZERO, Jolts::draw)
    }

    /// When the last bit of a packet of `len` bytes leaves, whose first leaves at `start`; `None` if the rate is fixed.
    pub fn end(&mut self, start: Time, len: u32) -> Option<Time> {
        self.rate.as_mut().map(|rate| finish(rate, start, len.into()))
    }

    /// The time at which the next burst may begin, from `free` on.
    pub fn slot(&self, free: Time) -> Time {
        let every = self.bursts.as_ref().and_then(|bursts| bursts.plan.every).filter(|every| !every.is_zero());
        every.map_or(free, |every| Time::from_ps(free.ps().div_ceil(every.ps()).saturating_mul(every.ps())))
    }

    /// When the transmission begins of a burst that begins at `start`; draws its time of access.
    pub fn begin_burst(&mut self, start: Time) -> Time {
        let Some(bursts) = &mut self.bursts else { return start };
        let from = start + bursts.plan.access.draw(&mut bursts.rng);
        if let Some(rate) = &mut self.rate {
            rate.seek(from);
        }
        from
    }

    /// Returns whether a burst transmitted from `from` may have `bytes` bytes.
    pub fn fits(&self, from: Time, bytes: u64) -> bool {
        let Some(bursts) = &self.bursts else { return false };
        let plan = &bursts.plan;
        let longest = plan.time.or(plan.every);
        plan.bytes.is_none_or(|most| bytes <= most.0)
            && longest.is_none_or(|longest| self.burst_end(from, bytes).since(from) <= longest)
    }

    /// When a burst of `bytes` bytes ends that is transmitted from `from`.
    pub fn burst_end(&self, from: Time, bytes: u64) -> Time {
        match (&self.rate, &self.bursts) {
            (Some(rate), _) => finish(&mut rate.clone(), from, bytes),
            (None, Some(bursts)) => from + bursts.fixed.map_or(Dur::ZERO, |rate| rate.time_for(bytes)),
            (None, None) => from,
        }
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
fn finish(rate: &mut Cursor, start: Time, len: u64) -> Time {
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

/// The bursts of a link.
struct Bursts {
    plan: Aggregation,
    rng: Rng,
    /// Its rate, if that does not change.
    fixed: Option<Rate>,
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
