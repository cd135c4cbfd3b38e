//! State of ACK samples that persists between ACKs.

use ecnlab_base::Dur;

/// Totals of one connection, its least RTT and its round trips.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sampler {
    /// Bytes delivered in total.
    delivered: u64,
    /// Duplicate ACKs without SACK since SND.UNA last advanced: each stands for a segment.
    duplicates: u64,
    /// Bytes taken for lost in total.
    lost: u64,
    /// Least RTT of the segment sent last of those that an ACK delivers; zero before the first.
    min_rtt: Dur,
    /// Round trips so far. This one is over when something beyond `round_end` is acknowledged.
    round: u64,
    round_end: u64,
}

impl Sampler {
    /// All up to `una` is acknowledged, and nothing more was sent. The handshake took `rtt`, if it was timed.
    pub fn new(una: u64, rtt: Option<Dur>) -> Sampler {
        Sampler { delivered: una, round_end: una, min_rtt: rtt.unwrap_or_default(), ..Sampler::default() }
    }

    /// Bytes delivered in total.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Least RTT so far; zero before the first.
    pub fn min_rtt(&self) -> Dur {
        self.min_rtt
    }

    /// Round trips so far.
    pub fn round(&self) -> u64 {
        self.round
    }

    /// All up to `una` is acknowledged, with `max` bytes sent: begins the next round trip if this one is over.
    pub fn count_round(&mut self, una: u64, max: u64) {
        if una > self.round_end {
            self.round += 1;
            self.round_end = max;
        }
    }

    /// An RTT of the segment sent last of those that an ACK delivers.
    pub fn take_rtt(&mut self, rtt: Dur) {
        self.min_rtt = if self.min_rtt.is_zero() { rtt } else { self.min_rtt.min(rtt) };
    }

    /// An ACK acknowledges new bytes: the duplicates before it no longer count.
    pub fn forget_duplicates(&mut self) {
        self.duplicates = 0;
    }

    /// A duplicate ACK without SACK stands for one more segment.
    pub fn count_duplicate(&mut self) {
        self.duplicates += 1;
    }

    /// Bytes for which the duplicate ACKs stand, with segments of `mss` bytes.
    pub fn duplicate_bytes(&self, mss: u32) -> u64 {
        self.duplicates * u64::from(mss)
    }

    /// `delivered` bytes are delivered in total. Returns those not counted before.
    pub fn deliver(&mut self, delivered: u64) -> u64 {
        let newly = delivered.saturating_sub(self.delivered);
        self.delivered += newly;
        newly
    }

    /// `lost` bytes are taken for lost in total. Returns those not counted before.
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
