//! Virtual time as the stack's `Timestamp`, which counts microseconds.

use std::time::Duration;

use ecnlab_base::{Dur, Time};
use s2n_quic_core::time::{Clock, NoopClock, Timestamp};

/// Picoseconds in a microsecond.
const US: u64 = 1_000_000;

/// `now`, rounded down to microseconds. `Time::ZERO` is the time of `NoopClock`.
pub fn timestamp(now: Time) -> Timestamp {
    NoopClock.get_time() + Duration::from_micros(now.ps() / US)
}

/// The least time that [`timestamp`] maps to `timestamp`; [`Time::NEVER`] if there is none.
pub fn time(timestamp: Timestamp) -> Time {
    ps(timestamp - NoopClock.get_time()).map_or(Time::NEVER, Time::from_ps)
}

/// `span`, rounded down to microseconds.
pub fn duration(span: Dur) -> Duration {
    Duration::from_micros(span.ps() / US)
}

/// `span` in picoseconds.
pub fn dur(span: Duration) -> Dur {
    ps(span).map_or(Dur::MAX, Dur::from_ps)
}

fn ps(span: Duration) -> Option<u64> {
    u64::try_from(span.as_micros()).ok().and_then(|us| us.checked_mul(US))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_is_due_at_its_deadline() {
        for us in [0, 1, 999, 123_456_789] {
            let deadline = time(timestamp(Time::from_ps(us * US + US - 1)));
            assert_eq!(deadline, Time::from_ps(us * US));
            assert_eq!(timestamp(deadline), timestamp(Time::from_ps(us * US + 1)));
        }
    }
}
