//! Groups of inner queues that have a row in the tables of classes, though none of the queues has one.

use ecnlab_base::{Dur, Time};

use crate::record::counters::Group;
use crate::record::stats::Gauge;
use crate::{Stats, Tally};

/// A group of consecutive inner queues.
#[derive(Clone, Debug)]
struct Row {
    name: String,
    held: Tally,
    gauge: Gauge,
}

impl Row {
    /// Updates the statistics to `now`.
    #[inline]
    fn observe(&mut self, now: Time) {
        self.gauge.observe(now, self.held.packets, self.held.bytes);
    }
}

/// All groups, with their numbers of queues.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    size: usize,
    rows: Vec<Row>,
    /// Time of the last [`Rows::observe`].
    now: Time,
}

impl Rows {
    /// No groups.
    pub const NONE: Rows = Rows { size: 1, rows: Vec::new(), now: Time::ZERO };

    /// Groups with these names, of `size` queues each. One alone is the whole, which has its row.
    pub fn new(size: usize, names: Vec<String>) -> Rows {
        let row = |name| Row { name, held: Tally::default(), gauge: Gauge::new(true) };
        let names = if names.len() > 1 { names } else { Vec::new() };
        Rows { size, rows: names.into_iter().map(row).collect(), now: Time::ZERO }
    }

    /// Queue `i` held `before`, and holds `after` since the last [`Rows::observe`].
    #[inline]
    pub fn changed(&mut self, i: usize, before: Tally, after: Tally) {
        if let Some(row) = self.rows.get_mut(i / self.size) {
            row.observe(self.now);
            row.held = row.held - before;
            row.held += after;
        }
    }

    /// A packet left queue `i` after `sojourn`.
    #[inline]
    pub fn departed(&mut self, i: usize, sojourn: Dur) {
        if let Some(row) = self.rows.get_mut(i / self.size) {
            row.gauge.departed(sojourn, 0);
        }
    }

    /// Advances the time. The statistics of a group are updated when it changes or is read. The integrals are integers,
    /// so that a long span adds the same as its parts.
    #[inline]
    pub fn observe(&mut self, now: Time) {
        self.now = now;
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.rows.iter().map(|row| &row.name)
    }

    /// Iterates over the packets held by each group.
    pub fn held(&self) -> impl Iterator<Item = Tally> {
        self.rows.iter().map(|row| row.held)
    }

    /// Returns for each group its name, the counts of its queues, taken from `counts`, and its statistics, which are
    /// reset.
    pub fn cut(&mut self, counts: &[Group]) -> Vec<(String, Group, Stats)> {
        let sums = counts.chunks(self.size).map(|queues| queues.iter().fold(Group::default(), |sum, one| sum + *one));
        let now = self.now;
        let cut = |(row, sum): (&mut Row, Group)| {
            row.observe(now);
            (row.name.clone(), sum, row.gauge.cut(0, &[], Vec::new()))
        };
        self.rows.iter_mut().zip(sums).map(cut).collect()
    }
}
