//! Inputs made of files of the repository: its examples and papers, and the settings in `seeds.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::input::Input;

/// Longest text of an example or of a paper's file, in bytes: libFuzzer is slow with longer ones.
const LONGEST: usize = 4_000;

/// The generated inputs of the target called `target`, in no order.
///
/// # Errors
///
/// Names the folder or file that cannot be read.
pub(crate) fn seeds(root: &Path, target: &str) -> Result<Vec<Input>, String> {
    match target {
        "scenario" | "simulation" => texts(root, |text| text.lines().any(|line| line.starts_with("[link"))),
        "experiment" => texts(root, |text| {
            let has = |key: &str| text.lines().any(|line| line.starts_with(key));
            has("scenario = ") && !has("[link")
        }),
        "queue" => Ok(settings("queue", &arrivals())),
        "endpoint" => Ok(settings("tcp", &acts())),
        "pair" => Ok(settings("tcp", &wire())),
        "filter" => Ok(settings("filter", &[])),
        _ => Ok(Vec::new()),
    }
}

/// The settings of `seeds.toml` in the table called `kind`, each with the line `---` and `then` behind it, if there is any.
fn settings(kind: &str, then: &[u8]) -> Vec<Input> {
    let all: BTreeMap<String, BTreeMap<String, String>> =
        toml::from_str(include_str!("../seeds.toml")).expect("seeds.toml has tables of texts");
    let line: &[u8] = if then.is_empty() { b"" } else { b"\n---\n" };
    let input = |(name, text): (&String, &String)| Input {
        name: name.clone(),
        from: PathBuf::from("crates/fuzz/seeds.toml"),
        bytes: [text.as_bytes(), line, then].concat(),
    };
    all[kind].iter().map(input).collect()
}

/// An application opens and writes; acknowledgements, blocks and echoes come, and anything else; timers expire.
fn acts() -> Vec<u8> {
    let begin = [0x01, 0x04, 0x01, 0x20, 0x00];
    let end = [0x00, 0x00, 0x0A, 0x20, 0x05, 0x10, 0x00, 0x00, 0x00, 0x10, 0x02, 0x00];
    [&begin[..], &[0x06, 0x04, 0x01, 0x00].repeat(6), &[0x07, 0x05, 0x02, 0x03, 0x01].repeat(4), &end].concat()
}

/// A wire's faults during a transfer of 16384 bytes.
fn wire() -> Vec<u8> {
    let faults = [0, 0, 1, 0, 8, 0, 0x83, 0x01, 0x00, 2, 0, 0, 0x88, 0x10, 0x00];
    [&[0x40, 0x00, 0x05][..], &faults.repeat(8)].concat()
}

/// Packets alone and in bursts, and departures.
fn arrivals() -> Vec<u8> {
    let some = [0x02, 0x00, 0x10, 0x3E, 0x00, 0x00, 0x80, 0x01, 0x00, 0x40, 0x00, 0x05, 0x02, 0x00];
    [&some.repeat(6)[..], &[0x8F, 0x20, 0x00]].concat()
}

/// The examples and the papers' files that `wanted` selects, without their comments; long ones are left out.
fn texts(root: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<Input>, String> {
    let mut folders = vec![PathBuf::from("examples")];
    folders.extend(entries(root, Path::new("papers"))?.into_iter().filter(|path| root.join(path).is_dir()));
    let mut inputs = Vec::new();
    for folder in folders {
        for from in entries(root, &folder)? {
            if from.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            let text = fs::read_to_string(root.join(&from)).map_err(|error| format!("{}: {error}", from.display()))?;
            let text = without_comments(&text);
            if text.chars().count() <= LONGEST && wanted(&text) {
                inputs.push(Input { name: name(&from), from, bytes: text.into_bytes() });
            }
        }
    }
    Ok(inputs)
}

/// What is in a folder of the repository, relative to the repository.
fn entries(root: &Path, folder: &Path) -> Result<Vec<PathBuf>, String> {
    let wrong = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = fs::read_dir(root.join(folder)).map_err(wrong)?;
    entries.map(|entry| Ok(folder.join(entry.map_err(wrong)?.file_name()))).collect()
}

/// `rfc2884-bulk` of `papers/rfc2884/bulk.toml`.
fn name(path: &Path) -> String {
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    format!("{}-{}", folder.display(), path.file_stem().unwrap_or_default().display())
}

/// A TOML file without comments, and without the empty lines before one. A `"` behind a `#` may be a string's end: that stays.
fn without_comments(text: &str) -> String {
    let (mut kept, mut empty) = (String::new(), String::new());
    for line in text.split_inclusive('\n') {
        let code = line.trim();
        if code.is_empty() {
            empty += line;
        } else if code.starts_with('#') {
            empty.clear();
        } else {
            kept += &std::mem::take(&mut empty);
            kept += &without_comment(line);
        }
    }
    kept + &empty
}

fn without_comment(line: &str) -> String {
    let is_comment = |&(at, _): &(usize, &str)| line[..at].ends_with(char::is_whitespace) && !line[at..].contains('"');
    match line.match_indices('#').find(is_comment) {
        Some((at, _)) => format!("{}\n", line[..at].trim_end()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_taken_out_and_strings_stay() {
        let text = "# a\nb = 1 # c # d\n\n  # e\ne = \"# f\" # g\nh = \"# i\"\n\nj = 1\n";
        assert_eq!(without_comments(text), "b = 1\ne = \"# f\"\nh = \"# i\"\n\nj = 1\n");
    }

    #[test]
    fn seeds_are_of_their_kind() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let names = |target: &str| -> Vec<String> {
            seeds(&root, target).unwrap().into_iter().map(|input| input.name).collect()
        };
        let (scenarios, experiments) = (names("scenario"), names("experiment"));
        assert!(scenarios.contains(&"examples-dumbbell".into()) && scenarios.len() > 20);
        assert!(experiments.contains(&"rfc2884-bulk".into()) && experiments.len() > 80);
        assert_eq!(scenarios, names("simulation"));
        assert!(scenarios.iter().all(|name| !experiments.contains(name)));
        assert!(names("queue").contains(&"dualpi2".into()));
        assert_eq!(names("endpoint"), names("pair"));
        assert_eq!(names("filter"), ["ends", "nets", "wrong"]);
        assert!(names("pcap").is_empty());
    }
}
