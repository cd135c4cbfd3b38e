//! The last burst that sent anything.

use ecnlab_base::Time;

/// The end of the last burst that sent anything.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastSent {
    pub at: Time,
    /// Bytes outstanding after it.
    pub outstanding: u64,
}
