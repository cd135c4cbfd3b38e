//! Segments that are not new data although they may carry a byte: keep-alives, zero-window probes, data of a SYN sent
//! again, and segments captured after their ACK.

use ecnlab_wire::Seq;

use super::{ORIGIN, QUIET, REACH, Sending, Stream};

/// Shortest time after which the last byte, if it is a segment of its own, is sent as a keep-alive, in nanoseconds.
const IDLE: u64 = 1_000_000_000;

impl Stream {
    /// Returns whether a segment of at most one byte below SND.NXT is a keep-alive (RFC 9293): everything has
    /// been acknowledged, or the capture lacks the ACKs (`alone`).
    #[inline]
    pub fn is_keep_alive(&self, seq: Seq, len: u32, time: u64, alone: bool) -> bool {
        let last = self.base.wrapping_add(self.next as u32).wrapping_sub(1);
        if seq.0 != last || !self.begun || (self.una < self.next && !alone) {
            return false;
        }
        // A last segment of one byte may also be a retransmission.
        let unclear = alone || self.newest.0 == self.next.wrapping_sub(1);
        len == 0 || !unclear || time.saturating_sub(self.newest.1) >= IDLE
    }

    /// Processes a keep-alive with a byte.
    #[cold]
    pub(super) fn send_keep_alive(&mut self, end: u64) -> Sending {
        self.stale = end;
        Sending { keep_alive: true, ..Sending::default() }
    }

    /// Processes a zero-window probe of the byte before `end`. A new byte is not outstanding: the receiver may discard
    /// it, and the sender sends it again as new data.
    #[cold]
    pub(super) fn send_probe(&mut self, start: u64, end: u64) -> Sending {
        let mut sending = Sending { probe: true, ..Sending::default() };
        if start < self.next {
            sending.fresh = self.holes.remove(start, end);
            sending.late = sending.fresh > 0;
            self.stale = end;
            let first = self.segments.partition_point(|s| s.end <= start);
            self.segments.iter_mut().skip(first).take_while(|s| s.start < end).for_each(|s| s.spoilt = true);
            return sending;
        }
        if start > self.next {
            self.holes.insert(self.next, start);
            self.next = start;
        }
        sending.gap = !self.holes.is_empty();
        sending.fresh = u64::from(self.probed != end);
        self.probed = end;
        sending
    }

    /// Returns how many bytes of new data above `start` a probe has already carried.
    #[inline]
    pub(super) fn take_probed(&mut self, start: u64) -> u64 {
        u64::from(std::mem::take(&mut self.probed) > start)
    }

    /// Returns whether an ACK beyond the data sent is farther ahead than the largest window that its sender has announced
    /// in `windows`: it acknowledges data never sent (RFC 9293 §3.10.7.4). A second such ACK near it is accepted: then
    /// the capture has a gap.
    #[cold]
    #[inline(never)]
    pub(super) fn is_unacceptable(&mut self, offset: u64, windows: &Option<(u64, u64)>) -> bool {
        let reach = windows.map_or(0, |windows| windows.1).max(REACH);
        let before = std::mem::replace(&mut self.unacceptable, offset);
        offset > self.next.saturating_add(reach) && !(before > self.next && before.abs_diff(offset) <= reach)
    }

    /// Handles an ACK beyond the data sent: of a probe's byte, or of data missing from the capture.
    #[cold]
    pub(super) fn jump(&mut self, offset: u64, time: u64) {
        if std::mem::take(&mut self.probed) > self.next {
            self.next += 1;
        }
        self.miss(self.next, offset, time);
        self.next = offset;
    }

    /// Handles an ACK of holes.
    #[cold]
    pub(super) fn close_holes(&mut self, offset: u64, time: u64) {
        while let Some((start, end)) = self.holes.first().filter(|hole| hole.0 < offset) {
            self.holes.remove(start, end.min(offset));
            self.miss(start, end.min(offset), time);
        }
    }

    /// Records bytes acknowledged at `time` and not captured yet.
    fn miss(&mut self, start: u64, end: u64, time: u64) {
        if time > self.early_time.saturating_add(QUIET) {
            self.early = Default::default();
        }
        self.early_time = self.early_time.max(time);
        self.counts.missing_bytes += self.early.insert(start, end);
    }

    /// Returns how many bytes of a segment were acknowledged less than half of the smallest timeout before it, without
    /// an earlier copy in the capture: the capture has the ACK before its data.
    #[inline]
    pub(super) fn take_early(&mut self, start: u64, end: u64, time: u64) -> u64 {
        if self.early.is_empty() || time > self.early_time.saturating_add(QUIET) {
            return 0;
        }
        let bytes = self.early.remove(start, end);
        self.counts.missing_bytes -= bytes;
        bytes
    }

    /// Records that a SYN ends at `end` with data (RFC 7413).
    #[cold]
    pub fn note_syn_data(&mut self, end: u64) {
        (self.syn_data, self.syn_data_again) = (end, 0);
    }

    /// Returns whether a segment from `seq` on is data of the SYN that the SYN-ACK did not acknowledge, sent again at
    /// once and for the first time (RFC 7413).
    #[inline]
    pub fn repeats_syn_data(&self, seq: Seq, time: u64) -> bool {
        self.syn_data > self.una && self.una > ORIGIN && {
            let start = self.offset(seq);
            (self.una.max(self.syn_data_again)..self.syn_data).contains(&start) && self.answers_an_ack(time)
        }
    }

    /// Returns whether a sequence number is below the first one known.
    pub fn is_before_start(&self, seq: Seq) -> bool {
        self.begun && self.offset(seq) < ORIGIN
    }

    /// Processes a SYN captured late.
    #[cold]
    pub(super) fn send_late_syn(&mut self, start: u64, end: u64) -> Sending {
        let fresh = ORIGIN.saturating_sub(start).min(end - start);
        self.below += fresh;
        Sending { fresh, ..Sending::default() }
    }

    /// Number of sequence numbers captured below the first ones known: those of a late SYN.
    pub fn below_start(&self) -> u64 {
        self.below
    }

    /// Sequence number of the first byte, or of the SYN, with which the capture begins.
    pub fn first(&self) -> Option<Seq> {
        self.begun.then_some(Seq(self.base))
    }
}
