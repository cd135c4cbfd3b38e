//! Verdict on ECN for one direction of a connection: whether marks arrive, are echoed and answered, as far as the capture
//! shows. `docs/trace.md` has the table of classes.

mod evidence;
mod summary;

use crate::connection::{Connection, Negotiation};
use crate::ecn_seen::{AT_ONCE, PART};

pub use evidence::Evidence;

/// Minimum number of new data packets on whose codepoints a verdict rests.
const DATA: u64 = 10;
/// Minimum number of data packets with CE, none without, that shows a device which sets CE in every packet.
const ALL: u64 = 20;
/// Minimum number of acknowledged segments with ECT after which a receiver with the AccECN option has sent a counter (RFC 9768
/// §3.2.3.3).
const WITHOUT_OPTION: u64 = 100;
/// Minimum number of windows with ECE without an answer, and of losses without a mark.
const FEW: u64 = 3;
/// Minimum number of windows with ECE and CWR in which the echo never ends.
const ENDLESS: u64 = 5;

/// Away from the sender, queues make a window of data longer than the handshake shows, so that one reduction spans several:
/// at most `FAR_SOME` windows with ECE for each CWR are an answer, more than `FAR_MOST`, in at least `FAR_WINDOWS`, are none.
const FAR_SOME: u64 = 4;
const FAR_MOST: u64 = 8;
const FAR_WINDOWS: u64 = 20;

/// Place of a capture on the path of a direction's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Vantage {
    /// The interface of the data's sender.
    Sender,
    /// The interface of the data's receiver.
    Receiver,
    /// Neither end's interface.
    Between,
    /// The capture lacks the handshake, which shows the place.
    Unknown,
}

impl Vantage {
    /// Name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Vantage::Sender => "at the sender",
            Vantage::Receiver => "at the receiver",
            Vantage::Between => "in between",
            Vantage::Unknown => "unknown",
        }
    }

    /// Infers the place from the times in which `sender` and `receiver` answer in the handshake, in nanoseconds.
    fn of(sender: Option<u64>, receiver: Option<u64>) -> Vantage {
        let near = |here: u64, there: u64| here <= AT_ONCE && here.saturating_mul(PART) < there;
        match (sender, receiver) {
            (Some(sender), Some(receiver)) if near(sender, receiver) => Vantage::Sender,
            (Some(sender), Some(receiver)) if near(receiver, sender) => Vantage::Receiver,
            (Some(_), Some(_)) => Vantage::Between,
            _ => Vantage::Unknown,
        }
    }
}

/// What has to be captured for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Need {
    /// More data.
    Data,
    /// Data during congestion.
    Congestion,
    /// More marks or echoes.
    Marks,
    /// A capture at the sender.
    Sender,
    /// The handshake.
    Handshake,
    /// Packets of the other direction.
    OtherDirection,
}

/// Class of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// The codepoint was erased beyond this place, as the receiver's AccECN counters show.
    Erased,
    /// CE passed here, and ACKs report none.
    NotEchoed,
    /// ECE arrives and no CWR follows, or the outstanding data do not fall.
    NotAnswered,
    /// The receiver's counters differ from the marks.
    CountsDisagree,
    /// ECE although no CE arrived at the receiver.
    SpuriousEcho,
    /// Data are Not-ECT although ECN was negotiated.
    NotEct,
    /// Data are ECN-capable although the handshake here did not negotiate ECN.
    NotNegotiated,
    /// Every data packet has CE.
    AllMarked,
    /// Each window has ECE, also after CWR.
    EndlessEcho,
    /// Segments were lost and none was marked.
    NoMark,
    /// ECN was offered and declined.
    Refused,
    /// ECN was offered in the first SYN only.
    FellBack,
    /// The SYN with ECN has no answer, or an RST.
    Unanswered,
    /// Marks are echoed and answered.
    Works,
    /// AccECN reports the marks; the capture is not at the sender, which receives the reports.
    Reported,
    /// ECN was not offered.
    NotOffered,
    /// The capture does not show enough.
    Unknown(Need),
}

impl Class {
    /// Name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Erased => "erased",
            Class::NotEchoed => "not echoed",
            Class::NotAnswered => "not answered",
            Class::CountsDisagree => "counts disagree",
            Class::SpuriousEcho => "echo without a mark",
            Class::NotEct => "data not ECT",
            Class::NotNegotiated => "not negotiated",
            Class::AllMarked => "all marked",
            Class::EndlessEcho => "echo does not end",
            Class::NoMark => "no mark",
            Class::Refused => "refused",
            Class::FellBack => "fell back",
            Class::Unanswered => "unanswered",
            Class::Works => "works",
            Class::Reported => "reported",
            Class::NotOffered => "not offered",
            Class::Unknown(_) => "unknown",
        }
    }

    /// Severity: "ok", "warning", "problem", or "none".
    pub const fn severity(self) -> &'static str {
        match self {
            Class::Works | Class::Reported => "ok",
            Class::Erased | Class::NotEchoed | Class::NotAnswered | Class::CountsDisagree | Class::SpuriousEcho => {
                "problem"
            }
            Class::NotOffered | Class::Unknown(_) => "none",
            _ => "warning",
        }
    }
}

/// Verdict on one direction, or on all directions with the same class, place and kind of feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Verdict {
    /// Class.
    pub class: Class,
    /// Place of the capture.
    pub vantage: Vantage,
    /// The feedback is that of AccECN.
    pub accurate: bool,
}

impl Verdict {
    /// Returns the verdict on the data of end `i` of `connection` and its evidence. None if the end sent no data, except for
    /// the opener of a connection without any.
    pub fn of(connection: &Connection, i: usize) -> Option<(Verdict, Evidence)> {
        let evidence = Evidence::of(connection, i);
        let ends = &connection.ends;
        if ends[i].counts.data_packets == 0 {
            let silent = i == connection.opener && ends[1 - i].counts.data_packets == 0;
            let shown = matches!(connection.negotiation, Negotiation::Unanswered | Negotiation::FellBack);
            if !(silent && shown) {
                return None;
            }
        }
        let vantage = Vantage::of(ends[i].stream.answer, ends[1 - i].stream.answer);
        let negotiation = match connection.negotiation {
            // A server without AccECN accepted the repeated SYN, which did not offer ECN.
            Negotiation::Refused if connection.has_syn && !ends[connection.opener].offers_ecn() => {
                Negotiation::FellBack
            }
            other => other,
        };
        let class = classify(negotiation, vantage, &evidence);
        Some((Verdict { class, vantage, accurate: negotiation == Negotiation::AccEcn }, evidence))
    }
}

/// Returns the class for a negotiation, a place and counts.
fn classify(negotiation: Negotiation, vantage: Vantage, e: &Evidence) -> Class {
    match negotiation {
        _ if negotiation.is_off() && e.ect + e.ce >= DATA => Class::NotNegotiated,
        Negotiation::NotOffered => Class::NotOffered,
        Negotiation::Refused | Negotiation::Reflected => Class::Refused,
        Negotiation::FellBack => Class::FellBack,
        _ if e.answers == 0 && e.data + e.retransmitted > 0 => Class::Unknown(Need::OtherDirection),
        Negotiation::Unanswered => Class::Unanswered,
        Negotiation::AccEcn => accurate(vantage, e),
        Negotiation::Unknown if e.ect + e.ce == 0 => Class::Unknown(Need::Handshake),
        Negotiation::Unknown | Negotiation::Accepted | Negotiation::AccEcnToClassic => classic(vantage, e),
    }
}

/// Returns the class for feedback of RFC 3168 (and of DCTCP).
fn classic(vantage: Vantage, e: &Evidence) -> Class {
    if let Some(class) = codepoints(e) {
        return class;
    }
    if e.ece == 0 {
        return if e.unechoed > 0 { Class::NotEchoed } else { unmarked(e) };
    }
    if vantage == Vantage::Receiver && e.ce == 0 && e.spurious > 0 {
        return Class::SpuriousEcho;
    }
    let near = vantage == Vantage::Sender;
    let (some, most, enough) = if near { (2, 2, FEW) } else { (FAR_SOME, FAR_MOST, FAR_WINDOWS) };
    // Other CWR than one for each mark answers losses.
    let answers = if near || e.ce == 0 { e.cwr } else { e.cwr.min(e.ce) };
    if e.windows >= enough && (most * answers < e.windows || 2 * e.unreduced >= e.windows) {
        return Class::NotAnswered;
    }
    // CWR may answer losses: if there is more of it than marks, or if the echo is one ACK for each mark and ends by itself.
    let lost = !near && e.ce > 0 && e.lost > 0 && (e.cwr > e.ce || (e.cwr <= e.lost && e.ece <= 2 * e.ce));
    if e.cwr > 0 && (some * answers < e.windows || lost) {
        return Class::Unknown(Need::Sender);
    }
    let endless = e.echoing && e.episodes == 1 && e.windows > 1;
    if endless && e.windows >= ENDLESS && e.cwr >= ENDLESS {
        return Class::EndlessEcho;
    }
    if e.cwr == 0 || endless { Class::Unknown(Need::Marks) } else { Class::Works }
}

/// Returns the class for AccECN.
fn accurate(vantage: Vantage, e: &Evidence) -> Class {
    let counted = e.options >= FEW && e.options_complete;
    if counted && e.reported_ect == 0 && e.reported_ce > 0 && e.acked_packets() >= ALL {
        return Class::AllMarked;
    }
    if e.broken > 0 {
        return if e.ce > 0 && e.marks == 0 { Class::NotEchoed } else { Class::CountsDisagree };
    }
    let silent = e.reported_ect + e.reported_ce == 0;
    let enough = if counted { DATA } else { WITHOUT_OPTION };
    if vantage != Vantage::Receiver && silent && e.offers_option && e.ect >= DATA && e.acked_packets() >= enough {
        return Class::Erased;
    }
    if let Some(class) = codepoints(e) {
        return class;
    }
    if counted && e.reported_ce == 0 && e.marks > e.other_ect {
        return Class::CountsDisagree;
    }
    match (e.marks, e.ce) {
        (0, 0) => unmarked(e),
        (0, _) => Class::Unknown(Need::Marks),
        _ if vantage == Vantage::Sender => Class::Works,
        _ => Class::Reported,
    }
}

/// Returns the class if the codepoints of the data decide it.
fn codepoints(e: &Evidence) -> Option<Class> {
    if e.ect + e.ce == 0 {
        return Some(if e.not_ect >= DATA { Class::NotEct } else { Class::Unknown(Need::Data) });
    }
    (e.ect == 0).then_some(if e.ce >= ALL { Class::AllMarked } else { Class::Unknown(Need::Data) })
}

/// Returns the class of ECN-capable data without a mark and an echo.
fn unmarked(e: &Evidence) -> Class {
    match e.ect + e.ce {
        0..DATA => Class::Unknown(Need::Data),
        _ if e.ce > 0 => Class::Unknown(Need::Marks),
        _ if e.lost >= FEW => Class::NoMark,
        _ => Class::Unknown(Need::Congestion),
    }
}

#[cfg(test)]
mod tests;
