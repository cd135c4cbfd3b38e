//! The user-space router, for runs in real time.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use ecnlab_live::{Clock, Out, RouterFailure, Tun, within};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::captures;
use crate::errors::{RunError, run_error};
use crate::scenario::{Cancel, Scenario};
use crate::tables;

/// The links of a scenario between the TUN devices of hosts, in real time.
#[pyclass(frozen, module = "ecnlab._core")]
pub struct Router(Mutex<Option<ecnlab_live::Router>>);

#[pymethods]
impl Router {
    /// The idle links of `scenario` with `seed`. The listener of each flow has the port `first_port` plus the flow's
    /// number. Raises RunError.
    #[new]
    fn new(scenario: &Scenario, seed: u64, first_port: u16) -> PyResult<Router> {
        let router = ecnlab_live::Router::new(scenario.0.plan(seed), seed, first_port).map_err(raise)?;
        Ok(Router(Mutex::new(Some(router))))
    }

    /// Create the TUN device `device` in the network namespace of the file `namespace`, and attach the host at
    /// `address` behind it to the node numbered `node`. Raises OSError.
    fn attach(&self, py: Python<'_>, namespace: PathBuf, device: &str, node: usize, address: &str) -> PyResult<()> {
        let address: Ipv4Addr =
            address.parse().map_err(|_| PyValueError::new_err(format!("{address} is not an IPv4 address")))?;
        let tun = py.detach(|| within(&namespace, || Tun::create(device))).map_err(|error| {
            let message = format!("{device} in {}: {error}", namespace.display());
            PyOSError::new_err((error.raw_os_error().unwrap_or(0), message))
        })?;
        self.with(|router| router.as_mut().ok_or_else(over)?.attach(tun, node, address).map_err(raise))
    }

    /// Write the captures of `scenario` to the folder `folder`. Raises OSError.
    fn capture(&self, scenario: &Scenario, folder: PathBuf) -> PyResult<()> {
        let files = captures::create(&scenario.0.captures(), &folder)?;
        let boxed = files.into_iter().map(|(tap, settings, file)| (tap, settings, Box::new(file) as Out)).collect();
        self.with(|router| router.as_mut().ok_or_else(over)?.capture(boxed).map_err(raise))
    }

    /// Forward packets until the scenario's duration has passed since the CLOCK_MONOTONIC value `origin_ns`; other
    /// threads run meanwhile. Returns the tables of links and queues, and `timing`. May be called once. Raises
    /// RunError, Cancelled.
    fn run<'py>(&self, py: Python<'py>, origin_ns: u64, cancel: &Bound<'py, Cancel>) -> PyResult<Bound<'py, PyDict>> {
        let router = self.with(|router| router.take().ok_or_else(over))?;
        let stop = &cancel.get().0;
        let tables = py.detach(|| router.run(Clock::from_origin(origin_ns), stop));
        tables::to_python(py, tables.map_err(raise)?)
    }
}

impl Router {
    fn with<T>(&self, work: impl FnOnce(&mut Option<ecnlab_live::Router>) -> PyResult<T>) -> PyResult<T> {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn over() -> PyErr {
    PyValueError::new_err("this router has already run")
}

fn raise(failure: RouterFailure) -> PyErr {
    match failure {
        RouterFailure::Engine(error) => run_error(&error),
        other => RunError::new_err(other.to_string()),
    }
}
