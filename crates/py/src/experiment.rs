//! Experiments, expanded run by run.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::spec_error;
use crate::json;
use crate::scenario::Scenario;
use crate::traces::{special, without_byte_order_mark};
use crate::userlaws::Files;

/// Maximum bytes of a scenario file; `LARGEST` in python/ecnlab/scenario/files.py.
const LARGEST: u64 = 64 << 20;

fn read_text(file: &Path) -> io::Result<String> {
    if let Some(special) = special(std::fs::metadata(file)?.file_type()) {
        return Err(io::Error::other(format!("{special}, not a file: copy its content to a file and name that")));
    }
    let mut text = String::new();
    let length = File::open(file)?.take(LARGEST + 1).read_to_string(&mut text)?;
    if length as u64 > LARGEST {
        return Err(io::Error::other("it has more than 64 MiB"));
    }
    Ok(without_byte_order_mark(text))
}

/// An experiment of which every run is a valid scenario.
#[pyclass(frozen, module = "ecnlab._core")]
pub struct Experiment(Arc<ecnlab_scenario::Experiment>);

#[pymethods]
impl Experiment {
    /// Parse `text`, and the scenario it names, relative to the folder of `path`. Raises SpecError.
    #[new]
    fn new(py: Python<'_>, path: &str, text: &str) -> PyResult<Experiment> {
        let parsed = ecnlab_scenario::parse_experiment_with(path, text, &read_text, Arc::new(Files::default()))
            .map_err(|found| spec_error(py, &found))?;
        Ok(Experiment(Arc::new(parsed)))
    }

    /// The same with another number of replicates; common replicates are the same runs.
    fn with_replicates(&self, replicates: u32) -> Experiment {
        Experiment(Arc::new(self.0.as_ref().clone().with_replicates(replicates)))
    }

    /// Name of the file in error messages.
    #[getter]
    fn path(&self) -> &str {
        self.0.path()
    }

    /// Title in the file; its path if it has none.
    #[getter]
    fn title(&self) -> &str {
        self.0.title()
    }

    /// Seed from which the replicates' seeds are derived.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed()
    }

    /// Number of runs per point and arm.
    #[getter]
    fn replicates(&self) -> u32 {
        self.0.replicates()
    }

    /// Names of the axes.
    #[getter]
    fn axes(&self) -> Vec<String> {
        self.0.axes().to_vec()
    }

    /// Definitions of the metrics, by name.
    #[getter]
    fn metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, self.0.metrics())
    }

    /// `[report]`: `primary`, `reference`, `smallest`, and `arms` and `metrics` in the order of the file.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, self.0.report())
    }

    /// `[stop]`: `until`, `least` and `most`; None without it.
    #[getter]
    fn stop<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, self.0.stop())
    }

    /// The distinct scenarios of its points and arms.
    #[getter]
    fn scenarios(&self, py: Python<'_>) -> PyResult<Vec<Scenario>> {
        let scenarios = self.0.scenarios().map_err(|found| spec_error(py, &found))?;
        Ok(scenarios.into_iter().map(Scenario).collect())
    }

    /// The SpecError that locates each (keys of a value, message, help) in the file.
    fn refusal(&self, py: Python<'_>, findings: Vec<(Vec<String>, String, String)>) -> Py<PyAny> {
        spec_error(py, &self.0.refuse(&findings)).into_value(py).into_any()
    }

    /// Every run: points, then arms, then replicates.
    #[getter]
    fn runs(&self, py: Python<'_>) -> PyResult<Vec<ExperimentRun>> {
        let runs = self.0.runs().map(|run| run.map(ExperimentRun));
        runs.collect::<Result<_, _>>().map_err(|found| spec_error(py, &found))
    }

    /// Number of runs.
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The run at `index`, as in `runs`, created on demand. Raises IndexError.
    fn run(&self, py: Python<'_>, index: usize) -> PyResult<ExperimentRun> {
        self.0.run(self.at(index)?).map(ExperimentRun).map_err(|found| spec_error(py, &found))
    }

    /// The id of the run at `index`. Raises IndexError.
    fn id(&self, index: usize) -> PyResult<String> {
        self.at(index).map(|index| self.0.id(index))
    }
}

impl Experiment {
    fn at(&self, index: usize) -> PyResult<usize> {
        let len = self.0.len();
        (index < len).then_some(index).ok_or_else(|| PyIndexError::new_err(format!("{index} of {len} runs")))
    }
}

/// A run of an experiment.
#[pyclass(frozen, module = "ecnlab._core")]
pub struct ExperimentRun(ecnlab_scenario::Run);

#[pymethods]
impl ExperimentRun {
    /// Stable identifier, from the specification and the seed. Identical runs share it.
    #[getter]
    fn id(&self) -> &str {
        &self.0.id
    }

    /// The arm; None if the experiment has no arms.
    #[getter]
    fn arm(&self) -> Option<&str> {
        self.0.arm.as_deref()
    }

    /// The label on each axis.
    #[getter]
    fn point<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let point = PyDict::new(py);
        for (axis, label) in &self.0.point {
            point.set_item(axis, label)?;
        }
        Ok(point)
    }

    /// Number of the replicate, from 0.
    #[getter]
    fn replicate(&self) -> u32 {
        self.0.replicate
    }

    /// Seed of the replicate, the same at every point and in every arm.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed
    }

    /// The hash of the scenario.
    #[getter]
    fn hash(&self) -> &str {
        &self.0.hash
    }

    /// The scenario of this point and arm.
    #[getter]
    fn scenario(&self) -> Scenario {
        Scenario(self.0.scenario.clone())
    }
}
