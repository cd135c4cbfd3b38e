//! Possible values of a key, in brief, and values in TOML notation.

use serde_json::Value as Json;

use super::keys::referenced;

/// Describes the values of a key with this schema.
pub(super) fn values(schema: &Json) -> String {
    if let Some(name) = quantity(schema) {
        return name.to_owned();
    }
    if let Some(inner) = referenced(schema) {
        return values(inner);
    }
    for choices in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[choices].as_array() {
            return list(choices.iter().map(values));
        }
    }
    if let Some(names) = schema["enum"].as_array() {
        return if names.len() > 12 { "name".to_owned() } else { list(names.iter().map(code)) };
    }
    if !schema["const"].is_null() {
        return code(&schema["const"]);
    }
    match schema["type"].as_str() {
        Some("boolean") => "`true`, `false`".to_owned(),
        Some("integer") => "whole number".to_owned(),
        Some("array") if schema["items"]["type"] == "array" => "list of pairs".to_owned(),
        Some("array") => format!("list: {}", values(&schema["items"])).trim_end_matches([':', ' ']).to_owned(),
        Some("object") => object(schema),
        Some(plain) => plain.to_owned(),
        None => String::new(),
    }
}

/// A table with the keys of a distribution is described as a distribution, one with those of a change as changes.
fn object(schema: &Json) -> String {
    let keys: Vec<&String> = schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key).collect();
    match keys.as_slice() {
        [one] if ["uniform", "exponential", "pareto", "pareto2"].contains(&one.as_str()) => "distribution".to_owned(),
        _ if keys.iter().any(|key| *key == "mahimahi") => "changes".to_owned(),
        _ => "table".to_owned(),
    }
}

/// Returns the quantity that a reference names.
fn quantity(schema: &Json) -> Option<&'static str> {
    let reference = schema["$ref"].as_str().or_else(|| schema["allOf"][0]["$ref"].as_str())?;
    Some(match reference.strip_prefix("#/definitions/")? {
        "Dur" => "time",
        "Rate" => "rate",
        "Bytes" => "bytes",
        "Length" => "packets or bytes",
        "Dscp" => "DSCP",
        _ => return None,
    })
}

/// Joins distinct values with commas.
fn list(values: impl Iterator<Item = String>) -> String {
    let mut each: Vec<String> = Vec::new();
    for value in values {
        if !each.contains(&value) {
            each.push(value);
        }
    }
    each.join(", ")
}

fn code(value: &Json) -> String {
    format!("`{}`", toml(value))
}

/// Formats a value as inline TOML.
pub(super) fn toml(value: &Json) -> String {
    match value {
        Json::Object(keys) if keys.is_empty() => "{}".to_owned(),
        Json::Object(keys) => {
            let keys: Vec<String> = keys.iter().map(|(key, value)| format!("{key} = {}", toml(value))).collect();
            format!("{{ {} }}", keys.join(", "))
        }
        Json::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        plain => plain.to_string(),
    }
}
