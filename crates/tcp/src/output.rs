//! Segments out: data, ACKs, and what they carry besides.

use ecnlab_base::Time;
use ecnlab_wire::{Flags, SackBlocks, Segment, Timestamps};

use crate::ecn::{Feedback, Sending};
use crate::endpoint::{Endpoint, Out, State};
use crate::sender::{Chunk, Cx, How};

impl Endpoint {
    /// Sends what windows and timers admit.
    #[inline]
    pub(crate) fn output(&mut self, now: Time, out: &mut Out) {
        let may_send = matches!(
            self.state,
            State::Established | State::CloseWait | State::FinWait1 | State::Closing | State::LastAck
        );
        if may_send && !self.tx.has_nothing_to_say() {
            self.burst(now, out);
        }
    }

    fn burst(&mut self, now: Time, out: &mut Out) {
        self.tx.begin_burst(&self.config, now);
        while let Some(chunk) = self.tx.next(&self.config) {
            self.emit(chunk, now, out);
        }
        self.tx.end_burst(&self.config, now);
    }

    /// Sends one chunk.
    #[inline]
    pub(crate) fn emit(&mut self, chunk: Chunk, now: Time, out: &mut Out) {
        let sending = match chunk.how {
            How::Probe => Sending::Probe,
            _ if chunk.start < self.tx.max => Sending::Retransmission,
            _ => Sending::New,
        };
        let mut segment = self.blank(now);
        segment.seq = self.tx.seq(chunk.start);
        segment.len = chunk.len;
        if chunk.len > 0 {
            // RFC 3168 §6.1.4, RFC 2481 §6.1: only segments with data are ECN-capable.
            segment.ecn = self.ecn.codepoint(sending);
            segment.flags |= self.ecn.data_flags(sending);
            self.counters.data_segments_sent += 1;
            self.counters.bytes_sent += u64::from(chunk.len);
            if chunk.start + u64::from(chunk.len) == self.tx.end {
                // RFC 9293 §3.9.1.2: the last of what was written is pushed.
                segment.flags |= Flags::PSH;
            }
        }
        if chunk.fin {
            segment.flags |= Flags::FIN;
        }
        let mut cx = Cx { config: &self.config, now, counters: &mut self.counters, ecn: &mut self.ecn };
        self.tx.sent(chunk, &mut cx);
        self.rx.acknowledged();
        self.push(segment, out);
    }

    /// Sends an ACK and nothing else.
    #[inline]
    pub(crate) fn send_ack(&mut self, now: Time, out: &mut Out) {
        let mut segment = self.blank(now);
        segment.seq = self.tx.seq(self.tx.max);
        if self.rx.has_gap() && self.sack {
            segment.sack = self.rx.sack_blocks();
        }
        self.rx.acknowledged();
        self.push(segment, out);
    }

    /// A segment with ACK, window, timestamps and ECN-Echo, as all have after the handshake.
    #[inline]
    fn blank(&mut self, now: Time) -> Segment {
        Segment {
            ack: self.rx.ack(),
            window: self.rx.window(false),
            flags: Flags::ACK | self.ecn.ack_flags(),
            timestamps: self.timestamps.then(|| self.stamp(now)),
            sack: SackBlocks::NONE,
            ..Segment::default()
        }
    }

    /// The timestamp option now (RFC 7323 §3.2).
    pub(crate) fn stamp(&self, now: Time) -> Timestamps {
        Timestamps { value: self.tx.clock(&self.config, now), echo: self.rx.ts_recent }
    }

    /// Fills in the length and counts the segment.
    #[inline]
    pub(crate) fn push(&mut self, mut segment: Segment, out: &mut Out) {
        let headers = if segment.len > 0 { self.config.data_headers } else { self.config.ack_headers };
        segment.wire_len = headers.wire_len(&segment);
        self.counters.segments_sent += 1;
        if !segment.flags.contains(Flags::SYN) {
            self.counters.ece_sent += u64::from(segment.flags.contains(Flags::ECE));
            self.counters.cwr_sent += u64::from(segment.flags.contains(Flags::CWR));
        }
        out.push(segment);
    }
}
