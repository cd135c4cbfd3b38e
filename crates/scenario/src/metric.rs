//! `[metrics]` of an experiment: checks their structure; Python evaluates them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::de::read;
use crate::diagnostic::{Diagnostic, Diagnostics, suggest};
use crate::path::Path;
use crate::tree::{Node, Value};

/// A number computed per run: from a table, or from two other metrics.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Metric {
    /// The table of the run.
    table: Option<String>,
    /// The column of that table; "count" needs none.
    column: Option<String>,
    /// Only the rows whose columns have these values (or one of a list of values).
    #[serde(rename = "where", default)]
    #[schemars(with = "BTreeMap<String, Json>")]
    rows: BTreeMap<String, IgnoredAny>,
    /// Aggregation of the rows to one number; "jain" is the fairness index. Default `mean`.
    aggregate: Option<Aggregate>,
    /// The first of these metrics divided by the second.
    ratio: Option<[String; 2]>,
    /// The first of these metrics minus the second.
    difference: Option<[String; 2]>,
    /// Subtract 1, so that a ratio becomes a gain.
    minus_one: Option<bool>,
}

/// Aggregation of the rows of a table to one number. Missing values are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Aggregate {
    /// Arithmetic mean.
    Mean,
    /// Sum.
    Sum,
    /// Smallest.
    Min,
    /// Largest.
    Max,
    /// Median.
    Median,
    /// Median, as `median`.
    P50,
    /// 90th percentile.
    P90,
    /// 99th percentile.
    P99,
    /// Number of rows.
    Count,
    /// Jain's fairness index, (Σx)² / (n Σx²).
    Jain,
}

/// Parses `text`, whose table `[metrics]` is that of an experiment; `path` is its name in errors.
///
/// # Errors
/// All errors, each with its line and a remedy.
pub fn parse_metrics(path: &str, text: &str) -> Result<BTreeMap<String, Json>, Diagnostics> {
    Node::parse(path, text).and_then(|tree| read_metrics(&tree)).map_err(Diagnostics::of)
}

/// Returns every metric of the experiment `tree` as JSON, if all are valid.
pub(crate) fn read_metrics(tree: &Node) -> Result<BTreeMap<String, Json>, Vec<Diagnostic>> {
    let root = Path::of(&["metrics"]);
    let Some(table) = tree.get(&root).and_then(Node::table) else { return Ok(BTreeMap::new()) };
    let mut found = Vec::new();
    let mut metrics = BTreeMap::new();
    for (name, entry) in table {
        match read::<Metric>(&entry.node, &root.key(name)) {
            Ok(metric) => drop(metrics.insert(name.as_str(), metric)),
            Err(wrong) => found.extend(wrong),
        }
    }
    // A reference to a metric that could not be parsed is no second error.
    if found.is_empty() {
        let check = Check { tree, root: &root, metrics: &metrics };
        found = metrics.keys().filter_map(|name| check.one(name).err()).flatten().collect();
    }
    if !found.is_empty() {
        return Err(found);
    }
    let mut all = BTreeMap::new();
    for (name, entry) in table {
        all.insert(name.clone(), json(&entry.node));
    }
    Ok(all)
}

struct Check<'a> {
    tree: &'a Node,
    root: &'a Path,
    metrics: &'a BTreeMap<&'a str, Metric>,
}

impl Check<'_> {
    fn one(&self, name: &str) -> Result<(), Vec<Diagnostic>> {
        let (path, metric) = (self.root.key(name), &self.metrics[name]);
        let wrong = |message: &str, help: &str| {
            let message = format!("`{path}` {message}");
            Err(vec![Diagnostic::new(self.tree.key_of(&path), &path, message, help)])
        };
        let picks = metric.table.is_some();
        let picked = metric.column.is_some() || metric.aggregate.is_some() || !metric.rows.is_empty();
        let combined = u8::from(metric.ratio.is_some()) + u8::from(metric.difference.is_some());
        match (picks, combined) {
            (true, 0) if metric.column.is_none() && metric.aggregate != Some(Aggregate::Count) => {
                wrong("lacks `column`", "name it, or `aggregate = \"count\"` for the number of rows")
            }
            (true, 0) if metric.minus_one.is_some() => wrong("has `minus_one` but no ratio", "leave it out"),
            (false, 1) if picked => wrong("combines metrics and picks from a table", "make two metrics of it"),
            (true, 0) => self.rows(&path),
            (false, 1) => self.operands(name, &path, &mut vec![name]),
            _ => wrong("must have one of `table`, `ratio` and `difference`", "see `ecnlab docs scenario`, Metrics"),
        }
    }

    fn rows(&self, path: &Path) -> Result<(), Vec<Diagnostic>> {
        let inside = path.key("where");
        for (column, entry) in self.tree.get(&inside).and_then(Node::table).into_iter().flatten() {
            let plain = |node: &Node| !matches!(node.value, Value::Table(_) | Value::Array(_));
            let fits = match &entry.node.value {
                Value::Array(items) => items.iter().all(plain),
                _ => plain(&entry.node),
            };
            if !fits {
                let at = inside.key(column);
                let message = format!("`{at}` is {}, not a value", entry.node.kind());
                return Err(vec![Diagnostic::new(
                    &entry.node.place,
                    &at,
                    message,
                    "write a value or a list of values",
                )]);
            }
        }
        Ok(())
    }

    /// Checks that operands exist and that no metric contains itself.
    fn operands<'m>(&'m self, name: &str, path: &Path, above: &mut Vec<&'m str>) -> Result<(), Vec<Diagnostic>> {
        let metric = &self.metrics[name];
        let (key, pair) = match (&metric.ratio, &metric.difference) {
            (Some(pair), _) => ("ratio", pair),
            (None, Some(pair)) => ("difference", pair),
            (None, None) => return Ok(()),
        };
        for (i, operand) in pair.iter().enumerate() {
            let at = path.key(key).index(i);
            let place = self.tree.place_of(&at);
            let Some((known, _)) = self.metrics.get_key_value(operand.as_str()) else {
                let names: Vec<&str> = self.metrics.keys().copied().collect();
                let message = format!("`{at}`: there is no metric `{operand}`");
                return Err(vec![Diagnostic::new(place, &at, message, suggest(operand, &names, "metrics"))]);
            };
            if above.contains(known) {
                return Err(vec![Diagnostic::new(place, &at, format!("`{at}`: `{operand}` would contain itself"), "")]);
            }
            above.push(known);
            self.operands(known, &self.root.key(known), above)?;
            above.pop();
        }
        Ok(())
    }
}

/// Returns a value as JSON.
fn json(node: &Node) -> Json {
    match &node.value {
        Value::Text(text) => Json::from(text.as_str()),
        Value::Integer(i) => Json::from(*i),
        Value::Float(x) => Json::from(*x),
        Value::Bool(b) => Json::from(*b),
        Value::Array(items) => items.iter().map(json).collect(),
        Value::Table(table) => {
            let mut keys = Map::new();
            for (key, entry) in table {
                keys.insert(key.clone(), json(&entry.node));
            }
            Json::Object(keys)
        }
    }
}
