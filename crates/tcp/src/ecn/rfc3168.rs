//! ECN as RFC 3168 standardised it in September 2001.

use super::{AckFeedback, Acked, Agreed, EcnFlags, Feedback, PacketKind, Stamp};
use crate::config::Config;
use crate::control_packets;
use crate::ecn_echo::Echo;
use crate::facts::Facts;
use ecnlab_wire::{Ecn, Segment};

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "rfc3168",
    label: "ECN",
    summary: "Standard ECN: CWR on the first new data, retransmissions not ECN-capable.",
    reference: "RFC 3168",
    control_packets: control_packets::WITH_ECHO,
    ..Facts::PLAIN
};

/// RFC 3168's state at one end.
#[derive(Clone, Debug, Default)]
pub struct Rfc3168 {
    echo: Echo,
}

impl Feedback for Rfc3168 {
    #[inline]
    fn stamp(&mut self, kind: PacketKind) -> Stamp {
        match kind {
            // §6.1.1: an "ECN-setup SYN packet", and the "ECN-setup SYN-ACK packet" that answers it.
            PacketKind::Syn => Echo::SYN,
            PacketKind::SynAck => Echo::SYN_ACK,
            // §6.1.2: ECT on data packets; of the two codepoints, ECT(0) by default. CWR on the first NEW data packet
            // after the reduction.
            PacketKind::Data => Stamp { flags: self.echo.ack_flags() | self.echo.take_cwr(), ecn: Ecn::Ect0 },
            // §6.1.4, §6.1.5, §6.1.6: MUST NOT set either ECT codepoint on pure ACKs, retransmitted data packets and
            // window probes.
            PacketKind::Retransmission
            | PacketKind::Probe
            | PacketKind::Ack
            | PacketKind::HandshakeAck
            | PacketKind::Fin => Stamp::flags(self.echo.ack_flags()),
            PacketKind::Rst => Stamp::NONE,
        }
    }

    fn answer(&mut self, syn: &Segment) -> Agreed {
        Echo::answer(syn)
    }

    fn agree(&mut self, syn_ack: &Segment) -> Agreed {
        Echo::agree(syn_ack)
    }

    fn report_syn_ack(&mut self) -> bool {
        self.echo.report_syn_ack();
        true
    }

    fn on_syn_timeout(&mut self, config: &Config) -> Agreed {
        Echo::on_syn_timeout(config)
    }

    #[inline]
    fn on_arrival(&mut self, segment: &Segment, flags: EcnFlags, in_window: bool) -> bool {
        // §6.1.5: CE on a packet outside the receive window SHOULD be ignored.
        if segment.len > 0 && in_window {
            self.echo.on_data(segment, flags);
        }
        false
    }

    fn forget_waiting(&mut self) {
        self.echo.forget_waiting();
    }

    #[inline]
    fn decode(&mut self, _: &Segment, flags: EcnFlags, _: Acked) -> AckFeedback {
        Echo::decode(flags)
    }

    fn on_reduction(&mut self) {
        self.echo.on_reduction();
    }
}
