//! One direction's data: what was sent, sent again, acknowledged; and why it was sent again.

use std::collections::VecDeque;

use ecnlab_wire::{SackBlock, Seq, TcpOptions};

use crate::arrivals::Arrivals;
use crate::outstanding::{Cause, DUPLICATES, MOST_SEGMENTS, Sent};
use crate::rack::{Again, Evidence, Rack, Tally, View};
use crate::ranges::Ranges;
use crate::stats::Distribution;
use crate::ticks::Ticks;

/// Offsets begin here, so that what comes before the first packet seen still has one.
const ORIGIN: u64 = 1 << 32;
/// Half of the least timeout in use: what is sent so long after the last ACK is sent by a timer, not by a paced sender.
const QUIET: u64 = 100_000_000;
/// Give up on RACK when against ≥ 2 · for + `ENOUGH`.
const ENOUGH: u32 = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Open,
    Fast,
    Timeout,
}

/// What a segment is besides data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing else.
    Data,
    /// It asks for a closed window to open.
    Probe,
    /// It answers a SYN that came again.
    Answer,
}

/// What sending a segment was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sending {
    /// Bytes, SYN and FIN among them, not seen before.
    pub fresh: u64,
    /// Whether all of it was seen before, or part of it, and why it was sent again.
    pub again: Option<Cause>,
    /// Whether it had been acknowledged when it was sent again.
    pub needless: bool,
    /// Whether it fills a hole: it came out of order, or its first transmission is not in the capture.
    pub late: bool,
    /// Whether it asks for a closed window to open.
    pub probe: bool,
    /// Whether something is missing before it.
    pub gap: bool,
    /// Whether a timer began this retransmission.
    pub timer: bool,
}

/// What an ACK was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acked {
    /// It acknowledged something new.
    pub advanced: bool,
    /// It repeats the last one (RFC 5681 §2).
    pub duplicate: bool,
    /// It is older than another that came before it.
    pub old: bool,
    /// It begins with a block of data received twice (RFC 2883 §4).
    pub dsack: bool,
}

/// An ACK, as it comes.
#[derive(Clone, Copy, Debug)]
pub struct Heard<'a> {
    /// Its number.
    pub ack: Seq,
    /// The announced window, not scaled.
    pub window: u16,
    /// It has no data and no SYN, FIN or RST.
    pub bare: bool,
    /// It has ECE, where that has RFC 3168's meaning.
    pub echo: bool,
    /// All its options, not read.
    pub options: &'a [u8],
    /// What SACK reports.
    pub blocks: &'a [SackBlock],
    /// When it comes.
    pub time: u64,
}

/// Numbers of a stream.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Retransmissions by cause, in the order of [`Cause`].
    pub causes: [u64; 5],
    /// Expiries of the timer that a retransmission shows.
    pub timeouts: u64,
    /// Recoveries begun by duplicate ACKs or SACK.
    pub recoveries: u64,
    /// Retransmissions of data already acknowledged.
    pub needless: u64,
    /// Reports of data received twice (RFC 2883).
    pub dsacks: u64,
    /// Bytes that ACKs tell of and the capture does not have.
    pub missing_bytes: u64,
    /// Segments whose ACK says nothing of the round trip: sent again, or behind one that was.
    pub ambiguous: u64,
}

/// One direction's data.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// Numbers.
    pub counts: Counts,
    /// Round-trip times from here to the peer and back, each of a segment sent once.
    pub rtt: Distribution,
    /// The latest of them.
    last_rtt: u64,
    begun: bool,
    next: u64,
    una: u64,
    base: u32,
    segments: VecDeque<Sent>,
    holes: Ranges,
    sacked: Ranges,
    duplicates: u32,
    window: Option<u16>,
    mode: Mode,
    /// Where the recovery or the timeout ends.
    point: u64,
    /// Up to where a timeout has, or will have, all sent again in order.
    stepped_back: u64,
    /// Of what has arrived, what was sent last.
    arrivals: Arrivals,
    /// How a sender with RACK would see it, from the first trouble on.
    rack: Option<Box<Rack>>,
    /// What told of RACK where that reading was given up; nothing before it began.
    no_rack: Option<Evidence>,
    /// The clock of its timestamps, where that was looked at: in the handshake, and in what is sent again.
    clock: Option<Ticks>,
    /// The latest transmission of anything acknowledged.
    latest_acked: u64,
    /// When the last ACK came.
    ack_time: Option<u64>,
    /// Whether both ends agreed on SACK.
    pub has_sack: bool,
    /// How long this end takes to answer, as the handshake shows it; `None` if it was not seen.
    pub answer: Option<u64>,
}

impl Stream {
    /// Whether anything is known of its numbers.
    pub fn begun(&self) -> bool {
        self.begun
    }
    /// Offset behind the last byte sent.
    pub fn next(&self) -> u64 {
        self.next
    }
    /// Offset of the first byte not acknowledged.
    pub fn una(&self) -> u64 {
        self.una
    }
    /// Offset up to which everything came by here.
    pub fn in_order(&self) -> u64 {
        self.holes.bottom().unwrap_or(self.next)
    }
    /// Segments kept in memory.
    pub fn remembered(&self) -> usize {
        self.segments.len()
    }
    /// Bytes on the heap.
    pub(crate) fn heap(&self) -> usize {
        let lists = self.holes.heap() + self.sacked.heap() + self.rtt.heap();
        self.segments.capacity() * size_of::<Sent>() + lists + self.rack.as_ref().map_or(0, |rack| rack.heap())
    }
    /// When the last ACK came.
    pub fn ack_time(&self) -> Option<u64> {
        self.ack_time
    }
    /// Whether duplicate ACKs let out more than the window (RFC 3042, RFC 5681 §3.2).
    pub fn is_inflated(&self) -> bool {
        self.duplicates > 0
    }
    /// Bytes outstanding.
    #[inline]
    pub fn flight(&self) -> u64 {
        self.next.saturating_sub(self.una)
    }
    /// The latest round-trip time, in nanoseconds.
    pub fn last_rtt(&self) -> u64 {
        self.last_rtt
    }
    /// Bytes between the first seen and an offset; of the SYN if there was one.
    pub fn relative(&self, offset: u64) -> i64 {
        offset.wrapping_sub(ORIGIN) as i64
    }
    /// The offset of a sequence number: that nearest to what was sent last.
    #[inline]
    pub fn offset(&self, seq: Seq) -> u64 {
        let next = self.base.wrapping_add(self.next as u32);
        self.next.wrapping_add_signed(i64::from(seq.0.wrapping_sub(next) as i32))
    }

    #[inline(never)]
    fn begin(&mut self, seq: Seq) {
        self.begun = true;
        // ORIGIN is a multiple of 2^32: the low bits of an offset are the distance from `base`.
        self.base = seq.0;
        self.next = ORIGIN;
        self.una = ORIGIN;
    }

    /// A segment of `len` bytes of sequence space is sent at `time`, with `options` that are not read yet.
    #[inline]
    pub fn send(&mut self, seq: Seq, len: u32, time: u64, role: Role, options: &[u8]) -> Sending {
        if !self.begun {
            self.begin(seq);
        }
        let start = self.offset(seq);
        let end = start + u64::from(len);
        if start >= self.next {
            if start > self.next {
                self.holes.insert(self.next, start);
            }
            if self.rack.is_some() || (self.has_sack && self.una < self.next && !self.answers_an_ack(time)) {
                self.watch_new(start, end, time, options);
            }
            self.push(start, end, time);
            self.next = end;
            let (gap, probe) = (!self.holes.is_empty(), role == Role::Probe);
            return Sending { fresh: u64::from(len), gap, probe, ..Sending::default() };
        }
        self.send_known(start, end, time, role, options)
    }

    fn push(&mut self, start: u64, end: u64, time: u64) {
        if self.segments.len() >= MOST_SEGMENTS {
            self.segments.pop_front();
            self.give_up_rack();
        }
        self.segments.push_back(Sent { start, end, time, ..Sent::default() });
    }

    /// Something of which at least the first byte lies below what was sent.
    #[inline(never)]
    fn send_known(&mut self, start: u64, end: u64, time: u64, role: Role, options: &[u8]) -> Sending {
        let beyond = end.saturating_sub(self.next);
        let filled = self.holes.remove(start, end);
        let fresh = beyond + filled;
        let seen = end - start - fresh;
        let mut sending = Sending { fresh, late: filled > 0, probe: role == Role::Probe, ..Sending::default() };
        if seen > 0 && role != Role::Probe {
            sending.needless = end <= self.una;
            let (cause, timer) =
                if role == Role::Answer { self.answer_again() } else { self.why(start, end, time, options) };
            self.counts.needless += u64::from(sending.needless);
            (sending.again, sending.timer) = (Some(cause), timer);
        }
        let rescue = sending.again == Some(Cause::Sack) && self.sacked.top().is_some_and(|top| top <= start);
        self.mark_resent(start, end, time, rescue);
        if filled > 0 && seen == 0 && end > self.una {
            let place = self.segments.partition_point(|s| s.start < start);
            self.segments.insert(place, Sent { start, end, time, ..Sent::default() });
        } else if beyond > 0 {
            self.push(self.next, end, time);
        }
        self.next = self.next.max(end);
        sending
    }

    #[cold]
    fn answer_again(&mut self) -> (Cause, bool) {
        let cause = Cause::Partial;
        self.counts.causes[cause as usize] += 1;
        if let Some(rack) = &mut self.rack {
            rack.tally.causes[cause as usize] += 1;
        }
        (cause, false)
    }

    fn mark_resent(&mut self, start: u64, end: u64, time: u64, rescue: bool) {
        let first = self.segments.partition_point(|s| s.end <= start);
        for sent in self.segments.iter_mut().skip(first).take_while(|s| s.start < end) {
            (sent.time, sent.spoilt, sent.resent, sent.rescue) = (time, true, true, rescue);
        }
    }

    /// Why what is sent at `time` is sent again, and whether a timer began it.
    fn why(&mut self, start: u64, end: u64, time: u64, options: &[u8]) -> (Cause, bool) {
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

    /// The same, without RACK.
    fn cause(&mut self, start: u64, end: u64, time: u64) -> (Cause, bool) {
        let resent = self.was_resent(start);
        if self.answers_an_ack(time) {
            // Lost again after a timeout, and told by three duplicates; with SACK that is no reason (RFC 6675 §5.1).
            let anew = start == self.una && self.duplicates == DUPLICATES && self.sacked.is_empty();
            // By a partial ACK, while the timeout before this recovery goes on sending all again (NewReno).
            let in_between = start == self.una && self.duplicates == 0 && start < self.stepped_back;
            match self.mode {
                Mode::Timeout if start < self.point && !(resent && anew) => {
                    return (Cause::Timeout, self.time_out(start, resent));
                }
                Mode::Fast if resent && !in_between => return (Cause::Timeout, self.time_out(start, resent)),
                // In the turn of the timeout before, which a fast retransmit does not end (Reno).
                Mode::Fast if start > self.una && start < self.stepped_back => return (Cause::Timeout, false),
                // Also what was sent during the recovery and lost (RFC 6675 §4, NextSeg).
                Mode::Fast if !self.sacked.is_empty() => return (Cause::Sack, false),
                // A recovery that ended with a partial ACK begins anew with three duplicates (Reno).
                Mode::Fast if self.duplicates < DUPLICATES => return (Cause::Partial, false),
                _ if self.tells_of_a_loss() => {
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

    /// Whether the last ACK may have begun a fast retransmit.
    fn tells_of_a_loss(&self) -> bool {
        // Fewer duplicates are enough where no more can come (RFC 5827 §3.1), more where packets are known to overtake.
        let few = DUPLICATES.min(self.segments.len().saturating_sub(1).max(1) as u32);
        match self.answer {
            // A simulated end: that its timer fires in the instant of an ACK is more likely than either. RFC 6675 §4, IsLost:
            // three segments above the hole.
            Some(0) => self.duplicates == DUPLICATES || self.sacked_beyond(DUPLICATES),
            _ => self.duplicates >= few || !self.sacked.is_empty(),
        }
    }

    /// Whether SACK tells of what lies more than `segments` behind the first byte not acknowledged.
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

    /// Whether the timer has fired: once for all that is then sent again, unless its first segment comes `anew`: a second
    /// time, or out of the silence.
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

    /// Whether a recovery has had its turn at the segment. A rescue retransmission leaves HighRxt where it is: once SACK
    /// reports what lies above, the segment is a hole like others (RFC 6675 §4, NextSeg rules 1 and 4).
    fn was_resent(&self, start: u64) -> bool {
        let place = self.segments.partition_point(|s| s.end <= start);
        let is_hole = |sent: &Sent| self.sacked.top().is_some_and(|top| top > sent.end);
        self.segments.get(place).is_some_and(|s| s.resent && !(s.rescue && is_hole(s)))
    }

    /// Whether this comes as fast behind an ACK as this end answers.
    pub fn answers_an_ack(&self, time: u64) -> bool {
        self.ack_time.is_some_and(|came| self.is_answer(came, time))
    }

    /// Whether what is sent at `time` may answer what `came` then: within half of the least timeout, or twice the time that
    /// this end needed in the handshake. An end in virtual time, seen at its own interface, answers in no time.
    pub fn is_answer(&self, came: u64, time: u64) -> bool {
        let limit = match self.answer {
            Some(0) => 0,
            Some(answer) => QUIET.max(answer.saturating_mul(2)),
            None => QUIET,
        };
        time.saturating_sub(came) <= limit
    }

    /// Whether `start` was sent so recently that no timer can have fired: a probe waits two round trips
    /// (RFC 8985 §7.2) and needs SACK (§4), the least timeout of RFC 6298 §2.4 is a second and that of Linux 200 ms.
    fn is_early(&self, start: u64, time: u64) -> bool {
        let place = self.segments.partition_point(|s| s.end <= start);
        let sent = self.segments.get(place).map_or(0, |s| s.time);
        // A timeout begins with the first segment outstanding.
        self.has_sack && (start > self.una || time.saturating_sub(sent) < 200_000_000)
    }

    /// An ACK comes.
    #[inline]
    pub fn acknowledge(&mut self, heard: &Heard<'_>) -> Acked {
        let Heard { ack, window, bare, blocks, time, .. } = *heard;
        if !self.begun {
            self.begin(ack);
        }
        let same_window = self.window.replace(window) == Some(window);
        let offset = self.offset(ack);
        let mut acked = Acked::default();
        let watched = self.has_sack
            && offset >= self.una
            && (self.rack.is_some() || !blocks.is_empty() || heard.echo)
            && self.watch_ack(heard, offset, same_window);
        self.ack_time = Some(time);
        if offset > self.una {
            acked.advanced = true;
            self.advance(offset, ack, time);
        } else if offset < self.una {
            acked.old = true;
        } else if bare && self.next > self.una && (same_window || !blocks.is_empty()) {
            acked.duplicate = true;
            self.duplicates += 1;
        }
        if !blocks.is_empty() {
            acked.dsack = self.take_blocks(blocks);
        }
        if watched {
            self.with_rack(time, Rack::heard);
        }
        acked
    }

    #[inline]
    fn advance(&mut self, offset: u64, ack: Seq, time: u64) {
        if offset > self.next {
            self.jump(offset, ack);
        }
        let mut newest = self.latest_acked;
        let mut last = None;
        while let Some(sent) = self.segments.front_mut().filter(|s| s.start < offset) {
            if sent.end > offset {
                sent.spoilt = true;
                newest = newest.max(sent.time);
                break;
            }
            let sent = *sent;
            self.segments.pop_front();
            if let Some(rack) = &mut self.rack {
                rack.acknowledged(&sent, &mut self.arrivals, time);
            } else {
                last = Some(sent);
            }
            // Of those an ACK covers, the one it ends with tells the round trip, unless anything before was sent later.
            if sent.end == offset {
                if sent.spoilt || newest > sent.time {
                    self.counts.ambiguous += 1;
                } else {
                    self.sample(time.saturating_sub(sent.time));
                }
            }
            newest = newest.max(sent.time);
        }
        if let Some(sent) = last.filter(|sent| !sent.spoilt) {
            self.arrivals.note(sent.time, sent.end, false, time);
            self.arrivals.least(time.saturating_sub(sent.time));
        }
        self.latest_acked = newest;
        self.una = offset;
        self.duplicates = 0;
        self.sacked.trim_below(offset);
        self.holes.trim_below(offset);
        if self.mode != Mode::Open && offset >= self.point {
            self.mode = Mode::Open;
        }
    }

    /// An ACK of what the capture does not have.
    #[cold]
    fn jump(&mut self, offset: u64, ack: Seq) {
        self.counts.missing_bytes += offset - self.next;
        self.base = ack.0.wrapping_sub(offset as u32);
        self.next = offset;
    }

    fn sample(&mut self, rtt: u64) {
        self.last_rtt = rtt;
        self.rtt.add(rtt);
    }

    /// Takes in SACK blocks; whether the first reports data received twice.
    #[inline(never)]
    fn take_blocks(&mut self, blocks: &[SackBlock]) -> bool {
        let ends: [Option<(u64, u64)>; 4] =
            std::array::from_fn(|i| blocks.get(i).map(|b| (self.offset(b.start), self.offset(b.end))));
        // RFC 2883 §4: below the ACK, or inside the second block.
        let dsack = ends[0].is_some_and(|(start, end)| {
            end <= self.una || ends[1].is_some_and(|(low, high)| low <= start && end <= high)
        });
        self.counts.dsacks += u64::from(dsack);
        for (start, end) in ends.into_iter().flatten() {
            if start >= self.una && end <= self.next {
                self.sacked.insert(start, end);
            }
        }
        dsack
    }

    // ---- the reading by RACK ----

    /// What tells of RACK, and what tells against it.
    pub(crate) fn evidence(&self) -> Evidence {
        self.no_rack.or(self.rack.as_ref().map(|rack| rack.evidence)).unwrap_or_default()
    }

    /// Whether there is or was one.
    pub(crate) fn has_second_reading(&self) -> bool {
        self.rack.is_some() || self.no_rack.is_some()
    }

    /// A timestamp that this end sends.
    pub(crate) fn note_stamp(&mut self, time: u64, stamp: u32) {
        match &mut self.clock {
            Some(clock) => clock.note(time, stamp),
            None => self.clock = Some(Ticks::new(time, stamp)),
        }
    }

    /// One more round trip.
    pub(crate) fn least_round_trip(&mut self, time: u64) {
        self.arrivals.least(time);
    }

    /// Takes the reading by RACK for the right one; returns the reductions by ECN that it has.
    pub(crate) fn settle_for_rack(&mut self) -> Option<u64> {
        let Tally { causes, timeouts, recoveries, reductions } = self.rack.as_ref()?.tally;
        let counts = &mut self.counts;
        (counts.causes, counts.timeouts, counts.recoveries) = (causes, timeouts, recoveries);
        Some(reductions)
    }

    /// Begins the reading by RACK, unless that was given up; whether there is one.
    fn watch(&mut self) -> bool {
        // Nothing but the SYN goes before the handshake.
        if self.no_rack.is_some() || !self.has_sack || self.una == ORIGIN {
            return false;
        }
        if self.rack.is_none() {
            let Counts { causes, timeouts, recoveries, .. } = self.counts;
            let tally = Tally { causes, timeouts, recoveries, reductions: 0 };
            self.rack = Some(Rack::begin(&self.segments, tally));
        }
        true
    }

    fn give_up_rack(&mut self) {
        self.no_rack = Some(self.evidence());
        self.rack = None;
    }

    fn with_rack<T>(&mut self, time: u64, f: impl FnOnce(&mut Rack, &mut View) -> T) -> Option<T> {
        let rack = self.rack.as_mut()?;
        let (segments, arrivals) = (&mut self.segments, &mut self.arrivals);
        Some(f(rack, &mut View { segments, arrivals, una: self.una, next: self.next, time, clock: self.clock }))
    }

    /// Whether what is sent at `time` was sent by a timer: nothing has come or gone for two round trips.
    fn is_quiet(&self, time: u64) -> bool {
        let last = self.ack_time.max(self.segments.back().map(|s| s.time)).unwrap_or(time);
        let wait = if self.answer == Some(0) { 1 } else { self.last_rtt.saturating_mul(2) };
        time.saturating_sub(last) >= wait
    }

    /// New data, behind all that was sent.
    #[inline(never)]
    fn watch_new(&mut self, start: u64, end: u64, time: u64, options: &[u8]) {
        let quiet = self.una < self.next && self.is_quiet(time);
        if (self.rack.is_none() && !quiet) || !self.watch() {
            return;
        }
        if self.rack.as_ref().is_some_and(|rack| rack.waits_for_stamp(time)) {
            let stamps = TcpOptions::parse(options).timestamps;
            stamps.into_iter().for_each(|own| self.note_stamp(time, own.value));
        }
        let first = self.segments.is_empty();
        self.with_rack(time, |rack, view| rack.send(view, (start, end), quiet, first));
    }

    /// An ACK of `offset`, before anything is made of it; whether there is a reading by RACK.
    #[inline(never)]
    fn watch_ack(&mut self, heard: &Heard<'_>, offset: u64, same_window: bool) -> bool {
        if !self.watch() {
            return false;
        }
        let duplicate = heard.bare && same_window;
        let echoed = TcpOptions::parse(heard.options).timestamps.map(|stamps| stamps.echo);
        let mut ends: [(u64, u64); 4] =
            std::array::from_fn(|i| heard.blocks.get(i).map_or((0, 0), |b| (self.offset(b.start), self.offset(b.end))));
        ends.sort_unstable();
        self.with_rack(heard.time, |rack, view| {
            rack.hear(view, offset, duplicate, heard.echo, echoed);
            ends.into_iter().for_each(|(start, end)| rack.report(view, start, end));
        });
        true
    }
}
