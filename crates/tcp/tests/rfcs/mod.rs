//! Each RFC's sentences are quoted once, in `tests/data/rfcs`, and are compared in both directions with the scripts and Rust
//! tests that show them, and with the sections that the sources of `crates/tcp` and `crates/trace` cite.

mod check;
mod checks;
mod citation;
mod page;
mod record;

use std::fs;
use std::path::Path;

use check::{Evidence, Script};

/// The top of the repository: Cargo runs tests in the folder of their package.
const REPOSITORY: &str = "../..";
/// With this variable set, the test of `docs/generated/rfcs.md` writes the page instead of comparing it.
const WRITE_RULES: &str = "ECNLAB_WRITE_RULES";

#[test]
fn quotes_tests_and_sections_agree() {
    let found = evidence().contradictions();
    assert!(found.is_empty(), "tests/data/rfcs:\n{}", found.join("\n"));
}

#[test]
fn docs_generated_rfcs_md_is_up_to_date() {
    let path = Path::new(REPOSITORY).join("docs/generated/rfcs.md");
    let page = page::page(&evidence().records);
    if std::env::var_os(WRITE_RULES).is_some() {
        fs::write(&path, page).expect("the page can be written");
        return;
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == page, "docs/generated/rfcs.md is stale: {WRITE_RULES}=1 cargo test -p ecnlab-tcp --test it rfcs");
}

/// What the repository holds.
fn evidence() -> Evidence<'static> {
    let repository = Path::new(REPOSITORY);
    let mut sources = citation::in_sources(&repository.join("crates/tcp/src"));
    sources.extend(citation::in_sources(&repository.join("crates/trace/src")));
    Evidence {
        records: record::read(&repository.join("tests/data/rfcs")),
        scripts: scripts(&repository.join("tests/data/scripts")),
        sources,
        repository,
    }
}

fn scripts(root: &Path) -> Vec<Script> {
    let files = ecnlab_script::find(root).expect("the scripts can be listed");
    let script = |file: &std::path::PathBuf| {
        let text = fs::read_to_string(file).expect("a script can be read");
        let source = text.lines().find_map(|line| line.strip_prefix("source "));
        let name = file.strip_prefix(root).expect("below the root").with_extension("");
        Script { name: name.display().to_string(), source: source.unwrap_or_default().trim().to_owned() }
    };
    files.iter().map(script).collect()
}
