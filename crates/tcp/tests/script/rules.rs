//! `docs/rules.md`: which script proves which rule.

use std::collections::BTreeMap;

use super::Case;

const HEAD: &str = "\
# The rules and their scripts

Each line is one fact about the TCP of `crates/tcp`, where the fact is written, and the script below `tests/scripts`
that proves it. How to read a script: [scripts.md](scripts.md).

A test writes this page, and fails when it is stale.
";

/// The page for these cases; variants of one script take one line.
pub fn page(cases: &[Case]) -> String {
    let mut topics: BTreeMap<&str, BTreeMap<&str, &Case>> = BTreeMap::new();
    for case in cases {
        let script = case.name.split(" [").next().unwrap_or_default();
        let (topic, name) = script.split_once('/').unwrap_or(("", script));
        topics.entry(topic).or_default().insert(name, case);
    }
    let mut page = HEAD.to_owned();
    for (topic, scripts) in topics {
        page += &format!("\n## {topic}\n\n| rule | source | script |\n| --- | --- | --- |\n");
        for (name, case) in scripts {
            page += &format!("| {} | {} | `{topic}/{name}` |\n", case.rule, case.source);
        }
    }
    page
}
