//! Construction of sent segments: data, ACKs and their options.

use ecnlab_base::Time;
use ecnlab_wire::{Ecn, Flags, Segment, Timestamps};

use crate::cc::CongestionControl;
use crate::ecn::{EcnFlags, Feedback, PacketKind, Stamp};
use crate::endpoint::{Endpoint, Out, State};
use crate::flight::{Chunk, Cx, How};

/// Maximum bytes of TCP options: a header of 15 words of four bytes, less the fixed part of five words.
const MAX_OPTIONS: u32 = 40;

impl Endpoint {
    /// Sends the data that windows and timers admit.
    #[inline]
    pub(crate) fn output(&mut self, now: Time, out: &mut Out) {
        let may_send = matches!(
            self.state,
            State::Established | State::CloseWait | State::FinWait1 | State::Closing | State::LastAck
        );
        if may_send && !self.tx.flight.sends_nothing() {
            self.burst(now, out);
        }
    }

    fn burst(&mut self, now: Time, out: &mut Out) {
        if self.tx.begin_burst(&self.config, now) {
            while let Some(chunk) = self.tx.next(&self.config) {
                self.emit(chunk, now, out);
            }
        }
        self.tx.end_burst(&self.config, now);
    }

    /// Sends one chunk.
    #[inline(always)]
    pub(crate) fn emit(&mut self, chunk: Chunk, now: Time, out: &mut Out) {
        let kind = match chunk.how {
            _ if chunk.len == 0 => PacketKind::Fin,
            How::Probe => PacketKind::Probe,
            _ if chunk.start < self.tx.flight.max => PacketKind::Retransmission,
            _ => PacketKind::Data,
        };
        let mut flags = Flags::ACK;
        if chunk.len > 0 {
            self.counters.data_segments_sent += 1;
            self.counters.bytes_sent += u64::from(chunk.len);
            if self.tx.pushes(chunk.start + u64::from(chunk.len)) {
                flags |= Flags::PSH;
            }
        }
        if chunk.fin {
            flags |= Flags::FIN;
        }
        let (seq, len) = (self.tx.flight.seq(chunk.start), chunk.len);
        let mut cx = Cx { config: &self.config, now, counters: &mut self.counters, ecn: &mut self.ecn };
        self.tx.sent(chunk, &mut cx);
        let segment = Segment { seq, len, flags, ..self.blank(now) };
        self.rx.carried(&self.config, now);
        self.push(kind, segment, now, out);
    }

    /// Sends an ACK without data.
    #[inline]
    pub(crate) fn send_ack(&mut self, now: Time, out: &mut Out) {
        self.send_ack_as(PacketKind::Ack, now, out);
    }

    /// Sends an ACK without data as a packet of this `kind`.
    #[inline]
    pub(crate) fn send_ack_as(&mut self, kind: PacketKind, now: Time, out: &mut Out) {
        let seq = self.tx.flight.seq(self.tx.flight.max);
        let segment = Segment { seq, flags: Flags::ACK, ..self.blank(now) };
        if self.sack && self.rx.has_blocks() {
            let sack = self.rx.sack_blocks();
            self.rx.acknowledged();
            return self.push(kind, Segment { sack, ..segment }, now, out);
        }
        self.rx.acknowledged();
        self.push(kind, segment, now, out);
    }

    /// Sends a probe of the peer's closed window without data: its sequence number is old, so that the peer answers.
    #[cold]
    pub(crate) fn send_empty_probe(&mut self, now: Time, out: &mut Out) {
        let seq = self.tx.flight.seq(self.tx.flight.una - 1);
        let segment = Segment { seq, flags: Flags::ACK, ..self.blank(now) };
        self.rx.acknowledged();
        self.push(PacketKind::Probe, segment, now, out);
    }

    /// Sends an ACK of ACKs, without SACK blocks (RFC 9768 §3.2.2.5.1).
    pub(crate) fn send_ack_of_acks(&mut self, now: Time, out: &mut Out) {
        let seq = self.tx.flight.seq(self.tx.flight.max);
        let segment = Segment { seq, flags: Flags::ACK, ..self.blank(now) };
        self.push(PacketKind::Ack, segment, now, out);
    }

    /// Sends an RST with the sequence numbers and flags of `reset`.
    pub(crate) fn send_reset(&mut self, reset: Segment, out: &mut Out) {
        // An RST has no option, whatever the time.
        self.push(PacketKind::Rst, Segment { flags: reset.flags | Flags::RST, ..reset }, Time::ZERO, out);
    }

    /// The fields common to all segments after the handshake.
    #[inline(always)]
    fn blank(&mut self, now: Time) -> Segment {
        Segment {
            ack: self.rx.ack(),
            window: self.rx.window(false),
            timestamps: self.timestamps.then(|| self.stamp(now)),
            ..Segment::default()
        }
    }

    /// The timestamp option at `now` (RFC 7323 §3.2).
    pub(crate) fn stamp(&self, now: Time) -> Timestamps {
        Timestamps { value: self.tx.flight.clock(&self.config, now), echo: self.rx.ts_recent }
    }

    /// Adds the AccECN option to the last segment, if it is due. It has priority over a third SACK block
    /// (RFC 9768 §3.2.3.3).
    #[inline(never)]
    fn put_option(&mut self, kind: PacketKind, now: Time, out: &mut Out) {
        let srtt = self.tx.flight.timer.rto.srtt();
        let Some(segment) = out.last_mut() else { return };
        let mut acc_ecn = self.ecn.option(kind, self.room(segment), now, srtt);
        if acc_ecn.is_none() && segment.sack.as_slice().len() > 2 {
            let sack = segment.sack.first(2);
            acc_ecn = self.ecn.option(kind, self.room(&Segment { sack, ..*segment }), now, srtt);
            if acc_ecn.is_some() {
                segment.sack = sack;
            }
        }
        if acc_ecn.is_some() {
            segment.acc_ecn = acc_ecn;
            segment.wire_len = self.wire_len(segment);
        }
    }

    /// Length of `segment` on the wire, in bytes.
    #[inline(always)]
    fn wire_len(&self, segment: &Segment) -> u32 {
        let headers = if segment.len > 0 { self.config.data_headers } else { self.config.ack_headers };
        headers.wire_len(segment, self.ip_header)
    }

    /// Bytes of options that can be added to `segment`: limited by the 40 bytes of a header and by the largest segment
    /// size.
    fn room(&self, segment: &Segment) -> u32 {
        let options = segment.options_len();
        let largest = if segment.len > 0 { self.peer_mss.min(self.config.mss.0 as u32) } else { u32::MAX };
        MAX_OPTIONS.saturating_sub(options).min(largest.saturating_sub(segment.len + options))
    }

    /// Sends a segment: adds the flags and codepoint of the feedback scheme, sets the wire length and updates the
    /// counters.
    #[inline(always)]
    pub(crate) fn push(&mut self, kind: PacketKind, segment: Segment, now: Time, out: &mut Out) {
        let Stamp { flags, mut ecn } = self.ecn.stamp(kind);
        if self.control.has(kind) && self.ecn.is_capable() {
            ecn = Ecn::Ect0;
        }
        if ecn == Ecn::Ect0 && self.ecn.counts() {
            ecn = self.tx.flight.law.codepoint().into();
        }
        let segment = Segment { flags: segment.flags | flags, ecn, ..segment };
        self.counters.segments_sent += 1;
        let sent = self.ecn.flags(segment.flags);
        if sent != EcnFlags::NONE && !segment.flags.contains(Flags::SYN) {
            self.counters.ece_sent += u64::from(sent.echo());
            self.counters.cwr_sent += u64::from(sent.cwr());
        }
        // Written once, in its place: a reference to the local value would make it a copy.
        out.push(segment);
        if let Some(segment) = out.last_mut() {
            segment.wire_len = self.wire_len(segment);
        }
        if self.ecn.has_option(kind) {
            self.put_option(kind, now, out);
        }
    }
}
