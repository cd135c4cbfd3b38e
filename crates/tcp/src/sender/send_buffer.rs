//! Linux's send buffer, which determines the segments that carry PSH (net/ipv4/tcp.c: tcp_sendmsg_locked, tcp_push,
//! forced_push).
//!
//! The application writes [`WRITE`] bytes at a time until the buffer is full, and again when a third of it is free. PSH
//! marks the last segment of the data written without a pause, and one after each half of the peer's largest window.
//! The buffer follows the congestion window (tcp_sndbuf_expand). Only the flag is modelled: the buffer never delays
//! data.

use std::collections::VecDeque;
use std::ops::Range;

use crate::cc::CongestionControl;
use crate::config::{Config, Push};
use crate::flight::Flight;

/// Bytes of one write by the application, as in the guest of the Linux engine.
const WRITE: u64 = 1 << 16;

/// Memory overhead of a segment in bytes: SKB_TRUESIZE of the head that tcp_stream_alloc_skb allocates, 256 + 256 +
/// 320.
const OVERHEAD: u64 = 832;

/// tcp_wmem of the guest of the Linux engine: maximum size in bytes. The initial one, 16 KiB, is less than
/// tcp_sndbuf_expand makes of it in the handshake.
const GREATEST: u64 = 64 << 20;

/// tcp_sndbuf_expand: MAX_TCP_HEADER and skb_shared_info, which are rounded up to a power of two together with the
/// segment; and sk_buff.
const HEADERS: u64 = 192 + 320;
const SK_BUFF: u64 = 256;

/// TCP_INIT_CWND.
const LEAST_SEGMENTS: u64 = 10;

/// The part of the flight's state that the buffer uses.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    /// First offset not acknowledged.
    una: u64,
    /// One past the highest offset sent.
    max: u64,
    /// One past the last byte that the application has to send.
    end: u64,
    cwnd: u64,
    /// Largest window announced by the peer, in bytes.
    max_window: u64,
    /// Payload bytes of a full segment.
    mss: u64,
}

/// The send buffer of one connection. Offsets are those of the stream.
#[derive(Debug)]
pub(crate) struct SendBuffer {
    /// sk_sndbuf, in bytes as the kernel counts them, and the number of congestion windows that it holds.
    size: u64,
    windows: u64,
    /// Largest congestion window that `size` follows.
    expanded_for: u64,
    /// write_seq: one past the last byte in the buffer.
    written: u64,
    /// First offset of the last segment in the buffer.
    tail: u64,
    /// pushed_seq: value of `written` when PSH was last set.
    pushed: u64,
    /// Ends of the segments with PSH, in ascending order.
    ends: VecDeque<u64>,
    /// No segment that ends in this range has PSH: later writes end beyond it.
    without: Range<u64>,
    /// SOCK_NOSPACE: the application waits for free space.
    full: bool,
    /// First offset not acknowledged and congestion window at the last update. A full buffer stays full until one changes.
    updated_at: (u64, u64),
}

impl SendBuffer {
    /// The send buffer of a connection just established, if it uses [`Push::Linux7`].
    pub fn open(config: &Config, tx: &Flight) -> Option<Box<SendBuffer>> {
        match config.push {
            Push::LastSegment => None,
            Push::Linux7 => Some(Box::new(SendBuffer::new(&tx.into(), tx.law.sndbuf_expand()))),
        }
    }

    fn new(o: &Outstanding, windows: u64) -> SendBuffer {
        let mut buffer = SendBuffer {
            size: 0,
            windows,
            expanded_for: 0,
            written: o.una,
            tail: o.una,
            pushed: o.una,
            ends: VecDeque::new(),
            without: 0..0,
            full: false,
            updated_at: (0, 0),
        };
        buffer.expand(o);
        buffer
    }

    /// Whether the segment that ends at `end` carries PSH.
    #[inline]
    pub fn pushes(&mut self, end: u64) -> bool {
        !self.without.contains(&end) && self.search(end)
    }

    #[inline(never)]
    fn search(&mut self, end: u64) -> bool {
        let next = self.ends.partition_point(|with| *with < end);
        let found = self.ends.get(next) == Some(&end);
        if !found {
            let next = self.ends.get(next).copied();
            self.without = end..next.unwrap_or(end + 1);
        }
        found
    }

    /// Writes the application's data for which the buffer has space. Called before segments are sent.
    #[inline]
    pub fn fill(&mut self, tx: &Flight) {
        if !self.full || self.updated_at != (tx.una, tx.law.cwnd() + tx.recovery.inflation) {
            self.update(&tx.into());
        }
    }

    #[inline(never)]
    fn update(&mut self, o: &Outstanding) {
        self.updated_at = (o.una, o.cwnd);
        while self.ends.front().is_some_and(|end| *end <= o.una) {
            self.ends.pop_front();
        }
        if self.full {
            // tcp_new_space runs before the last segment that fills the window is sent (tcp_event_new_data_sent), so
            // that it sees each growth of the window. Then sk_stream_write_space.
            self.expand(o);
            let queued = self.queued(o);
            self.full = self.size.saturating_sub(queued) < queued / 2 || queued >= self.size;
        }
        while !self.full && self.written < o.end {
            self.write(o);
        }
    }

    /// tcp_sndbuf_expand: only a window larger than all before enlarges the buffer.
    fn expand(&mut self, o: &Outstanding) {
        if o.cwnd <= self.expanded_for {
            return;
        }
        self.expanded_for = o.cwnd;
        let segment = (o.mss + HEADERS).next_power_of_two() + SK_BUFF;
        let segments = (o.cwnd / o.mss).max(LEAST_SEGMENTS);
        self.size = self.size.max((self.windows * segments * segment).min(GREATEST));
    }

    /// sk_wmem_queued.
    fn queued(&self, o: &Outstanding) -> u64 {
        let bytes = self.written.saturating_sub(o.una);
        bytes + bytes.div_ceil(o.mss) * OVERHEAD
    }

    /// One send system call: tcp_sendmsg_locked.
    fn write(&mut self, o: &Outstanding) {
        let stop = o.end.min(self.written + WRITE);
        // No data is added to a segment already sent.
        let mut room = if self.tail < o.max { 0 } else { (self.tail + o.mss).saturating_sub(self.written) };
        if room > 0 && self.ends.back() == Some(&self.written) {
            self.ends.pop_back();
        }
        let mut copied = false;
        while self.written < stop {
            if room == 0 {
                if self.queued(o) >= self.size {
                    self.full = true;
                    break;
                }
                self.tail = self.written;
                room = o.mss;
            }
            self.written += room.min(stop - self.written);
            copied = true;
            if self.written < stop && self.written > self.pushed + o.max_window / 2 {
                self.push();
            }
            room = (self.tail + o.mss).saturating_sub(self.written);
        }
        if copied {
            self.push();
        }
    }

    /// tcp_mark_push.
    fn push(&mut self) {
        self.pushed = self.written;
        if self.ends.back() != Some(&self.written) {
            self.ends.push_back(self.written);
        }
    }
}

impl From<&Flight> for Outstanding {
    fn from(tx: &Flight) -> Outstanding {
        Outstanding {
            una: tx.una,
            max: tx.max,
            end: tx.end,
            cwnd: tx.law.cwnd() + tx.recovery.inflation,
            max_window: tx.peer_window.greatest,
            mss: tx.mss.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MSS: u64 = 1448;

    proptest! {
        /// Of new data and of data sent again, while ACKs arrive, the window grows and the application has more.
        #[test]
        fn a_segment_has_psh_if_its_end_is_stored(
            steps in proptest::collection::vec((0_u64..9, 0_u64..3, 0_u64..99, 0_u64..60), 1..60)
        ) {
            let mut o = Outstanding { end: 1, ..outstanding(0, 10, 1 << 17) };
            let mut buffer = SendBuffer::new(&o, 2);
            for (acked, growth, more, asked) in steps {
                (o.una, o.cwnd, o.end) = (o.una + acked * MSS, o.cwnd + growth * MSS, o.end + more * 1_000);
                o.end = o.end.max(o.una);
                (o.max, buffer.written) = (o.una + o.cwnd, buffer.written.max(o.una));
                buffer.update(&o);
                let some = buffer.ends.get(asked as usize % 7).copied();
                let sent = [asked, asked + 1].map(|n| (o.una + n * MSS).min(buffer.written));
                for end in sent.into_iter().chain(some) {
                    prop_assert_eq!(buffer.pushes(end), buffer.ends.contains(&end));
                }
            }
        }
    }

    /// `una` and `cwnd` in segments.
    fn outstanding(una: u64, cwnd: u64, max_window: u64) -> Outstanding {
        Outstanding {
            una: 1 + una * MSS,
            max: 1 + (una + cwnd) * MSS,
            end: 1 << 40,
            cwnd: cwnd * MSS,
            max_window,
            mss: MSS,
        }
    }

    fn ends(buffer: &SendBuffer) -> Vec<u64> {
        buffer.ends.iter().map(|end| (end - 1) / MSS).collect()
    }

    #[test]
    fn slow_start_pushes_the_segments_that_linux_pushes() {
        // One flow of Linux 7.3.4 at 20 Mbit/s and 14 ms: each ACK of the first 47 acknowledges a segment and opens the window by
        // one. Its capture has PSH on these segments.
        let mut buffer = SendBuffer::new(&outstanding(0, 10, 1 << 24), 2);
        let mut pushed = Vec::new();
        for una in 0..47 {
            buffer.update(&outstanding(una, 10 + una, 1 << 24));
            pushed.extend(ends(&buffer));
        }
        pushed.dedup();
        pushed.sort_unstable();
        pushed.dedup();
        assert_eq!(pushed, [21, 33, 48, 66, 90, 120, 160]);
    }

    #[test]
    fn a_law_may_ask_for_three_windows() {
        // BBR: 69120 B take 31 segments of 1448 + 832 B. Half of the window is 22.5 of them.
        let o = outstanding(0, 10, 45 * MSS);
        let mut buffer = SendBuffer::new(&o, 3);
        buffer.update(&o);
        assert_eq!(ends(&buffer), [23, 31]);
    }

    #[test]
    fn half_of_the_greatest_window_is_pushed() {
        // 46080 B take 21 segments of 1448 + 832 B. 10,000 B are passed by the 7th, the 14th and the 21st.
        let mut buffer = SendBuffer::new(&outstanding(0, 10, 20_000), 2);
        buffer.update(&outstanding(0, 10, 20_000));
        assert_eq!(ends(&buffer), [7, 14, 21]);
    }

    #[test]
    fn the_end_of_a_write_is_pushed_unless_more_follows_in_its_segment() {
        // Of 65,536 B the last segment has 376: the next write fills it, and PSH goes.
        let end = |bytes| Outstanding { end: 1 + bytes, ..outstanding(0, 60, 1 << 24) };
        let mut buffer = SendBuffer::new(&end(WRITE), 2);
        buffer.update(&Outstanding { max: 1, ..end(WRITE) });
        assert!(buffer.pushes(1 + WRITE));
        buffer.update(&Outstanding { max: 1, ..end(2 * WRITE) });
        assert!(!buffer.pushes(1 + WRITE));
        assert!(buffer.pushes(1 + 2 * WRITE));
    }

    #[test]
    fn a_third_of_the_buffer_is_enough_to_go_on() {
        // 20 segments of 1448 + 832 B are 45600 B; half of that is free in 68400 B.
        let after = |size| {
            let mut buffer = SendBuffer::new(&outstanding(0, 10, 1 << 24), 2);
            (buffer.size, buffer.written, buffer.full) = (size, 1 + 20 * MSS, true);
            buffer.update(&Outstanding { end: 1 + 20 * MSS, ..outstanding(0, 10, 1 << 24) });
            buffer.full
        };
        assert_eq!([68_399, 68_400].map(after), [true, false]);
    }

    #[test]
    fn half_of_the_greatest_window_must_be_passed() {
        // Half of the window is seven segments: the eighth passes it.
        let mut buffer = SendBuffer::new(&outstanding(0, 10, 14 * MSS), 2);
        buffer.update(&outstanding(0, 10, 14 * MSS));
        assert_eq!(ends(&buffer), [8, 16, 21]);
    }

    #[test]
    fn each_write_ends_with_psh() {
        // 64 segments of 1024 B are a write. 921600 B take 497 of 1024 + 832 B.
        let o = Outstanding { max: 1, cwnd: 200 * 1024, mss: 1024, ..outstanding(0, 10, 1 << 24) };
        let mut buffer = SendBuffer::new(&o, 2);
        buffer.update(&o);
        let ends: Vec<u64> = buffer.ends.iter().map(|end| (end - 1) / 1024).collect();
        assert_eq!(ends, [64, 128, 192, 256, 320, 384, 448, 497]);
    }

    #[test]
    fn a_segment_takes_more_until_it_has_left() {
        // A buffer of 46080 B: 21 segments of 1448 + 832 B, or one of 500 + 832 B and 20 of those.
        let written = |max| {
            let o = Outstanding { max, ..outstanding(0, 10, 1 << 24) };
            let mut buffer = SendBuffer::new(&o, 2);
            buffer.update(&Outstanding { end: 501, ..o });
            buffer.update(&o);
            (buffer.written, buffer.full)
        };
        assert_eq!(written(1), (1 + 21 * MSS, true));
        assert_eq!(written(501), (501 + 20 * MSS, true));
    }
}
