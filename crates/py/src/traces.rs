//! Reading of the files of traces.

use std::fs::{File, FileType};
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

/// Returns what `kind` is if it is no regular file. Opening a FIFO waits for its writer, perhaps without end.
pub fn special(kind: FileType) -> Option<&'static str> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return Some("it is a FIFO");
        }
        if kind.is_socket() {
            return Some("it is a socket");
        }
    }
    let other = if kind.is_dir() { "it is a folder" } else { "it is a device" };
    (!kind.is_file()).then_some(other)
}

/// Reads a trace: its text and the SHA-256 of that in hexadecimal; or the problem and a remedy.
pub fn read(path: &Path) -> Result<(String, String), String> {
    let shown = path.display();
    let wrong =
        |problem: String| format!("cannot read `{shown}`: {problem}; the path starts at the folder of the scenario");
    let kind = std::fs::metadata(path).map_err(|e| wrong(e.to_string()))?;
    if let Some(special) = special(kind.file_type()) {
        return Err(wrong(format!("{special}, not a file")));
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
