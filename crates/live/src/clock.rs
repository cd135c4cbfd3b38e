//! The wall clock as the time base of a run.

use ecnlab_base::{Dur, Time};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};

/// `CLOCK_MONOTONIC` relative to an origin. It is the same in all processes of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    origin_ns: u64,
}

impl Clock {
    /// Starts a clock with time zero now.
    pub fn start() -> Clock {
        Clock { origin_ns: monotonic_ns() }
    }
    /// Creates a clock with time zero at the `CLOCK_MONOTONIC` value `origin_ns`, in nanoseconds.
    pub const fn from_origin(origin_ns: u64) -> Clock {
        Clock { origin_ns }
    }
    /// Returns the time now; zero before the origin.
    pub fn now(self) -> Time {
        Time::ZERO + Dur::from_ns(monotonic_ns().saturating_sub(self.origin_ns))
    }
}

/// Returns the time from `now` to `deadline` as a kernel timeout, at most one minute; the kernel has no value for "no
/// deadline".
pub fn timeout(now: Time, deadline: Time) -> TimeSpec {
    let ns = deadline.since(now).ps().div_ceil(1_000).min(60_000_000_000);
    TimeSpec::new((ns / 1_000_000_000) as i64, (ns % 1_000_000_000) as i64)
}

fn monotonic_ns() -> u64 {
    // clock_gettime(2) does not fail for this clock; if it did, time would stand still and limits would end the run.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |t| t.tv_sec() as u64 * 1_000_000_000 + t.tv_nsec() as u64)
}
