//! Many runs at once, in threads of this process.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ecnlab_batch::{Answer, Failure, Metrics, Request};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::spec_error;
use crate::scenario::Scenario;
use crate::{json, memory};

/// Longest wait for a run.
const STEP: Duration = Duration::from_millis(20);

/// Does runs in threads and reduces each to its metrics.
#[pyclass(frozen, module = "ecnlab._core")]
pub struct Pool(Mutex<ecnlab_batch::Pool>);

#[pymethods]
impl Pool {
    /// ``metrics`` are definitions as in an experiment; ``threads`` runs are done at a time, as far as memory allows. Raises
    /// SpecError.
    #[new]
    fn new(py: Python<'_>, metrics: &Bound<'_, PyDict>, threads: usize) -> PyResult<Pool> {
        let metrics: toml::Table = json::from_python(metrics)?;
        let text = toml::Table::from_iter([("metrics".to_owned(), toml::Value::Table(metrics))]).to_string();
        let read = ecnlab_scenario::parse_metrics("metrics", &text).map_err(|found| spec_error(py, &found))?;
        let memory = memory::available().ok().flatten().map_or(u64::MAX, |available| available.bytes);
        Ok(Pool(Mutex::new(ecnlab_batch::Pool::new(Metrics::new(&read), threads, memory))))
    }

    /// Names of the metrics, in the order of values.
    #[getter]
    fn metrics(&self) -> Vec<String> {
        self.lock().metrics().names().map(str::to_owned).collect()
    }

    /// Number of runs whose results have not been taken.
    #[getter]
    fn open(&self) -> usize {
        self.lock().open()
    }

    /// Add a run for each seed; they are numbered from ``first``.
    fn submit(&self, first: u64, scenario: &Scenario, seeds: Vec<u64>) {
        let request = |(tag, seed)| Request { tag, scenario: scenario.0.clone(), seed };
        self.lock().submit((first..).zip(seeds).map(request));
    }

    /// Return runs that have ended as (number, values or error message); wait for the first, but only some milliseconds, so
    /// that Python can receive an interrupt.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Vec<(u64, Bound<'py, PyAny>)>> {
        let answers = py.detach(|| self.lock().take(STEP));
        answers.into_iter().map(|answer| object(py, answer)).collect()
    }

    /// End all runs within some milliseconds. The pool cannot be used again.
    fn cancel(&self) {
        self.lock().cancel();
    }
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, ecnlab_batch::Pool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn object(py: Python<'_>, answer: Answer) -> PyResult<(u64, Bound<'_, PyAny>)> {
    let value = match answer.values {
        Ok(values) => {
            let values: Vec<_> = values.into_iter().map(|value| Some(value).filter(|value| !value.is_nan())).collect();
            values.into_bound_py_any(py)
        }
        Err(Failure::Run(error)) => error.to_string().into_bound_py_any(py),
        Err(Failure::Panic(message)) => {
            format!("{message} (a defect of ecnlab, please report it)").into_bound_py_any(py)
        }
    };
    Ok((answer.tag, value?))
}
