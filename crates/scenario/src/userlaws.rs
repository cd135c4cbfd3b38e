//! Laws that stand in files of the user's own: found, and put where the scenario names them.

use std::fmt;
use std::sync::Arc;

use ecnlab_base::UserLaw;
use {ecnlab_aqm as aqm, ecnlab_tcp as tcp};

use crate::diagnostic::Diagnostic;
use crate::path::Path;
use crate::tables::Tables;
use crate::tree::Node;

/// A law that a scenario asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked<'a> {
    /// The name of the scenario's file; a relative `file` begins at its folder.
    pub scenario: &'a str,
    /// The dotted key that names the law.
    pub key: &'a str,
    /// The file of the law.
    pub file: &'a str,
    /// The class in it.
    pub class: &'a str,
}

/// A law found, and the SHA-256 of its file in hexadecimal; or what is wrong and what would do, `what; remedy`.
pub type Found<S> = Result<(Arc<S>, String), String>;

/// The environment variable that states the memory available.
pub const MEMORY_LIMIT: &str = "ECNLAB_MAX_MEMORY";

/// The memory that a process may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Available {
    /// In bytes.
    pub bytes: u64,
    /// Whether the user states it, in [`MEMORY_LIMIT`].
    pub stated: bool,
}

/// The surroundings of a scenario: finds laws in files, and knows the memory there is. Without one laws stay names, which no
/// engine runs, and no run is too large.
pub trait Supplier: fmt::Debug + Send + Sync {
    /// A window law.
    fn window(&self, asked: Asked<'_>) -> Found<dyn tcp::cc::Supply>;
    /// A law over one FIFO.
    fn queue(&self, asked: Asked<'_>) -> Found<dyn aqm::userlaw::Supply>;
    /// The memory that a run may take, or what is wrong with the limit that the user states, `what; remedy`. `None`: any.
    fn memory(&self) -> Result<Option<Available>, String> {
        Ok(None)
    }
}

/// Puts the laws that `supplier` finds into `tables`.
pub(crate) fn supply(tables: &mut Tables, tree: &Node, supplier: &dyn Supplier) -> Result<(), Vec<Diagnostic>> {
    let mut found = Vec::new();
    for (name, tcp) in &mut tables.tcps {
        if tcp.config.congestion.user_law().is_none() {
            continue;
        }
        let at = Path::of(&["tcp", name, "congestion", "python"]);
        let law = Arc::make_mut(&mut tcp.config).congestion.user_law_mut();
        found.extend(law.and_then(|law| put(law, at, tree, |asked| supplier.window(asked))));
    }
    for (name, queue) in &mut tables.queues {
        queue.supply(&mut |inside, law| {
            let way = ["queue", name].into_iter().chain(inside.split('.').filter(|part| !part.is_empty()));
            let table = Path::of(&way.collect::<Vec<_>>());
            let short = table.key("discipline");
            let is_table = tree.get(&short).is_some_and(|node| node.table().is_some());
            let at = if is_table { short.key("python") } else { table.key("python") };
            found.extend(put(law, at, tree, |asked| supplier.queue(asked)));
        });
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Supplies one law, or says why it cannot be had. What names no file is refused with the other values.
fn put<S: ?Sized>(
    law: &mut UserLaw<S>,
    at: Path,
    tree: &Node,
    find: impl FnOnce(Asked<'_>) -> Found<S>,
) -> Option<Diagnostic> {
    let (file, class) = law.file_and_class().map(|(file, class)| (file.to_owned(), class.to_owned()))?;
    let key = at.to_string();
    let asked = Asked { scenario: tree.place.file(), key: &key, file: &file, class: &class };
    let supplied = find(asked).and_then(|(object, sha256)| law.supply(object, sha256));
    supplied.err().map(|wrong| {
        let (message, help) = wrong.split_once("; ").unwrap_or((&wrong, ""));
        Diagnostic::new(tree.place_of(&at), &at, format!("`{at}`: {message}"), help)
    })
}
