//! Negotiation, echo and response that RFC 2481 and RFC 3168 have in common.

use ecnlab_wire::{Ecn, Flags, Segment};

use crate::config::Config;
use crate::ecn::{AckFeedback, Agreed, EcnFlags, Marks, Stamp};

/// State of marks at one end. Both RFCs have the same section numbers.
#[derive(Clone, Debug, Default)]
pub struct Echo {
    /// Receiver: a mark has arrived to which the sender has not yet responded.
    echo: bool,
    /// Receiver: a mark has arrived since the last ACK was sent.
    marked: bool,
    /// Sender: the window was reduced and CWR has not been sent yet.
    cwr_due: bool,
}

impl Echo {
    /// An ECN-setup SYN: its flags show that the host participates as sender and receiver (RFC 3168 §6.1.1).
    pub const SYN: Stamp = Stamp::flags(Flags::ECE.union(Flags::CWR));
    /// A SYN-ACK that agrees. RFC 3168 §6.1.1: ECE alone, so that a host that reflects reserved bits is not believed.
    pub const SYN_ACK: Stamp = Stamp::flags(Flags::ECE);

    /// Whether a SYN requests ECN.
    pub fn answer(syn: &Segment) -> Agreed {
        if syn.flags.contains(Echo::SYN.flags) { Agreed::This } else { Agreed::Nothing }
    }

    /// Whether a SYN-ACK agrees to ECN (RFC 3168 §6.1.1: ECE set and CWR not set).
    pub fn agree(syn_ack: &Segment) -> Agreed {
        if syn_ack.flags & Echo::SYN.flags == Echo::SYN_ACK.flags { Agreed::This } else { Agreed::Nothing }
    }

    /// RFC 3168 §6.1.1.1: a middlebox may drop ECN-setup SYNs.
    pub fn on_syn_timeout(config: &Config) -> Agreed {
        if config.ecn_syn_fallback { Agreed::Nothing } else { Agreed::This }
    }

    /// RFC 3168 §6.1.2: an ACK with ECN-Echo, which does not report the number of marked packets.
    pub fn decode(flags: EcnFlags) -> AckFeedback {
        if flags.echo() {
            AckFeedback { echo: true, marks: Marks::All, no_growth: false }
        } else {
            AckFeedback::default()
        }
    }

    /// Returns CWR if a reduction has not been reported yet, and records that it has.
    pub fn take_cwr(&mut self) -> Flags {
        if std::mem::take(&mut self.cwr_due) { Flags::CWR } else { Flags::empty() }
    }

    /// The flags of an ACK.
    pub fn ack_flags(&mut self) -> Flags {
        // RFC 3168 §6.1.3: ECE in every ACK until CWR shows that the sender has reduced its window.
        // RFC 3168 §6.1.3: and a delayed ACK if any packet that it acknowledges was marked, should CWR have come since.
        if std::mem::take(&mut self.marked) || self.echo { Flags::ECE } else { Flags::empty() }
    }

    /// A data segment has come.
    pub fn on_data(&mut self, segment: &Segment, flags: EcnFlags) {
        // RFC 3168 §6.1.3: CWR ends the echo of earlier marks; a mark on that very packet begins another.
        self.echo &= !flags.cwr();
        let marked = segment.ecn == Ecn::Ce;
        self.echo |= marked;
        self.marked |= marked;
    }

    /// A SYN-ACK has come with CE: the next segment alone has ECE, for its sender has no data to reduce and no CWR to send.
    pub fn report_syn_ack(&mut self) {
        self.marked = true;
    }

    /// Forgets marks received so far, so that a delayed ACK does not report them.
    pub fn forget_waiting(&mut self) {
        self.marked = false;
    }

    /// The window was reduced.
    pub fn on_reduction(&mut self) {
        // RFC 3168 §6.1.2: whatever the reason: a retransmit timeout, a fast retransmit, or ECN-Echo.
        self.cwr_due = true;
    }
}
