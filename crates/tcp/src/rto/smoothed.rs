//! The state of an estimator.

/// State common to all estimators, each with its own unit and scaling.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Smoothed {
    /// Smoothed RTT; zero before the first sample.
    pub srtt: i64,
    /// RTT variation.
    pub var: i64,
}
