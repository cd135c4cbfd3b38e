//! What is generated is current, and says what it must.

use crate::common;

use std::fs;

use ecnlab_spec::{experiment_schema, generated, scenario_schema};

#[test]
fn generated_files_are_current() {
    for (path, text) in generated() {
        let current = fs::read_to_string(common::root().join(path)).unwrap_or_default() == text;
        assert!(current, "{path} is old: cargo run -p ecnlab-spec --example generate");
    }
}

#[test]
fn a_queue_is_one_of_its_disciplines_with_all_keys() {
    let schema = scenario_schema();
    let queues = schema["properties"]["queue"]["additionalProperties"]["oneOf"].as_array().unwrap();
    let red = queues.iter().find(|q| q["title"] == "red").unwrap();
    for key in ["discipline", "min_th", "limit", "ecn"] {
        assert!(red["properties"][key]["description"].is_string(), "{key}");
    }
    assert_eq!(red["additionalProperties"], false);
    let required = red["required"].as_array().unwrap();
    assert!(required.contains(&"discipline".into()) && required.contains(&"min_th".into()));
}

#[test]
fn every_tcp_key_is_described_and_none_required() {
    let schema = scenario_schema();
    let tcp = &schema["properties"]["tcp"]["additionalProperties"];
    assert!(tcp.get("required").is_none());
    for (key, of_key) in tcp["properties"].as_object().unwrap() {
        assert!(of_key["description"].is_string(), "{key}");
    }
    assert!(tcp["properties"]["profile"]["enum"].as_array().unwrap().contains(&"linux-2.0".into()));
}

#[test]
fn nothing_may_be_null() {
    for schema in [scenario_schema(), experiment_schema()] {
        assert!(!schema.to_string().contains("\"null\""));
    }
}
