//! Checks of `[capture.NAME]`.

use crate::diagnostic::suggest;
use crate::file::Capture;
use crate::findings::Findings;
use crate::layout::Layout;
use crate::names::{Reference, is_called};
use crate::path::Path;
use crate::tables::Tables;

/// Maximum length of an IP packet in bytes.
const MOST_SNAP: u64 = 65_535;

/// Checks that the links and nodes named by captures exist.
pub(crate) fn check(tables: &Tables, layout: &Layout, found: &mut Findings<'_>) {
    for (name, capture) in &tables.captures {
        let path = Path::of(&["capture", name]);
        check_place(capture, &path, layout, found);
        let snap = path.key("snap");
        if !(1..=MOST_SNAP).contains(&capture.snap.0) {
            let message = format!("`{snap}` is {}", capture.snap);
            found.value(&snap, message, format!("write 1 B to {MOST_SNAP} B; all headers fit in \"128 B\""));
        }
    }
}

fn check_place(capture: &Capture, path: &Path, layout: &Layout, found: &mut Findings<'_>) {
    match (&capture.link, &capture.node) {
        (Some(link), None) => {
            if !layout.links.iter().any(|l| is_called(&l.name, link)) {
                let known: Vec<&String> = layout.links.iter().map(|l| &l.table).collect();
                let at = path.key("link");
                found.value(&at, format!("`{at}`: there is no link `{link}`"), suggest(link, &known, "links"));
            }
        }
        (None, Some(node)) => {
            if !layout.nodes.iter().any(|n| is_called(n, node)) {
                let known: Vec<&str> = layout.nodes.iter().map(|n| Reference::parse(n).name).collect();
                let at = path.key("node");
                found.value(&at, format!("`{at}`: there is no node `{node}`"), suggest(node, &known, "nodes"));
            }
            if capture.end.is_some() {
                let at = path.key("end");
                found.key(&at, format!("`{at}` is for a link"), "a node has all its interfaces captured");
            }
        }
        _ => found.key(path, format!("`{path}` needs a place"), "give it either `link` or `node`"),
    }
}
