//! Errors for invalid values of a queue.

use ecnlab_base::{Bytes, Dur};

/// Minimum interval of a law's timer steps, which an idle queue runs too: 100,000 steps a second.
const LEAST_INTERVAL: Dur = Dur::from_us(10);
/// Maximum bytes per round, so that deficits and their sums fit in 64 bits.
const MOST_QUANTUM: Bytes = Bytes(1_000_000_000);

/// An invalid value and its key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {message}")]
pub struct Impossible {
    /// The key in `[queue.NAME]`, dotted for a table within.
    pub key: String,
    /// The problem with its value and the remedy.
    pub message: String,
}

impl Impossible {
    /// `Ok` if `holds`, else `key` with the message.
    pub(crate) fn unless(holds: bool, key: &str, message: impl FnOnce() -> String) -> Result<(), Impossible> {
        if holds { Ok(()) } else { Err(Impossible { key: key.to_owned(), message: message() }) }
    }

    /// Rejects an interval of timer steps below the minimum.
    pub(crate) fn unless_interval(interval: Dur, key: &str) -> Result<(), Impossible> {
        Impossible::unless(interval >= LEAST_INTERVAL, key, || {
            format!(
                "{interval} is less than {LEAST_INTERVAL}, at which the law's steps would dominate the run time: write such as 10 ms"
            )
        })
    }

    /// Rejects bytes per round that are invalid for schedulers, or less than `least`.
    pub(crate) fn unless_quantum(bytes: Bytes, least: u64, key: &str) -> Result<(), Impossible> {
        Impossible::unless(bytes.0 >= least, key, || {
            format!("{bytes} is less than {least} B, so that a packet would need many rounds: write such as 1514 B")
        })?;
        Impossible::unless(bytes <= MOST_QUANTUM, key, || {
            format!("{bytes} is above {MOST_QUANTUM}, the maximum bytes per round: write such as 1514 B")
        })
    }

    /// Returns the same error for the queue of class `name`.
    pub(crate) fn inside(self, name: &str) -> Impossible {
        Impossible { key: format!("class.{name}.{}", self.key), ..self }
    }
}
