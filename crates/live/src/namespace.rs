//! Network namespaces that end with the thread that made them, and what is set in them.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Command;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};

/// What a namespace's kernel is told: files below `/proc/sys/net`, and words for `ip`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// (file, value).
    pub sysctls: Vec<(String, String)>,
    /// One command each.
    pub ip: Vec<String>,
}

impl Settings {
    /// Sets all of it in the calling thread's namespace.
    ///
    /// # Errors
    /// If `ip` is missing or refuses, or a file cannot be written; the message names it.
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

/// Moves the calling thread, and the threads that it starts from now on, into a network namespace of its own, from
/// which no packet leaves the machine. The namespace has no name: it goes with its last thread, socket and device.
///
/// # Errors
/// `EPERM` without CAP_SYS_ADMIN.
pub fn private() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(io::Error::from)
}

/// Does `work` in the network namespace of the file `path`, in a thread of its own.
///
/// # Errors
/// If the file is none of a namespace, or the caller may not enter it; else those of `work`.
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
