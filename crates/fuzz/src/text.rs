//! Files that people write: whatever stands in them, they are read or refused, and the refusal points into the text.

use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use ecnlab_base::{Dur, Time};
use ecnlab_engine::{Error, Plan, run_until};
use ecnlab_scenario::{Diagnostics, Scenario, parse_experiment, parse_scenario};
use ecnlab_trace::Filter;

const FILE: &str = "x.toml";
/// A scenario for experiments.
const DUMBBELL: &str = include_str!("../../../examples/dumbbell.toml");
/// Nodes, links and flows past which an input costs too much for what it may show.
const MAX_TABLES: usize = 2_000;

/// A scenario file: what is read can be written, read again and planned.
pub fn scenario(input: &[u8]) {
    let Some(text) = small(input) else { return };
    match parse_scenario(FILE, text) {
        Err(wrong) => points_into(text, &wrong),
        Ok(scenario) => survives_a_round_trip(&scenario),
    }
}

/// Fewer zeros than would spell out millions of nodes: memory is the machine's, and a count is the user's.
fn small(input: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(input).ok()?;
    let digits = |text: &str| text.bytes().filter(|b| b.is_ascii_digit() || *b == b'_').count();
    let long = text.lines().filter(|line| line.contains("count") || line.contains("replicates"));
    (long.map(digits).max().unwrap_or(0) <= 4).then_some(text)
}

fn survives_a_round_trip(scenario: &Scenario) {
    let text = toml::to_string(&scenario.resolved()).expect("a resolved scenario is TOML");
    match parse_scenario("resolved.toml", &text) {
        Ok(again) => assert_eq!(again.hash(), scenario.hash(), "the resolved scenario is another:\n{text}"),
        Err(wrong) => panic!("the resolved scenario is refused: {wrong}\n{text}"),
    }
    let _ = (scenario.departures(), scenario.title());
    let drawn = scenario.drawn(1);
    assert_eq!(drawn.flows.len(), scenario.plan(2).flows.len());
}

/// An experiment file on a good scenario.
pub fn experiment(input: &[u8]) {
    let Some(text) = small(input) else { return };
    match parse_experiment(FILE, text, &|_: &Path| -> io::Result<String> { Ok(DUMBBELL.to_owned()) }) {
        Err(wrong) => points_into(text, &wrong),
        Ok(experiment) => {
            let runs = experiment.runs();
            assert_eq!(runs.len() % experiment.replicates().max(1) as usize, 0);
            for run in runs {
                let run = run.unwrap_or_else(|wrong| panic!("what was read cannot be run: {wrong}"));
                assert_eq!(run.id.len(), 16, "16 digits each");
            }
        }
    }
}

/// A scenario file, then a short run of it: what spec lets through, the engine runs, and every packet is accounted for.
pub fn simulation(input: &[u8]) {
    let Some(text) = small(input) else { return };
    let Ok(scenario) = parse_scenario(FILE, text) else { return };
    let mut plan = scenario.plan(1);
    if plan.flows.len() + plan.links.len() + plan.nodes.len() > MAX_TABLES {
        return;
    }
    shorten(&mut plan);
    // Cancelled beforehand: it ends where the flag is first looked at, after some ten thousand events.
    match run_until(&plan, 1, &AtomicBool::new(true)) {
        Ok(_) | Err(Error::Cancelled | Error::NoRoute { .. } | Error::Unsupplied(_) | Error::Quic { .. }) => {}
        Err(error @ Error::Conservation(_)) => panic!("{error}"),
    }
}

/// A run of at most two seconds in which flows begin in the first: tables of time series stay small.
fn shorten(plan: &mut Plan) {
    plan.duration = plan.duration.min(Dur::from_s(2));
    plan.warmup = plan.warmup.min(Dur::from_ms(500)).min(Dur::from_ps(plan.duration.ps() / 2));
    plan.sample = plan.sample.map(|sample| sample.max(Dur::from_ms(1)));
    for flow in &mut plan.flows {
        flow.start = Time::from_ps(flow.start.ps() % Dur::from_s(1).ps());
    }
}

/// A filter of `ecnlab trace`.
pub fn filter(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Err(error) = Filter::parse(text) {
        assert!(!error.to_string().is_empty());
    }
}

fn points_into(text: &str, wrong: &Diagnostics) {
    assert!(wrong.iter().count() >= 1 && !wrong.to_string().is_empty());
    for one in wrong.iter().filter(|one| one.path == FILE) {
        assert!(!one.message.is_empty());
        assert!(one.line >= 1 && one.line <= text.matches('\n').count() + 1, "{one}");
        assert!(one.column >= 1 && one.column <= one.excerpt.chars().count() + 1, "{one}");
    }
}
