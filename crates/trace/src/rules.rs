//! The ECN rules that a capture can check, and their violations.

/// The standard whose rules are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standard {
    /// RFC 3168, September 2001.
    #[default]
    Rfc3168,
    /// RFC 2481, January 1999: retransmissions may be ECT, and CWR is on the first data packet of any kind.
    Rfc2481,
    /// RFC 8257, October 2017: DCTCP. Its handshake is that of RFC 3168, so a capture cannot distinguish the two.
    Rfc8257,
    /// RFC 9331, January 2023: L4S. ECT(1) requires counting feedback; otherwise as RFC 3168.
    Rfc9331,
}

/// A rule of the standard, stated as the required behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Rule {
    /// A SYN or SYN-ACK is not ECT.
    EctOnSyn,
    /// The flags of SYN and SYN-ACK are a valid pair.
    SetupFlags,
    /// Data is ECT only if ECN was negotiated.
    EctNotNegotiated,
    /// ECE and CWR are set only if ECN was negotiated.
    EceNotNegotiated,
    /// A pure ACK is not ECT.
    EctOnAck,
    /// A retransmission is not ECT.
    EctOnRetransmission,
    /// A zero-window probe is not ECT.
    EctOnProbe,
    /// ECE continues until CWR arrives.
    EceStopped,
    /// The ACK of a CE packet has ECE.
    EceMissing,
    /// ECE follows a CE packet.
    EceWithoutCe,
    /// ECE ends when CWR arrives, unless another CE packet has arrived.
    EceAfterCwr,
    /// CWR is on new data.
    CwrOnRetransmission,
    /// CWR follows a reduction.
    CwrMissing,
    /// At most one reduction, hence one CWR, per window of data.
    CwrTwice,
    /// The sender reduces its window after ECE.
    NoReduction,
    /// An ACK with ECE does not increase the window.
    GrowthOnEce,
    /// A SYN offers AccECN, or a SYN-ACK agrees, with a defined combination of flags.
    AccEcnSetup,
    /// A handshake does not mix SYNs, or SYN-ACKs, of AccECN and of RFC 3168.
    SetupMixed,
    /// The SYN-ACK reports the codepoint with which the SYN arrived.
    SynAckCode,
    /// The last ACK of the handshake reports the codepoint with which the SYN-ACK arrived.
    LastAckCode,
    /// A server that sent a SYN-ACK or received a SYN without AccECN is not ECN-capable.
    EctAfterFallback,
    /// The ACE field counts each packet with CE.
    AceMissing,
    /// The ACE field counts only packets with CE.
    AceWithoutCe,
    /// Data with CE after a packet without it is acknowledged immediately.
    AckOnCe,
    /// At most seven marks wait for an ACK.
    AckOnMarks,
    /// A SYN has no AccECN option.
    OptionOnSyn,
    /// The byte counters start at 1, 0 and 1.
    OptionStart,
    /// A sender of the option includes it on the SYN-ACK, or on the last ACK of the handshake and the first data.
    OptionNotAtStart,
    /// The option's counters equal the bytes received with each codepoint.
    OptionBytes,
    /// An option includes each counter that has changed.
    OptionOmits,
    /// An ACK of bytes with CE has the option.
    OptionMissing,
    /// Each counter is sent at least once per 2^22 bytes.
    OptionRare,
    /// ECE gives the CE state of the acknowledged data.
    EceNotState,
    /// A change of the CE state is acknowledged immediately.
    AckOnChange,
    /// ECT(1) requires feedback that reports the extent of marking.
    Ect1WithoutAccEcn,
}

/// All rules.
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
    /// Name of the rule in tables.
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

    /// The section that defines the rule under `standard`; `None` if the standard does not have it.
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

    /// The section of RFC 9768: AccECN is negotiated in the handshake, so its rules apply under every standard.
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
            Rule::EceStopped
            | Rule::EceMissing
            | Rule::EceWithoutCe
            | Rule::EceAfterCwr
            | Rule::CwrMissing
            | Rule::CwrTwice => Some("RFC 2481 section 6.1.3"),
            Rule::NoReduction | Rule::GrowthOnEce => Some("RFC 2481 section 6.1.2"),
            _ => None,
        }
    }

    /// SYN and SYN-ACK may be ECT (§3.6). ECE gives the CE state of the acknowledged data (§3.2): it ends without CWR
    /// and is lost with its ACK. A reduction may be smaller than a segment (§3.3). Otherwise as RFC 3168.
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

    /// Description of a violation of the rule.
    pub const fn text(self) -> &'static str {
        match self {
            Rule::EctOnSyn => "a SYN or SYN-ACK is ECN-capable",
            Rule::SetupFlags => "a SYN or SYN-ACK has an undefined combination of ECE and CWR",
            Rule::EctNotNegotiated => "data is ECN-capable, but ECN was not negotiated",
            Rule::EceNotNegotiated => "ECE or CWR is set, but ECN was not negotiated",
            Rule::EctOnAck => "a pure ACK is ECN-capable",
            Rule::EctOnRetransmission => "a retransmission is ECN-capable",
            Rule::EctOnProbe => "a window probe is ECN-capable",
            Rule::EceStopped => "ECE stopped before CWR arrived",
            Rule::EceMissing => "a packet with CE was acknowledged without ECE",
            Rule::EceWithoutCe => "ECE began without a preceding packet with CE",
            Rule::EceAfterCwr => "ECE continued after CWR without another packet with CE",
            Rule::CwrOnRetransmission => "CWR is on a retransmission",
            Rule::CwrMissing => "a window of new data followed ECE without CWR",
            Rule::CwrTwice => "CWR was set twice in one window of data",
            Rule::NoReduction => "one window after ECE as much data was outstanding as before",
            Rule::GrowthOnEce => "the data outstanding reached a new maximum while ACKs had ECE",
            Rule::AccEcnSetup => "a SYN or SYN-ACK has a combination of AE, CWR and ECE undefined in AccECN",
            Rule::SetupMixed => "one handshake has SYNs or SYN-ACKs of AccECN and of RFC 3168",
            Rule::SynAckCode => "the SYN-ACK does not report the codepoint with which the SYN arrived",
            Rule::LastAckCode => {
                "the last ACK of the handshake does not report the codepoint with which the SYN-ACK arrived"
            }
            Rule::EctAfterFallback => {
                "the server is ECN-capable, but a SYN or SYN-ACK of this handshake was without AccECN"
            }
            Rule::AceMissing => "the ACE field does not count a packet with CE that was acknowledged",
            Rule::AceWithoutCe => "the ACE field counts more packets with CE than have arrived",
            Rule::AckOnCe => "data with CE arrived after a packet without CE and was not acknowledged immediately",
            Rule::AckOnMarks => "seven packets with CE arrived, and no ACK was sent immediately",
            Rule::OptionOnSyn => "a SYN has the AccECN option",
            Rule::OptionStart => "the AccECN option of a SYN-ACK does not hold the counters' initial values",
            Rule::OptionNotAtStart => {
                "the AccECN option, used later, is not on the SYN-ACK, the last ACK or the first data"
            }
            Rule::OptionBytes => "the AccECN option's counters differ from the bytes that arrived with each codepoint",
            Rule::OptionOmits => "the AccECN option omits a counter that has changed",
            Rule::OptionMissing => "an ACK of bytes with CE has room for the AccECN option and does not have it",
            Rule::OptionRare => "a counter of the AccECN option was not sent for more than 2^22 bytes",
            Rule::EceNotState => "ECE does not match the CE state of the last data that the ACK acknowledges",
            Rule::AckOnChange => "CE began or ended on data that was not acknowledged immediately",
            Rule::Ect1WithoutAccEcn => "data is ECT(1), but the feedback is that of RFC 3168",
        }
    }
}

/// A violation of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The violated rule.
    pub rule: Rule,
    /// Number of the packet that shows it.
    pub packet: u64,
    /// Capture time of that packet, in nanoseconds since 1970.
    pub time: u64,
}

/// Maximum number of violations listed per direction; the others are only counted.
const LISTED: usize = 256;

/// Violations of one direction: all are counted, the first ones are listed.
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
    /// Starts empty; violations of rules that `standard` does not have are ignored.
    pub fn of(standard: Standard) -> Violations {
        Violations { standard, list: Vec::new(), counts: [0; RULES.len()] }
    }
    /// The standard whose rules are checked.
    pub(crate) fn standard(&self) -> Standard {
        self.standard
    }
    /// Adds a violation.
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
    /// Bytes allocated on the heap.
    pub(crate) fn heap(&self) -> usize {
        self.list.capacity() * size_of::<Violation>()
    }
    /// The first violations, in order.
    pub fn list(&self) -> &[Violation] {
        &self.list
    }
    /// Number of violations of a rule.
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
        // At least two eight-byte numbers and the rule per listed violation.
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
