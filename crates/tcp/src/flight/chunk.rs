//! A stretch of the stream that is sent as one segment.

/// How a chunk comes to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// In the order of the stream: new data, or what follows a step back.
    InOrder,
    /// The first unacknowledged segment again, at a fast retransmit.
    FastHead,
    /// The same, at a partial ACK.
    PartialHead,
    /// A hole of the scoreboard.
    Hole,
    /// The last segment outstanding (RFC 6675 NextSeg rule 4).
    Rescue,
    /// One byte past a closed window.
    Probe,
}

/// A stretch of the stream to send as one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub start: u64,
    pub len: u32,
    pub fin: bool,
    pub how: How,
}
