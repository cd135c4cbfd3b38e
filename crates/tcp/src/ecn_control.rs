//! ECN on control packets (RFC 8311): which of them leave as ECN-capable, and marks on SYN and SYN-ACK.

use ecnlab_wire::{Ecn, Flags, Segment};

use crate::config::Config;
use crate::control_packets::ControlPacket;
use crate::ecn::{Agreed, EcnFlags, Feedback, PacketKind, Scheme};

/// Bit of a kind of packet.
const fn bit(kind: PacketKind) -> u16 {
    1 << kind as u16
}

/// Bits of the kinds that `packets` are.
fn bits(packets: &[ControlPacket]) -> u16 {
    let kinds = |packet: &ControlPacket| match packet {
        ControlPacket::Syn => bit(PacketKind::Syn),
        ControlPacket::SynAck => bit(PacketKind::SynAck),
        ControlPacket::Ack => bit(PacketKind::Ack) | bit(PacketKind::HandshakeAck),
        ControlPacket::Probe => bit(PacketKind::Probe),
        ControlPacket::Retransmission => bit(PacketKind::Retransmission),
        ControlPacket::Fin => bit(PacketKind::Fin),
        ControlPacket::Rst => bit(PacketKind::Rst),
    };
    packets.iter().map(kinds).fold(0, |all, kind| all | kind)
}

/// The control packets of one endpoint that are ECN-capable besides those of its scheme.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control {
    /// Kinds chosen in the configuration.
    chosen: u16,
    /// Those that leave as ECN-capable now.
    capable: u16,
    /// The SYN or SYN-ACK has left as ECN-capable by this choice.
    syn_left: bool,
    /// It was marked, or the peer cannot report a mark on it: the initial window is one segment.
    marked: bool,
    /// The peer's SYN-ACK came with CE, and TryOnce awaits another one.
    awaits_syn_ack: bool,
}

impl Control {
    pub fn new(config: &Config, scheme: &Scheme) -> Control {
        let chosen = bits(config.ecn_control.packets());
        // Before an agreement only the SYN may rely on the feedback that it requests.
        let capable = chosen & bits(scheme.control_packets()) & bit(PacketKind::Syn);
        Control { chosen, capable, syn_left: false, marked: false, awaits_syn_ack: false }
    }

    /// Whether a packet of this kind leaves as ECN-capable; always false for new data.
    #[inline(always)]
    pub const fn has(&self, kind: PacketKind) -> bool {
        self.capable & bit(kind) != 0
    }

    /// The handshake has settled the scheme. A repeated SYN does not make another SYN-ACK ECN-capable.
    pub fn settle(&mut self, scheme: &Scheme) {
        let tried = if self.syn_left { bit(PacketKind::SynAck) } else { 0 };
        self.capable = self.chosen & bits(scheme.control_packets()) & !(tried | bit(PacketKind::Syn));
    }

    /// The SYN-ACK has come, and the scheme is `agreed`. Without the feedback that the SYN requested, no mark on the SYN
    /// would be reported (draft-ietf-tcpm-generalized-ecn).
    pub fn on_syn_ack(&mut self, agreed: Agreed, scheme: &Scheme) {
        self.marked |= self.syn_left && agreed != Agreed::This;
        self.settle(scheme);
    }

    /// A SYN or SYN-ACK has left with this codepoint. No other one is ECN-capable: something on the path may drop them
    /// (RFC 5562).
    pub fn sent_syn(&mut self, ecn: Ecn) {
        let syns = bit(PacketKind::Syn) | bit(PacketKind::SynAck);
        self.syn_left |= self.capable & syns != 0 && ecn.is_capable();
        self.capable &= !syns;
    }

    /// Whether the SYN-ACK came with a mark that is to be reported.
    pub fn reports(&self, syn_ack: &Segment) -> bool {
        syn_ack.ecn == Ecn::Ce
            && self.chosen & bit(PacketKind::SynAck) != 0
            && !self.awaits_syn_ack
            && syn_ack.flags.contains(Flags::ECE)
    }

    /// TryOnce: the endpoint has reported CE on the SYN-ACK and awaits another one.
    pub fn await_syn_ack(&mut self) {
        self.awaits_syn_ack = true;
    }

    pub const fn awaits_syn_ack(&self) -> bool {
        self.awaits_syn_ack
    }

    /// Takes the report of a mark on the SYN-ACK from the ACK that completes the handshake. Returns whether there is one.
    pub fn take_report(&mut self, flags: EcnFlags) -> bool {
        let reported = flags.echo() && self.syn_left && !self.marked;
        self.marked |= reported;
        reported
    }

    /// Whether the initial window is one segment because of a mark on an ECN-capable SYN or SYN-ACK.
    pub fn reduces(&self, scheme: &Scheme) -> bool {
        self.marked || self.syn_left && scheme.handshake_was_marked()
    }
}
