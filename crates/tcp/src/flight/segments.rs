//! The outstanding segments of a connection, in one deque. Segments are stored if something needs single segments: RTTs
//! of each ACK, Linux's recovery schemes, or delivery rate samples.

use std::collections::VecDeque;
use std::ops::{Deref, Range, RangeBounds};

use ecnlab_base::Time;

use super::rate::RateSampler;
use super::segment::Outstanding;

/// The outstanding segments in stream order, each with a record for rate samples if the law uses them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segments {
    segments: VecDeque<Outstanding>,
    /// Number of segments removed: with it, positions become numbers that do not change.
    removed: u64,
    /// Delivery rate sampler, for laws that use it. It has one record per segment.
    pub rates: Option<Box<RateSampler>>,
}

impl Segments {
    /// No segments, with rate sampling.
    #[cfg(test)]
    pub fn with_rates() -> Segments {
        Segments { rates: Some(Box::default()), ..Segments::default() }
    }

    /// Records for rate sampling that `range` is sent, some of which may have been sent before. `outstanding` is the bytes in
    /// flight without it, `lost` the total of bytes marked lost. Returns whether the range belongs to an outstanding segment.
    #[inline(never)]
    pub fn note_rate(&mut self, range: Range<u64>, outstanding: u64, lost: u64, now: Time) -> bool {
        let place = self.find(range.start);
        if let Some(rates) = &mut self.rates {
            rates.sent_again(place, range, outstanding, lost, now);
        }
        place.is_some()
    }

    /// Appends a segment of new data that is sent now.
    #[inline]
    pub fn push(&mut self, start: u64, len: u32, fin: bool, now: Time) {
        self.segments.push_back(Outstanding {
            start,
            len,
            fin,
            sent: now,
            sacked: false,
            lost: false,
            retransmitted: false,
            ever_retransmitted: false,
            judged: false,
        });
        if let Some(rates) = &mut self.rates {
            rates.keep();
        }
    }

    /// Appends the new part of a sent range: all of it, or a FIN that was added to a retransmission.
    #[inline(never)]
    pub fn push_new(&mut self, start: u64, len: u32, fin: bool, now: Time) {
        match self.segments.back().map(Outstanding::end).filter(|end| start < *end) {
            None => self.push(start, len, fin, now),
            Some(end) => self.push(end, 0, true, now),
        }
    }

    /// Number of the segment at position `i`, counted from the first of the connection.
    pub fn number(&self, i: usize) -> u64 {
        self.removed + i as u64
    }

    /// The position of the segment with this number, if it is outstanding.
    #[inline]
    pub fn position(&self, number: u64) -> Option<usize> {
        number.checked_sub(self.removed).map(|i| i as usize)
    }

    /// The segment at position `i`.
    pub fn at(&mut self, i: usize) -> &mut Outstanding {
        &mut self.segments[i]
    }

    /// The segments at these positions.
    pub fn range_mut(&mut self, positions: impl RangeBounds<usize>) -> impl Iterator<Item = &mut Outstanding> {
        self.segments.range_mut(positions)
    }

    /// The position of the segment that starts at `start`, or that was acknowledged up to `start`.
    #[inline]
    pub fn find(&self, start: u64) -> Option<usize> {
        // New data starts at or beyond the end of the last segment.
        self.segments.back().filter(|last| start < last.end())?;
        self.find_outstanding(start)
    }

    #[inline(never)]
    fn find_outstanding(&self, start: u64) -> Option<usize> {
        self.at_full_segments(start).or_else(|| {
            let i = self.segments.partition_point(|s| s.end() <= start);
            self.segments.get(i).filter(|s| s.start <= start).map(|_| i)
        })
    }

    /// Number of segments that end at or below `offset`.
    pub fn count_below(&self, offset: u64) -> usize {
        self.at_full_segments(offset).unwrap_or_else(|| self.segments.partition_point(|s| s.end() <= offset))
    }

    /// Number of segments that start below `offset`.
    pub fn count_from_below(&self, offset: u64) -> usize {
        self.at_full_segments(offset).unwrap_or_else(|| self.segments.partition_point(|s| s.start < offset))
    }

    /// The position of the segment that starts at `offset`, if all before it have the length of the first. Most have, so
    /// that a search is rarely needed.
    #[inline]
    fn at_full_segments(&self, offset: u64) -> Option<usize> {
        let first = self.segments.front()?;
        let i = offset.checked_sub(first.start)?.checked_div(first.len.into())? as usize;
        self.segments.get(i).filter(|s| s.start == offset).map(|_| i)
    }

    /// Removes and returns the first segment if it ends at or below the acknowledged offset `ack`. `SAMPLED` is whether it may
    /// have a record for rate sampling.
    #[inline(always)]
    pub fn take_below<const SAMPLED: bool>(&mut self, ack: u64, now: Time) -> Option<Outstanding> {
        let segment = self.segments.front().filter(|s| s.end() <= ack).copied()?;
        self.segments.pop_front();
        self.removed += 1;
        if SAMPLED && let Some(rates) = &mut self.rates {
            rates.acknowledge(segment.range(), now);
        }
        Some(segment)
    }

    /// Whether there may be a window probe without a stored segment, for rate sampling.
    pub fn has_probe(&self) -> bool {
        self.rates.as_ref().is_some_and(|rates| rates.has_probe())
    }

    /// Records for rate sampling that `segment`, at position `i`, is marked lost; with it `lost` bytes are, in total.
    pub fn lose_with_rates(&mut self, i: usize, segment: &Outstanding, lost: u64) {
        if let Some(rates) = &mut self.rates {
            rates.lose(i, segment, lost);
        }
    }

    /// Removes all segments up to the acknowledged offset `ack`. Returns the send time of the first of them.
    #[inline(always)]
    pub fn acknowledge(&mut self, ack: u64, now: Time) -> Option<Time> {
        if self.rates.is_some() {
            return self.acknowledge_with_rates(ack, now);
        }
        let mut first = None;
        while let Some(segment) = self.segments.front().filter(|s| s.end() <= ack) {
            first.get_or_insert(segment.sent);
            self.segments.pop_front();
            self.removed += 1;
        }
        first
    }

    #[inline(never)]
    fn acknowledge_with_rates(&mut self, ack: u64, now: Time) -> Option<Time> {
        let first = self.take_below::<true>(ack, now);
        while first.is_some() && self.take_below::<true>(ack, now).is_some() {}
        if let Some(rates) = &mut self.rates {
            rates.acknowledge_probe(ack, now);
        }
        first.map(|segment| segment.sent)
    }

    /// Processes a SACK report of `block` for rate sampling.
    #[cold]
    pub fn report(&mut self, block: Range<u64>, now: Time) {
        if self.rates.is_some() {
            for i in self.count_from_below(block.start)..self.count_below(block.end) {
                self.report_one(i, now);
            }
        }
    }

    /// The same for the segment at position `i`.
    #[inline]
    pub fn report_one(&mut self, i: usize, now: Time) {
        if let Some(rates) = &mut self.rates {
            rates.report(i, self.segments[i].range(), now);
        }
    }
}

/// Read access to the deque. Only this file adds and removes segments, so that each keeps its record.
impl Deref for Segments {
    type Target = VecDeque<Outstanding>;

    fn deref(&self) -> &VecDeque<Outstanding> {
        &self.segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_base::Dur;

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    /// Three segments of 1000 bytes from 1 on, the n-th sent at n ms.
    fn three() -> Segments {
        let mut segments = Segments::default();
        (0..3).for_each(|n| segments.push(1 + n * 1_000, 1_000, false, at(n)));
        segments
    }

    /// The same, with records for rate samples.
    fn three_with_rates() -> Segments {
        let mut segments = Segments::with_rates();
        for n in 0..3 {
            let start = 1 + n * 1_000;
            assert!(!segments.note_rate(start..start + 1_000, n * 1_000, 0, at(n)));
            segments.push(start, 1_000, false, at(n));
        }
        segments
    }

    fn delivered(segments: &Segments) -> u64 {
        segments.rates.as_ref().unwrap().delivered()
    }

    #[test]
    fn a_segment_is_found_by_its_start_or_where_an_ack_has_cut_it() {
        let segments = three();
        let found = [0, 1, 500, 1_000, 1_001, 3_000, 3_001].map(|start| segments.find(start));
        assert_eq!(found, [None, Some(0), Some(0), Some(0), Some(1), Some(2), None]);
    }

    #[test]
    fn an_ack_removes_whole_segments_and_returns_the_send_time_of_the_first() {
        let mut segments = three();
        assert_eq!((segments.acknowledge(1_000, at(9)), segments.len()), (None, 3));
        assert_eq!((segments.acknowledge(2_500, at(9)), segments.len()), (Some(at(0)), 1));
        assert_eq!((segments.acknowledge(3_001, at(9)), segments.len()), (Some(at(2)), 0));
    }

    #[test]
    fn sack_and_ack_deliver_each_segment_once() {
        let mut segments = three_with_rates();
        segments.report(1_001..2_500, at(9));
        assert_eq!(delivered(&segments), 1_000, "the third is not covered");
        segments.report(1_001..3_001, at(9));
        assert_eq!(delivered(&segments), 2_000);
        segments.acknowledge(3_001, at(9));
        assert_eq!((delivered(&segments), segments.len()), (3_000, 0));
    }

    #[test]
    fn a_fin_added_to_a_retransmission_has_no_record_until_it_is_sent_again() {
        let mut segments = three_with_rates();
        assert!(segments.note_rate(2_001..3_002, 3_000, 0, at(5)));
        segments.push(3_001, 0, true, at(5));
        let mut acknowledged = segments.clone();
        acknowledged.acknowledge(3_002, at(9));
        assert_eq!(delivered(&acknowledged), 3_000, "the FIN does not count");
        assert!(segments.note_rate(3_001..3_002, 3_000, 0, at(6)));
        segments.acknowledge(3_002, at(9));
        assert_eq!(delivered(&segments), 3_001);
    }

    #[test]
    fn a_window_probe_without_a_segment_is_delivered_by_its_ack() {
        let mut segments = three_with_rates();
        segments.acknowledge(3_001, at(9));
        assert!(!segments.note_rate(3_001..3_002, 0, 0, at(10)));
        // Sent again as a probe, and then with a segment.
        let mut kept = segments.clone();
        assert!(!segments.note_rate(3_001..3_002, 0, 0, at(20)));
        segments.acknowledge(3_001, at(25));
        assert_eq!(delivered(&segments), 3_000);
        segments.acknowledge(3_002, at(30));
        assert_eq!((delivered(&segments), segments.len()), (3_001, 0));
        assert!(!kept.note_rate(3_001..3_002, 0, 0, at(20)));
        kept.push(3_001, 1, false, at(20));
        kept.acknowledge(3_002, at(30));
        assert_eq!((delivered(&kept), kept.len()), (3_001, 0));
    }

    #[test]
    fn of_what_is_sent_again_with_a_fin_only_the_fin_is_new() {
        let mut segments = three();
        segments.push_new(2_001, 1_000, true, at(5));
        let last = segments.back().map(|s| (s.start, s.len, s.fin));
        assert_eq!((segments.len(), last), (4, Some((3_001, 0, true))));
    }
}
