//! The feedback of DCTCP (RFC 8257 §3.2): each ACK reports whether the packets that it acknowledges were marked, so that the
//! sender can count them. The response is up to the window law.

use super::{AckFeedback, Acked, Agreed, EcnFlags, Feedback, PacketKind, Stamp};
use crate::config::Config;
use crate::control_packets::ControlPacket::*;
use crate::ecn_echo::Echo;
use crate::facts::{Facts, QuickAcks};
use ecnlab_wire::{Ecn, Flags, Segment};

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "dctcp",
    label: "DCTCP's feedback",
    summary: "DCTCP's feedback: ECE on an ACK means that the data it acknowledges were marked, no more and no less.",
    reference: "RFC 8257, section 3.2",
    counts_marks: true,
    // §4.1 recommends a setting for them. SYN, SYN-ACK and RST are ECN-capable in any case (§3.6).
    control_packets: &[Ack, Probe, Retransmission, Fin],
    // In Linux dctcp_ece_ack_update sets TCP_ECN_DEMAND_CWR before tcp_data_ecn_check would begin them.
    quick_acks: QuickAcks::AtNotEct,
    ..Facts::PLAIN
};

/// DCTCP's state at one end.
#[derive(Clone, Debug, Default)]
pub struct Dctcp {
    /// Receiver: the last data came with CE (DCTCP.CE).
    ce: bool,
    /// Sender: the window was reduced and CWR has not been sent yet.
    cwr_due: bool,
}

impl Dctcp {
    fn changes_state(&self, segment: &Segment) -> bool {
        segment.len > 0 && (segment.ecn == Ecn::Ce) != self.ce
    }

    fn ack_flags(&self) -> Flags {
        // §3.2: ECE if and only if DCTCP.CE is true.
        if self.ce { Flags::ECE } else { Flags::empty() }
    }
}

impl Feedback for Dctcp {
    fn stamp(&mut self, kind: PacketKind) -> Stamp {
        match kind {
            // §3.6: ECT on SYN, SYN-ACK and RST, so that switches treat them as they do data.
            PacketKind::Syn => Stamp { ecn: Ecn::Ect0, ..Echo::SYN },
            PacketKind::SynAck => Stamp { ecn: Ecn::Ect0, ..Echo::SYN_ACK },
            PacketKind::Rst => Stamp { ecn: Ecn::Ect0, ..Stamp::NONE },
            PacketKind::Data => {
                // §3.3: CWR as in RFC 3168 (§6.1.2 there), for a receiver that waits for it.
                let cwr = if std::mem::take(&mut self.cwr_due) { Flags::CWR } else { Flags::empty() };
                Stamp { flags: self.ack_flags() | cwr, ecn: Ecn::Ect0 }
            }
            // RFC 3168 §6.1.4 to §6.1.6, which RFC 8257 §4.1 lets a setting lift: `ecn_control`.
            PacketKind::Retransmission
            | PacketKind::Probe
            | PacketKind::Ack
            | PacketKind::HandshakeAck
            | PacketKind::Fin => Stamp::flags(self.ack_flags()),
        }
    }

    // §3.6: CE on a SYN or SYN-ACK is ignored.
    fn answer(&mut self, syn: &Segment) -> Agreed {
        Echo::answer(syn)
    }

    fn agree(&mut self, syn_ack: &Segment) -> Agreed {
        Echo::agree(syn_ack)
    }

    fn on_syn_timeout(&mut self, config: &Config) -> Agreed {
        Echo::on_syn_timeout(config)
    }

    fn flushes_ack(&self, segment: &Segment) -> bool {
        // §3.2, behind the rules: the ACK of the new state must not speak for packets of the old one.
        self.changes_state(segment)
    }

    fn on_arrival(&mut self, segment: &Segment, _: EcnFlags, in_window: bool) -> bool {
        // §3.2 rules 1 and 2: a change is acknowledged at once. RFC 3168 §6.1.5: outside the window CE is ignored.
        let changes = in_window && self.changes_state(segment);
        self.ce ^= changes;
        changes
    }

    fn decode(&mut self, _: &Segment, flags: EcnFlags, _: Acked) -> AckFeedback {
        // §3.3: what an ACK with ECE acknowledges was marked, all of it.
        Echo::decode(flags)
    }

    fn on_reduction(&mut self) {
        self.cwr_due = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(ecn: Ecn) -> Segment {
        Segment { len: 1_000, ecn, ..Segment::default() }
    }

    /// Whether the segment has a waiting ACK leave before it, whether it causes one of its own, and whether this one has
    /// ECE.
    fn receive(receiver: &mut Dctcp, segment: &Segment, in_window: bool) -> (bool, bool, bool) {
        let flushes = in_window && receiver.flushes_ack(segment);
        let at_once = receiver.on_arrival(segment, EcnFlags::NONE, in_window);
        (flushes, at_once, receiver.stamp(PacketKind::Ack).flags.contains(Flags::ECE))
    }

    #[test]
    fn each_change_of_ce_is_acknowledged_at_once_and_nothing_else_is() {
        let mut receiver = Dctcp::default();
        let replies: Vec<_> = [Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::NotEct, Ecn::Ect1, Ecn::Ce]
            .map(|ecn| receive(&mut receiver, &data(ecn), true))
            .to_vec();
        let (same, changed) = (|ece| (false, false, ece), |ece| (true, true, ece));
        assert_eq!(replies, [same(false), changed(true), same(true), changed(false), same(false), changed(true)]);
    }

    #[test]
    fn acks_without_data_and_data_outside_the_window_change_nothing() {
        let mut receiver = Dctcp::default();
        let ack = Segment { ecn: Ecn::Ce, ..Segment::default() };
        assert_eq!(receive(&mut receiver, &ack, true), (false, false, false));
        assert_eq!(receive(&mut receiver, &data(Ecn::Ce), false), (false, false, false));
    }

    #[test]
    fn cwr_goes_once_and_on_new_data() {
        let mut sender = Dctcp::default();
        sender.on_reduction();
        let cwr = |sender: &mut Dctcp, kind| sender.stamp(kind).flags.contains(Flags::CWR);
        assert!(!cwr(&mut sender, PacketKind::Retransmission) && !cwr(&mut sender, PacketKind::Ack));
        assert!(cwr(&mut sender, PacketKind::Data) && !cwr(&mut sender, PacketKind::Data));
    }
}
