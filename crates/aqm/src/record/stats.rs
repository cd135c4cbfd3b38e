//! Time-weighted statistics of a queue.

use ecnlab_base::facts::Column;
use ecnlab_base::{Dur, Time};

use crate::record::columns::Integral;
use crate::record::histogram::{Histogram, bin};
use crate::record::interval::Departures;

/// Statistics of a queue over a time span: integrals, and the sojourn times of departed packets.
///
/// A law's state changes only in calls of the law, and is constant in between.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    span: u64,
    packets: u128,
    packets_squared: u128,
    bytes: u128,
    sojourn: u128,
    sojourns: u64,
    sojourn_max: u64,
    /// Sojourn times for quantiles, if requested.
    spread: Option<Box<Spread>>,
    /// Integrals of the law, and their columns.
    law: Vec<Integral>,
    columns: &'static [Column],
}

/// Distribution of sojourn times.
#[derive(Clone, Debug, Default, PartialEq)]
struct Spread {
    all: Histogram,
    /// Distribution for each flow group; empty if groups are not distinguished.
    groups: Vec<Sojourns>,
}

impl Spread {
    /// Empty histograms, one per flow group.
    fn of(groups: usize) -> Spread {
        Spread { all: Histogram::default(), groups: vec![Sojourns::default(); groups] }
    }

    /// Kept out of line, because not every queue needs it.
    #[inline(never)]
    fn count(&mut self, sojourn: Dur, group: usize) {
        let bin = bin(sojourn.ps());
        self.all.add(bin, 1);
        if let Some(own) = self.groups.get_mut(group) {
            own.count(sojourn, bin);
        }
    }

    fn plus(&self, later: &Spread) -> Spread {
        let groups = self.groups.iter().zip(&later.groups).map(|(a, b)| a.plus(b)).collect();
        Spread { all: self.all.plus(&later.all), groups }
    }
}

/// The times that the packets of one flow group spent in a queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sojourns {
    packets: u64,
    sum: u128,
    max: u64,
    histogram: Histogram,
}

impl Sojourns {
    fn count(&mut self, sojourn: Dur, bin: usize) {
        self.packets += 1;
        self.sum += u128::from(sojourn.ps());
        self.max = self.max.max(sojourn.ps());
        self.histogram.add(bin, 1);
    }

    fn plus(&self, later: &Sojourns) -> Sojourns {
        Sojourns {
            packets: self.packets + later.packets,
            sum: self.sum + later.sum,
            max: self.max.max(later.max),
            histogram: self.histogram.plus(&later.histogram),
        }
    }

    /// Packets that left the queue for the wire.
    pub const fn packets(&self) -> u64 {
        self.packets
    }
    /// Their mean time in the queue in seconds; NaN if none left.
    pub fn mean_s(&self) -> f64 {
        self.sum as f64 / self.packets as f64 * 1e-12
    }
    /// Returns quantile `q` of their sojourn times in seconds, to 0.4 %; NaN if none left.
    pub fn quantile_s(&self, q: f64) -> f64 {
        self.histogram.quantile_s(q)
    }
    /// The longest of those times.
    pub const fn max(&self) -> Dur {
        Dur::from_ps(self.max)
    }
    /// Iterates over bins of sojourn times, at most 0.8 % wide from 128 ps on: lower bound, exclusive upper bound, packets.
    pub fn bins(&self) -> impl Iterator<Item = (Dur, Dur, u64)> {
        bins(&self.histogram)
    }
}

fn bins(histogram: &Histogram) -> impl Iterator<Item = (Dur, Dur, u64)> {
    histogram.bins().map(|(from, to, n)| (Dur::from_ps(from), Dur::from_ps(to), n))
}

impl Stats {
    /// Returns the statistics of this and the `later` span combined.
    pub fn plus(&self, later: &Stats) -> Stats {
        Stats {
            span: self.span + later.span,
            packets: self.packets + later.packets,
            packets_squared: self.packets_squared + later.packets_squared,
            bytes: self.bytes + later.bytes,
            sojourn: self.sojourn + later.sojourn,
            sojourns: self.sojourns + later.sojourns,
            sojourn_max: self.sojourn_max.max(later.sojourn_max),
            spread: self.spread.as_ref().zip(later.spread.as_ref()).map(|(a, b)| Box::new(a.plus(b))),
            law: self.law.iter().zip(&later.law).map(|(a, b)| a.plus(*b)).collect(),
            columns: self.columns,
        }
    }

    /// The length of the time span.
    pub const fn span(&self) -> Dur {
        Dur::from_ps(self.span)
    }
    /// The time average of the queue in packets; NaN over no time, as all means here.
    pub fn mean_packets(&self) -> f64 {
        self.packets as f64 / self.span as f64
    }
    /// The time average of the queue in bytes.
    pub fn mean_bytes(&self) -> f64 {
        self.bytes as f64 / self.span as f64
    }
    /// The variance over time of the queue in packets.
    pub fn variance_packets(&self) -> f64 {
        let mean = self.mean_packets();
        // Rounding may leave a constant queue a hair below nothing.
        libm::fmax(self.packets_squared as f64 / self.span as f64 - mean * mean, 0.0)
    }
    /// The time average in the law's column `name`; NaN if the law has none of this name.
    pub fn mean(&self, name: &str) -> f64 {
        let kept = self.columns.iter().zip(&self.law).find(|(column, _)| column.name == name);
        let (sum, time) = kept.map_or((0.0, 0), |(_, integral)| (integral.sum(), self.span));
        // The processor's NaN, as in all means: the compiler's has another sign, and runs are compared byte by byte.
        sum / std::hint::black_box(time) as f64
    }
    /// Packets that left the queue for the wire.
    pub const fn sojourns(&self) -> u64 {
        self.sojourns
    }
    /// Their mean time in the queue, transmission not included, in seconds; NaN if none left.
    pub fn sojourn_mean_s(&self) -> f64 {
        self.sojourn as f64 / self.sojourns as f64 * 1e-12
    }
    /// Quantile `q` of the sojourn times in seconds, to 0.4 %; NaN without departures or if not requested.
    pub fn sojourn_quantile_s(&self, q: f64) -> f64 {
        self.spread.as_ref().map_or(f64::NAN, |spread| spread.all.quantile_s(q))
    }
    /// Sojourn times as [`Sojourns::bins`]; empty if quantiles were not requested.
    pub fn sojourn_bins(&self) -> impl Iterator<Item = (Dur, Dur, u64)> {
        self.spread.iter().flat_map(|spread| bins(&spread.all))
    }
    /// Sojourn times of each flow group; empty if quantiles were not requested, and for a class.
    pub fn sojourns_by_group(&self) -> &[Sojourns] {
        self.spread.as_ref().map_or(&[], |spread| &spread.groups)
    }
    /// The departures of the span, including `passed` others without a sojourn time.
    pub(crate) fn departures(&self, passed: u64) -> Departures {
        let histogram = self.spread.as_ref().map(|spread| spread.all.clone()).unwrap_or_default();
        Departures { packets: self.sojourns + passed, sojourn: self.sojourn, histogram }
    }
    /// The longest of those times.
    pub const fn sojourn_max(&self) -> Dur {
        Dur::from_ps(self.sojourn_max)
    }
}

/// A [`Stats`] being collected, and the time up to which it is complete.
#[derive(Clone, Debug)]
pub(crate) struct Gauge {
    stats: Stats,
    upto: Time,
    /// The statistics are not collected, because no table shows them.
    unread: bool,
}

impl Gauge {
    /// Starts at time zero, with `quantiles` of sojourn times if requested.
    pub(crate) fn new(quantiles: bool) -> Gauge {
        let spread = quantiles.then(Box::default);
        Gauge { stats: Stats { spread, ..Stats::default() }, upto: Time::ZERO, unread: false }
    }

    /// Stops the collection, for a queue whose statistics no table shows.
    pub(crate) fn stop(&mut self) {
        self.unread = true;
    }

    /// Returns what has been collected since the start or the last cut, without the integrals of the law.
    pub(crate) const fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Also keeps quantiles for each of `groups` flow groups from now on, if quantiles are kept.
    pub(crate) fn distinguish_groups(&mut self, groups: usize) {
        if let Some(spread) = &mut self.stats.spread {
            **spread = Spread::of(groups);
        }
    }

    /// Brings the integrals up to `now`; the queue has been as given since the last time. Returns how long.
    #[inline]
    pub(crate) fn observe(&mut self, now: Time, packets: u64, bytes: u64) -> Dur {
        let elapsed = now.since(self.upto);
        let dt = elapsed.ps();
        if dt == 0 {
            return elapsed;
        }
        self.upto = now;
        if self.unread {
            return elapsed;
        }
        let s = &mut self.stats;
        s.span += dt;
        if packets > 0 {
            s.packets += u128::from(packets) * u128::from(dt);
            s.packets_squared += u128::from(packets * packets) * u128::from(dt);
            s.bytes += u128::from(bytes) * u128::from(dt);
        }
        elapsed
    }

    /// A packet of flow group `group` left after `sojourn`.
    #[inline]
    pub(crate) fn departed(&mut self, sojourn: Dur, group: usize) {
        if self.unread {
            return;
        }
        self.stats.sojourn += u128::from(sojourn.ps());
        self.stats.sojourns += 1;
        self.stats.sojourn_max = self.stats.sojourn_max.max(sojourn.ps());
        if let Some(spread) = &mut self.stats.spread {
            spread.count(sojourn, group);
        }
    }

    /// Returns the collected statistics, including `passed` departures without a sojourn time and the integrals of the
    /// law, and resets them.
    pub(crate) fn cut(&mut self, passed: u64, columns: &'static [Column], law: Vec<Integral>) -> Stats {
        let spread = self.stats.spread.as_ref().map(|spread| Box::new(Spread::of(spread.groups.len())));
        let stats = std::mem::replace(&mut self.stats, Stats { spread, ..Stats::default() });
        Stats { sojourns: stats.sojourns + passed, columns, law, ..stats }
    }
}
