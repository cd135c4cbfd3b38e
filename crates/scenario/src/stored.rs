//! Formatting of the stored JSON schemas: shared definitions occur once, and short values are on one line.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

/// Maximum length in bytes of a line with a complete value.
const LINE: usize = 160;
/// Minimum length in bytes of a key's schema that is shared; a reference is as long as a shorter one.
const SHARED: usize = 80;

/// Returns the text of a schema file: equivalent for validators, with a final newline.
pub(crate) fn stored(schema: &Json) -> String {
    let mut text = String::new();
    write(&mut text, &shared(schema), 0);
    text + "\n"
}

/// Replaces schemas of keys that several tables share by references to a definition.
fn shared(schema: &Json) -> Json {
    let names = names(schema);
    let mut result = schema.clone();
    refer(&mut result, &names);
    for (text, name) in &names {
        let mut definition = serde_json::from_str(text).expect("it was written from JSON");
        refer(&mut definition, &names);
        result["definitions"][name] = definition;
    }
    result
}

/// Returns the schemas shared by several tables, with the names of their definitions. Those of one key are numbered in
/// the order of the tables, so that a changed description changes no number.
fn names(schema: &Json) -> BTreeMap<String, String> {
    let mut all = Vec::new();
    keys(schema, &mut all);
    let all: Vec<(&str, String)> = all.into_iter().map(|(key, of_key)| (key, of_key.to_string())).collect();
    let mut times: BTreeMap<&str, u32> = BTreeMap::new();
    for (_, text) in all.iter().filter(|(_, text)| text.len() >= SHARED) {
        *times.entry(text).or_default() += 1;
    }
    let (mut numbers, mut names) = (BTreeMap::<&str, u32>::new(), BTreeMap::new());
    for (key, text) in &all {
        if times.get(text.as_str()).is_some_and(|times| *times > 1) && !names.contains_key(text) {
            let number = numbers.entry(key).or_default();
            *number += 1;
            names.insert(text.clone(), format!("key.{key}.{number}"));
        }
    }
    names
}

/// Collects the keys of every table in `schema`, with their schemas.
fn keys<'a>(schema: &'a Json, all: &mut Vec<(&'a str, &'a Json)>) {
    all.extend(schema["properties"].as_object().into_iter().flatten().map(|(key, of_key)| (key.as_str(), of_key)));
    inner(schema).for_each(|schema| keys(schema, all));
}

fn inner(schema: &Json) -> impl Iterator<Item = &Json> {
    let (keys, items) = (schema.as_object(), schema.as_array());
    keys.into_iter().flat_map(Map::values).chain(items.into_iter().flatten())
}

/// Replaces the schemas of keys by references to the definitions in `names`.
fn refer(schema: &mut Json, names: &BTreeMap<String, String>) {
    if let Some(Json::Object(keys)) = schema.get_mut("properties") {
        for of_key in keys.values_mut() {
            if let Some(name) = names.get(&of_key.to_string()) {
                *of_key = json!({ "$ref": format!("#/definitions/{name}") });
            }
        }
    }
    match schema {
        Json::Object(keys) => keys.values_mut().for_each(|inner| refer(inner, names)),
        Json::Array(items) => items.iter_mut().for_each(|inner| refer(inner, names)),
        _ => {}
    }
}

/// Writes a value that starts at column `indent`: on one line if short enough, otherwise one part per line.
fn write(text: &mut String, value: &Json, indent: usize) {
    let line = value.to_string();
    let start = text.len() - text.rfind('\n').map_or(0, |at| at + 1);
    let parts: Vec<(String, &Json)> = match value {
        _ if start + line.len() < LINE => Vec::new(),
        Json::Object(keys) => keys.iter().map(|(key, value)| (format!("{}: ", json!(key)), value)).collect(),
        Json::Array(items) => items.iter().map(|value| (String::new(), value)).collect(),
        _ => Vec::new(),
    };
    if parts.is_empty() {
        *text += &line;
        return;
    }
    let (open, close) = if value.is_object() { ('{', '}') } else { ('[', ']') };
    text.push(open);
    for (i, (key, value)) in parts.iter().enumerate() {
        *text += if i > 0 { ",\n" } else { "\n" };
        *text += &" ".repeat(indent + 1);
        *text += key;
        write(text, value, indent + 1);
    }
    text.push('\n');
    *text += &" ".repeat(indent);
    text.push(close);
}
