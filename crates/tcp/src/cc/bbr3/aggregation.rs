//! What ACKs deliver beyond the bandwidth, because receivers or links aggregate them ("BBR.extra_acked").

use ecnlab_base::Time;

use super::AckSample;
use super::path::{secs, whole};
use crate::max_filter::MaxFilter;

/// BBR.ExtraAckedFilterLen, in rounds; one in Startup.
const FILTER_LEN: u64 = 10;

#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    /// BBR.extra_acked_interval_start and BBR.extra_acked_delivered.
    interval_start: Time,
    delivered: u64,
    /// BBR.extra_acked_filter.
    most: MaxFilter<u64>,
}

impl Aggregation {
    /// Begins an interval.
    pub fn restart(&mut self, now: Time) {
        (self.interval_start, self.delivered) = (now, 0);
    }

    /// UpdateACKAggregation, in this `round`.
    pub fn update(&mut self, sample: &AckSample, bw: f64, cwnd: u64, full_bw_reached: bool, round: u64) {
        let newly_acked = sample.delivered.bytes;
        if newly_acked == 0 {
            return;
        }
        let mut expected = whole(bw * secs(sample.now.since(self.interval_start)));
        if self.delivered <= expected {
            self.restart(sample.now);
            expected = 0;
        }
        self.delivered += newly_acked;
        let extra = (self.delivered - expected).min(cwnd);
        self.most.update(if full_bw_reached { FILTER_LEN } else { 1 }, round, extra);
    }

    /// BBR.extra_acked.
    pub fn extra_acked(&self) -> u64 {
        self.most.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Amount;
    use ecnlab_base::Dur;

    /// At 1 MB/s: `bytes` delivered at `ms`, in this round.
    fn ack(aggregation: &mut Aggregation, bytes: u64, ms: u64, full: bool, round: u64) -> u64 {
        let now = Time::ZERO + Dur::from_ms(ms);
        let sample = AckSample { now, delivered: Amount { bytes, packets: 1 }, ..AckSample::default() };
        aggregation.update(&sample, 1e6, 20_000, full, round);
        aggregation.extra_acked()
    }

    #[test]
    fn what_comes_above_the_bandwidth_since_the_interval_began_is_extra() {
        let mut aggregation = Aggregation::default();
        // Nothing was delivered before 10 ms: a new interval, all of it is extra.
        assert_eq!(ack(&mut aggregation, 8_000, 10, true, 1), 8_000);
        // 16 000 in 4 ms, of which the path explains 4000.
        assert_eq!(ack(&mut aggregation, 8_000, 14, true, 1), 12_000);
        // At 30 ms it explains 20 000, more than 16 000: anew.
        assert_eq!(ack(&mut aggregation, 2_000, 30, true, 1), 12_000);
        assert_eq!(aggregation.delivered, 2_000);
        assert_eq!(ack(&mut aggregation, 90_000, 31, true, 1), 20_000, "the window is the most");
    }

    #[test]
    fn it_lasts_ten_rounds_and_one_in_startup() {
        let rounds = |full: bool| {
            let mut aggregation = Aggregation::default();
            ack(&mut aggregation, 8_000, 10, full, 1);
            (2..20).find(|&round| ack(&mut aggregation, 1_000, 1_000 * round, full, round) < 8_000)
        };
        assert_eq!((rounds(true), rounds(false)), (Some(12), Some(3)));
    }
}
