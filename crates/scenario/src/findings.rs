//! Collection of all errors of a scenario, each with the location of its key.

use crate::diagnostic::{Diagnostic, suggest};
use crate::path::Path;
use crate::tree::Node;

/// Collects errors of a scenario and locates them in the scenario's tree.
pub(crate) struct Findings<'a> {
    tree: &'a Node,
    found: Vec<Diagnostic>,
}

impl Findings<'_> {
    /// Starts without errors for the scenario `tree`.
    pub fn of(tree: &Node) -> Findings<'_> {
        Findings { tree, found: Vec::new() }
    }

    /// Adds an error about the value at `path`.
    pub fn value(&mut self, path: &Path, message: impl Into<String>, help: impl Into<String>) {
        self.found.push(Diagnostic::new(self.tree.place_of(path), path, message, help));
    }

    /// Adds an error about the table or key at `path`.
    pub fn key(&mut self, path: &Path, message: impl Into<String>, help: impl Into<String>) {
        self.found.push(Diagnostic::new(self.tree.key_of(path), path, message, help));
    }

    /// Adds an error about the value at `path`, unless `holds`.
    pub fn unless(&mut self, holds: bool, path: &Path, message: impl Into<String>, help: impl Into<String>) {
        if !holds {
            self.value(path, message, help);
        }
    }

    /// Adds an error about the value at `path` if `name`, an object of kind `kind`, is not among `all`.
    pub fn known<S: AsRef<str>>(&mut self, path: &Path, kind: &str, name: &str, all: &[S]) {
        if !all.iter().any(|s| s.as_ref() == name) {
            self.value(path, format!("`{path}`: there is no {kind} `{name}`"), suggest(name, all, &format!("{kind}s")));
        }
    }

    /// Adds the errors of one table: paths of values, and messages. The last one in the text has the `table` that is
    /// accepted, which may be empty.
    pub fn table(&mut self, problems: &[(Path, String)], table: String) {
        let new = |(path, message): &(Path, String)| Diagnostic::new(self.tree.place_of(path), path, message, "");
        let mut found: Vec<Diagnostic> = problems.iter().map(new).collect();
        let last = found.iter_mut().max_by_key(|one| (one.line, one.column, one.message.clone()));
        if let Some(last) = last {
            last.table = table;
        }
        self.found.extend(found);
    }

    /// Returns the value at `path` of the scenario.
    pub fn node(&self, path: &Path) -> Option<&Node> {
        self.tree.get(path)
    }

    /// Returns whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Returns `value` if there are no errors.
    ///
    /// # Errors
    /// The errors, in the order in which they were found.
    pub fn into_result<T>(self, value: T) -> Result<T, Vec<Diagnostic>> {
        if self.found.is_empty() { Ok(value) } else { Err(self.found) }
    }
}
