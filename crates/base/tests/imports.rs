//! No file of a crate imports itself by way of others, except through the lists of laws ([`LISTS`]). A name that a module
//! exports again is followed to the file that defines it.
//!
//! A module `x.rs` and the files in its folder `x/` are one: the folder has its parts. A folder with a `mod.rs` is a
//! collection, whose files stand each for itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

use crate::sources::{Import, Module, Names, modules};

/// Files whose rows name the laws in their folder. A registry is made of these rows, and the laws use the registry: a queue
/// of classes has the law of any row in each class.
const LISTS: [&str; 3] = ["across/mod.rs", "composed/mod.rs", "cc/mod.rs"];

/// By file, those that it imports.
type Graph = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

#[test]
fn no_imports_run_in_a_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let crates: BTreeSet<PathBuf> = read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    let mut found = BTreeSet::new();
    for folder in crates {
        let name = folder.file_name().unwrap().to_str().unwrap();
        for root in ["lib.rs", "main.rs"].map(Path::new) {
            let mut graph = graph(root, &|file| read_to_string(folder.join("src").join(file)).ok());
            for list in LISTS.map(Path::new) {
                graph.entry(list.to_owned()).and_modify(|laws| laws.retain(|law| law.parent() != list.parent()));
            }
            let circles = circles(&graph).into_iter();
            found.extend(circles.map(|files| format!("{name}: {}", files.join(", "))));
        }
    }
    assert_eq!(found, BTreeSet::new());
}

#[test]
fn the_search_sees_imports() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../aqm/src");
    let graph = graph(Path::new("lib.rs"), &|file| read_to_string(folder.join(file)).ok());
    let imports = |file: &str, imported: &str| graph[Path::new(file)].contains(Path::new(imported));
    // By its path, and by its name at the root of the crate.
    assert!(imports("machine/queue.rs", "machine/books.rs") && imports("machine/queue.rs", "record/counters.rs"));
    assert!(imports("across/pi2.rs", "across/dualpi2.rs") && !imports("lib.rs", "machine/queue.rs"));
}

fn toy(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let read = |path: &Path| files.iter().find(|(file, _)| Path::new(file) == path).map(|(_, text)| (*text).to_owned());
    circles(&graph(Path::new("lib.rs"), &read))
}

#[test]
fn a_circle_is_found_through_names_that_are_exported_again() {
    let b = ("b.rs", "use crate::A;\npub struct B(A);");
    for (lib, a) in [
        ("mod a; mod b; pub use a::A;", "pub struct A(crate::b::B);"),
        ("mod a; mod b; pub use {a::Inner as A, b::B};", "use super::B; pub struct Inner(B);"),
        ("mod a; mod b; pub use a::*;", "use crate::{b::{self}}; pub struct A(b::B);"),
        ("mod a; mod b; pub use a::A;", "macro_rules! list { () => { crate::b::B } } pub struct A;"),
        ("pub mod a; mod b; pub use self::a::A as A;", "fn later() { use crate::b as c; } pub struct A;"),
    ] {
        assert_eq!(toy(&[("lib.rs", lib), ("a.rs", a), b]), [["a.rs", "b.rs"]], "{lib} {a}");
    }
}

#[test]
fn neither_exports_nor_tests_nor_comments_close_a_circle() {
    let lib = ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B; pub struct C; enum D { #[x] A, B(C), C { c: C } }");
    let b = ("b.rs", "use crate::{A, C};\npub struct B(A, C);");
    for a in [
        "pub struct A;\n#[cfg(test)]\nmod tests { use crate::B; }",
        "#[cfg(test)] use crate::B;\n pub struct A;",
        "// use crate::B;\n/* crate::B /* */ crate::B */ pub const A: &str = \"crate::B; \\\" crate::B\";",
        "pub const A: &str = r#\"\" crate::B\"#; fn a<'a>() -> char { '\"' }",
    ] {
        assert!(toy(&[lib, ("a.rs", a), b]).is_empty(), "{a}");
    }
}

#[test]
fn a_module_is_one_with_the_files_of_its_folder_but_a_collection_is_not() {
    let (a, part) = ("mod part; use part::P; pub struct A;", "use super::A; pub struct P;");
    assert!(toy(&[("lib.rs", "mod a;"), ("a.rs", a), ("a/part.rs", part)]).is_empty());
    assert_eq!(toy(&[("lib.rs", "mod a;"), ("a/mod.rs", a), ("a/part.rs", part)]), [["a/mod.rs", "a/part.rs"]]);
}

/// Files each of which imports all others, in the end.
fn circles(graph: &Graph) -> Vec<Vec<String>> {
    let reached: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        graph.keys().map(|file| (file, reached(file, graph))).collect();
    let circles: BTreeSet<Vec<String>> = graph
        .keys()
        .map(|file| graph.keys().filter(|other| reached[file].contains(other) && reached[other].contains(file)))
        .map(|files| files.map(|file| file.to_str().unwrap().to_owned()).collect())
        .collect();
    circles.into_iter().filter(|files| !files.is_empty()).collect()
}

fn reached<'a>(from: &PathBuf, graph: &'a Graph) -> BTreeSet<&'a PathBuf> {
    let mut found = BTreeSet::new();
    let mut ahead: Vec<&PathBuf> = graph[from].iter().collect();
    while let Some(file) = ahead.pop() {
        if found.insert(file) {
            ahead.extend(graph.get(file).into_iter().flatten());
        }
    }
    found
}

/// The imports of a crate.
fn graph(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Graph {
    let all = modules(root, read);
    let mut graph: Graph = all.iter().map(|module| (whole(&module.file, &all), BTreeSet::new())).collect();
    for (i, module) in all.iter().enumerate() {
        let file = whole(&module.file, &all);
        let imported = imported(i, &all).into_iter().map(|imported| whole(&imported, &all));
        graph.get_mut(&file).unwrap().extend(imported.filter(|imported| *imported != file));
    }
    graph
}

/// The file that has `file` in its folder: `red.rs` for `red/curve.rs`.
fn whole(file: &Path, all: &[Module]) -> PathBuf {
    let folders: Vec<&Path> = file.ancestors().skip(1).collect();
    let outer = folders.iter().rev().map(|folder| folder.with_extension("rs"));
    outer.into_iter().find(|outer| all.iter().any(|module| module.file == *outer)).unwrap_or(file.to_owned())
}

/// The files that define what module `i` imports or names.
fn imported(i: usize, all: &[Module]) -> Vec<PathBuf> {
    let module = &all[i];
    let needed = |import: &&Import| !import.is_public || module.words.contains(&import.name);
    let imports = module.imports.iter().filter(needed).map(|import| &import.path);
    let begins_here = |path: &&Names| {
        path.len() > 1
            && (["crate", "self", "super"].contains(&path[0].as_str()) || module.children.contains_key(&path[0]))
    };
    let paths = module.paths.iter().filter(begins_here);
    imports.chain(paths).filter_map(|path| Some(found(i, path, all, 0)?.file(all))).collect()
}

/// Where a path leads.
#[derive(Clone, Copy, Debug)]
enum Found {
    Module(usize),
    /// Something that this module defines.
    Item(usize),
}

impl Found {
    fn file(self, all: &[Module]) -> PathBuf {
        let (Found::Module(i) | Found::Item(i)) = self;
        all[i].file.clone()
    }
}

/// Where `path` leads in module `i`; nowhere in another crate. After so many steps a name is taken for one defined there.
fn found(i: usize, path: &[String], all: &[Module], steps: usize) -> Option<Found> {
    let (first, rest) = path.split_first()?;
    let start = match first.as_str() {
        "crate" => Found::Module(0),
        "self" => Found::Module(i),
        "super" => Found::Module(all[i].parent),
        name => named(i, name, all, steps)?,
    };
    rest.iter().try_fold(start, |at, name| match at {
        Found::Module(i) if name == "super" => Some(Found::Module(all[i].parent)),
        Found::Module(i) => Some(named(i, name, all, steps).unwrap_or(Found::Item(i))),
        item => Some(item),
    })
}

/// What module `i` calls `name`, if it is a module within or has been imported.
fn named(i: usize, name: &str, all: &[Module], steps: usize) -> Option<Found> {
    if let Some(&child) = all[i].children.get(name) {
        return Some(Found::Module(child));
    }
    // An import that leads to itself, as of a macro by its name.
    if steps > 8 {
        return None;
    }
    let own = all[i].imports.iter().find(|import| import.name == name);
    if let Some(import) = own.filter(|import| import.path != [name]) {
        return found(i, &import.path, all, steps + 1);
    }
    let globs = all[i].imports.iter().filter(|import| import.name == "*");
    globs.filter_map(|glob| found(i, &glob.path, all, steps + 1)).find_map(|from| match from {
        Found::Module(from) if from != i => exported(from, name, all, steps + 1),
        _ => None,
    })
}

/// What module `i` calls `name`, or defines as that.
fn exported(i: usize, name: &str, all: &[Module], steps: usize) -> Option<Found> {
    named(i, name, all, steps).or_else(|| all[i].words.contains(name).then_some(Found::Item(i)))
}
