//! Deserialisation of the tree into Rust types with serde, with structured errors.
//!
//! serde passes an unknown key or variant to the error type together with the valid ones; the error types of text
//! formats flatten them into a sentence. This one keeps them for suggestions.

mod values;

use std::fmt;

use serde::de::{self, DeserializeOwned};

use crate::diagnostic::{Diagnostic, suggest};
use crate::path::{Part, Path};
use crate::synonyms;
use crate::tree::{Node, Value};

/// An error found by serde, and its depth below the deserialised value.
#[derive(Debug)]
pub(crate) struct Error {
    problem: Problem,
    /// Innermost step first.
    steps: Vec<Part>,
}

#[derive(Debug, PartialEq)]
enum Problem {
    UnknownKey { key: String, valid: &'static [&'static str] },
    UnknownVariant { variant: String, valid: &'static [&'static str] },
    Missing { key: &'static str },
    Type { found: String, wanted: String },
    Other(String),
}

impl Error {
    fn new(problem: Problem) -> Error {
        Error { problem, steps: Vec::new() }
    }

    fn below(mut self, step: Part) -> Error {
        self.steps.push(step);
        self
    }

    fn below_key(self, key: &str) -> Error {
        self.below(Part::Key(key.to_owned()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.problem)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Error {
        Error::new(Problem::Other(message.to_string()))
    }
    fn unknown_field(key: &str, valid: &'static [&'static str]) -> Error {
        Error::new(Problem::UnknownKey { key: key.to_owned(), valid })
    }
    fn unknown_variant(variant: &str, valid: &'static [&'static str]) -> Error {
        Error::new(Problem::UnknownVariant { variant: variant.to_owned(), valid })
    }
    fn missing_field(key: &'static str) -> Error {
        Error::new(Problem::Missing { key })
    }
    fn invalid_type(found: de::Unexpected<'_>, wanted: &dyn de::Expected) -> Error {
        Error::new(Problem::Type { found: found.to_string(), wanted: wanted.to_string() })
    }
    fn invalid_value(found: de::Unexpected<'_>, wanted: &dyn de::Expected) -> Error {
        Error::invalid_type(found, wanted)
    }
}

/// Maximum number of errors reported per table; more suggest that the wrong file was opened.
const MAX_ERRORS: usize = 20;

/// Deserialises `T` from `node`, located at `base` in its document.
pub(crate) fn read<T: DeserializeOwned>(node: &Node, base: &Path) -> Result<T, Vec<Diagnostic>> {
    read_with(node, base, Keys::default(), |node| T::deserialize(node))
}

/// Deviations of a table's keys from serde's definition.
#[derive(Clone, Copy, Default)]
pub(crate) struct Keys<'a> {
    /// Additional keys that are read elsewhere.
    pub more: &'a [&'a str],
    /// Keys that are not valid here.
    pub less: &'a [&'a str],
}

/// Reads with `parse`, or reports all errors.
pub(crate) fn read_with<T>(
    node: &Node,
    base: &Path,
    keys: Keys<'_>,
    parse: impl Fn(&Node) -> Result<T, Error>,
) -> Result<T, Vec<Diagnostic>> {
    parse(node).map_err(|first| all_errors(node, base, keys, first, &|node| parse(node).err()))
}

/// Returns the reports of `first` and of further errors that `parse` finds.
///
/// serde stops at its first error; the offending key is then removed and the rest parsed again, so that independent
/// errors in one table are reported together.
fn all_errors(
    node: &Node,
    base: &Path,
    keys: Keys<'_>,
    first: Error,
    parse: &dyn Fn(&Node) -> Option<Error>,
) -> Vec<Diagnostic> {
    let (mut found, mut rest, mut next) = (Vec::new(), node.clone(), Some(first));
    while let Some(error) = next {
        // A key that is missing because it was removed below is no new error.
        if matches!(error.problem, Problem::Missing { .. }) && !found.is_empty() {
            break;
        }
        let fault = fault(&rest, &error, parse);
        found.push(report(node, base, &fault, keys, &error.problem));
        if found.len() == MAX_ERRORS || !remove(&mut rest, &fault) {
            break;
        }
        next = parse(&rest);
    }
    found
}

/// Returns the location of the error, below the value read.
///
/// serde buffers enums distinguished by a key of their table (`kind`), which loses the path inside them. It is
/// recovered by removing one key after the other: the one without which the error changes is at fault.
fn fault(node: &Node, error: &Error, parse: &dyn Fn(&Node) -> Option<Error>) -> Path {
    let steps = Path(error.steps.iter().rev().cloned().collect());
    let without = |inside: &Path| {
        let mut rest = node.clone();
        remove(&mut rest, inside);
        parse(&rest).map(|error| error.problem)
    };
    let changes = |inside: &Path| without(inside).is_none_or(|problem| problem != error.problem);
    match &error.problem {
        Problem::Missing { .. } => return steps,
        Problem::UnknownKey { key, .. } => {
            return holders(node, &steps, key).into_iter().find(changes).unwrap_or(steps);
        }
        _ => {}
    }
    let Some(table) = node.get(&steps).and_then(Node::table) else { return steps };
    // Without `kind` every error changes, so it is tried last.
    let suspects = table.keys().filter(|k| *k != "kind").chain(table.keys().filter(|k| *k == "kind"));
    let Some(blamed) = suspects.map(|k| steps.key(k)).find(changes) else { return steps };
    // An optional key of an inner table may be the only fault.
    let inner = node.get(&blamed).and_then(Node::table).into_iter().flat_map(|table| table.keys());
    let alone = |inside: &Path| {
        without(inside).is_none_or(|problem| problem != error.problem && !matches!(problem, Problem::Missing { .. }))
    };
    inner.map(|k| blamed.key(k)).find(alone).unwrap_or(blamed)
}

/// Returns every path at `at` or below where a table has `key`.
fn holders(node: &Node, at: &Path, key: &str) -> Vec<Path> {
    let Some(table) = node.get(at).and_then(Node::table) else { return Vec::new() };
    let here = table.contains_key(key).then(|| at.key(key));
    here.into_iter().chain(table.keys().flat_map(|inner| holders(node, &at.key(inner), key))).collect()
}

/// Removes a key from its table; returns false if the path does not end in a key.
fn remove(node: &mut Node, path: &Path) -> bool {
    let Some((last, way)) = path.0.split_last() else { return false };
    let mut node = node;
    for step in way {
        node = match (&mut node.value, step) {
            (Value::Table(table), Part::Key(key)) => match table.get_mut(key) {
                Some(entry) => &mut entry.node,
                None => return false,
            },
            (Value::Array(items), Part::Index(i)) => match items.get_mut(*i) {
                Some(item) => item,
                None => return false,
            },
            _ => return false,
        };
    }
    match (&mut node.value, last) {
        (Value::Table(table), Part::Key(key)) => table.remove(key).is_some(),
        (Value::Array(items), Part::Index(i)) if *i < items.len() => {
            items.remove(*i);
            true
        }
        _ => false,
    }
}

fn report(node: &Node, base: &Path, fault: &Path, keys: Keys<'_>, problem: &Problem) -> Diagnostic {
    let path = Path(base.0.iter().chain(&fault.0).cloned().collect());
    match problem {
        Problem::UnknownKey { key, valid } => {
            // Restrictions on the table's own keys do not apply to an inner table.
            let keys = if fault.0.len() > 1 { Keys::default() } else { keys };
            let valid: Vec<&str> = valid.iter().chain(keys.more).copied().filter(|k| !keys.less.contains(k)).collect();
            let message = format!("unknown key `{path}`");
            Diagnostic::new(node.key_of(fault), &path, message, suggest(key, &valid, "keys"))
        }
        Problem::UnknownVariant { variant, valid } => {
            let message = format!("`{path}` cannot be `{variant}`");
            Diagnostic::new(node.place_of(fault), &path, message, suggest(variant, valid, "values"))
        }
        Problem::Missing { key } => {
            let message =
                if path.0.is_empty() { format!("`{key}` is missing") } else { format!("`{path}` lacks `{key}`") };
            Diagnostic::new(node.key_of(fault), &path.key(key), message, example(key, &path))
        }
        Problem::Type { found, wanted } => {
            let message = match (node.get(fault).map(|n| &n.value), greatest(wanted)) {
                (Some(Value::Integer(number)), Some(most)) => {
                    format!("`{path}` is {number}, not a whole number from 0 to {most}")
                }
                _ => {
                    let found = node.get(fault).map_or(found.as_str(), |n| n.kind());
                    format!("`{path}` is {found}, not {}", plain(wanted))
                }
            };
            let switch = matches!(node.get(fault).map(|n| &n.value), Some(Value::Bool(_)));
            let help = if switch { synonyms::of_switch(&path) } else { "" };
            Diagnostic::new(node.place_of(fault), &path, message, help)
        }
        Problem::Other(text) => {
            // Messages of units have the form `problem; remedy`.
            let (message, help) = text.split_once("; ").unwrap_or((text, ""));
            Diagnostic::new(node.place_of(fault), &path, format!("`{path}`: {message}"), help)
        }
    }
}

/// Returns the largest value of an unsigned type in TOML, whose integers are signed.
fn greatest(wanted: &str) -> Option<u64> {
    match wanted {
        "u8" => Some(u8::MAX.into()),
        "u16" => Some(u16::MAX.into()),
        "u32" => Some(u32::MAX.into()),
        "u64" | "usize" => Some(i64::MAX.unsigned_abs()),
        _ => None,
    }
}

/// Returns the value that serde expects, in words without Rust types.
fn plain(wanted: &str) -> &str {
    match wanted {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number",
        "i8" | "i16" | "i32" | "i64" => "an integer",
        "f32" | "f64" => "a number",
        "a sequence" => "an array",
        w if w.starts_with("struct ") || w.contains("map") || w.contains("tagged enum") => "a table",
        w if w.contains("enum") => "one of its values in quotes",
        w => w,
    }
}

/// Returns an example of a missing key of the table at `path`.
fn example(key: &str, path: &Path) -> String {
    let value = match key {
        "kind" if path.0.last() == Some(&Part::Key("congestion".to_owned())) => "\"ecn-alpha-beta\"",
        "format" => "1",
        "duration" => "\"60 s\"",
        "rate" => "\"10 Mbps\"",
        "delay" => "\"20 ms\"",
        "from" | "to" => "\"r1\"",
        "traffic" => "\"ftp\"",
        "kind" => "\"crr\"",
        "request" | "response" | "burst" => "\"1500 B\"",
        "discipline" => "\"red\"",
        "limit" => "\"100 packets\"",
        "scenario" => "\"scenario.toml\"",
        "table" => "\"flows\"",
        "column" => "\"goodput_bps\"",
        "aggregate" => "\"mean\"",
        "reorder" => "false",
        "p" | "r" => "0.1",
        _ => return String::new(),
    };
    format!("add, for example, `{key} = {value}`")
}
