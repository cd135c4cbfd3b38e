//! Errors in a configuration.

/// A value that no TCP can have, by itself or together with other values.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{key}` {problem}")]
pub struct Invalid {
    /// The key of [`Config`](crate::Config) at fault, with a dot before one of its table.
    pub key: &'static str,
    /// The problem, in words that follow the key.
    pub problem: String,
    /// The setting that resolves a combination; `None` for a value that is impossible by itself.
    pub remedy: Option<Remedy>,
}

/// A setting that resolves a refused combination.
#[derive(Clone, Debug, PartialEq)]
pub struct Remedy {
    /// Key in `[tcp.NAME]`.
    pub key: &'static str,
    /// The value, as in a scenario.
    pub value: toml::Value,
}

impl Remedy {
    pub(crate) fn set(key: &'static str, value: impl Into<toml::Value>) -> Remedy {
        Remedy { key, value: value.into() }
    }
}

pub(crate) fn ensure(holds: bool, key: &'static str, problem: impl FnOnce() -> String) -> Result<(), Invalid> {
    if holds { Ok(()) } else { Err(Invalid { key, problem: problem(), remedy: None }) }
}

/// [`ensure`] for values that exclude each other; `remedy` resolves that.
pub(crate) fn ensure_fit(
    holds: bool,
    key: &'static str,
    remedy: Remedy,
    problem: impl FnOnce() -> String,
) -> Result<(), Invalid> {
    ensure(holds, key, problem).map_err(|invalid| Invalid { remedy: Some(remedy), ..invalid })
}
