//! The window that the peer announces.

/// Receive window of the peer, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeerWindow {
    /// As last announced.
    pub current: u64,
    /// The greatest so far.
    pub greatest: u64,
}
