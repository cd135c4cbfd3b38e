//! ECN as RFC 2481 proposed it in January 1999. It differs from RFC 3168 in two rules: CWR goes on the
//! first data packet after the reduction, be it a retransmission, and retransmissions are ECN-capable.

use super::{Feedback, Sending};
use ecnlab_wire::{Ecn, Flags, Segment};

/// RFC 2481's state at one end.
#[derive(Clone, Debug, Default)]
pub struct Rfc2481 {
    /// Receiver: a mark has come that the sender has not yet answered.
    echo: bool,
    /// Receiver: a mark has come since the last ACK was sent.
    marked: bool,
    /// Sender: the window was reduced and the receiver has not been told.
    cwr_due: bool,
}

impl Feedback for Rfc2481 {
    fn syn(&self) -> Flags {
        // §6.1.1: both flags in the SYN say that the host takes part as sender and receiver.
        Flags::ECE | Flags::CWR
    }

    fn syn_ack(&self, flags: Flags) -> Option<Flags> {
        // §6.1.1: ECE alone in the SYN-ACK, so that a host that reflects reserved bits is not believed.
        flags.contains(Flags::ECE | Flags::CWR).then_some(Flags::ECE)
    }

    fn accepted(&self, flags: Flags) -> bool {
        // §6.1.1
        flags & (Flags::ECE | Flags::CWR) == Flags::ECE
    }

    fn codepoint(&self, sending: Sending) -> Ecn {
        match sending {
            // §6.1.2: data packets carry ECT, whether they are sent for the first time or not.
            Sending::New | Sending::Retransmission => Ecn::Ect0,
            Sending::Probe => Ecn::NotEct,
        }
    }

    fn data_flags(&mut self, _: Sending) -> Flags {
        // §6.1.2: CWR in the first data packet after the window was reduced.
        if std::mem::take(&mut self.cwr_due) { Flags::CWR } else { Flags::empty() }
    }

    fn ack_flags(&mut self) -> Flags {
        // §6.1.3: every ACK echoes until a data packet with CWR arrives.
        // §6.1.3: and a delayed ACK if any packet that it acknowledges was marked, should CWR have come since.
        if std::mem::take(&mut self.marked) || self.echo { Flags::ECE } else { Flags::empty() }
    }

    fn on_data(&mut self, segment: &Segment, _: bool) {
        // §6.1.3: CWR ends the echo, unless that very packet is marked.
        self.echo &= !segment.flags.contains(Flags::CWR);
        let marked = segment.ecn == Ecn::Ce;
        self.echo |= marked;
        self.marked |= marked;
    }

    fn congestion(&self, flags: Flags) -> bool {
        flags.contains(Flags::ECE)
    }

    fn on_reduction(&mut self) {
        // §6.1.2: for any reduction: a timeout's and a fast retransmit's too.
        self.cwr_due = true;
    }
}
