//! Traces of rates and delays in files: read and inserted where the scenario names them.

use ecnlab_base::level::Level;
use ecnlab_base::traces::Trace;

use crate::diagnostic::Diagnostic;
use crate::file::Link;
use crate::path::Path;
use crate::tables::Tables;
use crate::tree::Node;
use crate::userlaws::Supplier;

/// Inserts the traces that `supplier` reads into `tables`.
pub(crate) fn supply(tables: &mut Tables, tree: &Node, supplier: &dyn Supplier) -> Result<(), Vec<Diagnostic>> {
    let mut found = Vec::new();
    for (name, duplex) in &mut tables.links {
        let path = Path::of(&["link", name]);
        found.extend(of_link(&mut duplex.forward, &path, tree, supplier));
        found.extend(duplex.reverse.iter_mut().flat_map(|link| of_link(link, &path.key("reverse"), tree, supplier)));
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

fn of_link(link: &mut Link, path: &Path, tree: &Node, supplier: &dyn Supplier) -> Vec<Diagnostic> {
    let rate = link.rate.varying_mut().and_then(|rate| rate.trace_mut());
    let rate = rate.and_then(|trace| put(trace, path.key("rate"), tree, supplier));
    let delay = link.delay.varying_mut().and_then(|delay| delay.trace_mut());
    let delay = delay.and_then(|trace| put(trace, path.key("delay"), tree, supplier));
    rate.into_iter().chain(delay).collect()
}

/// Reads one trace, or reports why it cannot be read: not if the key is that of the forward direction, which reports it.
fn put<T: Level>(trace: &mut Trace<T>, at: Path, tree: &Node, supplier: &dyn Supplier) -> Option<Diagnostic> {
    let is_own = tree.get(&at).is_some();
    let at = at.key(trace.key());
    let file = trace.file().to_owned();
    let wrong = match supplier.trace(tree.place.file(), &file) {
        Ok((text, sha256)) => trace.supply(&text, sha256).err().map(|(wrong, line)| match line {
            Some(line) => format!("{file}:{line}: {wrong}"),
            None => format!("{file}: {wrong}"),
        })?,
        Err(wrong) => wrong,
    };
    let (message, help) = wrong.split_once("; ").unwrap_or((&wrong, ""));
    is_own.then(|| Diagnostic::new(tree.place_of(&at), &at, format!("`{at}`: {message}"), help))
}
