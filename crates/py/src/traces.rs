//! Reading of the files of traces.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Maximum bytes of a trace: an hour of Mahimahi at 100 Mbit/s.
const LARGEST: u64 = 256 << 20;

/// Returns `text` without the byte order mark that spreadsheets and editors of Windows write at its start.
pub fn without_byte_order_mark(mut text: String) -> String {
    if text.starts_with('\u{feff}') {
        text.replace_range(..'\u{feff}'.len_utf8(), "");
    }
    text
}

/// Reads a trace: its text and the SHA-256 of that in hexadecimal; or the problem and a remedy.
pub fn read(path: &Path) -> Result<(String, String), String> {
    let shown = path.display();
    let wrong =
        |problem: String| format!("cannot read `{shown}`: {problem}; the path starts at the folder of the scenario");
    let kind = std::fs::metadata(path).map_err(|e| wrong(e.to_string()))?;
    if !kind.is_file() {
        return Err(wrong("it is not a file".to_owned()));
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes));
    read.map_err(|e| wrong(e.to_string()))?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("`{shown}` has more than 256 MiB; use a shorter part, which `every` repeats"));
    }
    let sha256 = ecnlab_scenario::hex_sha256(&bytes);
    let text = String::from_utf8(bytes).map_err(|_| format!("`{shown}` is not UTF-8; write it as text"))?;
    Ok((without_byte_order_mark(text), sha256))
}
