//! Per-thread state of a run: the classes of its laws, and the failure of one of them.
//!
//! A run stays on one thread from start to end, and so do the objects of its laws.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::file::Law;

/// State shared by the laws of a run.
#[derive(Default)]
struct Run {
    /// Classes of this run, by the address of the law.
    classes: Vec<(usize, Py<PyAny>)>,
    halt: Arc<AtomicBool>,
    /// Set to request that the run stops.
    stop: Arc<AtomicBool>,
    failed: Option<PyErr>,
}

thread_local! {
    static RUN: RefCell<Option<Run>> = const { RefCell::new(None) };
    static FAILED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` and returns its result with the exception raised by a law, if any. `work` gets a flag that is then set.
/// No law is called after `stop` is set.
pub fn in_run<T>(stop: Arc<AtomicBool>, work: impl FnOnce(&AtomicBool) -> T) -> (T, Option<PyErr>) {
    let halt = Arc::new(AtomicBool::new(false));
    FAILED.set(false);
    let outer = RUN.replace(Some(Run { halt: halt.clone(), stop, ..Run::default() }));
    let done = work(&halt);
    let run = RUN.replace(outer);
    FAILED.set(false);
    (done, run.and_then(|run| run.failed))
}

/// Returns the result of `work`, or the exception raised by a law in it.
pub fn unless_failed<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    let (done, raised) = in_run(Arc::default(), |_| work());
    raised.map_or(Ok(done), Err)
}

/// Returns whether a law of this thread's run has failed: no law is called after that.
pub fn has_failed() -> bool {
    FAILED.get()
}

/// The flag that requests the run of this thread to stop.
pub fn stop() -> Arc<AtomicBool> {
    RUN.with_borrow(|run| run.as_ref().map(|run| run.stop.clone()).unwrap_or_default())
}

/// Ends the run of this thread with `error`, unless it has already failed.
pub fn fail(error: PyErr) {
    FAILED.set(true);
    RUN.with_borrow_mut(|run| {
        if let Some(run) = run {
            run.halt.store(true, Ordering::Relaxed);
            run.failed.get_or_insert(error);
        }
    });
}

/// Returns the class of `law` in the run of this thread, for which its file is executed once: no state is shared with
/// other runs.
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
