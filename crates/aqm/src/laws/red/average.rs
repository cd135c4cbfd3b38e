//! The average queue length: an exponentially weighted moving average of the lengths found by arrivals.

use ecnlab_base::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::View;

/// Decay of the average over idle time, in terms of m packets that could have been sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Idle {
    /// avg·(1-w)^m, m = idle time / transmission time of `mean_packet`, not rounded (FJ93 §4, figure 2).
    #[default]
    Fj93,
    /// avg·(1-w)^(m+1), m rounded down: the arrival itself is a sample of zero (ns-2).
    Ns2,
    /// Linux: a table of shifts by `tc`, and a straight line before the first shift. `tc` makes it in ticks of 64 ns, the kernel
    /// reads it in microseconds, so that the average decays more slowly (iproute2 tc_red.c, tc_red_eval_idle_damping;
    /// include/net/red.h, red_calc_qavg_from_idle_time).
    Linux,
}

/// Linux's table, computed from its rule.
#[derive(Clone, Copy, Debug)]
struct Damping {
    /// Binary logarithm of an entry's microseconds (Scell_log).
    cell: u32,
    /// Shifts for each of the units in which `tc` counts.
    shifts: f64,
}

impl Damping {
    /// `tc_red_eval_idle_damping`, for the weight that is a power of two.
    fn new(weight: f64, per_second: f64) -> Damping {
        let exponent = libm::round(-libm::log2(weight)).clamp(1.0, 31.0);
        let ticks = libm::floor(1e9 / 64.0 / per_second).max(1.0);
        let shifts = -libm::log1p(-libm::exp2(-exponent)) / ticks;
        let cell = (0..31).find(|cell| 31.0 / shifts / f64::from(1_u32 << cell) < 512.0).unwrap_or(31);
        Damping { cell, shifts }
    }

    /// Returns the factor of an average after `idle`.
    fn left(self, idle: Dur) -> f64 {
        let us = (idle.ps() / 1_000_000).min(255 << self.cell);
        let entry = us >> self.cell;
        let shift = if entry == 255 { 31.0 } else { libm::floor((entry << self.cell) as f64 * self.shifts).min(31.0) };
        if shift > 0.0 {
            return libm::exp2(-shift);
        }
        (1.0 - us as f64 / (1_u64 << self.cell) as f64).max(0.5)
    }
}

/// The average, in packets and in bytes; the unit of the thresholds selects one.
#[derive(Clone, Copy, Debug)]
pub struct Ewma {
    /// In packets.
    pub packets: f64,
    /// In bytes.
    pub bytes: f64,
    weight: f64,
    /// ln(1-w): the decay over one sample of zero.
    log_decay: f64,
    idle: Idle,
    /// Mean packets transmitted per second.
    per_second: f64,
    damping: Damping,
    /// Whether the average counts as whole packets where it is compared, as in CHOKe on Linux.
    whole: bool,
    /// The last arrival before an idle link. Earlier idle time is already in the average.
    counted: Time,
}

impl Ewma {
    /// Starts with an average of zero, on a link that sends `per_second` mean packets a second.
    pub fn new(weight: f64, idle: Idle, per_second: f64) -> Ewma {
        let damping = Damping::new(weight, per_second);
        Ewma {
            packets: 0.0,
            bytes: 0.0,
            weight,
            log_decay: libm::log1p(-weight),
            idle,
            per_second,
            damping,
            whole: false,
            counted: Time::ZERO,
        }
    }

    /// Returns an average in whole packets: sch_choke keeps it in fixed point and uses its integer part (`qavg >>
    /// Wlog`) also for the next average, which is therefore half a packet higher in the mean.
    pub const fn in_whole_packets(self) -> Ewma {
        Ewma { whole: true, ..self }
    }

    /// The average in packets as it is compared with thresholds and queues.
    #[inline(always)]
    pub fn read(&self) -> f64 {
        if self.whole { self.whole_packets() } else { self.packets }
    }

    #[cold]
    #[inline(never)]
    fn whole_packets(&self) -> f64 {
        libm::floor(self.packets)
    }

    /// Updates the average on an arrival that finds `view`: avg = (1-w)·avg + w·q, or the decay if the link was idle.
    /// Idle time counts once: after a packet that was dropped before an idle link, only the time since then.
    #[inline]
    pub fn arrival(&mut self, view: &View, now: Time) {
        match view.idle {
            None => {
                self.packets += self.weight * (view.packets as f64 - self.read());
                self.bytes += self.weight * (view.bytes as f64 - self.bytes);
            }
            Some(idle) => {
                self.decay(idle.min(now.since(self.counted)));
                self.counted = now;
            }
        }
    }

    fn decay(&mut self, idle: Dur) {
        let m = idle.as_secs() * self.per_second;
        let samples = match self.idle {
            Idle::Fj93 => m,
            Idle::Ns2 => libm::floor(m) + 1.0,
            Idle::Linux => return self.keep(self.damping.left(idle)),
        };
        // No sample leaves it alone at any weight; at w = 1 the logarithm is infinite.
        if samples > 0.0 {
            self.keep(libm::exp(samples * self.log_decay));
        }
    }

    fn keep(&mut self, left: f64) {
        self.packets *= left;
        self.bytes *= left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(packets: u64, bytes: u64) -> View {
        View { packets, bytes, in_all: bytes, idle: None, polled: false }
    }

    /// The link has been idle for `idle`, and this is the first packet since.
    fn idle(idle: Dur) -> (View, Time) {
        (View { packets: 0, bytes: 0, in_all: 0, idle: Some(idle), polled: false }, Time::ZERO + idle)
    }

    fn ewma(weight: f64, idle: Idle) -> Ewma {
        // A transmission lasts 1 ms.
        Ewma::new(weight, idle, 1000.0)
    }

    #[test]
    fn each_arrival_moves_it_by_the_weight() {
        let mut avg = ewma(0.5, Idle::Fj93);
        // 0 -> (0+1)/2 -> (0.5+2)/2 -> (1.25+3)/2, and bytes alongside.
        for (q, packets) in [(1, 0.5), (2, 1.25), (3, 2.125)] {
            avg.arrival(&busy(q, 1000 * q), Time::ZERO);
            assert_eq!(avg.packets, packets);
            assert_eq!(avg.bytes, 1000.0 * packets);
        }
    }

    #[test]
    fn a_constant_queue_is_approached_geometrically() {
        let mut avg = ewma(0.002, Idle::Fj93);
        for _ in 0..500 {
            avg.arrival(&busy(10, 5000), Time::ZERO);
        }
        // 10 * (1 - 0.998^500), 0.998^500 = 0.36751.
        assert!((avg.packets - 6.3249).abs() < 1e-4, "{}", avg.packets);
    }

    #[test]
    fn in_whole_packets_it_settles_half_a_packet_above_the_queue() {
        // 0 -> 3/4 (cut down to 0) -> 3/2 (1) -> 2 (2) -> 9/4 (2) -> 5/2 (2) -> 11/4 (2) -> 3 (3) -> 3.
        let mut avg = ewma(0.25, Idle::Fj93).in_whole_packets();
        for packets in [0.75, 1.5, 2.0, 2.25, 2.5, 2.75, 3.0, 3.0] {
            avg.arrival(&busy(3, 4500), Time::ZERO);
            assert_eq!(avg.packets, packets);
        }
        avg.packets = 3.75;
        avg.arrival(&busy(3, 4500), Time::ZERO);
        assert_eq!((avg.packets, avg.read()), (3.75, 3.0));
    }

    #[test]
    fn no_idle_time_leaves_it_alone_at_any_weight() {
        let mut avg = ewma(1.0, Idle::Fj93);
        avg.arrival(&busy(10, 5000), Time::ZERO);
        let (view, now) = idle(Dur::ZERO);
        avg.arrival(&view, now);
        assert_eq!((avg.packets, avg.bytes), (10.0, 5000.0));
    }

    #[test]
    fn idle_time_decays_it_as_if_small_packets_had_been_sent() {
        // 10.5 transmissions fit: 0.9^10.5 = 0.33079, and ns-2's 0.9^(10+1) = 0.31381.
        for (way, left) in [(Idle::Fj93, 0.33079), (Idle::Ns2, 0.31381)] {
            let mut avg = ewma(0.1, way);
            (avg.packets, avg.bytes) = (10.0, 5000.0);
            let (view, now) = idle(Dur::from_us(10_500));
            avg.arrival(&view, now);
            assert!((avg.packets - 10.0 * left).abs() < 1e-4, "{way:?}: {}", avg.packets);
            assert!((avg.bytes - 5000.0 * left).abs() < 0.05, "{way:?}: {}", avg.bytes);
        }
    }

    #[test]
    fn idle_time_before_a_dropped_packet_counts_once() {
        // Idle from 0 on, and every packet is dropped: at 10 ms, at once again, and at 12 ms. 0.9^10 = 0.348678, 0.9^12 = 0.282430;
        // for ns-2 each arrival is a sample of its own: 0.9^11, 0.9^12, 0.9^15.
        for (way, left) in [(Idle::Fj93, [0.348678, 0.348678, 0.282430]), (Idle::Ns2, [0.313811, 0.282430, 0.205891])] {
            let mut avg = ewma(0.1, way);
            avg.packets = 1.0;
            for (ms, left) in [10, 10, 12].into_iter().zip(left) {
                let (view, now) = idle(Dur::from_ms(ms));
                avg.arrival(&view, now);
                assert!((avg.packets - left).abs() < 1e-6, "{way:?}: {ms} ms: {}", avg.packets);
            }
        }
    }

    #[test]
    fn linux_decays_by_a_line_and_then_by_shifts() {
        // 1500 B at 20 Mbit/s take 600 us, 9375 ticks: with w = 2^-9, -ln(1-w) / 9375 = 2.0855e-7 shifts a tick, and 31 shifts
        // in 1.4865e8; 2^19 is the first cell of which less than 512 hold that. A shift begins in the cell 10: 10 · 0.1093.
        let left = |us: u64| {
            let mut avg = Ewma::new(1.0 / 512.0, Idle::Linux, 1e9 / 600_000.0);
            avg.packets = 8.0;
            let (view, now) = idle(Dur::from_us(us));
            avg.arrival(&view, now);
            avg.packets / 8.0
        };
        for (us, expected) in [
            (0, 1.0),
            (5_000, 1.0 - 5_000.0 / 524_288.0),
            (262_144, 0.5),
            (5_242_879, 0.5),
            (5_242_880, 0.5),
            (19 * 524_288, 0.25),
            (254 * 524_288, libm::exp2(-27.0)),
            (255 * 524_288, libm::exp2(-31.0)),
            (1 << 40, libm::exp2(-31.0)),
        ] {
            assert_eq!(left(us), expected, "{us}");
        }
    }
}
