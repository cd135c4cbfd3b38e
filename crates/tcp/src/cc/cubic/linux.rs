//! CUBIC as Linux 7 has it (net/ipv4/tcp_cubic.c): whole segments, jiffies of 1 ms, time in 2^-10 seconds.

use ecnlab_base::{Dur, Time, coverage_mark};

use crate::cc::reno::Reno;
use crate::cc::{AckSample, Congestion, CongestionControl, CongestionEvent, Sent};
use crate::window::FRACTION;

/// Jiffies in a second (CONFIG_HZ).
const HZ: u64 = 1_000;
/// Bits of a fraction of a second (BICTCP_HZ).
const TIME_BITS: u32 = 10;
/// C, as a part of 2^10 (bic_scale · 10).
const C: u64 = 410;
/// Part that congestion leaves, of 1024 (BICTCP_BETA_SCALE).
const BETA: u64 = 717;
const BETA_SCALE: u64 = 1_024;
/// ACKs in which Reno's window grows by one, for eight segments of the window: 8 (1 + beta) / 3 / (1 - beta) in whole numbers.
const FRIENDLY: u64 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);
/// 1/C in cubes of 2^-10 seconds (cube_factor).
const CUBE: u64 = (1 << (10 + 3 * TIME_BITS)) / C;
/// ACKs for a segment before the first congestion, at most: 5 % a round trip.
const FIRST: u32 = 20;

/// CUBIC of Linux 7, in whole segments of the window.
#[derive(Clone, Debug)]
pub struct Linux {
    pub(super) curve: Bictcp,
    fast_convergence: bool,
}

impl Linux {
    /// State at the beginning.
    pub fn new(fast_convergence: bool) -> Linux {
        Linux { curve: Bictcp::default(), fast_convergence }
    }

    /// An ACK of `acked` bytes, which are whole segments (cubictcp_cong_avoid). What slow start leaves over counts for
    /// congestion avoidance.
    #[inline(never)]
    pub fn grow(&mut self, reno: &mut Reno, acked: u64, now: Time) {
        let mss = u64::from(reno.window().mss());
        let slow = acked.min(reno.window().ssthresh().saturating_sub(reno.cwnd()));
        reno.window_mut().widen(slow << FRACTION);
        let left = (acked - slow).div_ceil(mss);
        if left > 0 {
            let more = self.curve.growth(reno.cwnd() / mss, left, now);
            reno.window_mut().widen((more * mss) << FRACTION);
        }
    }

    /// Reduces the window (cubictcp_recalc_ssthresh); a timeout leaves nothing of the curve.
    pub fn on_congestion(&mut self, reno: &mut Reno, event: &CongestionEvent) {
        let mss = u64::from(reno.window().mss());
        let kept = self.curve.reduce(reno.cwnd() / mss, self.fast_convergence);
        if event.why == Congestion::Timeout {
            coverage_mark!("cubic.linux_timeout");
            self.curve.reset();
        }
        reno.reduce(event, |_| (kept * mss) << FRACTION);
    }

    /// An ACK, which may have an RTT.
    pub fn on_feedback(&mut self, sample: &AckSample) {
        if let Some(rtt) = sample.last_rtt {
            self.curve.take_rtt(rtt, sample.now);
        }
    }

    /// Data leave.
    pub fn on_sent(&mut self, sent: &Sent) {
        self.curve.on_sent(sent.in_flight == 0, sent.now);
    }
}

/// State of a connection (struct bictcp), and Linux's counter of ACKs (snd_cwnd_cnt).
#[derive(Clone, Debug, Default)]
pub struct Bictcp {
    /// ACKs for which the window grows by one.
    cnt: u32,
    /// The window at the last congestion, or less; zero before the first.
    last_max: u32,
    last_cwnd: u32,
    last_time: u64,
    origin: u32,
    k: u64,
    delay_min: Option<Dur>,
    epoch: Option<u64>,
    ack_cnt: u32,
    /// Estimate of Reno's window.
    tcp_cwnd: u32,
    /// ACKs counted towards the next segment.
    counted: u32,
    /// When data last left; a reset leaves it.
    sent: u64,
}

fn jiffies(at: Time) -> u64 {
    at.since(Time::ZERO).ps() / 1_000_000_000
}

impl Bictcp {
    /// The RTT of an ACK (cubictcp_acked). In the first second of an epoch none is taken.
    pub fn take_rtt(&mut self, rtt: Dur, now: Time) {
        let soon = self.epoch.is_some_and(|epoch| jiffies(now).saturating_sub(epoch) < HZ);
        if !soon {
            self.delay_min = Some(self.delay_min.map_or(rtt, |least| least.min(rtt)));
        }
    }

    /// Data leave; if nothing is in flight, the pause does not count (cubictcp_cwnd_event_tx_start).
    pub fn on_sent(&mut self, idle: bool, now: Time) {
        let now = jiffies(now);
        if let Some(epoch) = self.epoch.filter(|_| idle) {
            self.epoch = Some((epoch + (now - self.sent)).min(now));
        }
        self.sent = now;
    }

    /// Returns the window after congestion at `cwnd` segments (cubictcp_recalc_ssthresh).
    pub fn reduce(&mut self, cwnd: u64, fast_convergence: bool) -> u64 {
        let max = if cwnd < self.last_max.into() && fast_convergence {
            cwnd * (BETA_SCALE + BETA) / (2 * BETA_SCALE)
        } else {
            cwnd
        };
        (self.last_max, self.epoch, self.counted) = (clamped(max), None, 0);
        cwnd * BETA / BETA_SCALE
    }

    /// Resets the state after a timeout (bictcp_reset).
    pub fn reset(&mut self) {
        *self = Bictcp { sent: self.sent, ..Bictcp::default() };
    }

    /// By how many segments `acked` of them open a window of `cwnd` in congestion avoidance (bictcp_update,
    /// tcp_cong_avoid_ai).
    pub fn growth(&mut self, cwnd: u64, acked: u64, now: Time) -> u64 {
        let (cwnd, acked) = (clamped(cwnd).max(1), clamped(acked));
        self.update(cwnd, acked, jiffies(now));
        let mut grown = 0;
        if self.counted >= self.cnt {
            (self.counted, grown) = (0, 1);
        }
        self.counted += acked;
        grown += self.counted / self.cnt;
        self.counted %= self.cnt;
        grown.into()
    }

    fn update(&mut self, cwnd: u32, acked: u32, now: u64) {
        self.ack_cnt = self.ack_cnt.saturating_add(acked);
        if self.last_cwnd == cwnd && now - self.last_time <= HZ / 32 {
            return;
        }
        // The curve is computed once a jiffy.
        if self.epoch.is_none() || now != self.last_time {
            (self.last_cwnd, self.last_time) = (cwnd, now);
            let epoch = self.epoch.unwrap_or_else(|| self.begin(cwnd, acked, now));
            self.follow(cwnd, now - epoch);
        }
        self.be_friendly(cwnd);
        // A window grows by half in a round trip at most.
        self.cnt = self.cnt.max(2);
    }

    fn begin(&mut self, cwnd: u32, acked: u32, now: u64) -> u64 {
        (self.ack_cnt, self.tcp_cwnd) = (acked, cwnd);
        let below = self.last_max.saturating_sub(cwnd);
        (self.k, self.origin) =
            if below > 0 { (cubic_root(CUBE * u64::from(below)), self.last_max) } else { (0, cwnd) };
        self.epoch = Some(now);
        now
    }

    /// ACKs for a segment by the cubic function, so many jiffies after the epoch and a least round trip on.
    fn follow(&mut self, cwnd: u32, since: u64) {
        let ahead = self.delay_min.map_or(0, |delay| delay.ps().div_ceil(1_000_000_000));
        let t = ((since + ahead) << TIME_BITS) / HZ;
        let away = u128::from(t.abs_diff(self.k));
        let delta = u64::try_from((u128::from(C) * away * away * away) >> (10 + 3 * TIME_BITS)).unwrap_or(u64::MAX);
        let origin = u64::from(self.origin);
        let target = if t < self.k { origin.saturating_sub(delta) } else { origin.saturating_add(delta) };
        self.cnt = match target.checked_sub(cwnd.into()) {
            Some(more) if more > 0 => clamped(u64::from(cwnd) / more),
            _ => cwnd.saturating_mul(100),
        };
        if self.last_max == 0 {
            self.cnt = self.cnt.min(FIRST);
        }
    }

    /// Not slower than Reno with this beta.
    fn be_friendly(&mut self, cwnd: u32) {
        let each = clamped((u64::from(cwnd) * FRIENDLY) >> 3).max(1);
        if self.ack_cnt > each {
            let grown = (self.ack_cnt - 1) / each;
            self.ack_cnt -= grown * each;
            self.tcp_cwnd = self.tcp_cwnd.saturating_add(grown);
        }
        if self.tcp_cwnd > cwnd {
            self.cnt = self.cnt.min(cwnd / (self.tcp_cwnd - cwnd));
        }
    }
}

fn clamped(segments: u64) -> u32 {
    u32::try_from(segments).unwrap_or(u32::MAX)
}

/// The cube root. Linux's has a table for a first guess and one step of Newton's, and is off by less than 0.2 %; this is off
/// by less than one.
fn cubic_root(a: u64) -> u64 {
    libm::cbrt(a as f64).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    #[test]
    fn constants_are_those_of_the_kernel() {
        // 8 · 1741 / 3 / 307 = 4642 / 307 = 15; 2^40 / 410.
        assert_eq!((FRIENDLY, CUBE), (15, 2_681_735_677));
    }

    #[test]
    fn a_congestion_leaves_717_of_1024_and_fast_convergence_lowers_the_plateau() {
        let mut curve = Bictcp::default();
        // 100 · 717 / 1024 = 70.02; 80 · 717 / 1024 = 56.02; 80 · 1741 / 2048 = 68.007.
        assert_eq!((curve.reduce(100, true), curve.last_max), (70, 100));
        assert_eq!((curve.reduce(80, true), curve.last_max), (56, 68));
        assert_eq!((curve.reduce(60, false), curve.last_max), (42, 60));
        // As much as the last time is not less.
        assert_eq!((curve.reduce(60, true), curve.last_max), (42, 60));
    }

    #[test]
    fn a_reset_leaves_the_time_of_the_last_segment() {
        let mut curve = Bictcp { last_max: 100, sent: 1_000, ..Bictcp::default() };
        curve.reset();
        assert_eq!((curve.last_max, curve.sent), (0, 1_000));
    }

    #[test]
    fn a_window_above_the_last_plateau_is_a_plateau() {
        let mut curve = Bictcp::default();
        curve.reduce(50, true);
        curve.growth(100, 1, at(1_000));
        assert_eq!((curve.k, curve.origin), (0, 100));
    }

    #[test]
    fn the_window_goes_to_the_curve_a_least_round_trip_on() {
        let mut curve = Bictcp::default();
        curve.take_rtt(Dur::from_ms(100), at(500));
        curve.reduce(100, true);
        curve.growth(70, 1, at(1_000));
        // K = cbrt(30 · 2681735677) = 4317, which is 4.216 s.
        assert_eq!((curve.k, curve.origin), (4_317, 100));
        // After 2 s: t = 2100 · 1024 / 1000 = 2150, 410 · 2167³ / 2^40 = 3.79, so 97; from 90 that is 90 / 7 = 12 ACKs.
        curve.growth(90, 1, at(3_000));
        assert_eq!(curve.cnt, 12);
        // After 10 s: t = 10342, 410 · 6025³ / 2^40 = 81.6, so 181: every ACK, but 2 are the least.
        curve.growth(90, 1, at(11_000));
        assert_eq!(curve.cnt, 2);
    }

    #[test]
    fn the_curve_is_computed_anew_when_the_window_moves_or_after_a_thirty_second_of_a_second() {
        let mut curve = Bictcp::default();
        curve.reduce(100, true);
        curve.growth(70, 1, at(1_000));
        let before = curve.last_time;
        curve.growth(70, 1, at(1_031));
        assert_eq!(curve.last_time, before);
        curve.growth(70, 1, at(1_032));
        assert_eq!(curve.last_time, 1_032);
        curve.growth(71, 1, at(1_033));
        assert_eq!(curve.last_time, 1_033);
    }

    #[test]
    fn before_the_first_congestion_twenty_acks_are_a_segment() {
        let mut curve = Bictcp::default();
        assert_eq!(curve.growth(50, 19, at(1_000)), 0);
        assert_eq!((curve.cnt, curve.growth(50, 1, at(1_000))), (20, 1));
        // At its plateau after a congestion: a segment in 100 round trips.
        curve.reduce(50, true);
        curve.growth(50, 1, at(2_000));
        assert_eq!(curve.cnt, 5_000);
    }

    #[test]
    fn reno_s_window_grows_by_eight_fifteenths_a_round_trip() {
        let mut curve = Bictcp::default();
        curve.reduce(10, true);
        // 7 · 15 / 8 = 13 ACKs for one of Reno's segments; the 14th shows it. K is 1.957 s away, so 7 of the 10 it had.
        curve.growth(7, 1, at(1_000));
        for _ in 0..12 {
            curve.growth(7, 1, at(1_001));
        }
        assert_eq!(curve.tcp_cwnd, 7);
        curve.growth(7, 1, at(1_040));
        assert_eq!((curve.tcp_cwnd, curve.cnt), (8, 7));
    }

    #[test]
    fn acks_beyond_those_of_a_segment_are_counted_for_reno_s_next_one() {
        let after = |ack_cnt| {
            let mut curve = Bictcp { ack_cnt, tcp_cwnd: 7, cnt: 1_000, ..Bictcp::default() };
            curve.be_friendly(7);
            (curve.ack_cnt, curve.tcp_cwnd, curve.cnt)
        };
        // 13 ACKs for a segment: the last of 26 shows the first; 38 are two and 12. Reno's window then is 1 or 2 above 7.
        assert_eq!([after(13), after(26), after(38)], [(13, 7, 1_000), (13, 8, 7), (12, 9, 3)]);
    }

    #[test]
    fn a_pause_with_nothing_in_flight_moves_the_epoch() {
        let mut curve = Bictcp::default();
        curve.reduce(100, true);
        curve.growth(70, 1, at(1_000));
        curve.on_sent(false, at(1_100));
        assert_eq!(curve.epoch, Some(1_000));
        curve.on_sent(true, at(1_400));
        assert_eq!(curve.epoch, Some(1_300));
        // It does not begin in the future.
        curve.sent = 0;
        curve.on_sent(true, at(1_500));
        assert_eq!(curve.epoch, Some(1_500));
    }

    #[test]
    fn in_the_first_second_of_an_epoch_no_round_trip_is_taken() {
        let mut curve = Bictcp::default();
        curve.take_rtt(Dur::from_ms(100), at(500));
        curve.growth(70, 1, at(1_000));
        curve.take_rtt(Dur::from_ms(50), at(1_999));
        assert_eq!(curve.delay_min, Some(Dur::from_ms(100)));
        curve.take_rtt(Dur::from_ms(50), at(2_000));
        assert_eq!(curve.delay_min, Some(Dur::from_ms(50)));
    }

    #[test]
    fn acks_counted_at_a_higher_rate_are_one_segment() {
        let mut curve = Bictcp { counted: 30, ..Bictcp::default() };
        // 30 of 20 are one segment and nothing else (tcp_cong_avoid_ai).
        assert_eq!((curve.growth(50, 1, at(1_000)), curve.counted), (1, 1));
        assert_eq!((curve.growth(50, 45, at(1_000)), curve.counted), (2, 6));
    }
}
