//! Backward ECN: the router notifies the sender directly, by ICMP source quench. Historic: RFC 6633 forbids routers to send
//! it and hosts to respond to it. F. Akujobi et al., "Congestion Control in TCP/IP Networks: A Combined ECN and BECN Approach",
//! 2003 (§IV-B), and J. Hadi Salim et al., draft-salim-jhsbnns-ecn-00, June 1998 (BECN alone).
//!
//! The sender's response, the same as to ECN-Echo, is in `sender/quench.rs`. These schemes decide when it is due, and keep
//! the state that outlasts it.

use super::rfc2481::Rfc2481;
use super::{AckFeedback, Acked, Agreed, EcnFlags, Feedback, PacketKind, QuenchSeen, Stamp};
use crate::config::Config;
use crate::facts::Facts;
use ecnlab_wire::{Ecn, QuenchCause, Segment};

/// Static properties of the law.
pub const FACTS: Facts = Facts {
    name: "becn",
    label: "BECN",
    summary: "Historic BECN: responds to the routers' source quenches and ignores echoes. Nothing is negotiated.",
    reference: "draft-salim-jhsbnns-ecn-00",
    quenches: true,
    ..Facts::PLAIN
};
/// Static properties of ECN+BECN.
pub const ECN_BECN: Facts = Facts {
    name: "ecn-becn",
    label: "ECN+BECN",
    summary: "Historic ECN+BECN: RFC 2481's ECN that also responds to source quenches; the echo is the backup of a lost source quench.",
    reference: "F. Akujobi, I. Lambadaris, R. Makkar, N. Seddigh and B. Nandy, 'Congestion control in TCP/IP networks: a combined ECN and BECN approach', 2003",
    quenches: true,
    ..Facts::PLAIN
};
/// Static properties of ECN+BECN (both).
pub const ECN_BECN_BOTH: Facts = Facts {
    name: "ecn-becn-both",
    label: "ECN+BECN (both)",
    summary: "Historic ECN+BECN that also responds to the echo of a mark after the source quench for it.",
    reference: "F. Akujobi, I. Lambadaris, R. Makkar, N. Seddigh and B. Nandy, 'Congestion control in TCP/IP networks: a combined ECN and BECN approach', 2003, section IV-B",
    quenches: true,
    ..Facts::PLAIN
};

/// A sender's state of source quenches. Values are offsets of its stream.
#[derive(Clone, Debug, Default)]
struct Quenches {
    /// The window does not grow on ACKs up to here.
    quiet_until: u64,
    /// ECN-Echo on ACKs up to here reports congestion that a source quench has already reported.
    echo_until: u64,
}

impl Quenches {
    /// Whether the sender reduces its window: at most once a round trip, whether a source quench, ECN-Echo or duplicate
    /// ACKs report the congestion first.
    fn take(&mut self, quench: &QuenchSeen) -> bool {
        let reduces = quench.una > quench.reduced;
        if reduces && quench.cause == QuenchCause::Marked {
            // §IV-B: "waits a full roundtrip time after window reduction before it starts increasing the window."
            self.quiet_until = quench.round;
        }
        reduces
    }

    fn holds_window(&self, acked: Acked) -> bool {
        acked.to <= self.quiet_until
    }

    /// A timeout has begun another slow start.
    fn on_timeout(&mut self) {
        self.quiet_until = 0;
    }
}

/// BECN alone. The receiver has no part in it: nothing is negotiated, nothing echoed.
#[derive(Clone, Debug, Default)]
pub struct Becn {
    quenches: Quenches,
}

impl Feedback for Becn {
    fn stamp(&mut self, kind: PacketKind) -> Stamp {
        match kind {
            // §IV-A, note 1: ECT marks a packet of an ECN or BECN sender.
            PacketKind::Data | PacketKind::Retransmission => Stamp { ecn: Ecn::Ect0, ..Stamp::NONE },
            _ => Stamp::NONE,
        }
    }

    fn answer(&mut self, _: &Segment) -> Agreed {
        // draft-salim-jhsbnns-ecn-00, abstract: no end-to-end negotiation is needed.
        Agreed::This
    }

    fn agree(&mut self, _: &Segment) -> Agreed {
        Agreed::This
    }

    fn on_arrival(&mut self, _: &Segment, _: EcnFlags, _: bool) -> bool {
        false
    }

    fn decode(&mut self, _: &Segment, _: EcnFlags, acked: Acked) -> AckFeedback {
        AckFeedback { no_growth: self.quenches.holds_window(acked), ..AckFeedback::default() }
    }

    fn on_reduction(&mut self) {}

    fn on_timeout(&mut self) {
        self.quenches.on_timeout();
    }

    fn on_quench(&mut self, quench: &QuenchSeen) -> bool {
        self.quenches.take(quench)
    }
}

/// ECN+BECN. The echo stands in for a source quench that was lost (§II-B), and is ignored otherwise.
pub type EcnBecn = WithEcn<true>;

/// ECN+BECN as two schemes side by side: each echo is processed as in ECN, whatever source quenches came.
pub type EcnBecnBoth = WithEcn<false>;

/// RFC 2481's ECN, to which the paper refers, and BECN. The echo is a `BACKUP` or not: as a backup, that of data which were
/// outstanding when a source quench came is not new.
#[derive(Clone, Debug, Default)]
pub struct WithEcn<const BACKUP: bool> {
    ecn: Rfc2481,
    quenches: Quenches,
}

impl<const BACKUP: bool> Feedback for WithEcn<BACKUP> {
    fn stamp(&mut self, kind: PacketKind) -> Stamp {
        // §IV-B: negotiated "just like pure ECN hosts"; the first packet after the reduction carries CWR, whatever signalled
        // the congestion.
        self.ecn.stamp(kind)
    }

    fn answer(&mut self, syn: &Segment) -> Agreed {
        self.ecn.answer(syn)
    }

    fn agree(&mut self, syn_ack: &Segment) -> Agreed {
        self.ecn.agree(syn_ack)
    }

    fn on_syn_timeout(&mut self, config: &Config) -> Agreed {
        self.ecn.on_syn_timeout(config)
    }

    fn on_arrival(&mut self, segment: &Segment, flags: EcnFlags, in_window: bool) -> bool {
        self.ecn.on_arrival(segment, flags, in_window)
    }

    fn decode(&mut self, ack: &Segment, flags: EcnFlags, acked: Acked) -> AckFeedback {
        let repeats_old = acked.to <= self.quenches.echo_until;
        let feedback = if repeats_old { AckFeedback::default() } else { self.ecn.decode(ack, flags, acked) };
        AckFeedback { no_growth: self.quenches.holds_window(acked), ..feedback }
    }

    fn on_reduction(&mut self) {
        self.ecn.on_reduction();
    }

    fn on_timeout(&mut self) {
        self.quenches.on_timeout();
    }

    fn on_quench(&mut self, quench: &QuenchSeen) -> bool {
        let reduces = self.quenches.take(quench);
        // Ignored, for the response to the last source quench covers this one, or processed: outstanding data need not be
        // echoed. CWR on the packet behind it ends the echo at the receiver.
        if BACKUP && (reduces || quench.una <= self.quenches.echo_until) {
            self.quenches.echo_until = quench.max;
            self.ecn.on_reduction();
        }
        reduces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_wire::Flags;

    /// A source quench about a mark, with data from 1000 to 4000 out, after no reduction; a round trip ends at 5000.
    const QUENCH: QuenchSeen = QuenchSeen { cause: QuenchCause::Marked, una: 1000, max: 4000, reduced: 0, round: 5000 };

    fn grows(scheme: &mut impl Feedback, to: u64) -> bool {
        let acked = Acked { from: 1000, to, delivered: to - 1000, new_sack: false, mss: 1000 };
        !scheme.decode(&Segment { flags: Flags::ACK, ..Segment::default() }, EcnFlags::NONE, acked).no_growth
    }

    fn the_window_waits_a_round_trip(mut scheme: impl Feedback) {
        assert!(scheme.on_quench(&QUENCH));
        // §IV-B: it "waits a full roundtrip time after window reduction before it starts increasing the window."
        assert_eq!([5000, 5001].map(|to| grows(&mut scheme, to)), [false, true]);
        // A timeout begins another slow start, which does not wait.
        scheme.on_timeout();
        assert!(grows(&mut scheme, 5000));
        // After a loss the window is not held back.
        assert!(scheme.on_quench(&QuenchSeen { cause: QuenchCause::Dropped, ..QUENCH }));
        assert!(grows(&mut scheme, 5000));
    }

    #[test]
    fn a_source_quench_holds_the_window_for_a_round_trip() {
        the_window_waits_a_round_trip(Becn::default());
        the_window_waits_a_round_trip(EcnBecn::default());
        the_window_waits_a_round_trip(EcnBecnBoth::default());
    }

    /// Returns whether a mark causes an ACK at once, and whether the next ACK has ECE.
    fn feedback(mut scheme: impl Feedback) -> (bool, bool) {
        let marked = Segment { len: 1000, ecn: Ecn::Ce, ..Segment::default() };
        let at_once = scheme.on_arrival(&marked, EcnFlags::NONE, true);
        (at_once, scheme.stamp(PacketKind::Ack).flags.contains(Flags::ECE))
    }

    #[test]
    fn a_receiver_echoes_marks_only_where_there_is_ecn_and_never_at_once() {
        assert_eq!(feedback(Becn::default()), (false, false));
        assert_eq!([feedback(EcnBecn::default()), feedback(EcnBecnBoth::default())], [(false, true); 2]);
    }
}
