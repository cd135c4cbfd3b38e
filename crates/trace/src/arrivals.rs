//! What has arrived, by the time it was sent: when what was sent before may be taken for lost (RACK, RFC 8985 §6.2).

/// The latest transmission that is known to have arrived. Times are nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrivals {
    /// When it was sent, and its end.
    sent: (u64, u64),
    /// How long the last arrival took.
    rtt: u64,
    /// The least round trip; zero before the first.
    least: u64,
}

impl Arrivals {
    /// What was sent at `sent` and ends at `end` is known at `time` to have arrived; `again` if it was sent twice. Returns
    /// whether that is to be believed: what comes sooner than any before is of the first copy.
    pub fn note(&mut self, sent: u64, end: u64, again: bool, time: u64) -> bool {
        let rtt = time.saturating_sub(sent);
        if again && (self.least == 0 || rtt < self.least) {
            return false;
        }
        self.rtt = rtt;
        self.sent = self.sent.max((sent, end));
        true
    }

    /// One more round trip.
    pub fn least(&mut self, rtt: u64) {
        if self.least == 0 || rtt < self.least {
            self.least = rtt;
        }
    }

    /// How long, at `time`, a segment sent at `sent` that ends at `end` may still take, with the reordering window if the
    /// sender is `patient`; `None` if nothing sent after it has arrived.
    pub fn left(&self, sent: u64, end: u64, patient: bool, time: u64) -> Option<u64> {
        let window = if patient { self.least / 4 } else { 0 };
        let limit = sent.saturating_add(self.rtt).saturating_add(window);
        ((sent, end) < self.sent).then(|| limit.saturating_sub(time))
    }

    /// Whether what was sent at `sent` has been under way for longer than the last arrival.
    pub fn has_had_its_time(&self, sent: u64, time: u64) -> bool {
        time >= sent.saturating_add(self.rtt)
    }
}
