//! Queues: a discipline with its keys, and inner queues.

use std::collections::BTreeMap;

use ecnlab_aqm as aqm;
use ecnlab_aqm::registry::{Params, ROWS, Row};
use serde::Deserialize;

use crate::de::{Keys, read, read_with};
use crate::diagnostic::{Diagnostic, suggest};
use crate::names::{NAMES, is_name};
use crate::paste;
use crate::path::Path;
use crate::source::Place;
use crate::tree::{Entry, MOST_LEVELS, Node, Table, Value};

/// The key whose tables are the inner queues.
const CLASS: &str = "class";

/// Keys that a queue keeps when an overriding table changes its discipline: buffer size, marking, recording.
const KEPT: [&str; 3] = ["limit", ECN, "quantiles"];
const ECN: &str = "ecn";

/// Returns the queue table `base` overridden by the keys of the table `over`. If `over` changes the discipline, only
/// the keys [`KEPT`] of `base` remain, `ecn` only if it has an effect.
pub(crate) fn merged(base: &Node, over: &Node) -> Node {
    let (Some(old), Some(new)) = (base.table(), over.table()) else { return over.clone() };
    let discipline = |table: &Table| table.get("discipline").map(|entry| entry.node.to_toml());
    let changed = discipline(new).filter(|name| Some(name) != discipline(old).as_ref());
    let uses_ecn =
        |name: &toml::Value| !ROWS.iter().any(|row| Some(row.facts.name) == name.as_str() && !row.facts.uses_ecn);
    let stays = |key: &str| changed.as_ref().is_none_or(|name| KEPT.contains(&key) && (key != ECN || uses_ecn(name)));
    let mut table = old.clone();
    table.retain(|key, _| stays(key));
    table.extend(new.clone());
    Node { value: Value::Table(table), place: over.place.clone() }
}

/// Reads a queue: some keys are common to all queues, others belong to its discipline.
pub(crate) fn read_queue(node: &Node, path: &Path) -> Result<aqm::Config, Vec<Diagnostic>> {
    read_beside(node, path, &[])
}

/// [`read_queue`] for a table that also has the keys `others`.
fn read_beside(node: &Node, path: &Path, others: &[&str]) -> Result<aqm::Config, Vec<Diagnostic>> {
    let row = discipline(node, path)?;
    let node = &with_defaults(node, row);
    let common_key = |key: &str| aqm::Common::KEYS.contains(&key);
    let inner_key = |key: &str| row.facts.inner && key == CLASS;
    let common = read::<aqm::Common>(&node.part(&common_key), path);
    let own = node.part(&|key| key != "discipline" && !common_key(key) && !inner_key(key));
    let inner: &[&str] = if row.facts.inner { &[CLASS] } else { &[] };
    let more = [&aqm::Common::KEYS[..], &["discipline"], inner, others].concat();
    let keys = Keys { more: &more, less: &[] };
    let params = match node.at(&["discipline"]).filter(|own| own.table().is_some()) {
        // The keys that name the law are in its own table: no other key is valid here.
        Some(named) => refuse_unknown(&own, path, &more).and_then(|()| {
            read_with(named, &path.key("discipline"), Keys::default(), |node| Params::deserialize(row.facts.name, node))
        }),
        None => read_with(&own, path, keys, |node| Params::deserialize(row.facts.name, node)),
    };
    let classes = if row.facts.inner { read_classes(node, &path.key(CLASS)) } else { Ok(BTreeMap::new()) };
    match (common, params, classes) {
        (Ok(common), Ok(params), Ok(classes)) => Ok(aqm::Config { params, common, classes }),
        (common, params, classes) => {
            Err([common.err(), params.err(), classes.err()].map(Option::unwrap_or_default).concat())
        }
    }
}

/// Rejects every unknown key of `node`.
fn refuse_unknown(node: &Node, path: &Path, valid: &[&str]) -> Result<(), Vec<Diagnostic>> {
    let unknown = |(key, entry): (&String, &Entry)| {
        let at = path.key(key);
        Diagnostic::new(&entry.key, &at, format!("unknown key `{at}`"), suggest(key, valid, "keys"))
    };
    let found: Vec<Diagnostic> = node.table().into_iter().flatten().map(unknown).collect();
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Returns the registry entry of a queue's discipline, given by its name or by a table with the key that names it.
fn discipline(node: &Node, path: &Path) -> Result<&'static Row, Vec<Diagnostic>> {
    if let Some(named) = node.at(&["discipline"]).filter(|named| named.table().is_some()) {
        if named.at(&["kind"]).is_some() {
            return Err(vec![refuse_kind(node, named, path)]);
        }
        let row = ROWS.iter().find(|row| row.facts.named_by.is_some_and(|key| named.at(&[key]).is_some()));
        return row.ok_or_else(|| {
            let (inside, keys) = (path.key("discipline"), ROWS.iter().filter_map(|row| row.facts.named_by));
            let help =
                format!("write a name such as \"red\", or a table with {}", keys.collect::<Vec<_>>().join(" or "));
            vec![Diagnostic::new(&named.place, &inside, format!("`{inside}` names no discipline"), help)]
        });
    }
    #[derive(Deserialize)]
    struct Discipline {
        discipline: String,
    }
    let read = |node: &Node| Discipline::deserialize(node).map(|d| d.discipline);
    let name = read_with(node, path, Keys::default(), read)?;
    ROWS.iter().find(|row| row.facts.name == name).ok_or_else(|| {
        let names: Vec<&str> = ROWS.iter().map(|row| row.facts.name).collect();
        let inside = path.key("discipline");
        let message = format!("`{inside}` cannot be `{name}`");
        let place = node.place_of(&Path::of(&["discipline"]));
        vec![Diagnostic::new(place, &inside, message, suggest(&name, &names, "values"))]
    })
}

/// Refuses `discipline = { kind = NAME, ... }`, as a window law is written, with the keys in their place.
fn refuse_kind(node: &Node, named: &Node, path: &Path) -> Diagnostic {
    let inside = path.key("discipline");
    let own = |key| if key == "kind" { "discipline" } else { key };
    let inner = named.table().into_iter().flatten().map(|(key, entry)| (own(key.as_str()), entry.node.to_toml()));
    let message =
        format!("`{inside}` is a table with `kind`: a discipline is a name, and its keys are keys of `{path}`");
    let outer = node.part(&|key| key != "discipline");
    Diagnostic::new(&named.place, &inside, message, "").with_table(paste::table(
        path,
        Some(&outer),
        &inner.collect::<Vec<_>>(),
    ))
}

/// Adds the discipline's defaults for missing keys.
fn with_defaults(node: &Node, row: &Row) -> Node {
    let text: String = row.facts.defaults.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    let defaults = Node::parse("built-in", &text).ok();
    let mut table = defaults.as_ref().and_then(Node::table).cloned().unwrap_or_default();
    table.extend(node.table().cloned().unwrap_or_default());
    Node { value: Value::Table(table), place: node.place.clone() }
}

/// Reads the inner queues with the packets assigned to each.
fn read_classes(node: &Node, path: &Path) -> Result<BTreeMap<String, aqm::Class>, Vec<Diagnostic>> {
    let empty = Table::new();
    let table = match node.at(&[CLASS]) {
        None => &empty,
        Some(classes) => classes.table().ok_or_else(|| {
            let message = format!("`{path}` is {}, not a table", classes.kind());
            vec![Diagnostic::new(&classes.place, path, message, format!("write tables [{path}.NAME], each a queue"))]
        })?,
    };
    let (mut classes, mut found) = (BTreeMap::new(), Vec::new());
    for (name, entry) in table {
        match read_class(name, &entry.node, &path.key(name), &entry.key) {
            Ok(class) => drop(classes.insert(name.clone(), class)),
            Err(wrong) => found.extend(wrong),
        }
    }
    if found.is_empty() { Ok(classes) } else { Err(found) }
}

fn read_class(name: &str, node: &Node, path: &Path, key: &Place) -> Result<aqm::Class, Vec<Diagnostic>> {
    if !is_name(name) {
        return Err(vec![Diagnostic::new(key, path, format!("`{name}` cannot be a name"), NAMES)]);
    }
    if path.0.len() > 2 + 2 * MOST_LEVELS {
        let message = format!("`{path}` is more than {MOST_LEVELS} levels of classes deep");
        return Err(vec![Diagnostic::new(key, path, message, format!("write at most {MOST_LEVELS} levels"))]);
    }
    if node.table().is_none() {
        let message = format!("`{path}` is {}, not a table", node.kind());
        return Err(vec![Diagnostic::new(&node.place, path, message, format!("write [{path}] with `discipline`"))]);
    }
    let member_key = |key: &str| aqm::Member::KEYS.contains(&key);
    let member = read::<aqm::Member>(&node.part(&member_key), path);
    let queue = read_beside(&node.part(&|key| !member_key(key)), path, &aqm::Member::KEYS);
    match (member, queue) {
        (Ok(member), Ok(queue)) => Ok(aqm::Class { member, queue }),
        (member, queue) => Err([member.err(), queue.err()].map(Option::unwrap_or_default).concat()),
    }
}
