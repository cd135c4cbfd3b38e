//! What there is to choose from: laws, profiles, and the schemas of the files.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::json;

/// Every law by family: {"queue": {"red": "what it does"}}.
#[pyfunction]
pub fn laws(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let queues = ecnlab_aqm::registry::ROWS.iter().map(|law| ("queue", law.name, law.about));
    let endpoints = ecnlab_tcp::registry::laws().map(|law| (law.family, law.name, law.summary));
    let traffic = ecnlab_traffic::ROWS.iter().map(|law| ("traffic", law.name, law.about));
    let families = PyDict::new(py);
    for (family, name, about) in queues.chain(endpoints).chain(traffic) {
        let members = match families.get_item(family)? {
            Some(members) => members.cast_into::<PyDict>()?,
            None => PyDict::new(py),
        };
        members.set_item(name, about)?;
        families.set_item(family, members)?;
    }
    Ok(families)
}

/// The queue disciplines of which the key `ecn` has an effect.
#[pyfunction]
pub fn disciplines_with_ecn() -> Vec<&'static str> {
    ecnlab_aqm::registry::ROWS.iter().filter(|row| row.uses_ecn).map(|row| row.name).collect()
}

/// Every TCP profile: {"modern": {"summary": ..., "settings": {"ecn": {"value": ..., "source": ...}}}}.
#[pyfunction]
pub fn profiles(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for profile in ecnlab_tcp::profiles() {
        let settings = PyDict::new(py);
        for setting in &profile.settings {
            let entry = PyDict::new(py);
            entry.set_item("value", json::to_python(py, &setting.value)?)?;
            entry.set_item("source", &setting.source)?;
            settings.set_item(&setting.key, entry)?;
        }
        let dict = PyDict::new(py);
        dict.set_item("summary", &profile.summary)?;
        dict.set_item("settings", settings)?;
        all.set_item(profile.name, dict)?;
    }
    Ok(all)
}

/// The JSON schema of a "scenario" or an "experiment" file.
#[pyfunction]
pub fn schema<'py>(py: Python<'py>, kind: &str) -> PyResult<Bound<'py, PyAny>> {
    match kind {
        "scenario" => json::to_python(py, &ecnlab_spec::scenario_schema()),
        "experiment" => json::to_python(py, &ecnlab_spec::experiment_schema()),
        _ => Err(PyValueError::new_err(format!("there is no schema of {kind:?}, only of scenario and experiment"))),
    }
}
