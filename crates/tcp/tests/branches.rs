//! What depends on ns-2 or on a version of Linux is in files of their own: the shared files do not compare settings with
//! their names.

use std::fs;
use std::path::Path;

/// The settings whose values name ns-2 or a version of Linux.
const SETTINGS: [&str; 4] = ["DelayedAck", "EcnResponse", "Estimator", "Push"];

/// Where the values are defined, and the two calls that choose an estimator and a delay by their names.
const SHARED: [(&str, usize); 3] = [("config.rs", usize::MAX), ("rto/mod.rs", 4), ("receiver/mod.rs", 2)];

/// Files and folders of Linux or ns-2.
const OWN: [&str; 7] = [
    "rto/ns2.rs",
    "rto/linux7.rs",
    "flight/ns2.rs",
    "receiver/linux7.rs",
    "recovery/linux/",
    "sender/send_buffer.rs",
    "profile.rs",
];

/// The lines of code in `text` that name a value of Linux or ns-2.
fn branches(text: &str) -> usize {
    let names = |line: &str| {
        SETTINGS
            .iter()
            .any(|setting| ["Ns2", "Linux"].iter().any(|value| line.contains(&format!("{setting}::{value}"))))
    };
    text.lines().map(str::trim_start).filter(|line| !line.starts_with("//") && names(line)).count()
}

fn check(folder: &Path, root: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder of the crate") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            check(&path, root, found);
            continue;
        }
        let file = path.strip_prefix(root).expect("below the root").display().to_string();
        let most = SHARED.iter().find(|(name, _)| *name == file).map_or(0, |&(_, most)| most);
        let own = OWN.iter().any(|own| file.starts_with(own));
        let number = branches(&fs::read_to_string(&path).expect("a source file"));
        if !own && number > most {
            found.push(format!("{file} names values of Linux or ns-2 in {number} lines, at most {most} are expected"));
        }
    }
}

#[test]
fn shared_files_have_no_branches_of_linux_or_ns2() {
    let (root, mut found) = (Path::new("src"), Vec::new());
    check(root, root, &mut found);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_branch_is_found_in_code_and_not_in_comments() {
    let text = "if config.push == Push::Linux7 {\n    // EcnResponse::Ns2\n}\nmatch x { Estimator::Ns2 => 1 }";
    assert_eq!(branches(text), 2);
}
