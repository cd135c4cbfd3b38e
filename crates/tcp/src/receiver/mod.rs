//! The receiving half of a connection: reassembly, ACK timing and SACK blocks.

mod announced;
mod compression;
mod growth;
mod held;
mod linux20;
mod linux7;
mod quickack;
mod reader;
mod reading;

use ecnlab_base::{Dur, Time};
use ecnlab_wire::{Flags, SackBlock, SackBlocks, Segment, Seq};

use crate::config::{Config, DelayedAck};
use crate::rto::Rto;
use crate::wheel;

use announced::Linux7Window;
use compression::{BLOCKS_EXPECTED, Compression};
pub(crate) use growth::Echo;
use held::Held;
use linux20::Spacing;
use quickack::{Brought, QuickAck};
use reader::Reader;

/// When to send the ACK for a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AckDue {
    /// No ACK is needed.
    No,
    /// At once.
    Now,
    /// At the receiver's deadline.
    Delayed,
}

/// Result of processing a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// When to acknowledge the segment.
    pub ack: AckDue,
    /// Payload bytes received before.
    pub duplicate: u64,
}

/// The receiving half of a connection. Offsets count the peer's stream: its SYN is 0, its data starts at 1.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    /// Next offset expected.
    pub next: u64,
    /// When a delayed ACK is due; [`Time::NEVER`] if none is.
    pub deadline: Time,
    irs: Seq,
    /// In-order segments since the last ACK.
    unacked: u32,
    /// Offset that the last ACK acknowledged (Last.ACK.sent, RFC 7323 §4.3).
    last_ack_sent: u64,
    /// TS.Recent (RFC 7323 §4.3).
    pub ts_recent: u32,
    /// Window scale shift of the announced windows.
    pub shift: u8,
    /// Both endpoints use window scaling.
    pub shift_agreed: bool,
    buffer: u64,
    /// Advertised MSS of this endpoint, in bytes.
    mss: u64,
    held: Held,
    /// Range received again since the last ACK, for D-SACK.
    duplicate: Option<(u64, u64)>,
    /// Offset of the peer's FIN, once received.
    fin: Option<u64>,
    /// This end has closed.
    closed: bool,
    spacing: Spacing,
    quick_ack: QuickAck,
    /// The window announced follows Linux 7 or a reader; otherwise the whole buffer always is.
    tracked: bool,
    /// The window announced, if it follows Linux 7.
    grown: Option<Box<Linux7Window>>,
    /// An application that reads late; `None` if it reads at once.
    reader: Option<Box<Reader>>,
    compression: Compression,
}

impl Receiver {
    pub fn new(config: &Config) -> Receiver {
        let grown = Linux7Window::new(config);
        let mut held = Held::default();
        if let Some(grown) = &grown {
            held.set_share(grown.growth.share());
        }
        Receiver {
            next: 0,
            deadline: Time::NEVER,
            irs: Seq(0),
            unacked: 0,
            last_ack_sent: 0,
            ts_recent: 0,
            shift: 0,
            shift_agreed: false,
            buffer: config.receive_buffer.0,
            mss: config.mss.0,
            held,
            duplicate: None,
            fin: None,
            closed: false,
            spacing: Spacing::default(),
            quick_ack: QuickAck::new(config),
            tracked: grown.is_some(),
            grown,
            reader: None,
            compression: Compression::default(),
        }
    }

    /// Initializes the receiver with the sequence number of the peer's SYN.
    pub fn start(&mut self, irs: Seq) {
        self.irs = irs;
        self.next = 1;
    }

    /// Whether `seq` is that of the peer's SYN.
    pub fn is_first(&self, seq: Seq) -> bool {
        seq == self.irs
    }

    /// The acknowledgement number to send.
    pub fn ack(&self) -> Seq {
        self.irs + self.next as u32
    }

    /// The window field to send. While the application reads at once, the whole buffer is free.
    #[inline]
    pub fn window(&mut self, syn: bool) -> u16 {
        // RFC 7323 §2.2: the window of a SYN is never scaled.
        let shift = if syn { 0 } else { self.shift };
        let window = if self.tracked { self.tracked_window(syn, shift) } else { self.buffer };
        (window >> shift).min(65_535) as u16
    }

    /// The window of a receiver that does not always announce the whole buffer, in bytes.
    fn tracked_window(&mut self, syn: bool, shift: u8) -> u64 {
        if self.grown.is_some() { self.window_linux7(syn) } else { self.window_of_reader(syn, shift) }
    }

    /// The shift needed to announce the whole buffer (RFC 7323 §2.3).
    pub fn wanted_shift(&self) -> u8 {
        match &self.grown {
            Some(grown) => grown.growth.shift(),
            None => (0..14).find(|shift| self.buffer >> shift <= 65_535).unwrap_or(14),
        }
    }

    /// Right edge of the window: the first offset that is not accepted.
    #[inline]
    fn edge(&self) -> u64 {
        if self.tracked { self.tracked_edge() } else { self.next + self.buffer }
    }

    fn tracked_edge(&self) -> u64 {
        self.grown.as_ref().map_or_else(|| self.edge_of_reader(), |grown| grown.edge.max(self.next))
    }

    /// Bytes of the peer's data received in order.
    pub fn delivered(&self) -> u64 {
        let fin = u64::from(self.has_fin());
        self.next.saturating_sub(1 + fin)
    }

    /// Called when the application of this end closes.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether all data of the peer was received, its FIN included.
    pub fn has_fin(&self) -> bool {
        self.fin.is_some_and(|fin| self.next > fin)
    }

    /// Whether an ACK is delayed.
    pub fn delays_ack(&self) -> bool {
        self.deadline != Time::NEVER
    }

    /// Sets whether both endpoints permit SACK.
    pub fn permit_sack(&mut self, permitted: bool) {
        self.compression.sack = permitted;
    }

    /// Whether a delayed duplicate ACK is sent before `segment` is processed: the segment neither overlaps nor touches
    /// the blocks that fit into the next ACK (tcp_sack_new_ofo_skb).
    pub fn flushes_sack(&self, segment: &Segment) -> bool {
        let start = self.offset(segment.seq);
        if !self.compression.waits() || start <= self.next as i64 || segment.len == 0 {
            return false;
        }
        let (start, end) = (start as u64, start as u64 + u64::from(segment.len));
        let (mut blocks, mut touched) = (0, false);
        self.held.most_recent(BLOCKS_EXPECTED, |block| {
            blocks += 1;
            touched |= start <= block.end && block.start <= end;
        });
        blocks == BLOCKS_EXPECTED && !touched
    }

    /// Whether an ACK carries SACK blocks.
    pub fn has_blocks(&self) -> bool {
        self.has_gap() || self.duplicate.is_some()
    }

    /// Whether out-of-order data is held.
    pub fn has_gap(&self) -> bool {
        !self.held.is_empty()
    }

    /// The offset of `seq`, which may lie before the stream's start.
    fn offset(&self, seq: Seq) -> i64 {
        self.next as i64 + i64::from((seq - self.ack()) as i32)
    }

    /// RFC 7323 §5.3 R1: whether the segment is an old duplicate by its timestamp. A reordered ACK without data is
    /// harmless and passes; a response to it would be an ACK of an ACK.
    pub fn fails_paws(&self, segment: &Segment) -> bool {
        segment.seq_len() > 0 && segment.timestamps.is_some_and(|ts| self.is_older(ts.value))
    }

    /// Whether a timestamp is older than TS.Recent.
    fn is_older(&self, value: u32) -> bool {
        (value.wrapping_sub(self.ts_recent) as i32) < 0
    }

    /// RFC 7323 §4.3 (2): stores the timestamp if it is not older than TS.Recent and its segment covers the last ACK
    /// sent (Linux: tcp_replace_ts_recent).
    pub fn note_timestamp(&mut self, segment: &Segment) {
        if let Some(ts) = segment.timestamps
            && !self.is_older(ts.value)
            && self.offset(segment.seq) <= self.last_ack_sent as i64
        {
            self.ts_recent = ts.value;
        }
    }

    /// Whether the segment lies in the window (RFC 9293 §3.10.7.4, first check).
    #[inline(always)]
    pub fn acceptable(&self, segment: &Segment) -> bool {
        // The common case: the next byte expected, and a window that is never closed.
        (segment.seq == self.ack() && !self.tracked && self.buffer > 0) || self.meets_window(segment)
    }

    /// [`Receiver::acceptable`] in general.
    #[inline(never)]
    fn meets_window(&self, segment: &Segment) -> bool {
        let start = self.offset(segment.seq);
        let end = start + i64::from(segment.seq_len());
        let next = self.next as i64;
        let edge = self.edge() as i64;
        if segment.seq_len() == 0 { (next..=edge).contains(&start) } else { start < edge && end > next }
    }

    /// Whether a segment without new data ends at or above the last ACK sent.
    pub fn reaches_last_ack(&self, segment: &Segment) -> bool {
        let end = self.offset(segment.seq) + i64::from(segment.seq_len());
        (self.last_ack_sent as i64..=self.next as i64).contains(&end)
    }

    /// Processes the payload and FIN of an acceptable segment.
    #[inline(always)]
    pub fn take(&mut self, segment: &Segment, config: &Config, rto: &Rto, now: Time) -> Arrival {
        let before = self.next;
        let had_gap = self.has_gap();
        let held = if had_gap { self.held_linux7() } else { 0 };
        let len = u64::from(segment.len);
        let expected = segment.seq == self.ack() && !had_gap && !segment.flags.contains(Flags::FIN);
        let new = if expected && before + len <= self.edge() {
            self.next += len;
            len
        } else {
            self.note_duplicate(segment, config);
            self.take_trimmed(segment)
        };
        if self.fin == Some(self.next) {
            self.next += 1;
        }
        let arrival = |ack| Arrival { ack, duplicate: u64::from(segment.len).saturating_sub(new) };
        if segment.seq_len() == 0 {
            return Arrival { duplicate: 0, ..arrival(AckDue::No) };
        }
        // RFC 5681 §4.2: an immediate ACK for a segment out of order, for one that fills all or part of a gap, and for
        // a duplicate, so that the sender detects losses and their repair.
        if self.next == before || had_gap || new == 0 || segment.flags.contains(Flags::FIN) {
            let early = if self.next == before { Brought::Early } else { Brought::InOrder };
            let brought = if new == 0 { Brought::Nothing } else { early };
            let opened = self.opens_linux7(segment, brought, held, now);
            let waits = self.compresses_linux7(segment, brought, opened, config, rto, now)
                || (self.next > before && !had_gap && self.defers_fin_linux7(config, rto, now));
            return arrival(if waits { AckDue::Delayed } else { AckDue::Now });
        }
        self.unacked += 1;
        let opened = self.opens_linux7(segment, Brought::InOrder, 0, now);
        let delay = self.delay(segment, opened, config, rto, now);
        if self.acks_by_count(config) || delay.is_zero() {
            return arrival(AckDue::Now);
        }
        if self.reader.is_some() && self.is_nearly_due(delay, config, now) {
            return arrival(AckDue::Now);
        }
        // A deadline already set changes only to an earlier time.
        self.deadline = self.deadline.min(wheel::due(config.timer_wheel, now, delay));
        arrival(AckDue::Delayed)
    }

    /// Whether the segments that wait for an ACK are enough for one.
    #[inline(always)]
    fn acks_by_count(&self, config: &Config) -> bool {
        self.unacked >= config.ack_every && (self.reader.is_none() || self.acks_unread(config))
    }

    /// RFC 2883 §4: records the first contiguous range of `segment` that was received before.
    fn note_duplicate(&mut self, segment: &Segment, config: &Config) {
        let first = self.offset(segment.seq);
        if !config.dsack || first < 1 {
            return;
        }
        let (start, end) = (first as u64, first as u64 + u64::from(segment.len));
        let below = (start < self.next).then_some((start, end.min(self.next)));
        let held = || self.held.overlapping(start, end);
        let again = below.or_else(|| held().map(|r| (r.start.max(start), r.end.min(end))));
        self.duplicate = again.filter(|(start, end)| start < end);
    }

    /// Stores the payload and FIN within the window. Returns the number of new bytes.
    #[inline(never)]
    fn take_trimmed(&mut self, segment: &Segment) -> u64 {
        let first = self.offset(segment.seq);
        let edge = self.edge();
        let data_end = (first + i64::from(segment.len)).clamp(0, edge as i64) as u64;
        let start = first.max(self.next as i64) as u64;
        let whole = data_end as i64 == first + i64::from(segment.len);
        if segment.flags.contains(Flags::FIN) && whole && self.fin.is_none() {
            self.fin = Some(data_end.max(start));
        }
        if start == self.next && !self.has_gap() {
            self.next = data_end.max(self.next);
            return data_end.saturating_sub(start);
        }
        // The FIN takes a sequence number, which SACK reports, too (RFC 2018 §3).
        let fin = u64::from(self.fin == Some(data_end) && segment.flags.contains(Flags::FIN));
        let new = self.held.insert(start, data_end + fin).saturating_sub(fin);
        if let Some(end) = self.held.take_at(self.next) {
            self.next = end;
        }
        new
    }

    #[inline]
    fn delay(&mut self, segment: &Segment, opened: bool, config: &Config, rto: &Rto, now: Time) -> Dur {
        let longest = if segment.flags.contains(Flags::PSH) { config.ack_delay_push } else { config.ack_delay };
        match config.delayed_ack {
            DelayedAck::Fixed => longest,
            DelayedAck::Linux7 => {
                if self.reader.is_some() {
                    self.check_unread();
                }
                self.quick_ack.on_data(segment, Brought::InOrder, opened, config, rto, now)
            }
            DelayedAck::Linux20 => self.spacing.on_data(config, rto, now).min(longest),
        }
    }

    /// Payload bytes of `segment` that were received in order before.
    pub fn received_before(&self, segment: &Segment) -> u64 {
        let start = self.offset(segment.seq);
        (self.next as i64 - start).clamp(0, segment.len.into()) as u64
    }

    /// Processes a segment outside the window.
    pub fn refused(&mut self, segment: &Segment, config: &Config) {
        self.note_duplicate(segment, config);
        self.duplicate_linux7(segment, config);
    }

    /// Called when a data segment carries the ACK.
    pub fn carried(&mut self, config: &Config, now: Time) {
        self.data_sent_linux7(config, now);
        self.acknowledged();
    }

    /// Called when an ACK is sent, alone or on data.
    pub fn acknowledged(&mut self) {
        self.unacked = 0;
        self.duplicate = None;
        self.quick_ack.acknowledged();
        self.compression.acknowledged();
        self.deadline = Time::NEVER;
        self.last_ack_sent = self.next;
    }

    /// The range just received again (RFC 2883 §4), then the ranges held out of order, most recently changed first
    /// (RFC 2018 §4).
    pub fn sack_blocks(&self) -> SackBlocks {
        let mut blocks = SackBlocks::NONE;
        let block = |start: u64, end: u64| SackBlock { start: self.irs + start as u32, end: self.irs + end as u32 };
        if let Some((start, end)) = self.duplicate {
            blocks.push(block(start, end));
        }
        self.held.most_recent(ecnlab_wire::MAX_SACK_BLOCKS, |r| blocks.push(block(r.start, r.end)));
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares with the general rule, at every edge of the window.
        #[test]
        fn the_expected_segment_is_acceptable_as_by_the_rule(
            offset in prop_oneof![-2_i32..3, 998_i32..1_003, any::<i32>()],
            len in prop_oneof![0_u32..3, 999_u32..1_002],
            flags in 0_u16..512,
            buffer in prop_oneof![0_u64..3, Just(1_000)],
            reads_late in any::<bool>(),
            profile in prop_oneof![Just("modern"), Just("linux-7")],
        ) {
            let config = &crate::profile(profile).expect("a profile of ours").config;
            let mut rx = Receiver::new(config);
            rx.buffer = buffer;
            rx.start(Seq(u32::MAX));
            if reads_late {
                rx.read_on_request();
            }
            let seq = rx.ack() + offset as u32;
            let segment = Segment { seq, len, flags: Flags::from_bits_truncate(flags), ..Segment::default() };
            prop_assert_eq!(rx.acceptable(&segment), rx.meets_window(&segment));
        }
    }
}
