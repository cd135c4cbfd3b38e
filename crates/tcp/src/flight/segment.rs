//! A segment sent and not yet acknowledged.

use std::ops::Range;

use ecnlab_base::Time;

use super::chunk::{Chunk, How};

/// A segment sent and not yet acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outstanding {
    /// Its first offset.
    pub start: u64,
    /// Payload bytes.
    pub len: u32,
    /// It carries FIN.
    pub fin: bool,
    /// When it was last sent, as Linux's schemes count; else when it was first sent.
    pub sent: Time,
    /// The receiver has reported it by SACK.
    pub sacked: bool,
    /// It is taken for lost.
    pub lost: bool,
    /// Sent again, and that copy is not known to have left the network.
    pub retransmitted: bool,
    /// Sent more than once.
    pub ever_retransmitted: bool,
}

impl Outstanding {
    /// One past its last offset, FIN included.
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.len) + u64::from(self.fin)
    }

    /// Its offsets, FIN included.
    pub fn range(&self) -> Range<u64> {
        self.start..self.end()
    }

    /// The segment once more, but for what of it has been acknowledged.
    pub fn again(&self, una: u64, how: How) -> Chunk {
        let start = self.start.max(una);
        let len = (self.start + u64::from(self.len)).saturating_sub(start) as u32;
        Chunk { start, len, fin: self.fin, how }
    }

    /// Whether the segment waits to be sent again.
    pub fn waits(&self) -> bool {
        self.lost && !self.retransmitted && !self.sacked
    }
}
