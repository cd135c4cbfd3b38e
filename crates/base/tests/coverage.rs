//! Coverage marks and the tests that must reach them, read from the sources: each mark has a test, each test its marks, and each
//! law that marks or drops has marks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Folders of laws, where each file that decides on packets has a mark.
const LAWS: [&str; 3] = ["aqm/src/laws/", "aqm/src/across/", "aqm/src/composed/"];
/// The folder of window laws, where each file with a response to congestion of its own has a mark.
const WINDOW_LAWS: &str = "tcp/src/cc/";
/// Enums of decisions on packets, whose variant `Pass` needs no mark.
const DECISIONS: [&str; 2] = ["Verdict::", "Decision::"];

/// A source file: its path in the folder `crates`, and its text.
type Source = (String, String);

#[test]
fn every_mark_has_a_test_and_every_law_has_marks() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut sources = Vec::new();
    for entry in fs::read_dir(&crates).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // The marks of `base` are examples.
        if name != "base" {
            read(&crates, &format!("{name}/src"), &mut sources);
            read(&crates, &format!("{name}/tests"), &mut sources);
        }
    }
    assert_eq!(wrong(&sources), Vec::<String>::new());
    // A changed spelling of the macro would leave nothing to compare.
    assert!(sources.iter().map(|(_, text)| marks(text).count()).sum::<usize>() > 50);
}

#[test]
fn no_release_build_records_marks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let crates = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    for manifest in crates.chain([root.clone(), root.join("bench")]).map(|folder| folder.join("Cargo.toml")) {
        let text = fs::read_to_string(&manifest).unwrap();
        assert!(
            only_tests_record_marks(&text),
            "{}: it turns coverage-marks on in a release build",
            manifest.display()
        );
    }
}

/// Whether a manifest turns `coverage-marks` on for its tests only. It may define a feature of this name, and programs that need it.
fn only_tests_record_marks(manifest: &str) -> bool {
    let mut table = "";
    manifest.lines().all(|line| {
        table = if line.starts_with('[') { line } else { table };
        let requires_only = ["coverage-marks = [", "required-features = ["].iter().any(|key| line.starts_with(key));
        !line.contains("coverage-marks") || table == "[dev-dependencies]" || requires_only
    })
}

/// Adds the Rust files in `folder` of `root` to `sources`.
fn read(root: &Path, folder: &str, sources: &mut Vec<Source>) {
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return };
    for entry in entries.map(Result::unwrap) {
        let path = format!("{folder}/{}", entry.file_name().into_string().unwrap());
        if entry.path().is_dir() {
            read(root, &path, sources);
        } else if path.ends_with(".rs") {
            sources.push((path, fs::read_to_string(entry.path()).unwrap()));
        }
    }
}

/// What is wrong with the marks of `sources`, a sentence each.
fn wrong(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    let mut places = BTreeMap::new();
    for (path, text) in sources {
        for name in marks(text) {
            if let Some(before) = places.insert(name, path) {
                found.push(format!("{path}: the mark {name} is in {before} too: rename one"));
            }
            if name.split_once('.').is_none_or(|(law, _)| !path.split(['/', '.']).any(|part| part == law)) {
                found.push(format!("{path}: the mark {name} begins with no name of its file and a dot"));
            }
        }
        if LAWS.iter().any(|folder| path.starts_with(folder)) && decides(path, text) && marks(text).next().is_none() {
            found.push(format!("{path}: it decides on packets and has no coverage_mark!"));
        }
        if path.starts_with(WINDOW_LAWS) && responds(text) && !is_marked(path, sources) {
            found.push(format!("{path}: it responds to congestion and has no coverage_mark!"));
        }
    }
    let tested: BTreeMap<_, _> =
        sources.iter().flat_map(|(path, text)| required(text).map(move |n| (n, path))).collect();
    let unreached = places.iter().filter(|(name, _)| !tested.contains_key(*name));
    found.extend(unreached.map(|(name, path)| format!("{path}: no test must_reach the mark {name}: write one")));
    let unknown = tested.iter().filter(|(name, _)| !places.contains_key(*name));
    found.extend(unknown.map(|(name, path)| format!("{path}: there is no mark {name}")));
    found
}

/// Whether the law in the file `law` has a mark, there or in the files of its folder.
fn is_marked(law: &str, sources: &[Source]) -> bool {
    let folder = law.replace(".rs", "/");
    let own = sources.iter().filter(|(path, _)| path == law || path.starts_with(&folder));
    own.into_iter().any(|(_, text)| marks(text).next().is_some())
}

/// The names of the marks in a text.
fn marks(text: &str) -> impl Iterator<Item = &str> {
    text.split("coverage_mark!(\"").skip(1).filter_map(|rest| rest.split('"').next())
}

/// The names of the marks that tests in a text must reach.
fn required(text: &str) -> impl Iterator<Item = &str> {
    let lists = text.split("must_reach([").skip(1).filter_map(|rest| rest.split(']').next());
    lists.flat_map(|list| list.split('"').skip(1).step_by(2))
}

/// Whether the code of a law, without its tests, names a decision other than to pass.
fn decides(path: &str, text: &str) -> bool {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let variants = DECISIONS.iter().flat_map(|name| code.split(name).skip(1));
    !path.ends_with("tests.rs") && variants.into_iter().any(|variant| !variant.starts_with("Pass"))
}

/// Whether a window law responds to congestion by rules of its own: neither with Reno's reduction nor, as a law supplied by
/// the user, with a call.
fn responds(text: &str) -> bool {
    text.contains("impl CongestionControl for ") && !text.contains("self.reno.reduce(") && !text.contains("Supply")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: &str = "if late { coverage_mark!(\"step.late\"); return Verdict::Signal; } Verdict::Pass\n";
    const TEST: &str = "let _reached = must_reach([\"step.late\"]);";

    #[test]
    fn a_manifest_may_turn_marks_on_for_its_tests_only() {
        let base = "ecnlab-base = { workspace = true, features = [\"coverage-marks\"] }";
        assert!(only_tests_record_marks(&format!("[dependencies]\na.workspace = true\n[dev-dependencies]\n{base}")));
        assert!(!only_tests_record_marks(&format!("[dev-dependencies]\na.workspace = true\n[dependencies]\n{base}")));
        assert!(only_tests_record_marks("[features]\ncoverage-marks = [\"ecnlab-base/coverage-marks\"]"));
        assert!(!only_tests_record_marks("[features]\ndefault = [\"coverage-marks\"]"));
    }

    fn wrong_with(path: &str, law: &str, test: &str) -> Vec<String> {
        wrong(&[(path.to_owned(), law.to_owned()), ("aqm/tests/step.rs".to_owned(), test.to_owned())])
    }

    #[test]
    fn a_law_with_a_mark_and_a_test_is_accepted() {
        assert_eq!(wrong_with("aqm/src/laws/step.rs", LAW, TEST), Vec::<String>::new());
        assert_eq!(wrong_with("aqm/src/laws/step/late.rs", LAW, TEST), Vec::<String>::new());
        let passes = "Verdict::Pass\n#[cfg(test)]\nmod tests { Verdict::Signal }";
        assert_eq!(wrong_with("aqm/src/laws/droptail.rs", passes, ""), Vec::<String>::new());
        assert_eq!(wrong_with("aqm/src/laws/step/tests.rs", "use Verdict::Signal;", ""), Vec::<String>::new());
    }

    #[test]
    fn a_window_law_with_rules_of_its_own_and_no_mark_is_refused() {
        let law = "impl CongestionControl for Mine {";
        let found = wrong_with("tcp/src/cc/mine.rs", law, "");
        assert_eq!(found, ["tcp/src/cc/mine.rs: it responds to congestion and has no coverage_mark!"]);
        let renos = format!("{law} self.reno.reduce(event, |window| window / 4);");
        assert_eq!(wrong_with("tcp/src/cc/mine.rs", &renos, ""), Vec::<String>::new());
    }

    #[test]
    fn a_law_that_decides_without_a_mark_is_refused() {
        for law in ["Verdict::Pass; Verdict::Drop", "#[cfg(test)]\nuse x;\nDecision::Signal(why)"] {
            let found = wrong_with("aqm/src/across/step.rs", law, "");
            assert_eq!(found, ["aqm/src/across/step.rs: it decides on packets and has no coverage_mark!"]);
        }
    }

    #[test]
    fn marks_and_tests_without_each_other_are_refused() {
        let found = wrong_with("aqm/src/laws/step.rs", LAW, "must_reach([\n\"step.early\",\n])");
        let unreached = "aqm/src/laws/step.rs: no test must_reach the mark step.late: write one";
        assert_eq!(found, [unreached, "aqm/tests/step.rs: there is no mark step.early"]);
    }

    #[test]
    fn names_are_unique_and_begin_with_their_law() {
        let found = wrong_with("aqm/src/laws/step.rs", &LAW.repeat(2), TEST);
        assert_eq!(found, ["aqm/src/laws/step.rs: the mark step.late is in aqm/src/laws/step.rs too: rename one"]);
        let found = wrong_with("aqm/src/laws/stepwise.rs", LAW, TEST);
        assert_eq!(found, ["aqm/src/laws/stepwise.rs: the mark step.late begins with no name of its file and a dot"]);
    }
}
