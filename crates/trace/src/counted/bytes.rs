//! Check of the AccECN option against the captured bytes (RFC 9768 §3.2.3).

use ecnlab_wire::{AccEcn, Ecn};

use super::expected::{Entry, Span};
use crate::ecn_seen::Place;
use crate::rules::{Rule, Violations};

/// Counters have 24 bits.
const MASK: u32 = 0xff_ffff;
/// Initial values of the ECT(0), CE and ECT(1) counters (§3.2.1).
const FIRST: [u32; 3] = [1, 0, 1];
const ECT0: usize = 0;
const CE: usize = 1;
const ECT1: usize = 2;
/// §3.2.3.3: each counter is sent at least once per this many bytes.
const OFTEN: u64 = 1 << 22;
/// Bytes of option space needed for three counters.
const ROOM: usize = 12;
const OPTIONS: usize = 40;

/// Counters of the options of a direction so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported {
    /// Number of options that were compared.
    pub options: u64,
    /// Bytes reported as ECT(0), CE and ECT(1).
    pub bytes: [u64; 3],
    /// The counters are known from the handshake on.
    pub complete: bool,
}

/// State of the AccECN option's counters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes {
    last: [u32; 3],
    /// Bytes reported by each counter.
    reported: [u64; 3],
    /// Options compared.
    options: u64,
    /// Increment of each counter since its last report.
    moved: [Span; 3],
    /// Bytes that have arrived since the last option.
    total: u64,
    /// Arrivals since the last option are unknown.
    blind: bool,
    /// An option arrived that was not compared.
    other: bool,
    /// At least one option was seen.
    seen: bool,
    /// A packet on which an option was due and had room; the first packet that should have had one and did not.
    missed: Option<(u64, u64)>,
    missed_at_start: Option<(u64, u64)>,
    roomy: bool,
}

impl Default for Bytes {
    fn default() -> Bytes {
        Bytes {
            last: FIRST,
            reported: [0; 3],
            options: 0,
            moved: [Span::default(); 3],
            total: 0,
            blind: false,
            other: false,
            seen: false,
            missed: None,
            missed_at_start: None,
            roomy: false,
        }
    }
}

/// Returns by how much `entry` may increment each counter, as seen at `place`, and all of them together.
fn moves(entry: &Entry, place: Place) -> [Span; 3] {
    let len = u64::from(entry.len);
    let (most, least) = (Span { low: 0, high: len }, Span { low: if entry.sure { len } else { 0 }, high: len });
    let none = Span::default();
    match (entry.ecn, place) {
        (Ecn::NotEct, _) => [none; 3],
        (Ecn::Ce, _) => [none, least, none],
        (Ecn::Ect0, Place::Receiver) => [least, none, none],
        (Ecn::Ect1, Place::Receiver) => [none, none, least],
        // RFC 6040 §4.2: downstream of this point ECT(0) may become ECT(1), and both may become CE.
        (Ecn::Ect0, _) => [most; 3],
        (Ecn::Ect1, _) => [none, most, most],
    }
}

impl Bytes {
    pub fn blind(&mut self) {
        self.blind = true;
    }

    /// Counters so far.
    pub fn reported(&self) -> Reported {
        Reported { options: self.options, bytes: self.reported, complete: !self.blind }
    }

    /// Adds `entry`, which has arrived.
    pub fn settle(&mut self, entry: &Entry, place: Place) {
        if entry.ecn != Ecn::NotEct {
            self.total += u64::from(entry.len);
        }
        self.moved.iter_mut().zip(moves(entry, place)).for_each(|(moved, more)| moved.add(more.low, more.high));
    }

    /// Processes a SYN-ACK, last ACK of the handshake or first data, `with` or without the option.
    pub fn at_start(&mut self, with: bool, number: u64, time: u64) {
        if !with && !self.seen {
            self.missed_at_start.get_or_insert((number, time));
        }
        self.seen |= with;
    }

    /// Processes a packet without the option, with `options` bytes of others, that acknowledges at least `marked` bytes
    /// with CE.
    pub fn without(&mut self, marked: u64, options: usize, number: u64, time: u64) {
        let room = options + ROOM <= OPTIONS;
        self.roomy |= room;
        if self.seen && room && marked > 0 {
            self.missed.get_or_insert((number, time));
        }
    }

    /// Skips an option that is not compared: its packet acknowledges nothing new and may be reordered.
    pub fn pass(&mut self) {
        self.other = true;
        self.seen = true;
    }

    /// Processes an option; `floating` is the number of bytes that may or may not have arrived. Returns the increment
    /// of the CE counter.
    pub fn take(&mut self, fields: AccEcn, floating: u64, place: Place, found: &mut Violations, at: (u64, u64)) -> u64 {
        let values = [fields.ect0(), fields.ce(), fields.ect1()];
        let step = |i: usize| values[i].map(|value| u64::from(value.wrapping_sub(self.last[i]) & MASK));
        let steps = [step(ECT0), step(CE), step(ECT1)];
        if !self.blind {
            self.check(steps, floating, place, found, at);
        }
        self.options += 1;
        self.reported.iter_mut().zip(steps).for_each(|(sum, step)| *sum += step.unwrap_or(0));
        let marked = if self.blind { 0 } else { steps[CE].unwrap_or(0) };
        self.total = 0;
        for (i, value) in values.into_iter().enumerate() {
            match value {
                Some(value) => (self.last[i], self.moved[i]) = (value, Span::default()),
                // The option omits a counter that has moved. This is reported once; a later option may include these
                // bytes.
                None if self.moved[i].low > 0 => {
                    self.moved[i].low = 0;
                    self.total = self.total.max(self.moved[i].high);
                }
                None => {}
            }
        }
        (self.other, self.seen, self.missed, self.missed_at_start, self.roomy) = (false, true, None, None, false);
        // An omitted counter stays unknown.
        self.blind &= values.iter().any(Option::is_none);
        marked
    }

    fn check(
        &self,
        steps: [Option<u64>; 3],
        floating: u64,
        place: Place,
        found: &mut Violations,
        (number, time): (u64, u64),
    ) {
        let wrong = |i: usize| steps[i].is_some_and(|step| !self.moved[i].plus(floating).holds(step));
        let sum: u64 = steps.into_iter().flatten().sum();
        if [ECT0, CE, ECT1].into_iter().any(wrong) || (!self.other && sum > self.total + floating) {
            found.add(Rule::OptionBytes, number, time);
        }
        let left_out = |i: usize| steps[i].is_none() && self.moved[i].low > 0;
        if !self.other && [ECT0, CE, ECT1].into_iter().any(left_out) {
            found.add(Rule::OptionOmits, number, time);
        }
        if place != Place::Receiver {
            return;
        }
        if let Some((number, time)) = self.missed {
            found.add(Rule::OptionMissing, number, time);
        }
        if let Some((number, time)) = self.missed_at_start {
            found.add(Rule::OptionNotAtStart, number, time);
        }
        if self.roomy && [ECT0, CE, ECT1].into_iter().any(|i| steps[i].is_some() && self.moved[i].low > OFTEN) {
            found.add(Rule::OptionRare, number, time);
        }
    }
}
