//! ECN as RFC 3168 standardised it in September 2001.

use super::{Echo, Feedback, Sending};
use ecnlab_wire::{Ecn, Flags, Segment};

/// RFC 3168's state at one end.
#[derive(Clone, Debug, Default)]
pub struct Rfc3168 {
    echo: Echo,
}

impl Feedback for Rfc3168 {
    fn syn(&self) -> Flags {
        // §6.1.1: an "ECN-setup SYN packet".
        Echo::SYN
    }

    fn syn_ack(&self, flags: Flags) -> Option<Flags> {
        // §6.1.1: an "ECN-setup SYN-ACK packet" answers an ECN-setup SYN only.
        Echo::syn_ack(flags)
    }

    fn accepted(&self, flags: Flags) -> bool {
        Echo::accepted(flags)
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
        if sending == Sending::New { self.echo.take_cwr() } else { Flags::empty() }
    }

    fn ack_flags(&mut self) -> Flags {
        self.echo.ack_flags()
    }

    fn on_data(&mut self, segment: &Segment, in_window: bool) {
        // §6.1.5: CE on a packet outside the receive window SHOULD be ignored.
        if in_window {
            self.echo.on_data(segment);
        }
    }

    fn congestion(&self, flags: Flags) -> bool {
        flags.contains(Flags::ECE)
    }

    fn on_reduction(&mut self) {
        self.echo.on_reduction();
    }
}
