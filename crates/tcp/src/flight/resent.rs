//! Data sent more than once.

/// Totals of retransmitted data.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Resent {
    /// Bytes retransmitted because of a loss, in total.
    pub bytes: u64,
    /// One past the highest offset sent more than once.
    pub below: u64,
}
