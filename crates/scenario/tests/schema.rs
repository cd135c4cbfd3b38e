//! Generated schemas are current and complete.

use crate::common;

use std::collections::BTreeSet;
use std::fs;

use ecnlab_base::{Bytes, Dur};
use ecnlab_scenario::{Block, blocks, experiment_schema, generated, scenario_schema};
use serde_json::Value as Json;

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

/// Calls `visit` with `schema` and all values within it.
fn each(schema: &Json, visit: &mut dyn FnMut(&Json)) {
    visit(schema);
    match schema {
        Json::Object(keys) => keys.values().for_each(|inner| each(inner, visit)),
        Json::Array(items) => items.iter().for_each(|inner| each(inner, visit)),
        _ => {}
    }
}

/// Replaces all references to shared keys by their definitions.
fn put_back(schema: &mut Json, definitions: &Json) {
    let name = schema["$ref"].as_str().and_then(|to| to.strip_prefix("#/definitions/"));
    if let Some(name) = name.filter(|name| name.starts_with("key.")) {
        *schema = definitions[name].clone();
    }
    match schema {
        Json::Object(keys) => keys.values_mut().for_each(|inner| put_back(inner, definitions)),
        Json::Array(items) => items.iter_mut().for_each(|inner| put_back(inner, definitions)),
        _ => {}
    }
}

#[test]
fn references_to_shared_keys_change_nothing_else() {
    let [(_, text), ..] = generated();
    let mut stored: Json = serde_json::from_str(&text).unwrap();
    let definitions = stored["definitions"].clone();
    put_back(&mut stored, &definitions);
    stored["definitions"].as_object_mut().unwrap().retain(|name, _| !name.starts_with("key."));
    assert_eq!(stored, scenario_schema());
}

#[test]
fn a_key_that_tables_share_is_written_once() {
    let [(_, text), ..] = generated();
    let (mut seen, mut twice) = (BTreeSet::new(), Vec::new());
    each(&serde_json::from_str(&text).unwrap(), &mut |table| {
        let keys = table["properties"].as_object().into_iter().flatten().map(|(_, of_key)| of_key.to_string());
        twice.extend(keys.filter(|of_key| of_key.len() >= 80 && !seen.insert(of_key.clone())));
    });
    assert!(twice.is_empty(), "{twice:#?}");
}

#[test]
fn lines_are_short_where_values_are() {
    let [(_, text), ..] = generated();
    assert!(text.starts_with("{\n \"$schema\": ") && text.ends_with("\n}\n"));
    assert!(text.contains(
        "    {\"const\":\"drop\",\"description\":\"All are dropped, ECN-capable or not.\",\"type\":\"string\"},\n"
    ));
    for line in text.lines().filter(|line| line.trim_end_matches(',').len() >= 160) {
        assert!(line.contains("\": \""), "no string is so long: {line}");
    }
}

#[test]
fn what_stands_between_the_markers_is_replaced_and_nothing_else() {
    let put = |page: &str| Block { page: "", name: "keys".to_owned(), text: "new\n".to_owned() }.put(page);
    let page = |text: &str| format!("a\n<!-- generated: keys -->\n{text}<!-- end -->\nb\n");
    for old in ["", "old\n", "new\n"] {
        assert_eq!(put(&page(old)), Some(page("new\n")));
    }
    // Markers that are missing or doubled.
    let block = "<!-- generated: keys -->\n<!-- end -->\n";
    let open = "<!-- generated: keys -->\n<!-- generated: head -->\n<!-- end -->\n";
    for page in ["", "<!-- end -->\n", "<!-- generated: keys -->\n", open, &[block, block].concat()] {
        assert_eq!(put(page), None, "{page}");
    }
}

#[test]
fn a_default_is_code_where_the_sentence_has_it_as_toml_does() {
    let blocks = blocks();
    for (law, row) in [
        // "Default 5 ms (RFC 8289 §5.3)." with the value "5 ms"; "Default 1 (…)." with 1.0.
        ("codel", "| `target` | time | `\"5 ms\"` (RFC 8289 §5.3) | "),
        ("rem", "| `weight` | number | `1.0` (ns-2.35: `inw_`) | "),
        // Other notations of 0.125 and "1 kB".
        ("pie", "| `alpha` | number | 1/8 (RFC 8033 A, Linux) | "),
        ("rem", "| `mean_packet` | bytes | 1000 B (ns-2.35: `mean_pktsize_`) | "),
    ] {
        let page = format!("docs/laws/{law}.md");
        let table = blocks.iter().find(|block| block.page == page && block.name == "keys").unwrap();
        assert!(table.text.contains(row), "{row}\n{}", table.text);
    }
}

#[test]
fn descriptions_state_the_defaults_that_the_code_has() {
    let (mut wrong, mut stated) = (Vec::new(), 0);
    for schema in [scenario_schema(), experiment_schema()] {
        each(&schema, &mut |schema| {
            let description = schema["description"].as_str().unwrap_or_default();
            let Some((_, sentence)) = description.rsplit_once(". Default ") else { return };
            stated += 1;
            let default = &schema["default"];
            if !default.is_null() && !is_default(value(sentence), default) {
                wrong.push(format!("{sentence}: {default}"));
            }
        });
    }
    assert!(stated > 100, "{stated} defaults");
    assert!(wrong.is_empty(), "the doc comment has another default than the code: {wrong:#?}");
}

/// The value in the sentence about a default: in backticks, or up to its source or explanation.
fn value(sentence: &str) -> &str {
    let sentence = sentence.strip_suffix('.').unwrap_or(sentence);
    if let Some((value, _)) = sentence.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
        return value;
    }
    let end = [" (", ": ", ", ", "; "].iter().filter_map(|end| sentence.find(end)).min();
    &sentence[..end.unwrap_or(sentence.len())]
}

fn is_default(stated: &str, default: &Json) -> bool {
    let equal = match default {
        Json::Number(number) => fraction(stated) == number.as_f64(),
        Json::String(text) => {
            let times = (stated.parse::<Dur>(), text.parse::<Dur>());
            let bytes = (stated.parse::<Bytes>(), text.parse::<Bytes>());
            stated == text || matches!(times, (Ok(a), Ok(b)) if a == b) || matches!(bytes, (Ok(a), Ok(b)) if a == b)
        }
        Json::Array(items) => items.is_empty() && stated == "none",
        Json::Object(keys) => keys.is_empty() && ["none", "nothing"].contains(&stated),
        _ => false,
    };
    let toml = toml::from_str::<Json>(&format!("key = {stated}"));
    equal || toml.is_ok_and(|table| table["key"] == *default)
}

/// Parses a number, or a/b.
fn fraction(text: &str) -> Option<f64> {
    let (above, below) = text.split_once('/').unwrap_or((text, "1"));
    Some(above.parse::<f64>().ok()? / below.parse::<f64>().ok()?)
}
