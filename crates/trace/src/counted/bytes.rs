//! The AccECN option against the bytes that came by (RFC 9768 §3.2.3).

use ecnlab_wire::{AccEcn, Ecn};

use super::expected::{Entry, Span};
use crate::ecn_seen::Place;
use crate::rules::{Rule, Violations};

/// Counters have 24 bits.
const MASK: u32 = 0xff_ffff;
/// ECT(0), CE, ECT(1), and where they begin (§3.2.1).
const FIRST: [u32; 3] = [1, 0, 1];
const ECT0: usize = 0;
const CE: usize = 1;
const ECT1: usize = 2;
/// §3.2.3.3: each counter at least once for so many bytes.
const OFTEN: u64 = 1 << 22;
/// Room for three counters beside the other options.
const ROOM: usize = 12;
const OPTIONS: usize = 40;

/// What options have told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes {
    said: [u32; 3],
    /// By how much each counter has moved since it was told.
    moved: [Span; 3],
    /// How many bytes have arrived since an option.
    total: u64,
    /// What has come since is not known.
    blind: bool,
    /// An option has come that was not compared.
    other: bool,
    /// There was one.
    seen: bool,
    /// A packet for which one was due and had room; the first packet that had none, though it should.
    missed: Option<(u64, u64)>,
    missed_at_start: Option<(u64, u64)>,
    roomy: bool,
}

impl Default for Bytes {
    fn default() -> Bytes {
        Bytes {
            said: FIRST,
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

/// By how much `entry` may move each counter, seen at `place`, and all of them together.
fn moves(entry: &Entry, place: Place) -> [Span; 3] {
    let len = u64::from(entry.len);
    let (most, least) = (Span { low: 0, high: len }, Span { low: if entry.sure { len } else { 0 }, high: len });
    let none = Span::default();
    match (entry.ecn, place) {
        (Ecn::NotEct, _) => [none; 3],
        (Ecn::Ce, _) => [none, least, none],
        (Ecn::Ect0, Place::Receiver) => [least, none, none],
        (Ecn::Ect1, Place::Receiver) => [none, none, least],
        // RFC 6040 §4.2: behind this place ECT(0) may become ECT(1), and either CE.
        (Ecn::Ect0, _) => [most; 3],
        (Ecn::Ect1, _) => [none, most, most],
    }
}

impl Bytes {
    pub fn blind(&mut self) {
        self.blind = true;
    }

    /// `entry` has arrived.
    pub fn settle(&mut self, entry: &Entry, place: Place) {
        if entry.ecn != Ecn::NotEct {
            self.total += u64::from(entry.len);
        }
        self.moved.iter_mut().zip(moves(entry, place)).for_each(|(moved, more)| moved.add(more.low, more.high));
    }

    /// A SYN-ACK, last ACK or first data, with the option or without.
    pub fn at_start(&mut self, with: bool, number: u64, time: u64) {
        if !with && !self.seen {
            self.missed_at_start.get_or_insert((number, time));
        }
        self.seen |= with;
    }

    /// A packet without the option, with `options` bytes of others, that tells of `marked` bytes with CE at least.
    pub fn without(&mut self, marked: u64, options: usize, number: u64, time: u64) {
        let room = options + ROOM <= OPTIONS;
        self.roomy |= room;
        if self.seen && room && marked > 0 {
            self.missed.get_or_insert((number, time));
        }
    }

    /// An option that is not compared: its packet acknowledges nothing new, so that it may be an old one.
    pub fn pass(&mut self) {
        self.other = true;
        self.seen = true;
    }

    /// An option; `floating` are bytes that may or may not have arrived. Returns by how much CE's counter has moved.
    pub fn take(&mut self, fields: AccEcn, floating: u64, place: Place, found: &mut Violations, at: (u64, u64)) -> u64 {
        let told = [fields.ect0(), fields.ce(), fields.ect1()];
        let step = |i: usize| told[i].map(|value| u64::from(value.wrapping_sub(self.said[i]) & MASK));
        let steps = [step(ECT0), step(CE), step(ECT1)];
        if !self.blind {
            self.check(steps, floating, place, found, at);
        }
        let marked = if self.blind { 0 } else { steps[CE].unwrap_or(0) };
        self.total = 0;
        for (i, value) in told.into_iter().enumerate() {
            match value {
                Some(value) => (self.said[i], self.moved[i]) = (value, Span::default()),
                // It was left out though it has moved, which is said once: it may tell of these bytes later.
                None if self.moved[i].low > 0 => {
                    self.moved[i].low = 0;
                    self.total = self.total.max(self.moved[i].high);
                }
                None => {}
            }
        }
        (self.other, self.seen, self.missed, self.missed_at_start, self.roomy) = (false, true, None, None, false);
        // What is not told of one counter is not known of it.
        self.blind &= told.iter().any(Option::is_none);
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
