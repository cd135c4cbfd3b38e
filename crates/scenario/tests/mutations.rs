//! No text, however broken, brings the reader down, and every refusal points into the text.

use crate::common;

use std::fs;
use std::sync::LazyLock;

use ecnlab_scenario::{Diagnostics, parse_experiment, parse_scenario};
use proptest::prelude::*;

/// What is put into a good text to break it.
const SPLINTERS: &[&str] = &[
    "",
    "[",
    "]",
    "\"",
    "=",
    "{",
    "}",
    "\n",
    ".",
    ",",
    "#",
    "0",
    "-1",
    "1e400",
    "nan",
    "inf",
    "true",
    "count = 0",
    "\u{b5}",
    "\u{0}",
    "\"10 Mbps\"",
    "\"-3 ms\"",
    "\"9999999999999999999999 h\"",
    "[link.x]\n",
    "[link.bottleneck]\n",
    "from = \"sink[99999999999999999999]\"\n",
    "count = 99999999999\n",
    "reverse = 5\n",
    "traffic = []\n",
    "profile = \"ns-2.35\"\n",
    "'''",
    "1979-05-27",
    "[[flow]]\n",
    "\r\n",
    "delay = { uniform = [] }\n",
    "to = \"]\"\n",
    "set = { a = { b = 1 } }\n",
    "values = [[], {}]\n",
];

static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    common::files("examples", &["toml"]).iter().map(|path| fs::read_to_string(path).unwrap()).collect()
});
static DUMBBELL: LazyLock<String> =
    LazyLock::new(|| fs::read_to_string(common::root().join("examples/dumbbell.toml")).unwrap());

/// Cuts a stretch out and puts a splinter in, on characters' boundaries.
fn mutate(text: &str, edits: &[(usize, usize, usize)]) -> String {
    edits.iter().fold(text.to_owned(), |text, (at, cut, splinter)| {
        let chars: Vec<char> = text.chars().collect();
        let at = at % (chars.len() + 1);
        let end = (at + cut % 12).min(chars.len());
        let splinter = SPLINTERS[splinter % SPLINTERS.len()];
        chars[..at].iter().collect::<String>() + splinter + &chars[end..].iter().collect::<String>()
    })
}

fn points_into(file: &str, text: &str, wrong: &Diagnostics) {
    for one in wrong.iter().filter(|one| one.path == file) {
        assert!(!one.message.is_empty());
        assert!(one.line >= 1 && one.line <= text.matches('\n').count() + 1, "{one}");
        assert!(one.column >= 1 && one.column <= one.excerpt.chars().count() + 1, "{one}");
    }
    assert!(wrong.iter().count() >= 1 && !wrong.to_string().is_empty());
}

/// The text at `which`, broken by `edits`, is refused in its place, or read.
fn refused_or_read(which: usize, edits: &[(usize, usize, usize)]) -> Result<(), TestCaseError> {
    let text = mutate(&TEXTS[which % TEXTS.len()], edits);
    if text.contains("\nscenario = ") {
        if let Err(wrong) = parse_experiment("e.toml", &text, &|_: &std::path::Path| Ok(DUMBBELL.clone())) {
            points_into("e.toml", &text, &wrong);
        }
    } else {
        match parse_scenario("x.toml", &text) {
            Err(wrong) => points_into("x.toml", &text, &wrong),
            Ok(scenario) => prop_assert_eq!(scenario.plan(1).flows.len(), scenario.plan(2).flows.len()),
        }
    }
    Ok(())
}

fn edits() -> impl Strategy<Value = Vec<(usize, usize, usize)>> {
    prop::collection::vec((0..10_000_usize, 0..100_usize, 0..100_usize), 1..4)
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn refused(noise: &str) {
    if let Err(wrong) = parse_scenario("x.toml", noise) {
        points_into("x.toml", noise, &wrong);
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn broken_files_are_refused_or_read(which in 0..100_usize, edits in edits()) {
        refused_or_read(which, &edits)?;
    }

    #[test]
    fn noise_is_refused(text in "\\PC{0,200}") {
        refused(&text);
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    #[ignore = "slow: make slow"]
    fn thousands_of_broken_files_are_refused_or_read(which in 0..100_usize, edits in edits()) {
        refused_or_read(which, &edits)?;
    }

    #[test]
    #[ignore = "slow: make slow"]
    fn thousands_of_noises_are_refused(text in "\\PC{0,200}") {
        refused(&text);
    }
}

#[test]
fn deep_and_long_texts_are_refused_at_once() {
    let deep = [
        format!("a = {}", "[".repeat(10_000)),
        format!("a = {}1", "{ b = ".repeat(10_000)),
        format!("{}b = 1", "a.".repeat(10_000)),
    ];
    for text in deep {
        assert!(parse_scenario("x.toml", &format!("format = 1\n{text}")).is_err());
    }
    let keys: String = (0..200).map(|i| format!("k{i} = 1\n")).collect();
    let many = format!("format = 1\n[link.x]\n{keys}[queue.x]\n{keys}[tcp.x]\n{keys}[flow.x]\n{keys}");
    let reported = parse_scenario("x.toml", &many).unwrap_err().iter().count();
    assert!(reported < 200, "{reported} mistakes reported");
    let long = format!("format = 1\n{} = 1\n", "k".repeat(20_000));
    assert!(parse_scenario("x.toml", &long).is_err());
}
