//! Rust's errors as Python's exceptions.

use ecnlab_scenario::Diagnostics;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::userlaws::take_interrupt;

pyo3::create_exception!(ecnlab._core, SpecError, PyException, "A scenario or experiment that is not possible.");
pyo3::create_exception!(ecnlab._core, RunError, PyException, "A run that gave no result.");
pyo3::create_exception!(
    ecnlab._core,
    LawError,
    RunError,
    "A run that a user-defined law has ended by its own mistake."
);
pyo3::create_exception!(ecnlab._core, Cancelled, PyException, "A run that was asked to stop.");

/// A `SpecError` whose message is the compiler-like text and whose `diagnostics` are the single findings; an interrupt, if
/// that is why a file with laws was not read.
pub fn spec_error(py: Python<'_>, found: &Diagnostics) -> PyErr {
    if let Some(interrupt) = take_interrupt() {
        return interrupt;
    }
    let error = SpecError::new_err(found.to_string());
    match dicts(py, found).and_then(|list| error.value(py).setattr("diagnostics", list)) {
        Ok(()) => error,
        Err(failure) => failure,
    }
}

/// The exception for a run that ended early.
pub fn run_error(error: &ecnlab_engine::Error) -> PyErr {
    match error {
        ecnlab_engine::Error::Cancelled => Cancelled::new_err(error.to_string()),
        _ => RunError::new_err(error.to_string()),
    }
}

fn dicts<'py>(py: Python<'py>, found: &Diagnostics) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let one = |diagnostic: &ecnlab_scenario::Diagnostic| {
        let dict = PyDict::new(py);
        dict.set_item("path", &diagnostic.path)?;
        dict.set_item("line", diagnostic.line)?;
        dict.set_item("column", diagnostic.column)?;
        dict.set_item("key", &diagnostic.key)?;
        dict.set_item("message", &diagnostic.message)?;
        dict.set_item("help", &diagnostic.help)?;
        Ok(dict)
    };
    found.iter().map(one).collect()
}
