//! A law is one file, one registry row, one docs page.

use std::collections::BTreeSet;
use std::path::Path;

use ecnlab_tcp::registry::laws;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn every_row_has_its_file_and_page() {
    for law in laws() {
        assert!(root().join(law.file).is_file(), "{} lacks {}", law.name, law.file);
        let page = std::fs::read_to_string(root().join(law.page)).unwrap_or_default();
        assert!(page.contains(law.file), "{} must name {}", law.page, law.file);
    }
}

#[test]
fn every_file_has_its_row() {
    let rows: BTreeSet<String> = laws().map(|law| law.file.to_owned()).collect();
    for folder in ["cc", "ecn", "recovery"] {
        let path = format!("crates/tcp/src/{folder}");
        for file in std::fs::read_dir(root().join(&path)).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            if name != "mod.rs" {
                assert!(rows.contains(&format!("{path}/{name}")), "{path}/{name} has no row in registry.rs");
            }
        }
    }
}

/// Else a law would be more than its file: what laws share asks a scheme through the trait's hooks.
#[test]
fn what_schemes_share_asks_for_none_by_name() {
    let modules: Vec<String> = laws().filter(|law| law.family == "recovery").map(|law| name_of(law.file)).collect();
    for file in
        ["", "sender", "rto"].into_iter().flat_map(|folder| sources(&root().join("crates/tcp/src").join(folder)))
    {
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let asks = |name: &String| code.contains(&format!("{name}::"));
        let named = modules.iter().find(|name| asks(name)).map(String::as_str);
        let named = named.or(code.contains("RecoveryKind::").then_some("RecoveryKind"));
        assert_eq!(named, None, "{}", file.display());
    }
}

fn name_of(file: &str) -> String {
    Path::new(file).file_stem().unwrap().to_string_lossy().into_owned()
}

/// The Rust files of a folder, but for the registry, which is there to name laws.
fn sources(folder: &Path) -> Vec<std::path::PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|e| e == "rs") && !path.ends_with("registry.rs")).collect()
}
