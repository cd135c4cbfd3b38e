//! Reno's window: slow start, congestion avoidance, one half on congestion (Jacobson 1988, RFC 5681).
//!
//! The variants that the literature's simulators and kernels differ by are [`Rules`]: how an ACK opens the window, what is
//! rounded to whole segments, whether slow start includes cwnd = ssthresh. Laws that are built on Reno have the same.

use ecnlab_base::coverage_mark;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Congestion, CongestionControl, CongestionEvent, Rules, Start, Window};
use crate::facts::Facts;
use crate::invalid::Invalid;
use crate::rules::{Growth, LossWindow, Rounding};
use crate::window::{FRACTION, MAX_CWND};

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "reno",
    label: "Reno",
    summary: "Slow start and congestion avoidance: one segment more a round trip, half on congestion.",
    reference: "V. Jacobson, 'Congestion avoidance and control', SIGCOMM 1988; RFC 5681",
    ..Facts::PLAIN
};

/// Segments that congestion avoidance adds a round trip.
pub(super) const SLOPE: f64 = 1.0;

/// Reno has no parameters but the [`Rules`], which are the host's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl super::Params for Params {
    type Law = Reno;
    type Start = Start;
    const ANY: bool = false;

    fn check(&self) -> Result<(), Invalid> {
        Ok(())
    }

    fn law(&self, start: Start) -> Reno {
        Reno::new(start)
    }
}

/// Reno's window law.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Reno {
    window: Window,
    /// Congestion avoidance: bytes or ACKs counted towards the next segment.
    count: u64,
    rules: Rules,
    ecn_keeps_ssthresh: bool,
    ecn_least: u64,
}

impl Reno {
    /// Reno that begins with `start`.
    pub fn new(start: Start) -> Reno {
        let Start { window, rules, ecn_keeps_ssthresh, ecn_least } = start;
        Reno { window, count: 0, rules, ecn_keeps_ssthresh, ecn_least }
    }

    /// Opens the window for an ACK; congestion avoidance adds `slope` segments a round trip.
    #[inline]
    pub(super) fn open(&mut self, acked: u64, slope: f64) {
        if self.in_slow_start() { self.slow_start(acked) } else { self.avoid_congestion(acked, slope) }
    }

    /// Reduces to `part` of what the event names; windows are in 2^-16 bytes there.
    pub(super) fn reduce(&mut self, event: &CongestionEvent, part: impl FnOnce(u64) -> u64) {
        let mss = self.mss();
        let kept = part(self.with_fraction(event.in_flight));
        let ssthresh = kept >> FRACTION;
        let ssthresh = if self.rules.rounding == Rounding::None { ssthresh } else { self.whole_segments(ssthresh) };
        // RFC 5681 §3.1 equation (4).
        let ssthresh = ssthresh.max(2 * mss);
        self.window.set_ssthresh(ssthresh);
        self.window.set_cwnd_with_fraction(match (event.why, self.rules.loss_window) {
            // RFC 5681 §3.1: the loss window is one segment.
            (Congestion::Timeout, _) => {
                coverage_mark!("reno.timeout");
                mss << FRACTION
            }
            (Congestion::Loss, LossWindow::Ssthresh) => {
                coverage_mark!("reno.loss_to_ssthresh");
                ssthresh << FRACTION
            }
            (Congestion::Ecn, _) if self.ecn_keeps_ssthresh => {
                coverage_mark!("reno.mark_to_ssthresh");
                ssthresh << FRACTION
            }
            (Congestion::Ecn, _) | (Congestion::Loss, LossWindow::Half) => {
                coverage_mark!("reno.half");
                self.rounded(kept).max(self.least())
            }
        });
        self.count = 0;
    }

    pub(super) fn in_slow_start(&self) -> bool {
        // RFC 5681 §3.1: either algorithm may be used when cwnd and ssthresh are equal. Compared with its
        // fraction: a window of 5.75 segments is past a threshold of 5.
        let ssthresh = self.window.ssthresh().min(MAX_CWND) << FRACTION;
        let cwnd = self.window.cwnd_with_fraction();
        cwnd < ssthresh || (self.rules.slow_start_through_ssthresh && cwnd == ssthresh)
    }

    /// Opens the window by `more`, in 2^-16 bytes, at a slope of one.
    fn climb(&mut self, more: u64, slope: f64) {
        self.window.widen((more as f64 * slope) as u64);
    }

    /// What a reduction leaves at least, in 2^-16 bytes.
    fn least(&self) -> u64 {
        (self.ecn_least * self.mss()) << FRACTION
    }

    fn mss(&self) -> u64 {
        self.window.mss().into()
    }

    /// Opens the window in slow start.
    pub(super) fn slow_start(&mut self, acked: u64) {
        let mss = self.mss();
        match self.rules.growth {
            Growth::PerAck | Growth::AckCount => self.window.widen(mss << FRACTION),
            // RFC 3465 §2.2; with a limit of one segment, RFC 5681 §3.1 equation (2).
            Growth::BytesAcked => self.window.widen(acked.min(mss * u64::from(self.rules.growth_limit)) << FRACTION),
        }
    }

    fn avoid_congestion(&mut self, acked: u64, slope: f64) {
        let mss = self.mss();
        match self.rules.growth {
            // RFC 5681 §3.1 equation (3). mss < 2^16, so mss² << 32 fits.
            Growth::PerAck => {
                self.climb(((mss * mss) << (2 * FRACTION)) / self.window.cwnd_with_fraction().max(1), slope)
            }
            // RFC 3465 §2.1.
            Growth::BytesAcked => {
                self.count += acked;
                let cwnd = self.cwnd();
                if self.count >= cwnd {
                    self.count -= cwnd;
                    self.climb(mss << FRACTION, slope);
                }
            }
            // Linux 2.0 and 2.2 compare before they count: cwnd + 1 ACKs a segment.
            Growth::AckCount => {
                if (self.count + 1) * mss > self.cwnd() {
                    self.count = 0;
                    self.climb(mss << FRACTION, slope);
                } else {
                    self.count += 1;
                }
            }
        }
    }

    /// `in_flight` in 2^-16 bytes. Where that is the window itself, its fraction is reduced too: it decides which
    /// ACK later lets a segment out.
    fn with_fraction(&self, in_flight: u64) -> u64 {
        if in_flight == self.cwnd() { self.window.cwnd_with_fraction() } else { in_flight.min(MAX_CWND) << FRACTION }
    }

    /// A reduced window, or what is taken from one, as this host counts it.
    pub(super) fn rounded(&self, window: u64) -> u64 {
        if self.rules.rounding == Rounding::Both { self.whole_segments(window >> FRACTION) << FRACTION } else { window }
    }

    fn whole_segments(&self, bytes: u64) -> u64 {
        bytes - bytes % self.mss()
    }
}

impl CongestionControl for Reno {
    #[inline]
    fn window(&self) -> &Window {
        &self.window
    }

    #[inline]
    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    #[inline]
    fn grow(&mut self, acked: u64) {
        self.open(acked, SLOPE);
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.reduce(event, |window| window / 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::event;
    use crate::law::start;
    use ecnlab_base::coverage::must_reach;

    const MSS: u32 = 1000;

    /// Reno of a profile, with a window and a threshold in bytes.
    fn reno(name: &str, cwnd: u64, ssthresh: u64) -> Reno {
        let mut reno = Reno::new(start(name, MSS));
        reno.set_cwnd(cwnd);
        reno.set_ssthresh(ssthresh);
        reno
    }

    fn acks(reno: &mut Reno, n: usize, acked: u64) -> u64 {
        (0..n).for_each(|_| reno.grow(acked));
        reno.cwnd()
    }

    #[test]
    fn a_law_without_columns_has_no_values() {
        assert_eq!((FACTS.columns.len(), reno("modern", 10_000, 5_000).values().len()), (0, 0));
    }

    #[test]
    fn slow_start_follows_the_bytes_up_to_two_segments() {
        let mut r = reno("modern", 10_000, u64::MAX);
        assert_eq!(acks(&mut r, 1, 2_000), 12_000);
        assert_eq!(acks(&mut r, 1, 500), 12_500);
        assert_eq!(acks(&mut r, 1, 9_000), 14_500);
    }

    #[test]
    fn congestion_avoidance_adds_a_segment_for_each_window_of_bytes() {
        let mut r = reno("modern", 10_000, 5_000);
        assert_eq!(acks(&mut r, 4, 2_000), 10_000);
        assert_eq!(acks(&mut r, 1, 2_000), 11_000);
        assert_eq!(acks(&mut r, 5, 2_000), 11_000);
        assert_eq!(acks(&mut r, 1, 2_000), 12_000);
    }

    #[test]
    fn bytes_past_the_window_count_for_the_next_segment() {
        let mut r = reno("modern", 10_000, 5_000);
        // 12000 of 10000: 2000 remain, to which three ACKs add 9000, the 11000 of the next window.
        assert_eq!(acks(&mut r, 4, 3_000), 11_000);
        assert_eq!(acks(&mut r, 2, 3_000), 11_000);
        assert_eq!(acks(&mut r, 1, 3_000), 12_000);
    }

    #[test]
    fn ns_2_adds_one_over_cwnd_and_keeps_the_fraction() {
        let mut r = reno("ns-2.35", 3_000, 2_000);
        // 3, +1/3 = 3.3333, +1/3.3333 = 3.6333, +1/3.6333 = 3.90856.
        assert_eq!(acks(&mut r, 1, 1_000), 3_333);
        assert_eq!(acks(&mut r, 1, 1_000), 3_633);
        assert_eq!(acks(&mut r, 1, 1_000), 3_908);
    }

    #[test]
    fn ns_2_keeps_the_fraction_through_halving_and_deflation() {
        let mut r = reno("ns-2.35", 3_000, 2_000);
        // 3000 + 1000²/3000 = 3333.333 bytes, of which a half is 1666.666.
        acks(&mut r, 1, 1_000);
        r.on_congestion(&event(Congestion::Loss, 3_333));
        assert_eq!((r.state().ssthresh, r.window.cwnd_with_fraction() >> (FRACTION - 4)), (2_000, 1_666 * 16 + 10));
        r.deflate(600);
        assert_eq!(r.window.cwnd_with_fraction() >> (FRACTION - 4), 1_066 * 16 + 10);
        r.deflate(600);
        assert_eq!(r.cwnd(), 1_000);
    }

    #[test]
    fn a_restart_leaves_a_window_alone_that_is_no_larger() {
        // RFC 5681 §4.1: the restart window is at most cwnd. 3000 + 1000²/3000 = 3333.333 bytes keep their fraction.
        let mut r = reno("ns-2.35", 3_000, 2_000);
        acks(&mut r, 1, 1_000);
        r.on_idle_restart(3_333);
        assert_eq!(r.window.cwnd_with_fraction() >> (FRACTION - 4), 3_333 * 16 + 5);
        r.on_idle_restart(3_332);
        assert_eq!(r.window.cwnd_with_fraction() >> (FRACTION - 4), 3_332 * 16);
    }

    #[test]
    fn ecn_takes_linux_to_two_segments_and_others_to_one() {
        let _reached = must_reach(["reno.mark_to_ssthresh"]);
        // Half of 3 segments is 1.5, of 2 one; Linux's windows are whole segments, and its ssthresh at least two.
        for (name, window, left) in [("linux-7", 3_000, 2_000), ("linux-7", 2_000, 2_000), ("modern", 2_000, 1_000)] {
            let mut r = reno(name, window, window);
            r.on_congestion(&event(Congestion::Ecn, window));
            assert_eq!((r.cwnd(), r.state().ssthresh), (left, 2_000), "{name} {window}");
        }
    }

    #[test]
    fn linux_2_0_counts_to_cwnd_and_one() {
        let mut r = reno("linux-2.0", 4_000, 4_000);
        // cwnd <= ssthresh is slow start there.
        assert_eq!(acks(&mut r, 1, 1_000), 5_000);
        assert_eq!(acks(&mut r, 5, 1_000), 5_000);
        assert_eq!(acks(&mut r, 1, 1_000), 6_000);
    }

    #[test]
    fn halves_are_rounded_as_each_counts() {
        let _reached = must_reach(["reno.timeout", "reno.loss_to_ssthresh", "reno.half"]);
        let reduced = |name, why, in_flight| {
            let mut r = reno(name, 11_500, 4_000);
            r.on_congestion(&event(why, in_flight));
            (r.state().ssthresh, r.cwnd())
        };
        assert_eq!(reduced("modern", Congestion::Loss, 11_500), (5_750, 5_750));
        assert_eq!(reduced("ns-2.35", Congestion::Loss, 11_500), (5_000, 5_750));
        assert_eq!(reduced("linux-2.0", Congestion::Loss, 11_000), (5_000, 5_000));
        // The floor is two segments for ssthresh, one for cwnd, and none for ns-2's.
        assert_eq!(reduced("modern", Congestion::Loss, 3_000), (2_000, 2_000));
        assert_eq!(reduced("modern", Congestion::Ecn, 3_000), (2_000, 1_500));
        assert_eq!(reduced("ns-2.35", Congestion::Loss, 1_500), (2_000, 750));
        assert_eq!(reduced("modern", Congestion::Timeout, 11_500), (5_750, 1_000));
    }
}
