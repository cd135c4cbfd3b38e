//! What a configuration is refused for.

/// A value that no TCP can have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{key}` {problem}")]
pub struct Invalid {
    /// The key of [`Config`] at fault, with a dot before one of its table.
    pub key: &'static str,
    /// What is wrong with it, to be read after the key.
    pub problem: String,
}

pub(crate) fn ensure(holds: bool, key: &'static str, problem: impl FnOnce() -> String) -> Result<(), Invalid> {
    if holds { Ok(()) } else { Err(Invalid { key, problem: problem() }) }
}
