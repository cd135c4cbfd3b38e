//! A law is one file, one registry row, one docs page.

use std::collections::BTreeSet;
use std::path::Path;

use ecnlab_tcp::Paces;
use ecnlab_tcp::registry::laws;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn every_row_has_its_file_and_page() {
    for law in laws() {
        assert!(root().join(law.file).is_file(), "{} lacks {}", law.facts.name, law.file);
        let page = std::fs::read_to_string(root().join(law.page)).unwrap_or_default();
        assert!(page.contains(law.file), "{} must name {}", law.page, law.file);
    }
}

#[test]
fn every_file_has_its_row() {
    let rows: BTreeSet<String> = laws().map(|law| law.file.to_owned()).collect();
    for folder in ["cc", "slow_start", "ecn", "recovery", "recovery/linux"] {
        let path = format!("crates/tcp/src/{folder}");
        for file in std::fs::read_dir(root().join(&path)).unwrap() {
            let file = file.unwrap();
            let name = file.file_name().into_string().unwrap();
            if !file.path().is_file() || name == "mod.rs" {
                continue;
            }
            // The folder also has what its schemes share.
            let shared = folder == "recovery/linux" && !is_scheme(&file.path());
            if !shared {
                assert!(rows.contains(&format!("{path}/{name}")), "{path}/{name} has no row");
            }
        }
    }
}

/// A hook that the facts deny is never called.
#[test]
fn facts_of_window_laws_name_the_hooks_in_their_files() {
    for law in laws().filter(|law| law.file.starts_with("crates/tcp/src/cc/") && law.facts.name != "user-defined") {
        let text = std::fs::read_to_string(root().join(law.file)).unwrap();
        let (feedback, paces) = (law.facts.feedback, law.facts.paces != Paces::Never);
        assert_eq!(text.contains("    fn on_feedback("), feedback, "on_feedback of {}", law.facts.name);
        assert_eq!(text.contains("    fn pacing("), paces, "pacing of {}", law.facts.name);
        assert!(law.facts.samples || !(feedback || paces), "{} needs samples", law.facts.name);
    }
}

fn is_scheme(file: &Path) -> bool {
    std::fs::read_to_string(file).unwrap().contains("impl LossDetection for")
}
