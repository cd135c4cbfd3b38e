//! Scenarios and their runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ecnlab_engine::{Blocks, Outlets, run_into};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::spec_error;
use crate::userlaws::{Files, in_run};
use crate::{captures, json, memory, tables};

/// Requests runs in other threads to stop.
#[pyclass(frozen, module = "ecnlab._core")]
#[derive(Default)]
pub struct Cancel(pub(crate) Arc<AtomicBool>);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Cancel {
        Cancel::default()
    }

    /// Stop every run that was given this object, within some milliseconds: they raise Cancelled.
    fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Bytes of memory that a run may use: ECNLAB_MAX_MEMORY, or the memory available on the machine; None if unknown.
#[pyfunction]
pub fn available_memory() -> Option<u64> {
    memory::available().ok().flatten().map(|available| available.bytes)
}

/// A valid scenario: parsed, with all defaults, and checked.
#[pyclass(frozen, module = "ecnlab._core")]
pub struct Scenario(pub(crate) ecnlab_scenario::Scenario);

#[pymethods]
impl Scenario {
    /// Parse `text`; `path` is the file's name in error messages. Raises SpecError.
    #[new]
    fn new(py: Python<'_>, path: &str, text: &str) -> PyResult<Scenario> {
        let parsed = ecnlab_scenario::parse_scenario_with(path, text, Arc::new(Files::default()))
            .map_err(|found| spec_error(py, &found))?;
        Ok(Scenario(parsed))
    }

    /// The same scenario with some dotted keys set, as {"queue.red.max_p": 0.1}. Raises SpecError.
    fn with_overrides(&self, py: Python<'_>, overrides: &Bound<'_, PyDict>) -> PyResult<Scenario> {
        let overrides: BTreeMap<String, toml::Value> = json::from_python(overrides)?;
        let overrides: Vec<_> = overrides.into_iter().collect();
        let changed = self.0.with(&overrides).map_err(|found| spec_error(py, &found))?;
        Ok(Scenario(changed))
    }

    /// Title in the file; its path if it has none.
    #[getter]
    fn title(&self) -> &str {
        self.0.title()
    }

    /// The full specification: every key, with all defaults.
    #[getter]
    fn resolved<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.0.resolved())
    }

    /// The values that laws derive in a run with `seed`: for each link, by name, the keys of its queue whose effective
    /// values differ from `resolved`.
    fn in_force<'py>(&self, py: Python<'py>, seed: u64) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.0.in_force(seed))
    }

    /// SHA-256 of the full specification, in hexadecimal.
    #[getter]
    fn hash(&self) -> &str {
        self.0.hash()
    }

    /// Every TCP setting that departs from its profile: key, profile, profile_value, value, source.
    #[getter]
    fn departures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.0.departures())
    }

    /// Nodes, links and flows by name, with the delays and starts drawn under `seed`.
    fn drawn<'py>(&self, py: Python<'py>, seed: u64) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.0.drawn(seed))
    }

    /// The SpecError that locates each (dotted key, message, help) in the file.
    fn refusal(&self, py: Python<'_>, findings: Vec<(String, String, String)>) -> Py<PyAny> {
        spec_error(py, &self.0.refuse(&findings)).into_value(py).into_any()
    }

    /// The names in the columns of a run's tables: of "node", "link", "flow" or "group".
    fn names(&self, of: &str) -> Vec<String> {
        self.0.names(of)
    }

    /// The files of the scenario's captures.
    #[getter]
    fn captures(&self) -> Vec<String> {
        self.0.captures().into_iter().map(|capture| capture.file).collect()
    }

    /// The capture points: index of a link, and the point: "before" or "after" its queue, or "end".
    #[getter]
    fn taps(&self) -> BTreeSet<(usize, &'static str)> {
        captures::taps(&self.0)
    }

    /// Write the captures to `folder`, from the packet log `log` of a Linux kernel's guest. Raises OSError.
    fn write_captures(&self, py: Python<'_>, log: PathBuf, folder: PathBuf) -> PyResult<()> {
        py.detach(|| captures::of_guest(&self.0, &log, &folder)).map_err(PyErr::from)
    }

    /// Name of the file in error messages.
    #[getter]
    fn path(&self) -> &str {
        self.0.path()
    }

    /// The scenario as a file, including all overrides: `Scenario(path, to_toml())` is the same scenario.
    fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    /// The expected rows of the tables that grow with time or packets; None if unbounded.
    #[pyo3(signature = (*, events = false))]
    fn volume(&self, py: Python<'_>, events: bool) -> BTreeMap<&'static str, Option<f64>> {
        py.detach(|| self.0.volume(events))
    }

    /// Estimated memory of a run in bytes, including its process.
    #[getter]
    fn memory(&self) -> u64 {
        self.0.memory()
    }

    /// Simulate with `seed` and return the tables; other threads run meanwhile. Captures are written to the folder
    /// `captures`, if given. Tables that grow are passed to `blocks(name, columns)` during the run, if given; their
    /// last rows are returned. Tables that are not among `wanted`, if given, are not made. Raises RunError, Cancelled,
    /// OSError, and exceptions of `blocks`.
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    #[pyo3(signature = (seed, *, events = false, cancel = None, captures = None, blocks = None, wanted = None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        events: bool,
        cancel: Option<&Bound<'py, Cancel>>,
        captures: Option<PathBuf>,
        blocks: Option<Py<PyAny>>,
        wanted: Option<BTreeSet<String>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let cancel = cancel.map_or_else(Arc::default, |cancel| cancel.get().0.clone());
        let cancel = &cancel;
        let scenario = &self.0;
        let mut taker = blocks.map(tables::Taker::new);
        let output = py.detach(|| {
            let mut plan = scenario.plan(seed);
            plan.packet_events |= events;
            let wanted = |table: &str| wanted.as_ref().is_none_or(|names| names.contains(table));
            plan.record_only(&wanted);
            let (output, raised) = in_run(cancel.clone(), |halt| {
                let blocks = taker.as_mut().map(|taker| taker as &mut dyn Blocks);
                let watch = |_| !halt.load(Ordering::Relaxed);
                let outlets = Outlets { blocks, wanted: Some(&wanted), watch: Some(&watch), ..Outlets::default() };
                match captures {
                    Some(folder) => captures::run(scenario, &plan, seed, cancel, &folder, outlets),
                    None => run_into(&plan, seed, cancel, outlets).map_err(captures::Failure::Run),
                }
            });
            // A run stops when a law fails; the law's exception is then the reason.
            if let Some(raised) = raised {
                return Err(captures::Failure::Raised(raised));
            }
            // A run stops when a block is rejected; the receiver's exception is then the reason.
            match taker.as_mut().and_then(|taker| taker.raised.take()) {
                Some(raised) => Err(captures::Failure::Raised(raised)),
                None => output,
            }
        });
        tables::to_python(py, output.map_err(PyErr::from)?.tables)
    }
}
