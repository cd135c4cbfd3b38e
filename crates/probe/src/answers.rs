//! What a server and the path to it answered, and what that says of them.

use ecnlab_wire::Ecn;
use serde::Serialize;

/// The answer to a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// A SYN-ACK with ECE and without CWR: an ECN-setup SYN-ACK (RFC 3168 section 6.1.1).
    EcnSetup,
    /// A SYN-ACK without ECE.
    Plain,
    /// A SYN-ACK with ECE and CWR: the bits of the SYN sent back by who does not know them (RFC 3168 section 6.1.1).
    Reflected,
    /// An RST.
    Reset,
    /// Nothing.
    Silence,
}

impl Reply {
    /// Whether there is a connection.
    pub fn is_syn_ack(self) -> bool {
        !matches!(self, Reply::Reset | Reply::Silence)
    }
}

/// How often each codepoint was seen.
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
    /// One more packet.
    pub fn count(&mut self, ecn: Ecn) {
        *match ecn {
            Ecn::NotEct => &mut self.not_ect,
            Ecn::Ect1 => &mut self.ect1,
            Ecn::Ect0 => &mut self.ect0,
            Ecn::Ce => &mut self.ce,
        } += 1;
    }
    /// Packets.
    pub fn all(&self) -> u32 {
        self.not_ect + self.ect1 + self.ect0 + self.ce
    }
    /// Whether there were packets and all of them had this many.
    fn are_all(&self, count: u32) -> bool {
        count > 0 && count == self.all()
    }
}

/// Whether ACKs of our data had ECE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Echo {
    /// That of data sent with ECT(0), before any CE.
    pub before_ce: Option<bool>,
    /// That of data sent with CE.
    pub of_ce: Option<bool>,
    /// That of the data behind it, sent with ECT(0) and without CWR.
    pub until_cwr: Option<bool>,
    /// That of the data behind the segment with CWR.
    pub after_cwr: Option<bool>,
}

/// How the server, sending, took ECE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Reduction {
    /// Whether new data came with CWR.
    pub cwr: bool,
    /// Segments that came between two ACKs before the one with ECE.
    pub before: u32,
    /// Segments that came after it, up to the next ACK.
    pub after: u32,
}

impl Reduction {
    /// Whether fewer came.
    pub fn slowed(&self) -> bool {
        self.after < self.before
    }
}

/// The server's data on the connection with ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Back {
    /// Codepoints of its data.
    pub data: Seen,
    /// How it took ECE; `None` if that could not be asked.
    pub reduction: Option<Reduction>,
}

/// All answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answers {
    /// The answer to a SYN without ECE and CWR.
    pub plain: Reply,
    /// Codepoints of packets that nobody sends with ECT: the SYN-ACKs, and data of the connection without ECN.
    pub unmarked: Seen,
    /// The answer to an ECN-setup SYN.
    pub setup: Reply,
    /// Whether CE comes back as ECE.
    pub echo: Echo,
    /// The server's data.
    pub back: Back,
    /// What could not be asked, and why.
    pub unclear: Vec<String>,
}

/// What the answers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// No SYN-ACK to any SYN.
    Unreachable,
    /// A SYN-ACK to a SYN without ECN alone, and silence else.
    EcnSynUnanswered,
    /// A SYN-ACK to a SYN without ECN alone, and an RST else.
    EcnSynReset,
    /// A connection, but without ECN.
    EcnRefused,
    /// A SYN-ACK with the bits of the SYN.
    EcnReflected,
    /// ECE before any CE was sent.
    CeSetThere,
    /// No ECE after CE.
    CeNotEchoed,
    /// ECE, but not up to CWR.
    EchoNotKept,
    /// ECE even after CWR.
    CwrNotHeard,
    /// Data of a server with ECN came as Not-ECT.
    EctErasedBack,
    /// Every packet of data came with CE.
    CeSetBack,
    /// Packets that nobody sends with ECT came with ECT or CE.
    EctSetBack,
    /// After ECE neither CWR nor fewer packets.
    EceNotHeard,
    /// After ECE fewer packets, but no CWR.
    NoCwr,
    /// After ECE CWR, but no fewer packets.
    NotSlowed,
}

impl Finding {
    /// Its name, and what may be the cause.
    pub const fn about(self) -> (&'static str, &'static str) {
        match self {
            Finding::Unreachable => ("unreachable", "no SYN-ACK to any SYN"),
            Finding::EcnSynUnanswered => {
                ("ecn-syn-unanswered", "an ECN-setup SYN, or its SYN-ACK, is dropped; a plain SYN is answered")
            }
            Finding::EcnSynReset => ("ecn-syn-reset", "an ECN-setup SYN is reset; a plain SYN is answered"),
            Finding::EcnRefused => {
                ("ecn-refused", "the server has no ECN, or a box takes the flags from SYN or SYN-ACK")
            }
            Finding::EcnReflected => ("ecn-reflected", "the server sends back flags that it does not know"),
            Finding::CeSetThere => ("ce-set-there", "packets get CE on the way to the server"),
            Finding::CeNotEchoed => (
                "ce-not-echoed",
                "CE is erased on the way there, ECE cleared on the way back, or the server has no echo",
            ),
            Finding::EchoNotKept => ("echo-not-kept", "the server stops to echo before CWR"),
            Finding::CwrNotHeard => {
                ("cwr-not-heard", "CWR is cleared on the way there, or the server does not obey it")
            }
            Finding::EctErasedBack => ("ect-erased-back", "the server's ECT is erased on the way back, or never set"),
            Finding::CeSetBack => ("ce-set-back", "every packet has CE on the way back"),
            Finding::EctSetBack => ("ect-set-back", "packets without ECT get a codepoint on the way back"),
            Finding::EceNotHeard => {
                ("ece-not-heard", "ECE is cleared on the way there, or the server does not obey it")
            }
            Finding::NoCwr => ("no-cwr", "CWR is cleared on the way back, or the server does not send it"),
            Finding::NotSlowed => ("not-slowed", "the server sends CWR, but does not slow down"),
        }
    }
}

impl Answers {
    /// What the answers say; nothing if ECN works as far as can be seen from here.
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
            [_, _, _, Some(true)] => Some(Finding::CwrNotHeard),
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
        let unasked = (self.unmarked.not_ect < self.unmarked.all()).then_some(Finding::EctSetBack);
        let reduction = self.back.reduction.and_then(|reduction| match (reduction.cwr, reduction.slowed()) {
            (true, true) => None,
            (false, false) => Some(Finding::EceNotHeard),
            (false, true) => Some(Finding::NoCwr),
            (true, false) => Some(Finding::NotSlowed),
        });
        [codepoint, unasked, reduction].into_iter().flatten()
    }

    /// The class: names of what was found, `ecn` if that is nothing, or `unclear` if not all could be asked.
    pub fn class(&self) -> String {
        let mut names: Vec<&str> = self.findings().iter().map(|finding| finding.about().0).collect();
        if !self.unclear.is_empty() {
            names.push("unclear");
        }
        if names.is_empty() { "ecn".to_owned() } else { names.join(", ") }
    }
}
