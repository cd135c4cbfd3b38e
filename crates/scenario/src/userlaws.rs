//! User-defined laws in files: loaded and inserted where the scenario names them.

use std::fmt;
use std::sync::Arc;

use ecnlab_base::UserLaw;
use {ecnlab_aqm as aqm, ecnlab_tcp as tcp};

use crate::diagnostic::Diagnostic;
use crate::path::Path;
use crate::tables::Tables;
use crate::tree::Node;

/// A law requested by a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requested<'a> {
    /// Name of the scenario's file; a relative `file` starts at its folder.
    pub scenario: &'a str,
    /// The dotted key that names the law.
    pub key: &'a str,
    /// The file of the law.
    pub file: &'a str,
    /// Its class in the file.
    pub class: &'a str,
}

/// A loaded law and the SHA-256 of its file in hexadecimal; or an error message, `problem; remedy`.
pub type Found<S> = Result<(Arc<S>, String), String>;

/// Environment variable with the memory limit.
pub const MEMORY_LIMIT: &str = "ECNLAB_MAX_MEMORY";

/// Memory available to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Available {
    /// In bytes.
    pub bytes: u64,
    /// What limits it.
    pub limit: Limit,
}

/// What limits the memory of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The user, in [`MEMORY_LIMIT`].
    Stated,
    /// What the machine has.
    Machine,
    /// What a page in a browser can have.
    Page,
}

/// Environment of a scenario: loads laws and traces from files, and knows the available memory. Without a supplier laws and traces
/// remain names, which no engine runs, and memory is unlimited.
pub trait Supplier: fmt::Debug + Send + Sync {
    /// Loads a window law.
    fn window(&self, requested: Requested<'_>) -> Found<dyn tcp::cc::Supply>;
    /// Loads a law for one FIFO.
    fn queue(&self, requested: Requested<'_>) -> Found<dyn aqm::userlaw::Supply>;
    /// Reads the trace `file`, which the scenario in the file `scenario` names: its text and the SHA-256 of that in
    /// hexadecimal; or an error message, `problem; remedy`.
    fn trace(&self, _scenario: &str, file: &str) -> Result<(String, String), String> {
        Err(format!("the file `{file}` cannot be read here; write the steps in the scenario"))
    }
    /// Returns the memory that a run may use, or an error in the user's limit, `problem; remedy`. `None` is unlimited.
    fn memory(&self) -> Result<Option<Available>, String> {
        Ok(None)
    }
}

/// Inserts the laws that `supplier` loads into `tables`.
pub(crate) fn supply(tables: &mut Tables, tree: &Node, supplier: &dyn Supplier) -> Result<(), Vec<Diagnostic>> {
    let mut found = Vec::new();
    for (name, tcp) in &mut tables.tcps {
        if tcp.config.congestion.user_law().is_none() {
            continue;
        }
        let at = Path::of(&["tcp", name, "congestion", "python"]);
        let law = Arc::make_mut(&mut tcp.config).congestion.user_law_mut();
        found.extend(law.and_then(|law| put(law, at, tree, |requested| supplier.window(requested))));
    }
    for (name, queue) in &mut tables.queues {
        Arc::make_mut(queue).supply(&mut |inside, law| {
            let way = ["queue", name].into_iter().chain(inside.split('.').filter(|part| !part.is_empty()));
            let table = Path::of(&way.collect::<Vec<_>>());
            let short = table.key("discipline");
            let is_table = tree.get(&short).is_some_and(|node| node.table().is_some());
            let at = if is_table { short.key("python") } else { table.key("python") };
            found.extend(put(law, at, tree, |requested| supplier.queue(requested)));
        });
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Loads one law, or reports why it cannot be loaded. A value without a file is checked with the other values.
fn put<S: ?Sized>(
    law: &mut UserLaw<S>,
    at: Path,
    tree: &Node,
    find: impl FnOnce(Requested<'_>) -> Found<S>,
) -> Option<Diagnostic> {
    let (file, class) = law.file_and_class().map(|(file, class)| (file.to_owned(), class.to_owned()))?;
    let key = at.to_string();
    let requested = Requested { scenario: tree.place.file(), key: &key, file: &file, class: &class };
    let supplied = find(requested).and_then(|(object, sha256)| law.supply(object, sha256));
    supplied.err().map(|wrong| {
        let (message, help) = wrong.split_once("; ").unwrap_or((&wrong, ""));
        Diagnostic::new(tree.place_of(&at), &at, format!("`{at}`: {message}"), help)
    })
}
