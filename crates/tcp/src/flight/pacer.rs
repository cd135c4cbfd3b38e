//! Pacing: when the next segment may leave, if the window law names a rate.

use ecnlab_base::{Dur, Time};

use crate::cc::Pacing;

/// What the law's rate has left free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    /// The rate in force; none, and nothing is held up.
    pacing: Option<Pacing>,
    /// The next burst may leave now.
    next: Time,
    /// Bytes that may still leave in this burst.
    left: u64,
    /// When the sender is to be asked again, because the rate has held it up.
    pub deadline: Time,
}

impl Default for Pacer {
    fn default() -> Pacer {
        Pacer { pacing: None, next: Time::ZERO, left: u64::MAX, deadline: Time::NEVER }
    }
}

impl Pacer {
    /// Something may be sent at `now`. Returns whether the rate lets it.
    pub fn begin(&mut self, pacing: Pacing, now: Time) -> bool {
        self.pacing = Some(pacing);
        self.left = if now >= self.next { pacing.quantum.max(1) } else { 0 };
        self.left > 0
    }

    /// `bytes` leave at `now`: the next may follow once the rate has made up for them. Returns whether this burst may go on.
    pub fn sent(&mut self, bytes: u64, now: Time) -> bool {
        let Some(pacing) = self.pacing else { return true };
        self.next = self.next.max(now).saturating_add(time_of(bytes, pacing.rate));
        self.left = self.left.saturating_sub(bytes);
        self.left > 0
    }

    /// When the next burst may leave.
    pub fn next(&self) -> Time {
        self.next
    }

    /// A burst has ended.
    pub fn end(&mut self) {
        self.deadline = if self.left == 0 { self.next } else { Time::NEVER };
    }
}

/// How long `bytes` last at `rate` bytes a second.
fn time_of(bytes: u64, rate: u64) -> Dur {
    // A rate of zero would never send again: one byte a second is the least.
    let ps = u128::from(bytes) * 1_000_000_000_000 / u128::from(rate.max(1));
    Dur::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Dur::from_us(us)
    }

    /// 1 MB/s: 1000 bytes last 1 ms.
    const SLOW: Pacing = Pacing { rate: 1_000_000, quantum: 1_000 };

    /// When to go on after a burst.
    fn ended(pacer: &mut Pacer) -> Time {
        pacer.end();
        pacer.deadline
    }

    #[test]
    fn a_segment_leaves_for_each_of_its_times() {
        let mut pacer = Pacer::default();
        assert!(pacer.begin(SLOW, at(500)));
        assert!(!pacer.sent(1_000, at(500)), "the quantum is used up");
        assert_eq!(pacer.next(), at(1_500));
        assert_eq!(ended(&mut pacer), at(1_500));
        assert!(!pacer.begin(SLOW, at(1_499)));
        assert_eq!(ended(&mut pacer), at(1_500));
        assert!(pacer.begin(SLOW, at(1_500)));
        // A late sender does not catch up: from 1.7 ms on.
        assert!(pacer.begin(SLOW, at(1_700)) && !pacer.sent(1_000, at(1_700)));
        assert_eq!(ended(&mut pacer), at(2_700));
    }

    #[test]
    fn a_quantum_leaves_at_once_and_is_paid_for() {
        let pacing = Pacing { quantum: 2_500, ..SLOW };
        let mut pacer = Pacer::default();
        assert!(pacer.begin(pacing, at(0)));
        // The third segment goes beyond 2500 bytes and is the last.
        assert_eq!([(); 3].map(|()| pacer.sent(1_000, at(0))), [true, true, false]);
        assert_eq!(ended(&mut pacer), at(3_000));
    }

    #[test]
    fn a_burst_that_ends_by_itself_needs_no_deadline_and_is_paid_for() {
        let pacing = Pacing { quantum: 5_000, ..SLOW };
        let mut pacer = Pacer::default();
        assert!(pacer.begin(pacing, at(0)) && pacer.sent(1_000, at(0)));
        assert_eq!(ended(&mut pacer), Time::NEVER);
        assert!(!pacer.begin(pacing, at(999)) && pacer.begin(pacing, at(1_000)));
    }

    #[test]
    fn without_a_rate_all_may_leave_and_no_rate_is_zero() {
        let mut pacer = Pacer::default();
        assert!(pacer.sent(u64::MAX, at(0)));
        assert_eq!(ended(&mut pacer), Time::NEVER);
        assert!(pacer.begin(Pacing { rate: 0, quantum: 0 }, at(0)) && !pacer.sent(1, at(0)));
        assert_eq!(ended(&mut pacer), at(1_000_000));
    }
}
