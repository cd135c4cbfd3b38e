//! Processing of received segments after both endpoints know each other's sequence numbers (RFC 9293 §3.10.7.4).

use ecnlab_base::Time;
use ecnlab_wire::{Ecn, Flags, Segment};

use crate::cc::CongestionControl;
use crate::control_packets::EcnControl;
use crate::ecn::{Acked, EcnFlags, Feedback, Marks};
use crate::endpoint::{Endpoint, Out, State};
use crate::flight::{AckSeen, Cx};
use crate::receiver::{AckDue, Echo};

impl Endpoint {
    pub(crate) fn on_synchronised(&mut self, segment: &Segment, now: Time, out: &mut Out) {
        self.counters.ce_received += u64::from(segment.ecn == Ecn::Ce);
        let acceptable = self.rx.acceptable(segment);
        if acceptable && self.rx.delays_ack() && self.flushes_ack(segment) {
            self.send_ack(now, out);
        }
        let flags = self.ecn.flags(segment.flags);
        if flags.cwr() && segment.len > 0 {
            self.counters.cwr_received += 1;
            if acceptable && self.config.delayed_ack.cwr_clears_delayed_marks() {
                self.ecn.forget_waiting();
            }
        }
        // First: sequence number; with it, PAWS (RFC 7323 §5.3 R1).
        let old = self.timestamps && !segment.flags.contains(Flags::RST) && self.rx.fails_paws(segment);
        let needs_ack = self.ecn.on_arrival(segment, flags, acceptable && !old);
        if !acceptable || old {
            return self.refuse(segment, old, now, out);
        }
        if segment.flags.intersection(Flags::RST.union(Flags::SYN).union(Flags::ACK)) != Flags::ACK {
            return self.on_control(segment, now, out);
        }
        let opens = self.state == State::SynReceived;
        let flags = match self.state {
            State::SynReceived => match self.on_handshake_ack(segment, flags, now, out) {
                Some(flags) => flags,
                None => return,
            },
            _ => flags,
        };
        if self.timestamps {
            self.rx.note_timestamp(segment);
        }
        match self.tx.flight.offset(segment.ack) {
            Some(ack) => self.take_ack(segment, flags, ack, opens, now),
            // RFC 9293 §3.10.7.4: an old ACK is ignored; an ACK of data not sent causes an ACK in response.
            None if self.tx.flight.seq(self.tx.flight.una).after(segment.ack) => {}
            None => return self.send_ack(now, out),
        }
        self.take_data(segment, flags, needs_ack, now, out);
    }

    /// Processes an acceptable segment with RST or SYN, or without ACK.
    #[cold]
    fn on_control(&mut self, segment: &Segment, now: Time, out: &mut Out) {
        // Second: RST; only one with the exact next sequence number resets (RFC 9293 §3.10.7.4, RFC 5961 §3.2).
        if segment.flags.contains(Flags::RST) && segment.seq == self.rx.ack() {
            return self.die();
        }
        // Fourth: SYN; the response is an ACK (RFC 5961 §4.2). Fifth: a segment without ACK is dropped.
        if segment.flags.intersects(Flags::RST | Flags::SYN) {
            self.send_ack(now, out);
        }
    }

    /// Responds to a segment for no connection with an RST that its sender accepts (RFC 9293 §3.10.7.1).
    pub(crate) fn on_closed(&mut self, segment: &Segment, out: &mut Out) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        let reset = if segment.flags.contains(Flags::ACK) {
            Segment { seq: segment.ack, ..Segment::default() }
        } else {
            Segment { ack: segment.end(), flags: Flags::ACK, ..Segment::default() }
        };
        self.send_reset(reset, out);
    }

    /// Whether the delayed ACK is sent before `segment` is processed.
    #[inline(never)]
    fn flushes_ack(&self, segment: &Segment) -> bool {
        self.ecn.flushes_ack(segment) || self.rx.flushes_sack(segment)
    }

    /// Rejects a segment that is outside the window, or `old` by its timestamp.
    #[cold]
    fn refuse(&mut self, segment: &Segment, old: bool, now: Time, out: &mut Out) {
        if !old && self.rx.reaches_last_ack(segment) && !segment.flags.intersects(Flags::SYN | Flags::RST) {
            self.ecn.on_duplicate(segment);
        }
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if self.state == State::SynReceived && segment.flags.contains(Flags::SYN) && self.rx.is_first(segment.seq) {
            // A repeated SYN: the SYN-ACK was lost, or the peer no longer requests ECN (RFC 3168 §6.1.1.1).
            self.counters.retransmits_recovery += 1;
            return self.answer_syn(segment, now, out);
        }
        self.counters.duplicate_bytes += if old { segment.len.into() } else { self.rx.received_before(segment) };
        self.rx.refused(segment, &self.config);
        self.send_ack(now, out);
    }

    /// Processes the ACK that completes a passive open. Returns its `flags` without the report of a mark on the SYN-ACK, or
    /// nothing if the handshake is not complete.
    fn on_handshake_ack(&mut self, segment: &Segment, flags: EcnFlags, now: Time, out: &mut Out) -> Option<EcnFlags> {
        if self.tx.flight.offset(segment.ack) != Some(1) {
            self.send_reset(Segment { seq: segment.ack, ..Segment::default() }, out);
            return None;
        }
        let marked = self.control.take_report(flags);
        self.counters.ece_received += u64::from(marked);
        if marked && self.config.ecn_control == EcnControl::TryOnce {
            // RFC 5562: another SYN-ACK, not ECN-capable, and no data before it is acknowledged.
            self.send_syn_ack(now, out);
            return None;
        }
        self.establish(segment, now);
        Some(if marked { flags.without_echo() } else { flags })
    }

    #[inline(always)]
    fn take_ack(&mut self, segment: &Segment, flags: EcnFlags, ack: u64, opens: bool, now: Time) {
        if self.tx.flight.sends_nothing() && self.tx.flight.max == self.tx.flight.una && !flags.echo() {
            // At an endpoint that only receives, an ACK has no effect besides its window and that on the law (tcp_ack,
            // no_queue: tcp_in_ack_event), which begins with the connection (tcp_init_transfer).
            if !opens {
                self.tx.flight.law.on_idle_ack();
            }
            self.tx.flight.set_peer_window(u64::from(segment.window) << self.peer_shift, &self.config);
            return;
        }
        let seen = self.read_ack(segment, flags, ack, now);
        let mut cx = Cx { config: &self.config, now, counters: &mut self.counters, ecn: &mut self.ecn };
        self.tx.on_ack(&seen, &mut cx);
        self.note_fin_acked();
    }

    #[inline(always)]
    fn read_ack(&mut self, segment: &Segment, flags: EcnFlags, ack: u64, now: Time) -> AckSeen {
        let new_sack =
            self.sack && !segment.sack.is_empty() && self.tx.note_sacks(&segment.sack, ack, &self.config, now);
        let moved = self.tx.flight.set_peer_window(u64::from(segment.window) << self.peer_shift, &self.config);
        // After both endpoints have closed, ECN-Echo has no effect (RFC 9293 §3.10.7.4, TIME-WAIT).
        self.counters.ece_received += u64::from(flags.echo() && self.state != State::TimeWait);
        // RFC 5681 §2 (b), (c), (e): no data, no FIN, the window unchanged.
        let bare = segment.len == 0 && !moved && !segment.flags.contains(Flags::FIN);
        let flight = &mut self.tx.flight;
        let delivered = if flight.law.wants_samples() || self.ecn.counts() {
            flight.newly_delivered(ack, bare)
        } else {
            ack - flight.una
        };
        let acked = Acked { from: flight.una, to: ack, delivered, new_sack, mss: flight.mss };
        let feedback = self.ecn.decode(segment, flags, acked);
        if feedback.marks != Marks::None {
            self.counters.bytes_marked += feedback.marks.of(acked.amount()).bytes;
        }
        AckSeen {
            ack,
            delivered,
            echo: feedback.echo,
            marks: feedback.marks,
            no_growth: feedback.no_growth,
            bare,
            new_sack,
            stamps: segment.timestamps.filter(|_| self.timestamps),
        }
    }

    #[inline(always)]
    fn note_fin_acked(&mut self) {
        if self.tx.flight.fin_acked() {
            self.state = match self.state {
                State::FinWait1 => State::FinWait2,
                State::Closing => State::TimeWait,
                State::LastAck => State::Closed,
                state => state,
            };
        }
    }

    /// Passes a segment to the receiver.
    #[inline(always)]
    fn take_in(&mut self, segment: &Segment, flags: EcnFlags, now: Time) -> crate::receiver::Arrival {
        let (reads_headers, before) = (self.config.reads_headers(), self.rx.next);
        if reads_headers {
            self.note_header(segment, flags, now);
        }
        let arrival = self.rx.take(segment, &self.config, &self.tx.flight.timer.rto, now);
        if reads_headers && self.rx.next > before {
            self.rx.note_read(now);
        }
        arrival
    }

    #[cold]
    fn note_header(&mut self, segment: &Segment, flags: EcnFlags, now: Time) {
        let echoed = segment.timestamps.filter(|_| self.timestamps).map(|ts| ts.echo);
        let age = |value| self.tx.flight.echo_age(value, &self.config, now);
        let echo = echoed.and_then(|value| Some(Echo { value, age: age(value)? }));
        self.rx.note_header(segment, echo, flags.cwr());
    }

    /// Processes payload and FIN, then sends data, and the ACK if no data segment carried it. `needs_ack` is true if
    /// the feedback scheme requires an ACK.
    #[inline(always)]
    fn take_data(&mut self, segment: &Segment, flags: EcnFlags, needs_ack: bool, now: Time, out: &mut Out) {
        let arrival = if segment.seq_len() > 0 {
            self.take_in(segment, flags, now)
        } else {
            crate::receiver::Arrival { ack: AckDue::No, duplicate: 0 }
        };
        self.counters.duplicate_bytes += arrival.duplicate;
        if self.rx.has_fin() {
            self.state = match self.state {
                State::Established => State::CloseWait,
                State::FinWait1 => State::Closing,
                State::FinWait2 => State::TimeWait,
                state => state,
            };
        }
        let before = out.len();
        self.output(now, out);
        let marked = segment.ecn == Ecn::Ce && self.config.ecn_immediate_ack && !self.ecn.is_off();
        let due = match arrival.ack {
            // Only for a segment with nothing to acknowledge: the feedback scheme may acknowledge marked ACKs.
            AckDue::No => needs_ack,
            AckDue::Now => true,
            AckDue::Delayed => needs_ack || marked,
        };
        if due {
            let sent = out.len() > before;
            if arrival.ack == AckDue::No && !self.rx.delays_ack() {
                if !sent {
                    self.send_ack_of_acks(now, out);
                }
            } else if !sent || self.rx.has_gap() {
                self.send_ack(now, out);
            }
        }
    }
}
