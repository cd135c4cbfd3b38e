//! The receiver as in Linux 7: with `delayed_ack = "linux-7"` the differences that Linux's delayed ACKs
//! ([`super::quickack`]) and SACK compression ([`super::compression`]) make to a receiver with a fixed delay, with
//! `receive_window = "linux-7"` the window announced ([`super::growth`]).

use ecnlab_base::{Dur, Time};
use ecnlab_wire::Segment;

use super::Receiver;
use super::announced::Linux7Window;
use super::growth::{Echo, OVERHEAD, Taken};
use super::quickack::Brought;
use crate::config::{Config, DelayedAck, ReceiveWindow};
use crate::facts::QuickAcks;
use crate::rto::Rto;
use crate::wheel;

impl DelayedAck {
    fn is_linux7(self) -> bool {
        self == DelayedAck::Linux7
    }

    /// Whether CWR clears marks whose ACK is delayed (tcp_ecn_accept_cwr).
    pub fn cwr_clears_delayed_marks(self) -> bool {
        self.is_linux7()
    }
}

impl Config {
    /// Whether the receiver processes the header of each data segment before the data ([`Receiver::note_header`]), and
    /// what the application reads ([`Receiver::note_read`]).
    pub(crate) fn reads_headers(&self) -> bool {
        self.delayed_ack.is_linux7() || self.receive_window.is_linux7()
    }
}

impl ReceiveWindow {
    fn is_linux7(self) -> bool {
        self == ReceiveWindow::Linux7
    }
}

impl Receiver {
    /// Sets whether each segment has timestamps, once the peer's SYN has come.
    pub fn permit_timestamps(&mut self, permitted: bool, config: &Config) {
        if let Some(grown) = &mut self.grown {
            grown.growth.with_timestamps(permitted, config);
        }
    }

    /// Called when the connection is established, with ECN feedback for which `heeds` states the marks that begin quick ACKs.
    pub fn establish(&mut self, heeds: QuickAcks, now: Time) {
        self.quick_ack.heeds = heeds;
        if let Some(grown) = &mut self.grown {
            grown.growth.establish(grown.announced, now);
            grown.at = None;
        }
    }

    /// tcp_select_window: the window to announce in bytes. The right edge never moves back.
    pub(super) fn window_linux7(&mut self, syn: bool) -> u64 {
        let Some(Linux7Window { growth, announced, edge, at }) = self.grown.as_deref_mut() else { return self.buffer };
        if !syn && *at == Some(self.next) {
            return *announced;
        }
        *at = (!syn).then_some(self.next);
        *announced = if syn {
            growth.first_window()
        } else {
            let unread = self.reader.as_ref().map_or(0, |reader| reader.queue.memory);
            let held = unread + growth.memory(&self.held);
            let (window, scarce) = growth.select(held, self.shift, *announced);
            let current = edge.saturating_sub(self.next);
            let window = if window < current { current.next_multiple_of(1 << self.shift) } else { window };
            self.quick_ack.on_window(window, scarce);
            window
        };
        *edge = self.next.max(1) + *announced;
        *announced
    }

    /// Called before an acceptable segment is processed. `echo` is the timestamp that it echoes, `cwr` whether its
    /// sender has reduced the window.
    pub fn note_header(&mut self, segment: &Segment, echo: Option<Echo>, cwr: bool) {
        if segment.len > 0 {
            self.quick_ack.on_header(cwr);
            if let Some(grown) = &mut self.grown {
                grown.growth.sample(echo, segment.len);
            }
        }
    }

    /// Called after a segment has brought data in order: an application that reads at once has read it.
    #[cold]
    pub fn note_read(&mut self, now: Time) {
        if self.reader.is_some() {
            return self.note_time(now);
        }
        let early = self.early();
        if let Some(grown) = &mut self.grown {
            grown.at = None;
            grown.growth.read(self.next, self.next, early, now);
        }
    }

    /// End of the data held above holes; zero without any.
    fn early(&self) -> u64 {
        self.held.end()
    }

    /// Memory of the data held above holes in bytes.
    pub(super) fn held_linux7(&self) -> u64 {
        self.grown.as_ref().map_or(0, |grown| grown.growth.memory(&self.held))
    }

    /// Opens the window for a segment that was just processed; data above holes took `held` bytes of memory before.
    /// Returns whether it opened.
    #[inline]
    pub(super) fn opens_linux7(&mut self, segment: &Segment, brought: Brought, held: u64, now: Time) -> bool {
        self.grown.is_some() && segment.len > 0 && brought != Brought::Nothing && self.grow(segment, brought, held, now)
    }

    #[inline(never)]
    fn grow(&mut self, segment: &Segment, brought: Brought, held: u64, now: Time) -> bool {
        let (next, early, sack, data_end) = (self.next, self.early(), self.compression.sack, self.data_end());
        let end = (self.offset(segment.seq) + i64::from(segment.len)).clamp(0, next as i64) as u64;
        let Some(Linux7Window { growth, announced, at, .. }) = self.grown.as_deref_mut() else { return false };
        let in_order = brought == Brought::InOrder;
        *at = None;
        if growth.measure(segment.len) {
            self.held.set_share(growth.share());
        }
        let mut held = held;
        if let Some(reader) = &mut self.reader {
            let full = growth.full();
            reader.queue.add(end.min(data_end), full, OVERHEAD);
            let own = if in_order { u64::from(segment.len) + OVERHEAD } else { 0 };
            held += reader.queue.memory.saturating_sub(own);
            reader.queue.add(data_end, full, OVERHEAD);
        }
        if in_order {
            growth.time_window(end, *announced, now);
        }
        let opened = (in_order || sack) && growth.opens(Taken { len: segment.len, in_order, held });
        if !in_order {
            growth.hold(next, early);
        }
        opened
    }

    /// __tcp_select_window with the data that is held.
    fn select_linux7(&self) -> (u64, bool) {
        let (Some(grown), Some(reader)) = (&self.grown, &self.reader) else { return (self.buffer, false) };
        let held = reader.queue.memory + grown.growth.memory(&self.held);
        grown.growth.select(held, self.shift, grown.announced)
    }

    /// Whether more than a full segment waits for its ACK.
    fn owes_ack(&self) -> bool {
        let full = self.grown.as_ref().map_or(self.mss, |grown| grown.growth.full());
        self.next - self.last_ack_sent > full
    }

    /// Computes the window for data in order that the application has not read (__tcp_ack_snd_check): with more than
    /// half of the buffer in use there are no quick ACKs.
    #[cold]
    pub(super) fn check_unread(&mut self) {
        if self.grown.is_some() && self.owes_ack() && self.select_linux7().1 {
            self.quick_ack.note_scarce();
        }
    }

    /// Whether data that the application has not read is acknowledged at once: more than a segment waits, and the window is
    /// not less than the one announced (__tcp_ack_snd_check). Otherwise the read sends the ACK.
    #[cold]
    pub(super) fn acks_unread(&self, config: &Config) -> bool {
        match &self.grown {
            Some(grown) if config.delayed_ack.is_linux7() => {
                self.owes_ack() && self.select_linux7().0 >= grown.announced
            }
            _ => true,
        }
    }

    /// Whether the delayed ACK is due within a quarter of `delay`: then it is sent at once (tcp_send_delayed_ack).
    #[cold]
    pub(super) fn is_nearly_due(&self, delay: Dur, config: &Config, now: Time) -> bool {
        config.delayed_ack.is_linux7() && self.deadline <= now + delay / 4
    }

    /// tcp_recvmsg_locked: the application reads `bytes` bytes, which are there, buffer by buffer. Returns whether an ACK is
    /// due (__tcp_cleanup_rbuf).
    pub(super) fn read_linux7(&mut self, bytes: u64) -> bool {
        let (next, early) = (self.next, self.early());
        let (Some(reader), Some(grown)) = (&mut self.reader, &mut self.grown) else { return false };
        let stop = reader.read + bytes;
        while reader.read < stop {
            let end = reader.queue.first_end().unwrap_or(stop);
            reader.read = stop.min(end);
            grown.growth.read(reader.read, next.max(reader.read), early, reader.stamp);
            if reader.read == end {
                reader.queue.free_first();
            }
        }
        grown.at = None;
        let emptied = reader.queue.memory == 0 && self.held.is_empty();
        let (now, clamp) = (grown.edge.saturating_sub(next), grown.growth.clamp());
        let pushed = emptied && self.quick_ack.is_acknowledged_by_late_read();
        if next > self.last_ack_sent && (self.owes_ack() || pushed) {
            return true;
        }
        if 2 * now > clamp {
            return false;
        }
        // The window opens by much: at least to twice its size.
        let (window, scarce) = self.select_linux7();
        if scarce {
            self.quick_ack.end_quick_acks();
        }
        window > 0 && window >= 2 * now
    }

    /// Processes a segment for which RFC 5681 §4.2 requires an immediate ACK; `opened` states whether it opened the
    /// window. Returns whether SACK compression delays the ACK.
    pub(super) fn compresses_linux7(
        &mut self,
        segment: &Segment,
        brought: Brought,
        opened: bool,
        config: &Config,
        rto: &Rto,
        now: Time,
    ) -> bool {
        if !config.delayed_ack.is_linux7() || segment.len == 0 {
            return false;
        }
        let delayed = !self.quick_ack.on_data(segment, brought, opened, config, rto, now).is_zero();
        if !delayed || brought != Brought::Early {
            return false;
        }
        let Some(delay) = self.compression.on_early(self.next, rto.srtt()) else { return false };
        self.deadline = self.deadline.min(now + delay);
        true
    }

    /// tcp_fin: the ACK of a FIN that is the next in order waits for the application, which will probably close, too. Returns
    /// whether it waits.
    pub(super) fn defers_fin_linux7(&mut self, config: &Config, rto: &Rto, now: Time) -> bool {
        if !config.delayed_ack.is_linux7() || self.closed || !self.has_fin() {
            return false;
        }
        let Some(delay) = self.quick_ack.on_fin(self.next - self.last_ack_sent, config, rto) else { return false };
        self.deadline = self.deadline.min(wheel::due(config.timer_wheel, now, delay));
        true
    }

    /// Processes a segment without new data.
    pub(super) fn duplicate_linux7(&mut self, segment: &Segment, config: &Config) {
        if config.delayed_ack.is_linux7() && segment.len > 0 {
            self.quick_ack.on_duplicate(config);
        }
    }

    /// Called when the delay of an ACK has expired.
    pub fn delay_is_over(&mut self, config: &Config, rto: &Rto) {
        if config.delayed_ack.is_linux7() && !self.compression.waits() {
            self.quick_ack.inflate(config, rto);
        }
    }

    /// Called when this endpoint sends data.
    pub(super) fn data_sent_linux7(&mut self, config: &Config, now: Time) {
        if config.delayed_ack.is_linux7() {
            self.quick_ack.on_data_sent(now);
        }
    }
}
