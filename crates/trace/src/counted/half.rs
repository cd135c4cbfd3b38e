//! The data of one end and its peer's feedback about marks on that data.

use ecnlab_wire::{Ecn, Flags, TcpOptions};

use super::ace::{Ace, counts};
use super::bytes::{Bytes, Reported};
use super::expected::{Entry, Queue, Span};
use super::marks::Marks;
use super::prompt::Prompt;
use super::{Passing, Scheme, ace_of};
use crate::ecn_seen::Place;
use crate::rules::{Rule, Violations};

/// A packet without data captured this many nanoseconds ago has been counted, even if the peer's packets were queued in
/// its host.
const LONG_AGO: u64 = 1_000_000_000;

/// The data of one end, and the feedback about it.
#[derive(Clone, Debug, Default)]
pub(super) struct Half {
    /// Counts of marks.
    pub marks: Marks,
    /// The largest segment that the peer accepts, in bytes.
    pub segment: Option<u32>,
    queue: Queue,
    /// ACKs below this offset give no exact counts: data was retransmitted or reordered.
    clear_from: u64,
    missing: u64,
    largest: u32,
    ace: Ace,
    bytes: Bytes,
    prompt: Prompt,
    /// Packets and bytes reported by the ACE field since the last option.
    estimated: (u64, u64),
    /// First byte not acknowledged at the last ACK.
    una: Option<u64>,
    /// Possibly marked packets and bytes that have arrived since the option's CE counter was compared.
    uncounted: (u64, u64),
    /// The peer's first ACK and first data have been captured.
    peer_began: [bool; 2],
    syn_ack_seen: bool,
    dctcp_una: u64,
    /// The latest timestamp of the peer's clock.
    stamp: Option<u32>,
}

/// Data that an ACK shows to have arrived.
#[derive(Default)]
struct Arrived {
    packets: Span,
    /// Newly acknowledged bytes or, if more, the bytes of all transmissions of ECN-capable data.
    bytes: u64,
    /// Minimum number of bytes with CE.
    marked: u64,
    /// Further bytes that may have arrived.
    floating: u64,
    /// The newest data.
    last: Option<Entry>,
}

impl Half {
    pub fn join(&mut self) {
        self.ace.join();
        self.bytes.blind();
    }

    pub fn heap(&self) -> usize {
        self.queue.heap()
    }

    /// Counters of the options.
    pub fn reported(&self) -> Reported {
        self.bytes.reported()
    }

    // ---- the end sends data ----

    /// Processes a packet of the end that sends the data.
    pub fn send(&mut self, passing: &Passing<'_>, scheme: Scheme) {
        let (segment, place) = (passing.segment, passing.to_peer());
        if segment.flags.contains(Flags::SYN) {
            self.send_syn(passing, scheme);
            return;
        }
        if segment.flags.contains(Flags::RST) {
            return;
        }
        let start = passing.own.offset(segment.seq);
        let end = start + u64::from(segment.seq_len());
        let again = passing.sending.again.is_some();
        if again || passing.sending.late || passing.sending.gap || passing.sending.after_ack {
            self.disturb(passing.own.next());
        }
        // The receiver drops a segment whose timestamp is older (RFC 7323 §5.3), so data captured before may come
        // again.
        let old = if segment.seq_len() > 0 { end <= passing.arrived } else { start < passing.arrived };
        if place == Place::Receiver && segment.seq_len() > 0 && end <= passing.own.una() {
            return;
        }
        if place == Place::Receiver && !old {
            self.prompt.arrive(segment.ecn, segment.len, segment.time, scheme);
        }
        self.largest = self.largest.max(segment.len);
        let counted = match scheme {
            Scheme::AccEcn => {
                segment.ecn != Ecn::NotEct && (segment.len > 0 || segment.ecn == Ecn::Ce || place != Place::Receiver)
            }
            Scheme::Dctcp => segment.len > 0,
        };
        if counted {
            // A packet without data has arrived when later data has.
            let end = if segment.seq_len() > 0 { end } else { passing.own.next() + 1 };
            let sure = !old && (!again || place == Place::Receiver);
            self.push(Entry { end, time: segment.time, len: segment.len, ecn: segment.ecn, sure }, passing.own.next());
        }
    }

    /// The SYN-ACK counts as one packet, once (§3.2.2.2).
    fn send_syn(&mut self, passing: &Passing<'_>, scheme: Scheme) {
        let segment = passing.segment;
        if scheme == Scheme::AccEcn && segment.flags.contains(Flags::ACK) && segment.ecn != Ecn::NotEct {
            let sure = !std::mem::replace(&mut self.syn_ack_seen, true);
            let end = passing.own.offset(segment.seq) + 1;
            self.push(Entry { end, time: segment.time, len: 0, ecn: segment.ecn, sure }, passing.own.next());
        }
    }

    fn push(&mut self, entry: Entry, next: u64) {
        if !self.queue.push(entry) {
            self.disturb(next);
            self.bytes.blind();
        }
    }

    fn disturb(&mut self, next: u64) {
        self.clear_from = self.clear_from.max(next);
        self.queue.doubt();
    }

    // ---- its peer reports marks ----

    /// Processes a packet of the peer. With `reflects` its ACE field reflects a codepoint and counts nothing.
    pub fn on_peer(&mut self, passing: &Passing<'_>, scheme: Scheme, reflects: bool, found: &mut Violations) {
        let (segment, place) = (passing.segment, passing.to_sender());
        if place == Place::Receiver {
            let virtual_time = passing.own.answer == Some(0);
            self.prompt.answer(scheme, virtual_time, segment.number, segment.time, found);
        }
        let (una, next) = (passing.peers.una(), passing.peers.next());
        let has_option = passing.options.acc_ecn.is_some();
        if reflects || passing.acked.old || self.is_superseded(segment.options) {
            if has_option {
                self.bytes.pass();
            }
            return;
        }
        let idle =
            passing.peers.flight() == 0 && segment.len > 0 && !passing.sending.late && passing.sending.again.is_none();
        let disturbed = passing.acked.duplicate || !passing.options.sack().is_empty();
        if !passing.acked.advanced && !disturbed && !idle {
            if has_option {
                self.bytes.pass();
            }
            return;
        }
        self.note_missing(passing.peers.counts.missing_bytes, next);
        let clean = !disturbed && una >= self.clear_from;
        let arrived = self.settle(una, clean, idle && !passing.acked.advanced, segment.time, place);
        if disturbed {
            self.disturb(next);
        }
        match scheme {
            Scheme::AccEcn => self.check_count(passing, &arrived, found),
            Scheme::Dctcp => self.check_state(passing, &arrived, clean, found),
        }
    }

    /// Returns whether the packet was sent before one captured earlier (RFC 9768 appendix A.1).
    fn is_superseded(&mut self, options: &[u8]) -> bool {
        let Some(stamp) = TcpOptions::parse(options).timestamps.map(|stamps| stamps.value) else { return false };
        let latest = *self.stamp.get_or_insert(stamp);
        let old = (stamp.wrapping_sub(latest) as i32) < 0;
        self.stamp = Some(if old { latest } else { stamp });
        old
    }

    /// The last ACK of the handshake and the first data of the client should have the option (§3.2.3.2.1).
    pub fn note_start(&mut self, passing: &Passing<'_>) {
        let first = usize::from(passing.segment.len > 0);
        let only_syn_ack = passing.peers.relative(passing.peers.una()) == 1;
        if !std::mem::replace(&mut self.peer_began[first], true) && only_syn_ack {
            self.bytes.at_start(passing.options.acc_ecn.is_some(), passing.segment.number, passing.segment.time);
        }
    }

    fn note_missing(&mut self, missing: u64, next: u64) {
        if std::mem::replace(&mut self.missing, missing) != missing {
            self.disturb(next);
            self.bytes.blind();
        }
    }

    /// Returns the data that an ACK of `una` shows to have arrived, and data that may have arrived as well.
    fn settle(&mut self, una: u64, clean: bool, idle: bool, time: u64, place: Place) -> Arrived {
        let mut arrived = Arrived::default();
        let old = time.saturating_sub(LONG_AGO);
        while let Some(entry) = self.queue.settle(una).or_else(|| self.queue.settle_old(old).filter(|_| idle)) {
            let span = counts(&entry, place, self.segment);
            arrived.packets.add(span.low, span.high);
            if entry.ecn == Ecn::Ce && entry.sure {
                arrived.marked += u64::from(entry.len);
            }
            if entry.len > 0 {
                arrived.last = Some(entry);
            }
            arrived.bytes += u64::from(entry.len);
            self.bytes.settle(&entry, place);
        }
        arrived.bytes = arrived.bytes.max(una.saturating_sub(self.una.replace(una).unwrap_or(una)));
        for entry in self.queue.floating(!clean) {
            arrived.packets.high += counts(entry, place, self.segment).high;
            arrived.floating += u64::from(entry.len);
            entry.sure = false;
        }
        arrived
    }

    fn check_count(&mut self, passing: &Passing<'_>, arrived: &Arrived, found: &mut Violations) {
        let (segment, place) = (passing.segment, passing.to_sender());
        let (number, time) = (segment.number, segment.time);
        let (mut packets, broken) = self.ace.take(ace_of(segment.flags), arrived.packets);
        if let Some(rule) = broken {
            found.add(rule, number, time);
        }
        let mean = u64::from(self.largest.max(1));
        let uncounted = (self.uncounted.0 + arrived.packets.high, self.uncounted.1 + arrived.bytes);
        self.uncounted = uncounted;
        // A counter that exceeds the bytes sent is corrupt.
        let most = uncounted.1 + arrived.floating;
        let bytes = match passing.options.acc_ecn.filter(|fields| !fields.is_empty()) {
            Some(fields) if passing.acked.advanced => {
                let bytes = self.bytes.take(fields, arrived.floating, place, found, (number, time)).min(most);
                if fields.ce().is_some() {
                    self.uncounted = (0, 0);
                }
                let (before, estimated) = std::mem::take(&mut self.estimated);
                // The field has wrapped if the reported bytes need more packets.
                while (before + packets) * mean < bytes && before + packets + 8 <= uncounted.0 {
                    packets += 8;
                }
                bytes.saturating_sub(estimated)
            }
            fields => {
                match fields {
                    Some(_) => self.bytes.pass(),
                    None if passing.acked.advanced => {
                        self.bytes.without(arrived.marked, segment.options.len(), number, time);
                    }
                    None => {}
                }
                let bytes = (packets * mean).min(arrived.bytes + arrived.floating);
                self.estimated = (self.estimated.0 + packets, self.estimated.1 + bytes);
                bytes
            }
        };
        let at = (time, passing.peers.answer.unwrap_or(0));
        self.marks.on_ack((passing.peers.una(), passing.peers.next()), at, packets, bytes);
    }

    fn check_state(&mut self, passing: &Passing<'_>, arrived: &Arrived, clean: bool, found: &mut Violations) {
        let (segment, una) = (passing.segment, passing.peers.una());
        let ece = segment.flags.contains(Flags::ECE);
        if let Some(last) = arrived.last.filter(|last| clean && last.sure) {
            let (marked, exact) = (last.ecn == Ecn::Ce, passing.to_sender() == Place::Receiver);
            if ece != marked && (exact || marked) {
                found.add(Rule::EceNotState, segment.number, segment.time);
            }
        }
        let acked = una.saturating_sub(self.dctcp_una);
        let known = std::mem::replace(&mut self.dctcp_una, una) > 0;
        let bytes = if ece && known { acked } else { 0 };
        let at = (segment.time, passing.peers.answer.unwrap_or(0));
        self.marks.on_ack((una, passing.peers.next()), at, bytes.div_ceil(u64::from(self.largest.max(1))), bytes);
    }
}
