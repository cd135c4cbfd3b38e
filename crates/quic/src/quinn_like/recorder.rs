//! A wrapper around the stack's congestion controller that records what the stack's statistics omit.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::stack;
use super::stack::proto::congestion::{Controller, ControllerFactory};

/// Readings of one controller.
#[derive(Debug)]
pub struct Record {
    /// Least RTT in nanoseconds; `u64::MAX` before the first ACK.
    rtt_min: AtomicU64,
    /// Bytes in flight after the last ACK.
    in_flight: AtomicU64,
    /// Reductions of the window by the controller.
    pub reductions: AtomicU64,
    /// Those of them in response to a mark.
    pub by_marks: AtomicU64,
}

impl Default for Record {
    fn default() -> Record {
        let [in_flight, reductions, by_marks] = Default::default();
        Record { rtt_min: AtomicU64::new(u64::MAX), in_flight, reductions, by_marks }
    }
}

impl Record {
    /// Takes in that a packet sent at `sent` is acknowledged.
    pub fn acknowledged(&self, now: Instant, sent: Instant) {
        let rtt = now.saturating_duration_since(sent).as_nanos() as u64;
        self.rtt_min.fetch_min(rtt, Relaxed);
    }

    /// Takes in the bytes that remain in flight after an ACK.
    pub fn set_in_flight(&self, bytes: u64) {
        self.in_flight.store(bytes, Relaxed);
    }

    /// Least RTT, and the bytes in flight after the last ACK; `None` before the first.
    pub fn acked(&self) -> Option<(Duration, u64)> {
        let rtt = Some(self.rtt_min.load(Relaxed)).filter(|&ns| ns != u64::MAX)?;
        Some((Duration::from_nanos(rtt), self.in_flight.load(Relaxed)))
    }
}

/// Makes controllers that write to `record`.
pub struct Factory {
    /// Makes the stack's controller.
    pub inner: stack::Factory,
    /// Record of the connection.
    pub record: Arc<Record>,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = self.inner.clone().build(now, current_mtu);
        Box::new(Recorder { inner, record: self.record.clone() })
    }
}

/// A controller that writes to `record`. Its implementation of the stack's trait is in [`super::stack`].
pub struct Recorder {
    /// The stack's controller.
    pub inner: Box<dyn Controller>,
    /// Record of the connection.
    pub record: Arc<Record>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("record", &self.record).finish_non_exhaustive()
    }
}

impl Recorder {
    /// Runs a congestion event, of a mark or a loss, and counts it if it reduces the window. A stack calls this for each ACK
    /// that reports marks: the controller ignores all but the first of a round trip.
    pub fn congestion(&mut self, mark: bool, run: impl FnOnce(&mut dyn Controller)) {
        let before = self.inner.window();
        run(&mut *self.inner);
        if self.inner.window() < before {
            self.record.reductions.fetch_add(1, Relaxed);
            self.record.by_marks.fetch_add(u64::from(mark), Relaxed);
        }
    }
}
