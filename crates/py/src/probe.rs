//! The prober, for simulated servers.

use ecnlab_probe::Answers;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::json;
use crate::scenario::Scenario;
use crate::userlaws::unless_failed;

/// Probe the server of each flow of `scenario` named in `flows`, a flow or an array, or of all with TCP if `flows` is
/// empty. Returns (flow, answers) of each. Raises ValueError for an unknown name, and for a flow without TCP.
#[pyfunction]
pub fn probe_scenario<'py>(
    py: Python<'py>,
    scenario: &Scenario,
    flows: Vec<String>,
    seed: u64,
) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let plan = scenario.0.plan(seed);
    let is_called = |name: &str, called: &String| name == called || name.split('[').next() == Some(called);
    let names: Vec<&str> = plan.flows.iter().map(|flow| flow.name.as_str()).collect();
    if let Some(missing) = flows.iter().find(|called| !names.iter().any(|name| is_called(name, called))) {
        return Err(PyValueError::new_err(format!("there is no flow `{missing}`; there is {}", names.join(", "))));
    }
    let requested = |i: &usize| {
        let named = flows.iter().any(|called| is_called(names[*i], called));
        named || flows.is_empty() && plan.flows[*i].traffic.uses_tcp()
    };
    let ask = |i: usize| {
        let answers = py.detach(|| unless_failed(|| ecnlab_probe::probe(&plan, i, seed)))?;
        let answers = answers.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((plan.flows[i].name.clone(), to_python(py, &answers)?))
    };
    (0..plan.flows.len()).filter(requested).map(ask).collect()
}

/// Returns the answers, with the class and the findings: name and meaning of each.
pub fn to_python<'py>(py: Python<'py>, answers: &Answers) -> PyResult<Bound<'py, PyAny>> {
    let all = json::to_python(py, answers)?;
    let dict = all.cast::<PyDict>()?;
    dict.set_item("class", answers.class())?;
    dict.set_item("findings", answers.findings().iter().map(|finding| finding.about()).collect::<Vec<_>>())?;
    dict.set_item("slowed", answers.back.reduction.map(|reduction| reduction.slowed()))?;
    Ok(all)
}
