//! The run of a thread: the classes of its laws, and the failure of one of them.
//!
//! A run is one thread's from its beginning to its end, and so are the objects of its laws.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;

use super::file::Law;

/// What the laws of a run share.
#[derive(Default)]
struct Run {
    /// Laws by their place in memory, with the class of this run.
    classes: Vec<(usize, Py<PyAny>)>,
    halt: Arc<AtomicBool>,
    /// Set by whoever asks the run to stop.
    stop: Arc<AtomicBool>,
    failed: Option<PyErr>,
}

thread_local! {
    static RUN: RefCell<Option<Run>> = const { RefCell::new(None) };
    static FAILED: Cell<bool> = const { Cell::new(false) };
    static INTERRUPT: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Does the `work` of a run, and gives with its result what a law has raised. `work` is given a flag that is then set.
/// No law is called any more once `stop` is set.
pub fn in_run<T>(stop: Arc<AtomicBool>, work: impl FnOnce(&AtomicBool) -> T) -> (T, Option<PyErr>) {
    let halt = Arc::new(AtomicBool::new(false));
    FAILED.set(false);
    let outer = RUN.replace(Some(Run { halt: halt.clone(), stop, ..Run::default() }));
    let done = work(&halt);
    let run = RUN.replace(outer);
    FAILED.set(false);
    (done, run.and_then(|run| run.failed))
}

/// The `work` of a run, or what a law has raised in it.
pub fn unless_failed<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    let (done, raised) = in_run(Arc::default(), |_| work());
    raised.map_or(Ok(done), Err)
}

/// Whether a law of this thread's run has failed: then none is called any more.
pub fn has_failed() -> bool {
    FAILED.get()
}

/// The flag that asks the run of this thread to stop.
pub fn stop() -> Arc<AtomicBool> {
    RUN.with_borrow(|run| run.as_ref().map(|run| run.stop.clone()).unwrap_or_default())
}

/// Whether `error` asks the process to end (Ctrl-C, SIGTERM), and is no mistake of the law that it was raised in.
pub fn is_interrupt(py: Python<'_>, error: &PyErr) -> bool {
    let terminated = || py.import("ecnlab.base.errors").and_then(|errors| errors.getattr("Terminated"));
    error.is_instance_of::<PyKeyboardInterrupt>(py) || terminated().is_ok_and(|kind| error.is_instance(py, &kind))
}

/// Keeps an interrupt of this thread until [`take_interrupt`].
pub fn keep_interrupt(error: PyErr) {
    INTERRUPT.set(Some(error));
}

/// Whether an interrupt is kept: then no file is executed any more.
pub fn is_interrupted() -> bool {
    INTERRUPT.with_borrow(Option::is_some)
}

/// The interrupt that a file with laws was left by in this thread, if one was.
pub fn take_interrupt() -> Option<PyErr> {
    INTERRUPT.take()
}

/// Ends the run of this thread by `error`, if it is the first.
pub fn fail(error: PyErr) {
    FAILED.set(true);
    RUN.with_borrow_mut(|run| {
        if let Some(run) = run {
            run.halt.store(true, Ordering::Relaxed);
            run.failed.get_or_insert(error);
        }
    });
}

/// The class of `law` in the run of this thread, for which its file is executed once: nothing is left of other runs.
pub fn class<'py>(py: Python<'py>, law: &Arc<Law>) -> PyResult<Bound<'py, PyAny>> {
    let key = Arc::as_ptr(law) as usize;
    let known = |run: &Run| run.classes.iter().find(|(law, _)| *law == key).map(|(_, class)| class.clone_ref(py));
    if let Some(class) = RUN.with_borrow(|run| run.as_ref().and_then(known)) {
        return Ok(class.into_bound(py));
    }
    let class = law.source.class(py, &law.class)?;
    let class = class.ok_or_else(|| PyRuntimeError::new_err(format!("there is no class {} any more", law.class)))?;
    RUN.with_borrow_mut(|run| {
        let run = run
            .as_mut()
            .ok_or_else(|| PyRuntimeError::new_err("user-defined laws are called in runs of the simulator only"))?;
        run.classes.push((key, class.clone().unbind()));
        Ok(class)
    })
}
