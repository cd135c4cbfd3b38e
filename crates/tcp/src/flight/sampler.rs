//! State of ACK samples that persists between ACKs.

use ecnlab_base::Dur;

/// Totals, minimum RTT and round trip count of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sampler {
    /// Bytes delivered in total.
    delivered: u64,
    /// Duplicate ACKs without SACK since SND.UNA last advanced. Each counts as one delivered segment.
    duplicates: u64,
    /// Bytes marked lost, in total.
    lost: u64,
    /// Minimum over ACKs of the RTT of the most recently sent segment that an ACK delivers; zero before the first
    /// sample.
    min_rtt: Dur,
    /// Round trips so far. The current one ends when data beyond `round_end` is acknowledged.
    round: u64,
    round_end: u64,
}

impl Sampler {
    /// The state of a connection with all data up to `una` acknowledged and no other data sent. `rtt` is the RTT of the
    /// handshake, if it was timed.
    pub fn new(una: u64, rtt: Option<Dur>) -> Sampler {
        Sampler { delivered: una, round_end: una, min_rtt: rtt.unwrap_or_default(), ..Sampler::default() }
    }

    /// Bytes delivered in total.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Minimum RTT; zero before the first sample.
    pub fn min_rtt(&self) -> Dur {
        self.min_rtt
    }

    /// Round trips so far.
    pub fn round(&self) -> u64 {
        self.round
    }

    /// Counts a round trip if one has ended. `una` is the first unacknowledged offset, `max` one past the highest sent.
    pub fn count_round(&mut self, una: u64, max: u64) {
        if una > self.round_end {
            self.round += 1;
            self.round_end = max;
        }
    }

    /// Processes the RTT of the most recently sent segment that an ACK delivers.
    pub fn take_rtt(&mut self, rtt: Dur) {
        self.min_rtt = if self.min_rtt.is_zero() { rtt } else { self.min_rtt.min(rtt) };
    }

    /// Clears the count of duplicates, on an ACK of new data.
    pub fn forget_duplicates(&mut self) {
        self.duplicates = 0;
    }

    /// Counts a duplicate ACK without SACK.
    pub fn count_duplicate(&mut self) {
        self.duplicates += 1;
    }

    /// Bytes that the duplicate ACKs count as delivered, with segments of `mss` bytes.
    pub fn duplicate_bytes(&self, mss: u32) -> u64 {
        self.duplicates * u64::from(mss)
    }

    /// Sets the total of delivered bytes, which never falls. Returns the increase.
    pub fn deliver(&mut self, delivered: u64) -> u64 {
        let newly = delivered.saturating_sub(self.delivered);
        self.delivered += newly;
        newly
    }

    /// Sets the total of bytes marked lost. Returns the increase.
    pub fn lose(&mut self, lost: u64) -> u64 {
        lost - std::mem::replace(&mut self.lost, lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_counted_once_and_the_least_rtt_is_kept() {
        let mut sampler = Sampler::new(1, None);
        assert_eq!([3_000, 5_000, 5_000].map(|lost| sampler.lose(lost)), [3_000, 2_000, 0]);
        assert_eq!([1_001, 501, 2_001].map(|delivered| sampler.deliver(delivered)), [1_000, 0, 1_000]);
        [120, 100, 110].into_iter().for_each(|ms| sampler.take_rtt(Dur::from_ms(ms)));
        assert_eq!(sampler.min_rtt(), Dur::from_ms(100));
    }
}
