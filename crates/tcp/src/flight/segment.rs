//! A segment sent and not yet acknowledged.

use std::ops::Range;

use ecnlab_base::Time;

use super::chunk::{Chunk, How};

/// A segment sent and not yet acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outstanding {
    /// First offset.
    pub start: u64,
    /// Payload bytes.
    pub len: u32,
    /// The segment carries FIN.
    pub fin: bool,
    /// Time of the last transmission in Linux's schemes, of the first transmission in others.
    pub sent: Time,
    /// The receiver has SACKed the segment.
    pub sacked: bool,
    /// The segment is marked lost.
    pub lost: bool,
    /// A retransmission of the segment is in flight.
    pub retransmitted: bool,
    /// Sent more than once.
    pub ever_retransmitted: bool,
    /// [`Scoreboard::judge`](super::scoreboard::Scoreboard::judge) found the last transmission lost.
    pub judged: bool,
}

impl Outstanding {
    /// One past the last offset, FIN included.
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.len) + u64::from(self.fin)
    }

    /// The range of offsets, FIN included.
    pub fn range(&self) -> Range<u64> {
        self.start..self.end()
    }

    /// A chunk that retransmits the unacknowledged part of the segment.
    pub fn again(&self, una: u64, how: How) -> Chunk {
        let start = self.start.max(una);
        let len = (self.start + u64::from(self.len)).saturating_sub(start) as u32;
        Chunk { start, len, fin: self.fin, how }
    }

    /// Whether the segment waits for retransmission.
    pub fn waits(&self) -> bool {
        self.lost && !self.retransmitted && !self.sacked
    }
}
