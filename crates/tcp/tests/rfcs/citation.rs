//! Sections of RFCs that a text cites: "RFC 3168 §6.1.1, §6.1.2", "RFC 3168 section 6.1.4", "RFC 3168 §6.1.4 to §6.1.6".

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// RFC and section.
pub type Citation = (u32, String);

/// Sections that a text cites. A section belongs to the RFC named before it, and to `default` before the first name and
/// behind a semicolon; without either it belongs to another document.
pub fn cited(text: &str, default: Option<u32>) -> BTreeSet<Citation> {
    let text = text.replace("section ", "§").replace("appendix ", "§");
    let mut found = BTreeSet::new();
    let mut rest = text.as_str();
    let mut rfc = default;
    let mut range: Option<Citation> = None;
    while let Some(at) = rest.find(['§', ';', 'R']) {
        let (before, here) = rest.split_at(at);
        if let Some(tail) = here.strip_prefix('§') {
            let (section, behind) = leading_section(tail);
            if let (Some(rfc), false) = (rfc, section.is_empty()) {
                let citation = (rfc, section.to_owned());
                if let Some(first) = range.take().filter(|_| before == " to ") {
                    found.extend(between(&first, &citation));
                }
                found.insert(citation.clone());
                range = Some(citation);
            }
            rest = behind;
        } else if let Some((number, behind)) = leading_rfc(here) {
            (rfc, range, rest) = (Some(number), None, behind);
        } else {
            if here.starts_with(';') {
                rfc = default;
            }
            rest = &here[1..];
        }
    }
    found
}

/// The RFC named first in a text.
pub fn first_rfc(text: &str) -> Option<u32> {
    text.match_indices("RFC ").find_map(|(at, _)| leading_rfc(&text[at..])).map(|(number, _)| number)
}

/// What the Rust sources below a folder cite, with file and line. A run of comment lines is one text. A section without an
/// RFC belongs to the RFC named first in the `//!` lines of its file.
pub fn in_sources(folder: &Path) -> Vec<(Citation, String)> {
    let mut found = Vec::new();
    for file in rust_files(folder) {
        let text = fs::read_to_string(&file).expect("a source file can be read");
        let place = file.strip_prefix("../..").unwrap_or(&file).display().to_string();
        found.extend(in_source(&text).into_iter().map(|(citation, line)| (citation, format!("{place}:{line}"))));
    }
    found
}

/// The same for the text of one file, with line numbers.
pub fn in_source(text: &str) -> Vec<(Citation, usize)> {
    let head: Vec<&str> = text.lines().take_while(|l| l.starts_with("//!")).collect();
    let default = first_rfc(&head.join(" "));
    let mut found = Vec::new();
    let mut comment = (0, String::new());
    let close = |comment: &mut (usize, String), found: &mut Vec<(Citation, usize)>| {
        found.extend(cited(&comment.1, default).into_iter().map(|citation| (citation, comment.0)));
        comment.1.clear();
    };
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(words) = line.trim_start().strip_prefix("//") {
            if comment.1.is_empty() {
                comment.0 = number;
            }
            comment.1 += " ";
            comment.1 += words.trim_start_matches(['/', '!']).trim();
        } else {
            close(&mut comment, &mut found);
            found.extend(cited(line, default).into_iter().map(|citation| (citation, number)));
        }
    }
    close(&mut comment, &mut found);
    found
}

/// The sections from the first to the last of "§6.1.4 to §6.1.6", which differ in their last number.
fn between(first: &Citation, last: &Citation) -> Vec<Citation> {
    let split =
        |section: &str| section.rsplit_once('.').and_then(|(head, n)| Some((head.to_owned(), n.parse::<u32>().ok()?)));
    match (split(&first.1), split(&last.1)) {
        (Some((head, from)), Some((_, to))) => (from..to).map(|n| (first.0, format!("{head}.{n}"))).collect(),
        _ => Vec::new(),
    }
}

/// The number of "RFC 3168" at the start of a text, and what follows.
fn leading_rfc(text: &str) -> Option<(u32, &str)> {
    let tail = text.strip_prefix("RFC ")?;
    let end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
    Some((tail[..end].parse().ok()?, &tail[end..]))
}

/// A section number such as "6.1.2" or "A.2" at the start of a text, and what follows. A roman number is none.
fn leading_section(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| c != '.' && !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let section = text[..end].trim_end_matches('.');
    let numbers =
        section.strip_prefix(|c: char| c.is_ascii_uppercase()).map_or(section, |tail| tail.trim_start_matches('.'));
    let is_section = numbers.split('.').all(|n| n.parse::<u32>().is_ok()) || (numbers.is_empty() && section.len() == 1);
    if is_section { (section, &text[section.len()..]) } else { ("", text) }
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a source folder can be read") {
        let path = entry.expect("a source folder can be listed").path();
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}
