//! The corpus: all inputs that the tests replay and from which libFuzzer starts.
//!
//! `tests/data/corpus/TARGET.tar` stores what libFuzzer has found, captures, and inputs that were added by hand; `fuzz.py` in
//! `tests/tools/fuzz` writes it. Inputs that follow from files of the repository are made when they are read (`seeds.rs`).

use std::fs;
use std::path::{Path, PathBuf};

use crate::Target;
use crate::input::Input;
use crate::seeds::seeds;

/// The inputs of a target, sorted by name, no two of the same name.
///
/// # Errors
///
/// Names the file that cannot be read, the place in an archive that is damaged, or the name that two inputs have.
pub fn corpus(target: &Target) -> Result<Vec<Input>, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let from = PathBuf::from(format!("tests/data/corpus/{}.tar", target.name));
    let archive = fs::read(root.join(&from)).map_err(|error| format!("{}: {error}", from.display()))?;
    let stored = members(&archive).map_err(|wrong| format!("{}: {wrong}", from.display()))?;
    let mut inputs = seeds(&root, target.name)?;
    inputs.extend(stored.into_iter().map(|(name, bytes)| Input { name, from: from.clone(), bytes }));
    inputs.sort_by(|a, b| a.name.cmp(&b.name));
    match inputs.windows(2).find(|pair| pair[0].name == pair[1].name) {
        None => Ok(inputs),
        Some([a, b]) => Err(format!(
            "the target {} has two inputs {:?}, of {} and of {}: rename one",
            target.name,
            a.name,
            a.from.display(),
            b.from.display()
        )),
        Some(_) => unreachable!("windows of two"),
    }
}

/// Bytes of a header, and the unit in which contents are padded.
const BLOCK: usize = 512;

/// The names and contents of the files of a POSIX tar archive (ustar) without folders, links and long names.
fn members(archive: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
    let (mut files, mut at) = (Vec::new(), 0);
    while archive.get(at).is_some_and(|first| *first != 0) {
        let wrong = |what: &str| format!("{what} at byte {at}: restore the archive, or write it again with fuzz.py");
        let header = archive.get(at..at + BLOCK).ok_or_else(|| wrong("half a header"))?;
        if &header[257..262] != b"ustar" || header[156] != b'0' {
            return Err(wrong("no header of a file"));
        }
        let name = field(&header[..100]).ok_or_else(|| wrong("no name"))?;
        let length = field(&header[124..136]).and_then(|digits| usize::from_str_radix(digits, 8).ok());
        let length = length.ok_or_else(|| wrong("no length"))?;
        let from = at + BLOCK;
        let bytes = archive.get(from..from.saturating_add(length)).ok_or_else(|| wrong("half a file"))?;
        files.push((name.to_owned(), bytes.to_owned()));
        at = from + length.next_multiple_of(BLOCK);
    }
    Ok(files)
}

/// The text of a field, which ends with NUL if it is shorter.
fn field(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()?.split('\0').next().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header, then the content, as POSIX has them.
    fn member(name: &str, content: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; BLOCK + content.len().next_multiple_of(BLOCK)];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        bytes[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        bytes[156] = b'0';
        bytes[257..262].copy_from_slice(b"ustar");
        bytes[BLOCK..BLOCK + content.len()].copy_from_slice(content);
        bytes
    }

    #[test]
    fn files_are_read_in_their_order() {
        let full = [7; BLOCK];
        let archive = [member("b", b"two"), member("a", b""), member("c", &full), vec![0; 2 * BLOCK]].concat();
        let files = [("b".to_owned(), b"two".to_vec()), ("a".to_owned(), vec![]), ("c".to_owned(), full.to_vec())];
        assert_eq!(members(&archive).unwrap(), files);
        assert_eq!(members(&[]).unwrap(), []);
    }

    #[test]
    fn damage_is_reported_with_its_place() {
        let one = member("a", b"content");
        let refused = |archive: &[u8]| members(archive).unwrap_err();
        assert!(refused(&one[..100]).starts_with("half a header at byte 0:"));
        assert!(refused(&one[..BLOCK + 3]).starts_with("half a file at byte 0:"));
        let mut second = [one.clone(), one].concat();
        second[2 * BLOCK + 156] = b'5';
        assert!(refused(&second).starts_with("no header of a file at byte 1024:"));
        second[2 * BLOCK + 156] = b'0';
        second[2 * BLOCK + 124] = b'x';
        assert!(refused(&second).starts_with("no length at byte 1024:"));
    }
}
