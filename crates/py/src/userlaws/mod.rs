//! Laws in Python files: loaded for a scenario, checked, and called in its runs.

mod file;
mod methods;
mod queue;
mod run;
mod views;
mod window;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use ecnlab_scenario::{Available, Found, Requested, Supplier};
use pyo3::prelude::*;

use crate::interrupt::{is_interrupt, is_interrupted, keep_interrupt};
use crate::{memory, traces};
use file::{Law, Source, in_scope, path_of};
use methods::Method;
pub use run::{in_run, unless_failed};
pub use views::{AckSample, CongestionEvent, Established, Link, Packet, Queue, Random, RateSample, Sent, Window};

/// Environment variable that disables user-defined laws.
const SWITCH: &str = "ECNLAB_LAWS";

/// Rejects the law in `path` if the environment disables it.
fn refuse_if_off(path: &std::path::Path) -> Result<(), String> {
    let requested = std::env::var_os(SWITCH).unwrap_or_default();
    match requested.to_str() {
        Some("" | "on") => Ok(()),
        Some("off") => Err(format!(
            "`{}` is not executed because of `--no-python` or {SWITCH}=off; read the file, and omit the option or variable if you trust it",
            path.display()
        )),
        _ => Err(format!("the environment variable {SWITCH} is {requested:?}; write `on` or `off`")),
    }
}

/// Placeholder message until the interrupt is raised in its place.
const INTERRUPTED: &str = "interrupted";

/// Loads laws from files and reads each file once: all runs of an experiment have the same law.
#[derive(Debug, Default)]
pub struct Files {
    sources: Mutex<HashMap<PathBuf, Arc<Source>>>,
}

impl Supplier for Files {
    fn window(&self, requested: Requested<'_>) -> Found<dyn ecnlab_tcp::cc::Supply> {
        let (law, ()) = self.law(requested, window::METHODS, window::check)?;
        let sha256 = law.source.sha256.clone();
        Ok((Arc::new(window::Maker(law)), sha256))
    }

    fn queue(&self, requested: Requested<'_>) -> Found<dyn ecnlab_aqm::userlaw::Supply> {
        let (law, tick) = self.law(requested, queue::METHODS, queue::check)?;
        let sha256 = law.source.sha256.clone();
        Ok((Arc::new(queue::Maker { law, tick }), sha256))
    }

    fn trace(&self, scenario: &str, file: &str) -> Result<(String, String), String> {
        traces::read(&path_of(scenario, file))
    }

    fn memory(&self) -> Result<Option<Available>, String> {
        memory::available()
    }
}

impl Files {
    /// Returns the requested law, whose class has passed `check`, with the result of the check.
    fn law<T>(
        &self,
        requested: Requested<'_>,
        methods: &[Method],
        check: impl FnOnce(&Bound<'_, PyAny>) -> Result<T, String>,
    ) -> Result<(Arc<Law>, T), String> {
        if is_interrupted() {
            return Err(INTERRUPTED.to_owned());
        }
        let path = path_of(requested.scenario, requested.file);
        refuse_if_off(&path)?;
        let source = self.source(path)?;
        let found = in_scope(|py| {
            let refusal = |error: PyErr| {
                if is_interrupt(py, &error) {
                    keep_interrupt(error);
                    return INTERRUPTED.to_owned();
                }
                source.message(py, &error, &source.path)
            };
            let class = source.class(py, requested.class).map_err(refusal)?;
            let class = class.filter(|class| class.is_instance_of::<pyo3::types::PyType>());
            let class = class.ok_or_else(|| format!("`{}` has no class `{}`", source.path, requested.class))?;
            let found = check(&class).map_err(|wrong| format!("{}: {}: {wrong}", source.path, requested.class))?;
            // Errors of its constructor are reported before the run.
            let object = class.call0().map_err(refusal)?;
            methods::check_parameters(&object, methods)?;
            Ok::<T, String>(found)
        })?;
        let requested_by = (requested.scenario.to_owned(), requested.key.to_owned());
        Ok((Arc::new(Law { source, class: requested.class.to_owned(), requested: requested_by }), found))
    }

    fn source(&self, path: PathBuf) -> Result<Arc<Source>, String> {
        let lock = || self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&path).cloned();
        if let Some(source) = known {
            return Ok(source);
        }
        let read = Arc::new(Source::read(&path)?);
        Ok(lock().entry(path).or_insert(read).clone())
    }
}
