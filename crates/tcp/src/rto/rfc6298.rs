//! The estimator of RFC 6298, in picoseconds.

use super::smoothed::Smoothed;
use ecnlab_base::Dur;

/// Processes one sample and returns SRTT + max(G, 4·RTTVAR).
pub(super) fn update(s: &mut Smoothed, rtt: Dur, tick: Dur) -> Dur {
    let r = rtt.ps().min(i64::MAX as u64 / 16) as i64;
    if s.srtt == 0 {
        // §2.2
        s.srtt = r;
        s.var = r / 2;
    } else {
        // §2.3, in its order: RTTVAR uses the old SRTT. alpha = 1/8, beta = 1/4.
        s.var += ((s.srtt - r).abs() - s.var) / 4;
        s.srtt += (r - s.srtt) / 8;
    }
    Dur::from_ps((s.srtt + (4 * s.var).max(tick.ps() as i64)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rfc_s_arithmetic() {
        let mut s = Smoothed::default();
        // R = 100 ms: SRTT = 100, RTTVAR = 50, RTO = 300.
        assert_eq!(update(&mut s, Dur::from_ms(100), Dur::ZERO), Dur::from_ms(300));
        // R' = 180: RTTVAR = 3/4·50 + 1/4·80 = 57.5; SRTT = 7/8·100 + 1/8·180 = 110; RTO = 340.
        assert_eq!(update(&mut s, Dur::from_ms(180), Dur::ZERO), Dur::from_ms(340));
    }

    #[test]
    fn the_clock_s_granularity_is_under_the_variation() {
        let mut s = Smoothed::default();
        // 4·RTTVAR = 20 ms < G = 100 ms.
        assert_eq!(update(&mut s, Dur::from_ms(10), Dur::from_ms(100)), Dur::from_ms(110));
    }
}
