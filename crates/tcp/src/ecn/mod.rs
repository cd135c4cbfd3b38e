//! ECN feedback: what a receiver tells of marks, and when a sender listens. One scheme per file.

pub mod becn;
pub mod rfc2481;
pub mod rfc3168;

use ecnlab_wire::{Ecn, Flags, Segment};

use crate::registry::{EcnKind, ecn_schemes};

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

/// Dispatches to the scheme in use, from the rows of the registry.
macro_rules! schemes {
    ($($scheme:ident, $module:ident, $name:literal, $summary:literal;)+) => {
        /// The scheme in use, or none.
        #[derive(Clone, Debug)]
        pub(crate) enum Scheme { Off, $($scheme($module::$scheme)),+ }

        impl Scheme {
            pub fn new(kind: EcnKind) -> Scheme {
                match kind { EcnKind::Off => Scheme::Off, $(EcnKind::$scheme => Scheme::$scheme(Default::default())),+ }
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
ecn_schemes! { schemes! {} }

/// What RFC 2481 and RFC 3168 share, under the same section numbers: negotiation, echo and answer. What one end
/// remembers of marks.
#[derive(Clone, Debug, Default)]
pub struct Echo {
    /// Receiver: a mark has come that the sender has not yet answered.
    echo: bool,
    /// Receiver: a mark has come since the last ACK was sent.
    marked: bool,
    /// Sender: the window was reduced and the receiver has not been told.
    cwr_due: bool,
}

impl Echo {
    /// The flags of a SYN that asks for ECN: both say that the host takes part as sender and receiver (§6.1.1).
    pub const SYN: Flags = Flags::ECE.union(Flags::CWR);

    /// The flags that answer a SYN with `flags`, if it asked for ECN.
    pub fn syn_ack(flags: Flags) -> Option<Flags> {
        // §6.1.1: ECE alone in the SYN-ACK, so that a host that reflects reserved bits is not believed.
        flags.contains(Echo::SYN).then_some(Flags::ECE)
    }

    /// Whether a SYN-ACK with `flags` agrees to ECN (§6.1.1: ECE set and CWR not set).
    pub fn accepted(flags: Flags) -> bool {
        flags & Echo::SYN == Flags::ECE
    }

    /// CWR, if the receiver is still to be told of a reduction; it then has been.
    pub fn take_cwr(&mut self) -> Flags {
        if std::mem::take(&mut self.cwr_due) { Flags::CWR } else { Flags::empty() }
    }

    /// The flags of an ACK.
    pub fn ack_flags(&mut self) -> Flags {
        // §6.1.3: ECE in every ACK, until CWR tells that the sender has answered.
        // §6.1.3: and a delayed ACK if any packet that it acknowledges was marked, should CWR have come since.
        if std::mem::take(&mut self.marked) || self.echo { Flags::ECE } else { Flags::empty() }
    }

    /// A data segment has come.
    pub fn on_data(&mut self, segment: &Segment) {
        // §6.1.3: CWR ends the echo of earlier marks; a mark on that very packet begins another.
        self.echo &= !segment.flags.contains(Flags::CWR);
        let marked = segment.ecn == Ecn::Ce;
        self.echo |= marked;
        self.marked |= marked;
    }

    /// The window was reduced.
    pub fn on_reduction(&mut self) {
        // §6.1.2: whatever the reason: a retransmit timeout, a fast retransmit, or ECN-Echo.
        self.cwr_due = true;
    }
}
