//! `[report]` of an experiment: the top of its summary and page. It changes no run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use crate::de::read;
use crate::diagnostic::{Diagnostic, suggest};
use crate::path::Path;
use crate::tree::{Node, Value};

/// The top of the summary and the page of an experiment.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReportFile {
    /// The metric of the summary's sentence. Default: the one with the largest effect in units of its standard error.
    primary: Option<String>,
    /// The arm with which the others are compared. Default: the first of the file.
    reference: Option<String>,
    /// By metric, the smallest difference that matters: `{ p99 = "1 ms", fairness = 0.01 }`. Default: any.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Json>")]
    smallest: BTreeMap<String, serde::de::IgnoredAny>,
}

/// Returns `[report]` of the experiment `tree` with the order of its arms and metrics in the file, if its names exist.
pub(crate) fn read_report(tree: &Node) -> Result<Json, Vec<Diagnostic>> {
    let root = Path::of(&["report"]);
    let (arms, metrics) = (in_order(tree, "arm"), in_order(tree, "metrics"));
    let file = match tree.get(&root) {
        Some(node) => read::<ReportFile>(node, &root)?,
        None => ReportFile::default(),
    };
    let mut found = Vec::new();
    let mut check = |at: Path, name: &str, known: &[String], what: &str| {
        if !known.iter().any(|one| one == name) {
            let message = format!("`{at}`: there is no {what} `{name}`");
            found.push(Diagnostic::new(tree.place_of(&at), &at, message, suggest(name, known, &format!("{what}s"))));
        }
    };
    file.primary.iter().for_each(|name| check(root.key("primary"), name, &metrics, "metric"));
    file.reference.iter().for_each(|name| check(root.key("reference"), name, &arms, "arm"));
    file.smallest.keys().for_each(|name| check(root.key("smallest").key(name), name, &metrics, "metric"));
    let mut smallest = Map::new();
    for name in file.smallest.keys() {
        let at = root.key("smallest").key(name);
        let Some(node) = tree.get(&at) else { continue };
        match size(node) {
            Some(size) => drop(smallest.insert(name.clone(), size)),
            None => {
                let message = format!("`{at}` is {}, not a number or a quantity", node.kind());
                found.push(Diagnostic::new(&node.place, &at, message, "write one above 0, such as 0.01 or \"1 ms\""));
            }
        }
    }
    let report = json!({ "primary": file.primary, "reference": file.reference, "smallest": smallest,
                         "arms": arms, "metrics": metrics });
    if found.is_empty() { Ok(report) } else { Err(found) }
}

/// The names of the tables in `[key]`, in the order of the file.
fn in_order(tree: &Node, key: &str) -> Vec<String> {
    let Some(table) = tree.get(&Path::of(&[key])).and_then(Node::table) else { return Vec::new() };
    let mut names: Vec<_> = table.iter().collect();
    names.sort_by_key(|(_, entry)| entry.key.start());
    names.into_iter().map(|(name, _)| name.clone()).collect()
}

fn size(node: &Node) -> Option<Json> {
    match &node.value {
        Value::Float(x) if *x > 0.0 => Some(json!(x)),
        Value::Integer(x) if *x > 0 => Some(json!(x)),
        Value::Text(text) => Some(json!(text)),
        _ => None,
    }
}
