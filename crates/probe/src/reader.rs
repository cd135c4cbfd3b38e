//! Receiver of the server's data, in rounds: all data between two silences is acknowledged by one ACK.

use ecnlab_base::{Dur, Time};
use ecnlab_wire::{Flags, Segment, Seq};

use crate::answers::{Back, Reduction, Seen};

/// Bounds of the silence that ends a round, half the RTT otherwise. The server's timer, at least 200 ms, must not
/// expire.
const SHORTEST: Dur = Dur::from_ms(40);
const LONGEST: Dur = Dur::from_ms(100);
/// Time without data after which none is expected.
pub const PATIENCE: Dur = Dur::from_ms(3000);
/// Minimum number of segments of a round that can show a reduction.
const FEWEST: u32 = 4;

/// State of the data reception of a connection.
#[derive(Debug)]
pub struct Reader {
    ecn: bool,
    next: Seq,
    seen: Seen,
    quiet: Dur,
    /// Segments of the current round.
    round: u32,
    stage: Stage,
    cwr: bool,
    /// Data was lost or retransmitted.
    disturbed: bool,
    finished: bool,
}

/// Stage of the test for a reduction.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// The window grows.
    Growing,
    /// The last ACK had ECE for the first time.
    Notified { before: u32 },
    /// The following round has ended.
    Answered { before: u32, after: u32 },
    /// More data followed, so it was the window that ended that round.
    Confirmed { before: u32, after: u32 },
}

impl Reader {
    /// Starts to receive data at `next`, on a connection with or without ECN with the round-trip time `rtt`.
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

    /// Next expected sequence number.
    pub fn next(&self) -> Seq {
        self.next
    }

    /// Codepoints of the data.
    pub fn seen(&self) -> Seen {
        self.seen
    }

    /// Processes the data of a segment; returns the end of the round if no more arrives.
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

    /// Returns the time to wait, given the data so far.
    pub fn wait(&self) -> Dur {
        if self.is_idle() { PATIENCE } else { self.quiet }
    }

    fn is_idle(&self) -> bool {
        self.round == 0 && !self.finished && !self.disturbed
    }

    /// Ends the wait; returns the flags of the ACK of this round, or `None` if the test is complete.
    pub fn end_round(&mut self) -> Option<Flags> {
        if self.is_idle() {
            return None;
        }
        let round = std::mem::take(&mut self.round);
        self.stage = match self.stage {
            _ if round == 0 => self.stage,
            Stage::Growing if self.ecn && round >= FEWEST => {
                self.cwr = false;
                Stage::Notified { before: round }
            }
            Stage::Growing => Stage::Growing,
            Stage::Notified { before } => Stage::Answered { before, after: round },
            Stage::Answered { before, after } | Stage::Confirmed { before, after } => {
                Stage::Confirmed { before, after }
            }
        };
        // RFC 3168 §6.1.3: ECE in every ACK until CWR.
        let notified = !matches!(self.stage, Stage::Growing);
        let echo = if notified && !self.cwr { Flags::ECE } else { Flags::empty() };
        (!self.is_done()).then_some(echo)
    }

    /// Returns whether the test is complete.
    fn is_done(&self) -> bool {
        let enough = if self.ecn { matches!(self.stage, Stage::Confirmed { .. }) } else { self.seen.all() >= FEWEST };
        enough || self.finished || self.disturbed
    }

    /// Returns the results, and why any are missing.
    pub fn learned(&self) -> (Back, Option<&'static str>) {
        let (reduction, unclear) = match self.stage {
            Stage::Confirmed { before, after } => (Some(Reduction { cwr: self.cwr, before, after }), None),
            _ if self.disturbed => (None, Some("data was lost or retransmitted, so the response to ECE is unknown")),
            _ if self.seen.all() == 0 => (None, Some("the server sends no data, so its response to ECE is unknown")),
            _ => (None, Some("the response is too short to test the server's response to ECE")),
        };
        (Back { data: self.seen, reduction }, unclear)
    }
}
