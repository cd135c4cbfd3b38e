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
    /// RFC 9331, January 2023: L4S, for which ECT(1) needs feedback that counts. All else is RFC 3168's.
    Rfc9331,
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
    /// A SYN asks for AccECN, or a SYN-ACK agrees, in one of the ways there are.
    AccEcnSetup,
    /// SYNs, or SYN-ACKs, of AccECN and of RFC 3168 are not in one handshake.
    SetupMixed,
    /// The SYN-ACK says with which codepoint the SYN came.
    SynAckCode,
    /// The last ACK of the handshake says with which codepoint the SYN-ACK came.
    LastAckCode,
    /// A server that has sent or received a SYN without AccECN is not ECN-capable.
    EctAfterFallback,
    /// The ACE field counts each packet with CE.
    AceMissing,
    /// The ACE field counts nothing but packets with CE.
    AceWithoutCe,
    /// Data with CE behind a packet without it are acknowledged at once.
    AckOnCe,
    /// No more than seven marks wait for an ACK.
    AckOnMarks,
    /// A SYN has no AccECN option.
    OptionOnSyn,
    /// The counters of bytes begin at 1, 0 and 1.
    OptionStart,
    /// Who sends the option has it on the SYN-ACK, or on the last ACK and the first data.
    OptionNotAtStart,
    /// The option's counters are the bytes that came with each codepoint.
    OptionBytes,
    /// An option has each counter that has changed.
    OptionOmits,
    /// An ACK of bytes with CE has the option.
    OptionMissing,
    /// Each counter is told at least once for 2^22 bytes.
    OptionRare,
    /// ECE is the state of the data that an ACK acknowledges.
    EceNotState,
    /// A change of the state is acknowledged at once.
    AckOnChange,
    /// ECT(1) needs feedback that tells how much was marked.
    Ect1WithoutAccEcn,
}

/// Every rule.
pub const RULES: [Rule; 35] = [
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
    Rule::AccEcnSetup,
    Rule::SetupMixed,
    Rule::SynAckCode,
    Rule::LastAckCode,
    Rule::EctAfterFallback,
    Rule::AceMissing,
    Rule::AceWithoutCe,
    Rule::AckOnCe,
    Rule::AckOnMarks,
    Rule::OptionOnSyn,
    Rule::OptionStart,
    Rule::OptionNotAtStart,
    Rule::OptionBytes,
    Rule::OptionOmits,
    Rule::OptionMissing,
    Rule::OptionRare,
    Rule::EceNotState,
    Rule::AckOnChange,
    Rule::Ect1WithoutAccEcn,
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
            Rule::AccEcnSetup => "accecn-setup",
            Rule::SetupMixed => "setup-mixed",
            Rule::SynAckCode => "syn-ack-code",
            Rule::LastAckCode => "last-ack-code",
            Rule::EctAfterFallback => "ect-after-fallback",
            Rule::AceMissing => "ace-missing",
            Rule::AceWithoutCe => "ace-without-ce",
            Rule::AckOnCe => "ack-on-ce",
            Rule::AckOnMarks => "ack-on-marks",
            Rule::OptionOnSyn => "option-on-syn",
            Rule::OptionStart => "option-start",
            Rule::OptionNotAtStart => "option-not-at-start",
            Rule::OptionBytes => "option-bytes",
            Rule::OptionOmits => "option-omits",
            Rule::OptionMissing => "option-missing",
            Rule::OptionRare => "option-rare",
            Rule::EceNotState => "ece-not-state",
            Rule::AckOnChange => "ack-on-change",
            Rule::Ect1WithoutAccEcn => "ect1-without-accecn",
        }
    }

    /// The section that says it, under `standard`; `None` where that text has no such rule.
    pub const fn section(self, standard: Standard) -> Option<&'static str> {
        if let Some(section) = self.section_of_rfc9768() {
            return Some(section);
        }
        match standard {
            Standard::Rfc3168 => self.section_of_rfc3168(),
            Standard::Rfc2481 => self.section_of_rfc2481(),
            Standard::Rfc8257 => self.section_of_rfc8257(),
            Standard::Rfc9331 => match self {
                Rule::Ect1WithoutAccEcn => Some("RFC 9331 section 4.2"),
                _ => self.section_of_rfc3168(),
            },
        }
    }

    /// AccECN is negotiated on the wire: its rules hold whatever else is checked.
    const fn section_of_rfc9768(self) -> Option<&'static str> {
        Some(match self {
            Rule::AccEcnSetup => "RFC 9768 section 3.1.3",
            Rule::SetupMixed | Rule::EctAfterFallback => "RFC 9768 section 3.1.5",
            Rule::SynAckCode => "RFC 9768 section 3.1.1",
            Rule::LastAckCode => "RFC 9768 section 3.2.2.1",
            Rule::AceMissing | Rule::AceWithoutCe => "RFC 9768 section 3.2.2.2",
            Rule::AckOnCe | Rule::AckOnMarks => "RFC 9768 section 3.2.2.5.1",
            Rule::OptionOnSyn | Rule::OptionNotAtStart => "RFC 9768 section 3.2.3.2.1",
            Rule::OptionStart => "RFC 9768 section 3.2.1",
            Rule::OptionBytes => "RFC 9768 section 3.2.3.1",
            Rule::OptionOmits | Rule::OptionMissing | Rule::OptionRare => "RFC 9768 section 3.2.3.3",
            _ => return None,
        })
    }

    const fn section_of_rfc3168(self) -> Option<&'static str> {
        Some(match self {
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
            _ => return None,
        })
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
            _ => None,
        }
    }

    /// SYN and SYN-ACK may be ECT (§3.6). ECE is the state of what is acknowledged (§3.2): it stops without CWR, and is lost
    /// with its ACK. A reduction may be less than a segment (§3.3). All else is as in RFC 3168.
    const fn section_of_rfc8257(self) -> Option<&'static str> {
        match self {
            Rule::EceWithoutCe | Rule::EceNotState | Rule::AckOnChange => Some("RFC 8257 section 3.2"),
            Rule::CwrOnRetransmission | Rule::CwrMissing | Rule::CwrTwice => Some("RFC 8257 section 3.3"),
            Rule::SetupFlags
            | Rule::EctNotNegotiated
            | Rule::EceNotNegotiated
            | Rule::EctOnAck
            | Rule::EctOnRetransmission
            | Rule::EctOnProbe => self.section_of_rfc3168(),
            _ => None,
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
            Rule::AccEcnSetup => "a SYN or SYN-ACK has AE, CWR and ECE as no host with AccECN sets them",
            Rule::SetupMixed => "one handshake has SYNs or SYN-ACKs of AccECN and of RFC 3168",
            Rule::SynAckCode => "the SYN-ACK does not say with which codepoint the SYN came",
            Rule::LastAckCode => "the last ACK of the handshake does not say with which codepoint the SYN-ACK came",
            Rule::EctAfterFallback => {
                "the server is ECN-capable, but a SYN or SYN-ACK of this handshake did without AccECN"
            }
            Rule::AceMissing => "the ACE field does not count a packet with CE that was acknowledged",
            Rule::AceWithoutCe => "the ACE field counts more packets with CE than have come",
            Rule::AckOnCe => "data with CE came behind a packet without, and were not acknowledged at once",
            Rule::AckOnMarks => "seven packets with CE came, and nothing was sent at once",
            Rule::OptionOnSyn => "a SYN has the AccECN option",
            Rule::OptionStart => "the AccECN option of a SYN-ACK does not hold the counters' first values",
            Rule::OptionNotAtStart => {
                "the AccECN option, which comes later, is not on the SYN-ACK, the last ACK or the first data"
            }
            Rule::OptionBytes => "the AccECN option's counters are not the bytes that came with each codepoint",
            Rule::OptionOmits => "the AccECN option leaves out a counter that has changed",
            Rule::OptionMissing => "an ACK of bytes with CE has room for the AccECN option and does not have it",
            Rule::OptionRare => "a counter of the AccECN option was not told for more than 2^22 bytes",
            Rule::EceNotState => "ECE is not the state of the last data that the ACK acknowledges",
            Rule::AckOnChange => "CE began or ended on data, and they were not acknowledged at once",
            Rule::Ect1WithoutAccEcn => "data are ECT(1), but the feedback is that of RFC 3168",
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
#[derive(Clone, Debug)]
pub struct Violations {
    standard: Standard,
    list: Vec<Violation>,
    counts: [u32; RULES.len()],
}

impl Default for Violations {
    fn default() -> Violations {
        Violations::of(Standard::default())
    }
}

impl Violations {
    /// None yet; those of rules that `standard` does not have are not booked.
    pub fn of(standard: Standard) -> Violations {
        Violations { standard, list: Vec::new(), counts: [0; RULES.len()] }
    }
    /// The text whose rules are checked.
    pub(crate) fn standard(&self) -> Standard {
        self.standard
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
