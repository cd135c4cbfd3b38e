//! ECN as RFC 2481 proposed it in January 1999. It differs from RFC 3168 in two rules: CWR goes on the
//! first data packet after the reduction, be it a retransmission, and retransmissions are ECN-capable.

use super::{Echo, Feedback, Sending};
use ecnlab_wire::{Ecn, Flags, Segment};

/// RFC 2481's state at one end.
#[derive(Clone, Debug, Default)]
pub struct Rfc2481 {
    echo: Echo,
}

impl Feedback for Rfc2481 {
    fn syn(&self) -> Flags {
        Echo::SYN
    }

    fn syn_ack(&self, flags: Flags) -> Option<Flags> {
        Echo::syn_ack(flags)
    }

    fn accepted(&self, flags: Flags) -> bool {
        Echo::accepted(flags)
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
        self.echo.take_cwr()
    }

    fn ack_flags(&mut self) -> Flags {
        self.echo.ack_flags()
    }

    fn on_data(&mut self, segment: &Segment, _: bool) {
        self.echo.on_data(segment);
    }

    fn congestion(&self, flags: Flags) -> bool {
        flags.contains(Flags::ECE)
    }

    fn on_reduction(&mut self) {
        self.echo.on_reduction();
    }
}
