//! An application that reads at times of its own: the data in order that it has not read, with their memory.

use std::collections::VecDeque;

use ecnlab_base::Time;

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
    pub edge: u64,
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
    /// An empty queue, whose first data begin at offset `end`.
    pub fn from(end: u64) -> Queue {
        Queue { end, ..Queue::default() }
    }

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
