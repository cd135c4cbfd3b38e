//! Network namespaces that end with the thread that created them, and their settings.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Command;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};

/// Settings of a namespace: files below `/proc/sys/net`, and commands of `ip`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// (file, value).
    pub sysctls: Vec<(String, String)>,
    /// One command each.
    pub ip: Vec<String>,
}

impl Settings {
    /// Applies all settings in the calling thread's namespace.
    ///
    /// # Errors
    /// If `ip` is missing or fails, or a file cannot be written; the message names it.
    pub fn apply(&self) -> io::Result<()> {
        for (file, value) in &self.sysctls {
            let path = Path::new("/proc/sys/net").join(file);
            std::fs::write(&path, value)
                .map_err(|error| io::Error::new(error.kind(), format!("{} = {value}: {error}", path.display())))?;
        }
        self.ip.iter().try_for_each(|words| ip(words))
    }
}

fn ip(words: &str) -> io::Result<()> {
    let done = Command::new("ip").args(words.split_whitespace()).output().map_err(|error| {
        io::Error::new(error.kind(), format!("`ip` cannot be run: {error}; it is in the package iproute2"))
    })?;
    if done.status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("ip {words}: {}", String::from_utf8_lossy(&done.stderr).trim())))
}

/// Moves the calling thread, and threads that it starts later, into a new network namespace from which no packet leaves
/// the machine. The namespace has no name: it ends with its last thread, socket and device.
///
/// # Errors
/// `EPERM` without CAP_SYS_ADMIN.
pub fn private() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(io::Error::from)
}

/// Runs `work` in the network namespace of the file `path`, in a separate thread.
///
/// # Errors
/// If the file is not a namespace, or the caller may not enter it; otherwise those of `work`.
pub fn within<T: Send>(path: &Path, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let namespace = File::open(path)?;
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            setns(&namespace, CloneFlags::CLONE_NEWNET)?;
            work()
        });
        worker.join().unwrap_or_else(|_| Err(io::Error::other("the thread in the namespace panicked")))
    })
}
