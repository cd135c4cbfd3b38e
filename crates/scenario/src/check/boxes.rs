//! Checks of `[box.NAME]` and of the boxes named by a link.

use crate::diagnostic::suggest;
use crate::file::Link;
use crate::findings::Findings;
use crate::path::Path;
use crate::tables::Tables;

/// Checks that every box has an effect and valid values.
pub(crate) fn check(tables: &Tables, found: &mut Findings<'_>) {
    for (name, hostile) in &tables.boxes {
        let path = Path::of(&["box", name]);
        let share = path.key("share");
        let message = format!("`{share}` is {}, not a share", hostile.share);
        found.unless((0.0..=1.0).contains(&hostile.share), &share, message, "write a number from 0 to 1");
        for (key, came, leaves) in hostile.rewrite.pairs() {
            let at = path.key("rewrite").key(key);
            found.unless(
                came != leaves,
                &at,
                format!("`{at}` changes nothing"),
                "write another codepoint, or leave it out",
            );
        }
        for (i, flag) in hostile.clear.iter().enumerate() {
            let at = path.key("clear").index(i);
            found.unless(
                !hostile.clear[..i].contains(flag),
                &at,
                format!("`{at}` is in this list already"),
                "leave it out",
            );
        }
        for (i, codepoint) in hostile.drop.iter().enumerate() {
            let at = path.key("drop").index(i);
            let message = format!("`{at}` is in this list already");
            found.unless(!hostile.drop[..i].contains(codepoint), &at, message, "leave it out");
        }
        let at = path.key("start");
        let message = format!("`{at}`, {}, is not before the end of the run", hostile.start);
        found.unless(hostile.start < tables.head.duration, &at, message, "write an earlier start");
        let drops = !hostile.drop.is_empty() || hostile.longest.is_some();
        let idle = !hostile.reads_tcp() && !drops && hostile.rewrite.pairs().next().is_none();
        if idle {
            found.key(
                &path,
                format!("`{path}` has no action"),
                "give it syn, syn_ack, clear, rewrite, drop or longest",
            );
        }
    }
}

/// Checks that the boxes named by `link`, at `path`, exist.
pub(crate) fn check_names(link: &Link, path: &Path, tables: &Tables, found: &mut Findings<'_>) {
    let names: Vec<&String> = tables.boxes.keys().collect();
    for (i, name) in link.boxes.iter().enumerate() {
        let at = path.key("boxes").index(i);
        if !tables.boxes.contains_key(name) {
            found.value(&at, format!("`{at}`: there is no box `{name}`"), suggest(name, &names, "boxes"));
        }
        let once = !link.boxes[..i].contains(name);
        found.unless(once, &at, format!("`{at}`: `{name}` is in this list already"), "name each box once");
    }
}
