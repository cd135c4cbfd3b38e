//! A TOML document in which every key and value records its location.
//!
//! Overrides insert values of another file into the tree; they keep their locations, so an error in one is reported at
//! the line of the experiment that set it.

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::Diagnostic;
use crate::path::{Part, Path};
use crate::source::{Place, Source};

/// Maximum nesting of inner queues, whose tables are nested deepest.
pub(crate) const MOST_LEVELS: usize = 16;

/// Maximum number of names in a table header: the keys of the deepest class, and some more.
const MOST_NAMES: usize = 4 + 2 * MOST_LEVELS;

/// A value and its location.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub value: Value,
    pub place: Place,
}

/// TOML values, without dates, infinities and NaN, which no key accepts.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    Array(Vec<Node>),
    Table(Table),
}

/// Keys in alphabetical order: the order of a file's lines has no meaning (docs/design.md, invariant 5).
pub(crate) type Table = BTreeMap<String, Entry>;

/// A key's location and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: Place,
    pub node: Node,
}

/// Returns the first header with too many names. The parser takes quadratic time for them and does not report their
/// location.
fn too_deep(source: &Arc<Source>) -> Option<Diagnostic> {
    let mut at = 0;
    for line in source.text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let Some(header) = line.strip_prefix('[') else { continue };
        let names = names(header);
        if names.len() > MOST_NAMES && names.iter().all(|name| !name.is_empty()) {
            let place = Place::new(source, start + 1..start + line.trim_end().len());
            let first = [names[0], names[1]].map(|name| name.trim_matches(['"', '\'']));
            let depth = names.len();
            let message = format!("`{}` has tables nested {depth} deep; the limit is {MOST_NAMES}", first.join("."));
            return Some(Diagnostic::new(&place, &Path::of(&first), message, shallower()));
        }
    }
    None
}

/// Returns the names in a header, which starts after its bracket.
fn names(header: &str) -> Vec<&str> {
    let (mut found, mut begin, mut quote) = (Vec::new(), 0, None);
    let header = header.trim_start_matches('[');
    for (at, c) in header.char_indices() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(c),
            ('.' | ']', None) => {
                found.push(header[begin..at].trim());
                begin = at + 1;
                if c == ']' {
                    return found;
                }
            }
            _ => {}
        }
    }
    Vec::new()
}

fn shallower() -> String {
    format!("nest fewer tables; a queue has at most {MOST_LEVELS} levels of classes")
}

impl Node {
    /// Parses a TOML text; unsupported values are reported.
    pub fn parse(name: &str, text: &str) -> Result<Node, Vec<Diagnostic>> {
        let source = Arc::new(Source { name: name.to_owned(), text: text.to_owned() });
        if let Some(wrong) = too_deep(&source) {
            return Err(vec![wrong]);
        }
        let document = DeTable::parse(text).map_err(|e| {
            let place = Place::new(&source, e.span().unwrap_or(0..0));
            if e.message().contains("recurs") {
                return vec![Diagnostic::new(&place, &Path::default(), "tables are nested too deep here", shallower())];
            }
            vec![Diagnostic::new(&place, &Path::default(), format!("not TOML: {}", one_line(e.message())), "")]
        })?;
        let mut reader = Reader { source: &source, found: Vec::new() };
        let place = Place::new(&source, 0..0);
        let value = Value::Table(reader.table(document.get_ref(), &Path::default()));
        if reader.found.is_empty() { Ok(Node { value, place }) } else { Err(reader.found) }
    }

    /// Returns the value without locations.
    pub fn to_toml(&self) -> toml::Value {
        match &self.value {
            Value::Text(text) => text.as_str().into(),
            Value::Integer(i) => (*i).into(),
            Value::Float(x) => (*x).into(),
            Value::Bool(b) => (*b).into(),
            Value::Array(items) => toml::Value::Array(items.iter().map(Node::to_toml).collect()),
            Value::Table(table) => {
                let mut keys = toml::Table::new();
                for (key, entry) in table {
                    keys.insert(key.clone(), entry.node.to_toml());
                }
                toml::Value::Table(keys)
            }
        }
    }

    /// Returns the table, if it is one.
    pub fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Returns a table with the entries whose keys are `wanted`; empty if this is not a table.
    pub fn part(&self, wanted: &dyn Fn(&str) -> bool) -> Node {
        let mut table = self.table().cloned().unwrap_or_default();
        table.retain(|key, _| wanted(key));
        Node { value: Value::Table(table), place: self.place.clone() }
    }

    /// Returns the string, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the child after one step.
    fn step(&self, step: &Part) -> Option<(&Place, &Node)> {
        match (&self.value, step) {
            (Value::Table(table), Part::Key(key)) => table.get(key).map(|e| (&e.key, &e.node)),
            (Value::Array(items), Part::Index(i)) => items.get(*i).map(|n| (&n.place, n)),
            _ => None,
        }
    }

    /// Returns the value at `path`.
    pub fn get(&self, path: &Path) -> Option<&Node> {
        path.0.iter().try_fold(self, |node, step| node.step(step).map(|(_, child)| child))
    }

    /// Returns the value at a path of keys.
    pub fn at(&self, keys: &[&str]) -> Option<&Node> {
        self.get(&Path::of(keys))
    }

    /// Returns the location of the value at `path`, or of the nearest enclosing value in the text.
    pub fn place_of(&self, path: &Path) -> &Place {
        self.nearest(path, |_, node| &node.place)
    }

    /// Returns the location of the key at `path`, or of the nearest enclosing key.
    pub fn key_of(&self, path: &Path) -> &Place {
        self.nearest(path, |key, _| key)
    }

    fn nearest<'a>(&'a self, path: &Path, pick: fn(&'a Place, &'a Node) -> &'a Place) -> &'a Place {
        let (mut node, mut place) = (self, &self.place);
        for step in &path.0 {
            let Some((key, child)) = node.step(step) else { break };
            (place, node) = (pick(key, child), child);
        }
        place
    }

    /// Sets the value at `path` and creates missing tables. `Err` contains the path up to an existing value that is not
    /// a table.
    pub fn set(&mut self, path: &Path, entry: Entry) -> Result<(), Path> {
        let mut node = self;
        for (i, step) in path.0.iter().enumerate() {
            let so_far = || Path(path.0[..i].to_vec());
            let (Value::Table(table), Part::Key(key)) = (&mut node.value, step) else { return Err(so_far()) };
            if i + 1 == path.0.len() {
                table.insert(key.clone(), entry);
                return Ok(());
            }
            let place = entry.key.clone();
            let empty = || Entry { key: place.clone(), node: Node { value: Value::Table(Table::new()), place } };
            node = &mut table.entry(key.clone()).or_insert_with(empty).node;
        }
        Err(path.clone())
    }

    /// Returns the kind of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a string",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a number",
            Value::Bool(_) => "a boolean",
            Value::Array(_) => "an array",
            Value::Table(_) => "a table",
        }
    }
}

/// Converts the parser's document.
struct Reader<'a> {
    source: &'a Arc<Source>,
    found: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn table(&mut self, table: &DeTable<'_>, path: &Path) -> Table {
        let mut entries = Table::new();
        for (key, value) in table {
            let (name, place) = (key.get_ref(), Place::new(self.source, key.span()));
            entries.insert(name.to_string(), Entry { key: place, node: self.node(value, &path.key(name)) });
        }
        entries
    }

    fn node(&mut self, value: &Spanned<DeValue<'_>>, path: &Path) -> Node {
        let place = Place::new(self.source, value.span());
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Boolean(b) => Value::Bool(*b),
            DeValue::Integer(i) => match i64::from_str_radix(i.as_str(), i.radix()) {
                Ok(i) => Value::Integer(i),
                Err(_) => self.refuse(&place, path, "the integer is too large"),
            },
            DeValue::Float(x) => match x.as_str().parse::<f64>() {
                Ok(x) if x.is_finite() => Value::Float(x),
                _ => self.refuse(&place, path, "the number is not finite"),
            },
            DeValue::Datetime(_) => self.refuse(&place, path, "no key takes a date; a time is written as \"20 ms\""),
            DeValue::Array(items) => {
                let item = |(i, item)| self.node(item, &path.index(i));
                Value::Array(items.iter().enumerate().map(item).collect())
            }
            DeValue::Table(table) => Value::Table(self.table(table, path)),
        };
        Node { value, place }
    }

    fn refuse(&mut self, place: &Place, path: &Path, message: &str) -> Value {
        self.found.push(Diagnostic::new(place, path, format!("`{path}`: {message}"), ""));
        Value::Bool(false)
    }
}

fn one_line(message: &str) -> String {
    message.lines().map(str::trim).collect::<Vec<_>>().join(", ")
}
