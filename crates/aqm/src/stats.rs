//! Time-weighted statistics of a queue.

use ecnlab_base::{Dur, Time};

use crate::{Average, Region};

/// A queue over a span of time: integrals, and the sojourn of what left.
///
/// A law's average changes only when the law changes it. RED's does so at arrivals, so its integral
/// holds it constant between them, through idle time too: the decay shows at the next arrival,
/// as it does in RED itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    span: u64,
    packets: u128,
    packets_squared: u128,
    bytes: u128,
    average_packets: f64,
    average_bytes: f64,
    below: u64,
    inside: u64,
    above: u64,
    sojourn: u128,
    sojourns: u64,
    sojourn_max: u64,
}

impl Stats {
    /// These and the `later` ones as one span.
    pub fn plus(&self, later: &Stats) -> Stats {
        Stats {
            span: self.span + later.span,
            packets: self.packets + later.packets,
            packets_squared: self.packets_squared + later.packets_squared,
            bytes: self.bytes + later.bytes,
            average_packets: self.average_packets + later.average_packets,
            average_bytes: self.average_bytes + later.average_bytes,
            below: self.below + later.below,
            inside: self.inside + later.inside,
            above: self.above + later.above,
            sojourn: self.sojourn + later.sojourn,
            sojourns: self.sojourns + later.sojourns,
            sojourn_max: self.sojourn_max.max(later.sojourn_max),
        }
    }

    /// The span of time seen.
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
    /// The time average of the law's average in packets; NaN if the law keeps none.
    pub fn mean_average_packets(&self) -> f64 {
        self.average_packets / self.averaged()
    }
    /// The time average of the law's average in bytes; NaN if the law keeps none.
    pub fn mean_average_bytes(&self) -> f64 {
        self.average_bytes / self.averaged()
    }
    /// The share of time that the law's average spent in `region`; NaN if the law keeps none.
    pub fn share(&self, region: Region) -> f64 {
        let time = match region {
            Region::Below => self.below,
            Region::Inside => self.inside,
            Region::Above => self.above,
        };
        time as f64 / self.averaged()
    }
    /// Packets that left the queue for the wire.
    pub const fn sojourns(&self) -> u64 {
        self.sojourns
    }
    /// Their mean time in the queue, transmission not included, in seconds; NaN if none left.
    pub fn sojourn_mean_s(&self) -> f64 {
        self.sojourn as f64 / self.sojourns as f64 * 1e-12
    }
    /// The longest of those times.
    pub const fn sojourn_max(&self) -> Dur {
        Dur::from_ps(self.sojourn_max)
    }

    /// Picoseconds during which the law had an average.
    fn averaged(&self) -> f64 {
        (self.below + self.inside + self.above) as f64
    }
}

/// A [`Stats`] being gathered, and the instant up to which it is.
#[derive(Clone, Debug)]
pub(crate) struct Gauge {
    stats: Stats,
    upto: Time,
}

impl Gauge {
    pub(crate) fn new() -> Gauge {
        Gauge { stats: Stats::default(), upto: Time::ZERO }
    }

    /// Brings the integrals up to `now`; the queue and the average have been as given since the last time.
    #[inline]
    pub(crate) fn observe(&mut self, now: Time, packets: u64, bytes: u64, average: Option<Average>) {
        let dt = now.since(self.upto).ps();
        if dt == 0 {
            return;
        }
        self.upto = now;
        let s = &mut self.stats;
        s.span += dt;
        if packets > 0 {
            s.packets += u128::from(packets) * u128::from(dt);
            s.packets_squared += u128::from(packets * packets) * u128::from(dt);
            s.bytes += u128::from(bytes) * u128::from(dt);
        }
        if let Some(average) = average {
            s.average_packets += average.packets * dt as f64;
            s.average_bytes += average.bytes * dt as f64;
            match average.region {
                Region::Below => s.below += dt,
                Region::Inside => s.inside += dt,
                Region::Above => s.above += dt,
            }
        }
    }

    /// A packet left after `sojourn`.
    #[inline]
    pub(crate) fn departed(&mut self, sojourn: Dur) {
        self.stats.sojourn += u128::from(sojourn.ps());
        self.stats.sojourns += 1;
        self.stats.sojourn_max = self.stats.sojourn_max.max(sojourn.ps());
    }

    /// Hands over what was gathered, and `passed` departures without a sojourn, and begins anew.
    pub(crate) fn cut(&mut self, passed: u64) -> Stats {
        let stats = std::mem::take(&mut self.stats);
        Stats { sojourns: stats.sojourns + passed, ..stats }
    }
}
