//! ECN feedback: how a receiver reports marks, and how a sender interprets the reports. One scheme per file.

pub mod accecn;
pub mod becn;
pub mod dctcp;
pub mod rfc2481;
pub mod rfc3168;

use ecnlab_base::{Dur, Time};
use ecnlab_wire::{AccEcn, Ecn, Flags, QuenchCause, Segment};

use crate::ack_sample::Amount;
use crate::config::Config;
use crate::control_packets::ControlPacket;
pub use crate::ecn_flags::EcnFlags;
use crate::facts::QuickAcks;
use crate::hooks::{dispatch, law_trait};
use crate::registry::{EcnKind, ecn_schemes};

/// Kind of a packet, which determines its codepoint and flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// SYN of the end that opens.
    Syn,
    /// Its answer.
    SynAck,
    /// Last ACK of the handshake, where no data carry it.
    HandshakeAck,
    /// ACK and nothing else.
    Ack,
    /// Data sent for the first time, with or without FIN.
    Data,
    /// Retransmitted data.
    Retransmission,
    /// A byte that probes a closed window.
    Probe,
    /// FIN without data.
    Fin,
    /// RST.
    Rst,
}

/// The flags and codepoint that a scheme sets in a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Flags, added to those that the packet has anyway.
    pub flags: Flags,
    /// Codepoint in the IP header. Where it is ECT(0), the window law may ask for ECT(1)
    /// ([`codepoint`](crate::cc::CongestionControl::codepoint)).
    pub ecn: Ecn,
}

impl Stamp {
    /// Nothing: no flag, Not-ECT.
    pub const NONE: Stamp = Stamp { flags: Flags::empty(), ecn: Ecn::NotEct };

    /// Flags on a packet that is not ECN-capable.
    pub const fn flags(flags: Flags) -> Stamp {
        Stamp { flags, ..Stamp::NONE }
    }
}

/// The scheme of an end after the handshake, or after a SYN without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreed {
    /// The scheme itself.
    This,
    /// Another scheme, which both ends know.
    Another(EcnKind),
    /// The next SYN offers nothing; an answer to one that did counts all the same.
    NotOffered,
    /// No ECN.
    Nothing,
}

/// Data acknowledged and delivered by an ACK, in the end's own stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acked {
    /// First offset that was not acknowledged before.
    pub from: u64,
    /// First offset that is not acknowledged now.
    pub to: u64,
    /// Bytes newly delivered: acknowledged, reported by SACK, or, without SACK, one segment per duplicate ACK. They are
    /// counted for laws with samples and schemes with [`Facts::counts_marks`](crate::Facts::counts_marks); for others
    /// these are the bytes acknowledged by the number.
    pub delivered: u64,
    /// SACK reports something for the first time.
    pub new_sack: bool,
    /// Bytes of a full segment.
    pub mss: u32,
}

impl Acked {
    /// Packets acknowledged by the number, assuming full segments except the last; a FIN is one byte.
    pub fn amount(&self) -> Amount {
        Amount::of(self.to - self.from, self.mss)
    }

    /// Packets newly delivered, computed in the same way.
    pub fn newly(&self) -> Amount {
        Amount::of(self.delivered, self.mss)
    }
}

/// Feedback of an ACK about marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckFeedback {
    /// It reports congestion, to which a sender responds once per window of data (RFC 3168 §6.1.2).
    pub echo: bool,
    /// Number of marks that it reports.
    pub marks: Marks,
    /// The window does not grow on it, whatever its other contents.
    pub no_growth: bool,
}

/// Number of marks reported by an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marks {
    /// None.
    #[default]
    None,
    /// One bit for all data that the ACK covers, and the bit is set: at least one packet is marked. All of them are counted.
    All,
    /// An amount of the newly delivered data.
    Counted(Amount),
}

impl Marks {
    /// Returns the marked part of the `acked` data.
    pub fn of(self, acked: Amount) -> Amount {
        match self {
            Marks::None => Amount::default(),
            Marks::All => acked,
            Marks::Counted(marked) => marked,
        }
    }
}

/// A source quench for data in flight, with the sender's previous reduction. Values are offsets of its own stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuenchSeen {
    /// Fate of the packet.
    pub cause: QuenchCause,
    /// First offset not acknowledged.
    pub una: u64,
    /// One past the highest offset sent.
    pub max: u64,
    /// Until `una` passes it, the last reduction already covers the reported congestion.
    pub reduced: u64,
    /// End of a round trip that begins now.
    pub round: u64,
}

/// The hooks of feedback schemes.
macro_rules! feedback_hooks {
    ($make:ident! { $($head:tt)* }) => { $make! { $($head)*
        hot {
            /// A segment of any kind has come after the handshake, with the codepoint it came with and its `flags` as
            /// [`Feedback::read`] reads them; `in_window` if it lies in the receive window. Whether its ACK
            /// is due at once.
            fn on_arrival(&mut self, segment: &Segment, flags: EcnFlags, in_window: bool) -> bool;
        }
        required {
            /// Returns the flags and codepoint of a packet to be sent. Called for all packets, in the order of sending.
            fn stamp(&mut self, kind: PacketKind) -> Stamp;

            // ---- the handshake ----

            /// Handles a SYN, first or repeated. Returns the scheme that this end then uses; [`PacketKind::SynAck`] announces it.
            fn answer(&mut self, syn: &Segment) -> Agreed;
            /// Handles the SYN-ACK. Returns the scheme that this end then uses.
            fn agree(&mut self, syn_ack: &Segment) -> Agreed;

            // ---- the sender of data ----

            /// Returns the feedback of the acceptable `ack`, which acknowledges `acked`; `flags` are its flags as
            /// [`Feedback::read`] reads them.
            fn decode(&mut self, ack: &Segment, flags: EcnFlags, acked: Acked) -> AckFeedback;
            /// The congestion window was reduced, whatever the reason.
            fn on_reduction(&mut self);
        }
        provided {
            /// Takes in the settings of the host, before any packet.
            fn configure(&mut self, config: &Config) {}
            /// Bytes of options for which each segment has room.
            fn option_len(&self) -> u32 {
                0
            }
            /// Feedback that a SYN requests of a host with this scheme, if the host ends connections whose SYNs
            /// request more than one (RFC 9768 §3.1.5).
            fn requested(&self, syn: &Segment) -> Option<EcnKind> {
                None
            }
            /// What the flags of a segment after the handshake mean, sent by either end. Without any they are
            /// [`EcnFlags::NONE`], and it is not called.
            #[inline(always)]
            fn read(&self, flags: Flags) -> EcnFlags {
                EcnFlags::separate(flags)
            }
            /// Whether the packet just stamped may have the AccECN option.
            #[inline]
            fn has_option(&self, kind: PacketKind) -> bool {
                false
            }
            /// The AccECN option of this packet, which is sent at `now` and has `room` bytes of options left; `srtt` is the
            /// smoothed RTT. Called after [`Feedback::stamp`] if [`Feedback::has_option`], and if there is none once more
            /// with the room of a SACK block.
            fn option(&mut self, kind: PacketKind, room: u32, now: Time, srtt: Dur) -> Option<AccEcn> {
                None
            }
            /// Whether data leave as ECN-capable.
            fn is_capable(&self) -> bool {
                true
            }

            // ---- the handshake ----

            /// Whether the peer has reported that this end's SYN or SYN-ACK arrived with CE.
            fn handshake_was_marked(&self) -> bool {
                false
            }
            /// A SYN or SYN-ACK of this end has left with this codepoint.
            fn sent_syn(&mut self, ecn: Ecn) {}
            /// The SYN-ACK came with CE. Returns whether the next segment reports it.
            fn report_syn_ack(&mut self) -> bool {
                false
            }
            /// Handles a SYN without an answer. Returns what the next one offers.
            fn on_syn_timeout(&mut self, config: &Config) -> Agreed {
                Agreed::This
            }

            // ---- the receiver of data ----

            /// Whether an ACK that waits is to leave before `segment`, which lies in the window, is taken in: with the
            /// number and the flags that it has without it. A second ACK follows where [`Feedback::on_arrival`] returns
            /// true.
            #[inline]
            fn flushes_ack(&self, segment: &Segment) -> bool {
                false
            }
            /// Handles a segment without new data that ends at or beyond the last ACK sent.
            fn on_duplicate(&mut self, segment: &Segment) {}
            /// Forgets marks received so far, so that a delayed ACK does not report them.
            fn forget_waiting(&mut self) {}

            // ---- the sender of data ----

            /// The retransmission timer has fired with data outstanding.
            fn on_timeout(&mut self) {}
            /// Handles a source quench outside recovery. Returns whether the sender reduces its window. RFC 9293 §3.9.2.2: a
            /// host ignores it.
            fn on_quench(&mut self, quench: &QuenchSeen) -> bool {
                false
            }
        }
        more {}
    } };
}

feedback_hooks! { law_trait! { {
    /// One feedback scheme: both ends of it, since either may receive data.
    #[expect(unused_variables, reason = "most defaults do nothing")]
    pub trait Feedback
} } }

/// The trait is object-safe.
const _: Option<&dyn Feedback> = None;

/// No ECN: neither offered nor accepted.
#[derive(Clone, Debug)]
pub(crate) struct Off;

impl Feedback for Off {
    fn stamp(&mut self, _: PacketKind) -> Stamp {
        Stamp::NONE
    }

    fn is_capable(&self) -> bool {
        false
    }

    fn answer(&mut self, _: &Segment) -> Agreed {
        Agreed::Nothing
    }

    fn agree(&mut self, _: &Segment) -> Agreed {
        Agreed::Nothing
    }

    fn on_arrival(&mut self, _: &Segment, _: EcnFlags, _: bool) -> bool {
        false
    }

    fn decode(&mut self, _: &Segment, _: EcnFlags, _: Acked) -> AckFeedback {
        AckFeedback::default()
    }

    fn on_reduction(&mut self) {}
}

/// The scheme in use, from the rows of the registry.
macro_rules! schemes {
    ($($scheme:ident, $module:ident, $name:literal, $facts:ident;)+) => {
        /// The scheme in use.
        #[derive(Clone, Debug)]
        #[repr(u8)]
        pub(crate) enum Scheme { Off(Off), $($scheme($module::$scheme)),+ }

        impl Scheme {
            pub fn new(kind: EcnKind) -> Scheme {
                match kind { EcnKind::Off => Scheme::Off(Off), $(EcnKind::$scheme => Scheme::$scheme(Default::default())),+ }
            }

            /// [`Facts::counts_marks`](crate::Facts::counts_marks).
            #[inline]
            pub const fn counts(&self) -> bool {
                match self { Scheme::Off(_) => false, $(Scheme::$scheme(_) => $module::$facts.counts_marks),+ }
            }

            /// [`Facts::control_packets`](crate::Facts::control_packets).
            pub const fn control_packets(&self) -> &'static [ControlPacket] {
                match self { Scheme::Off(_) => &[], $(Scheme::$scheme(_) => $module::$facts.control_packets),+ }
            }

            /// [`Facts::quick_acks`](crate::Facts::quick_acks).
            pub const fn quick_acks(&self) -> QuickAcks {
                match self { Scheme::Off(_) => QuickAcks::Never, $(Scheme::$scheme(_) => $module::$facts.quick_acks),+ }
            }

            /// [`Facts::wants_last_ack`](crate::Facts::wants_last_ack).
            pub const fn wants_last_ack(&self) -> bool {
                match self { Scheme::Off(_) => false, $(Scheme::$scheme(_) => $module::$facts.wants_last_ack),+ }
            }
        }

        impl EcnKind {
            /// [`Facts::counts_marks`](crate::Facts::counts_marks).
            pub const fn counts(self) -> bool {
                match self { EcnKind::Off => false, $(EcnKind::$scheme => $module::$facts.counts_marks),+ }
            }

            /// [`Facts::wants_dsack`](crate::Facts::wants_dsack).
            pub const fn wants_dsack(self) -> bool {
                match self { EcnKind::Off => false, $(EcnKind::$scheme => $module::$facts.wants_dsack),+ }
            }
            /// [`Facts::control_packets`](crate::Facts::control_packets).
            pub(crate) const fn control_packets(self) -> &'static [ControlPacket] {
                match self { EcnKind::Off => &[], $(EcnKind::$scheme => $module::$facts.control_packets),+ }
            }
            /// [`Facts::quenches`](crate::Facts::quenches).
            pub const fn quenches(self) -> bool {
                match self { EcnKind::Off => false, $(EcnKind::$scheme => $module::$facts.quenches),+ }
            }
        }
    };
}
ecn_schemes! { schemes! {} }

/// Evaluates an expression for the scheme in use.
macro_rules! of_scheme {
    ($value:expr, $scheme:ident => $what:expr) => {
        ecn_schemes! { arms! { $value, $scheme => $what; } }
    };
}
macro_rules! arms {
    ($value:expr, $bound:ident => $what:expr; $($scheme:ident, $module:ident, $name:literal, $facts:ident;)+) => {
        match $value { Scheme::Off($bound) => $what, $(Scheme::$scheme($bound) => $what),+ }
    };
}
feedback_hooks! { dispatch! { { impl Feedback for Scheme } of_scheme } }

impl Scheme {
    /// Whether there is no ECN.
    pub fn is_off(&self) -> bool {
        matches!(self, Scheme::Off(_))
    }

    /// The flags of a segment as the scheme in use reads them.
    #[inline]
    pub fn flags(&self, flags: Flags) -> EcnFlags {
        if EcnFlags::are_clear(flags) { EcnFlags::NONE } else { self.read(flags) }
    }

    /// Changes to the agreed scheme. Returns whether it is another one, or is no longer offered.
    pub fn settle(&mut self, agreed: Agreed) -> bool {
        let kind = match agreed {
            Agreed::This => return false,
            Agreed::NotOffered => return true,
            Agreed::Another(kind) => kind,
            Agreed::Nothing => EcnKind::Off,
        };
        *self = Scheme::new(kind);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [PacketKind; 9] = [
        PacketKind::Syn,
        PacketKind::SynAck,
        PacketKind::HandshakeAck,
        PacketKind::Ack,
        PacketKind::Data,
        PacketKind::Retransmission,
        PacketKind::Probe,
        PacketKind::Fin,
        PacketKind::Rst,
    ];

    /// The kinds of packets of `scheme` that have `what`.
    fn kinds(scheme: EcnKind, what: impl Fn(Stamp) -> bool) -> Vec<PacketKind> {
        let stamp = |kind| {
            // Each by a scheme of its own that has reduced and received a mark.
            let mut scheme = Scheme::new(scheme);
            scheme.on_reduction();
            let marked = Segment { len: 1_000, ecn: Ecn::Ce, ..Segment::default() };
            scheme.on_arrival(&marked, EcnFlags::NONE, true);
            scheme.stamp(kind)
        };
        KINDS.into_iter().filter(|kind| what(stamp(*kind))).collect()
    }

    #[test]
    fn standard_ecn_is_on_new_data_and_its_echo_on_all_that_acknowledges() {
        use PacketKind::*;
        let capable = |scheme| kinds(scheme, |stamp| stamp.ecn == Ecn::Ect0);
        let with = |scheme, flag| kinds(scheme, |stamp| stamp.flags.contains(flag));
        assert_eq!(capable(EcnKind::Rfc3168), [Data]);
        assert_eq!(with(EcnKind::Rfc3168, Flags::CWR), [Syn, Data]);
        assert_eq!(capable(EcnKind::Rfc2481), [Data, Retransmission]);
        assert_eq!(with(EcnKind::Rfc2481, Flags::CWR), [Syn, Data, Retransmission, Probe]);
        for scheme in [EcnKind::Rfc3168, EcnKind::Rfc2481] {
            // All but the reset.
            assert_eq!(with(scheme, Flags::ECE), KINDS[..8]);
        }
        assert_eq!(kinds(EcnKind::Off, |stamp| stamp != Stamp::NONE), []);
    }

    #[test]
    fn an_echo_counts_all_that_its_ack_covers() {
        // The number acknowledges packets of 1000, 1000 and 500 bytes; with SACK, two more are delivered.
        let acked = Acked { from: 1_001, to: 3_501, delivered: 4_500, new_sack: true, mss: 1_000 };
        let decoded = |flags| {
            let mut scheme = Scheme::new(EcnKind::Rfc3168);
            scheme.decode(&Segment { flags, ..Segment::default() }, scheme.flags(flags), acked)
        };
        let echo = decoded(Flags::ACK | Flags::ECE);
        assert_eq!(echo, AckFeedback { echo: true, marks: Marks::All, no_growth: false });
        assert_eq!(echo.marks.of(acked.amount()), Amount { bytes: 2_500, packets: 3 });
        assert_eq!(decoded(Flags::ACK), AckFeedback::default());
        assert_eq!(Marks::None.of(acked.amount()), Amount::default());
    }

    #[test]
    fn a_scheme_reads_two_flags_or_one_number() {
        let read = |kind, flags| Scheme::new(kind).flags(flags | Flags::ACK);
        for kind in [EcnKind::Off, EcnKind::Rfc3168, EcnKind::Rfc2481, EcnKind::Dctcp, EcnKind::Becn, EcnKind::EcnBecn]
        {
            for flags in [Flags::empty(), Flags::AE, Flags::ECE, Flags::CWR, Flags::CWR | Flags::ECE] {
                assert_eq!(read(kind, flags), EcnFlags::separate(flags));
            }
        }
        for kind in [EcnKind::AccEcn, EcnKind::AccEcnLinux] {
            for (flags, ace) in [(Flags::empty(), 0), (Flags::AE | Flags::ECE, 5), (Flags::CWR, 2)] {
                assert_eq!(read(kind, flags), EcnFlags::count(ace));
            }
        }
    }

    #[test]
    fn only_marks_on_data_are_echoed() {
        // RFC 3168 §6.1.3: the receiver echoes CE data packets; pure ACKs are not ECN-capable (§6.1.4).
        for kind in [EcnKind::Rfc3168, EcnKind::Rfc2481] {
            let echoes = |len| {
                let mut scheme = Scheme::new(kind);
                scheme.on_arrival(&Segment { len, ecn: Ecn::Ce, ..Segment::default() }, EcnFlags::NONE, true);
                scheme.stamp(PacketKind::Ack).flags.contains(Flags::ECE)
            };
            assert_eq!([echoes(0), echoes(1)], [false, true]);
        }
    }

    #[test]
    fn the_handshake_may_end_with_another_scheme_or_none() {
        let mut scheme = Scheme::new(EcnKind::Rfc2481);
        assert!(!scheme.settle(Agreed::This));
        assert!(scheme.settle(Agreed::Another(EcnKind::Rfc3168)));
        assert!(matches!(scheme, Scheme::Rfc3168(_)));
        assert!(scheme.settle(Agreed::Nothing) && scheme.is_off());
    }
}
