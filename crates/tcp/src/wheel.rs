//! A timer wheel: a timer fires at a tick of its level, and longer timers use coarser levels (Linux:
//! kernel/time/timer.c).

use ecnlab_base::{Dur, Time};

/// Ratio of the tick of a level to that of the level below (LVL_CLK_DIV).
const DIVISOR: u64 = 8;
/// Timers of fewer ticks are on the first level; the limit of each further level is [`DIVISOR`] times that of the one
/// below (LVL_START).
const FIRST: u64 = 63;

/// The time at which a timer set at `now` for `wait` fires on a wheel with period `tick`; never early. With a tick of
/// zero the timer is exact.
#[inline]
pub(crate) fn due(tick: Dur, now: Time, wait: Dur) -> Time {
    if tick.is_zero() { now.saturating_add(wait) } else { on_wheel(tick, now, wait) }
}

/// The tick at `now`, or the last one before it: the clock that counts ticks (jiffies). With a tick of zero, `now`.
pub(crate) fn clock(tick: Dur, now: Time) -> Time {
    Time::ZERO + whole(tick, now.since(Time::ZERO))
}

/// The whole ticks of `wait`, as integer arithmetic leaves them. With a tick of zero, `wait`.
pub(crate) fn whole(tick: Dur, wait: Dur) -> Dur {
    if tick.is_zero() { wait } else { Dur::from_ps(wait.ps() - wait.ps() % tick.ps()) }
}

/// `wait` in ticks, rounded up (usecs_to_jiffies). With a tick of zero, `wait`.
pub(crate) fn ticks(tick: Dur, wait: Dur) -> Dur {
    if tick.is_zero() { wait } else { tick.saturating_mul(wait.ps().div_ceil(tick.ps())) }
}

/// The kernel's calc_wheel_index.
#[inline(never)]
fn on_wheel(tick: Dur, now: Time, wait: Dur) -> Time {
    let ticks = wait.ps().div_ceil(tick.ps());
    let expires = now.since(Time::ZERO).whole(tick).saturating_add(ticks);
    let (mut step, mut beyond) = (1u64, FIRST);
    while ticks >= beyond {
        step *= DIVISOR;
        beyond = beyond.saturating_mul(DIVISOR);
    }
    let fires = (expires / step + 1).saturating_mul(step);
    Time::ZERO.saturating_add(tick.saturating_mul(fires))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Dur {
        Dur::from_us(us)
    }

    fn at(time: u64) -> Time {
        Time::ZERO + us(time)
    }

    #[test]
    fn without_a_tick_a_timer_is_on_time() {
        assert_eq!(due(Dur::ZERO, at(100_300), us(40_100)), at(140_400));
        assert_eq!(due(Dur::ZERO, at(100_300), Dur::MAX), Time::NEVER);
    }

    #[test]
    fn up_to_62_ticks_a_timer_is_up_to_a_tick_late() {
        // Tick 100 and 40 more is 140; the one after it is the first that is surely not early.
        for now in [100_000, 100_300, 100_999] {
            assert_eq!(due(us(1_000), at(now), us(40_000)), at(141_000));
        }
        // 40.1 ms are 41 ticks.
        assert_eq!(due(us(1_000), at(100_300), us(40_100)), at(142_000));
        assert_eq!(due(us(1_000), at(100_300), us(62_000)), at(163_000));
    }

    #[test]
    fn longer_ones_fire_at_every_8th_tick_and_later_at_every_64th() {
        // 100 + 63 = 163: after 160 comes 168. 100 + 68 is 168, and may be early: 176.
        assert_eq!(due(us(1_000), at(100_300), us(63_000)), at(168_000));
        assert_eq!(due(us(1_000), at(100_300), us(68_000)), at(176_000));
        // 100 + 503 = 603: 608. 100 + 504 = 604: 640. 100 + 1000 = 1100: 1152.
        assert_eq!(due(us(1_000), at(100_300), us(503_000)), at(608_000));
        assert_eq!(due(us(1_000), at(100_300), us(504_000)), at(640_000));
        assert_eq!(due(us(1_000), at(100_300), us(1_000_000)), at(1_152_000));
    }

    #[test]
    fn another_tick_scales_all_of_it() {
        // At HZ 250, 300 ms are 75 ticks, which fire at every 8th: 25 + 75 = 100, and 104 ticks are 416 ms.
        assert_eq!(due(us(4_000), at(100_300), us(300_000)), at(416_000));
    }

    #[test]
    fn times_are_counted_in_ticks_and_waits_rounded_down_or_up() {
        let tick = us(1_000);
        assert_eq!([100_000, 100_999].map(|now| clock(tick, at(now))), [at(100_000); 2]);
        assert_eq!([40_000, 40_999].map(|wait| whole(tick, us(wait))), [us(40_000); 2]);
        assert_eq!([39_001, 40_000].map(|wait| ticks(tick, us(wait))), [us(40_000); 2]);
        let exact = us(40_300);
        assert_eq!((clock(Dur::ZERO, at(40_300)), whole(Dur::ZERO, exact)), (at(40_300), exact));
        assert_eq!(ticks(Dur::ZERO, exact), exact);
    }

    #[test]
    fn never_is_never() {
        assert_eq!(due(us(1_000), at(100_300), Dur::MAX), Time::NEVER);
    }
}
