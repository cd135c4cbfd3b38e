//! The prober, for simulated and real servers.

use std::net::{Ipv4Addr, SocketAddrV4};

use ecnlab_live::{Settings, Target, Tun};
use ecnlab_probe::Answers;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::Cancelled;
use crate::json;
use crate::scenario::{Cancel, Scenario};
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
    let asked = |i: &usize| {
        let named = flows.iter().any(|called| is_called(names[*i], called));
        named || flows.is_empty() && plan.flows[*i].traffic.uses_tcp()
    };
    let ask = |i: usize| {
        let answers = py.detach(|| unless_failed(|| ecnlab_probe::probe(&plan, i, seed)))?;
        let answers = answers.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((plan.flows[i].name.clone(), to_python(py, &answers)?))
    };
    (0..plan.flows.len()).filter(asked).map(ask).collect()
}

/// Probe the server at `address` and `port` with `request` over a TUN device `device` of this network namespace: the
/// kernel has the address `near` at its near end, the prober `own` at its far end. The device is removed at the end.
/// Raises OSError, ValueError, Cancelled.
#[cfg(target_os = "linux")]
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
pub fn probe_host<'py>(
    py: Python<'py>,
    address: &str,
    port: u16,
    request: &[u8],
    device: &str,
    near: &str,
    own: &str,
    cancel: &Bound<'py, Cancel>,
) -> PyResult<Bound<'py, PyAny>> {
    let (address, near, own) = (ipv4(address)?, ipv4(near)?, ipv4(own)?);
    let server = SocketAddrV4::new(address, port);
    let stop = &cancel.get().0;
    let answers = py.detach(|| {
        let tun = Tun::create(device)?;
        let ip = vec![format!("addr add {near} peer {own} dev {device}"), format!("link set {device} up")];
        Settings { sysctls: Vec::new(), ip }.apply()?;
        let first_port = 40_000 + (std::process::id() % 20_000) as u16;
        let seed = u64::from(std::process::id());
        ecnlab_live::probe(&tun, &Target { server, own, first_port, request: request.to_vec(), seed }, stop)
    });
    match answers
        .map_err(|error| PyOSError::new_err((error.raw_os_error().unwrap_or(0), format!("{device}: {error}"))))?
    {
        Some(answers) => to_python(py, &answers),
        None => Err(Cancelled::new_err("the probe was cancelled")),
    }
}

fn ipv4(text: &str) -> PyResult<Ipv4Addr> {
    text.parse().map_err(|_| PyValueError::new_err(format!("{text} is not an IPv4 address")))
}

/// Returns the answers, with the class and the findings: name and meaning of each.
fn to_python<'py>(py: Python<'py>, answers: &Answers) -> PyResult<Bound<'py, PyAny>> {
    let all = json::to_python(py, answers)?;
    let dict = all.cast::<PyDict>()?;
    dict.set_item("class", answers.class())?;
    dict.set_item("findings", answers.findings().iter().map(|finding| finding.about()).collect::<Vec<_>>())?;
    dict.set_item("slowed", answers.back.reduction.map(|reduction| reduction.slowed()))?;
    Ok(all)
}
