//! Interrupts: requests that the process ends, which Python code raises while Rust code calls it.

use std::cell::RefCell;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

thread_local! {
    static INTERRUPT: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Returns whether `error` requests the process to end (Ctrl-C, SIGTERM) and is not an error of the law in which it was
/// raised.
pub fn is_interrupt(py: Python<'_>, error: &PyErr) -> bool {
    let terminated = || py.import("ecnlab.base.errors").and_then(|errors| errors.getattr("Terminated"));
    error.is_instance_of::<PyKeyboardInterrupt>(py) || terminated().is_ok_and(|kind| error.is_instance(py, &kind))
}

/// Stores an interrupt of this thread until [`take_interrupt`].
pub fn keep_interrupt(error: PyErr) {
    INTERRUPT.set(Some(error));
}

/// Returns whether an interrupt is stored: no file is executed after that.
pub fn is_interrupted() -> bool {
    INTERRUPT.with_borrow(Option::is_some)
}

/// Returns the interrupt that stopped a file with laws in this thread, if any.
pub fn take_interrupt() -> Option<PyErr> {
    INTERRUPT.take()
}
