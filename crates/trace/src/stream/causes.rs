//! Why data are sent again: duplicates, SACK, a partial ACK, a tail loss probe, or the timer.

use ecnlab_wire::TcpOptions;

use super::{ENOUGH, Mode, QUIET, Stream};
use crate::outstanding::{Cause, DUPLICATES, Sent};
use crate::rack::Again;

impl Stream {
    #[cold]
    pub(super) fn answer_again(&mut self) -> (Cause, bool) {
        let cause = Cause::Partial;
        self.counts.causes[cause as usize] += 1;
        if let Some(rack) = &mut self.rack {
            rack.tally.causes[cause as usize] += 1;
        }
        (cause, false)
    }

    /// Returns the cause of a retransmission at `time`, and whether a timer started it.
    pub(super) fn why(&mut self, start: u64, end: u64, time: u64, options: &[u8]) -> (Cause, bool) {
        let (answers, quiet) = (self.answers_an_ack(time), self.is_quiet(time));
        let watched = self.watch();
        let plain = self.cause(start, end, time);
        self.counts.causes[plain.0 as usize] += 1;
        if !watched {
            return plain;
        }
        let stamp = TcpOptions::parse(options).timestamps.map(|stamps| stamps.value);
        let explained = !plain.1 && plain.0 != Cause::Tail;
        stamp.into_iter().for_each(|stamp| self.note_stamp(time, stamp));
        let again = Again { start, end, answers, quiet, stamp, explained };
        let by_rack = self.with_rack(time, |rack, view| rack.send_again(view, again));
        let evidence = self.evidence();
        if evidence.against >= evidence.for_it.saturating_mul(2).saturating_add(ENOUGH) {
            self.give_up_rack();
        }
        by_rack.filter(|_| evidence.verdict() == Some(true)).unwrap_or(plain)
    }

    /// Like `why`, without RACK.
    fn cause(&mut self, start: u64, end: u64, time: u64) -> (Cause, bool) {
        let resent = self.was_resent(start);
        if self.answers_an_ack(time) {
            // Lost again after a timeout, detected by three duplicates; with SACK duplicates do not suffice (RFC 6675
            // §5.1).
            let anew = start == self.una && self.duplicates == DUPLICATES && self.sacked.is_empty();
            // By a partial ACK, while the retransmission in order after an earlier timeout continues (NewReno).
            let in_between = start == self.una && self.duplicates == 0 && start < self.stepped_back;
            match self.mode {
                Mode::Timeout if start < self.point && !(resent && anew) => {
                    return (Cause::Timeout, self.time_out(start, resent));
                }
                Mode::Fast if resent && !in_between => return (Cause::Timeout, self.time_out(start, resent)),
                // Part of the retransmission in order after the earlier timeout, which a fast retransmit does not end
                // (Reno).
                Mode::Fast if start > self.una && start < self.stepped_back => return (Cause::Timeout, false),
                // Includes data sent during the recovery and lost (RFC 6675 §4, NextSeg).
                Mode::Fast if !self.sacked.is_empty() => return (Cause::Sack, false),
                // A recovery that ended with a partial ACK restarts with three duplicates (Reno).
                Mode::Fast if self.duplicates < DUPLICATES => return (Cause::Partial, false),
                _ if self.shows_a_loss() => {
                    self.recover();
                    return (Cause::Fast, false);
                }
                _ => {}
            }
        }
        if end == self.next && self.mode == Mode::Open && !resent && self.is_early(start, time) {
            return (Cause::Tail, false);
        }
        let quiet = self.ack_time.is_none_or(|ack| time.saturating_sub(ack) > QUIET);
        (Cause::Timeout, self.time_out(start, resent || quiet))
    }

    /// Returns whether the last ACK may have started a fast retransmit.
    fn shows_a_loss(&self) -> bool {
        // Fewer duplicates suffice if no more can arrive (RFC 5827 §3.2); more are needed if the path is known to
        // reorder.
        let few = DUPLICATES.min(self.segments.len().saturating_sub(1).max(1) as u32);
        match self.answer {
            // A simulated end: an expiry of its timer at the time of an ACK is more likely than either. RFC 6675 §4,
            // IsLost: three segments above the hole.
            Some(0) => self.duplicates == DUPLICATES || self.sacked_beyond(DUPLICATES),
            _ => self.duplicates >= few || !self.sacked.is_empty(),
        }
    }

    /// Returns whether SACK reports data more than `segments` segments above the first unacknowledged byte.
    fn sacked_beyond(&self, segments: u32) -> bool {
        let first = self.segments.front().map_or(0, |sent| sent.end - sent.start);
        self.sacked.top().is_some_and(|top| top - self.una > u64::from(segments) * first)
    }

    fn recover(&mut self) {
        self.counts.recoveries += 1;
        self.mode = Mode::Fast;
        self.point = self.next;
        self.segments.iter_mut().for_each(|s| s.resent = false);
    }

    /// Returns whether the timer has fired: once for all following retransmissions, unless the first segment is sent
    /// `anew`: a second time, or after a silence.
    fn time_out(&mut self, start: u64, anew: bool) -> bool {
        if self.mode == Mode::Timeout && start < self.point && !(start <= self.una && anew) {
            return false;
        }
        self.counts.timeouts += 1;
        self.mode = Mode::Timeout;
        self.point = self.next;
        self.stepped_back = self.next;
        self.duplicates = 0;
        self.segments.iter_mut().for_each(|s| s.resent = false);
        true
    }

    /// Returns whether a recovery has already retransmitted the segment. A rescue retransmission does not advance
    /// HighRxt: once SACK reports data above, the segment is a normal hole (RFC 6675 §4, NextSeg rules 1 and 4).
    fn was_resent(&self, start: u64) -> bool {
        let place = self.segments.partition_point(|s| s.end <= start);
        let is_hole = |sent: &Sent| self.sacked.top().is_some_and(|top| top > sent.end);
        self.segments.get(place).is_some_and(|s| s.resent && !(s.rescue && is_hole(s)))
    }

    /// Returns whether `start` was sent so recently that no timer can have fired: a tail loss probe waits two RTTs
    /// (RFC 8985 §7.2) and needs SACK (§4), the minimum timeout of RFC 6298 §2.4 is one second, that of Linux 200 ms.
    fn is_early(&self, start: u64, time: u64) -> bool {
        let place = self.segments.partition_point(|s| s.end <= start);
        let sent = self.segments.get(place).map_or(0, |s| s.time);
        // A timeout retransmits the first outstanding segment first.
        self.has_sack && (start > self.una || time.saturating_sub(sent) < 200_000_000)
    }
}
