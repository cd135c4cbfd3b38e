//! An application that reads at times of its own: the data in order that it has not read, and the window that this
//! leaves of a fixed buffer.

use std::collections::VecDeque;

use ecnlab_base::Time;

use super::Receiver;
use crate::config::Config;

/// Pieces of memory that share one buffer (MAX_SKB_FRAGS). A segment is one piece, or two if it begins in one block of its
/// sender's memory and ends in the next.
const MERGED: u64 = 17;
/// Block of memory into which a sender copies data, in bytes (SKB_FRAG_PAGE_ORDER).
const BLOCK: u64 = 32_768;

/// State of an application that reads late.
#[derive(Clone, Debug, Default)]
pub(super) struct Reader {
    /// Offset up to which the application has read.
    pub read: u64,
    /// Right edge of the window announced, which never moves back.
    edge: u64,
    /// Linux 7: buffers of the data not read (sk_receive_queue).
    pub queue: Queue,
    /// Linux 7: time of the last segment received or ACK sent (tcp_mstamp).
    pub stamp: Time,
}

/// Buffers of data in order, with their memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    buffers: VecDeque<Buffer>,
    /// Offset of the end of the last buffer that was added.
    end: u64,
    /// Memory of all buffers in bytes (sk_rmem_alloc without data above holes).
    pub memory: u64,
}

/// One buffer, which holds up to [`MERGED`] pieces.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    end: u64,
    pieces: u64,
    memory: u64,
}

impl Queue {
    /// Adds the data up to offset `end`, in segments of at most `full` bytes; each buffer takes `overhead` bytes of
    /// memory besides its data (tcp_queue_rcv, tcp_ofo_queue).
    pub fn add(&mut self, end: u64, full: u64, overhead: u64) {
        while self.end < end {
            let len = (end - self.end).min(full.max(1));
            // Data starts at offset 1.
            let block = |offset: u64| (offset - 1) / BLOCK;
            let pieces = 1 + block(self.end + len - 1) - block(self.end);
            self.end += len;
            self.memory += len;
            match self.buffers.back_mut().filter(|last| last.pieces + pieces <= MERGED) {
                Some(last) => {
                    *last = Buffer { end: self.end, pieces: last.pieces + pieces, memory: last.memory + len };
                }
                None => {
                    self.memory += overhead;
                    self.buffers.push_back(Buffer { end: self.end, pieces, memory: len + overhead });
                }
            }
        }
    }

    /// End of the first buffer.
    pub fn first_end(&self) -> Option<u64> {
        self.buffers.front().map(|first| first.end)
    }

    /// Frees the first buffer, all of which was read (tcp_eat_recv_skb).
    pub fn free_first(&mut self) {
        if let Some(first) = self.buffers.pop_front() {
            self.memory -= first.memory;
        }
    }
}

impl Receiver {
    /// Makes the application read only what [`Receiver::read`] asks for.
    pub fn read_on_request(&mut self) {
        let read = self.next.max(1);
        let queue = Queue { end: read, ..Queue::default() };
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
