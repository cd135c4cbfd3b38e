//! ACK aggregation: the excess of acknowledged data over the bandwidth, when receivers and links delay ACKs (the
//! kernel's bbr_update_ack_aggregation). Counts are segments.

use ecnlab_base::Time;

use super::bandwidth::Bandwidth;
use super::us;

/// Minimum number of rounds for which the maximum excess is kept (bbr_extra_acked_win_rtts); the maximum is twice this.
const ROUNDS: u32 = 5;

/// Acknowledged segments that end an epoch (bbr_ack_epoch_acked_reset_thresh).
const LONGEST_EPOCH: u64 = 1 << 20;

/// Upper limit of the excess: the data that the path carries in this time, in microseconds (bbr_extra_acked_max_us).
const MOST_US: u64 = 100_000;

#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    /// Start of this epoch, and segments delivered in it.
    epoch: Time,
    delivered: u64,
    /// Maximum excess of the current window of rounds and of the previous one.
    most: [u64; 2],
    rounds: u32,
}

impl Aggregation {
    /// Starts an epoch.
    pub fn restart(&mut self, now: Time) {
        (self.epoch, self.delivered) = (now, 0);
    }

    /// Starts a round.
    pub fn begin_round(&mut self) {
        self.rounds += 1;
        if self.rounds >= ROUNDS {
            self.rounds = 0;
            self.most = [0, self.most[0]];
        }
    }

    /// Records that `delivered` segments were delivered at `now`, with bandwidth `bw` and a window of `cwnd`.
    pub fn update(&mut self, delivered: u64, now: Time, bw: Bandwidth, cwnd: u64) {
        let mut expected = bw.segments(us(now.since(self.epoch)));
        if self.delivered <= expected || self.delivered + delivered >= LONGEST_EPOCH {
            self.restart(now);
            expected = 0;
        }
        self.delivered += delivered;
        let excess = (self.delivered - expected).min(cwnd);
        self.most[0] = self.most[0].max(excess);
    }

    /// Returns the additional window at bandwidth `bw`.
    pub fn excess(&self, bw: Bandwidth) -> u64 {
        self.most[0].max(self.most[1]).min(bw.segments(MOST_US))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_base::Dur;

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    /// A segment each millisecond.
    fn bw() -> Bandwidth {
        Bandwidth::of(1 << 20, 1, 1_000 << 20)
    }

    #[test]
    fn what_comes_above_the_bandwidth_within_an_epoch_is_excess() {
        let mut aggregation = Aggregation::default();
        // Eight at 10 ms: nothing was delivered in the epoch before, so a new one begins.
        aggregation.update(8, at(10), bw(), 100);
        assert_eq!(aggregation.excess(bw()), 8);
        // 16 in 4 ms, of which the path explains 3 (rounded down): 13.
        aggregation.update(8, at(14), bw(), 100);
        assert_eq!(aggregation.excess(bw()), 13);
        // At 30 ms it explains 19 of the 16: anew.
        aggregation.update(2, at(30), bw(), 100);
        assert_eq!((aggregation.delivered, aggregation.epoch, aggregation.excess(bw())), (2, at(30), 13));
    }

    #[test]
    fn the_excess_is_bounded_by_the_window_and_by_a_tenth_of_a_second() {
        let mut aggregation = Aggregation::default();
        aggregation.update(500, at(10), bw(), 200);
        assert_eq!((aggregation.most[0], aggregation.excess(bw())), (200, 99));
    }

    #[test]
    fn the_greatest_excess_lasts_five_to_ten_rounds() {
        let mut aggregation = Aggregation::default();
        aggregation.update(8, at(10), bw(), 100);
        (0..9).for_each(|_| aggregation.begin_round());
        assert_eq!(aggregation.excess(bw()), 8);
        aggregation.begin_round();
        assert_eq!(aggregation.excess(bw()), 0);
    }

    #[test]
    fn an_epoch_of_a_million_segments_ends() {
        let mut aggregation = Aggregation::default();
        aggregation.update(LONGEST_EPOCH - 2, at(10), bw(), 100);
        aggregation.update(1, at(11), bw(), 100);
        assert_eq!((aggregation.epoch, aggregation.delivered), (at(10), LONGEST_EPOCH - 1));
        aggregation.update(1, at(12), bw(), 100);
        assert_eq!((aggregation.epoch, aggregation.delivered), (at(12), 1));
    }
}
