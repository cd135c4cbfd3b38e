//! Detection of policers: two consecutive intervals that start and end with losses, lose a fifth or more and deliver at
//! the same rate indicate an empty token bucket. Their rate is then used as the bandwidth for 48 rounds (the kernel's
//! bbr_lt_bw_sampling).

use ecnlab_base::{Time, coverage_mark};

use super::bandwidth::{Bandwidth, UNIT};

/// Minimum rounds of an interval (bbr_lt_intvl_min_rtts); the maximum is four times as many.
const SHORTEST: u32 = 4;

/// Lost data per 256 delivered from which an interval is lossy (bbr_lt_loss_thresh).
const LOSSY: u128 = 50;

/// Two bandwidths are equal if they differ by at most an eighth, or by at most this number of bytes per second
/// (bbr_lt_bw_ratio, bbr_lt_bw_diff).
const SAME_UNTIL: u64 = 500;

/// Rounds for which the rate of a policer is used (bbr_lt_bw_max_rtts).
const LASTS: u32 = 48;

/// Progress of the connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    /// Bytes delivered and lost in total, and the time of the last delivery.
    pub delivered: u64,
    pub lost: u64,
    pub delivered_at: Time,
    /// A segment was marked lost.
    pub losses: bool,
    pub app_limited: bool,
    pub round_start: bool,
    /// The law is in ProbeBW.
    pub probes_bandwidth: bool,
}

/// Change of the policer state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A policer was detected.
    Policed,
    /// The rate of the policer is no longer used.
    Over,
}

/// State of policer detection.
#[derive(Clone, Debug, Default)]
pub(super) struct LongTerm {
    /// The bandwidth of the last interval, then that of the policer.
    bw: Option<Bandwidth>,
    in_use: bool,
    sampling: bool,
    /// Rounds of the interval, or since the detection.
    rounds: u32,
    /// Start of the interval in milliseconds, and the bytes delivered and lost until then.
    began_ms: u64,
    delivered: u64,
    lost: u64,
}

impl LongTerm {
    /// The rate of the policer, if one is detected.
    pub fn policed(&self) -> Option<Bandwidth> {
        self.bw.filter(|_| self.in_use)
    }

    /// Resets the state.
    pub fn reset(&mut self) {
        *self = LongTerm::default();
    }

    /// Updates the state after an ACK or a timeout. Segments have `mss` bytes.
    pub fn update(&mut self, progress: &Progress, mss: u64) -> Option<Change> {
        if self.in_use {
            return self.is_over(progress).then_some(Change::Over);
        }
        // Before the first loss the bucket has tokens, and the delivery rate exceeds the policer's rate.
        if !self.sampling {
            if !progress.losses {
                return None;
            }
            self.begin_interval(progress);
            self.sampling = true;
        }
        if progress.app_limited {
            self.reset();
            return None;
        }
        self.rounds += u32::from(progress.round_start);
        if self.rounds < SHORTEST {
            return None;
        }
        if self.rounds > 4 * SHORTEST {
            self.reset();
            return None;
        }
        let bw = self.interval(progress, mss)?;
        self.end_interval(bw, progress, mss)
    }

    fn is_over(&mut self, progress: &Progress) -> bool {
        if !progress.probes_bandwidth || !progress.round_start {
            return false;
        }
        self.rounds += 1;
        let over = self.rounds >= LASTS;
        if over {
            coverage_mark!("bbr.policer_ends");
            self.reset();
        }
        over
    }

    fn begin_interval(&mut self, progress: &Progress) {
        self.began_ms = progress.delivered_at.ms();
        (self.delivered, self.lost, self.rounds) = (progress.delivered, progress.lost, 0);
    }

    /// The bandwidth of the interval if it ends with a loss and is lossy.
    fn interval(&self, progress: &Progress, mss: u64) -> Option<Bandwidth> {
        let lost = progress.lost.saturating_sub(self.lost);
        let delivered = progress.delivered.saturating_sub(self.delivered);
        let lossy = delivered > 0 && u128::from(lost) * u128::from(UNIT) >= LOSSY * u128::from(delivered);
        let ms = progress.delivered_at.ms().saturating_sub(self.began_ms);
        (progress.losses && lossy && ms > 0).then(|| Bandwidth::of(delivered, mss, ms * 1_000))
    }

    fn end_interval(&mut self, bw: Bandwidth, progress: &Progress, mss: u64) -> Option<Change> {
        if let Some(before) = self.bw.filter(|before| is_same(bw, *before, mss)) {
            self.bw = Some(bw.mean(before));
            coverage_mark!("bbr.policer");
            (self.in_use, self.rounds) = (true, 0);
            return Some(Change::Policed);
        }
        self.bw = Some(bw).filter(|bw| *bw > Bandwidth::default());
        self.begin_interval(progress);
        None
    }
}

fn is_same(bw: Bandwidth, before: Bandwidth, mss: u64) -> bool {
    let apart = bw.distance(before);
    apart.times(8 * UNIT) <= before || apart.bytes_per_sec(mss, UNIT) <= SAME_UNTIL
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_base::Dur;
    use ecnlab_base::coverage::must_reach;

    const MSS: u64 = 1_000;

    /// A connection in rounds of 100 ms.
    #[derive(Default)]
    struct Bench {
        long_term: LongTerm,
        progress: Progress,
    }

    impl Bench {
        /// A round delivers and loses so many segments.
        fn round(&mut self, delivered: u64, lost: u64) -> Option<Change> {
            let p = &mut self.progress;
            p.delivered += delivered * MSS;
            p.lost += lost * MSS;
            p.delivered_at += Dur::from_ms(100);
            (p.losses, p.round_start) = (lost > 0, true);
            self.long_term.update(p, MSS)
        }

        /// Two intervals in which rounds deliver so many segments, and a quarter as many are lost. The round of the first loss
        /// counts as the first of four.
        fn two_intervals(&mut self, first: u64, second: u64) -> Option<Change> {
            assert_eq!(self.round(100, 1), None);
            (0..3).for_each(|_| assert_eq!(self.round(first, first / 4), None));
            (0..3).for_each(|_| assert_eq!(self.round(second, second / 4), None));
            self.round(second, second / 4)
        }

        /// A policer of 40 segments a round is found.
        fn policed() -> Bench {
            let mut bench = Bench::default();
            assert_eq!(bench.two_intervals(40, 40), Some(Change::Policed));
            bench.progress.probes_bandwidth = true;
            bench
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    /// So many segments each 100 ms.
    fn rate(segments: u64) -> Bandwidth {
        Bandwidth::of(segments * MSS, MSS, 100_000)
    }

    #[test]
    fn two_lossy_intervals_at_the_same_rate_show_a_policer() {
        let mut bench = Bench::default();
        assert_eq!(bench.two_intervals(40, 44), Some(Change::Policed));
        // The mean of 40 and 44 in 100 ms.
        assert_eq!(bench.long_term.policed(), Some(rate(40).mean(rate(44))));
    }

    #[test]
    fn an_interval_lasts_until_a_loss_and_no_longer_than_sixteen_rounds() {
        let mut bench = Bench::default();
        bench.round(100, 1);
        (0..3).for_each(|_| assert_eq!(bench.round(40, 10), None));
        assert_eq!((bench.long_term.bw, bench.long_term.policed()), (Some(rate(40)), None));
        (0..3).for_each(|_| assert_eq!(bench.round(40, 10), None));
        // The fourth round loses nothing, so tokens may be left; the fifth does.
        assert_eq!((bench.round(40, 0), bench.round(40, 10)), (None, Some(Change::Policed)));
        let mut bench = Bench::default();
        bench.round(100, 1);
        (0..15).for_each(|_| assert_eq!(bench.round(40, 0), None));
        assert!(bench.long_term.sampling, "sixteen rounds");
        bench.round(40, 10);
        assert!(!bench.long_term.sampling);
    }

    #[test]
    fn fifty_of_256_are_lossy() {
        let interval = |lost| {
            let mut bench = Bench::default();
            bench.round(1, 1);
            (0..3).for_each(|_| assert_eq!(bench.round(64, lost), None));
            bench.long_term.bw
        };
        // 3 · 64 = 192 delivered; 37.5 lost are 50/256 of that: 36 and 39 are not half a segment from it.
        assert_eq!((interval(12), interval(13)), (None, Some(rate(64))));
        // 50 of 256 are enough.
        let mut long_term = LongTerm { sampling: true, rounds: 4, ..LongTerm::default() };
        let end = |lost| Progress { delivered: 256, lost, delivered_at: at(1), losses: true, ..Progress::default() };
        assert_eq!(long_term.interval(&end(49), MSS), None);
        assert!(long_term.interval(&end(50), MSS).is_some());
        // An interval of less than a millisecond, or without a loss at its end, is ignored.
        long_term.began_ms = 1;
        assert_eq!(long_term.interval(&end(50), MSS), None);
        long_term.began_ms = 0;
        assert_eq!(long_term.interval(&Progress { losses: false, ..end(50) }, MSS), None);
        assert_eq!(long_term.interval(&Progress { delivered: 0, ..end(50) }, MSS), None);
    }

    #[test]
    fn a_bandwidth_of_nothing_is_none() {
        let mut long_term = LongTerm::default();
        assert_eq!(long_term.end_interval(Bandwidth::default(), &Progress::default(), MSS), None);
        assert_eq!(long_term.bw, None);
    }

    #[test]
    fn without_data_to_send_nothing_is_known() {
        let mut bench = Bench::default();
        bench.two_intervals(40, 80);
        bench.progress.app_limited = true;
        bench.round(40, 10);
        assert_eq!((bench.long_term.bw, bench.long_term.sampling), (None, false));
    }

    #[test]
    fn the_rate_of_a_policer_counts_for_48_rounds_of_probe_bw() {
        let _reached = must_reach(["bbr.policer_ends"]);
        let mut bench = Bench::policed();
        bench.progress.probes_bandwidth = false;
        assert_eq!(bench.round(40, 0), None);
        bench.progress.probes_bandwidth = true;
        (0..47).for_each(|_| assert_eq!(bench.round(40, 0), None));
        assert!(bench.long_term.policed().is_some());
        bench.progress.round_start = false;
        assert_eq!(bench.long_term.update(&bench.progress, MSS), None, "within a round");
        assert_eq!((bench.round(40, 0), bench.long_term.policed()), (Some(Change::Over), None));
    }

    #[test]
    fn an_eighth_more_is_the_same_rate_and_more_is_not() {
        assert_eq!(Bench::default().two_intervals(32, 36), Some(Change::Policed));
        assert_eq!(Bench::default().two_intervals(32, 37), None);
        // 4 kbit/s are the same in any case: the units of 2^-24 are 59 B/s here, so that 16 and 24 are 472 B/s apart, and 16
        // and 25 are 531.
        let near = |bytes| is_same(Bandwidth::of(bytes, MSS, 1_000_000), Bandwidth::of(1_000, MSS, 1_000_000), MSS);
        assert!(near(1_450) && !near(1_500));
    }
}
