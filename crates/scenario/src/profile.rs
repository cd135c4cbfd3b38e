//! TCP profiles as trees, in which a scenario overrides values.

use ecnlab_tcp as tcp;

use crate::tree::Node;

/// Names of the profiles.
pub(crate) fn names() -> Vec<&'static str> {
    tcp::profiles().map(|p| p.name).collect()
}

/// Returns the profile's keys and values; `None` if there is no such profile.
pub(crate) fn tree(name: &str) -> Option<Node> {
    let table = tcp::profile(name)?.table();
    Node::parse(&format!("profile {name}"), &table.to_string()).ok()
}
