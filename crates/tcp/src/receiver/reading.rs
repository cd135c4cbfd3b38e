//! What an application that reads late leaves of the window of a fixed buffer, and the ACKs that its reads send.

use ecnlab_base::Time;

use super::Receiver;
use super::reader::{Queue, Reader};
use crate::config::Config;

impl Receiver {
    /// Makes the application read only by [`Receiver::read`].
    pub fn read_on_request(&mut self) {
        let read = self.next.max(1);
        let queue = Queue::from(read);
        self.reader = Some(Box::new(Reader { read, edge: read + self.buffer, queue, stamp: Time::ZERO }));
        self.tracked = true;
        self.quick_ack.read_late(self.grown.is_some());
    }

    /// Bytes in order that the application has not read.
    pub fn unread(&self) -> u64 {
        self.reader.as_ref().map_or(0, |reader| self.data_end().saturating_sub(reader.read))
    }

    /// Offset of the end of the data in order, without a FIN.
    pub(super) fn data_end(&self) -> u64 {
        self.next - u64::from(self.has_fin())
    }

    /// The application reads up to `bytes` bytes. Returns the bytes read, and whether an ACK is due for them.
    pub fn read(&mut self, bytes: u64, config: &Config) -> (u64, bool) {
        let bytes = bytes.min(self.unread());
        if bytes == 0 {
            return (0, false);
        }
        let due = if self.grown.is_some() {
            self.read_linux7(bytes)
        } else {
            if let Some(reader) = &mut self.reader {
                reader.read += bytes;
            }
            self.opens_by_much(config)
        };
        // A peer that has closed sends no more.
        (bytes, due && !self.has_fin())
    }

    /// Free bytes of a fixed buffer.
    fn free(&self) -> u64 {
        self.buffer.saturating_sub(self.unread())
    }

    /// Whether the window can open by two segments or half of the buffer: then a read sends an ACK (4.4BSD,
    /// tcp_output).
    fn opens_by_much(&self, config: &Config) -> bool {
        let more = (self.next + self.free()).saturating_sub(self.edge());
        more >= 2 * config.mss.0 || 2 * more >= self.buffer
    }

    /// The window to announce of a fixed buffer. Its right edge moves by at least a segment or half of the buffer
    /// (RFC 9293 §3.8.6.2.2), and never back.
    pub(super) fn window_of_reader(&mut self, syn: bool, shift: u8) -> u64 {
        let (free, next) = (self.free(), self.next);
        let least = self.mss.min(self.buffer / 2);
        let buffer = self.buffer;
        let Some(reader) = self.reader.as_deref_mut().filter(|_| !syn) else { return buffer };
        let current = reader.edge.saturating_sub(next);
        if free >= current + least {
            reader.edge = next + (free >> shift << shift).max(current);
        } else {
            // Rounded down, the edge would move back.
            reader.edge = next + current.next_multiple_of(1 << shift);
        }
        reader.edge - next
    }

    /// Right edge of the window of a fixed buffer.
    pub(super) fn edge_of_reader(&self) -> u64 {
        self.reader.as_ref().map_or(self.next + self.buffer, |reader| reader.edge.max(self.next))
    }

    /// Records the time of a segment received or an ACK sent.
    pub fn note_time(&mut self, now: Time) {
        if let Some(reader) = &mut self.reader {
            reader.stamp = now;
        }
    }
}
