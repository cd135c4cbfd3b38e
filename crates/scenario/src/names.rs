//! Rules for names in a file, so that they are valid in tables, file names and on a terminal.

use crate::diagnostic::Diagnostic;
use crate::path::Path;
use crate::text::is_unseen;
use crate::tree::Node;

/// Maximum length of a name, which appears in every row of results.
const LONGEST: usize = 64;

/// Characters with a special meaning in the names of nodes, links and flows, or in file names.
const RESERVED: [char; 5] = ['[', ']', '~', '/', '\\'];

/// Description of valid names of tables and nodes.
pub(crate) const NAMES: &str = "names are letters, digits, `-` and `_`";

/// Returns whether a name has no brackets, dots or tildes, which are reserved for `source[3]` and `pipe~reverse`.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// A reference by a link or flow: `source`, or `source[3]` for an element of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reference<'a> {
    pub name: &'a str,
    pub index: Option<usize>,
}

impl Reference<'_> {
    /// Parses `name` or `name[index]`; any other text is treated as an unknown name.
    pub fn parse(text: &str) -> Reference<'_> {
        let indexed = text.strip_suffix(']').and_then(|t| t.split_once('['));
        match indexed.and_then(|(name, index)| Some((name, index.parse().ok()?))) {
            Some((name, index)) => Reference { name, index: Some(index) },
            None => Reference { name: text, index: None },
        }
    }
}

/// Returns whether `text` names the instance `name` or its array.
pub(crate) fn is_called(name: &str, text: &str) -> bool {
    text == name || text == Reference::parse(name).name
}

/// Checks the names in a scenario's `sections`, of groups of flows, and of nodes that only links name.
pub(crate) fn of_scenario(tree: &Node, sections: &[&str]) -> Vec<Diagnostic> {
    let mut found = of_sections(tree, sections, &RESERVED);
    for (section, key) in [("flow", "group"), ("link", "from"), ("link", "to")] {
        for (name, entry) in tree.at(&[section]).and_then(Node::table).into_iter().flatten() {
            let path = Path::of(&[section, name, key]);
            let wrong = |text| if section == "link" { of_end(text) } else { fault(text, &RESERVED) };
            if let Some(wrong) = entry.node.at(&[key]).and_then(Node::text).and_then(wrong) {
                let message = format!("`{path}` {}", wrong.message);
                found.push(Diagnostic::new(tree.place_of(&path), &path, message, wrong.help));
            }
        }
    }
    found
}

/// Checks the name of a node at the end of a link. It may be an element of an array, `NAME[3]`; a node without a table
/// appears under its name in the resolved scenario.
fn of_end(end: &str) -> Option<Fault> {
    let name = Reference::parse(end).name;
    fault(name, &RESERVED).or_else(|| {
        let wrong = || Fault { message: format!("names `{name}`, which cannot be a name"), help: NAMES.into() };
        (!is_name(name)).then(wrong)
    })
}

/// Checks the names of an experiment: its axes, arms and metrics.
pub(crate) fn of_experiment(tree: &Node) -> Vec<Diagnostic> {
    of_sections(tree, &["grid", "arm", "metrics"], &[])
}

/// Checks the label of a point at `path`, which also appears in every row of results.
pub(crate) fn of_label(tree: &Node, path: &Path, label: &str) -> Option<Diagnostic> {
    let c = label.chars().find(|c| is_unseen(*c))?;
    let message = format!("`{path}`: the label {label:?} has the character U+{:04X}, which is invisible", u32::from(c));
    Some(Diagnostic::new(tree.key_of(path), path, message, "write a label of visible characters"))
}

fn of_sections(tree: &Node, sections: &[&str], reserved: &[char]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for section in sections {
        for (name, entry) in tree.at(&[section]).and_then(Node::table).into_iter().flatten() {
            if let Some(wrong) = fault(name, reserved) {
                let message = format!("a name in `{section}` {}", wrong.message);
                found.push(Diagnostic::new(&entry.key, &Path::of(&[section, name]), message, wrong.help));
            }
        }
    }
    found
}

struct Fault {
    message: String,
    help: String,
}

fn fault(name: &str, reserved: &[char]) -> Option<Fault> {
    let letters = name.chars().count();
    let (message, help) = if letters == 0 {
        ("is empty".to_owned(), "write at least a letter".to_owned())
    } else if letters > LONGEST {
        (format!("has {letters} characters"), format!("write at most {LONGEST}"))
    } else if let Some(c) = name.chars().find(|c| is_unseen(*c)) {
        let message = format!("has the character U+{:04X}, which is invisible", u32::from(c));
        (message, "write letters, digits, `_` and `-`".to_owned())
    } else if name.trim() != name {
        (format!("has a space at an end, {name:?}"), "leave it out".to_owned())
    } else if let Some(c) = name.chars().find(|c| reserved.contains(c)) {
        (format!("has `{c}`, {name:?}"), "write letters, digits, `_` and `-`".to_owned())
    } else {
        return None;
    };
    Some(Fault { message, help })
}
