//! Quantities that change over time in steps.

use std::sync::Arc;

use crate::{Dur, Time};

/// A quantity that is constant between steps, in whole units: bits per second of a rate, picoseconds of a delay.
///
/// It may repeat with a period. Copies share the steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Start and value of each step, in order of time; the first starts at zero.
    steps: Arc<[(Time, u64)]>,
    period: Option<Dur>,
}

impl Steps {
    /// Creates steps from their starts and values; `period` is that of a repeating quantity.
    ///
    /// # Panics
    /// If the first step does not start at zero, if starts do not increase, or if the last is not before the period's
    /// end.
    pub fn new(steps: Vec<(Time, u64)>, period: Option<Dur>) -> Steps {
        assert_eq!(steps.first().map(|step| step.0), Some(Time::ZERO), "the first step starts at zero");
        assert!(steps.windows(2).all(|pair| pair[0].0 < pair[1].0), "starts increase");
        let last = steps[steps.len() - 1].0;
        assert!(period.is_none_or(|period| last < Time::ZERO + period), "steps end within the period");
        Steps { steps: steps.into(), period }
    }

    /// A cursor at time zero.
    pub fn cursor(&self) -> Cursor {
        let mut cursor = Cursor { steps: self.clone(), next: 0, round: Time::ZERO, value: 0, until: Time::ZERO };
        cursor.advance();
        cursor
    }

    /// Start and value of each step that begins before `until`, with the repetitions of a period.
    pub fn until(&self, until: Time) -> Vec<(Time, u64)> {
        let mut cursor = self.cursor();
        let mut all = vec![(Time::ZERO, cursor.value())];
        while cursor.until() < until {
            let start = cursor.until();
            cursor.advance();
            all.push((start, cursor.value()));
        }
        all
    }

    /// The mean from `from` to `to`, in units, where values above `most` count as `most`. It is the value at `from` if
    /// that is not before `to`.
    pub fn mean(&self, from: Time, to: Time, most: u64) -> f64 {
        let mut cursor = self.cursor();
        cursor.seek(from);
        let value = |cursor: &Cursor| cursor.value().min(most) as f64;
        if to <= from {
            return value(&cursor);
        }
        let (mut at, mut sum) = (from, 0.0);
        while at < to {
            let end = cursor.until().min(to);
            sum += value(&cursor) * end.since(at).as_secs();
            at = end;
            cursor.advance();
        }
        sum / to.since(from).as_secs()
    }
}

/// A place in [`Steps`], which moves forward only.
#[derive(Clone, Debug)]
pub struct Cursor {
    steps: Steps,
    /// Index of the step after the current one.
    next: usize,
    /// Start of the current repetition.
    round: Time,
    value: u64,
    until: Time,
}

impl Cursor {
    /// The current value, in units.
    #[inline]
    pub fn value(&self) -> u64 {
        self.value
    }

    /// The end of the current step; [`Time::NEVER`] for the last one.
    #[inline]
    pub fn until(&self) -> Time {
        self.until
    }

    /// Moves to the next step; stays at the last one.
    pub fn advance(&mut self) {
        let all = &self.steps.steps;
        if self.next == all.len() {
            let Some(period) = self.steps.period else { return };
            (self.next, self.round) = (0, self.round.saturating_add(period));
        }
        self.value = all[self.next].1;
        self.next += 1;
        self.until = match (all.get(self.next), self.steps.period) {
            (Some(step), _) => self.round.saturating_add(step.0.since(Time::ZERO)),
            (None, Some(period)) => self.round.saturating_add(period),
            (None, None) => Time::NEVER,
        };
    }

    /// Moves to the step of time `at`, which is not before the current step.
    #[inline]
    pub fn seek(&mut self, at: Time) {
        while self.until <= at && self.until < Time::NEVER {
            self.advance();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: u64) -> Time {
        Time::ZERO + Dur::from_s(seconds)
    }

    #[test]
    fn the_last_step_holds_for_good() {
        let steps = Steps::new(vec![(Time::ZERO, 50), (s(10), 1)], None);
        let mut cursor = steps.cursor();
        let at = |cursor: &mut Cursor, time| {
            cursor.seek(time);
            (cursor.value(), cursor.until())
        };
        assert_eq!(at(&mut cursor, s(9)), (50, s(10)));
        assert_eq!(at(&mut cursor, s(10)), (1, Time::NEVER));
        assert_eq!(at(&mut cursor, s(10_000)), (1, Time::NEVER));
        assert_eq!(steps.until(s(30)), [(s(0), 50), (s(10), 1)]);
    }

    #[test]
    fn a_period_repeats_the_steps() {
        let steps = Steps::new(vec![(Time::ZERO, 100), (s(20), 10)], Some(Dur::from_s(40)));
        assert_eq!(steps.until(s(100)), [(s(0), 100), (s(20), 10), (s(40), 100), (s(60), 10), (s(80), 100)]);
        let mut cursor = steps.cursor();
        cursor.seek(s(119));
        // The third repetition begins at 80 s; its second step at 100 s.
        assert_eq!((cursor.value(), cursor.until()), (10, s(120)));
    }

    #[test]
    fn the_mean_weighs_steps_by_their_time() {
        let steps = Steps::new(vec![(Time::ZERO, 100), (s(20), 10)], Some(Dur::from_s(40)));
        assert_eq!(steps.mean(s(0), s(40), 100), 55.0);
        // From 10 s: 10 s at 100 and 10 s at 10.
        assert_eq!(steps.mean(s(10), s(30), 100), 55.0);
        // From 30 s: 10 s at 10, 20 s at 100, 20 s at 10.
        assert_eq!(steps.mean(s(30), s(80), 100), (100.0 + 2000.0 + 200.0) / 50.0);
        assert_eq!(steps.mean(s(25), s(25), 100), 10.0);
        // Of at most 50, as behind a shaper: 20 s at 50, 20 s at 10.
        assert_eq!(steps.mean(s(0), s(40), 50), 30.0);
    }
}
