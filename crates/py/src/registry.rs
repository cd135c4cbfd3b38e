//! What there is to choose from: laws, profiles, and the schemas of the files.

use ecnlab_spec::FileKind;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::spec_error;
use crate::json;

/// Every law by family: {"queue": {"red": "what it does"}}.
#[pyfunction]
pub fn laws(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let queues = ecnlab_aqm::registry::ROWS.iter().map(|law| ("queue", law.name, law.about));
    let endpoints = ecnlab_tcp::registry::laws().map(|law| (law.family, law.name, law.summary));
    let traffic = ecnlab_traffic::registry::ROWS.iter().map(|law| ("traffic", law.name, law.about));
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

/// Every value of every TCP profile with its source: {"modern": {"ecn": {"value": ..., "source": ...}}}.
#[pyfunction]
pub fn profiles(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for profile in ecnlab_tcp::profiles() {
        let values: toml::Table =
            profile.text.parse().map_err(|error: toml::de::Error| PyValueError::new_err(error.to_string()))?;
        all.set_item(profile.name, json::to_python(py, &values)?)?;
    }
    Ok(all)
}
