//! Errors of a run.

/// Reason why a run has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// Two nodes are not connected.
    #[error("flow `{flow}`: there is no path from `{from}` to `{to}`")]
    NoRoute {
        /// The flow.
        flow: String,
        /// Source node.
        from: String,
        /// Destination node.
        to: String,
    },
    /// A user-defined law has not been supplied.
    #[error("`{0}` is a user-defined law, which only the simulator of the Python package runs")]
    Unsupplied(String),
    /// A QUIC stack cannot be used.
    #[error("flow `{flow}`: {error}")]
    Quic {
        /// The flow.
        flow: String,
        /// The reason.
        error: ecnlab_quic::Error,
    },
    /// The run was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
    /// A conservation check failed: a defect of ecnlab, never of a scenario.
    #[error("conservation is violated (a defect of ecnlab, please report it): {0}")]
    Conservation(String),
}
