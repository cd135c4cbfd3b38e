//! `docs/scenario.md` states all of the format, correctly.

use crate::common;

use std::fs;

use ecnlab_scenario::registry::laws;
use ecnlab_scenario::{experiment_schema, parse_experiment, parse_scenario, scenario_schema};
use serde_json::Value as Json;

fn page() -> String {
    fs::read_to_string(common::root().join("docs/scenario.md")).unwrap()
}

/// The TOML blocks of a part of the page, one after the other.
fn blocks(part: &str) -> Vec<String> {
    part.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_worked_example_is_the_example_file() {
    let page = page();
    let (worked, _) = page.split_once("## Units").unwrap();
    let built = parse_scenario("docs/scenario.md", &blocks(worked).concat()).unwrap_or_else(|e| panic!("{e}"));
    let file = fs::read_to_string(common::root().join("examples/mixed.toml")).unwrap();
    assert_eq!(built.resolved(), parse_scenario("mixed.toml", &file).unwrap().resolved());
}

#[test]
fn the_experiment_of_the_page_runs_as_often_as_stated() {
    let page = page();
    let blocks = blocks(page.split_once("## Experiments").unwrap().1);
    let dumbbell = fs::read_to_string(common::root().join("examples/dumbbell.toml")).unwrap();
    let runs = |text: &str| {
        let experiment = parse_experiment("docs/scenario.md", text, &|_: &std::path::Path| Ok(dumbbell.clone()));
        experiment.unwrap_or_else(|e| panic!("{e}")).len()
    };
    assert_eq!(runs(&blocks[0]), 60);
    assert_eq!(runs(&format!("format = 1\nscenario = \"x\"\nreplicates = 1\n{}", blocks[1])), 2);
}

#[test]
fn every_key_has_its_line() {
    let page = page();
    let mut missing = Vec::new();
    for schema in [scenario_schema(), experiment_schema()] {
        let tables = [
            "Node",
            "Link",
            "Shaper",
            "Jitter",
            "BurstLoss",
            "Flow",
            "HostileBox",
            "Rewrite",
            "AxisFile",
            "PointFile",
            "ArmFile",
            "Metric",
        ];
        let tables = tables.iter().map(|name| &schema["definitions"][name]);
        for key in std::iter::once(&schema).chain(tables).flat_map(keys) {
            let ways = [format!("`{key}`"), format!("[{key}.NAME]"), format!("`[{key}]`"), format!("{key} = ")];
            if !ways.iter().any(|way| page.contains(way)) {
                missing.push(key);
            }
        }
    }
    let queues = page.clone() + &fs::read_to_string(common::root().join("docs/laws/droptail.md")).unwrap();
    missing.extend(
        keys(&scenario_schema()["properties"]["queue"]["additionalProperties"]["oneOf"][0])
            .into_iter()
            .filter(|key| !queues.contains(&format!("`{key}`"))),
    );
    assert!(missing.is_empty(), "docs/scenario.md does not speak of {missing:?}");
}

#[test]
fn every_profile_is_named_and_every_law_is_in_the_list_that_it_links() {
    let page = page();
    for profile in ecnlab_tcp::profiles() {
        assert!(page.contains(&format!("`\"{}\"`", profile.name)), "{}", profile.name);
    }
    let list = ecnlab_scenario::law_index();
    for law in laws() {
        let Some((_, file)) = law.files else { continue };
        let line = format!("| [`{}`]({}) | {} |\n", law.name, file.replacen("docs", "..", 1), law.summary);
        assert!(list.contains(&line), "{} {}", law.family, law.name);
    }
    // A heading of the list for each key by which a scenario names a law.
    for heading in list.lines().filter_map(|line| line.strip_prefix("## ")) {
        let anchor = heading.to_lowercase().replace(' ', "-");
        assert!(page.contains(&format!("(generated/laws.md#{anchor})")), "docs/scenario.md has no link to {heading}");
    }
}

#[test]
fn the_page_on_traffic_names_every_kind_and_key_and_its_examples_run() {
    let page = fs::read_to_string(common::root().join("docs/traffic.md")).unwrap();
    let schema = scenario_schema();
    let row = |name: &str| page.contains(&format!("| `{name}` |"));
    let kinds = schema["definitions"]["Params"]["oneOf"].as_array().unwrap();
    for table in kinds.iter().chain([&schema["definitions"]["SquidParams"]]) {
        let missing: Vec<String> = keys(table).into_iter().filter(|key| key != "kind" && !row(key)).collect();
        assert!(missing.is_empty() && !keys(table).is_empty(), "docs/traffic.md does not speak of {missing:?}");
    }
    assert!(laws().iter().filter(|law| law.family == "traffic").all(|law| row(law.name)));
    let network = "format = 1\nduration = \"60 s\"\n[node.server]\ncount = 2\n[node.client]\ncount = 2\n\
        [link.pipe]\nfrom = \"server\"\nto = \"client\"\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\n\
        [link.cross]\nfrom = \"server[0]\"\nto = \"client[1]\"\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\n";
    for flow in blocks(&page).iter().filter(|block| block.contains("[flow.")) {
        let scenario = parse_scenario("docs/traffic.md", &format!("{network}{flow}")).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(scenario.plan(1).flows.len(), 1);
    }
}

#[test]
fn the_mistake_of_the_page_has_the_message_of_the_page() {
    let file = fs::read_to_string(common::root().join("examples/mixed.toml")).unwrap();
    let wrong = parse_scenario("mixed.toml", &file.replace("min_th", "minth")).unwrap_err();
    let shown: String = wrong.to_string().lines().map(|line| format!("    {line}\n")).collect();
    assert!(page().contains(&shown), "{shown}");
}

fn keys(schema: &Json) -> Vec<String> {
    schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
}
