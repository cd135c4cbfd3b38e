//! ECN as RFC 3168 standardised it in September 2001.

use super::{Feedback, Sending};
use ecnlab_wire::{Ecn, Flags, Segment};

/// RFC 3168's state at one end.
#[derive(Clone, Debug, Default)]
pub struct Rfc3168 {
    /// Receiver: a mark has come that the sender has not yet answered.
    echo: bool,
    /// Receiver: a mark has come since the last ACK was sent.
    marked: bool,
    /// Sender: the window was reduced and the receiver has not been told.
    cwr_due: bool,
}

impl Feedback for Rfc3168 {
    fn syn(&self) -> Flags {
        // §6.1.1: an "ECN-setup SYN packet".
        Flags::ECE | Flags::CWR
    }

    fn syn_ack(&self, flags: Flags) -> Option<Flags> {
        // §6.1.1: an "ECN-setup SYN-ACK packet" answers an ECN-setup SYN only.
        flags.contains(Flags::ECE | Flags::CWR).then_some(Flags::ECE)
    }

    fn accepted(&self, flags: Flags) -> bool {
        // §6.1.1: ECE set and CWR not set.
        flags & (Flags::ECE | Flags::CWR) == Flags::ECE
    }

    fn codepoint(&self, sending: Sending) -> Ecn {
        match sending {
            // §6.1.2: ECT on data packets; of the two codepoints, ECT(0) by default.
            Sending::New => Ecn::Ect0,
            // §6.1.5: MUST NOT set either ECT codepoint on retransmitted data packets.
            Sending::Retransmission => Ecn::NotEct,
            // §6.1.6: nor on window probes.
            Sending::Probe => Ecn::NotEct,
        }
    }

    fn data_flags(&mut self, sending: Sending) -> Flags {
        // §6.1.2: CWR on the first NEW data packet after the reduction.
        if sending == Sending::New && std::mem::take(&mut self.cwr_due) { Flags::CWR } else { Flags::empty() }
    }

    fn ack_flags(&mut self) -> Flags {
        // §6.1.3: ECE in every ACK, until CWR tells that the sender has answered.
        // §6.1.3: and a delayed ACK if any packet that it acknowledges was marked, should CWR have come since.
        if std::mem::take(&mut self.marked) || self.echo { Flags::ECE } else { Flags::empty() }
    }

    fn on_data(&mut self, segment: &Segment, in_window: bool) {
        // §6.1.5: CE on a packet outside the receive window SHOULD be ignored.
        if !in_window {
            return;
        }
        // §6.1.3: CWR ends the echo of earlier marks; a mark on that very packet begins another.
        self.echo &= !segment.flags.contains(Flags::CWR);
        let marked = segment.ecn == Ecn::Ce;
        self.echo |= marked;
        self.marked |= marked;
    }

    fn congestion(&self, flags: Flags) -> bool {
        flags.contains(Flags::ECE)
    }

    fn on_reduction(&mut self) {
        // §6.1.2: whatever the reason: a retransmit timeout, a fast retransmit, or ECN-Echo.
        self.cwr_due = true;
    }
}
