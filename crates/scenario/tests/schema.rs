//! Generated schemas are current and complete.

use crate::common;

use std::collections::BTreeSet;
use std::fs;

use ecnlab_scenario::{blocks, experiment_schema, generated, scenario_schema};

#[test]
fn generated_files_are_current() {
    for (path, text) in generated() {
        let current = fs::read_to_string(common::root().join(path)).unwrap_or_default() == text;
        assert!(current, "{path} is old: make schema");
    }
}

#[test]
fn generated_parts_of_pages_are_current() {
    for block in blocks() {
        let page = fs::read_to_string(common::root().join(block.page)).unwrap_or_default();
        let marker = block.marker();
        let current = block.put(&page);
        assert!(current.is_some(), "{}: write {} and <!-- end --> once, then make schema", block.page, marker.trim());
        assert!(current.unwrap() == page, "{}: the part after {} is old: make schema", block.page, marker.trim());
    }
}

#[test]
fn every_marker_is_of_a_part_that_is_generated() {
    let known: BTreeSet<(String, String)> = blocks().iter().map(|b| (b.page.to_owned(), b.marker())).collect();
    for folder in ["docs", "docs/laws"] {
        for file in fs::read_dir(common::root().join(folder)).unwrap() {
            let path = format!("{folder}/{}", file.unwrap().file_name().into_string().unwrap());
            // The page on new laws shows markers; a test in Python writes those of the page on Linux.
            if !path.ends_with(".md") || ["docs/new-law.md", "docs/linux.md"].contains(&path.as_str()) {
                continue;
            }
            let page = fs::read_to_string(common::root().join(&path)).unwrap();
            for line in page.lines().filter(|line| line.starts_with("<!-- generated: ")) {
                assert!(known.contains(&(path.clone(), format!("{line}\n"))), "{path}: nothing writes {line}");
            }
        }
    }
}

#[test]
fn the_page_of_each_law_has_a_head_and_that_of_one_with_keys_their_table() {
    let blocks = blocks();
    let has = |page: &str, name: &str| blocks.iter().any(|block| block.page == page && block.name == name);
    for law in ecnlab_scenario::registry::laws() {
        let Some((_, page)) = law.files else { continue };
        assert!(has(page, "head"), "{page}");
    }
    let keys = |name: &str| has(&format!("docs/laws/{name}.md"), "keys");
    assert!(["red", "fq_codel", "dualpi2", "user-defined", "cubic", "abe", "dctcp"].into_iter().all(keys));
    assert!(!["droptail", "reno", "bbr", "sack", "hystart"].into_iter().any(keys));
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
        let text = schema.to_string();
        let null = [r#""type":"null""#, r#","null"]"#].into_iter().find(|null| text.contains(null));
        assert_eq!(null, None);
    }
}
