//! Cells of an experiment: the values set at each point and in each arm.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value as Json;

use crate::de::read;
use crate::diagnostic::Diagnostic;
use crate::file::Table as AnyTable;
use crate::names;
use crate::path::Path;
use crate::tree::{Entry, Node, Value};

/// An axis of the grid: either `path` (or `paths`) and `values`, or `points`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AxisFile {
    /// The dotted key of the scenario that is set to the values.
    path: Option<String>,
    /// Several dotted keys that are all set to the value.
    paths: Option<Vec<String>>,
    /// One value per point.
    #[schemars(with = "Option<Vec<Json>>")]
    values: Option<Vec<IgnoredAny>>,
    /// A name per value. Default: the value itself.
    labels: Option<Vec<String>>,
    /// Points that set several keys at once.
    points: Option<Vec<PointFile>>,
}

/// A point of an axis.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PointFile {
    /// Name of the point in results.
    label: String,
    /// Dotted keys of the scenario and their values at the point.
    #[serde(rename = "set")]
    #[schemars(with = "BTreeMap<String, Json>")]
    _set: AnyTable,
}

/// An arm of the comparison.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArmFile {
    /// Dotted keys of the scenario and their values in this arm.
    #[serde(rename = "set")]
    #[schemars(with = "BTreeMap<String, Json>")]
    _set: AnyTable,
}

/// Dotted keys and their values, in the order in which they are set.
pub(crate) type Values = Vec<(String, Entry)>;

/// Labels of points and the values set at each.
pub(crate) type Points = Vec<(String, Values)>;

/// Columns of result tables besides one per axis.
const COLUMNS: [&str; 11] =
    ["arm", "replicate", "seed", "id", "spec_hash", "metric", "value", "mean", "low", "high", "n"];

/// An axis.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub name: String,
    pub points: Points,
}

/// A combination of points and an arm.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub arm: Option<String>,
    /// Axis and label of each point.
    pub point: Vec<(String, String)>,
    pub values: Values,
}

/// The entries of a `set` table.
pub(crate) fn read_set(tree: &Node, path: &Path) -> Values {
    let table = tree.get(path).and_then(Node::table).into_iter().flatten();
    table.map(|(key, entry)| (key.clone(), entry.clone())).collect()
}

/// Values set at every point and in every arm.
#[derive(Debug)]
pub(crate) struct Grid {
    pub set: Cell,
    pub axes: Vec<Axis>,
    pub arms: Vec<Cell>,
}

impl Grid {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.axes.iter().map(|axis| axis.points.len()).product::<usize>() * self.arms.len().max(1)
    }

    /// Returns the cell with a number: arms within points, the last axis fastest. Later layers take precedence:
    /// `[set]`, then the grid, then the arm.
    pub fn cell(&self, number: usize) -> Cell {
        let mut rest = number / self.arms.len().max(1);
        let mut points = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            points.push((axis, &axis.points[rest % axis.points.len()]));
            rest /= axis.points.len();
        }
        let mut cell = self.set.clone();
        for (axis, (label, values)) in points.into_iter().rev() {
            cell.point.push((axis.name.clone(), label.clone()));
            cell.values.extend(values.iter().cloned());
        }
        if !self.arms.is_empty() {
            let arm = &self.arms[number % self.arms.len()];
            cell.arm.clone_from(&arm.arm);
            cell.values.extend(arm.values.iter().cloned());
        }
        cell
    }
}

impl Cell {
    /// Reads the arms, each with only its own values.
    pub fn read_arms(tree: &Node) -> Result<Vec<Cell>, Vec<Diagnostic>> {
        let mut found = Vec::new();
        let mut arms = Vec::new();
        for (name, entry) in tables(tree, "arm") {
            let path = Path::of(&["arm", name]);
            match read::<ArmFile>(&entry.node, &path) {
                Err(wrong) => found.extend(wrong),
                Ok(_) => arms.push(Cell {
                    arm: Some(name.clone()),
                    values: read_set(tree, &path.key("set")),
                    ..Cell::default()
                }),
            }
        }
        if found.is_empty() { Ok(arms) } else { Err(found) }
    }
}

impl Axis {
    /// Returns every key that its points set.
    fn keys(&self) -> BTreeSet<&str> {
        self.points.iter().flat_map(|(_, values)| values.iter().map(|(key, _)| key.as_str())).collect()
    }

    /// Reads the axes, in alphabetical order.
    pub fn read_all(tree: &Node) -> Result<Vec<Axis>, Vec<Diagnostic>> {
        let mut found = Vec::new();
        let mut axes = Vec::new();
        for (name, entry) in tables(tree, "grid") {
            let path = Path::of(&["grid", name]);
            if COLUMNS.contains(&name.as_str()) {
                let message = format!("`{path}`: an axis cannot be called `{name}`, as a column of the results is");
                found.push(Diagnostic::new(&entry.key, &path, message, "write another name"));
            }
            let file = read::<AxisFile>(&entry.node, &path);
            match file.and_then(|file| read_points(tree, &path, file)) {
                Err(wrong) => found.extend(wrong),
                Ok(points) => axes.push(Axis { name: name.clone(), points }),
            }
        }
        if found.is_empty() { Ok(axes) } else { Err(found) }
    }
}

fn tables<'a>(tree: &'a Node, section: &str) -> impl Iterator<Item = (&'a String, &'a Entry)> {
    let table = tree.at(&[section]).and_then(Node::table).into_iter().flatten();
    table.filter(|(_, entry)| entry.node.table().is_some())
}

fn read_points(tree: &Node, path: &Path, file: AxisFile) -> Result<Points, Vec<Diagnostic>> {
    let wrong = |message: &str, help: &str| {
        Err(vec![Diagnostic::new(tree.key_of(path), path, format!("`{path}` {message}"), help)])
    };
    let points = match (file.points, file.values) {
        (Some(points), None) if file.path.is_none() && file.paths.is_none() && file.labels.is_none() => {
            let set = |i| read_set(tree, &path.key("points").index(i).key("set"));
            points.into_iter().enumerate().map(|(i, point)| (point.label, set(i))).collect()
        }
        (None, Some(values)) if file.path.is_some() != file.paths.is_some() => {
            let keys = match &file.path {
                Some(key) => vec![(key.clone(), path.key("path"))],
                None => {
                    file.paths.into_iter().flatten().enumerate().map(|(i, k)| (k, path.key("paths").index(i))).collect()
                }
            };
            let labels = file.labels;
            if labels.as_ref().is_some_and(|labels| labels.len() != values.len()) {
                return wrong("has not as many labels as values", "write one for each, or none");
            }
            let value = |i| tree.get(&path.key("values").index(i));
            (0..values.len())
                .filter_map(|i| value(i).map(|v| point(tree, &keys, v, labels.as_ref().map(|l| &l[i]))))
                .collect()
        }
        _ => return wrong("must have `path` and `values`, or `points`", "see `ecnlab docs scenario`, Experiments"),
    };
    check_labels(tree, path, points)
}

/// Returns a point at which each of `keys` is set to `value`.
fn point(tree: &Node, keys: &[(String, Path)], value: &Node, label: Option<&String>) -> (String, Values) {
    let entry = |at: &Path| Entry { key: tree.place_of(at).clone(), node: value.clone() };
    let values = keys.iter().map(|(key, at)| (key.clone(), entry(at))).collect();
    (label.cloned().unwrap_or_else(|| label_of(value)), values)
}

/// Returns a value as written, without quotes.
fn label_of(node: &Node) -> String {
    match &node.value {
        Value::Text(text) => text.clone(),
        Value::Integer(i) => i.to_string(),
        Value::Float(x) => x.to_string(),
        Value::Bool(b) => b.to_string(),
        Value::Array(items) => items.iter().map(label_of).collect::<Vec<_>>().join(" "),
        Value::Table(table) => {
            table.iter().map(|(k, e)| format!("{k}={}", label_of(&e.node))).collect::<Vec<_>>().join(" ")
        }
    }
}

fn check_labels(tree: &Node, path: &Path, points: Points) -> Result<Points, Vec<Diagnostic>> {
    let wrong = |message: String, help: &str| Err(vec![Diagnostic::new(tree.key_of(path), path, message, help)]);
    if points.is_empty() {
        return wrong(format!("`{path}` has no point"), "write at least one value, or leave the axis out");
    }
    if let Some(found) = points.iter().find_map(|(label, _)| names::of_label(tree, path, label)) {
        return Err(vec![found]);
    }
    let mut seen = BTreeSet::new();
    match points.iter().find(|(label, _)| !seen.insert(label)) {
        Some((label, _)) => wrong(format!("`{path}` has two points `{label}`"), "give each its own label"),
        None => Ok(points),
    }
}

/// Reports keys set by two axes, or by an axis and an arm: one of the two values would be lost.
pub(crate) fn set_twice(tree: &Node, axes: &[Axis], arms: &[Cell]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut clash = |place: &Path, key: &str, owner: &Path| {
        let message = format!("`{place}` sets `{key}`, but `{owner}` sets it, too");
        found.push(Diagnostic::new(tree.key_of(place), place, message, "let one of them set it"));
    };
    for (i, axis) in axes.iter().enumerate() {
        let path = Path::of(&["grid", &axis.name]);
        for other in &axes[..i] {
            let common = axis.keys().into_iter().find(|a| other.keys().iter().any(|b| covers(a, b) || covers(b, a)));
            if let Some(key) = common {
                clash(&path, key, &Path::of(&["grid", &other.name]));
            }
        }
        for arm in arms {
            let name = arm.arm.as_deref().unwrap_or_default();
            // An arm comes after the grid; it may set a key inside an axis's value, but not replace the value.
            for (key, _) in arm.values.iter().filter(|(key, _)| axis.keys().iter().any(|a| covers(key, a))) {
                clash(&Path::of(&["arm", name, "set", key]), key, &path);
            }
        }
    }
    found
}

/// Returns whether setting the key `outer` also sets `inner`.
fn covers(outer: &str, inner: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
