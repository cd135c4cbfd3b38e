//! Linux 7 (net/ipv4/tcp_input.c, tcp_rtt_estimator): in microseconds, with srtt scaled by 8 and mdev by 4. RTTVAR is the
//! greatest mdev of a round trip, and at least `min_rto`.

use std::ops::Range;

use super::smoothed::Smoothed;
use crate::config::{Config, Estimator};
use crate::wheel;
use ecnlab_base::Dur;

/// State besides SRTT and MDEV.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Variation {
    /// RTTVAR (rttvar_us).
    var: i32,
    /// Greatest mdev of this round trip (mdev_max_us).
    greatest: i32,
    /// The round trip ends when more than this offset is acknowledged (rtt_seq).
    end: u64,
}

/// Processes one sample of an ACK after which `outstanding` is not acknowledged, and returns the RTO: a whole number of
/// jiffies.
pub(super) fn update(s: &mut Smoothed, v: &mut Variation, rtt: Dur, outstanding: Range<u64>, config: &Config) -> Dur {
    let us = |dur: Dur| dur.whole(Dur::from_us(1)).min(1 << 28) as i32;
    let (m, least) = (i64::from(us(rtt)), us(config.min_rto));
    if s.srtt == 0 {
        (s.srtt, s.var) = (m << 3, m << 1);
        v.var = (s.var as i32).max(least);
        (v.greatest, v.end) = (v.var, outstanding.end);
    } else {
        let error = m - (s.srtt >> 3);
        s.srtt += error;
        let change = error.abs() - (s.var >> 2);
        // A shorter RTT increases the deviation at an eighth of the speed only.
        s.var += if error < 0 && change > 0 { change >> 3 } else { change };
        v.greatest = v.greatest.max(s.var as i32);
        v.var = v.var.max(v.greatest);
        if outstanding.start > v.end {
            v.var -= (v.var - v.greatest) >> 2;
            (v.greatest, v.end) = (least, outstanding.end);
        }
    }
    s.srtt = s.srtt.max(1);
    let rto = Dur::from_us(((s.srtt >> 3) + i64::from(v.var)) as u64);
    wheel::ticks(config.timer_wheel, rto)
}

impl Estimator {
    /// Unit of srtt / 8 and mdev / 4. With RFC 6298's they are not scaled.
    pub(super) fn unit(self, tick: Dur) -> Option<Dur> {
        match self {
            Estimator::Rfc6298 => None,
            Estimator::Linux7 => Some(Dur::from_us(1)),
            _ => Some(tick),
        }
    }

    /// Whether it counts in ticks of the RTT clock.
    pub(crate) fn counts_ticks(self) -> bool {
        !matches!(self, Estimator::Rfc6298 | Estimator::Linux7)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::profile;

    /// The RTO after each sample of RTTs in microseconds, with the data outstanding after the ACK.
    fn rtos(samples: &[(u64, Range<u64>)]) -> Vec<Dur> {
        let config = &profile("linux-7").unwrap().config;
        let (mut s, mut v) = Default::default();
        samples.iter().map(|(us, data)| update(&mut s, &mut v, Dur::from_us(*us), data.clone(), config)).collect()
    }

    #[test]
    fn the_variation_is_at_least_min_rto() {
        // 100 ms and twice that; 60 ms and 200 ms.
        assert_eq!(rtos(&[(100_000, 1..1)]), [Dur::from_ms(300)]);
        assert_eq!(rtos(&[(60_000, 1..1)]), [Dur::from_ms(260)]);
        // 60.001 ms and 200 ms are 261 jiffies of 1 ms.
        assert_eq!(rtos(&[(60_001, 1..1)]), [Dur::from_ms(261)]);
    }

    #[test]
    fn a_longer_rtt_adds_a_quarter_and_a_shorter_one_a_32nd_of_what_it_is_beyond_the_deviation() {
        // srtt 100, mdev (scaled) 200. 260: error 160, srtt 120, mdev 200 + 160 - 50 = 310: 120 + 310.
        // 40 instead: error -60, srtt 92.5, mdev 200 + (60 - 50)/8 = 201.25: 92.5 + 201.25 = 293.75, so 294 jiffies.
        assert_eq!(rtos(&[(100_000, 1..1), (260_000, 1..9)])[1], Dur::from_ms(430));
        assert_eq!(rtos(&[(100_000, 1..1), (40_000, 1..9)])[1], Dur::from_ms(294));
    }

    #[test]
    fn the_variation_falls_once_in_a_round_trip_by_a_quarter_of_what_it_is_above_the_greatest() {
        // RTTs of 200 ms. First 400; mdev falls by a quarter with each sample: 400, 300, 225, 168.75.
        // Acknowledging 2 is beyond 1: the greatest is still the first sample's 400. From then on it is 300, then 225.
        // At 4, beyond 3: 400 - (400 - 225)/4 = 356.25, of the samples at 3 and 4, of which the first has 225.
        let same = [(200_000, 1..1), (200_000, 2..3), (200_000, 3..4), (200_000, 4..5)];
        assert_eq!(rtos(&same), [600, 600, 600, 557].map(Dur::from_ms));
    }
}
