//! One packet between the two ends: the ACK, the data, and the rules that it can break by itself.

use ecnlab_wire::{Ecn, Flags, TcpOptions};

use super::{ECHO, End, Seen};
use crate::ecn_seen::{Data, Echo, Place};
use crate::outstanding::Cause;
use crate::packet::Segment;
use crate::rules::Rule;
use crate::stream::{Acked, CapturedAck, Role, Sending};

/// Processes an ACK by `me` of the data of `peer`.
#[inline]
pub(super) fn acknowledge(
    me: &mut End,
    peer: &mut End,
    segment: &Segment<'_>,
    options: &TcpOptions,
    classic: bool,
) -> Acked {
    let control = Flags::SYN | Flags::FIN | Flags::RST;
    let mut bare = segment.len == 0 && !segment.flags.intersects(control);
    if bare && me.probes_without_data(peer, segment) {
        bare = false;
    }
    let flight = peer.stream.flight();
    let acked = peer.stream.acknowledge(&CapturedAck {
        ack: segment.ack,
        window: segment.window,
        windows: &me.counts.windows,
        bare,
        echo: classic && segment.flags & (Flags::ECE | Flags::SYN) == Flags::ECE,
        options: segment.options,
        blocks: options.sack(),
        time: segment.time,
    });
    me.counts.duplicate_acks += u64::from(acked.duplicate);
    if peer.fin_end.is_some_and(|end| peer.stream.una() >= end) {
        peer.ecn.end();
    }
    if classic && !segment.flags.intersects(Flags::SYN | Flags::RST) {
        let echo = Echo {
            number: segment.number,
            time: segment.time,
            ece: segment.flags.contains(Flags::ECE),
            old: acked.old,
            una: peer.stream.una(),
            next: peer.stream.next(),
            flight,
            answer: peer.stream.answer.unwrap_or(0),
            near: peer.stream.answer.unwrap_or(0) <= me.stream.answer.unwrap_or(u64::MAX),
            place: Place::of(me.stream.answer, peer.stream.answer, peer.stream.counts.missing_bytes > 0),
        };
        peer.ecn.echo(&echo, &mut me.violations);
    }
    acked
}

/// Processes data, SYN or FIN sent by `me`.
#[inline]
pub(super) fn send(me: &mut End, peer: &End, segment: &Segment<'_>, classic: bool) -> Sending {
    let role = me.role(peer, segment);
    let sending = me.stream.send(segment.seq, segment.seq_len(), segment.time, role, segment.options);
    let end = me.stream.offset(segment.seq) + u64::from(segment.seq_len());
    let start = end - u64::from(segment.seq_len());
    if segment.flags.contains(Flags::FIN) {
        me.fin_end = Some(end);
    }
    if segment.len > 0 && segment.flags.contains(Flags::SYN) {
        me.stream.note_syn_data(end);
    }
    me.count_data(segment, &sending);
    if sending.again.is_some() {
        me.ecn.resent(start, end);
        if sending.timer || sending.again == Some(Cause::Fast) {
            me.ecn.lost(sending.timer, me.stream.una(), me.stream.next(), me.stream.ack_time());
        }
    } else if sending.late || sending.gap || sending.after_ack {
        me.ecn.unclear();
    }
    if segment.len > 0 && classic && !sending.keep_alive {
        let data = Data {
            number: segment.number,
            time: segment.time,
            start,
            end,
            len: segment.len,
            ecn: segment.ecn,
            cwr: segment.flags.contains(Flags::CWR) && !segment.flags.contains(Flags::SYN),
            again: sending.again.is_some(),
            dropped: segment.dropped,
            flight: me.stream.flight(),
            beyond: me.stream.is_inflated() || !me.stream.answers_an_ack(segment.time),
            limited: me.options.and(peer.options).is_some()
                && me.stream.flight() + u64::from(segment.len) > peer.window(),
            una: me.stream.una(),
            next: me.stream.next(),
        };
        me.ecn.send(&data, &mut me.violations);
    }
    sending
}

impl End {
    /// Returns the role of a segment with data, SYN or FIN.
    #[inline]
    fn role(&self, peer: &End, segment: &Segment<'_>) -> Role {
        let (stream, flags, time) = (&self.stream, segment.flags, segment.time);
        if flags.contains(Flags::SYN) {
            return self.syn_role(peer, segment);
        }
        if segment.len == 1 && !flags.intersects(Flags::FIN | Flags::RST) {
            let alone = peer.counts.packets == 0;
            // RFC 9293 §3.8.6.1: a zero-window probe is one byte sent into a closed window.
            if peer.has_closed_window() {
                return Role::Probe;
            }
            if stream.is_keep_alive(segment.seq, 1, time, alone) {
                return Role::KeepAlive;
            }
        }
        if stream.repeats_syn_data(segment.seq, time) { Role::SynData } else { Role::Data }
    }

    #[cold]
    fn syn_role(&self, peer: &End, segment: &Segment<'_>) -> Role {
        let late = self.counts.syn == 1 && self.stream.is_before_start(segment.seq);
        if late || (self.crossed && self.syn_acks == 1) {
            return Role::Syn;
        }
        if !segment.flags.contains(Flags::ACK) && peer.counts.rst > 0 && peer.syn_seq.is_none() {
            return Role::Refused;
        }
        let in_time = || peer.times.is_some_and(|times| self.stream.is_answer(times.1, segment.time));
        if segment.flags.contains(Flags::ACK) && peer.counts.syn > 1 && in_time() { Role::Answer } else { Role::Data }
    }

    /// Counts a keep-alive or a zero-window probe without data, whose number is below SND.NXT (Linux: SND.UNA - 1).
    /// Returns whether it is one.
    #[inline]
    fn probes_without_data(&mut self, peer: &End, segment: &Segment<'_>) -> bool {
        let alone = peer.counts.packets == 0;
        if self.fin_end.is_some() || !self.stream.is_keep_alive(segment.seq, 0, segment.time, alone) {
            return false;
        }
        let closed = peer.has_closed_window();
        self.counts.probes += u64::from(closed);
        self.counts.keep_alives += u64::from(!closed);
        true
    }

    #[inline]
    fn count_data(&mut self, segment: &Segment<'_>, sending: &Sending) {
        let counts = &mut self.counts;
        let again = sending.again.is_some();
        if segment.len == 0 {
            counts.control_retransmits += u64::from(again);
            return;
        }
        let control = segment.seq_len() - segment.len;
        let unique = sending.fresh.saturating_sub(control.into()).min(segment.len.into());
        counts.data_packets += 1;
        if !(again || sending.late || sending.probe || sending.keep_alive || segment.flags.contains(Flags::SYN)) {
            counts.fresh[usize::from(segment.ecn.bits())] += 1;
        }
        counts.bytes += u64::from(segment.len);
        counts.unique_bytes += unique;
        counts.retransmitted_bytes += if again { u64::from(segment.len) - unique } else { 0 };
        counts.retransmits += u64::from(again);
        counts.out_of_order += u64::from(sending.late && !again);
        counts.probes += u64::from(sending.probe);
        counts.keep_alives += u64::from(sending.keep_alive);
        counts.largest = counts.largest.max(segment.len);
        let flight = self.stream.flight();
        counts.flight_max = counts.flight_max.max(flight);
        counts.flight_sum += flight;
        let first = self.data_times.map_or(segment.time, |t| t.0);
        self.data_times = Some((first, segment.time));
    }
}

/// Checks the rules that a single packet can break.
#[inline]
pub(super) fn check(
    me: &mut End,
    segment: &Segment<'_>,
    seen: &Seen,
    off: bool,
    classic: bool,
    accurate: bool,
    peer: &End,
) {
    let echo = segment.flags.intersects(ECHO);
    if segment.ecn == Ecn::NotEct && !echo {
        return;
    }
    let (number, time) = (segment.number, segment.time);
    let mut found = |rule: Rule| me.violations.add(rule, number, time);
    let capable = segment.ecn != Ecn::NotEct;
    if segment.flags.contains(Flags::SYN) {
        if capable {
            found(Rule::EctOnSyn);
        }
        // RFC 9768 §3.1.1: both flags reply to an AccECN SYN that arrived with ECT(1).
        if !accurate && is_odd(segment.flags, peer.offered) {
            found(Rule::SetupFlags);
        }
        return;
    }
    if echo && off {
        found(Rule::EceNotNegotiated);
    }
    if !capable {
        return;
    }
    let control = Flags::FIN | Flags::RST;
    if classic && segment.ecn == Ecn::Ect1 && segment.len > 0 {
        found(Rule::Ect1WithoutAccEcn);
    }
    if off {
        found(Rule::EctNotNegotiated);
    } else if !classic {
        // RFC 9768 §3.2.2.5.1 permits more to an AccECN host.
    } else if segment.len == 0 && !segment.flags.intersects(control) {
        found(Rule::EctOnAck);
    } else if seen.sending.again.is_some() {
        found(Rule::EctOnRetransmission);
    } else if seen.sending.probe {
        found(Rule::EctOnProbe);
    }
}

/// Returns whether the flags of a SYN or SYN-ACK without AE are undefined: only one of ECE and CWR in a SYN; in a
/// SYN-ACK both or CWR alone, and ECE if no SYN `offered` ECN.
#[cold]
fn is_odd(flags: Flags, offered: Option<bool>) -> bool {
    if flags.contains(Flags::AE) {
        return false;
    }
    let both = flags.contains(ECHO);
    if !flags.contains(Flags::ACK) {
        return flags.intersects(ECHO) && !both;
    }
    let alone = if flags.contains(Flags::CWR) { offered.is_some() } else { offered == Some(false) };
    both || (flags.intersects(ECHO) && alone)
}
