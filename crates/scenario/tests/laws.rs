//! "A law is one file" (docs/design.md, invariant 2): a law has its source file, its row in a registry, a
//! test, a page and a use in an example or a paper; and no law's file is without its row.

use crate::common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ecnlab_scenario::registry::{Law, laws};
use ecnlab_scenario::{Scenario, parse_experiment, parse_scenario};
use serde_json::Value as Json;

/// The laws that have files of their own: all but kinds of traffic.
fn rows() -> Vec<(Law, &'static str, &'static str)> {
    laws().into_iter().filter_map(|law| law.files.map(|(source, page)| (law, source, page))).collect()
}

fn all_there(what: &str, missing: Vec<String>) {
    assert!(missing.is_empty(), "{what}: {}", missing.join(", "));
}

#[test]
fn every_law_has_its_file_and_its_page() {
    let files = rows().into_iter().flat_map(|(_, source, page)| [source, page]);
    all_there("missing files", files.filter(|f| !common::root().join(f).is_file()).map(str::to_owned).collect());
}

#[test]
fn every_law_has_a_test() {
    let tcp = texts("tests/data/scripts", &["script", "inc"]);
    let queues = texts("crates/aqm/tests", &["rs"]);
    let tested = |law: &Law| match law.family {
        "queue" => queues.iter().any(|(_, text)| words(text).any(|word| word == law.name)),
        family => tcp.iter().any(|(path, text)| sets(path, text, family, law.name)),
    };
    let untested = rows().into_iter().filter(|(law, ..)| !tested(law));
    all_there("laws without a test", untested.map(|(law, ..)| format!("{} {}", law.family, law.name)).collect());
}

#[test]
fn every_law_is_used_by_an_example_or_a_paper() {
    let every = rows().into_iter().map(|(law, ..)| (law.family.to_owned(), law.name.to_owned())).collect();
    let unused = laws_without_use(every);
    all_there("laws without an experiment", unused.iter().map(|(family, name)| format!("{family} {name}")).collect());
}

#[test]
fn every_file_of_a_law_has_its_row() {
    let sources: BTreeSet<PathBuf> = rows().into_iter().map(|(_, source, _)| common::root().join(source)).collect();
    let folders = [
        "crates/aqm/src/laws",
        "crates/aqm/src/across",
        "crates/aqm/src/composed",
        "crates/tcp/src/cc",
        "crates/tcp/src/slow_start",
        "crates/tcp/src/recovery",
        "crates/tcp/src/recovery/linux",
        "crates/tcp/src/ecn",
    ];
    let files = folders.iter().flat_map(|folder| fs::read_dir(common::root().join(folder)).unwrap().flatten());
    // A folder holds laws and their index; those of composed queues and of Linux hold what laws share, too.
    let is_law = |path: &PathBuf| {
        let within = |folder: &str| path.parent().is_some_and(|p| p.ends_with(folder));
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        // What a file's own tests implement is no law.
        let text = fs::read_to_string(path).unwrap_or_default();
        let implements = |trait_: &str| text.split("#[cfg(test)]").next().is_some_and(|code| code.contains(trait_));
        path.is_file()
            && if within("aqm/src/composed") {
                implements("impl Compose for")
            } else if within("recovery/linux") {
                implements("impl LossDetection for")
            } else {
                name != "mod.rs"
            }
    };
    let without = files.map(|f| f.path()).filter(|path| is_law(path) && !sources.contains(path));
    all_there("files without a row", without.map(|p| p.display().to_string()).collect());
}

/// Else a law would be more than its file, and the next one of its kind would need a place that no other test sees. What
/// laws share calls them through the traits' hooks. A law may be built on another.
#[test]
fn shared_code_names_no_law() {
    let names: BTreeSet<String> =
        rows().iter().flat_map(|(law, file, _)| [plain(law.name), plain(&stem(file))]).collect();
    let named = texts("crates", &["rs"]).into_iter().filter(|(path, _)| is_shared(path)).flat_map(|(path, text)| {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code: String = code.lines().filter(|line| !is_row(line)).collect();
        let names: Vec<&str> = paths(&code).filter(|part| names.contains(&plain(part))).collect();
        names.into_iter().map(|name| format!("{name} in {}", path.display())).collect::<Vec<_>>()
    });
    all_there("laws named by what all share", named.collect());
}

/// Whether a source file is neither a law's, nor in a law's folder, nor where laws are listed, nor a test. Of no concern
/// are `wire`, which lies below all laws, the analysis of captures and the language of scripts, which have standards and
/// options by their names, and `quic`, whose stacks have controllers of their own.
fn is_shared(path: &Path) -> bool {
    let of_a_law = |(_, file, _): (Law, _, _)| {
        let file = common::root().join(file);
        path == file || path.starts_with(file.with_extension(""))
    };
    let inside = path.strip_prefix(common::root().join("crates")).unwrap();
    let mut parts = inside.iter().filter_map(|part| part.to_str());
    let (room, folder) = (parts.next(), parts.next());
    folder == Some("src")
        && !matches!(room, Some("quic" | "script" | "trace" | "wire"))
        && !inside.ends_with("py/src/trace.rs")
        && !inside.ends_with("fuzz/src/capture.rs")
        && !inside.ends_with("src/registry.rs")
        && !["laws", "across", "composed"]
            .iter()
            .any(|folder| inside == Path::new("aqm/src").join(folder).join("mod.rs"))
        && !rows().into_iter().any(of_a_law)
}

/// Whether a line is a law's row in the list of a family: `Reno(reno::Params), "reno", FACTS;`.
fn is_row(line: &str) -> bool {
    line.ends_with(';') && laws().iter().any(|law| line.contains(&format!(r#"), "{}", "#, law.name)))
}

/// Every part of every path (`a::b`) in a source.
fn paths(code: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices("::").flat_map(move |(at, _)| {
        let before = code[..at].rsplit(|c| !is_word(c)).next().unwrap_or_default();
        let after = code[at + 2..].split(|c| !is_word(c)).next().unwrap_or_default();
        [before, after]
    })
}

/// A law's name however it is written: as a module, a type, or in a scenario.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase()
}

fn stem(file: &str) -> String {
    Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Every file below a folder with one of these extensions, and its text.
fn texts(folder: &str, extensions: &[&str]) -> Vec<(PathBuf, String)> {
    let files = common::files(folder, extensions).into_iter();
    files.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'))
}

/// Whether a script, or what it includes, is about a law: it stands in the law's folder, or sets
/// the law by name or one after the other (`each`).
fn sets(path: &Path, text: &str, key: &str, name: &str) -> bool {
    let in_folder = path.parent().is_some_and(|folder| folder.ends_with(name));
    let in_line = |line: &str| {
        let mut line = words(line).filter(|word| !word.is_empty());
        matches!(line.next(), Some("set" | "each")) && line.next() == Some(key) && line.any(|word| word == name)
    };
    in_folder || text.lines().any(in_line)
}

/// Those of `laws` (family, name) that no scenario of the examples or papers runs. Files are read until all are found, experiments last.
fn laws_without_use(mut laws: BTreeSet<(String, String)>) -> BTreeSet<(String, String)> {
    let files = ["examples", "papers"].iter().flat_map(|folder| common::files(folder, &["toml"]));
    let mut texts: Vec<_> = files.map(|path| (fs::read_to_string(&path).unwrap(), path)).collect();
    texts.sort_by_key(|(text, _)| is_experiment(text));
    for (text, path) in texts {
        if laws.is_empty() {
            break;
        }
        // What an experiment changes is in its own text.
        if is_experiment(&text) && !laws.iter().any(|(_, name)| text.contains(&format!("\"{name}\""))) {
            continue;
        }
        let used = laws_of(&path.to_string_lossy(), &text);
        laws.retain(|law| !used.contains(law));
    }
    laws
}

fn is_experiment(text: &str) -> bool {
    text.contains("\nscenario = ")
}

fn laws_of(name: &str, text: &str) -> BTreeSet<(String, String)> {
    let mut used = BTreeSet::new();
    if is_experiment(text) {
        let read = |p: &Path| fs::read_to_string(p);
        let experiment = parse_experiment(name, text, &read).unwrap_or_else(|e| panic!("{e}"));
        experiment.scenarios().unwrap().iter().for_each(|scenario| add(scenario, &mut used));
    } else if text.contains("\n[flow.") {
        add(&parse_scenario(name, text).unwrap_or_else(|e| panic!("{e}")), &mut used);
    }
    used
}

fn add(scenario: &Scenario, used: &mut BTreeSet<(String, String)>) {
    let resolved = scenario.resolved();
    let of = |table: &Json, keys: &[&str]| -> BTreeSet<String> {
        let members = table.as_object().into_iter().flatten();
        let texts = members
            .flat_map(|(_, t)| keys.iter().filter_map(|k| t[*k].as_str().map(str::to_owned)).collect::<Vec<_>>());
        texts.collect()
    };
    let queues = of(&resolved["link"], &["queue"]);
    used.extend(
        queues.iter().filter_map(|q| text(&resolved["queue"][q]["discipline"])).map(|d| ("queue".to_owned(), d)),
    );
    for tcp in of(&resolved["flow"], &["tcp_from", "tcp_to"]) {
        // A law with parameters is a table.
        let name = |law: &Json| text(law).or_else(|| text(&law["kind"]));
        let law = |family: &str| name(&resolved["tcp"][&tcp][family]).map(|name| (family.to_owned(), name));
        used.extend(["congestion", "slow_start", "recovery", "ecn"].into_iter().filter_map(law));
    }
}

fn text(value: &Json) -> Option<String> {
    value.as_str().map(str::to_owned)
}
