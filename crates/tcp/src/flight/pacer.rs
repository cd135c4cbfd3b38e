//! Pacing: when the next segment may be sent, if the window law or the host sets a rate.

use ecnlab_base::{Dur, Time};

use crate::cc::Pacing;
use crate::config::{Config, PacedBy};

const PS_PER_S: u64 = 1_000_000_000_000;

/// Segments of data that Linux sends before the first paced one (tcp_update_skb_after_send).
const UNPACED: u32 = 9;

/// Pacing state of a sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    /// Current rate and quantum; `None` disables pacing.
    pacing: Option<Pacing>,
    /// Earliest time of the next burst.
    next: Time,
    /// Bytes that may still be sent in this burst, and the most of any.
    left: u64,
    most: u64,
    /// Segments of data that are still to be sent without pacing.
    unpaced: u32,
    /// Whether a burst that leaves late shortens the pause after it.
    credits: bool,
    /// Time by which this burst left late, if that shortens the pause after it.
    credit: Dur,
    /// When to resume sending after pacing has stopped a burst; [`Time::NEVER`] if it has not.
    pub deadline: Time,
}

impl Pacer {
    /// Pacing as in `config`, by its source and in bursts that it admits; nothing is paced before the first
    /// [`begin`](Self::begin). With `credits` a burst that leaves late shortens the pause after it; with [`PacedBy::Linux`] it
    /// always does.
    pub fn new(config: &Config, credits: bool) -> Pacer {
        let linux = config.pacing == PacedBy::Linux;
        let unpaced = if linux { UNPACED } else { 0 };
        Pacer {
            pacing: None,
            next: Time::ZERO,
            left: u64::MAX,
            // Options may take a part of each segment: the last of a burst begins with the last byte.
            most: 1 + u64::from(config.gso_max_segs.saturating_sub(1)) * config.mss.0,
            unpaced,
            credits: credits || linux,
            credit: Dur::ZERO,
            deadline: Time::NEVER,
        }
    }

    /// Begins a burst, which is paced, if it is early at `now`: nothing may leave. Returns whether it is early.
    #[inline]
    pub fn begin_early(&mut self, now: Time) -> bool {
        let early = now < self.next;
        if early {
            self.left = 0;
        }
        early
    }

    /// Begins a burst at `now`. Returns whether pacing admits it.
    pub fn begin(&mut self, pacing: Option<Pacing>, now: Time) -> bool {
        self.pacing = pacing;
        if self.credits {
            self.credit = now.since(self.next);
        }
        let quantum =
            pacing.map_or(u64::MAX, |pacing| if now >= self.next { pacing.quantum.max(1).min(self.most) } else { 0 });
        self.left = quantum;
        quantum > 0
    }

    /// Records that `bytes` are sent at `now`, and delays the next burst by the time that they take at the rate.
    /// Returns whether this burst may continue.
    pub fn sent(&mut self, bytes: u64, now: Time) -> bool {
        let Some(pacing) = self.pacing else { return true };
        if self.unpaced > 0 && self.leaves_unpaced(bytes, now) {
            return true;
        }
        self.next = self.next.max(now).saturating_add(time_of(bytes, pacing.rate));
        self.left = self.left.saturating_sub(bytes);
        self.left > 0
    }

    /// Sends `bytes` without a pause after them, if these are data.
    #[cold]
    fn leaves_unpaced(&mut self, bytes: u64, now: Time) -> bool {
        let unpaced = bytes > 0;
        if unpaced {
            self.unpaced -= 1;
            (self.next, self.credit) = (self.next.max(now), Dur::ZERO);
        }
        unpaced
    }

    /// Earliest time of the next burst.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Ends the burst that began at `now`.
    pub fn end(&mut self, now: Time) {
        if !self.credit.is_zero() {
            self.shorten(now);
        }
        self.deadline = if self.left == 0 { self.next } else { Time::NEVER };
    }

    /// Shortens the pause after a late burst by its lateness, by half at most (tcp_update_skb_after_send).
    fn shorten(&mut self, now: Time) {
        if now < self.next {
            let pause = self.next.since(now);
            self.next = now + (pause - self.credit.min(pause / 2));
        }
        self.credit = Dur::ZERO;
    }
}

/// Time that `bytes` take at `rate` bytes per second.
fn time_of(bytes: u64, rate: u64) -> Dur {
    // A rate of zero would stop the sender: the minimum is one byte per second.
    let rate = rate.max(1);
    if let Some(ps) = bytes.checked_mul(PS_PER_S) {
        return Dur::from_ps(ps / rate);
    }
    let ps = u128::from(bytes) * u128::from(PS_PER_S) / u128::from(rate);
    Dur::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::CcState;
    use crate::profile;
    use ecnlab_base::Bytes;

    fn at(us: u64) -> Time {
        Time::ZERO + Dur::from_us(us)
    }

    fn pacer(pacing: PacedBy, credits: bool) -> Pacer {
        let config = &profile("modern").expect("a profile of ours").config;
        Pacer::new(&Config { pacing, ..config.clone() }, credits)
    }

    /// 1 MB/s: 1000 bytes last 1 ms.
    const SLOW: Pacing = Pacing { rate: 1_000_000, quantum: 1_000 };

    /// When to go on after a burst.
    fn ended(pacer: &mut Pacer, now: Time) -> Time {
        pacer.end(now);
        pacer.deadline
    }

    #[test]
    fn a_segment_leaves_for_each_of_its_times() {
        let mut pacer = pacer(PacedBy::Law, false);
        assert!(pacer.begin(Some(SLOW), at(500)));
        assert!(!pacer.sent(1_000, at(500)), "the quantum is used up");
        assert_eq!(pacer.next(), at(1_500));
        assert_eq!(ended(&mut pacer, at(500)), at(1_500));
        assert!(!pacer.begin(Some(SLOW), at(1_499)));
        assert_eq!(ended(&mut pacer, at(1_499)), at(1_500));
        assert!(pacer.begin(Some(SLOW), at(1_500)));
        // A late sender does not catch up: from 1.7 ms on.
        assert!(pacer.begin(Some(SLOW), at(1_700)) && !pacer.sent(1_000, at(1_700)));
        assert_eq!(ended(&mut pacer, at(1_700)), at(2_700));
    }

    #[test]
    fn a_quantum_leaves_at_once_and_is_paid_for() {
        let pacing = Pacing { quantum: 2_500, ..SLOW };
        let mut pacer = pacer(PacedBy::Law, false);
        assert!(pacer.begin(Some(pacing), at(0)));
        // The third segment goes beyond 2500 bytes and is the last.
        assert_eq!([(); 3].map(|()| pacer.sent(1_000, at(0))), [true, true, false]);
        assert_eq!(ended(&mut pacer, at(0)), at(3_000));
    }

    #[test]
    fn the_interface_bounds_a_burst() {
        let after = |gso_max_segs| {
            let config = profile("modern").expect("a profile of ours").config.clone();
            let mut pacer = Pacer::new(&Config { gso_max_segs, mss: Bytes(1_000), ..config }, false);
            assert!(pacer.begin(Some(Pacing { quantum: 2_500, ..SLOW }), at(0)));
            [(); 3].map(|()| pacer.sent(988, at(0)))
        };
        assert_eq!([1, 2, 3].map(after), [[false; 3], [true, false, false], [true, true, false]]);
    }

    #[test]
    fn a_law_that_ceases_to_pace_sends_all_at_once() {
        let mut pacer = pacer(PacedBy::Law, false);
        assert!(pacer.begin(Some(SLOW), at(0)) && !pacer.sent(1_000, at(0)));
        assert!(pacer.begin(None, at(100)));
        assert_eq!([(); 2].map(|()| pacer.sent(1_000, at(100))), [true, true]);
        assert_eq!(ended(&mut pacer, at(100)), Time::NEVER);
    }

    #[test]
    fn a_burst_that_ends_by_itself_needs_no_deadline_and_is_paid_for() {
        let pacing = Pacing { quantum: 5_000, ..SLOW };
        let mut pacer = pacer(PacedBy::Law, false);
        assert!(pacer.begin(Some(pacing), at(0)) && pacer.sent(1_000, at(0)));
        assert_eq!(ended(&mut pacer, at(0)), Time::NEVER);
        assert!(!pacer.begin(Some(pacing), at(999)) && pacer.begin(Some(pacing), at(1_000)));
    }

    #[test]
    fn a_window_leaves_in_less_than_a_round_trip() {
        let rate = |cwnd, ssthresh, outstanding| {
            let window = CcState { cwnd, ssthresh };
            Pacing::of_window(window, outstanding, Dur::from_ms(100), 1_000).map(|pacing| (pacing.rate, pacing.quantum))
        };
        // 1.2 · 10000 bytes in 100 ms; below half of ssthresh 2 · 10000.
        assert_eq!(
            [20_000, 20_002].map(|ssthresh| rate(10_000, ssthresh, 0)),
            [120_000, 200_000].map(|r| Some((r, 1_000)))
        );
        // After a timeout: 15000 bytes sent before it are outstanding, 2 · 15000 in 100 ms.
        assert_eq!(rate(1_000, 10_000, 15_000), Some((300_000, 1_000)));
        assert_eq!(Pacing::of_window(CcState { cwnd: 1, ssthresh: 1 }, 0, Dur::ZERO, 1_000), None, "no RTT is known");
    }

    #[test]
    fn the_tenth_segment_of_data_delays_the_next() {
        let mut pacer = pacer(PacedBy::Linux, false);
        assert!(pacer.begin(Some(SLOW), at(0)));
        // A FIN without data is not counted.
        assert_eq!([1_000, 0, 1_000].map(|bytes| pacer.sent(bytes, at(0))), [true, true, true]);
        assert_eq!([(); 8].map(|()| pacer.sent(1_000, at(0))), [true, true, true, true, true, true, true, false]);
        assert_eq!(ended(&mut pacer, at(0)), at(1_000));
    }

    /// Sends a burst of so many segments of 1000 bytes. Returns the pause after it.
    fn pause(pacer: &mut Pacer, pacing: Pacing, segments: u32, now: Time) -> Dur {
        assert!(pacer.begin(Some(pacing), now));
        (0..segments).for_each(|_| _ = pacer.sent(1_000, now));
        ended(pacer, now).since(now)
    }

    #[test]
    fn tcp_update_skb_after_send_gives_credit_for_half_of_the_pause() {
        let after = |late: u64, pacing, segments| {
            let mut pacer = pacer(PacedBy::Law, true);
            assert_eq!(pause(&mut pacer, SLOW, 1, at(0)), Dur::from_ms(1));
            pause(&mut pacer, pacing, segments, at(1_000 + late))
        };
        let pauses = [0, 300, 500, 501, 90_000].map(|late| after(late, SLOW, 1));
        assert_eq!(pauses, [1_000, 700, 500, 500, 500].map(Dur::from_us));
        // Two segments of a burst are one packet of Linux's: half of 2 ms.
        let burst = Pacing { quantum: 2_000, ..SLOW };
        let pauses = [0, 300, 700, 1_000, 5_000].map(|late| after(late, burst, 2));
        assert_eq!(pauses, [2_000, 1_700, 1_300, 1_000, 1_000].map(Dur::from_us));
    }

    #[test]
    fn a_credit_that_is_not_used_up_is_lost() {
        let mut pacer = pacer(PacedBy::Law, true);
        let pauses = [5_000, 5_500].map(|us| pause(&mut pacer, SLOW, 1, at(us)));
        assert_eq!(pauses, [500, 1_000].map(Dur::from_us));
        // A burst of nothing has no pause.
        assert!(pacer.begin(Some(SLOW), at(9_000)));
        assert_eq!((ended(&mut pacer, at(9_000)), pacer.next()), (Time::NEVER, at(6_500)));
    }

    #[test]
    fn what_is_not_paced_leaves_no_credit() {
        let mut pacer = pacer(PacedBy::Linux, false);
        assert_eq!(pause(&mut pacer, SLOW, 10, at(5_000)), Dur::from_ms(1));
        assert_eq!(pause(&mut pacer, SLOW, 1, at(6_300)), Dur::from_us(700));
    }

    #[test]
    fn without_a_rate_all_may_leave_and_no_rate_is_zero() {
        let mut pacer = pacer(PacedBy::Law, false);
        assert!(pacer.sent(u64::MAX, at(0)));
        assert_eq!(ended(&mut pacer, at(0)), Time::NEVER);
        assert!(pacer.begin(Some(Pacing { rate: 0, quantum: 0 }), at(0)) && !pacer.sent(1, at(0)));
        assert_eq!(ended(&mut pacer, at(0)), at(1_000_000));
    }
}
