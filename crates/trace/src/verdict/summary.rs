//! Verdicts as sentences with their evidence, and what to capture next.

use super::{Class, Evidence, Need, Vantage, Verdict};

/// "1 packet", "2 packets".
fn of(count: u64, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

impl Verdict {
    /// Returns the verdict in words, with the counts of `e` behind it.
    pub fn summary(&self, e: &Evidence) -> String {
        let here = self.vantage == Vantage::Receiver;
        match self.class {
            Class::Works => self.works(e),
            Class::Reported => format!("{} CE, {} reported by AccECN", e.ce, of(e.marks, "mark")),
            Class::Erased => format!(
                "the path erases ECT: {} with ECT sent, and the receiver's AccECN counters report none",
                of(e.ect, "data packet")
            ),
            Class::NotEchoed if self.accurate => {
                format!("marked and not echoed: {} with CE, and the ACE field counts none", of(e.ce, "data packet"))
            }
            Class::NotEchoed => {
                format!("marked and not echoed: {} with CE, no ACK with ECE", of(e.ce, "data packet"))
            }
            Class::NotAnswered if e.unreduced > 0 && 2 * e.cwr >= e.windows => format!(
                "echoed and not answered: in {} of {} with ECE the outstanding data do not fall",
                e.unreduced,
                of(e.windows, "window")
            ),
            Class::NotAnswered => format!(
                "echoed and not answered: {} with ECE ({}), {} with CWR",
                of(e.ece, "ACK"),
                of(e.windows, "window"),
                of(e.cwr, "packet")
            ),
            Class::CountsDisagree if e.broken > 0 => format!(
                "the AccECN counters disagree with the packets in {}: {} with CE here, {} reported; bits of ECN are changed on \
                 the path, or the receiver miscounts",
                of(e.broken, "ACK"),
                of(e.ce, "data packet"),
                of(e.marks, "mark")
            ),
            Class::CountsDisagree => format!(
                "the AccECN counters disagree: the ACE field counts {}, the option no byte with CE",
                of(e.marks, "mark")
            ),
            Class::SpuriousEcho => format!("{} with ECE, and no data packet arrived with CE", of(e.ece, "ACK")),
            Class::NotEct if self.vantage == Vantage::Sender => {
                format!("ECN was accepted, and the sender sets no ECT: {} are Not-ECT", of(e.not_ect, "data packet"))
            }
            Class::NotEct => format!(
                "ECN was accepted, and {} are Not-ECT{}: erased on the path or not set by the sender",
                of(e.not_ect, "data packet"),
                if here { " on arrival" } else { "" }
            ),
            Class::AllMarked if e.ce == 0 => {
                "the receiver's AccECN counters report CE on every byte: a device sets CE in all packets".to_owned()
            }
            Class::AllMarked => {
                format!("all {} have CE: a device sets CE in every packet", of(e.ce, "data packet"))
            }
            Class::EndlessEcho => format!(
                "every window has ECE ({}), also after CWR ({}): every window is marked, or CWR is removed on the path",
                of(e.windows, "window"),
                of(e.cwr, "packet")
            ),
            Class::NoMark => format!(
                "no mark was seen although {} were lost{}: {} with ECT",
                of(e.lost, "segment"),
                if self.vantage == Vantage::Sender { "" } else { " or reordered" },
                of(e.ect, "data packet")
            ),
            Class::NotNegotiated => format!(
                "{} with ECT or CE, and the handshake here did not negotiate ECN: a device changes the handshake or the data",
                of(e.ect + e.ce, "data packet")
            ),
            Class::Refused => "ECN was offered and refused".to_owned(),
            Class::FellBack => "ECN fell back: the SYN was sent again without it".to_owned(),
            Class::Unanswered if e.resets > 0 => "the SYN with ECN was answered by an RST".to_owned(),
            Class::Unanswered => "the SYN with ECN was not answered".to_owned(),
            Class::NotOffered => format!("the SYN has no ECN; {}", of(e.data, "new data packet")),
            Class::Unknown(need) => self.unknown(need, e),
        }
    }

    fn works(&self, e: &Evidence) -> String {
        if self.accurate {
            return format!("works: {} reported by AccECN", of(e.marks, "mark"));
        }
        let marked = if self.vantage == Vantage::Sender { String::new() } else { format!("{} CE, ", e.ce) };
        format!("works: {marked}{} with ECE, {} (CWR)", of(e.ece, "ACK"), of(e.cwr, "reduction"))
    }

    fn unknown(&self, need: Need, e: &Evidence) -> String {
        "unknown: ".to_owned()
            + &match need {
                Need::Data => format!("only {}", of(e.data, "new data packet")),
                Need::Congestion => format!(
                    "{} with ECT, none marked, and {}",
                    of(e.ect, "data packet"),
                    if e.lost == 0 { "none lost".to_owned() } else { format!("only {} lost", e.lost) }
                ),
                Need::Marks => {
                    format!("only {} with CE and {} with ECE", of(e.ce, "data packet"), of(e.windows, "window"))
                }
                Need::Sender => format!(
                    "{} with ECE ({}), {} with CWR, which answer some of the marks, or losses",
                    of(e.ece, "ACK"),
                    of(e.windows, "window"),
                    of(e.cwr, "packet")
                ),
                Need::Handshake => "the capture lacks the handshake, and no packet is ECN-capable".to_owned(),
                Need::OtherDirection => "the capture lacks the other direction".to_owned(),
            }
    }

    /// Returns what to capture next; "" if the verdict needs nothing more.
    pub const fn capture(&self) -> &'static str {
        match (self.class, self.vantage) {
            (Class::Unknown(Need::Data), _) => "capture at least 20 data packets",
            (Class::Unknown(Need::Congestion), _) => "capture while the path is congested",
            (Class::Unknown(Need::Marks), Vantage::Sender) => "capture at least 3 windows of data with marks",
            (Class::Unknown(Need::Marks), _) => "capture at least 20 windows of data with marks, or at the sender",
            (Class::Unknown(Need::Sender) | Class::Reported, _) => "capture at the sender",
            (Class::Unknown(Need::Handshake), _) => "capture from the first SYN on",
            (Class::Unknown(Need::OtherDirection), _) => "capture both directions",
            (Class::NotEct | Class::NotAnswered | Class::AllMarked, Vantage::Receiver) => {
                "capture at the sender as well, and compare with --against"
            }
            (Class::NoMark | Class::Erased | Class::EndlessEcho | Class::Unanswered, Vantage::Sender) => {
                "capture at the receiver as well, and compare with --against"
            }
            (
                Class::NotEct
                | Class::NotEchoed
                | Class::NotAnswered
                | Class::AllMarked
                | Class::CountsDisagree
                | Class::Refused
                | Class::NotNegotiated
                | Class::EndlessEcho,
                Vantage::Between | Vantage::Unknown,
            )
            | (Class::Refused | Class::NotNegotiated, _) => "capture at both ends, and compare with --against",
            _ => "",
        }
    }
}
