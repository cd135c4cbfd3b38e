//! JSON schemas of the two file formats, for editors (taplo, Even Better TOML).
//!
//! The typed tables define most of them; rules in [`crate::tables`] are added here: the keys of a queue depend on its
//! discipline, a TCP may omit keys of its profile, the reverse direction of a link has most of a link's keys, and
//! traffic without settings may be just its name.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value as Json, json};
use {ecnlab_aqm as aqm, ecnlab_tcp as tcp, ecnlab_traffic as traffic};

use crate::file::{FORMAT, Head, Link};
use crate::tables::{SECTIONS, SHARED_BY_DIRECTIONS};
use crate::{experiment, profile};

/// The JSON schema (draft 7) of scenario files.
pub fn scenario_schema() -> Json {
    let mut generator = SchemaSettings::draft07().into_generator();
    let mut root = schema_of::<Head>(&mut generator);
    let mut link = schema_of::<Link>(&mut generator);
    link["properties"]["reverse"] = reverse(&link);
    let queue = json!({ "oneOf": queues(&mut generator, &json!({})) });
    let member = schema_of::<aqm::Member>(&mut generator);
    let class = json!({ "oneOf": queues(&mut generator, &member) });
    let tcp = tcp_schema(&mut generator);
    let keys = &mut root["properties"];
    for (section, schema) in [("queue", queue), ("tcp", tcp)] {
        keys[section]["additionalProperties"] = schema;
    }
    for section in SECTIONS {
        keys[section]["propertyNames"] = json!({ "pattern": "^[A-Za-z0-9_-]+$" });
    }
    keys["profile"]["enum"] = json!(profile::names());
    let mut definitions = generator.take_definitions(true);
    definitions.insert("Link".into(), link);
    definitions.insert(CLASS.into(), class);
    if let Some(flow) = definitions.get_mut("Flow") {
        let names: Vec<&str> = traffic::ROWS.iter().map(|row| row.name).collect();
        let table = flow["properties"]["traffic"].take();
        let about = table["description"].clone();
        flow["properties"]["traffic"] = json!({ "description": about, "anyOf": [{ "enum": names }, table] });
    }
    finish(root, definitions, "ecnlab scenario")
}

/// The JSON schema (draft 7) of experiment files.
pub fn experiment_schema() -> Json {
    let mut generator = SchemaSettings::draft07().into_generator();
    let root = schema_of::<experiment::Head>(&mut generator);
    let definitions = generator.take_definitions(true);
    finish(root, definitions, "ecnlab experiment")
}

fn finish(mut root: Json, definitions: Map<String, Json>, title: &str) -> Json {
    root["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    root["title"] = json!(title);
    root["properties"]["format"]["const"] = json!(FORMAT);
    root["definitions"] = Json::Object(definitions);
    tidy(&mut root);
    root
}

/// Adapts serde's schema of a type to TOML and draft 7.
fn tidy(schema: &mut Json) {
    match schema {
        Json::Array(items) => items.iter_mut().for_each(tidy),
        Json::Object(keys) => {
            keys.values_mut().for_each(tidy);
            tidy_keys(keys);
        }
        _ => {}
    }
}

fn tidy_keys(keys: &mut Map<String, Json>) {
    // Removes Rust's integer types and serde's remark that a section is not serialised.
    for key in ["format", "writeOnly"] {
        if keys.get(key).is_some_and(|value| value.is_string() || value.is_boolean()) {
            keys.remove(key);
        }
    }
    if let Some(Json::String(text)) = keys.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    // A missing key is omitted, not null.
    for key in ["type", "anyOf"] {
        let Some(Json::Array(choices)) = keys.get_mut(key) else { continue };
        choices.retain(|choice| choice != "null" && choice["type"] != "null");
        if let [only] = choices.as_slice() {
            let only = only.clone();
            let single = if key == "type" { object(&json!({ "type": only })) } else { object(&only) };
            keys.remove(key);
            keys.extend(single);
        }
    }
    // Draft 7 ignores keywords next to a reference.
    if keys.len() > 1
        && let Some(reference) = keys.remove("$ref")
    {
        keys.insert("allOf".into(), json!([{ "$ref": reference }]));
    }
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Json {
    T::json_schema(generator).to_value()
}

fn reverse(link: &Json) -> Json {
    let mut reverse = link.clone();
    reverse["description"] = link["properties"]["reverse"]["description"].clone();
    if let Some(keys) = reverse["properties"].as_object_mut() {
        keys.retain(|key, _| !SHARED_BY_DIRECTIONS.contains(&key.as_str()));
    }
    without_required(reverse)
}

/// The definition of a queue within a queue.
const CLASS: &str = "Class";

/// Returns one alternative per discipline: common keys, class keys if it is a class, and its own keys.
fn queues(generator: &mut SchemaGenerator, member: &Json) -> Vec<Json> {
    let common = schema_of::<aqm::Common>(generator);
    let queue = |row: &aqm::registry::Row| {
        let mut law = row.schema(generator).to_value();
        law["title"] = json!(row.facts.name);
        law["description"] = json!(row.facts.summary);
        let mut keys = object(&common["properties"]);
        keys.insert("discipline".into(), json!({ "const": row.facts.name, "description": row.facts.summary }));
        keys.extend(object(&member["properties"]));
        keys.extend(object(&law["properties"]));
        if row.facts.inner {
            let each = json!({ "$ref": format!("#/definitions/{CLASS}") });
            let about = "The queues within, by name";
            keys.insert(
                "class".into(),
                json!({ "description": about, "type": "object", "additionalProperties": each }),
            );
        }
        law["properties"] = Json::Object(keys);
        let required = [&json!(["discipline"]), &common["required"], &law["required"]];
        let given = |key: &&Json| row.facts.defaults.iter().all(|(given, _)| *key != given);
        law["required"] = required.into_iter().filter_map(Json::as_array).flatten().filter(given).cloned().collect();
        law
    };
    aqm::registry::ROWS.iter().map(queue).collect()
}

/// Returns the schema of all settings, none of them required: the profile has the others.
fn tcp_schema(generator: &mut SchemaGenerator) -> Json {
    let mut tcp = without_required(schema_of::<tcp::Config>(generator));
    let rules = schema_of::<tcp::Rules>(generator);
    if let Some(keys) = tcp["properties"].as_object_mut() {
        keys.extend(object(&rules["properties"]));
    }
    let about = "The profile on which these settings build; the scenario's if left out";
    tcp["properties"]["profile"] = json!({ "description": about, "enum": profile::names() });
    tcp
}

fn without_required(mut schema: Json) -> Json {
    if let Some(keys) = schema.as_object_mut() {
        keys.remove("required");
    }
    schema
}

fn object(value: &Json) -> Map<String, Json> {
    value.as_object().cloned().unwrap_or_default()
}
