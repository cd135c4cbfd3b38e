//! Every file below `tests` of a crate belongs to one of its test programs. With `autotests = false` Cargo passes over a
//! program that `Cargo.toml` does not name, and its tests never run.

use std::collections::BTreeSet;
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

use crate::sources::modules;

/// The files below `tests` that no program has, where `manifest` names the programs and `read` has the text of a file.
fn unused(manifest: &str, files: &BTreeSet<PathBuf>, read: &dyn Fn(&Path) -> Option<String>) -> BTreeSet<PathBuf> {
    let tables = manifest.split("[[test]]").skip(1);
    let names = tables.filter_map(|table| table.split_once("name = \"")?.1.split('"').next());
    let programs = names.map(|name| PathBuf::from(name).with_extension("rs"));
    let used: BTreeSet<PathBuf> = programs.flat_map(|program| used_by(&program, read)).collect();
    files.difference(&used).cloned().collect()
}

/// The files of one program. Its modules lie beside it, as those of a `main.rs` do.
fn used_by(program: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Vec<PathBuf> {
    let root = Path::new("main.rs");
    let all = modules(root, &|file| read(if file == root { program } else { file }));
    all.into_iter().map(|module| if module.file == root { program.to_owned() } else { module.file }).collect()
}

/// The Rust files below `folder`, from `root` on.
fn rust_files(folder: &Path, root: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, root, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.insert(path.strip_prefix(root).unwrap().to_owned());
        }
    }
}

#[test]
fn every_file_of_tests_is_in_a_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for entry in read_dir(root).unwrap() {
        let folder = entry.unwrap().path();
        let manifest = read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        if !manifest.contains("autotests = false") {
            continue;
        }
        let (tests, mut files) = (folder.join("tests"), BTreeSet::new());
        rust_files(&tests, &tests, &mut files);
        let left = unused(&manifest, &files, &|file| read_to_string(tests.join(file)).ok());
        assert!(left.is_empty(), "{}: no test program has {left:?}", tests.display());
    }
}

#[test]
fn a_folder_that_no_program_names_is_found() {
    let texts =
        [("it.rs", "mod a;"), ("a.rs", ""), ("scripts.rs", "mod b;"), ("b/mod.rs", ""), ("c/main.rs", "mod d;")];
    let files = texts.iter().map(|(file, _)| PathBuf::from(file)).collect();
    let read = |file: &Path| texts.iter().find(|(name, _)| Path::new(name) == file).map(|(_, text)| (*text).to_owned());
    let manifest = "[[test]]\nname = \"it\"\n\n[[test]]\nname = \"scripts\"\nharness = false\n";
    assert_eq!(unused(manifest, &files, &read), BTreeSet::from(["c/main.rs".into()]));
    assert_eq!(unused("", &files, &read).len(), 5);
}
