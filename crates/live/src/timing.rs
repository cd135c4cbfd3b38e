//! Accuracy of the wall-clock timing: measured errors and their statistics.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use ecnlab_base::{Dur, Time};
use ecnlab_engine::Table;

use crate::clock::Clock;

/// Errors in nanoseconds; those above four seconds count as four.
#[derive(Clone, Debug, Default)]
pub struct Errors(Vec<u32>);

impl Errors {
    /// Records an action due at `due` and done at `done`.
    pub fn note(&mut self, due: Time, done: Time) {
        self.0.push(u32::try_from(done.since(due).ps() / 1000).unwrap_or(u32::MAX));
    }

    /// Returns the quantile `q` of the errors; NaN if there are none.
    fn quantile(sorted: &[u32], q: f64) -> f64 {
        let place = (libm::ceil(q * sorted.len() as f64) as usize).max(1) - 1;
        sorted.get(place).map_or(f64::NAN, |&ns| f64::from(ns) / 1e9)
    }
}

/// Returns the table `timing`: the median, the 99th percentile and the maximum error of each of `what`.
pub fn table(what: &[(&str, &Errors)]) -> Table {
    let names: Vec<String> = what.iter().map(|(name, _)| (*name).to_owned()).collect();
    let sorted: Vec<Vec<u32>> = what.iter().map(|(_, errors)| in_order(&errors.0)).collect();
    let quantile = |q: f64| sorted.iter().map(move |errors| Errors::quantile(errors, q));
    let mut t = Table::new("timing");
    t.text("what", 0..names.len() as u32, &names);
    t.u64("count", sorted.iter().map(|errors| errors.len() as u64));
    t.f64("p50_s", quantile(0.5));
    t.f64("p99_s", quantile(0.99));
    t.f64("max_s", quantile(1.0));
    t
}

fn in_order(errors: &[u32]) -> Vec<u32> {
    let mut sorted = errors.to_vec();
    sorted.sort_unstable();
    sorted
}

/// A thread that writes timestamps to a pipe periodically: the delay until they are read is that of a packet.
#[derive(Debug)]
pub struct Ticker {
    reader: io::PipeReader,
    /// Ticks written and not yet read; [`STOP`] when the thread is to end.
    unread: Arc<AtomicU32>,
    thread: Option<thread::JoinHandle<()>>,
}

/// Interval between two ticks: a prime number of microseconds, to avoid synchronisation with other periods.
const TICK: Duration = Duration::from_micros(2003);
/// Maximum number of unread ticks, so that the thread never blocks on the pipe.
const MAX_UNREAD: u32 = 64;
const STOP: u32 = u32::MAX / 2;

impl Ticker {
    /// Starts the thread, which runs until this is dropped.
    ///
    /// # Errors
    /// If the pipe or the thread cannot be created.
    pub fn start(clock: Clock) -> io::Result<Ticker> {
        let (reader, mut writer) = io::pipe()?;
        let unread = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&unread);
        let tick = move || {
            loop {
                thread::sleep(TICK);
                match count.load(Ordering::Acquire) {
                    STOP.. => return,
                    MAX_UNREAD.. => continue,
                    _ => {}
                }
                count.fetch_add(1, Ordering::AcqRel);
                if writer.write_all(&clock.now().ps().to_ne_bytes()).is_err() {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("ticker".into()).spawn(tick)?;
        Ok(Ticker { reader, unread, thread: Some(thread) })
    }

    /// Returns the time of the next tick; waits for one.
    ///
    /// # Errors
    /// If the thread has ended.
    pub fn take(&mut self) -> io::Result<Time> {
        let mut bytes = [0; 8];
        self.reader.read_exact(&mut bytes)?;
        self.unread.fetch_sub(1, Ordering::AcqRel);
        Ok(Time::ZERO + Dur::from_ps(u64::from_ne_bytes(bytes)))
    }
}

/// The thread ends before its reader: a write without a reader would raise SIGPIPE.
impl Drop for Ticker {
    fn drop(&mut self) {
        self.unread.fetch_add(STOP, Ordering::AcqRel);
        if let Some(Err(_)) = self.thread.take().map(thread::JoinHandle::join) {
            debug_assert!(false, "the ticker panicked");
        }
    }
}

impl AsFd for Ticker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecnlab_engine::Column;

    #[test]
    fn quantiles_are_errors_that_occurred() {
        let mut errors = Errors::default();
        for us in (1..=100).rev() {
            errors.note(Time::ZERO, Time::ZERO + Dur::from_us(us));
        }
        let t = table(&[("delivery", &errors), ("reading", &Errors::default())]);
        let value = |name| match t.column(name) {
            Some(Column::F64(values)) => values.clone(),
            _ => Vec::new(),
        };
        // Of 1, 2, ... 100 us the 50th, the 99th and the last.
        assert_eq!([value("p50_s")[0], value("p99_s")[0], value("max_s")[0]], [50e-6, 99e-6, 100e-6]);
        assert!(value("max_s")[1].is_nan());
    }
}
