//! The server's data, taken in rounds: all that comes between two silences is answered by one ACK.

use ecnlab_base::{Dur, Time};
use ecnlab_wire::{Flags, Segment, Seq};

use crate::answers::{Back, Reduction, Seen};

/// Silence that ends a round: half the round trip, within these. The server's timer, 200 ms and more, must not expire.
const SHORTEST: Dur = Dur::from_ms(40);
const LONGEST: Dur = Dur::from_ms(100);
/// So long without any data, and there will be none.
pub const PATIENCE: Dur = Dur::from_ms(3000);
/// A round of fewer segments shows no reduction.
const FEWEST: u32 = 4;

/// What is done with the data of a connection.
#[derive(Debug)]
pub struct Reader {
    ecn: bool,
    next: Seq,
    seen: Seen,
    quiet: Dur,
    /// Segments of this round.
    round: u32,
    stage: Stage,
    cwr: bool,
    /// Data were missing or came again.
    disturbed: bool,
    finished: bool,
}

/// What the rounds have been for so far.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// The window opens.
    Growing,
    /// The last ACK had ECE for the first time.
    Told { before: u32 },
    /// The round behind it is over.
    Answered { before: u32, after: u32 },
    /// There was more to send, so that it was the window that ended that round.
    Confirmed { before: u32, after: u32 },
}

impl Reader {
    /// Data from `next` on, of a connection with or without ECN whose round trip is `rtt`.
    pub fn new(ecn: bool, next: Seq, rtt: Dur) -> Reader {
        Reader {
            ecn,
            next,
            seen: Seen::default(),
            quiet: Dur::from_ps(rtt.ps() / 2).max(SHORTEST).min(LONGEST),
            round: 0,
            stage: Stage::Growing,
            cwr: false,
            disturbed: false,
            finished: false,
        }
    }

    /// The next byte expected.
    pub fn next(&self) -> Seq {
        self.next
    }

    /// Codepoints of the data.
    pub fn seen(&self) -> Seen {
        self.seen
    }

    /// Takes the data of a segment; returns when the round ends if nothing else comes.
    pub fn take(&mut self, segment: &Segment, now: Time) -> Option<Time> {
        if segment.len == 0 && !segment.flags.contains(Flags::FIN) {
            return None;
        }
        if segment.len > 0 {
            self.seen.count(segment.ecn);
        }
        if segment.seq != self.next {
            self.disturbed = true;
            return Some(now + self.quiet);
        }
        self.next = segment.end();
        self.round += u32::from(segment.len > 0);
        self.finished |= segment.flags.contains(Flags::FIN);
        self.cwr |= segment.flags.contains(Flags::CWR);
        Some(now + self.quiet)
    }

    /// How long to wait now, with what has come so far.
    pub fn wait(&self) -> Dur {
        if self.is_idle() { PATIENCE } else { self.quiet }
    }

    fn is_idle(&self) -> bool {
        self.round == 0 && !self.finished && !self.disturbed
    }

    /// The wait is over; returns the flags of the ACK of this round, `None` if nothing is left to be learned.
    pub fn end_round(&mut self) -> Option<Flags> {
        if self.is_idle() {
            return None;
        }
        let round = std::mem::take(&mut self.round);
        self.stage = match self.stage {
            _ if round == 0 => self.stage,
            Stage::Growing if self.ecn && round >= FEWEST => {
                self.cwr = false;
                Stage::Told { before: round }
            }
            Stage::Growing => Stage::Growing,
            Stage::Told { before } => Stage::Answered { before, after: round },
            Stage::Answered { before, after } | Stage::Confirmed { before, after } => {
                Stage::Confirmed { before, after }
            }
        };
        // RFC 3168 §6.1.3: ECE in every ACK until CWR.
        let told = !matches!(self.stage, Stage::Growing);
        let echo = if told && !self.cwr { Flags::ECE } else { Flags::empty() };
        (!self.is_done()).then_some(echo)
    }

    /// Whether nothing is left to be learned.
    fn is_done(&self) -> bool {
        let enough = if self.ecn { matches!(self.stage, Stage::Confirmed { .. }) } else { self.seen.all() >= FEWEST };
        enough || self.finished || self.disturbed
    }

    /// What was learned, and why not all.
    pub fn learned(&self) -> (Back, Option<&'static str>) {
        let (reduction, unclear) = match self.stage {
            Stage::Confirmed { before, after } => (Some(Reduction { cwr: self.cwr, before, after }), None),
            _ if self.disturbed => {
                (None, Some("data were lost or sent again: whether ECE slows the server is not known"))
            }
            _ if self.seen.all() == 0 => (None, Some("the server sends no data: what it does with ECE is not known")),
            _ => (None, Some("the response is too short to see whether ECE slows the server")),
        };
        (Back { data: self.seen, reduction }, unclear)
    }
}
