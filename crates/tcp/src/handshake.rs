//! The handshake: negotiation of options and ECN, and retransmission of SYNs.

use std::mem;

use ecnlab_base::Time;
use ecnlab_wire::{Ecn, Flags, Segment, Timestamps};

use crate::control_packets::EcnControl;
use crate::ecn::{Feedback, PacketKind, Scheme};
use crate::endpoint::{Endpoint, Out, State};
use crate::flight::{Cx, Opened};

/// Segment size of a peer that announces none, in bytes (RFC 9293 §3.7.1).
const DEFAULT_MSS: u32 = 536;
/// Bytes of the timestamp option in each segment (RFC 7323 appendix A).
const TIMESTAMPS_LEN: u32 = 12;

impl Endpoint {
    /// Sends or retransmits the SYN.
    pub(crate) fn send_syn(&mut self, now: Time, out: &mut Out) {
        let mut syn = self.syn_segment(Flags::SYN);
        // RFC 7323 §3.2: the echo of a SYN without ACK is zero.
        syn.timestamps =
            self.timestamps.then(|| Timestamps { value: self.tx.flight.clock(&self.config, now), echo: 0 });
        self.finish_syn(PacketKind::Syn, syn, now, out);
    }

    /// Sends or retransmits the SYN-ACK.
    pub(crate) fn send_syn_ack(&mut self, now: Time, out: &mut Out) {
        let mut syn = self.syn_segment(Flags::SYN | Flags::ACK);
        syn.ack = self.rx.ack();
        syn.timestamps = self.timestamps.then(|| self.stamp(now));
        self.rx.acknowledged();
        self.finish_syn(PacketKind::SynAck, syn, now, out);
    }

    /// A SYN with the options of this endpoint, or a SYN-ACK with the options of both endpoints.
    fn syn_segment(&mut self, flags: Flags) -> Segment {
        let scale = self.config.window_scaling.then(|| self.rx.wanted_shift());
        let answering = flags.contains(Flags::ACK);
        Segment {
            seq: self.tx.flight.seq(0),
            window: self.rx.window(true),
            flags,
            mss: Some(self.config.mss.0.min(65_535) as u16),
            // RFC 7323 §2.2: in a SYN-ACK only if the SYN had it.
            window_scale: scale.filter(|_| !answering || self.rx.shift_agreed),
            sack_permitted: self.sack,
            ..Segment::default()
        }
    }

    fn finish_syn(&mut self, kind: PacketKind, syn: Segment, now: Time, out: &mut Out) {
        self.tx.flight.syn_sent(&self.config, now);
        self.push(kind, syn, now, out);
        let ecn = out.last().map_or(Ecn::NotEct, |syn| syn.ecn);
        self.ecn.sent_syn(ecn);
        self.control.sent_syn(ecn);
    }

    /// Processes a segment in the LISTEN state.
    pub(crate) fn on_listen(&mut self, segment: &Segment, now: Time, out: &mut Out) {
        // RFC 9293 §3.10.7.2: RST is ignored, ACK is answered by an RST, other segments without SYN are dropped.
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if segment.flags.contains(Flags::ACK) {
            self.send_reset(Segment { seq: segment.ack, ..Segment::default() }, out);
        } else if segment.flags.contains(Flags::SYN) {
            self.learn(segment);
            self.state = State::SynReceived;
            self.answer_syn(segment, now, out);
        }
    }

    /// Responds to the SYN or a repeated SYN. RFC 3168 §6.1.1: after one SYN that does not request ECN the connection
    /// uses none, whatever another SYN requested.
    pub(crate) fn answer_syn(&mut self, syn: &Segment, now: Time, out: &mut Out) {
        let requested = Scheme::new(self.config.accepted_ecn()).requested(syn);
        if self.requested.is_some() && requested.is_some() && requested != self.requested {
            // RFC 9768 §3.1.5: the endpoints could not agree on one of the two schemes. The peer may be established or
            // not.
            let reset =
                Segment { seq: self.tx.flight.seq(self.tx.flight.nxt), ack: self.rx.ack(), ..Segment::default() };
            self.send_reset(Segment { flags: Flags::ACK, ..reset }, out);
            return self.die();
        }
        self.requested = self.requested.or(requested);
        let agreed = self.ecn.answer(syn);
        self.ecn.settle(agreed);
        self.control.settle(&self.ecn);
        self.send_syn_ack(now, out);
    }

    /// Processes a segment in the SYN-SENT state (RFC 9293 §3.10.7.3).
    pub(crate) fn on_syn_sent(&mut self, segment: &Segment, now: Time, out: &mut Out) {
        let has = |flag| segment.flags.contains(flag);
        let acks_syn = has(Flags::ACK) && segment.ack == self.tx.flight.seq(1);
        if has(Flags::ACK) && !acks_syn {
            if !has(Flags::RST) {
                self.send_reset(Segment { seq: segment.ack, ..Segment::default() }, out);
            }
            return;
        }
        if has(Flags::RST) {
            if acks_syn {
                self.die();
            }
            return;
        }
        // Simultaneous open is not modelled: a SYN without ACK is dropped.
        if !has(Flags::SYN) || !acks_syn {
            return;
        }
        self.learn(segment);
        let agreed = self.ecn.agree(segment);
        self.ecn.settle(agreed);
        self.control.on_syn_ack(agreed, &self.ecn);
        let reports = self.control.reports(segment) && self.ecn.report_syn_ack();
        if reports && self.config.ecn_control == EcnControl::TryOnce {
            // RFC 5562: the endpoint stays in SYN-SENT until another SYN-ACK comes.
            self.control.await_syn_ack();
            return self.send_ack(now, out);
        }
        self.establish(segment, now);
        let before = out.len();
        let blocks = self.config.connect_blocks;
        if blocks || self.ecn.wants_last_ack() {
            self.send_ack_as(PacketKind::HandshakeAck, now, out);
        }
        // The application writes and closes after connect(): data that it wrote leave without the FIN of a close that is stored.
        let closes = mem::take(&mut self.tx.flight.closing);
        if blocks && closes {
            self.output(now, out);
        }
        self.tx.flight.closing = closes;
        self.output(now, out);
        if out.len() == before {
            self.send_ack_as(PacketKind::HandshakeAck, now, out);
        }
    }

    /// Processes the peer's SYN: its sequence number, and the options that this endpoint uses too.
    fn learn(&mut self, syn: &Segment) {
        self.rx.start(syn.seq);
        self.peer_mss = syn.mss.map_or(DEFAULT_MSS, u32::from).max(1);
        self.timestamps &= syn.timestamps.is_some();
        self.rx.ts_recent = syn.timestamps.map_or(0, |ts| ts.value);
        self.sack &= syn.sack_permitted;
        self.rx.permit_sack(self.sack);
        self.rx.permit_timestamps(self.timestamps, &self.config);
        if let Some(shift) = syn.window_scale.filter(|_| self.config.window_scaling) {
            self.rx.shift_agreed = true;
            self.rx.shift = self.rx.wanted_shift();
            // RFC 7323 §2.3: a shift above 14 is replaced by 14.
            self.peer_shift = shift.min(14);
        }
        // RFC 7323 §2.2: the window of a SYN is not scaled.
        self.tx.flight.set_peer_window(syn.window.into(), &self.config);
    }

    /// Enters ESTABLISHED, or FIN-WAIT-1 after a close, when the SYN of this endpoint is acknowledged.
    pub(crate) fn establish(&mut self, segment: &Segment, now: Time) {
        if !segment.flags.contains(Flags::SYN) {
            self.tx.flight.set_peer_window(u64::from(segment.window) << self.peer_shift, &self.config);
        }
        // RFC 9293 §3.7.1: SendMSS minus the options that every segment carries.
        let options = if self.timestamps { TIMESTAMPS_LEN } else { 0 } + self.ecn.option_len();
        let mss = (self.config.mss.0 as u32).min(self.peer_mss).saturating_sub(options).max(1);
        let recovery = self.config.recovery.with_sack(self.sack);
        let mut cx = Cx { config: &self.config, now, counters: &mut self.counters, ecn: &mut self.ecn };
        let echoed = segment.timestamps.filter(|_| self.timestamps).map(|ts| ts.echo);
        let opened = Opened { mss, sack: self.sack, echoed, marked: self.control.reduces(cx.ecn) };
        self.tx.establish(recovery, &opened, &mut cx);
        self.rx.establish(self.ecn.quick_acks(), now);
        self.state = if self.tx.flight.closing { State::FinWait1 } else { State::Established };
    }

    /// Handles a timeout of the SYN or SYN-ACK.
    pub(crate) fn on_syn_timeout(&mut self, now: Time, out: &mut Out) {
        let linear = if self.state == State::SynSent { self.config.linear_syn_timeouts } else { 0 };
        if self.tx.flight.timer.timeouts >= self.config.max_syn_timeouts.saturating_add(linear) {
            return self.die();
        }
        self.tx.flight.timer.timeouts += 1;
        self.counters.timeouts += 1;
        self.counters.retransmits_timeout += 1;
        if self.tx.flight.timer.timeouts > linear {
            self.tx.flight.timer.rto.back_off(&self.config);
        }
        if self.state == State::SynReceived {
            return self.send_syn_ack(now, out);
        }
        // TryOnce: the SYN-ACK has shown that the path lets the offer through.
        if !self.control.awaits_syn_ack() {
            let agreed = self.ecn.on_syn_timeout(&self.config);
            self.counters.ecn_fallbacks += u64::from(self.ecn.settle(agreed));
        }
        self.send_syn(now, out);
    }
}
