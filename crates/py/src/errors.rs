//! Conversion of Rust's errors to Python exceptions.

use ecnlab_scenario::Diagnostics;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::interrupt::take_interrupt;

pyo3::create_exception!(ecnlab._core, SpecError, PyException, "An invalid scenario or experiment.");
pyo3::create_exception!(ecnlab._core, RunError, PyException, "A run without a result.");
pyo3::create_exception!(ecnlab._core, LawError, RunError, "A run ended by an error in a user-defined law.");
pyo3::create_exception!(ecnlab._core, Cancelled, PyException, "A run that was cancelled.");

/// Returns a `SpecError` with the compiler-like text as message and the single findings as `diagnostics`; or an
/// interrupt, if one stopped the reading of a file with laws.
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

/// Returns the exception for a run that ended early.
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
        if !diagnostic.table.is_empty() {
            dict.set_item("table", &diagnostic.table)?;
        }
        Ok(dict)
    };
    found.iter().map(one).collect()
}
