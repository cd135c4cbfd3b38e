//! The records of `tests/data/rfcs`: for each RFC a file with quoted sentences and exceptions.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

/// The file of one RFC.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rfc {
    pub title: String,
    #[serde(rename = "rule", default)]
    pub rules: Vec<Rule>,
    #[serde(rename = "exception", default)]
    pub exceptions: Vec<Exception>,
}

/// A sentence of the RFC that ecnlab follows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub section: String,
    pub quote: String,
    /// Scripts by name (`ecn-sender/ece-halves`) and Rust tests (`crates/trace/src/ecn/tests.rs::NAME`).
    pub tests: Vec<String>,
}

/// A sentence of the RFC from which ecnlab departs, or which it leaves out.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    pub section: String,
    pub quote: String,
    pub reason: String,
    /// Tests that show the departure, named as those of a rule.
    #[serde(default)]
    pub tests: Vec<String>,
}

/// The records by the number of the RFC.
pub type Records = BTreeMap<u32, Rfc>;

impl Rfc {
    /// Parses the file of one RFC; folds white space in quotes and reasons.
    pub fn parse(text: &str) -> Result<Rfc, toml::de::Error> {
        let mut rfc: Rfc = toml::from_str(text)?;
        for rule in &mut rfc.rules {
            rule.quote = folded(&rule.quote);
        }
        for exception in &mut rfc.exceptions {
            exception.quote = folded(&exception.quote);
            exception.reason = folded(&exception.reason);
        }
        Ok(rfc)
    }

    /// Section, quote and tests of each rule and each exception.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str, &[String])> {
        let rules = self.rules.iter().map(|r| (r.section.as_str(), r.quote.as_str(), r.tests.as_slice()));
        let exceptions = self.exceptions.iter().map(|e| (e.section.as_str(), e.quote.as_str(), e.tests.as_slice()));
        rules.chain(exceptions)
    }
}

/// Reads every `rfcNNNN.toml` of a folder.
///
/// # Panics
/// If a file cannot be read or has another form; the message names it.
pub fn read(folder: &Path) -> Records {
    let files = fs::read_dir(folder).expect("the folder of the records can be read");
    files
        .map(|file| {
            let path = file.expect("the folder of the records can be listed").path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let number = name.strip_prefix("rfc").and_then(|n| n.parse().ok());
            let number = number.unwrap_or_else(|| panic!("{}: must be named rfcNNNN.toml", path.display()));
            let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            (number, Rfc::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
        })
        .collect()
}

/// The key words of RFC 2119 and RFC 8174 in a sentence, in its order; "none" without any.
pub fn levels(quote: &str) -> String {
    let words: Vec<&str> = quote.split_whitespace().map(|w| w.trim_matches(|c: char| !c.is_alphanumeric())).collect();
    let mut found = Vec::new();
    for (i, &word) in words.iter().enumerate() {
        match word {
            "MUST" | "SHOULD" if words.get(i + 1) == Some(&"NOT") => found.push(format!("{word} NOT")),
            "RECOMMENDED" if i > 0 && words[i - 1] == "NOT" => found.push("NOT RECOMMENDED".to_owned()),
            "MUST" | "SHOULD" | "MAY" | "RECOMMENDED" | "OPTIONAL" => found.push(word.to_owned()),
            _ => {}
        }
    }
    if found.is_empty() { "none".to_owned() } else { found.join(", ") }
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
