//! RACK's record of deliveries: decides from send times when data sent earlier counts as lost (RFC 8985 §6.2).

/// The most recently sent transmission known to have arrived. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrivals {
    /// Its send time and the offset of its end.
    sent: (u64, u64),
    /// Round-trip time of the last arrival.
    rtt: u64,
    /// Minimum round-trip time; zero before the first sample.
    least: u64,
}

impl Arrivals {
    /// Records at `time` that the segment sent at `sent` and ending at `end` has arrived; `again` if it was
    /// retransmitted. Returns whether the sample is valid: an arrival sooner than the minimum RTT acknowledges the
    /// first copy.
    pub fn note(&mut self, sent: u64, end: u64, again: bool, time: u64) -> bool {
        let rtt = time.saturating_sub(sent);
        if again && (self.least == 0 || rtt < self.least) {
            return false;
        }
        self.rtt = rtt;
        self.sent = self.sent.max((sent, end));
        true
    }

    /// Takes a round-trip time sample into the minimum.
    pub fn least(&mut self, rtt: u64) {
        if self.least == 0 || rtt < self.least {
            self.least = rtt;
        }
    }

    /// Returns how long after `time` a segment sent at `sent` and ending at `end` may still be in flight before it is
    /// lost, with the reordering window if the sender is `patient`; `None` if nothing sent after it has arrived.
    pub fn left(&self, sent: u64, end: u64, patient: bool, time: u64) -> Option<u64> {
        let window = if patient { self.least / 4 } else { 0 };
        let limit = sent.saturating_add(self.rtt).saturating_add(window);
        ((sent, end) < self.sent).then(|| limit.saturating_sub(time))
    }

    /// Returns whether the segment sent at `sent` has been in flight for longer than the last round-trip time.
    pub fn has_had_its_time(&self, sent: u64, time: u64) -> bool {
        time >= sent.saturating_add(self.rtt)
    }
}
