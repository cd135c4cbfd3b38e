//! Tables of keys, from a JSON schema: key, values, default, meaning.

use std::fmt::Write;
use std::sync::LazyLock;

use serde_json::Value as Json;

use super::values::{toml, values};
use crate::registry::Law;
use crate::schema::{experiment_schema, scenario_schema};

/// The schema of scenarios, including the definitions of experiments. Computed once.
static SCHEMA: LazyLock<Json> = LazyLock::new(|| {
    let mut schema = scenario_schema();
    for (name, definition) in experiment_schema()["definitions"].as_object().into_iter().flatten() {
        schema["definitions"][name] = definition.clone();
    }
    schema
});

/// Returns the definitions of both formats, by name.
pub(super) fn definitions() -> &'static Json {
    &SCHEMA["definitions"]
}

const HEAD: &str = "| key | values | default | meaning |\n| --- | --- | --- | --- |\n";

/// Returns the key tables of those of `laws` that have keys.
pub(super) fn of_laws(laws: &[&Law]) -> String {
    laws.iter().filter_map(|law| Some(format!("{}{}", of_every_queue(law), tables(&of_law(law)?)))).collect()
}

/// Refers to the common keys of queues, with the discipline's own defaults if any.
fn of_every_queue(law: &Law) -> String {
    let Some(facts) = law.queue else { return String::new() };
    let defaults: Vec<String> = facts.defaults.iter().map(|(key, value)| format!("`{key} = {value}`")).collect();
    let but = if defaults.is_empty() { String::new() } else { format!(", with the defaults {}", defaults.join(", ")) };
    format!("In addition to the [keys of every queue](droptail.md#keys-of-every-queue){but}:\n\n")
}

/// Returns the schema of a law's own keys, if it has any.
fn of_law(law: &Law) -> Option<Json> {
    match law.family {
        "queue" => own_keys(law),
        "congestion" => {
            let laws = definitions()["WindowLaw"]["oneOf"].as_array()?;
            laws.iter().find(|schema| schema["properties"]["kind"]["const"] == law.name).cloned()
        }
        _ => None,
    }
}

/// Returns the schema of a discipline without the common keys of queues.
fn own_keys(law: &Law) -> Option<Json> {
    let mut schema = discipline(law.name)?;
    let keys = schema["properties"].as_object_mut()?;
    keys.retain(|key, _| key != "class" && !ecnlab_aqm::Common::KEYS.contains(&key.as_str()));
    if keys.keys().any(|key| key != "discipline") { Some(schema) } else { referenced(&schema).cloned() }
}

fn discipline(name: &str) -> Option<Json> {
    let queues = SCHEMA["properties"]["queue"]["additionalProperties"]["oneOf"].as_array()?;
    queues.iter().find(|schema| schema["title"] == name).cloned()
}

/// Returns a table of the chosen keys of a schema.
pub(super) fn some(schema: &Json, chosen: &[&str]) -> String {
    let mut schema = schema.clone();
    if let Some(keys) = schema["properties"].as_object_mut() {
        keys.retain(|key, _| chosen.contains(&key.as_str()));
    }
    table(&schema)
}

/// Returns the table of the keys of `schema`, and one for each key whose value is a table of keys.
fn tables(schema: &Json) -> String {
    let mut text = table(schema);
    for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
        let (of, inner) = match inner["additionalProperties"]["$ref"].as_str() {
            Some(name) => (format!("{key}.NAME"), definition(name)),
            None => (key.clone(), referenced(inner)),
        };
        if let Some(inner) = inner.filter(|inner| inner["properties"].is_object()) {
            let _ = write!(text, "\nKeys of the table `{of}`:\n\n{}", table(inner));
        }
    }
    text
}

/// Returns the table of the keys of `schema`: required keys first, then by name.
pub(super) fn table(schema: &Json) -> String {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    let all = schema["properties"].as_object();
    let find = |key: &&str| all.and_then(|all| all.get_key_value(*key));
    let first = required.iter().filter_map(find);
    let others = all.into_iter().flatten().filter(|(key, _)| !required.contains(&key.as_str()));
    // The name of a law or a kind of traffic is in its heading.
    let rows = first.chain(others).filter(|(_, of_key)| of_key["const"].is_null() || of_key["type"] == "integer");
    let rows = rows.map(|(key, of_key)| row(key, of_key, required.contains(&key.as_str())));
    std::iter::once(HEAD.to_owned()).chain(rows).collect()
}

fn row(key: &str, schema: &Json, required: bool) -> String {
    let (meaning, default) = described(schema);
    let default = if required { "required".to_owned() } else { default };
    let cells = [values(schema), default, meaning].map(|cell| cell.replace('|', "\\|"));
    format!("| `{key}` | {} |\n", cells.join(" | "))
}

/// Returns the meaning of a key and its default with source: the last sentence of its description, if it starts with
/// "Default".
fn described(schema: &Json) -> (String, String) {
    let description = schema["description"].as_str().unwrap_or_default();
    let (meaning, sentence) = sentences(description);
    let value = Some(&schema["default"]).filter(|value| !value.is_null());
    let default = match (sentence, value) {
        (Some(sentence), Some(value)) => stated(sentence, value),
        (Some(sentence), None) => sentence.to_owned(),
        (None, Some(value)) => format!("`{}`", toml(value)),
        (None, None) => "none".to_owned(),
    };
    (meaning.to_owned(), default)
}

/// Splits a description into the text and the sentence about the default.
fn sentences(description: &str) -> (&str, Option<&str>) {
    let Some((meaning, sentence)) = description.rsplit_once(". Default") else { return (description, None) };
    let Some(sentence) = sentence.strip_prefix(": ").or_else(|| sentence.strip_prefix(' ')) else {
        return (description, None);
    };
    (&description[..=meaning.len()], Some(sentence.strip_suffix('.').unwrap_or(sentence)))
}

/// Formats a default as TOML if the sentence gives the same value, otherwise as in the sentence (1/8, 32 MiB), with its
/// source.
fn stated(sentence: &str, value: &Json) -> String {
    let (stated, rest) = value_and_source(sentence);
    let same = value.as_str().map_or_else(|| toml(value), str::to_owned);
    if stated == same || (value.is_number() && stated.parse().ok() == value.as_f64()) {
        format!("`{}`{rest}", toml(value))
    } else {
        sentence.to_owned()
    }
}

/// Splits the sentence about a default into the value, without backticks, and the rest.
fn value_and_source(sentence: &str) -> (&str, &str) {
    if let Some((value, rest)) = sentence.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
        return (value, rest);
    }
    let end = [" (", ": ", ", ", "; "].iter().filter_map(|end| sentence.find(end)).min();
    sentence.split_at(end.unwrap_or(sentence.len()))
}

/// Returns the definition that a schema refers to.
pub(super) fn referenced(schema: &Json) -> Option<&'static Json> {
    definition(schema["$ref"].as_str().or_else(|| schema["allOf"][0]["$ref"].as_str())?)
}

fn definition(reference: &str) -> Option<&'static Json> {
    definitions().get(reference.strip_prefix("#/definitions/")?)
}
