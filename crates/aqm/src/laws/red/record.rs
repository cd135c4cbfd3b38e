//! Columns that RED records: its average, `max_p`, and the region of the average.

use ecnlab_base::Dur;

use super::average::Ewma;
use crate::record::columns::Integral;

/// The region of the average relative to its thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// Under `min_th`.
    Below,
    /// From `min_th` up to but excluding `max_th`.
    Inside,
    /// At `max_th` or over it.
    Above,
}

/// Integrals over time. RED's average changes at arrivals, so they hold it constant between them, through idle time too:
/// the decay shows at the next arrival, as it does in RED itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record {
    packets: f64,
    bytes: f64,
    below: u64,
    inside: u64,
    above: u64,
}

impl Record {
    /// Accounts for `time` at the current average.
    #[inline]
    pub fn elapsed(&mut self, time: Dur, average: &Ewma, region: Region) {
        let dt = time.ps();
        self.packets += average.packets * dt as f64;
        self.bytes += average.bytes * dt as f64;
        match region {
            Region::Below => self.below += dt,
            Region::Inside => self.inside += dt,
            Region::Above => self.above += dt,
        }
    }

    /// In the order of [`FACTS`](super::FACTS).
    pub fn integrals(&self) -> Vec<Integral> {
        let values = [self.packets, self.bytes].map(Integral::Value);
        let times = [self.below, self.inside, self.above].map(Integral::Time);
        values.into_iter().chain(times).collect()
    }
}
