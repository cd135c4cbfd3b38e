//! Replies of a server and its path, and the diagnosis derived from them.

use ecnlab_wire::Ecn;
use serde::Serialize;

/// Reply to a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// A SYN-ACK with ECE and without CWR: an ECN-setup SYN-ACK (RFC 3168 section 6.1.1).
    EcnSetup,
    /// A SYN-ACK without ECE.
    Plain,
    /// A SYN-ACK with ECE and CWR: the SYN's bits reflected by a host without ECN (RFC 3168 section 6.1.1).
    Reflected,
    /// An RST.
    Reset,
    /// No reply.
    Silence,
}

impl Reply {
    /// Returns whether the connection was established.
    pub fn is_syn_ack(self) -> bool {
        !matches!(self, Reply::Reset | Reply::Silence)
    }
}

/// Number of packets per codepoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// Not-ECT.
    pub not_ect: u32,
    /// ECT(1).
    pub ect1: u32,
    /// ECT(0).
    pub ect0: u32,
    /// CE.
    pub ce: u32,
}

impl Seen {
    /// Counts a packet.
    pub fn count(&mut self, ecn: Ecn) {
        *match ecn {
            Ecn::NotEct => &mut self.not_ect,
            Ecn::Ect1 => &mut self.ect1,
            Ecn::Ect0 => &mut self.ect0,
            Ecn::Ce => &mut self.ce,
        } += 1;
    }
    /// Total number of packets.
    pub fn all(&self) -> u32 {
        self.not_ect + self.ect1 + self.ect0 + self.ce
    }
    /// Returns whether there were packets and all of them are among `count`.
    fn are_all(&self, count: u32) -> bool {
        count > 0 && count == self.all()
    }
}

/// Presence of ECE in the ACKs of the prober's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Echo {
    /// ACK of data sent with ECT(0), before any CE.
    pub before_ce: Option<bool>,
    /// ACK of data sent with CE.
    pub of_ce: Option<bool>,
    /// ACK of the data after it, sent with ECT(0) and without CWR.
    pub until_cwr: Option<bool>,
    /// ACK of the data after the segment with CWR.
    pub after_cwr: Option<bool>,
}

/// Response of the server, as a sender, to ECE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Reduction {
    /// New data had CWR.
    pub cwr: bool,
    /// Segments that arrived between two ACKs before the one with ECE.
    pub before: u32,
    /// Segments that arrived after it, up to the next ACK.
    pub after: u32,
}

impl Reduction {
    /// Returns whether the server sent fewer segments.
    pub fn slowed(&self) -> bool {
        self.after < self.before
    }
}

/// The server's data on the connection with ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Back {
    /// Codepoints of its data.
    pub data: Seen,
    /// Response to ECE; `None` if it could not be tested.
    pub reduction: Option<Reduction>,
}

/// All replies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answers {
    /// Reply to a SYN without ECE and CWR.
    pub plain: Reply,
    /// Codepoints of packets that are sent as Not-ECT: the SYN-ACKs, and data of the connection without ECN.
    pub unmarked: Seen,
    /// Reply to an ECN-setup SYN.
    pub setup: Reply,
    /// Echo of CE as ECE.
    pub echo: Echo,
    /// The server's data.
    pub back: Back,
    /// Tests that could not be completed, and the reasons.
    pub unclear: Vec<String>,
}

/// A finding about the server or its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// No SYN-ACK to any SYN.
    Unreachable,
    /// A SYN-ACK only to a SYN without ECN; no reply to an ECN-setup SYN.
    EcnSynUnanswered,
    /// A SYN-ACK only to a SYN without ECN; an RST to an ECN-setup SYN.
    EcnSynReset,
    /// A connection without ECN.
    EcnRefused,
    /// A SYN-ACK with the flags of the SYN.
    EcnReflected,
    /// ECE before any CE was sent.
    CeSetThere,
    /// No ECE after CE.
    CeNotEchoed,
    /// ECE, but it ended before CWR.
    EchoNotKept,
    /// ECE continued after CWR.
    CwrWithoutEffect,
    /// Data of a server with ECN arrived as Not-ECT.
    EctErasedBack,
    /// Every data packet arrived with CE.
    CeSetBack,
    /// Packets sent as Not-ECT arrived with ECT or CE.
    EctSetBack,
    /// Neither CWR nor fewer packets after ECE.
    EceWithoutEffect,
    /// Fewer packets after ECE, but no CWR.
    NoCwr,
    /// CWR after ECE, but no fewer packets.
    NotSlowed,
}

impl Finding {
    /// Returns its name and the possible causes.
    pub const fn about(self) -> (&'static str, &'static str) {
        match self {
            Finding::Unreachable => ("unreachable", "no SYN-ACK to any SYN"),
            Finding::EcnSynUnanswered => {
                ("ecn-syn-unanswered", "an ECN-setup SYN, or its SYN-ACK, is dropped; a plain SYN is answered")
            }
            Finding::EcnSynReset => ("ecn-syn-reset", "an ECN-setup SYN is reset; a plain SYN is answered"),
            Finding::EcnRefused => {
                ("ecn-refused", "the server does not support ECN, or a middlebox clears the flags of SYN or SYN-ACK")
            }
            Finding::EcnReflected => ("ecn-reflected", "the server reflects flags that it does not support"),
            Finding::CeSetThere => ("ce-set-there", "packets are marked CE on the path to the server"),
            Finding::CeNotEchoed => (
                "ce-not-echoed",
                "CE is erased on the forward path, ECE is cleared on the return path, or the server does not echo CE",
            ),
            Finding::EchoNotKept => ("echo-not-kept", "the server ends the echo before CWR"),
            Finding::CwrWithoutEffect => {
                ("cwr-not-heard", "CWR is cleared on the forward path, or the server ignores it")
            }
            Finding::EctErasedBack => {
                ("ect-erased-back", "the server's ECT is erased on the return path, or never set")
            }
            Finding::CeSetBack => ("ce-set-back", "every packet is marked CE on the return path"),
            Finding::EctSetBack => ("ect-set-back", "packets without ECT get a codepoint on the return path"),
            Finding::EceWithoutEffect => {
                ("ece-not-heard", "ECE is cleared on the forward path, or the server ignores it")
            }
            Finding::NoCwr => ("no-cwr", "CWR is cleared on the return path, or the server does not send it"),
            Finding::NotSlowed => ("not-slowed", "the server sends CWR, but does not reduce its rate"),
        }
    }
}

impl Answers {
    /// Returns the findings; empty if ECN works as far as the prober can observe.
    pub fn findings(&self) -> Vec<Finding> {
        if !self.plain.is_syn_ack() && !self.setup.is_syn_ack() {
            return vec![Finding::Unreachable];
        }
        let mut found = Vec::new();
        match self.setup {
            Reply::EcnSetup => {}
            Reply::Plain => found.push(Finding::EcnRefused),
            Reply::Reflected => found.push(Finding::EcnReflected),
            Reply::Reset => found.push(Finding::EcnSynReset),
            Reply::Silence => found.push(Finding::EcnSynUnanswered),
        }
        found.extend(self.of_echo());
        found.extend(self.of_back());
        found
    }

    fn of_echo(&self) -> Option<Finding> {
        let Echo { before_ce, of_ce, until_cwr, after_cwr } = self.echo;
        match [before_ce, of_ce, until_cwr, after_cwr] {
            [Some(true), ..] => Some(Finding::CeSetThere),
            [_, Some(false), ..] => Some(Finding::CeNotEchoed),
            [_, _, Some(false), _] => Some(Finding::EchoNotKept),
            [_, _, _, Some(true)] => Some(Finding::CwrWithoutEffect),
            _ => None,
        }
    }

    fn of_back(&self) -> impl Iterator<Item = Finding> {
        let data = self.back.data;
        let codepoint = if data.are_all(data.not_ect) {
            Some(Finding::EctErasedBack)
        } else {
            data.are_all(data.ce).then_some(Finding::CeSetBack)
        };
        let set_back = (self.unmarked.not_ect < self.unmarked.all()).then_some(Finding::EctSetBack);
        let reduction = self.back.reduction.and_then(|reduction| match (reduction.cwr, reduction.slowed()) {
            (true, true) => None,
            (false, false) => Some(Finding::EceWithoutEffect),
            (false, true) => Some(Finding::NoCwr),
            (true, false) => Some(Finding::NotSlowed),
        });
        [codepoint, set_back, reduction].into_iter().flatten()
    }

    /// Returns the class: the names of the findings, `ecn` if there are none, or `unclear` if a test could not be
    /// completed.
    pub fn class(&self) -> String {
        let mut names: Vec<&str> = self.findings().iter().map(|finding| finding.about().0).collect();
        if !self.unclear.is_empty() {
            names.push("unclear");
        }
        if names.is_empty() { "ecn".to_owned() } else { names.join(", ") }
    }
}
