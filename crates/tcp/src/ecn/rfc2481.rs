//! ECN as RFC 2481 proposed it in January 1999. It differs from RFC 3168 in two rules: CWR goes on the
//! first data packet after the reduction, be it a retransmission, and retransmissions are ECN-capable.

use super::{AckFeedback, Acked, Agreed, EcnFlags, Feedback, PacketKind, Stamp};
use crate::config::Config;
use crate::ecn_echo::Echo;
use crate::facts::Facts;
use ecnlab_wire::{Ecn, Segment};

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "rfc2481",
    label: "ECN (RFC 2481)",
    summary: "The experimental ECN of 1999: CWR on the first data packet, retransmissions ECN-capable.",
    reference: "RFC 2481",
    ..Facts::PLAIN
};

/// RFC 2481's state at one end.
#[derive(Clone, Debug, Default)]
pub struct Rfc2481 {
    echo: Echo,
}

impl Feedback for Rfc2481 {
    #[inline]
    fn stamp(&mut self, kind: PacketKind) -> Stamp {
        let ecn = match kind {
            PacketKind::Syn => return Echo::SYN,
            PacketKind::SynAck => return Echo::SYN_ACK,
            PacketKind::Rst => return Stamp::NONE,
            // §6.1.4: acknowledgements without data are not ECN-capable.
            PacketKind::Ack | PacketKind::HandshakeAck | PacketKind::Fin => {
                return Stamp::flags(self.echo.ack_flags());
            }
            // §6.1.2: data packets carry ECT, whether they are sent for the first time or not.
            PacketKind::Data | PacketKind::Retransmission => Ecn::Ect0,
            PacketKind::Probe => Ecn::NotEct,
        };
        // §6.1.3: CWR in the first data packet after the window was reduced.
        Stamp { flags: self.echo.ack_flags() | self.echo.take_cwr(), ecn }
    }

    fn answer(&mut self, syn: &Segment) -> Agreed {
        Echo::answer(syn)
    }

    fn agree(&mut self, syn_ack: &Segment) -> Agreed {
        Echo::agree(syn_ack)
    }

    fn on_syn_timeout(&mut self, config: &Config) -> Agreed {
        Echo::on_syn_timeout(config)
    }

    #[inline]
    fn on_arrival(&mut self, segment: &Segment, flags: EcnFlags, _: bool) -> bool {
        if segment.len > 0 {
            self.echo.on_data(segment, flags);
        }
        false
    }

    #[inline]
    fn decode(&mut self, _: &Segment, flags: EcnFlags, _: Acked) -> AckFeedback {
        Echo::decode(flags)
    }

    fn on_reduction(&mut self) {
        self.echo.on_reduction();
    }
}
