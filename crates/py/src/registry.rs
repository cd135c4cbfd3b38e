//! Available laws, profiles, and the schemas of the files.

use ecnlab_base::facts::Column;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use ecnlab_scenario::registry::Law;

use crate::json;

/// Every law by family and name, with its properties: {"queue": {"red": {"label": "RED", ...}}}. Disciplines have more
/// of them.
#[pyfunction]
pub fn laws(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let families = PyDict::new(py);
    for law in ecnlab_scenario::registry::laws() {
        let members = match families.get_item(law.family)? {
            Some(members) => members.cast_into::<PyDict>()?,
            None => PyDict::new(py),
        };
        members.set_item(law.name, facts(py, &law)?)?;
        families.set_item(law.family, members)?;
    }
    Ok(families)
}

/// The remedy for a name that none of the laws `valid` has; None if there is none in particular.
#[pyfunction]
pub fn law_remedy(name: &str, valid: Vec<String>) -> Option<String> {
    ecnlab_scenario::law_remedy(name, &valid)
}

fn facts<'py>(py: Python<'py>, law: &Law) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("label", law.label)?;
    facts.set_item("summary", law.summary)?;
    facts.set_item("reference", law.reference)?;
    let columns = PyDict::new(py);
    for (tables, of_law) in law.columns {
        for table in tables {
            columns.set_item(table, described(py, of_law)?)?;
        }
    }
    facts.set_item("columns", columns)?;
    match (law.tcp, law.family) {
        (Some(tcp), "congestion") => facts.set_item("marks", tcp.marks.name())?,
        (Some(tcp), "ecn") => facts.set_item("counts_marks", tcp.counts_marks)?,
        _ => {}
    }
    if let Some(queue) = law.queue {
        facts.set_item("shown", queue.shown)?;
        let acts_above: Vec<_> = queue.acts_above.iter().map(|one| (one.key, one.consequence)).collect();
        facts.set_item("acts_above", acts_above)?;
        facts.set_item("quenches", queue.quenches)?;
        facts.set_item("uses_ecn", queue.uses_ecn)?;
        facts.set_item("separates_flows", queue.separates_flows)?;
    }
    Ok(facts)
}

/// Columns by name, each with its unit, its meaning, and whether it has fractions and values above 1.
fn described<'py>(py: Python<'py>, columns: &[Column]) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for one in columns {
        all.set_item(one.name, (one.unit, one.meaning, one.fraction, one.above_one))?;
    }
    Ok(all)
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
        "scenario" => json::to_python(py, &ecnlab_scenario::scenario_schema()),
        "experiment" => json::to_python(py, &ecnlab_scenario::experiment_schema()),
        _ => Err(PyValueError::new_err(format!("there is no schema of {kind:?}, only of scenario and experiment"))),
    }
}
