//! Linux 2.0 and 2.2 (tcp_input.c, tcp_rtt_estimator): Jacobson's integer arithmetic in jiffies, with srtt scaled by 8,
//! mdev scaled by 4, and an RTO increased by a quarter and by 1/2^(cwnd-1).

use super::smoothed::Smoothed;
use ecnlab_base::Dur;

/// Processes one sample and returns the RTO; `first_shift` sets the first mdev to 2m (Linux 2.0: 1) or 4m (Linux 2.2:
/// 2).
pub(super) fn update(s: &mut Smoothed, rtt: Dur, tick: Dur, window: u64, first_shift: u32) -> Dur {
    let m = (rtt.whole(tick) as i64).clamp(1, 1 << 40);
    if s.srtt != 0 {
        let error = m - (s.srtt >> 3);
        s.srtt += error;
        s.var += error.abs() - (s.var >> 2);
    } else {
        s.srtt = m << 3;
        s.var = m << first_shift;
    }
    let rto = (s.srtt >> 3) + s.var;
    // A quarter for bursts, and one packet's delay for small windows: see the kernel's comment in tcp_ack.
    let rto = rto + (rto >> 2) + (rto >> window.saturating_sub(1).min(40));
    tick.saturating_mul(rto.max(0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HZ: Dur = Dur::from_ms(10);

    #[test]
    fn the_factor_falls_with_the_window() {
        // First sample of 20 jiffies: srtt + mdev = 20 + 40 = 60. PAPERS: 2.25 at one segment, 1.75 at 2,
        // 1.5 at 3, 1.375 at 4 (rounded down), 1.25 at large windows.
        for (window, jiffies) in [(1, 135), (2, 105), (3, 90), (4, 82), (60, 75)] {
            let mut s = Smoothed::default();
            assert_eq!(update(&mut s, Dur::from_ms(200), HZ, window, 1), HZ * jiffies);
        }
    }

    #[test]
    fn linux_2_2_starts_with_five_round_trips() {
        let mut s = Smoothed::default();
        // 20 + 80 = 100; +25; large window adds nothing.
        assert_eq!(update(&mut s, Dur::from_ms(200), HZ, 60, 2), HZ * 125);
    }

    #[test]
    fn later_samples_are_smoothed() {
        let mut s = Smoothed::default();
        update(&mut s, Dur::from_ms(200), HZ, 60, 1);
        // m = 28: error 8, srtt 168 (21), mdev 40 + 8 - 10 = 38: 59; +14.
        assert_eq!(update(&mut s, Dur::from_ms(280), HZ, 60, 1), HZ * 73);
    }
}
