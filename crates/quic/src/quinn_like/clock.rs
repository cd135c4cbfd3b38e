//! Virtual time as the stack's `Instant`, which counts nanoseconds.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use ecnlab_base::{Dur, Time};

/// `Time::ZERO`. Only differences to it matter.
#[expect(clippy::disallowed_methods, reason = "an `Instant` has no other origin; results depend on differences only")]
static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// `now`, rounded down to nanoseconds.
pub fn instant(now: Time) -> Instant {
    *ORIGIN + Duration::from_nanos(now.ns())
}

/// The least time that [`instant`] maps to `instant`; [`Time::NEVER`] if there is none.
pub fn time(instant: Instant) -> Time {
    let ns = instant.saturating_duration_since(*ORIGIN).as_nanos();
    u64::try_from(ns).ok().and_then(|ns| ns.checked_mul(1_000)).map_or(Time::NEVER, Time::from_ps)
}

/// `span`, rounded down to nanoseconds.
pub fn duration(span: Dur) -> Duration {
    Duration::from_nanos(span.ps() / 1_000)
}

/// `span` in picoseconds.
pub fn dur(span: Duration) -> Dur {
    u64::try_from(span.as_nanos()).ok().and_then(|ns| ns.checked_mul(1_000)).map_or(Dur::MAX, Dur::from_ps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_is_due_at_its_deadline() {
        for ps in [0, 999, 1_000, 1_001, 123_456_789_012] {
            let deadline = time(instant(Time::from_ps(ps)));
            assert_eq!(deadline, Time::from_ps(ps / 1_000 * 1_000));
            assert_eq!(instant(deadline), instant(Time::from_ps(ps)));
        }
        assert_eq!(instant(Time::from_ps(1_999)), instant(Time::ZERO) + Duration::from_nanos(1));
    }
}
