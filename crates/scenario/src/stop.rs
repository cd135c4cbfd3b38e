//! `[stop]` of an experiment: the questions that its sweep answers before it stops.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::de::read;
use crate::diagnostic::Diagnostic;
use crate::path::Path;
use crate::tree::Node;

/// When `ecnlab sweep` stops, in place of `replicates`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StopFile {
    /// Questions that are decided at each point: `"goodput 2%"`, `"delay < 20 ms"`, `"goodput: ecn > plain"`,
    /// `"delay: lowest of red, codel, pie within 1 ms"`.
    until: Vec<String>,
    /// Smallest number of replicates, 4 or more. Default 4.
    #[serde(default = "least")]
    least: u32,
    /// Largest number of replicates. Default 100.
    #[serde(default = "most")]
    most: u32,
}

fn least() -> u32 {
    4
}

fn most() -> u32 {
    100
}

/// Returns `[stop]` of the experiment `tree` with its defaults; null without one. The caller checks questions and numbers.
pub(crate) fn read_stop(tree: &Node) -> Result<Json, Vec<Diagnostic>> {
    let root = Path::of(&["stop"]);
    let Some(node) = tree.get(&root) else { return Ok(Json::Null) };
    let StopFile { until, least, most } = read::<StopFile>(node, &root)?;
    Ok(json!({ "until": until, "least": least, "most": most }))
}
