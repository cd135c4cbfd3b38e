//! Logs of connections in qlog, which the stack writes.

use std::fmt;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The log of one end of a connection. The stack ignores errors of its writes.
pub type Writer = Box<dyn Write + Send + Sync>;

/// Makes a writer for each connection of an end of a flow, of the stack "quinn" only. Two are equal if they are clones of one.
#[derive(Clone)]
pub struct Qlog(Arc<Writers>);

struct Writers {
    /// Number of connections that have a writer.
    count: AtomicU64,
    make: Box<dyn Fn(&str) -> Writer + Send + Sync>,
}

impl Qlog {
    /// Calls `make` with the number of the connection, from 0, and its side: "0-client", "1-server". If each end of each flow has
    /// a `Qlog` of its own and runs once, the number is that of the table `quic`.
    pub fn new(make: impl Fn(&str) -> Writer + Send + Sync + 'static) -> Qlog {
        Qlog(Arc::new(Writers { count: AtomicU64::new(0), make: Box::new(make) }))
    }

    /// The name and the writer of the next connection, of which the end is the `side`.
    pub(crate) fn next(&self, side: &str) -> (String, Writer) {
        let name = format!("{}-{side}", self.0.count.fetch_add(1, Relaxed));
        let writer = (self.0.make)(&name);
        (name, writer)
    }
}

impl PartialEq for Qlog {
    fn eq(&self, other: &Qlog) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Qlog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Qlog").finish_non_exhaustive()
    }
}
