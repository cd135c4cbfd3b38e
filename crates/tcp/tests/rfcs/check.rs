//! The checks between quotes, tests and sections.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::citation::{Citation, cited};
use super::record::{Records, Rfc};

/// A script by its name and its line `source`.
#[derive(Clone, Debug)]
pub struct Script {
    pub name: String,
    pub source: String,
}

/// What is compared: the records, and the scripts and sources that cite RFCs.
#[derive(Clone, Debug)]
pub struct Evidence<'a> {
    pub records: Records,
    pub scripts: Vec<Script>,
    /// Citations in Rust sources, with file and line.
    pub sources: Vec<(Citation, String)>,
    /// The top of the repository, below which Rust tests are looked up.
    pub repository: &'a Path,
}

impl Evidence<'_> {
    /// Every contradiction, one line each; none if quotes, tests and sections agree.
    pub fn contradictions(&self) -> Vec<String> {
        let mut found = self.without_a_file();
        for (&rfc, record) in &self.records {
            found.extend(form(rfc, record));
            found.extend(self.test_contradictions(rfc, record));
        }
        found.extend(self.script_contradictions());
        found.extend(self.source_contradictions());
        found
    }

    /// Every RFC that is cited by section has a file.
    fn without_a_file(&self) -> Vec<String> {
        let scripts = self.scripts.iter().flat_map(|s| cited(&s.source, None));
        let all = scripts.chain(self.sources.iter().map(|(citation, _)| citation.clone()));
        let cited: BTreeSet<u32> = all.map(|(rfc, _)| rfc).collect();
        let without = cited.into_iter().filter(|rfc| !self.records.contains_key(rfc));
        without.map(|rfc| format!("RFC {rfc} is cited by section: add tests/data/rfcs/rfc{rfc}.toml")).collect()
    }

    /// Every test that a quote names exists, and a script cites the section of the quote.
    fn test_contradictions(&self, rfc: u32, record: &Rfc) -> Vec<String> {
        let mut found = Vec::new();
        for (section, quote, tests) in record.entries() {
            let place = format!("RFC {rfc} §{section}, \"{}\"", beginning(quote));
            for test in tests {
                if let Some((file, name)) = test.split_once("::") {
                    if !has_rust_test(&self.repository.join(file), name) {
                        found.push(format!("{place}: there is no test {test}"));
                    }
                } else if let Some(script) = self.scripts.iter().find(|s| s.name == *test) {
                    if !cited(&script.source, None).contains(&(rfc, section.to_owned())) {
                        found.push(format!("{place}: the source of script {test} does not cite the section"));
                    }
                } else {
                    found.push(format!("{place}: there is no script {test}"));
                }
            }
        }
        found
    }

    /// Every section that a script cites has a quote that names the script.
    fn script_contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        for script in &self.scripts {
            for (rfc, section) in cited(&script.source, None) {
                let Some(record) = self.records.get(&rfc) else { continue };
                if !record.entries().any(|(s, _, tests)| s == section && tests.contains(&script.name)) {
                    found.push(format!(
                        "script {} cites RFC {rfc} §{section}: no quote of it names the script",
                        script.name
                    ));
                }
            }
        }
        found
    }

    /// Every section that a source cites has a quote or an exception.
    fn source_contradictions(&self) -> Vec<String> {
        let quoted = |rfc: &Rfc, section: &str| rfc.entries().any(|(s, _, _)| s == section);
        let lacking = self
            .sources
            .iter()
            .filter(|((rfc, section), _)| self.records.get(rfc).is_some_and(|record| !quoted(record, section)));
        lacking
            .map(|((rfc, section), place)| format!("{place}: RFC {rfc} §{section} has no quote and no exception"))
            .collect()
    }
}

/// Each quote is one sentence; it stands once among the rules and once among the exceptions, since a setting may depart from
/// a rule. A rule has a test, an exception a reason.
fn form(rfc: u32, record: &Rfc) -> Vec<String> {
    let mut found = repeated(rfc, record.rules.iter().map(|r| (r.section.as_str(), r.quote.as_str())));
    found.extend(repeated(rfc, record.exceptions.iter().map(|e| (e.section.as_str(), e.quote.as_str()))));
    for (section, quote, _) in record.entries() {
        let place = format!("RFC {rfc} §{section}, \"{}\"", beginning(quote));
        if cited(&format!("§{section}"), Some(rfc)).is_empty() {
            found.push(format!("{place}: the section is not a number"));
        }
        if !is_one_sentence(quote) {
            found.push(format!("{place}: not one whole sentence"));
        }
    }
    let untested = record.rules.iter().filter(|r| r.tests.is_empty());
    found.extend(untested.map(|r| format!("RFC {rfc} §{}, \"{}\": no test", r.section, beginning(&r.quote))));
    let unreasoned = record.exceptions.iter().filter(|e| e.reason.is_empty());
    found.extend(unreasoned.map(|e| format!("RFC {rfc} §{}, \"{}\": no reason", e.section, beginning(&e.quote))));
    found
}

/// Quotes that stand more than once.
fn repeated<'a>(rfc: u32, quotes: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let mut before = BTreeSet::new();
    let again = quotes.filter(|&(_, quote)| !before.insert(quote));
    again.map(|(section, quote)| format!("RFC {rfc} §{section}, \"{}\": quoted twice", beginning(quote))).collect()
}

/// Whether the text ends with a full stop, before a formula with a colon or as an item of a list with a semicolon, and has no
/// stop before a word with a capital.
fn is_one_sentence(quote: &str) -> bool {
    let inner = quote.match_indices(". ").any(|(at, _)| quote[at + 2..].starts_with(|c: char| c.is_ascii_uppercase()));
    quote.ends_with(['.', ':', ';']) && !inner
}

fn has_rust_test(file: &Path, name: &str) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let is_attribute = |line: &&str| line.starts_with("#[") && *line != "#[test]";
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !is_attribute(line)).collect();
    lines.windows(2).any(|pair| pair[0] == "#[test]" && pair[1].starts_with(&format!("fn {name}(")))
}

/// The first words of a quote, for messages.
fn beginning(quote: &str) -> String {
    let words: Vec<&str> = quote.split(' ').take(6).collect();
    words.join(" ") + " ..."
}
