//! Memory available to a run on this machine.

use std::fs::read_to_string;
use std::path::Path;

use ecnlab_base::Bytes;
use ecnlab_scenario::{Available, Limit, MEMORY_LIMIT};

const GROUPS: &str = "/sys/fs/cgroup";

/// Returns the limit set in the environment, otherwise the machine's available memory or the limit of this process's
/// control group, whichever is less.
///
/// # Errors
/// An invalid size in the environment: the problem and a remedy.
pub fn available() -> Result<Option<Available>, String> {
    let stated = std::env::var_os(MEMORY_LIMIT).unwrap_or_default();
    if !stated.is_empty() {
        let bytes = stated.to_str().and_then(|text| text.parse::<Bytes>().ok());
        let Bytes(bytes) =
            bytes.ok_or_else(|| format!("{MEMORY_LIMIT} is {stated:?}; write a size such as \"8 GB\""))?;
        return Ok(Some(Available { bytes, limit: Limit::Stated }));
    }
    let bytes = [machine(), group()].into_iter().flatten().min();
    Ok(bytes.map(|bytes| Available { bytes, limit: Limit::Machine }))
}

/// `MemAvailable` of /proc/meminfo.
fn machine() -> Option<u64> {
    let text = read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.saturating_mul(1024))
}

/// Minimum of the limits of the control groups of this process.
fn group() -> Option<u64> {
    let text = read_to_string("/proc/self/cgroup").ok()?;
    let limits = text.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let (root, file) = if controllers.is_empty() {
            (GROUPS.to_owned(), "memory.max")
        } else {
            (format!("{GROUPS}/{controllers}"), "memory.limit_in_bytes")
        };
        let of = move |group: &Path| {
            let inside = group.strip_prefix("/").unwrap_or(group);
            read_to_string(Path::new(&root).join(inside).join(file)).ok()?.trim().parse::<u64>().ok()
        };
        Path::new(path).ancestors().filter_map(of).collect::<Vec<_>>()
    });
    limits.min()
}
