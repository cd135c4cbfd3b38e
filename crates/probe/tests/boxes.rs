//! Every simulated box is classified as expected.

use std::collections::BTreeMap;

use ecnlab_probe::probe;
use ecnlab_wire::IpVersion;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/ecnlab/probing");

fn text(file: &str) -> String {
    std::fs::read_to_string(format!("{FOLDER}/{file}")).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn every_box_is_classified_as_expected() {
    let scenario = ecnlab_scenario::parse_scenario("boxes.toml", &text("boxes.toml")).unwrap_or_else(|e| panic!("{e}"));
    let expected: BTreeMap<String, String> = toml::from_str(&text("expected.toml")).expect("a class for each flow");
    for (seed, ip) in [(1, IpVersion::V4), (2, IpVersion::V4), (1, IpVersion::V6)] {
        let mut plan = scenario.plan(seed);
        plan.flows.iter_mut().for_each(|flow| flow.ip = ip);
        let class = |(i, flow): (usize, &ecnlab_engine::FlowPlan)| {
            let answers = probe(&plan, i, seed).unwrap_or_else(|error| panic!("{error}"));
            (flow.name.clone(), answers.class())
        };
        let found: BTreeMap<String, String> = plan.flows.iter().enumerate().map(class).collect();
        assert_eq!(found, expected);
    }
}
