//! Findings: everything wrong with a scenario, each at the place of its key.

use crate::diagnostic::{Diagnostic, suggest};
use crate::path::Path;
use crate::tree::Node;

/// Collects findings about a scenario; takes the place of each from the scenario's tree.
pub(crate) struct Findings<'a> {
    tree: &'a Node,
    found: Vec<Diagnostic>,
}

impl Findings<'_> {
    /// No findings about the scenario of `tree`.
    pub fn of(tree: &Node) -> Findings<'_> {
        Findings { tree, found: Vec::new() }
    }

    /// Something wrong with the value at `path`.
    pub fn value(&mut self, path: &Path, message: impl Into<String>, help: impl Into<String>) {
        self.found.push(Diagnostic::new(self.tree.place_of(path), path, message, help));
    }

    /// Something wrong with what `path` names as a whole.
    pub fn key(&mut self, path: &Path, message: impl Into<String>, help: impl Into<String>) {
        self.found.push(Diagnostic::new(self.tree.key_of(path), path, message, help));
    }

    /// Something wrong with the value at `path`, unless `holds`.
    pub fn unless(&mut self, holds: bool, path: &Path, message: impl Into<String>, help: impl Into<String>) {
        if !holds {
            self.value(path, message, help);
        }
    }

    /// Something wrong with the value at `path` if the `kind` of thing that it names, `name`, is not among `all`.
    pub fn known<S: AsRef<str>>(&mut self, path: &Path, kind: &str, name: &str, all: &[S]) {
        if !all.iter().any(|s| s.as_ref() == name) {
            self.value(path, format!("`{path}`: there is no {kind} `{name}`"), suggest(name, all, &format!("{kind}s")));
        }
    }

    /// Whether nothing has been found.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// `value`, unless something has been found.
    ///
    /// # Errors
    /// The findings, in the order in which they were found.
    pub fn into_result<T>(self, value: T) -> Result<T, Vec<Diagnostic>> {
        if self.found.is_empty() { Ok(value) } else { Err(self.found) }
    }
}
