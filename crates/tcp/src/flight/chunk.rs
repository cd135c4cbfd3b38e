//! A range of the stream that is sent as one segment.

/// Reason for sending a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// In stream order: new data, or retransmissions after go-back-N.
    InOrder,
    /// Fast retransmit of the first unacknowledged segment.
    FastHead,
    /// Retransmission of the first unacknowledged segment on a partial ACK.
    PartialHead,
    /// Retransmission of a hole in the scoreboard.
    Hole,
    /// The last segment outstanding (RFC 6675 NextSeg rule 4).
    Rescue,
    /// One byte past a closed window.
    Probe,
}

/// A probe of a closed window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowProbe {
    /// Data: one byte past the window (RFC 9293 §3.8.6.1), or what fits into it.
    Data(Chunk),
    /// No data, with the sequence number before SND.UNA (Linux: tcp_xmit_probe_skb).
    Empty,
}

/// A range of the stream to send as one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub start: u64,
    pub len: u32,
    pub fin: bool,
    pub how: How,
}
