//! ns-2 (tcp.cc, rtt_update and rtt_backoff): 4.4BSD's integer arithmetic in ticks, with srtt scaled by 8 and rttvar by
//! 4.

use super::smoothed::Smoothed;
use crate::config::{Config, Estimator};
use ecnlab_base::Dur;

/// Processes one sample and returns srtt + 4·rttvar in whole ticks.
pub(super) fn update(s: &mut Smoothed, rtt: Dur, tick: Dur) -> Dur {
    let m = (rtt.whole(tick) as i64).clamp(1, 1 << 40);
    if s.srtt != 0 {
        let error = m - (s.srtt >> 3);
        s.srtt = (s.srtt + error).max(1);
        s.var = (s.var + error.abs() - (s.var >> 2)).max(1);
    } else {
        s.srtt = m << 3;
        s.var = m << 1;
    }
    // rttvar is stored scaled by 4 and thus equals 4·rttvar; both values are brought to srtt's scale.
    tick.saturating_mul((((s.var << 3) + s.srtt) >> 3) as u64)
}

impl Estimator {
    /// Minimum RTO. In ns-2 it is at least two ticks.
    pub(super) fn least(self, config: &Config) -> Dur {
        match self {
            Estimator::Ns2 => config.min_rto.max(config.rtt_tick.saturating_mul(2)),
            _ => config.min_rto,
        }
    }

    /// Called when the RTO is doubled for the `backoff`-th time.
    pub(super) fn back_off(self, s: &mut Smoothed, backoff: u32) {
        if self == Estimator::Ns2 {
            back_off(s, backoff);
        }
    }
}

/// After three doublings the estimate is discarded, and the next sample starts a new one.
fn back_off(s: &mut Smoothed, backoff: u32) {
    if backoff > 3 {
        s.var += s.srtt >> 3;
        s.srtt = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Dur = Dur::from_ms(10);

    #[test]
    fn first_sample_gives_three_round_trips() {
        let mut s = Smoothed::default();
        // m = 10 ticks: srtt 80, rttvar 20: (160 + 80) / 8 = 30 ticks.
        assert_eq!(update(&mut s, Dur::from_ms(100), TICK), TICK * 30);
        // m = 18: error 8, srtt 88, rttvar 20 + 8 - 5 = 23: (184 + 88) / 8 = 34.
        assert_eq!(update(&mut s, Dur::from_ms(180), TICK), TICK * 34);
    }

    #[test]
    fn four_doublings_clear_the_estimate() {
        let mut s = Smoothed::default();
        update(&mut s, Dur::from_ms(100), TICK);
        back_off(&mut s, 3);
        assert_eq!(s.srtt, 80);
        back_off(&mut s, 4);
        assert_eq!((s.srtt, s.var), (0, 30));
        assert_eq!(update(&mut s, Dur::from_ms(200), TICK), TICK * 60);
    }
}
