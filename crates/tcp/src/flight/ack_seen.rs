//! Contents of an ACK, as seen by the sender.

use ecnlab_wire::Timestamps;

use crate::ecn::Marks;

/// Contents of an acceptable ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckSeen {
    /// Offset that it acknowledges, at most `max`.
    pub ack: u64,
    /// Bytes newly delivered ([`crate::ecn::Acked::delivered`]).
    pub delivered: u64,
    /// The ACK reports congestion by ECN.
    pub echo: bool,
    /// Marks that the ACK reports.
    pub marks: Marks,
    /// The feedback scheme does not let the window grow on this ACK.
    pub no_growth: bool,
    /// The ACK meets the conditions of a duplicate ACK, except for its acknowledgement number (RFC 5681 §2).
    pub bare: bool,
    /// The SACK blocks report bytes not reported before.
    pub new_sack: bool,
    /// Its timestamps, if both ends use them.
    pub stamps: Option<Timestamps>,
}

impl AckSeen {
    /// The echoed timestamp.
    #[inline]
    pub fn echoed(&self) -> Option<u32> {
        self.stamps.map(|stamps| stamps.echo)
    }

    /// Ticks of the peer's clock when it sent the ACK, less those of the own clock when the echoed segment was sent.
    #[inline]
    pub fn one_way(&self) -> Option<u32> {
        self.stamps.map(|stamps| stamps.value.wrapping_sub(stamps.echo))
    }
}
