//! The rules of ECN that a capture can show, and what breaks them.

/// Which text the rules are those of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standard {
    /// RFC 3168, September 2001.
    #[default]
    Rfc3168,
    /// RFC 2481, January 1999: retransmissions may be ECT, and CWR goes on the first data packet of whatever kind.
    Rfc2481,
    /// RFC 8257, October 2017: DCTCP, whose handshake is that of RFC 3168, so that a capture cannot tell the two apart.
    Rfc8257,
}

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Rule {
    /// A SYN or SYN-ACK is not ECT.
    EctOnSyn,
    /// Flags of SYN and SYN-ACK are one of the pairs that negotiate.
    SetupFlags,
    /// Data are ECT only where ECN was negotiated.
    EctNotNegotiated,
    /// ECE and CWR are set only where ECN was negotiated.
    EceNotNegotiated,
    /// A pure ACK is not ECT.
    EctOnAck,
    /// A retransmission is not ECT.
    EctOnRetransmission,
    /// A probe of a closed window is not ECT.
    EctOnProbe,
    /// ECE goes on until CWR has come.
    EceStopped,
    /// What acknowledges a CE packet has ECE.
    EceMissing,
    /// ECE tells of a CE packet.
    EceWithoutCe,
    /// ECE ends when CWR has come, unless another CE packet has.
    EceAfterCwr,
    /// CWR is on new data.
    CwrOnRetransmission,
    /// A reduction is told by CWR.
    CwrMissing,
    /// At most one reduction, hence one CWR, for each window of data.
    CwrTwice,
    /// ECE has the window reduced.
    NoReduction,
    /// An ACK with ECE does not open the window.
    GrowthOnEce,
}

/// Every rule.
pub const RULES: [Rule; 16] = [
    Rule::EctOnSyn,
    Rule::SetupFlags,
    Rule::EctNotNegotiated,
    Rule::EceNotNegotiated,
    Rule::EctOnAck,
    Rule::EctOnRetransmission,
    Rule::EctOnProbe,
    Rule::EceStopped,
    Rule::EceMissing,
    Rule::EceWithoutCe,
    Rule::EceAfterCwr,
    Rule::CwrOnRetransmission,
    Rule::CwrMissing,
    Rule::CwrTwice,
    Rule::NoReduction,
    Rule::GrowthOnEce,
];

impl Rule {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::EctOnSyn => "ect-on-syn",
            Rule::SetupFlags => "setup-flags",
            Rule::EctNotNegotiated => "ect-not-negotiated",
            Rule::EceNotNegotiated => "ece-not-negotiated",
            Rule::EctOnAck => "ect-on-ack",
            Rule::EctOnRetransmission => "ect-on-retransmission",
            Rule::EctOnProbe => "ect-on-probe",
            Rule::EceStopped => "ece-stopped",
            Rule::EceMissing => "ece-missing",
            Rule::EceWithoutCe => "ece-without-ce",
            Rule::EceAfterCwr => "ece-after-cwr",
            Rule::CwrOnRetransmission => "cwr-on-retransmission",
            Rule::CwrMissing => "cwr-missing",
            Rule::CwrTwice => "cwr-twice",
            Rule::NoReduction => "no-reduction",
            Rule::GrowthOnEce => "growth-on-ece",
        }
    }

    /// The section that says it, under `standard`; `None` where that text has no such rule.
    pub const fn section(self, standard: Standard) -> Option<&'static str> {
        match standard {
            Standard::Rfc3168 => Some(self.section_of_rfc3168()),
            Standard::Rfc2481 => self.section_of_rfc2481(),
            Standard::Rfc8257 => self.section_of_rfc8257(),
        }
    }

    const fn section_of_rfc3168(self) -> &'static str {
        match self {
            Rule::EctOnSyn | Rule::SetupFlags | Rule::EctNotNegotiated | Rule::EceNotNegotiated => {
                "RFC 3168 section 6.1.1"
            }
            Rule::EctOnAck => "RFC 3168 section 6.1.4",
            Rule::EctOnRetransmission => "RFC 3168 section 6.1.5",
            Rule::EctOnProbe => "RFC 3168 section 6.1.6",
            Rule::EceStopped | Rule::EceMissing | Rule::EceWithoutCe | Rule::EceAfterCwr => "RFC 3168 section 6.1.3",
            Rule::CwrOnRetransmission | Rule::CwrMissing | Rule::CwrTwice | Rule::NoReduction | Rule::GrowthOnEce => {
                "RFC 3168 section 6.1.2"
            }
        }
    }

    const fn section_of_rfc2481(self) -> Option<&'static str> {
        match self {
            Rule::EctOnSyn | Rule::SetupFlags | Rule::EctNotNegotiated | Rule::EceNotNegotiated => {
                Some("RFC 2481 section 6.1.1")
            }
            Rule::EctOnAck => Some("RFC 2481 section 6.1.4"),
            Rule::EceStopped | Rule::EceMissing | Rule::EceWithoutCe | Rule::EceAfterCwr => {
                Some("RFC 2481 section 6.1.3")
            }
            Rule::CwrMissing | Rule::CwrTwice | Rule::NoReduction | Rule::GrowthOnEce => Some("RFC 2481 section 6.1.2"),
            Rule::EctOnRetransmission | Rule::EctOnProbe | Rule::CwrOnRetransmission => None,
        }
    }

    /// SYN and SYN-ACK may be ECT (§3.6). ECE is the state of what is acknowledged (§3.2): it stops without CWR, and is lost
    /// with its ACK. A reduction may be less than a segment (§3.3). All else is as in RFC 3168.
    const fn section_of_rfc8257(self) -> Option<&'static str> {
        match self {
            Rule::EctOnSyn
            | Rule::EceStopped
            | Rule::EceMissing
            | Rule::EceAfterCwr
            | Rule::NoReduction
            | Rule::GrowthOnEce => None,
            Rule::EceWithoutCe => Some("RFC 8257 section 3.2"),
            Rule::CwrOnRetransmission | Rule::CwrMissing | Rule::CwrTwice => Some("RFC 8257 section 3.3"),
            Rule::SetupFlags
            | Rule::EctNotNegotiated
            | Rule::EceNotNegotiated
            | Rule::EctOnAck
            | Rule::EctOnRetransmission
            | Rule::EctOnProbe => Some(self.section_of_rfc3168()),
        }
    }

    /// What a violation is, in words.
    pub const fn says(self) -> &'static str {
        match self {
            Rule::EctOnSyn => "a SYN or SYN-ACK is ECN-capable",
            Rule::SetupFlags => "a SYN or SYN-ACK has ECE and CWR as no host that negotiates sets them",
            Rule::EctNotNegotiated => "data are ECN-capable, but ECN was not negotiated",
            Rule::EceNotNegotiated => "ECE or CWR is set, but ECN was not negotiated",
            Rule::EctOnAck => "a pure ACK is ECN-capable",
            Rule::EctOnRetransmission => "a retransmission is ECN-capable",
            Rule::EctOnProbe => "a window probe is ECN-capable",
            Rule::EceStopped => "ECE stopped before CWR had come",
            Rule::EceMissing => "a packet with CE was acknowledged without ECE",
            Rule::EceWithoutCe => "ECE began and no packet with CE had come",
            Rule::EceAfterCwr => "ECE went on after CWR, and no other packet with CE had come",
            Rule::CwrOnRetransmission => "CWR is on a retransmission",
            Rule::CwrMissing => "a window of new data followed ECE, and CWR did not come",
            Rule::CwrTwice => "CWR came twice for one window of data",
            Rule::NoReduction => "a window after ECE there was as much data outstanding as before",
            Rule::GrowthOnEce => "more data than ever came to be outstanding while ACKs had ECE",
        }
    }
}

/// A rule broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which rule.
    pub rule: Rule,
    /// The number of the packet that shows it.
    pub packet: u64,
    /// When.
    pub time: u64,
}

/// Violations listed of one direction: the rest are counted.
const LISTED: usize = 256;

/// The violations of one direction: the first are listed, all counted.
#[derive(Clone, Debug, Default)]
pub struct Violations {
    standard: Standard,
    list: Vec<Violation>,
    counts: [u32; RULES.len()],
}

impl Violations {
    /// None yet; those of rules that `standard` does not have are not booked.
    pub fn of(standard: Standard) -> Violations {
        Violations { standard, ..Violations::default() }
    }
    /// Books a violation.
    #[cold]
    pub fn add(&mut self, rule: Rule, packet: u64, time: u64) {
        if rule.section(self.standard).is_none() {
            return;
        }
        let count = &mut self.counts[rule as usize];
        *count = count.saturating_add(1);
        if self.list.len() < LISTED {
            self.list.push(Violation { rule, packet, time });
        }
    }
    /// Bytes on the heap.
    pub(crate) fn heap(&self) -> usize {
        self.list.capacity() * size_of::<Violation>()
    }
    /// The first ones, in order.
    pub fn list(&self) -> &[Violation] {
        &self.list
    }
    /// How many there are of a rule.
    pub fn count(&self, rule: Rule) -> u32 {
        self.counts[rule as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_are_listed_and_all_counted() {
        let mut found = Violations::of(Standard::Rfc3168);
        assert_eq!((found.heap(), found.count(Rule::CwrTwice)), (0, 0));
        (0..300).for_each(|packet| found.add(Rule::CwrTwice, packet, 0));
        assert_eq!((found.list().len(), found.list().last().map(|one| one.packet)), (256, Some(255)));
        assert_eq!((found.count(Rule::CwrTwice), found.count(Rule::CwrMissing)), (300, 0));
        // Two numbers of eight bytes and the rule, in memory for at least as many as are listed.
        assert!(found.heap() >= 256 * 17, "{}", found.heap());
    }

    #[test]
    fn a_standard_without_a_rule_finds_no_violation_of_it() {
        let mut found = Violations::of(Standard::Rfc2481);
        found.add(Rule::EctOnRetransmission, 1, 0);
        assert!(found.list().is_empty());
        let mut found = Violations::of(Standard::Rfc8257);
        found.add(Rule::EceStopped, 1, 0);
        assert!(found.list().is_empty());
        found.add(Rule::EceWithoutCe, 1, 0);
        assert_eq!(found.count(Rule::EceWithoutCe), 1);
    }
}
