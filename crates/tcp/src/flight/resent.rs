//! Data sent more than once.

/// What a sender has sent again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Resent {
    /// Bytes sent again because they were lost, in total.
    pub bytes: u64,
    /// One past the highest byte ever sent twice.
    pub below: u64,
}
