//! Backward ECN: the router tells the sender itself, by ICMP source quench. Historic: RFC 6633 forbids routers to send
//! it and hosts to listen. F. Akujobi et al., "Congestion Control in TCP/IP Networks: A Combined ECN and BECN Approach",
//! 2003 (§IV-B), and J. Hadi Salim et al., draft-salim-jhsbnns-ecn-00, June 1998 (BECN alone).
//!
//! What a source quench does to the window is in `sender/quench.rs`: these schemes say who listens.

use super::rfc2481::Rfc2481;
use super::{Feedback, Sending};
use ecnlab_wire::{Ecn, Flags, Segment};

/// BECN alone. The receiver has no part in it: nothing is negotiated, nothing echoed.
#[derive(Clone, Debug, Default)]
pub struct Becn;

impl Feedback for Becn {
    fn syn(&self) -> Flags {
        Flags::empty()
    }

    fn syn_ack(&self, _: Flags) -> Option<Flags> {
        // draft-salim-jhsbnns-ecn-00, abstract: no end-to-end negotiation is needed.
        Some(Flags::empty())
    }

    fn accepted(&self, _: Flags) -> bool {
        true
    }

    fn codepoint(&self, sending: Sending) -> Ecn {
        match sending {
            // §IV-A, note 1: ECT tells the router that this is a packet of an ECN or BECN sender.
            Sending::New | Sending::Retransmission => Ecn::Ect0,
            Sending::Probe => Ecn::NotEct,
        }
    }

    fn data_flags(&mut self, _: Sending) -> Flags {
        Flags::empty()
    }

    fn ack_flags(&mut self) -> Flags {
        Flags::empty()
    }

    fn on_data(&mut self, _: &Segment, _: bool) {}

    fn congestion(&self, _: Flags) -> bool {
        false
    }

    fn on_reduction(&mut self) {}

    fn hears_quench(&self) -> bool {
        true
    }
}

/// RFC 2481's ECN, to which the paper refers, and BECN: both schemes below, which differ in what an echo says.
macro_rules! ecn_and_becn {
    ($(#[$doc:meta])* $scheme:ident, $backup:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub struct $scheme {
            ecn: Rfc2481,
        }

        impl Feedback for $scheme {
            fn syn(&self) -> Flags {
                // §IV-B: negotiated "just like pure ECN hosts".
                self.ecn.syn()
            }
            fn syn_ack(&self, flags: Flags) -> Option<Flags> {
                self.ecn.syn_ack(flags)
            }
            fn accepted(&self, flags: Flags) -> bool {
                self.ecn.accepted(flags)
            }
            fn codepoint(&self, sending: Sending) -> Ecn {
                self.ecn.codepoint(sending)
            }
            fn data_flags(&mut self, sending: Sending) -> Flags {
                // §IV-B: the first packet after the reduction carries CWR, whoever told of the congestion.
                self.ecn.data_flags(sending)
            }
            fn ack_flags(&mut self) -> Flags {
                self.ecn.ack_flags()
            }
            fn on_data(&mut self, segment: &Segment, in_window: bool) {
                self.ecn.on_data(segment, in_window);
            }
            fn congestion(&self, flags: Flags) -> bool {
                self.ecn.congestion(flags)
            }
            fn on_reduction(&mut self) {
                self.ecn.on_reduction();
            }
            fn hears_quench(&self) -> bool {
                true
            }
            fn echo_is_backup(&self) -> bool {
                $backup
            }
        }
    };
}

ecn_and_becn! {
    /// ECN+BECN. The echo stands in for a source quench that was lost (§II-B), and says nothing where none was.
    EcnBecn, true
}

ecn_and_becn! {
    /// ECN+BECN as two schemes side by side: each echo is heard as in ECN, whatever source quenches came.
    EcnBecnBoth, false
}
