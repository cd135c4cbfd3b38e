//! What the tests share.

use std::fs;
use std::path::{Path, PathBuf};

/// Two hosts, a link, a flow: what the tests of mistakes change.
#[allow(dead_code)] // each test binary has its own copy of this module
pub const GOOD: &str = "\
format = 1
duration = \"10 s\"
[link.pipe]
from = \"a\"
to = \"b\"
rate = \"1 Mbps\"
delay = \"5 ms\"
queue = \"red\"
[queue.red]
discipline = \"red\"
limit = \"60 packets\"
min_th = \"5 packets\"
max_th = \"15 packets\"
[tcp.mine]
ecn = \"off\"
[flow.bulk]
from = \"a\"
to = \"b\"
traffic = \"ftp\"
tcp = \"mine\"
";

/// The root of the repository.
#[allow(dead_code)]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file below a folder of the repository with one of these extensions, in alphabetical order.
#[allow(dead_code)]
pub fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
            if path.is_dir() {
                open.push(path);
            } else if extensions.contains(&extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
