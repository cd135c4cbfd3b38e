//! Errors of a run.

/// Why a run gave no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// Two nodes are not connected.
    #[error("flow `{flow}`: there is no way from `{from}` to `{to}`")]
    NoRoute {
        /// The flow.
        flow: String,
        /// Where it starts.
        from: String,
        /// Where it should go.
        to: String,
    },
    /// A law stands in a file of the user's, and nobody has supplied it.
    #[error("`{0}` is a user-defined law, which only the simulator of the Python package runs")]
    Unsupplied(String),
    /// The run was asked to stop.
    #[error("the run was cancelled")]
    Cancelled,
    /// Packets or bytes came from nowhere or went nowhere: a defect of ecnlab, never of a scenario.
    #[error("conservation is violated (a defect of ecnlab, please report it): {0}")]
    Conservation(String),
}
