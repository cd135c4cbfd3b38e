//! The receive window that the peer announces.

/// Receive window of the peer, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeerWindow {
    /// Last announced window.
    pub current: u64,
    /// Largest window announced so far.
    pub greatest: u64,
}
