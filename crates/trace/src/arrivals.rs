//! What has arrived, by the time it was sent: when what was sent before may be taken for lost (RACK, RFC 8985 §6.2).

/// The kernel's timers are late by up to so much beyond what they wait for: 2 ms and a tick (Linux: TCP_TIMEOUT_MIN_US).
const SLACK: u64 = 4_000_000;

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

    /// When a segment sent at `sent` that ends at `end` has had its time, if something sent after it has arrived.
    pub fn due(&self, sent: u64, end: u64) -> Option<u64> {
        ((sent, end) < self.sent).then_some(sent + self.rtt)
    }

    /// Whether the reordering window behind `due` is over.
    pub fn is_overdue(&self, due: u64, time: u64) -> bool {
        time >= due + self.least / 4
    }

    /// Whether `time` is when a timer would find the reordering window over.
    pub fn is_late(&self, due: u64, time: u64) -> bool {
        self.is_overdue(due, time) && time <= due + self.least / 4 + SLACK
    }
}
