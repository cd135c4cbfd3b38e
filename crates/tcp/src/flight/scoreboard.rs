//! The scoreboard of Linux's schemes: indices over the outstanding segments. The other schemes store ranges only.

use std::collections::VecDeque;
use std::ops::Range;

use ecnlab_base::Time;

use super::segment::Outstanding;
use super::segments::Segments;

/// The outstanding segments, the order in which they were last sent, and the number in each state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    pub segments: Segments,
    /// Times and segment numbers of transmissions. Entries of segments that were since retransmitted, acknowledged or
    /// marked lost are stale; [`Scoreboard::judge`] removes those that it passes.
    order: VecDeque<(Time, u64)>,
    sacked: u32,
    lost: u32,
    retransmitted: u32,
    /// Bytes marked lost, in total.
    lost_bytes: u64,
    /// SACK reports not yet processed: first offset, end, bytes not reported before.
    reports: Vec<(u64, u64, u64)>,
    /// One past the highest byte reported by SACK.
    highest: u64,
    /// No segment below this offset waits for retransmission.
    waits_from: u64,
}

impl Scoreboard {
    /// Number of outstanding segments.
    pub fn len(&self) -> u32 {
        self.segments.len() as u32
    }

    /// Whether no segment is outstanding.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// The first outstanding segment.
    pub fn head(&self) -> Option<&Outstanding> {
        self.segments.front()
    }

    /// The last outstanding segment.
    pub fn tail(&self) -> Option<&Outstanding> {
        self.segments.back()
    }

    /// Number of segments that the receiver holds: reported by SACK, or presumed from duplicate ACKs.
    pub fn sacked(&self) -> u32 {
        self.sacked
    }

    /// One past the highest byte reported by SACK.
    pub fn highest(&self) -> u64 {
        self.highest
    }

    /// Number of segments marked lost and not SACKed since.
    pub fn lost(&self) -> u32 {
        self.lost
    }

    /// Bytes marked lost in total, counting each transmission.
    pub fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// Number of segments with a retransmission in flight.
    pub fn retransmitted(&self) -> u32 {
        self.retransmitted
    }

    /// Whether a retransmission is in flight, or the first segment was ever retransmitted.
    pub fn any_retransmitted(&self) -> bool {
        self.retransmitted > 0 || self.head().is_some_and(|s| s.ever_retransmitted)
    }

    /// Number of segments in flight: outstanding segments, less those SACKed or lost, plus retransmissions.
    pub fn in_flight(&self) -> u32 {
        (self.len() + self.retransmitted).saturating_sub(self.sacked + self.lost)
    }

    /// Records the transmission of the segment at `start`: one outstanding, or a new one behind all others. A `probe`
    /// that retransmits the tail does not count as in flight (the kernel's tcp_send_loss_probe).
    pub fn sent(&mut self, start: u64, len: u32, fin: bool, probe: bool, now: Time) {
        let place = self.segments.find(start);
        self.order.push_back((now, self.segments.number(place.unwrap_or(self.segments.len()))));
        if let Some(i) = place {
            let segment = self.segments.at(i);
            (segment.sent, segment.ever_retransmitted, segment.judged) = (now, true, false);
            if !probe && !segment.retransmitted {
                segment.retransmitted = true;
                self.retransmitted += 1;
            }
            return;
        }
        self.segments.push(start, len, fin, now);
    }

    /// Stores a SACK report of `start..end`, of which `new` bytes were not reported before.
    pub fn report(&mut self, start: u64, end: u64, new: u64) {
        self.reports.push((start, end, new));
    }

    /// Processes the stored reports of an ACK that arrives at `now`. `f` is called for each newly SACKed segment with its
    /// state before, in ascending order of the reports.
    pub fn take_reports(&mut self, now: Time, mut f: impl FnMut(&Outstanding)) {
        if self.reports.is_empty() {
            return;
        }
        if self.reports.len() > 1 {
            self.reports.sort_unstable();
        }
        for i in 0..self.reports.len() {
            let (start, end, new) = self.reports[i];
            self.hold(start..end, new, now, &mut f);
            self.highest = self.highest.max(end);
        }
        self.reports.clear();
    }

    fn hold(&mut self, block: Range<u64>, new: u64, now: Time, mut f: impl FnMut(&Outstanding)) {
        let last = self.segments.count_below(block.end);
        // New bytes are usually at the end of a block.
        let (mut from, mut left) = (last, new);
        while from > 0 && left > 0 {
            let s = &self.segments[from - 1];
            if s.start < block.start {
                break;
            }
            from -= 1;
            left = if s.sacked { left } else { left.saturating_sub(s.end() - s.start) };
        }
        for i in from..last {
            let segment = self.segments.at(i);
            if segment.sacked {
                continue;
            }
            f(segment);
            self.sacked += 1;
            self.lost -= u32::from(segment.lost);
            // As in the kernel's tcp_sacktag_one, the SACK of a lost segment clears its retransmission. The
            // retransmission of a segment that is not marked lost stays in flight.
            if segment.lost {
                self.retransmitted -= u32::from(segment.retransmitted);
                segment.retransmitted = false;
            }
            (segment.sacked, segment.lost) = (true, false);
            self.segments.report_one(i, now);
        }
    }

    /// Processes a D-SACK of `block`: copies that have arrived are not in flight. `f` is called for each retransmitted
    /// segment in it, in ascending order.
    pub fn take_duplicate(&mut self, block: Range<u64>, mut f: impl FnMut(&Outstanding)) {
        let first = self.segments.count_from_below(block.start);
        let last = self.segments.count_below(block.end);
        for segment in self.segments.range_mut(first..last.max(first)).filter(|s| s.ever_retransmitted) {
            f(segment);
            self.retransmitted -= u32::from(segment.retransmitted);
            segment.retransmitted = false;
        }
    }

    /// Removes the segments below `ack`. `f` is called for each of them.
    pub fn acknowledge(&mut self, ack: u64, now: Time, f: impl FnMut(&Outstanding)) {
        if self.segments.rates.is_some() {
            self.remove_below::<true>(ack, now, f);
        } else {
            self.remove_below::<false>(ack, now, f);
        }
    }

    /// The same, with or without rate sampling.
    #[inline]
    fn remove_below<const SAMPLED: bool>(&mut self, ack: u64, now: Time, mut f: impl FnMut(&Outstanding)) {
        while let Some(segment) = self.segments.take_below::<SAMPLED>(ack, now) {
            self.sacked -= u32::from(segment.sacked);
            self.lost -= u32::from(segment.lost);
            self.retransmitted -= u32::from(segment.retransmitted);
            f(&segment);
        }
        let first = self.segments.number(0);
        while self.order.front().is_some_and(|&(_, number)| number < first) {
            self.order.pop_front();
        }
    }

    /// The segment of an entry of `order`, unless the entry is stale.
    fn pending(&self, sent: Time, number: u64) -> Option<usize> {
        let i = self.segments.position(number)?;
        let s = &self.segments[i];
        (s.sent == sent && !s.sacked && (!s.lost || s.retransmitted)).then_some(i)
    }

    /// Calls `judge` for each segment in flight that was sent at or before `until`, in the order of last transmission. It
    /// returns whether the segment is lost; `None` stops the iteration. Returns the number of segments marked lost.
    pub fn judge(&mut self, until: Time, mut judge: impl FnMut(&Outstanding) -> Option<bool>) -> u32 {
        let (mut found, mut seen, mut kept) = (0, 0, 0);
        while let Some(&(sent, number)) = self.order.get(seen).filter(|(sent, _)| *sent <= until) {
            if let Some(i) = self.pending(sent, number) {
                let Some(lost) = judge(&self.segments[i]) else { break };
                if lost {
                    found += u32::from(self.lose(i));
                    self.segments.at(i).judged = true;
                }
                if !lost || self.segments[i].retransmitted {
                    self.order[kept] = (sent, number);
                    kept += 1;
                }
            }
            seen += 1;
        }
        if kept > 0 {
            self.order.drain(kept..seen);
        } else {
            for _ in 0..seen {
                self.order.pop_front();
            }
        }
        found
    }

    /// Marks segment `i` lost. Returns whether the segment or its retransmission was not marked before.
    fn lose(&mut self, i: usize) -> bool {
        let segment = self.segments.at(i);
        if segment.sacked {
            return false;
        }
        let news = !segment.lost || segment.retransmitted;
        if segment.lost {
            self.retransmitted -= u32::from(segment.retransmitted);
            segment.retransmitted = false;
        } else {
            self.lost += 1;
            segment.lost = true;
        }
        let segment = *segment;
        self.waits_from = self.waits_from.min(segment.start);
        if news {
            self.lost_bytes += u64::from(segment.len);
            self.segments.lose_with_rates(i, &segment, self.lost_bytes);
        }
        news
    }

    /// Marks the first segment and all for which `gone` returns true as lost. Returns the number newly marked.
    pub fn lose_after_timeout(&mut self, gone: impl Fn(&Outstanding) -> bool) -> u32 {
        let mut found = 0;
        for i in 0..self.segments.len() {
            if i == 0 || gone(&self.segments[i]) {
                found += u32::from(self.lose(i));
            }
        }
        self.waits_from = 0;
        found
    }

    // ---- without SACK: the number of SACKed segments, not which ones ----

    /// Counts one more segment as SACKed on a duplicate ACK (the kernel's tcp_add_reno_sack). Returns whether the count
    /// exceeds the possible maximum.
    pub fn presume_sacked(&mut self) -> bool {
        self.sacked += 1;
        self.limit_held()
    }

    /// Updates the count when `acked` segments are acknowledged: one filled a hole, the others had been counted as
    /// SACKed (tcp_remove_reno_sacks). Returns the number of segments newly delivered, and whether the count exceeded
    /// the possible maximum.
    pub fn settle_sacked(&mut self, acked: u32) -> (u32, bool) {
        let first = if acked > 0 { acked.saturating_sub(self.sacked).max(1) } else { 0 };
        self.sacked = self.sacked.saturating_sub(acked.saturating_sub(1));
        (first, self.limit_held())
    }

    /// Limits the count: lost segments, and at least one segment, cannot be SACKed (tcp_limit_reno_sacked). Returns
    /// whether the count was too high.
    fn limit_held(&mut self) -> bool {
        let most = self.len() - self.lost.max(1).min(self.len());
        let beyond = self.sacked > most;
        self.sacked = self.sacked.min(most);
        beyond
    }

    /// Marks the first segment lost. Returns whether it was not marked before.
    pub fn lose_head(&mut self) -> bool {
        self.head().is_some_and(|s| !s.lost) && self.lose(0)
    }

    /// Clears all SACKed marks: the receiver has discarded the data (RFC 2018 §8), or the presumed count was wrong.
    pub fn forget_sacked(&mut self) {
        // Without reports no segment is marked.
        if self.highest > 0 {
            self.segments.range_mut(..).for_each(|s| s.sacked = false);
        }
        (self.sacked, self.highest) = (0, 0);
    }

    /// Clears all lost marks. Segments that a timeout had marked are judged again; those that [`Scoreboard::judge`] had
    /// found lost are not (the kernel removes only the latter from tsorted_sent_queue).
    pub fn forget_lost(&mut self) {
        self.segments.range_mut(..).for_each(|s| s.lost = false);
        self.lost = 0;
        let judged_again = self.segments.iter().enumerate().filter(|(_, s)| !s.sacked && !s.judged);
        let mut order: Vec<_> = judged_again.map(|(i, s)| (s.sent, self.segments.number(i))).collect();
        order.sort_unstable();
        self.order = order.into();
    }

    /// The first segment that waits for retransmission.
    pub fn waiting(&mut self) -> Option<Outstanding> {
        if self.retransmitted >= self.lost {
            return None;
        }
        let from = self.segments.count_from_below(self.waits_from);
        let found = self.segments.range(from..).find(|s| s.waits()).copied();
        self.waits_from = found.map_or(u64::MAX, |s| s.start);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_base::Dur;

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    /// Segments of 1000 bytes from 1 on, the n-th sent at n ms.
    fn scoreboard(segments: u64) -> Scoreboard {
        let mut scoreboard = Scoreboard::default();
        (0..segments).for_each(|n| scoreboard.sent(1 + n * 1_000, 1_000, false, false, at(n)));
        scoreboard
    }

    #[test]
    fn in_flight_is_what_is_neither_held_nor_lost_and_the_copies() {
        let mut scoreboard = scoreboard(5);
        scoreboard.hold(1_001..2_001, 1_000, at(9), |_| {});
        assert_eq!(scoreboard.in_flight(), 4);
        // The first is lost, the third waits, and the fourth was sent too late to be judged.
        let judge = |s: &Outstanding| match s.start {
            1 => Some(true),
            2_001 => Some(false),
            _ => None,
        };
        assert_eq!(scoreboard.judge(Time::NEVER, judge), 1);
        assert_eq!((scoreboard.in_flight(), scoreboard.waiting().map(|s| s.start)), (3, Some(1)));
        scoreboard.sent(1, 1_000, false, false, at(9));
        assert_eq!((scoreboard.in_flight(), scoreboard.waiting()), (4, None));
        // It is the last in the order of sending now. Lost again, it waits again.
        let mut order = Vec::new();
        scoreboard.judge(Time::NEVER, |s| {
            order.push(s.start);
            Some(s.start == 1)
        });
        assert_eq!(order, [2_001, 3_001, 4_001, 1]);
        assert_eq!((scoreboard.in_flight(), scoreboard.waiting().map(|s| s.start)), (3, Some(1)));
        scoreboard.acknowledge(2_001, at(9), |_| {});
        assert_eq!((scoreboard.len(), scoreboard.sacked(), scoreboard.lost(), scoreboard.in_flight()), (3, 0, 0, 3));
    }

    #[test]
    fn reports_are_taken_in_from_the_lowest_up() {
        let mut scoreboard = scoreboard(5);
        scoreboard.report(3_001, 5_001, 2_000);
        scoreboard.report(1_001, 2_001, 1_000);
        let mut order = Vec::new();
        scoreboard.take_reports(at(9), |s| order.push(s.start));
        // The segments of a block from its end, where what is new mostly lies.
        assert_eq!((order.len(), order[0]), (3, 1_001));
        assert_eq!((scoreboard.sacked(), scoreboard.highest()), (3, 5_001));
        scoreboard.take_reports(at(9), |_| panic!("taken in"));
        scoreboard.forget_sacked();
        assert_eq!((scoreboard.sacked(), scoreboard.highest()), (0, 0));
    }

    #[test]
    fn what_duplicates_stand_for_leaves_the_flight_and_is_never_all() {
        let mut scoreboard = scoreboard(4);
        assert_eq!([(); 4].map(|()| scoreboard.presume_sacked()), [false, false, false, true]);
        assert_eq!((scoreboard.sacked(), scoreboard.in_flight()), (3, 1));
        // The first is lost: with three sacked, nothing is in flight. It is sent again.
        assert!(scoreboard.lose_head() && !scoreboard.lose_head());
        assert_eq!((scoreboard.in_flight(), scoreboard.waiting().map(|s| s.start)), (0, Some(1)));
        scoreboard.sent(1, 1_000, false, false, at(9));
        // Two are acknowledged: the first filled the hole, the other was one of the three.
        scoreboard.acknowledge(2_001, at(9), |_| {});
        assert_eq!(
            scoreboard.settle_sacked(2),
            (1, true),
            "one of the two left is missing, so that two cannot be sacked"
        );
        assert_eq!((scoreboard.sacked(), scoreboard.in_flight()), (1, 1));
    }

    #[test]
    fn an_ack_of_more_than_the_duplicates_reported_delivers_the_rest() {
        let mut scoreboard = scoreboard(10);
        scoreboard.presume_sacked();
        scoreboard.acknowledge(6_001, at(9), |_| {});
        assert_eq!((scoreboard.settle_sacked(6), scoreboard.sacked()), ((5, false), 0));
        assert_eq!((scoreboard.settle_sacked(0), scoreboard.sacked()), ((0, false), 0));
        assert!(!scoreboard.is_empty());
        scoreboard.acknowledge(10_001, at(9), |_| {});
        assert!(scoreboard.is_empty());
    }

    #[test]
    fn a_probe_is_a_copy_that_does_not_count() {
        let mut scoreboard = scoreboard(2);
        scoreboard.sent(1_001, 1_000, false, true, at(5));
        assert_eq!((scoreboard.in_flight(), scoreboard.retransmitted()), (2, 0));
        assert!(scoreboard.tail().is_some_and(|s| s.ever_retransmitted && s.sent == at(5)));
    }

    #[test]
    fn copies_that_have_arrived_are_not_in_flight() {
        let mut scoreboard = scoreboard(4);
        [1, 1_001].into_iter().for_each(|start| scoreboard.sent(start, 1_000, false, false, at(5)));
        scoreboard.sent(3_001, 1_000, false, true, at(5));
        let mut found = Vec::new();
        scoreboard.take_duplicate(1..1_999, |s| found.push(s.start));
        assert_eq!((scoreboard.retransmitted(), scoreboard.in_flight()), (1, 5));
        scoreboard.take_duplicate(1..4_001, |s| found.push(s.start));
        // The third was sent once.
        assert_eq!((found, scoreboard.retransmitted()), (vec![1, 1, 1_001, 3_001], 0));
    }

    #[test]
    fn a_timeout_takes_the_first_and_the_old_for_lost() {
        let mut scoreboard = scoreboard(4);
        // Those sent at 0 and 1 ms have had their time. The first is taken for lost in any case.
        assert_eq!(scoreboard.lose_after_timeout(|s| s.sent <= at(1)), 2);
        assert_eq!(scoreboard.in_flight(), 2);
        let mut scoreboard = self::scoreboard(4);
        assert_eq!(scoreboard.lose_after_timeout(|_| false), 1);
        assert_eq!(scoreboard.waiting().map(|s| s.start), Some(1));
    }

    #[test]
    fn what_is_forgotten_is_in_flight_again() {
        let mut scoreboard = scoreboard(3);
        scoreboard.hold(1_001..3_001, 2_000, at(9), |_| {});
        scoreboard.lose_after_timeout(|_| true);
        scoreboard.forget_lost();
        assert_eq!((scoreboard.lost(), scoreboard.in_flight()), (0, 1));
        scoreboard.forget_sacked();
        assert_eq!((scoreboard.sacked(), scoreboard.in_flight()), (0, 3));
    }

    #[test]
    fn forgotten_losses_of_a_timeout_are_judged_again_and_those_of_rack_only_when_sent_again() {
        let judged = |scoreboard: &mut Scoreboard, lost: u64| {
            let mut order = Vec::new();
            scoreboard.judge(Time::NEVER, |s| {
                order.push(s.start);
                Some(s.start == lost)
            });
            order
        };
        let mut scoreboard = scoreboard(5);
        assert_eq!(judged(&mut scoreboard, 3_001), [1, 1_001, 2_001, 3_001, 4_001]);
        scoreboard.lose_after_timeout(|_| true);
        scoreboard.sent(1, 1_000, false, false, at(9));
        scoreboard.acknowledge(1_001, at(10), |_| {});
        assert!(judged(&mut scoreboard, 0).is_empty());
        scoreboard.forget_lost();
        assert_eq!(judged(&mut scoreboard, 0), [1_001, 2_001, 4_001]);
        scoreboard.sent(3_001, 1_000, false, false, at(11));
        scoreboard.hold(1_001..2_001, 1_000, at(9), |_| {});
        scoreboard.forget_lost();
        assert_eq!(judged(&mut scoreboard, 0), [2_001, 4_001, 3_001]);
    }

    #[test]
    fn something_was_sent_again_if_a_copy_is_under_way_or_the_first_segment_was() {
        let mut scoreboard = scoreboard(3);
        assert!(!scoreboard.any_retransmitted());
        scoreboard.sent(1_001, 1_000, false, false, at(5));
        assert!(scoreboard.any_retransmitted());
        // A probe is no copy that counts, but was sent.
        let mut scoreboard = self::scoreboard(1);
        scoreboard.sent(1, 1_000, false, true, at(5));
        assert_eq!((scoreboard.retransmitted(), scoreboard.any_retransmitted()), (0, true));
    }

    #[test]
    fn a_report_of_part_of_a_segment_holds_only_the_whole_ones() {
        let mut scoreboard = scoreboard(3);
        scoreboard.report(1_001, 2_501, 1_500);
        scoreboard.take_reports(at(9), |s| assert_eq!(s.start, 1_001));
        assert_eq!(scoreboard.sacked(), 1);
    }
}
