//! Sojourn times of the packets that left a queue between two samples.

use crate::record::histogram::Histogram;

/// Number, sum and distribution of sojourn times. They are differences of sums, so they cost nothing per packet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Departures {
    pub(crate) packets: u64,
    /// Picoseconds.
    pub(crate) sojourn: u128,
    /// Empty if the queue keeps no quantiles.
    pub(crate) histogram: Histogram,
}

impl Departures {
    /// Packets that left the queue for the wire.
    pub const fn packets(&self) -> u64 {
        self.packets
    }
    /// Their mean time in the queue in seconds, transmission not included; NaN if none left.
    pub fn mean_s(&self) -> f64 {
        // The processor's NaN: see `Stats::mean`.
        self.sojourn as f64 / std::hint::black_box(self.packets) as f64 * 1e-12
    }
    /// Quantile `q` of their sojourn times in seconds, to 0.4 %; NaN if none left or if quantiles were not requested.
    pub fn quantile_s(&self, q: f64) -> f64 {
        self.histogram.quantile_s(q)
    }

    fn plus(&self, later: &Departures) -> Departures {
        Departures {
            packets: self.packets + later.packets,
            sojourn: self.sojourn + later.sojourn,
            histogram: self.histogram.plus(&later.histogram),
        }
    }

    /// Returns the departures since `earlier`, an earlier reading of the same statistics.
    fn since(&self, earlier: &Departures) -> Departures {
        Departures {
            packets: self.packets - earlier.packets,
            sojourn: self.sojourn - earlier.sojourn,
            histogram: self.histogram.since(&earlier.histogram),
        }
    }
}

/// Departures since the last sample of a queue. The statistics that count them may be reset in between.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interval {
    /// Since the last sample, from statistics that have been reset.
    carried: Departures,
    /// Departures that the present statistics had at the last sample.
    seen: Departures,
}

impl Interval {
    /// Ends the interval and starts the next; `now` are the departures in the present statistics.
    pub fn sample(&mut self, now: Departures) -> Departures {
        let since = std::mem::take(&mut self.carried).plus(&now.since(&self.seen));
        self.seen = now;
        since
    }

    /// Carries over `last`, the departures in statistics that are being reset.
    pub fn reset(&mut self, last: &Departures) {
        self.carried = self.carried.plus(&last.since(&self.seen));
        self.seen = Departures::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Departures with these sojourn times in picoseconds.
    fn departures(sojourns: &[u64]) -> Departures {
        let mut all = Departures::default();
        for &sojourn in sojourns {
            all.packets += 1;
            all.sojourn += u128::from(sojourn);
            all.histogram.count(sojourn, 1);
        }
        all
    }

    #[test]
    fn an_interval_is_the_difference_of_two_samples() {
        let mut interval = Interval::default();
        assert_eq!(interval.sample(departures(&[5, 7])), departures(&[5, 7]));
        let second = interval.sample(departures(&[5, 7, 100, 20, 100]));
        assert_eq!((second.packets(), second.sojourn), (3, 220));
        assert_eq!([0.5, 0.99].map(|q| second.histogram.quantile(q)), [Some(100.0); 2]);
        let third = interval.sample(departures(&[5, 7, 100, 20, 100]));
        assert_eq!(third.packets(), 0);
        assert!(third.mean_s().is_nan() && third.quantile_s(0.5).is_nan());
    }

    #[test]
    fn a_reset_within_an_interval_loses_nothing() {
        let mut interval = Interval::default();
        interval.sample(departures(&[5]));
        interval.reset(&departures(&[5, 7]));
        interval.reset(&departures(&[9]));
        let sampled = interval.sample(departures(&[11]));
        assert_eq!((sampled.packets(), sampled.sojourn), (3, 27));
        assert_eq!(sampled.histogram, departures(&[7, 9, 11]).histogram);
        assert_eq!(interval.sample(departures(&[11, 13])).sojourn, 13);
    }
}
