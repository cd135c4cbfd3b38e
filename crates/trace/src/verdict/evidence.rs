//! The counts on which a verdict rests.

use std::ops::AddAssign;

use crate::connection::{Connection, Negotiation};
use crate::rules::Rule;

/// Counts of one direction, or sums over several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Directions.
    pub directions: u64,
    /// New data packets: neither retransmissions nor probes.
    pub data: u64,
    /// New data packets with Not-ECT.
    pub not_ect: u64,
    /// New data packets with ECT(0) or ECT(1).
    pub ect: u64,
    /// New data packets with CE.
    pub ce: u64,
    /// Data packets that are not new.
    pub retransmitted: u64,
    /// Packets without data, and retransmissions, that are ECN-capable or have CE.
    pub other_ect: u64,
    /// Packets of the data's receiver.
    pub answers: u64,
    /// RSTs of the data's receiver.
    pub resets: u64,
    /// ACKs with ECE for the data; without meaning with AccECN.
    pub ece: u64,
    /// Packets with CWR; without meaning with AccECN.
    pub cwr: u64,
    /// Windows of data with ECE.
    pub windows: u64,
    /// Windows with ECE in which the outstanding data do not fall.
    pub unreduced: u64,
    /// Sequences of ACKs with ECE.
    pub episodes: u64,
    /// The last ACK had ECE.
    pub echoing: bool,
    /// Marks that were acknowledged without ECE.
    pub unechoed: u64,
    /// ECE without a mark, at the receiver.
    pub spurious: u64,
    /// Segments that were lost or arrived out of order.
    pub lost: u64,
    /// Marks that AccECN reports.
    pub marks: u64,
    /// The receiver's SYN-ACK has the AccECN option, or a compared ACK.
    pub offers_option: bool,
    /// AccECN options.
    pub options: u64,
    /// All AccECN options were compared.
    pub options_complete: bool,
    /// Bytes with ECT that AccECN options report.
    pub reported_ect: u64,
    /// Bytes with CE that AccECN options report.
    pub reported_ce: u64,
    /// ACKs whose AccECN counters cannot be right.
    pub broken: u64,
    /// Acknowledged bytes.
    pub acked: u64,
    /// Largest segment, in bytes.
    pub segment: u64,
}

impl Evidence {
    /// Returns the counts of the data of end `i`.
    pub(super) fn of(connection: &Connection, i: usize) -> Evidence {
        let (me, peer) = (&connection.ends[i], &connection.ends[1 - i]);
        let [not_ect, ect1, ect0, ce] = me.counts.fresh;
        let data = not_ect + ect1 + ect0 + ce;
        let capable: u64 = me.ecn.counts.codepoints[1..].iter().sum();
        let spurious = me.stream.counts.needless.max(me.stream.counts.dsacks);
        let violations = |end: &crate::connection::End, rules: &[Rule]| -> u64 {
            rules.iter().map(|&rule| u64::from(end.violations.count(rule))).sum()
        };
        let accurate = connection.negotiation == Negotiation::AccEcn;
        let broken = violations(peer, &[Rule::AceMissing, Rule::AceWithoutCe, Rule::OptionBytes]);
        let reported = connection.reported(i);
        Evidence {
            directions: 1,
            data,
            not_ect,
            ect: ect0 + ect1,
            ce,
            retransmitted: me.counts.data_packets - data,
            other_ect: capable - (ect0 + ect1 + ce),
            answers: peer.counts.packets,
            resets: peer.counts.rst,
            ece: peer.ecn.counts.ece,
            cwr: me.ecn.counts.cwr,
            windows: me.ecn.counts.reductions,
            unreduced: violations(me, &[Rule::NoReduction, Rule::GrowthOnEce]),
            episodes: me.ecn.counts.episodes,
            echoing: me.ecn.is_echoing(),
            unechoed: me.ecn.counts.unechoed,
            spurious: violations(peer, &[Rule::EceWithoutCe]),
            lost: me.counts.retransmits.saturating_sub(spurious) + me.counts.out_of_order,
            marks: connection.marks(i).map_or(0, |marks| marks.packets),
            offers_option: reported.is_some_and(|reported| reported.options > 0)
                || peer.options.is_some_and(|options| options.acc_ecn.is_some()),
            options: reported.map_or(0, |reported| reported.options),
            options_complete: reported.is_some_and(|reported| reported.complete),
            reported_ect: reported.map_or(0, |reported| reported.bytes[0] + reported.bytes[2]),
            reported_ce: reported.map_or(0, |reported| reported.bytes[1]),
            broken: if accurate { broken } else { 0 },
            acked: u64::try_from(me.stream.relative(me.stream.una())).unwrap_or(0),
            segment: me.counts.largest.into(),
        }
    }

    /// Number of full segments acknowledged.
    pub(super) fn acked_packets(&self) -> u64 {
        self.acked / self.segment.max(1)
    }
}

impl AddAssign for Evidence {
    fn add_assign(&mut self, other: Evidence) {
        self.directions += other.directions;
        self.data += other.data;
        self.not_ect += other.not_ect;
        self.ect += other.ect;
        self.ce += other.ce;
        self.retransmitted += other.retransmitted;
        self.other_ect += other.other_ect;
        self.answers += other.answers;
        self.resets += other.resets;
        self.ece += other.ece;
        self.cwr += other.cwr;
        self.windows += other.windows;
        self.unreduced += other.unreduced;
        self.episodes += other.episodes;
        self.echoing |= other.echoing;
        self.unechoed += other.unechoed;
        self.spurious += other.spurious;
        self.lost += other.lost;
        self.marks += other.marks;
        self.offers_option &= other.offers_option;
        self.options += other.options;
        self.options_complete &= other.options_complete;
        self.reported_ect += other.reported_ect;
        self.reported_ce += other.reported_ce;
        self.broken += other.broken;
        self.acked += other.acked;
        self.segment = self.segment.max(other.segment);
    }
}
