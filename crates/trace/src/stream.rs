//! Data of one direction: transmissions, acknowledgements, and retransmissions with their causes.

mod causes;
mod model;
mod special;

use std::collections::VecDeque;

use ecnlab_wire::{SackBlock, Seq};

use crate::arrivals::Arrivals;
use crate::outstanding::{Cause, MOST_SEGMENTS, Sent};
use crate::rack::{Evidence, Rack};
use crate::ranges::Ranges;
use crate::stats::Distribution;
use crate::ticks::Ticks;

/// Distance from the known sequence numbers up to which a RST or an ACK is accepted where the receive window is less:
/// packets before it may be missing in the capture.
pub const REACH: u64 = 1 << 20;

/// First offset, so that data below the first captured packet still has a non-negative offset.
const ORIGIN: u64 = 1 << 32;
/// Half of the smallest timeout in use, in nanoseconds: data sent this long after the last ACK was triggered by a
/// timer, not by pacing.
const QUIET: u64 = 100_000_000;
/// The RACK model is dropped if against ≥ 2 · for + `ENOUGH`.
const ENOUGH: u32 = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Open,
    Fast,
    Timeout,
}

/// Special role of a segment besides data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// None.
    Data,
    /// A zero-window probe.
    Probe,
    /// A reply to a repeated SYN.
    Answer,
    /// A keep-alive with a byte.
    KeepAlive,
    /// Data of a SYN, sent again because the SYN-ACK did not acknowledge it.
    SynData,
    /// A SYN captured after later packets of its end, or the SYN of a simultaneous open, sent again with an ACK.
    Syn,
    /// A SYN that a RST has refused.
    Refused,
}

/// Classification of a transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sending {
    /// Bytes, including SYN and FIN, not captured before.
    pub fresh: u64,
    /// Cause, if all or part of the segment was captured before.
    pub again: Option<Cause>,
    /// It was already acknowledged when it was retransmitted.
    pub needless: bool,
    /// It fills a hole: it was reordered, or its first transmission is not in the capture.
    pub late: bool,
    /// It is a zero-window probe.
    pub probe: bool,
    /// It is a keep-alive.
    pub keep_alive: bool,
    /// Its ACK was captured before it.
    pub after_ack: bool,
    /// Data is missing before it.
    pub gap: bool,
    /// A timer started this retransmission.
    pub timer: bool,
}

/// Classification of an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acked {
    /// It acknowledges new data.
    pub advanced: bool,
    /// It is a duplicate ACK (RFC 5681 §2).
    pub duplicate: bool,
    /// It was captured after a newer ACK.
    pub old: bool,
    /// Its first SACK block reports duplicate data (RFC 2883 §4).
    pub dsack: bool,
}

/// An ACK, as captured.
#[derive(Clone, Copy, Debug)]
pub struct CapturedAck<'a> {
    /// Acknowledgement number.
    pub ack: Seq,
    /// Window field, not scaled.
    pub window: u16,
    /// Minimum and maximum window announced by its sender, scaled.
    pub windows: &'a Option<(u64, u64)>,
    /// It has no data and no SYN, FIN or RST.
    pub bare: bool,
    /// It has ECE with RFC 3168's meaning.
    pub echo: bool,
    /// Its option bytes, not parsed.
    pub options: &'a [u8],
    /// Its SACK blocks.
    pub blocks: &'a [SackBlock],
    /// Capture time in nanoseconds.
    pub time: u64,
}

/// Counts of a stream.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Retransmissions by cause, in the order of [`Cause`].
    pub causes: [u64; 5],
    /// Expiries of the retransmission timer, inferred from retransmissions.
    pub timeouts: u64,
    /// Recoveries started by duplicate ACKs or SACK.
    pub recoveries: u64,
    /// Retransmissions of data already acknowledged.
    pub needless: u64,
    /// Reports of duplicate data (RFC 2883).
    pub dsacks: u64,
    /// Bytes acknowledged but missing from the capture.
    pub missing_bytes: u64,
    /// Segments whose ACK gives no RTT sample: retransmitted, or after a retransmitted one.
    pub ambiguous: u64,
}

/// Data of one direction.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// Counts.
    pub counts: Counts,
    /// The last ACK of data that cannot have been sent.
    unacceptable: u64,
    /// Round-trip times from this point to the peer and back, from segments sent only once, in nanoseconds.
    pub rtt: Distribution,
    /// Latest RTT sample.
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
    /// Offset at which the recovery or the timeout ends.
    point: u64,
    /// Offset up to which a timeout retransmits everything in order.
    stepped_back: u64,
    /// Start and time of the newest segment.
    newest: (u64, u64),
    /// End of the byte of a zero-window probe above `next`; 0 if there is none.
    probed: u64,
    /// End of the byte of the last keep-alive, or probe with an old byte: D-SACKs of it report no retransmission.
    stale: u64,
    /// Sequence numbers of a SYN, with its data, below the first ones known.
    below: u64,
    /// Bytes acknowledged before they were captured, and the time of the last such ACK.
    early: Ranges,
    early_time: u64,
    /// End of the data of the SYN, and of the part of it sent again; 0 if there is none.
    syn_data: u64,
    syn_data_again: u64,
    /// The most recently sent transmission that has arrived.
    arrivals: Arrivals,
    /// The RACK model, started at the first loss signal.
    rack: Option<Box<Rack>>,
    /// Evidence at the time when the RACK model was dropped; none before the model starts.
    no_rack: Option<Evidence>,
    /// The clock of its timestamps, if read: in the handshake and on retransmissions.
    clock: Option<Ticks>,
    /// Latest transmission of any acknowledged segment.
    latest_acked: u64,
    /// Time of the last ACK.
    ack_time: Option<u64>,
    /// Both ends agreed on SACK.
    pub has_sack: bool,
    /// Response time of this end in the handshake, in nanoseconds; `None` if not captured.
    pub answer: Option<u64>,
}

impl Stream {
    /// Returns whether a sequence number is known.
    pub fn begun(&self) -> bool {
        self.begun
    }
    /// Offset one past the last byte sent.
    pub fn next(&self) -> u64 {
        self.next
    }
    /// Offset of the first unacknowledged byte.
    pub fn una(&self) -> u64 {
        self.una
    }
    /// Offset up to which the capture has no gap.
    pub fn in_order(&self) -> u64 {
        self.holes.bottom().unwrap_or(self.next)
    }
    /// Number of segments stored.
    pub fn remembered(&self) -> usize {
        self.segments.len()
    }
    /// Bytes allocated on the heap.
    pub(crate) fn heap(&self) -> usize {
        let lists = self.holes.heap() + self.sacked.heap() + self.early.heap() + self.rtt.heap();
        self.segments.capacity() * size_of::<Sent>() + lists + self.rack.as_ref().map_or(0, |rack| rack.heap())
    }
    /// Time of the last ACK.
    pub fn ack_time(&self) -> Option<u64> {
        self.ack_time
    }
    /// Returns whether duplicate ACKs permit data beyond the window (RFC 3042, RFC 5681 §3.2).
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
    /// Bytes from the first captured byte, or from the SYN if captured, to an offset.
    pub fn relative(&self, offset: u64) -> i64 {
        offset.wrapping_sub(ORIGIN) as i64
    }
    /// Returns the offset of a sequence number: the one closest to the data sent last.
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

    /// Processes a segment of `len` bytes of sequence space sent at `time`, with unparsed `options`.
    #[inline]
    pub fn send(&mut self, seq: Seq, len: u32, time: u64, role: Role, options: &[u8]) -> Sending {
        if !self.begun {
            self.begin(seq);
        }
        let start = self.offset(seq);
        let end = start + u64::from(len);
        match role {
            Role::Probe => return self.send_probe(start, end),
            Role::KeepAlive => return self.send_keep_alive(end),
            _ => {}
        }
        if start >= self.next {
            let known = if self.probed > 0 { self.take_probed(start) } else { 0 };
            if start > self.next {
                self.holes.insert(self.next, start);
            }
            if self.rack.is_some() || (self.has_sack && self.una < self.next && !self.answers_an_ack(time)) {
                self.watch_new(start, end, time, options);
            }
            self.push(start, end, time);
            self.next = end;
            return Sending { fresh: u64::from(len) - known, gap: !self.holes.is_empty(), ..Sending::default() };
        }
        self.send_known(start, end, time, role, options)
    }

    fn push(&mut self, start: u64, end: u64, time: u64) {
        if self.segments.len() >= MOST_SEGMENTS {
            self.segments.pop_front();
            self.give_up_rack();
        }
        self.segments.push_back(Sent { start, end, time, ..Sent::default() });
        self.newest = (start, time);
    }

    /// Handles a segment that starts below the data already sent.
    #[inline(never)]
    fn send_known(&mut self, start: u64, end: u64, time: u64, role: Role, options: &[u8]) -> Sending {
        if role == Role::Syn {
            return self.send_late_syn(start, end);
        }
        let beyond = end.saturating_sub(self.next);
        let filled = self.holes.remove(start, end);
        let early = self.take_early(start, end, time);
        let seen = end - start - beyond - filled - early;
        let known = if beyond > 0 { self.take_probed(self.next) } else { 0 };
        let fresh = beyond + filled + early - known;
        let mut sending = Sending { fresh, late: filled > 0, after_ack: early > 0, ..Sending::default() };
        if seen > 0 {
            sending.needless = end <= self.una && role != Role::Refused;
            let (cause, timer) = match role {
                Role::Answer => self.answer_again(),
                Role::SynData => {
                    self.syn_data_again = end;
                    self.answer_again()
                }
                _ => self.why(start, end, time, options),
            };
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

    fn mark_resent(&mut self, start: u64, end: u64, time: u64, rescue: bool) {
        let first = self.segments.partition_point(|s| s.end <= start);
        for sent in self.segments.iter_mut().skip(first).take_while(|s| s.start < end) {
            (sent.time, sent.spoilt, sent.resent, sent.rescue) = (time, true, true, rescue);
        }
    }

    /// Returns whether a packet at `time` follows an ACK within this end's response time.
    pub fn answers_an_ack(&self, time: u64) -> bool {
        self.ack_time.is_some_and(|came| self.is_answer(came, time))
    }

    /// Returns whether a packet at `time` may respond to one captured at `came`: within half of the smallest timeout,
    /// or twice this end's response time in the handshake. An end in virtual time, captured at its own interface,
    /// responds in zero time.
    pub fn is_answer(&self, came: u64, time: u64) -> bool {
        let limit = match self.answer {
            Some(0) => 0,
            Some(answer) => QUIET.max(answer.saturating_mul(2)),
            None => QUIET,
        };
        time.saturating_sub(came) <= limit
    }

    /// Processes an ACK.
    #[inline]
    pub fn acknowledge(&mut self, captured: &CapturedAck<'_>) -> Acked {
        let CapturedAck { ack, window, bare, blocks, time, .. } = *captured;
        if !self.begun {
            self.begin(ack);
        }
        let same_window = self.window.replace(window) == Some(window);
        let offset = self.offset(ack);
        let mut acked = Acked::default();
        let watched = self.has_sack
            && offset >= self.una
            && (self.rack.is_some() || !blocks.is_empty() || captured.echo)
            && self.watch_ack(captured, offset, same_window);
        self.ack_time = Some(time);
        if offset > self.una {
            if offset > self.next && self.is_unacceptable(offset, captured.windows) {
                return acked;
            }
            acked.advanced = true;
            self.advance(offset, time);
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
            self.with_rack(time, Rack::end_ack);
        }
        acked
    }

    #[inline]
    fn advance(&mut self, offset: u64, time: u64) {
        if offset > self.next {
            self.jump(offset, time);
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
            // The segment at whose end the ACK ends gives the RTT sample, unless an earlier segment was sent later.
            if sent.end == offset {
                if sent.spoilt || newest > sent.time {
                    self.counts.ambiguous += 1;
                } else if time >= sent.time {
                    self.sample(time - sent.time);
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
        if !self.holes.is_empty() {
            self.close_holes(offset, time);
        }
        if self.mode != Mode::Open && offset >= self.point {
            self.mode = Mode::Open;
        }
    }

    fn sample(&mut self, rtt: u64) {
        self.last_rtt = rtt;
        self.rtt.add(rtt);
    }

    /// Processes SACK blocks; returns whether the first reports duplicate data.
    #[inline(never)]
    fn take_blocks(&mut self, blocks: &[SackBlock]) -> bool {
        let ends: [Option<(u64, u64)>; 4] =
            std::array::from_fn(|i| blocks.get(i).map(|b| (self.offset(b.start), self.offset(b.end))));
        // RFC 2883 §4: below the ACK, or inside the second block.
        let dsack = ends[0].is_some_and(|(start, end)| {
            end <= self.una || ends[1].is_some_and(|(low, high)| low <= start && end <= high)
        });
        let dsack = dsack && ends[0] != Some((self.stale.wrapping_sub(1), self.stale));
        self.counts.dsacks += u64::from(dsack);
        for (start, end) in ends.into_iter().flatten() {
            if start >= self.una && end <= self.next {
                self.sacked.insert(start, end);
            }
        }
        dsack
    }
}
