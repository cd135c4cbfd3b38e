//! Tables that an error message proposes, as TOML to paste into the file.

use crate::path::Path;
use crate::tree::Node;

/// Returns the table at `path` with the keys of `node` and the `values`, which take precedence; `profile` and
/// `discipline` come first, as they decide about the other keys.
pub(crate) fn table(path: &Path, node: Option<&Node>, values: &[(&str, toml::Value)]) -> String {
    let own = node.and_then(Node::table).into_iter().flatten().map(|(key, entry)| (key.as_str(), entry.node.to_toml()));
    let new = values.iter().map(|(key, value)| (*key, value.clone()));
    let mut keys: Vec<(&str, toml::Value)> = Vec::new();
    for (key, value) in own.chain(new) {
        keys.retain(|(other, _)| *other != key);
        keys.push((key, value));
    }
    keys.sort_by_key(|(key, _)| (!["profile", "discipline"].contains(key), *key));
    let lines = keys.iter().map(|(key, value)| format!("\n{key} = {value}"));
    format!("[{path}]{}", lines.collect::<String>())
}
