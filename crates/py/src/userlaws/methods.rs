//! The methods of a user's object: the available ones, and their calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::file::Law;
use super::run;
use crate::errors::LawError;
use crate::interrupt::is_interrupt;

/// A method that a law may define: its name and arguments.
pub type Method = (&'static str, &'static str);

/// Module of the base classes, whose own methods do nothing.
const BASES: &str = "ecnlab.userlaws";

/// Rejects a class with a method that the base class `base` does not have: returns the problem.
pub fn check(class: &Bound<'_, PyAny>, base: &str, known: &[Method]) -> Result<(), String> {
    let py = class.py();
    let is_known = |name: &str| known.iter().any(|(method, _)| *method == name);
    for name in
        class.dir().map(|names| names.iter().map(|name| name.to_string()).collect::<Vec<_>>()).unwrap_or_default()
    {
        if name.starts_with("on_") && !is_known(&name) {
            let all: Vec<&str> = known.iter().map(|(method, _)| *method).collect();
            return Err(format!("`{name}` is not a method of a {base}; there are {}", all.join(", ")));
        }
    }
    for (name, arguments) in known {
        let method = defined(py, class, base, name).map_err(|e| e.to_string())?;
        if method.is_some_and(|method| !method.is_callable()) {
            return Err(format!("`{name}` is not a method; write `def {name}({})`", with_self(arguments)));
        }
    }
    Ok(())
}

fn with_self(arguments: &str) -> String {
    if arguments.is_empty() { "self".to_owned() } else { format!("self, {arguments}") }
}

/// Rejects a class that defines none of `methods`.
pub fn require(class: &Bound<'_, PyAny>, base: &str, methods: &[Method]) -> Result<(), String> {
    let py = class.py();
    let has = |(name, _): &Method| defined(py, class, base, name).is_ok_and(|method| method.is_some());
    if methods.iter().any(has) {
        return Ok(());
    }
    let wanted: Vec<String> =
        methods.iter().map(|(name, arguments)| format!("`{name}({})`", with_self(arguments))).collect();
    Err(format!("the class has no method {}", wanted.join(" or ")))
}

/// Rejects an object whose methods cannot be called with the arguments of `known`: returns the location and a remedy.
pub fn check_parameters(object: &Bound<'_, PyAny>, known: &[Method]) -> Result<(), String> {
    let wrong = |(name, arguments): &Method| -> PyResult<Option<String>> {
        let guards = object.py().import("ecnlab.base.lawcode")?;
        guards.call_method1("wrong_parameters", (object, *name, *arguments))?.extract()
    };
    for method in known {
        if let Some(wrong) = wrong(method).map_err(|error| error.to_string())? {
            return Err(wrong);
        }
    }
    Ok(())
}

/// Returns the class's attribute with a name, unless it is the base class's own.
fn defined<'py>(
    py: Python<'py>,
    class: &Bound<'py, PyAny>,
    base: &str,
    name: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let own = class.getattr_opt(name)?;
    let theirs = py.import(BASES)?.getattr(base)?.getattr_opt(name)?;
    Ok(own.filter(|own| !theirs.is_some_and(|theirs| own.is(&theirs))))
}

/// An object of a law, and which methods it has.
#[derive(Debug)]
pub struct Object {
    law: Arc<Law>,
    methods: Vec<Option<Py<PyAny>>>,
    known: &'static [Method],
    /// Set to request that the run stops.
    stop: Arc<AtomicBool>,
}

impl Object {
    /// Creates an object of `law` in the run of this thread. If it cannot be created, the run fails.
    pub fn new(py: Python<'_>, law: &Arc<Law>, base: &str, known: &'static [Method]) -> Object {
        let methods = methods(py, law, base, known).unwrap_or_else(|error| {
            fail(py, law, &error, &law.source.path);
            known.iter().map(|_| None).collect()
        });
        Object { law: law.clone(), methods, known, stop: run::stop() }
    }

    /// Returns whether it has the method at `index` and the run continues: it has not failed and is not requested to
    /// stop.
    ///
    /// Without calls to Python the engine soon checks the flag itself.
    pub fn has(&self, index: usize) -> bool {
        self.methods[index].is_some() && !run::has_failed() && !self.stop.load(Ordering::Relaxed)
    }

    /// Calls the method at `index`, which must exist; returns nothing if the run fails.
    pub fn call<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        arguments: PyResult<Bound<'py, PyTuple>>,
    ) -> Option<Bound<'py, PyAny>> {
        let method = self.methods[index].as_ref()?.bind(py);
        let returned = arguments.and_then(|arguments| method.call1(arguments));
        returned.map_err(|error| fail(py, &self.law, &error, &self.place(py, index))).ok()
    }

    /// [`Object::call`] for a method that must return None.
    pub fn notify<'py>(&self, py: Python<'py>, index: usize, arguments: PyResult<Bound<'py, PyTuple>>) {
        if let Some(returned) = self.call(py, index, arguments)
            && !returned.is_none()
        {
            self.refuse(&returned, index, "None");
        }
    }

    /// Fails the run: the method at `index` returned an invalid value.
    pub fn refuse(&self, returned: &Bound<'_, PyAny>, index: usize, wanted: &str) {
        let py = returned.py();
        let shown = returned.repr().map_or_else(|_| "something".to_owned(), |shown| shown.to_string());
        let shown: String = shown.chars().take(80).collect();
        let place = self.place(py, index);
        raise(py, &self.law, &format!("{place}: it returned {shown}, not {wanted}"), "");
    }

    /// Returns the line at which the method at `index` starts.
    fn place(&self, py: Python<'_>, index: usize) -> String {
        let code = self.methods[index].as_ref().and_then(|method| method.bind(py).getattr("__code__").ok());
        let line =
            code.and_then(|code| code.getattr("co_firstlineno").ok()).and_then(|line| line.extract::<u32>().ok());
        let path = &self.law.source.path;
        let place = line.map_or_else(|| path.clone(), |line| format!("{path}:{line}"));
        format!("{place}, in {}.{}", self.law.class, self.known[index].0)
    }
}

fn methods(py: Python<'_>, law: &Arc<Law>, base: &str, known: &[Method]) -> PyResult<Vec<Option<Py<PyAny>>>> {
    let class = run::class(py, law)?;
    let object = class.call0()?;
    let method = |(name, _): &Method| match defined(py, &class, base, name)? {
        Some(_) => object.getattr(*name).map(|method| Some(method.unbind())),
        None => Ok(None),
    };
    known.iter().map(method).collect()
}

fn fail(py: Python<'_>, law: &Law, error: &PyErr, otherwise: &str) {
    if is_interrupt(py, error) {
        return run::fail(error.clone_ref(py));
    }
    raise(py, law, &law.source.message(py, error, otherwise), &law.source.traceback(py, error));
}

fn raise(py: Python<'_>, law: &Law, what: &str, traceback: &str) {
    let (scenario, key) = &law.requested;
    let error = LawError::new_err(format!("{scenario}: `{key}`: {what}"));
    let shown = error.value(py).setattr("traceback", traceback);
    run::fail(shown.err().unwrap_or(error));
}
