//! The Python module `ecnlab._core`: the only interface between Rust and Python.
//!
//! Its Python declarations, with all types, are in `python/ecnlab/_core.pyi`.

mod batch;
mod behaviour;
mod captures;
mod errors;
mod experiment;
mod interrupt;
mod json;
#[cfg(target_os = "linux")]
mod live;
mod memory;
mod probe;
#[cfg(target_os = "linux")]
mod probe_host;
mod registry;
mod replay;
mod rows;
mod scenario;
mod scripts;
mod tables;
mod trace;
mod traces;
mod userlaws;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::batch::Pool;
    #[pymodule_export]
    use super::behaviour::trace_behaviour;
    #[pymodule_export]
    use super::errors::{Cancelled, LawError, RunError, SpecError};
    #[pymodule_export]
    use super::experiment::{Experiment, ExperimentRun};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::live::Router;
    #[pymodule_export]
    use super::probe::probe_scenario;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::probe_host::probe_host;
    #[pymodule_export]
    use super::registry::{law_remedy, laws, profiles, schema};
    #[pymodule_export]
    use super::replay::replay_packets;
    #[pymodule_export]
    use super::scenario::{Cancel, Scenario, available_memory};
    #[pymodule_export]
    use super::scripts::play_scripts;
    #[pymodule_export]
    use super::trace::{TraceFailure, Traced, trace, trace_changes, trace_series};
    #[pymodule_export]
    use super::userlaws::{
        AckSample, CongestionEvent, Established, Link, Packet, Queue, Random, RateSample, Sent, Window,
    };

    /// Returns t with P(|T| ≤ t) = `level`, for Student's t distribution with `df` degrees of freedom. Raises ValueError for a
    /// level outside [0, 1), and for degrees of freedom that are not positive and below 10^9.
    #[pyfunction]
    fn student_t(level: f64, df: f64) -> PyResult<f64> {
        ecnlab_base::student_t(level, df).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
