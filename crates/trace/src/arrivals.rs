//! What has arrived, by the time it was sent: when what was sent before may be taken for lost (RACK, RFC 8985 §6.2).

/// The kernel's timers are late by up to so much beyond what they wait for: 2 ms and a tick (Linux: TCP_TIMEOUT_MIN_US).
const SLACK: u64 = 4_000_000;

/// A quarter of the least round trip, as timestamps in milliseconds have it, is less by so much.
const ROUNDING: u64 = 250_000;

/// The latest transmission that is known to have arrived. Times are nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrivals {
    /// When it was sent, and its end.
    sent: (u64, u64),
    /// How long the last arrival took.
    rtt: u64,
    /// The least that any took; zero before the first.
    least: u64,
}

impl Arrivals {
    /// What was sent at `sent` and ends at `end` is known at `time` to have arrived; `again` if it was sent twice.
    pub fn note(&mut self, sent: u64, end: u64, again: bool, time: u64) {
        let rtt = time.saturating_sub(sent);
        if again && rtt < self.least {
            return;
        }
        if !again && (self.least == 0 || rtt < self.least) {
            self.least = rtt;
        }
        self.rtt = rtt;
        self.sent = self.sent.max((sent, end));
    }

    /// Whether a segment sent at `sent` that ends at `end` has had its time, something sent after it having arrived; with
    /// the reordering window, if the sender is `patient`.
    pub fn is_overdue(&self, sent: u64, end: u64, patient: bool, time: u64) -> bool {
        let window = if patient { self.least / 4 } else { 0 };
        (sent, end) < self.sent && time >= sent + self.rtt + window
    }

    /// Whether `time` is when a timer would find that the segment has had its time. It waits for the last of those that
    /// were sent before what has arrived.
    pub fn is_late(&self, sent: u64, end: u64, time: u64) -> bool {
        self.is_overdue(sent, end, true, time + ROUNDING) && time <= self.sent.0 + self.rtt + self.least / 4 + SLACK
    }
}
