//! Tables of keys on pages that do not belong to a law: the sections of scenario files, experiments, traffic, captures.

use std::fmt::Write;

use ecnlab_aqm::{Common, Member};
use ecnlab_tcp::registry::{EcnKind, SlowStartKind, laws as tcp_laws};
use ecnlab_tcp::{Facts, profiles};
use serde_json::Value as Json;

use super::Block;
use super::keys::{definitions, some, table};
use crate::registry::laws;
use crate::schema::{experiment_schema, scenario_schema};

const SCENARIO: &str = "docs/scenario.md";
const TRAFFIC: &str = "docs/traffic.md";

/// Sections with their pages and the definitions of their keys.
const SECTIONS: [(&str, &str, &str); 17] = [
    (SCENARIO, "node", "Node"),
    (SCENARIO, "link", "Link"),
    (SCENARIO, "shaper", "Shaper"),
    (SCENARIO, "jitter", "Jitter"),
    (SCENARIO, "burst_loss", "BurstLoss"),
    (SCENARIO, "box", "HostileBox"),
    (SCENARIO, "tunnel", "Tunnel"),
    (SCENARIO, "flow", "Flow"),
    (SCENARIO, "grid", "AxisFile"),
    (SCENARIO, "metrics", "Metric"),
    (SCENARIO, "report", "ReportFile"),
    (SCENARIO, "stop", "StopFile"),
    ("docs/captures.md", "capture", "Capture"),
    ("docs/changing-links.md", "outages", "Outages"),
    ("docs/changing-links.md", "aggregation", "Aggregation"),
    (TRAFFIC, "quench", "SquidParams"),
    ("docs/quic.md", "quic", "Settings"),
];

/// Returns the generated sections of these pages.
pub(super) fn blocks() -> Vec<Block> {
    let tops = [("scenario", scenario_schema()), ("experiment", experiment_schema())];
    let tops = tops.into_iter().map(|(of, schema)| keys(SCENARIO, of, table(&schema)));
    let sections = SECTIONS.iter().map(|(page, of, definition)| keys(page, of, table(&definitions()[*definition])));
    // Common keys of queues and classes, taken from the first discipline.
    let queue = &definitions()["Class"]["oneOf"][0];
    let member = keys("docs/laws/classes.md", "a class", some(queue, &Member::KEYS));
    let queue = keys("docs/laws/droptail.md", "every queue", some(queue, &Common::KEYS));
    let kinds = Block { page: SCENARIO, name: "kinds of traffic".to_owned(), text: kinds_of_traffic() };
    let laws = Block { page: SCENARIO, name: "laws of a TCP".to_owned(), text: laws_of_tcp() };
    let profiles = Block { page: SCENARIO, name: "profiles".to_owned(), text: profile_key() };
    tops.chain(sections).chain(traffic()).chain([member, queue, kinds, laws, profiles]).collect()
}

fn keys(page: &'static str, of: &str, text: String) -> Block {
    Block { page, name: format!("keys of {of}"), text }
}

/// Returns the keys of each kind of traffic.
fn traffic() -> impl Iterator<Item = Block> {
    let kinds = definitions()["Params"]["oneOf"].as_array().into_iter().flatten();
    kinds.filter_map(|kind: &Json| Some(keys(TRAFFIC, kind["properties"]["kind"]["const"].as_str()?, table(kind))))
}

/// Returns the keys of a TCP that name laws, with the names and what some of the laws require.
fn laws_of_tcp() -> String {
    let names = |family: &str| quoted(tcp_laws().filter(|law| law.family == family).map(|law| law.facts.name));
    let requires = |laws: Vec<&'static str>, what: &str| format!("{}: {what}", quoted(laws.into_iter()));
    let of = |which: fn(&Facts) -> bool| tcp_laws().map(|law| law.facts).filter(move |f| which(f)).map(|f| f.name);
    let window_is_left = quoted(of(|facts| facts.leaves_window)).replace(", ", " or ");
    let rows = [
        (
            "congestion",
            names("congestion"),
            requires(of(|f| f.owns_window).collect(), &format!("`recovery` {window_is_left}")),
        ),
        ("slow_start", quoted(SlowStartKind::ALL.iter().map(|kind| kind.name())), String::new()),
        ("recovery", names("recovery"), requires(of(|f| f.without_sack.is_some()).collect(), "`sack = true`")),
        (
            "ecn",
            quoted(EcnKind::ALL.iter().map(|kind| kind.name())),
            requires(of(|f| f.wants_dsack).collect(), "`dsack = true` with `sack`"),
        ),
    ];
    let mut text = "| key | values | requirements |\n| --- | --- | --- |\n".to_owned();
    for (key, values, requirements) in rows {
        let _ = writeln!(text, "| `{key}` | {values} | {requirements} |");
    }
    text
}

/// Returns the key that names a profile.
fn profile_key() -> String {
    let names = quoted(profiles().map(|profile| profile.name));
    format!("| key | values | default |\n| --- | --- | --- |\n| `profile` | {names} | `profile` at the top |\n")
}

/// Returns names as values of TOML, in a row.
fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`\"{name}\"`")).collect::<Vec<_>>().join(", ")
}

fn kinds_of_traffic() -> String {
    let mut text = "| kind | traffic |\n| --- | --- |\n".to_owned();
    for kind in laws().iter().filter(|law| law.family == "traffic") {
        let _ = writeln!(text, "| `{}` | {} |", kind.name, kind.summary);
    }
    text
}
