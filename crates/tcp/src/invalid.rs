//! Errors in a configuration.

/// A value that no TCP can have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{key}` {problem}")]
pub struct Invalid {
    /// The key of [`Config`] at fault, with a dot before one of its table.
    pub key: &'static str,
    /// The problem, in words that follow the key.
    pub problem: String,
}

pub(crate) fn ensure(holds: bool, key: &'static str, problem: impl FnOnce() -> String) -> Result<(), Invalid> {
    if holds { Ok(()) } else { Err(Invalid { key, problem: problem() }) }
}
