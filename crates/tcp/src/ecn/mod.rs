//! ECN feedback: what a receiver tells of marks, and when a sender listens. One scheme per file.

pub mod becn;
pub mod rfc2481;
pub mod rfc3168;

use ecnlab_wire::{Ecn, Flags, Segment};

use crate::registry::EcnKind;
use becn::{Becn, EcnBecn, EcnBecnBoth};
use rfc2481::Rfc2481;
use rfc3168::Rfc3168;

/// Why data is sent, for the codepoint it may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// For the first time.
    New,
    /// Again.
    Retransmission,
    /// To probe a closed window.
    Probe,
}

/// One feedback scheme: both ends of it, since either may receive data.
pub trait Feedback {
    /// Flags of a SYN that offers the scheme.
    fn syn(&self) -> Flags;
    /// Flags of the SYN-ACK that answers a SYN with `flags`; `None` where the peer does not take part.
    fn syn_ack(&self, flags: Flags) -> Option<Flags>;
    /// Whether a SYN-ACK with `flags` accepts the offer.
    fn accepted(&self, flags: Flags) -> bool;
    /// Codepoint of a segment with data.
    fn codepoint(&self, sending: Sending) -> Ecn;
    /// Flags to add to a segment with data, which is then sent.
    fn data_flags(&mut self, sending: Sending) -> Flags;
    /// Flags to add to a segment with ACK, which is then sent.
    fn ack_flags(&mut self) -> Flags;
    /// A segment with data has arrived; `in_window` says whether it holds data the receiver may take.
    fn on_data(&mut self, segment: &Segment, in_window: bool);
    /// Whether an arriving ACK with `flags` reports congestion.
    fn congestion(&self, flags: Flags) -> bool;
    /// The congestion window was reduced, whatever the reason.
    fn on_reduction(&mut self);
    /// Whether a source quench is heard. RFC 9293 §3.9.2.2: a host ignores it.
    fn hears_quench(&self) -> bool {
        false
    }
    /// Whether an echo is no more than a source quench's backup: one of data that was outstanding when a source quench
    /// came tells nothing new.
    fn echo_is_backup(&self) -> bool {
        false
    }
}

/// Dispatches to the scheme in use.
macro_rules! schemes {
    ($($scheme:ident),+) => {
        /// The scheme in use, or none.
        #[derive(Clone, Debug)]
        pub(crate) enum Scheme { Off, $($scheme($scheme)),+ }

        impl Scheme {
            pub fn new(kind: EcnKind) -> Scheme {
                match kind { EcnKind::Off => Scheme::Off, $(EcnKind::$scheme => Scheme::$scheme($scheme::default())),+ }
            }
            pub fn is_off(&self) -> bool {
                matches!(self, Scheme::Off)
            }
        }

        impl Feedback for Scheme {
            fn syn(&self) -> Flags {
                match self { Scheme::Off => Flags::empty(), $(Scheme::$scheme(s) => s.syn()),+ }
            }
            fn syn_ack(&self, flags: Flags) -> Option<Flags> {
                match self { Scheme::Off => None, $(Scheme::$scheme(s) => s.syn_ack(flags)),+ }
            }
            fn accepted(&self, flags: Flags) -> bool {
                match self { Scheme::Off => false, $(Scheme::$scheme(s) => s.accepted(flags)),+ }
            }
            #[inline]
            fn codepoint(&self, sending: Sending) -> Ecn {
                match self { Scheme::Off => Ecn::NotEct, $(Scheme::$scheme(s) => s.codepoint(sending)),+ }
            }
            #[inline]
            fn data_flags(&mut self, sending: Sending) -> Flags {
                match self { Scheme::Off => Flags::empty(), $(Scheme::$scheme(s) => s.data_flags(sending)),+ }
            }
            #[inline]
            fn ack_flags(&mut self) -> Flags {
                match self { Scheme::Off => Flags::empty(), $(Scheme::$scheme(s) => s.ack_flags()),+ }
            }
            #[inline]
            fn on_data(&mut self, segment: &Segment, in_window: bool) {
                match self { Scheme::Off => (), $(Scheme::$scheme(s) => s.on_data(segment, in_window)),+ }
            }
            #[inline]
            fn congestion(&self, flags: Flags) -> bool {
                match self { Scheme::Off => false, $(Scheme::$scheme(s) => s.congestion(flags)),+ }
            }
            fn on_reduction(&mut self) {
                match self { Scheme::Off => (), $(Scheme::$scheme(s) => s.on_reduction()),+ }
            }
            fn hears_quench(&self) -> bool {
                match self { Scheme::Off => false, $(Scheme::$scheme(s) => s.hears_quench()),+ }
            }
            fn echo_is_backup(&self) -> bool {
                match self { Scheme::Off => false, $(Scheme::$scheme(s) => s.echo_is_backup()),+ }
            }
        }
    };
}
schemes!(Rfc2481, Rfc3168, Becn, EcnBecn, EcnBecnBoth);
