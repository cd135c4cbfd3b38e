//! The wall clock as the time of a run.

use ecnlab_base::{Dur, Time};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};

/// `CLOCK_MONOTONIC`, counted from an origin. Every process of the machine has the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    origin_ns: u64,
}

impl Clock {
    /// Time zero is now.
    pub fn start() -> Clock {
        Clock { origin_ns: monotonic_ns() }
    }
    /// Time zero is when `CLOCK_MONOTONIC` says `origin_ns` nanoseconds.
    pub const fn from_origin(origin_ns: u64) -> Clock {
        Clock { origin_ns }
    }
    /// The time now; zero before the origin.
    pub fn now(self) -> Time {
        Time::ZERO + Dur::from_ns(monotonic_ns().saturating_sub(self.origin_ns))
    }
}

/// What is left from `now` to `deadline`, as the kernel takes it; at most a minute, which is no deadline to it.
pub fn timeout(now: Time, deadline: Time) -> TimeSpec {
    let ns = deadline.since(now).ps().div_ceil(1_000).min(60_000_000_000);
    TimeSpec::new((ns / 1_000_000_000) as i64, (ns % 1_000_000_000) as i64)
}

fn monotonic_ns() -> u64 {
    // The clock is always there (clock_gettime(2)); were it not, time would stand still and limits end the run.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |t| t.tv_sec() as u64 * 1_000_000_000 + t.tv_nsec() as u64)
}
