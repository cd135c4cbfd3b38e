//! Grids, arms and replicates: how many runs there are, and what they share.

use crate::common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ecnlab_base::Rng;
use ecnlab_scenario::{Experiment, parse_experiment};

fn read(path: &str) -> Experiment {
    let path = common::root().join(path);
    let text = fs::read_to_string(&path).unwrap();
    parse_experiment(&path.to_string_lossy(), &text, &|p: &Path| fs::read_to_string(p))
        .unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_grid_is_a_product_of_points_arms_and_replicates() {
    let gain = read("examples/gain.toml");
    assert_eq!(gain.axes(), ["flows", "max_p"]);
    assert_eq!(gain.len(), 2 * 3 * 2 * 5);
    let labels: Vec<String> = gain
        .runs()
        .map(Result::unwrap)
        .step_by(5)
        .map(|run| format!("{} {} {}", run.point[0].1, run.point[1].1, run.arm.as_deref().unwrap_or("none")))
        .collect();
    assert_eq!(labels[..4], ["light 0.02 ecn", "light 0.02 plain", "light 0.1 ecn", "light 0.1 plain"]);
    assert_eq!(labels[11], "heavy 0.5 plain");
}

#[test]
fn values_reach_the_scenario_of_their_run() {
    let gain = read("examples/gain.toml");
    let heavy = gain.runs().map(Result::unwrap).next_back().unwrap().scenario.resolved();
    assert_eq!(heavy["flow"]["bulk"]["count"], 20);
    assert_eq!(heavy["queue"]["red"]["max_p"], 0.5);
    assert_eq!(heavy["tcp"]["default"]["ecn"], "off");
    assert_eq!((&heavy["duration"], &heavy["link"]["bottleneck"]["delay"]), (&"30 s".into(), &"10 ms".into()));
}

#[test]
fn a_replicate_has_one_seed_in_every_arm_and_point() {
    let gain = read("examples/gain.toml");
    for run in gain.runs().map(Result::unwrap) {
        assert_eq!(run.seed, Rng::named(1, &format!("replicate.{}", run.replicate)).u64());
    }
    let seeds: BTreeSet<u64> = gain.runs().map(Result::unwrap).map(|run| run.seed).collect();
    assert_eq!(seeds.len(), 5);
}

#[test]
fn more_replicates_keep_the_runs_there_were() {
    let gain = read("examples/gain.toml");
    let ids: BTreeSet<String> = gain.runs().map(Result::unwrap).map(|run| run.id).collect();
    assert_eq!(ids.len(), 60);
    let more = gain.clone().with_replicates(7);
    assert_eq!((more.replicates(), more.len()), (7, 84));
    let all: BTreeSet<String> = more.runs().map(Result::unwrap).map(|run| run.id).collect();
    assert!(ids.is_subset(&all));
}

#[test]
fn later_layers_win() {
    let scenario = fs::read_to_string(common::root().join("examples/dumbbell.toml")).unwrap();
    let text = "format = 1\nscenario = \"x.toml\"\nreplicates = 1\n\
        [set]\n\"queue.red.max_p\" = 0.3\nduration = \"50 s\"\n\
        [grid.queue]\npoints = [\n\
        { label = \"whole\", set = { \"queue.red\" = { discipline = \"droptail\", limit = \"9 packets\" } } },\n\
        { label = \"same\", set = { duration = \"40 s\" } } ]\n\
        [arm.a]\nset = { \"queue.red.limit\" = \"8 packets\" }\n";
    let experiment =
        parse_experiment("e.toml", text, &|_: &Path| Ok(scenario.clone())).unwrap_or_else(|e| panic!("{e}"));
    let [whole, same] = [0, 1].map(|i| experiment.run(i).unwrap().scenario.resolved());
    assert_eq!(
        (&whole["queue"]["red"]["discipline"], &whole["queue"]["red"]["limit"]),
        (&"droptail".into(), &"8 packets".into())
    );
    assert_eq!((&whole["duration"], &same["duration"]), (&"50 s".into(), &"40 s".into()));
    assert_eq!((&same["queue"]["red"]["max_p"], &same["queue"]["red"]["limit"]), (&0.3.into(), &"8 packets".into()));
}

/// The queue `red` of `examples/dumbbell.toml`, which has `quantiles`, with the table `queue` of a grid.
fn queue_with(queue: &str) -> serde_json::Value {
    let scenario = fs::read_to_string(common::root().join("examples/dumbbell.toml")).unwrap();
    let scenario = scenario.replace("discipline = \"red\"", "discipline = \"red\"\nquantiles = true");
    let text = format!(
        "format = 1\nscenario = \"x.toml\"\nreplicates = 1\n[grid.queue]\npath = \"queue.red\"\nvalues = [{queue}]\n"
    );
    let experiment =
        parse_experiment("e.toml", &text, &|_: &Path| Ok(scenario.clone())).unwrap_or_else(|e| panic!("{e}"));
    experiment.run(0).unwrap().scenario.resolved()["queue"]["red"].clone()
}

#[test]
fn a_table_is_merged_into_a_queue_of_its_discipline() {
    let own = queue_with("{}");
    for same in ["{ max_p = 0.5 }", "{ discipline = \"red\", max_p = 0.5 }"] {
        let mut merged = queue_with(same);
        assert_eq!(merged["max_p"], 0.5);
        merged["max_p"] = own["max_p"].clone();
        assert_eq!(merged, own, "{same}");
    }
}

#[test]
fn a_queue_of_another_discipline_keeps_limit_ecn_and_quantiles() {
    let own = queue_with("{}");
    let codel = queue_with("{ discipline = \"codel\" }");
    for key in ["limit", "ecn", "quantiles"] {
        assert_eq!(codel[key], own[key], "{key}");
    }
    assert!(codel.get("max_p").is_none());
    let plain = queue_with("{ discipline = \"codel\", limit = \"9 packets\", ecn = false, quantiles = false }");
    assert_eq!((&plain["limit"], &plain["ecn"]), (&"9 packets".into(), &false.into()));
    assert!(plain.get("quantiles").is_none());
    // `ecn` has no effect there.
    assert_eq!(queue_with("{ discipline = \"droptail\" }")["ecn"], false);
    assert_eq!(queue_with("{ discipline = \"docsis_pie\" }")["ecn"], false);
}

#[test]
fn points_that_make_no_difference_share_their_runs() {
    let scenario = fs::read_to_string(common::root().join("examples/dumbbell.toml")).unwrap();
    let text = "format = 1\nscenario = \"x.toml\"\nreplicates = 1\n[grid.limit]\npath = \"queue.red.limit\"\n\
        values = [\"100 packets\", \"100  packets\"]\n";
    let experiment =
        parse_experiment("e.toml", text, &|_: &Path| Ok(scenario.clone())).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(experiment.run(0).unwrap().id, experiment.run(1).unwrap().id);
    assert_eq!(experiment.run(0).unwrap().arm, None);
}

#[test]
fn several_paths_get_one_value() {
    let scenario = fs::read_to_string(common::root().join("examples/mixed.toml")).unwrap();
    let text = "format = 1\nscenario = \"x.toml\"\nreplicates = 1\n[grid.recovery]\n\
        paths = [\"tcp.with.recovery\", \"tcp.without.recovery\"]\nvalues = [\"reno\", \"sack\"]\n";
    let experiment =
        parse_experiment("e.toml", text, &|_: &Path| Ok(scenario.clone())).unwrap_or_else(|e| panic!("{e}"));
    let sack = experiment.run(1).unwrap().scenario.resolved();
    assert_eq!(
        (&sack["tcp"]["with"]["recovery"], &sack["tcp"]["without"]["recovery"]),
        (&"sack".into(), &"sack".into())
    );
    assert_eq!(experiment.run(1).unwrap().point, [("recovery".to_owned(), "sack".to_owned())]);
}

#[test]
fn metrics_are_handed_on_as_they_are_written() {
    let gain = read("examples/gain.toml");
    assert_eq!(gain.metrics()["waste"], serde_json::json!({ "ratio": ["retransmits", "sent"] }));
    assert_eq!(gain.metrics()["fairness"]["aggregate"], "jain");
}
