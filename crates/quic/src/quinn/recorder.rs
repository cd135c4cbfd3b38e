//! A wrapper around the stack's congestion controller that records what the stack's statistics omit.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

/// Readings of one controller.
#[derive(Debug, Default)]
pub struct Record {
    /// An ACK has arrived.
    pub acked: AtomicBool,
    /// Bytes in flight after the last ACK.
    pub in_flight: AtomicU64,
    /// Reductions of the window by the controller.
    pub reductions: AtomicU64,
    /// Those of them in response to a mark.
    pub by_marks: AtomicU64,
}

/// Makes controllers that write to `record`.
pub struct Factory {
    /// Makes the stack's controller.
    pub inner: Arc<dyn ControllerFactory + Send + Sync>,
    /// Record of the connection.
    pub record: Arc<Record>,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = self.inner.clone().build(now, current_mtu);
        Box::new(Recorder { inner, record: self.record.clone() })
    }
}

struct Recorder {
    inner: Box<dyn Controller>,
    record: Arc<Record>,
}

impl Controller for Recorder {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.record.acked.store(true, Relaxed);
        self.record.in_flight.store(in_flight, Relaxed);
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
    }

    /// quinn-proto passes `lost_bytes == 0` for a mark, and calls this for each ACK that reports one: the controller ignores
    /// all but the first of a round trip.
    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        let before = self.inner.window();
        self.inner.on_congestion_event(now, sent, persistent, lost_bytes);
        if self.inner.window() < before {
            self.record.reductions.fetch_add(1, Relaxed);
            self.record.by_marks.fetch_add(u64::from(lost_bytes == 0), Relaxed);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Recorder { inner: self.inner.clone_box(), record: self.record.clone() })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
