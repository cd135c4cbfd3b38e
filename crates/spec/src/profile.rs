//! TCP profiles as trees and as values.

use ecnlab_tcp as tcp;
use serde_json::Value as Json;

use crate::tree::Node;

/// One value of a profile.
pub(crate) struct Value {
    pub key: String,
    pub value: Json,
    /// Where it comes from.
    pub source: String,
}

/// Names of the profiles.
pub(crate) fn names() -> Vec<&'static str> {
    tcp::profiles().iter().map(|p| p.name).collect()
}

/// The profile's keys and values; `None` if there is no such profile.
pub(crate) fn tree(name: &str) -> Option<Node> {
    None
}

/// The profile's values in alphabetical order of their keys.
pub(crate) fn values(name: &str) -> Vec<Value> {
    Vec::new()
}
