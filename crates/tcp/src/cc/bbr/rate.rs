//! The pacing rate and the burst size. Rates are in bytes per second, RTTs in microseconds.

use super::Pacing;
use super::bandwidth::{Bandwidth, UNIT};

/// 2/ln 2, the smallest gain that doubles the data sent per round (bbr_high_gain).
pub(super) const HIGH_GAIN: u64 = UNIT * 2_885 / 1_000 + 1;

/// RTT for the initial pacing rate if none is known.
const NOMINAL_RTT: u64 = 1_000;

/// Segments sent before pacing starts (tcp_update_skb_after_send).
const UNPACED: u64 = 9;

/// Below this rate a burst may have one segment, above it at least two (bbr_min_tso_rate).
const SINGLE_BELOW: u64 = 150_000;

/// Maximum bytes of a burst, in a packet of segmentation offload (GSO_LEGACY_MAX_SIZE).
const LARGEST_BURST: u64 = 65_536;

/// Maximum segments of a burst for which the window has a budget.
const MOST_PLANNED: u64 = 127;

/// Microseconds of the minimum RTT that halve the part of a burst not derived from the rate (2^tcp_tso_rtt_log).
const BURST_HALVES: u64 = 512;

/// The pacing rate and the state that determines bursts.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    mss: u64,
    bytes_per_sec: u64,
    /// The initial rate was derived from an RTT.
    has_seen_rtt: bool,
    /// Segments sent.
    sent: u64,
    /// Minimum RTT of the whole connection.
    least_rtt: Option<u64>,
}

impl Rate {
    /// The initial state of a connection with segments of `mss` bytes, without a rate.
    pub fn new(mss: u64) -> Rate {
        Rate { mss, bytes_per_sec: 0, has_seen_rtt: false, sent: 0, least_rtt: None }
    }

    /// bbr_init_pacing_rate_from_rtt: `cwnd` segments per round trip, times the gain of Startup.
    pub fn begin(&mut self, cwnd: u64, rtt: Option<u64>) {
        self.has_seen_rtt = rtt.is_some();
        let bw = Bandwidth::of(cwnd * self.mss, self.mss, rtt.unwrap_or(NOMINAL_RTT));
        self.bytes_per_sec = bw.bytes_per_sec(self.mss, HIGH_GAIN);
    }

    /// Whether no RTT has set the initial rate yet.
    pub fn wants_rtt(&self) -> bool {
        !self.has_seen_rtt
    }

    /// bbr_set_pacing_rate: sets the rate to `gain` times `bw`. It falls only with `may_fall`.
    pub fn set(&mut self, bw: Bandwidth, gain: u64, may_fall: bool) {
        let rate = bw.bytes_per_sec(self.mss, gain);
        self.bytes_per_sec = if may_fall { rate } else { rate.max(self.bytes_per_sec) };
    }

    /// Processes an RTT sample.
    pub fn note_rtt(&mut self, rtt: Option<u64>) {
        self.least_rtt = [self.least_rtt, rtt].into_iter().flatten().min();
    }

    /// Accounts for bytes of payload sent.
    pub fn count_sent(&mut self, bytes: u64) {
        self.sent += u64::from(bytes > 0);
    }

    /// Returns the pacing rate and burst.
    pub fn pacing(&self) -> Pacing {
        match UNPACED.saturating_sub(self.sent) {
            // As in Linux, a rate of zero is unlimited.
            0 if self.bytes_per_sec == 0 => Pacing { rate: u64::MAX, quantum: u64::MAX },
            0 => Pacing { rate: self.bytes_per_sec, quantum: self.burst() * self.mss },
            free => Pacing { rate: u64::MAX, quantum: free * self.mss },
        }
    }

    /// Segments per burst (tcp_tso_autosize): those of 1/1024 s, and more if the RTT is short.
    fn burst(&self) -> u64 {
        let halvings = self.least_rtt.map(|rtt| u32::try_from(rtt / BURST_HALVES).unwrap_or(u32::MAX));
        let more = halvings.and_then(|halvings| LARGEST_BURST.checked_shr(halvings)).unwrap_or(0);
        self.segments((self.bytes_per_sec >> 10).saturating_add(more))
    }

    /// Segments per burst for which the window has a budget (bbr_tso_segs_goal).
    pub fn planned_burst(&self) -> u64 {
        self.segments(self.bytes_per_sec >> 10).min(MOST_PLANNED)
    }

    /// Segments of a burst of `bytes`, within the limits.
    fn segments(&self, bytes: u64) -> u64 {
        (bytes.min(LARGEST_BURST) / self.mss).max(self.least_burst())
    }

    /// bbr_min_tso_segs.
    fn least_burst(&self) -> u64 {
        if self.bytes_per_sec < SINGLE_BELOW { 1 } else { 2 }
    }

    /// The pacing rate in bytes per second.
    #[cfg(test)]
    pub fn get(&self) -> u64 {
        self.bytes_per_sec
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1_000;

    /// The bursts at a rate: what leaves, and what the window is planned for.
    fn bursts(rate: &mut Rate, bytes_per_sec: u64) -> (u64, u64) {
        rate.bytes_per_sec = bytes_per_sec;
        (rate.burst(), rate.planned_burst())
    }

    #[test]
    fn it_begins_with_the_window_in_a_round_trip_at_the_gain_of_startup() {
        // 256 · 2.885 = 738.56, and one.
        assert_eq!(HIGH_GAIN, 739);
        let mut rate = Rate::new(MSS);
        rate.begin(10, Some(100_000));
        // 10 segments in 100 ms are 1677 units; 1677 · 1000 · 739/256 = 4841007, · 0.99e6 / 2^24 = 285662 bytes a second.
        assert_eq!((rate.get(), rate.wants_rtt()), (285_662, false));
        rate.begin(10, None);
        let nominal = Bandwidth::of(10 * MSS, MSS, 1_000).bytes_per_sec(MSS, HIGH_GAIN);
        assert_eq!((rate.get(), rate.wants_rtt()), (nominal, true));
    }

    #[test]
    fn it_falls_only_if_it_may() {
        let bw = |segments| Bandwidth::of(segments * MSS, MSS, 1_000_000);
        let mut rate = Rate::new(MSS);
        let mut set = |segments, may_fall| {
            rate.set(bw(segments), UNIT, may_fall);
            rate.get() / MSS
        };
        // One per cent less, rounded down.
        assert_eq!([set(100, false), set(50, false), set(50, true), set(200, true)], [98, 98, 49, 197]);
    }

    #[test]
    fn the_tenth_segment_is_the_first_that_is_paced() {
        let mut rate = Rate::new(MSS);
        rate.begin(10, Some(100_000));
        assert_eq!(rate.pacing(), Pacing { rate: u64::MAX, quantum: 9_000 });
        (0..8).for_each(|_| rate.count_sent(MSS));
        rate.count_sent(0);
        assert_eq!(rate.pacing(), Pacing { rate: u64::MAX, quantum: 1_000 }, "a FIN is no data");
        rate.count_sent(1);
        assert_eq!(rate.pacing(), Pacing { rate: 285_662, quantum: 2_000 });
        rate.bytes_per_sec = 0;
        assert_eq!(rate.pacing(), Pacing { rate: u64::MAX, quantum: u64::MAX });
    }

    #[test]
    fn bursts_are_what_leaves_in_a_millisecond_and_two_segments_at_least() {
        let mut rate = Rate::new(MSS);
        let of_rates = [149_999, 150_000, 3_071_999, 3_072_000].map(|bytes| bursts(&mut rate, bytes));
        assert_eq!(of_rates, [(1, 1), (2, 2), (2, 2), (3, 3)]);
        assert_eq!(bursts(&mut rate, u64::MAX), (65, 65), "64 KiB");
        assert_eq!(bursts(&mut Rate::new(100), u64::MAX), (655, 127));
    }

    #[test]
    fn bursts_are_longer_where_the_rtt_is_short() {
        // 64 KiB, halved each 512 us: 65536, 32768 and 1024, each with 3000; nothing is left after 17 halvings.
        let of_rtt = |rtt| {
            let mut rate = Rate::new(MSS);
            rate.note_rtt(rtt);
            bursts(&mut rate, 3_072_000)
        };
        let rtts = [511, 512, 512 * 6, 512 * 64, u64::MAX].map(|rtt| of_rtt(Some(rtt)));
        assert_eq!(rtts, [(65, 3), (35, 3), (4, 3), (3, 3), (3, 3)]);
        assert_eq!(of_rtt(None), (3, 3));
        // The least of the connection counts.
        let mut rate = Rate::new(MSS);
        [Some(512 * 6), Some(100_000), None].into_iter().for_each(|rtt| rate.note_rtt(rtt));
        assert_eq!(bursts(&mut rate, 3_072_000), (4, 3));
    }
}
