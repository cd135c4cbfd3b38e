//! The page of TCP settings, `docs/tcp.md`, and the list of laws, `docs/laws/README.md`: written from the types, profiles
//! and registries, so that they are true.

use std::fmt::Write;

use ecnlab_tcp as tcp;
use serde_json::Value as Json;

use crate::registry::{Law, laws};
use crate::schema::scenario_schema;

const HEAD: &str = "\
# TCP settings

This page lists every key of `[tcp.NAME]` in a [scenario](scenario.md): its meaning, its possible values, and its value in each
profile with the source of that value. The page is generated: `cargo run -p ecnlab-spec --example generate`.
";

const LAWS_HEAD: &str = "\
# The laws

Every law that a [scenario](../scenario.md) can name, each with its page. [How to write one](../new-law.md). This page is
generated: `make schema`.
";

/// The families that have pages, each with its heading and where a scenario names its laws.
const FAMILIES: [(&str, &str, &str); 5] = [
    ("queue", "Queue disciplines", "`discipline` of `[queue.NAME]` and of the queues within one"),
    ("congestion", "Window laws", "`congestion` of `[tcp.NAME]`: a name, or a table with the law's parameters"),
    ("slow_start", "Ends of slow start", "`slow_start` of `[tcp.NAME]`; `\"standard\"` is ssthresh, a loss or a mark"),
    ("recovery", "Loss recovery", "`recovery` of `[tcp.NAME]`"),
    ("ecn", "ECN feedback", "`ecn` of `[tcp.NAME]`; `\"off\"` is none"),
];

/// `docs/laws/README.md`: every law by family, with what it does and the link to its page.
pub fn law_index() -> String {
    let mut page = LAWS_HEAD.to_owned();
    for (family, heading, place) in FAMILIES {
        let _ = writeln!(page, "\n## {heading}\n\n{place}\n\n| name | what it does |\n| --- | --- |");
        laws().iter().filter(|law| law.family == family).for_each(|law| law_line(&mut page, law));
    }
    page
}

fn law_line(page: &mut String, law: &Law) {
    let file = law.files.and_then(|(_, page)| page.rsplit('/').next()).unwrap_or_default();
    let _ = writeln!(page, "| [`{}`]({file}) | {} |", law.name, law.summary);
}

/// `docs/tcp.md`: every TCP key with its meaning and its value and source in every profile.
pub fn tcp_reference() -> String {
    let schema = scenario_schema();
    let keys = &schema["properties"]["tcp"]["additionalProperties"]["properties"];
    let mut page = format!("{HEAD}\n| profile | stands for |\n| --- | --- |\n");
    for profile in tcp::profiles() {
        let _ = writeln!(page, "| `{}` | {} |", profile.name, profile.summary);
    }
    for (key, schema_of_key) in keys.as_object().into_iter().flatten().filter(|(key, _)| *key != "profile") {
        section(&mut page, key, schema_of_key, &schema["definitions"]);
    }
    page
}

/// Writing to a text cannot fail.
fn section(page: &mut String, key: &str, schema: &Json, definitions: &Json) {
    let _ = writeln!(page, "\n## `{key}`\n\n{}\n", schema["description"].as_str().unwrap_or_default());
    let choices = choices(schema, definitions);
    for (value, about) in &choices {
        let _ = writeln!(page, "- `{value}`: {about}");
    }
    let gap = if choices.is_empty() { "" } else { "\n" };
    let _ = writeln!(page, "{gap}| profiles | value | source |\n| --- | --- | --- |");
    for (profiles, setting) in rows(key) {
        let _ = writeln!(page, "| {} | `{}` | {} |", profiles.join(", "), setting.value, setting.source);
    }
}

/// The settings of `key` with the profiles that share each.
fn rows(key: &str) -> Vec<(Vec<String>, &'static tcp::Setting)> {
    let mut rows: Vec<(Vec<String>, &tcp::Setting)> = Vec::new();
    for profile in tcp::profiles() {
        for setting in profile.settings.iter().filter(|s| s.key == key) {
            let name = format!("`{}`", profile.name);
            match rows.iter_mut().find(|(_, row)| *row == setting) {
                Some((profiles, _)) => profiles.push(name),
                None => rows.push((vec![name], setting)),
            }
        }
    }
    rows
}

/// The values that an enum can have, and what they mean.
fn choices(schema: &Json, definitions: &Json) -> Vec<(String, String)> {
    let reference = schema["allOf"][0]["$ref"].as_str().unwrap_or_default();
    let name = reference.strip_prefix("#/definitions/").unwrap_or_default();
    let choice = |choice: &Json| {
        let value = if choice["const"].is_null() { table(choice)? } else { choice["const"].to_string() };
        Some((value, choice["description"].as_str()?.to_owned()))
    };
    definitions[name]["oneOf"].as_array().into_iter().flatten().filter_map(choice).collect()
}

/// A value that is a table, with the defaults that there are: `{ kind = "ecn-alpha-beta", alpha = 0.2, beta = 0.875 }`.
fn table(choice: &Json) -> Option<String> {
    let keys = choice["properties"].as_object()?.iter();
    let (kind, parameters): (Vec<_>, Vec<_>) = keys.partition(|(key, _)| *key == "kind");
    let kind = kind.iter().map(|(key, value)| format!("{key} = {}", value["const"]));
    let parameters = parameters.iter().filter(|(_, value)| !value["default"].is_null());
    let parameters = parameters.map(|(key, value)| format!("{key} = {}", value["default"]));
    Some(format!("{{ {} }}", kind.chain(parameters).collect::<Vec<_>>().join(", ")))
}
