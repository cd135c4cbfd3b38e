//! A file with laws: its text, and the description of errors in it.

use std::ffi::CString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::PySyntaxError;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyTraceback};

use crate::traces::special;

/// Maximum bytes of a file with laws.
const LARGEST: u64 = 1 << 20;

/// Maximum characters shown of an exception.
const MAX_MESSAGE: usize = 300;

/// The text of a file with laws.
#[derive(Debug)]
pub struct Source {
    /// Path of the file, as in messages and tracebacks.
    pub path: String,
    text: CString,
    /// SHA-256 of the text, in hexadecimal.
    pub sha256: String,
}

impl Source {
    /// Reads `path`. Returns the problem and a remedy if it is not a Python file.
    pub fn read(path: &Path) -> Result<Source, String> {
        let shown = path.to_string_lossy().into_owned();
        let kind = std::fs::metadata(path).map_err(|e| format!("cannot read `{shown}`: {e}; {FOLDER}"))?;
        if let Some(special) = special(kind.file_type()) {
            return Err(format!("cannot read `{shown}`: {special}, not a file; {FOLDER}"));
        }
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes));
        read.map_err(|e| format!("cannot read `{shown}`: {e}"))?;
        if bytes.len() as u64 > LARGEST {
            return Err(format!("`{shown}` has more than 1 MiB: no law is so long"));
        }
        let sha256 = ecnlab_scenario::hex_sha256(&bytes);
        let text = String::from_utf8(bytes).map_err(|_| format!("`{shown}` is not UTF-8"))?;
        let text = CString::new(text).map_err(|_| format!("`{shown}` has a NUL byte: it is not Python"))?;
        Ok(Source { path: shown, text, sha256 })
    }

    /// Returns the lines of the user's code in the traceback of an exception, in Python's format; empty if there are
    /// none.
    pub fn traceback(&self, py: Python<'_>, error: &PyErr) -> String {
        let lines = error.traceback(py).map(|traceback| {
            let lines = py.import("traceback")?.call_method1("format_tb", (traceback,))?;
            lines.extract::<Vec<String>>().map(|lines| lines.concat())
        });
        lines.and_then(Result::ok).unwrap_or_default()
    }

    /// Executes the file again and returns its class `name`.
    pub fn class<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let module = format!("ecnlab_law_{}", &self.sha256[..16]);
        // Otherwise the previous module would be reused with its state.
        py.import("sys")?.getattr("modules")?.call_method1("pop", (&module, py.None()))?;
        let (path, module) = (CString::new(self.path.as_str())?, CString::new(module)?);
        PyModule::from_code(py, &self.text, &path, &module)?.getattr_opt(name)
    }

    /// Returns the message of an exception with the line of this file where it was raised, or otherwise `otherwise`.
    pub fn message(&self, py: Python<'_>, error: &PyErr, otherwise: &str) -> String {
        let place = self.place(py, error).unwrap_or_else(|| otherwise.to_owned());
        let kind = error.get_type(py).name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
        let value = error.value(py);
        let raised =
            if error.is_instance_of::<PySyntaxError>(py) { value.getattr("msg") } else { Ok(value.clone().into_any()) };
        let raised = raised.and_then(|raised| raised.str()).map_or_else(|_| String::new(), |raised| raised.to_string());
        let line: String = raised.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_MESSAGE).collect();
        if line.is_empty() { format!("{place}: {kind}") } else { format!("{place}: {kind}: {line}") }
    }

    /// Returns the innermost line of this file in the traceback of an exception.
    fn place(&self, py: Python<'_>, error: &PyErr) -> Option<String> {
        if error.is_instance_of::<PySyntaxError>(py) {
            let line: u32 = error.value(py).getattr("lineno").ok()?.extract().ok()?;
            return Some(format!("{}:{line}", self.path));
        }
        let mut found = None;
        let mut next = error.traceback(py).map(Bound::into_any);
        while let Some(at) = next.as_ref().and_then(|at| at.cast::<PyTraceback>().ok()) {
            found = self.place_in(at).or(found);
            next = at.getattr("tb_next").ok();
        }
        found
    }

    fn place_in(&self, at: &Bound<'_, PyTraceback>) -> Option<String> {
        let code = at.getattr("tb_frame").and_then(|frame| frame.getattr("f_code")).ok()?;
        let file: String = code.getattr("co_filename").ok()?.extract().ok()?;
        let line: u32 = at.getattr("tb_lineno").ok()?.extract().ok()?;
        let function: String = code.getattr("co_qualname").ok()?.extract().ok()?;
        let place = format!("{}:{line}", self.path);
        (file == self.path).then(|| if function == "<module>" { place } else { format!("{place}, in {function}") })
    }
}

/// Runs `work`, which executes code of a file with laws, under the guards of `ecnlab.base.lawcode`.
pub fn in_scope<T>(work: impl FnOnce(Python<'_>) -> Result<T, String>) -> Result<T, String> {
    Python::attach(|py| {
        let failed = |error: PyErr| error.to_string();
        let guards = py.import("ecnlab.base.lawcode").map_err(failed)?;
        guards.call_method0("enter").map_err(failed)?;
        let done = work(py);
        guards.call_method0("leave").map_err(failed)?;
        done
    })
}

/// Possible cause of a missing file.
const FOLDER: &str = "the path starts at the folder of the scenario";

/// A law used by a scenario.
#[derive(Debug)]
pub struct Law {
    /// Its file.
    pub source: Arc<Source>,
    /// Its class.
    pub class: String,
    /// The scenario that uses it, and the key.
    pub requested: (String, String),
}

/// Returns the path of the file `name` in the scenario `scenario`.
pub fn path_of(scenario: &str, name: &str) -> PathBuf {
    Path::new(scenario).parent().unwrap_or(Path::new("")).join(name)
}
