//! BBRv3 of noq-proto with a record of its state.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ecnlab_quic::noq_proto::RttEstimator;
use ecnlab_quic::noq_proto::congestion::{Bbr3Config, Controller, ControllerFactory, ControllerMetrics};

use crate::series::{EVERY_S, Point};

/// Makes controllers that write to this record.
#[derive(Clone, Debug, Default)]
pub struct Record(Arc<Mutex<Vec<Point>>>);

impl Record {
    /// The points.
    pub fn points(&self) -> Vec<Point> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ControllerFactory for Record {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::new(Bbr3Config::default()).build(now, mtu);
        Box::new(Recorder { inner, record: self.as_ref().clone(), start: now })
    }
}

#[derive(Debug)]
struct Recorder {
    inner: Box<dyn Controller>,
    record: Record,
    start: Instant,
}

impl Recorder {
    /// Adds a point if the last is old enough. The model is only in the debug output: its fields are private.
    fn note(&self, now: Instant) {
        let time = now.duration_since(self.start).as_secs_f64();
        let mut points = self.record.0.lock().unwrap_or_else(PoisonError::into_inner);
        if points.last().is_none_or(|last| time >= last.time + EVERY_S) {
            let text = format!("{:?}", self.inner);
            let longterm = field(&text, "inflight_longterm");
            points.push(Point {
                time,
                phase: 1 + STATES.iter().position(|&name| name == field(&text, "state")).expect("a state"),
                max_bw: 8.0 * number(field(&text, "max_bw")),
                min_rtt: seconds(field(&text, "min_rtt")),
                bounded: longterm != u64::MAX.to_string(),
                window: self.inner.window() as f64,
            });
        }
    }
}

/// States in the debug output, in the order of `bbr_state`.
const STATES: [&str; 7] =
    ["Startup", "Drain", "ProbeBw(Down)", "ProbeBw(Cruise)", "ProbeBw(Refill)", "ProbeBw(Up)", "ProbeRtt"];

/// The value of a field in the debug output.
fn field<'a>(text: &'a str, name: &str) -> &'a str {
    let rest = text.split(&format!(", {name}: ")).nth(1).unwrap_or_else(|| panic!("no field {name}"));
    rest.split(", ").next().unwrap_or(rest)
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("not a number: {text}"))
}

/// A duration of the debug output, such as 40.5ms, in seconds.
fn seconds(text: &str) -> f64 {
    let units = [("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9), ("s", 1.0)];
    let value = units.iter().find_map(|(unit, factor)| Some(factor * number(text.strip_suffix(unit)?)));
    value.unwrap_or_else(|| panic!("not a duration: {text}"))
}

impl Controller for Recorder {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest_pn: u64) {
        self.inner.on_sent(now, bytes, largest_pn);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.inner.on_packet_sent(now, bytes, pn);
    }

    fn on_cwnd_limited(&mut self) {
        self.inner.on_cwnd_limited();
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, pn: u64, app_limited: bool, rtt: &RttEstimator) {
        self.inner.on_ack(now, sent, bytes, pn, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
        self.note(now);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        ecn: bool,
        lost_bytes: u64,
        largest_lost: u64,
    ) {
        self.inner.on_congestion_event(now, sent, persistent, ecn, lost_bytes, largest_lost);
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.inner.on_packet_lost(lost_bytes, pn, now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn on_ack_frequency_update(&mut self, threshold: u64, max_ack_delay: Duration) {
        self.inner.on_ack_frequency_update(threshold, max_ack_delay);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Recorder { inner: self.inner.clone_box(), record: self.record.clone(), start: self.start })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
