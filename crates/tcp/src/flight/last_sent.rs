//! State after the last burst in which data was sent.

use ecnlab_base::Time;

/// State after the last burst in which data was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastSent {
    pub at: Time,
    /// Outstanding bytes.
    pub outstanding: u64,
}
