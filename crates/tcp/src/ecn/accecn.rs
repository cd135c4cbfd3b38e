//! More accurate ECN feedback (AccECN, RFC 9768): the receiver counts marked packets, and reports the count modulo 8 in three
//! flags of every segment (the ACE field), and bytes of each codepoint in an option.

mod counters;
mod demand;
mod linux;
mod traversal;

use ecnlab_base::{Dur, Time};
use ecnlab_wire::{AccEcn as Fields, Ecn, Flags, Segment};

use super::{AckFeedback, Acked, Agreed, EcnFlags, Feedback, Marks, PacketKind, Stamp};
use crate::ack_sample::Amount;
use crate::config::{Config, EcnOption};
use crate::control_packets;
use crate::facts::{Facts, QuickAcks};
use crate::registry::EcnKind;
use counters::{Received, Reported};
use demand::Demand;
use traversal::Traversal;

/// Static properties common to both variants.
const SHARED: Facts =
    Facts { counts_marks: true, wants_dsack: true, wants_last_ack: true, quick_acks: QuickAcks::Never, ..Facts::PLAIN };
/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "accecn",
    label: "AccECN",
    summary: "More accurate ECN: counts of marked packets in three flags of every segment, and of bytes in an option.",
    reference: "RFC 9768",
    control_packets: control_packets::ALL,
    ..SHARED
};
/// Static properties of AccECN as in Linux.
pub const LINUX: Facts = Facts {
    name: "accecn-linux",
    label: "AccECN as in Linux",
    summary: "More accurate ECN as Linux 7 has it: control packets and retransmissions ECN-capable, an option on every segment.",
    reference: "RFC 9768; Linux, net/ipv4/tcp_ecn.c",
    ..SHARED
};

/// The ACE field of a SYN: all flags (§3.1.1).
const SYN: Flags = flags_of(0b111);
/// Marks since the last ACK that are acknowledged at once: with data to acknowledge, and without (§3.2.2.5.1).
const MARKS_WITH_DATA: u32 = 2;
const MARKS_WITHOUT: u32 = 3;
/// The same in Linux (TCP_ACCECN_ACE_MAX_DELTA).
const MARKS_IN_LINUX: u32 = 6;

/// AccECN by RFC 9768.
pub type AccEcn = Counted<false>;
/// AccECN as Linux 7 has it (include/net/tcp_ecn.h, net/ipv4/tcp_input.c, tcp_output.c).
pub type AccEcnLinux = Counted<true>;

/// AccECN's state at one end.
#[derive(Clone, Debug, Default)]
pub struct Counted<const LINUX: bool> {
    received: Received,
    reported: Reported,
    reported_linux: linux::Reported,
    handshake: Handshake,
    /// This end sends nothing ECN-capable: the path has changed codepoints, or a server has met with a SYN or SYN-ACK without
    /// AccECN (§3.1.5, §3.2.2.1 table 4, §3.2.2.3, §3.2.2.4).
    not_ect: bool,
    /// The path changes the peer's ACE field: its feedback is ignored (§3.2.2.1 table 4, §3.2.2.4).
    ignores_feedback: bool,
    /// The peer's option has been received.
    option_seen: bool,
    /// It arrived with a counter at zero, although counters start at one: the path overwrites it (§3.2.3.2.4).
    option_broken: bool,
    /// State of the end's own option.
    traversal: Traversal,
    /// The first data are still to carry it though no counter has moved (§3.2.3.2.1).
    option_due: bool,
    /// Linux with `tcp_ecn_option = 1`: the segments that are to have it; otherwise every one with room.
    demand: Option<Box<Demand>>,
}

/// State of the handshake.
#[derive(Clone, Copy, Debug, Default)]
struct Handshake {
    /// The end that opens: SYNs that timed out. The other: SYN-ACKs that were sent.
    sent: u8,
    /// A SYN no longer requests AccECN, or a SYN-ACK no longer agrees.
    plain: bool,
    /// The SYN-ACK that is sent next answers a SYN; others time out.
    requested: bool,
    /// The peer has reported that the SYN or SYN-ACK arrived with CE.
    marked: bool,
    /// Codepoints with which SYNs or SYN-ACKs left, one bit each.
    left: u8,
    /// The codepoint of the latest SYN.
    syn: Ecn,
    /// That of the SYN-ACK, until the ACK that reflects it has left.
    syn_ack: Option<Ecn>,
    /// Passive end: no segment has arrived since the SYN.
    awaits_ack: bool,
    /// Active end: no segment has arrived since the SYN-ACK.
    awaits_count: bool,
}

impl Handshake {
    /// Whether a SYN or SYN-ACK that is reflected as `ace` can have left as it did: unchanged, or marked.
    fn may_arrive_as(self, ace: u8) -> bool {
        [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0].into_iter().any(|ecn| {
            let reflected = ace_of(reflection(ecn)) == ace || ecn.is_capable() && ace == 0b110;
            reflected && self.left & 1 << ecn as u8 != 0
        })
    }
}

/// The ACE field of a segment as a number.
fn ace_of(flags: Flags) -> u8 {
    EcnFlags::number(flags).ace()
}

/// The flags of an ACE field.
const fn flags_of(ace: u8) -> Flags {
    EcnFlags::count(ace).in_header()
}

/// Returns the field with which SYN-ACK and last ACK reflect a codepoint (§3.1.2 table 2, §3.2.2.1 table 3).
fn reflection(ecn: Ecn) -> Flags {
    flags_of(match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    })
}

/// Returns the feedback that a SYN requests (§3.1.2 table 2, §3.1.3). Reserved flags are treated as AccECN.
fn requested(syn: &Segment) -> Agreed {
    match ace_of(syn.flags) {
        0b000 => Agreed::Nothing,
        0b011 => Agreed::Another(EcnKind::Rfc3168),
        _ => Agreed::This,
    }
}

impl<const LINUX: bool> Counted<LINUX> {
    /// The codepoint of data.
    fn codepoint(&self) -> Ecn {
        if self.not_ect { Ecn::NotEct } else { Ecn::Ect0 }
    }

    /// That of ACKs, FINs and what is sent again: RFC 3168 §6.1.4 to §6.1.6, which RFC 9768 leaves alone.
    fn control_codepoint(&self) -> Ecn {
        if LINUX { self.codepoint() } else { Ecn::NotEct }
    }

    /// The ACE field of a segment after the handshake.
    fn ace(&mut self) -> Flags {
        flags_of(self.received.take_ace())
    }

    /// The first segment that comes after the SYN-ACK was sent. Only a pure ACK without SACK reflects (§3.2.2.1).
    fn on_first(&mut self, segment: &Segment, ace: u8) {
        self.option_due = true;
        self.handshake.awaits_ack = false;
        if let Some(demand) = &mut self.demand {
            demand.at_least(1);
        }
        // §3.2.3.2.2: no SYN-ACK was sent without the option.
        if !LINUX && self.handshake.sent == 1 {
            self.traversal.arrived();
        }
        match ace {
            // §3.2.2.1 table 4: the field was zeroed, for no sender begins there. §3.2.2.4 does not recommend the test on
            // a segment that is no pure ACK.
            0b000 if LINUX => (self.not_ect, self.option_broken) = (true, true),
            0b000 => (self.not_ect, self.ignores_feedback) = (true, true),
            _ if !segment.is_pure_ack() || !segment.sack.is_empty() => {}
            // §3.2.2.3: something on the path may have changed the codepoint of the SYN-ACK. Reflected CE counts.
            0b010 | 0b011 | 0b100 | 0b110 => {
                self.not_ect |= !self.handshake.may_arrive_as(ace);
                if ace == 0b110 && !LINUX {
                    self.handshake.marked = true;
                    self.reported.reflected_ce();
                }
            }
            // Table 4: the others are unused, and taken for a count that begins.
            _ => {}
        }
    }

    /// The first segment that comes after the SYN-ACK: no counter begins at 0. §3.2.2.4 does not recommend the test.
    fn on_first_count(&mut self, ace: u8) {
        self.handshake.awaits_count = false;
        if !LINUX && ace == 0 {
            (self.not_ect, self.ignores_feedback) = (true, true);
        }
    }

    /// What an acceptable segment shows once: how the handshake's codepoints arrived, and the peer's first option.
    #[cold]
    fn on_first_of_its_kind(&mut self, segment: &Segment, ace: u8) {
        if self.handshake.awaits_count {
            self.on_first_count(ace);
        }
        if self.handshake.awaits_ack {
            self.on_first(segment, ace);
        }
        if let Some(fields) = segment.acc_ecn.as_ref().filter(|_| !self.option_seen) {
            self.note_option(fields);
        }
    }

    /// A segment that is not counted: outside the window, or a SYN.
    #[cold]
    fn on_other(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::SYN) {
            self.on_syn_again(segment);
        } else if segment.len > 0 {
            self.traversal.on_old_data(segment);
        }
    }

    /// A segment is about to be counted.
    #[inline(always)]
    fn note_demand(&mut self, segment: &Segment) {
        if LINUX && let Some(demand) = &mut self.demand {
            demand.on_segment(&self.received, segment);
        }
    }

    /// Counts an acceptable segment. Returns whether its ACK is due at once.
    #[inline(always)]
    fn count(&mut self, segment: &Segment) -> bool {
        self.note_demand(segment);
        // §3.2.2.5.1: at the first mark of a row, and at every so many marks.
        let (first, unreported) = self.received.count(segment.ecn, segment.len);
        if LINUX {
            return segment.len > 0 && (self.received.has_changed() || unreported >= MARKS_IN_LINUX);
        }
        let enough = if self.received.has_unacknowledged() { MARKS_WITH_DATA } else { MARKS_WITHOUT };
        unreported >= enough || first && segment.len > 0
    }

    /// A SYN after the handshake. If it is the SYN-ACK again, the ACK that answers it reflects again (§3.2.2.1).
    fn on_syn_again(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::ACK) {
            self.handshake.syn_ack = Some(segment.ecn);
            if !LINUX {
                self.received.count_syn_ack(segment.ecn);
            }
        }
    }

    /// Notes the peer's first option.
    fn note_option(&mut self, fields: &Fields) {
        self.option_broken |= [fields.ect0(), fields.ect1()].contains(&Some(0));
        self.option_seen = true;
    }
}

impl<const LINUX: bool> Feedback for Counted<LINUX> {
    fn configure(&mut self, config: &Config) {
        match config.ecn_option {
            EcnOption::Scheme => {}
            EcnOption::Off => self.traversal = Traversal::BLOCKED,
            EcnOption::Minimum if LINUX => self.demand = Some(Box::new(Demand::new(config.ecn_option_beacon))),
            EcnOption::Minimum => {}
            EcnOption::Full => self.received.report_always(),
            EcnOption::Persist => {
                self.received.report_always();
                self.traversal = Traversal::ASSUMED;
            }
        }
    }

    /// Only some segments have the option, but any may.
    fn option_len(&self) -> u32 {
        if self.traversal.is_blocked() { 0 } else { Fields::wire_len(3) }
    }

    fn requested(&self, syn: &Segment) -> Option<EcnKind> {
        match requested(syn) {
            Agreed::This if !LINUX => Some(EcnKind::AccEcn),
            Agreed::Another(another) if !LINUX => Some(another),
            _ => None,
        }
    }

    #[inline(always)]
    fn read(&self, flags: Flags) -> EcnFlags {
        EcnFlags::number(flags)
    }

    fn stamp(&mut self, kind: PacketKind) -> Stamp {
        if !LINUX && matches!(kind, PacketKind::Retransmission | PacketKind::Probe) {
            self.traversal.sent_again();
        }
        self.traversal.sent(false);
        match kind {
            // §3.1.4.1: with the offer, once more with it, then without.
            PacketKind::Syn if self.handshake.plain => Stamp::NONE,
            PacketKind::Syn => Stamp::flags(SYN),
            PacketKind::SynAck => {
                // §3.2.3.2.2: with the option, then without it; where that one times out, without AccECN's flags.
                self.handshake.sent = self.handshake.sent.saturating_add(1);
                self.handshake.awaits_ack = true;
                let timed_out = !std::mem::take(&mut self.handshake.requested);
                self.handshake.plain |= timed_out && self.handshake.sent > 2;
                if self.handshake.plain {
                    self.not_ect = true;
                    return Stamp::NONE;
                }
                Stamp::flags(reflection(self.handshake.syn))
            }
            PacketKind::HandshakeAck | PacketKind::Ack => {
                let reflected = self.handshake.syn_ack.take().map(reflection);
                Stamp { flags: reflected.unwrap_or_else(|| self.ace()), ecn: self.control_codepoint() }
            }
            PacketKind::Data => Stamp { flags: self.ace(), ecn: self.codepoint() },
            PacketKind::Retransmission | PacketKind::Probe | PacketKind::Fin | PacketKind::Rst => {
                Stamp { flags: self.ace(), ecn: self.control_codepoint() }
            }
        }
    }

    #[inline]
    fn has_option(&self, kind: PacketKind) -> bool {
        let at_start = match kind {
            // §3.2.3.2.1: never on a SYN, and not on a SYN-ACK that is sent again.
            PacketKind::Syn | PacketKind::Rst => return false,
            PacketKind::SynAck => return self.handshake.sent == 1 && !self.traversal.is_blocked(),
            _ if self.traversal.is_blocked() || LINUX && !self.option_seen => return false,
            _ if LINUX => return true,
            PacketKind::HandshakeAck => true,
            PacketKind::Data => self.option_due,
            _ => false,
        };
        at_start || self.received.option_is_due()
    }

    fn option(&mut self, kind: PacketKind, room: u32, now: Time, srtt: Dur) -> Option<Fields> {
        let mut demand = if LINUX && kind != PacketKind::SynAck { self.demand.as_deref_mut() } else { None };
        if demand.as_ref().is_some_and(|demand| !demand.is_due(now, srtt)) {
            return None;
        }
        if LINUX {
            self.received.put_ect1_first();
        }
        let fields = self.received.fields(room)?;
        if let Some(demand) = &mut demand {
            demand.sent(now);
        }
        self.traversal.sent(true);
        if !LINUX && kind == PacketKind::Data && std::mem::take(&mut self.option_due) {
            self.traversal.sent_first_data();
        }
        Some(fields)
    }

    // ---- the handshake ----

    fn answer(&mut self, syn: &Segment) -> Agreed {
        let agreed = requested(syn);
        self.handshake.syn = syn.ecn;
        self.handshake.requested = true;
        if self.handshake.sent > 0 {
            // §3.1.5: the first SYN has decided. Another without the offer shows that the path may not let it through.
            self.not_ect |= agreed == Agreed::Nothing;
            return Agreed::This;
        }
        agreed
    }

    fn agree(&mut self, syn_ack: &Segment) -> Agreed {
        match ace_of(syn_ack.flags) {
            // Table 2: no ECN, and a server that reflects reserved bits.
            0b000 | 0b111 => return Agreed::Nothing,
            0b001 => return Agreed::Another(EcnKind::Rfc3168),
            // The field is one of a later version.
            0b101 => {}
            // §3.2.2.3: the codepoint has changed on the path. Reflected CE is congestion, but no count.
            ace => {
                self.not_ect = !self.handshake.may_arrive_as(ace);
                self.handshake.marked = ace == 0b110 && !LINUX;
            }
        }
        self.handshake.awaits_count = true;
        self.handshake.syn_ack = Some(syn_ack.ecn);
        if !LINUX || !self.not_ect {
            self.received.count_syn_ack(syn_ack.ecn);
        }
        self.option_due = true;
        if let Some(fields) = syn_ack.acc_ecn.as_ref().filter(|_| !self.option_seen) {
            self.note_option(fields);
            if let Some(demand) = &mut self.demand {
                demand.at_least(2);
            }
        }
        Agreed::This
    }

    fn sent_syn(&mut self, ecn: Ecn) {
        self.handshake.left |= 1 << ecn as u8;
    }

    fn handshake_was_marked(&self) -> bool {
        self.handshake.marked
    }

    fn on_syn_timeout(&mut self, config: &Config) -> Agreed {
        self.handshake.sent = self.handshake.sent.saturating_add(1);
        if !config.ecn_syn_fallback || self.handshake.sent != 2 {
            return Agreed::This;
        }
        self.handshake.plain = true;
        Agreed::NotOffered
    }

    // ---- the receiver of data ----

    fn on_arrival(&mut self, segment: &Segment, flags: EcnFlags, in_window: bool) -> bool {
        if !in_window || segment.flags.contains(Flags::SYN) {
            self.on_other(segment);
            return false;
        }
        if self.handshake.awaits_count || self.handshake.awaits_ack || segment.acc_ecn.is_some() && !self.option_seen {
            self.on_first_of_its_kind(segment, flags.ace());
        }
        if segment.len > 0 {
            self.traversal.on_new_data();
        }
        self.count(segment)
    }

    /// Linux counts before it looks at what is new (tcp_rcv_established, step5), and tcp_sequence lets these pass.
    fn on_duplicate(&mut self, segment: &Segment) {
        if LINUX {
            self.note_demand(segment);
            self.received.count(segment.ecn, segment.len);
        }
    }

    // ---- the sender of data ----

    fn decode(&mut self, ack: &Segment, flags: EcnFlags, acked: Acked) -> AckFeedback {
        let order = self.reported.order(ack);
        if !LINUX && acked.to > acked.from && acked.to > 1 {
            self.traversal.arrived();
        }
        // An ACK without progress may be an old one, and one of the SYN alone may hold a reflection.
        let progress = acked.to > acked.from || acked.new_sack || (order.is_gt() && acked.to > 1);
        if self.ignores_feedback || !progress || order.is_lt() {
            return AckFeedback::default();
        }
        let newly = acked.newly();
        let fields = ack.acc_ecn.filter(|_| !self.option_broken);
        let ace = flags.ace();
        let marked = if LINUX {
            self.reported_linux.decode(ace, fields, newly, acked.mss)
        } else {
            self.reported.decode(ace, fields, newly, acked.mss)
        };
        // §3.2.3.2.5: something on the path changes the ACE field.
        self.not_ect |= self.reported.contradicts();
        if marked == Amount::default() {
            return AckFeedback::default();
        }
        // Linux responds to packets alone (tcp_accecn_process): bytes may follow with a later option.
        AckFeedback { echo: !LINUX || marked.packets > 0, marks: Marks::Counted(marked), no_growth: false }
    }

    fn on_reduction(&mut self) {}

    fn is_capable(&self) -> bool {
        !self.not_ect
    }
}

#[cfg(test)]
mod tests;
