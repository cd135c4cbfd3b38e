//! The state of an estimator.

/// The state that every estimator keeps, each in its own unit and scaling.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Smoothed {
    /// Smoothed RTT; zero before the first sample.
    pub srtt: i64,
    /// Its variation.
    pub var: i64,
}
