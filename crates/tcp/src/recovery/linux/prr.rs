//! Proportional Rate Reduction (RFC 6937, RFC 9937): lowers the window to its target within a round trip by sending a
//! proportion of the delivered segments.

/// The state of one reduction. All counts are segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prr {
    /// Target of the window, in bytes.
    pub target: u64,
    /// Window before the reduction (RecoverFS; Linux uses the window, not the flight).
    prior: u64,
    /// Segments delivered since the start.
    delivered: u64,
    /// Segments sent since the start.
    out: u64,
}

impl Prr {
    /// The start of a reduction from `prior` segments to `target` bytes.
    pub fn new(prior: u64, target: u64) -> Prr {
        Prr { target, prior: prior.max(1), delivered: 0, out: 0 }
    }

    /// Records that `segments` were sent, new or retransmitted.
    pub fn sent(&mut self, segments: u64) {
        self.out += segments;
    }

    /// Returns the window in segments after an ACK that delivered `delivered` segments. `in_flight` is the number of
    /// segments left in the network, `target` the target in segments. `clean` is true if the ACK advanced SND.UNA and
    /// reported no further loss.
    pub fn window(&mut self, delivered: u64, in_flight: u64, target: u64, clean: bool) -> u64 {
        self.delivered += delivered;
        let count = if in_flight > target {
            // RFC 6937 §3: CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out.
            (target * self.delivered).div_ceil(self.prior).saturating_sub(self.out)
        } else {
            // RFC 9937 §6.2: conservative by default, one segment more if the ACK shows progress (PRR-SSRB).
            let conserved = self.delivered.saturating_sub(self.out).max(delivered);
            (conserved + u64::from(clean)).min(target - in_flight)
        };
        // The lost segment that started the recovery is sent at once.
        in_flight + count.max(u64::from(self.out == 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sends_one_of_two_while_more_than_the_target_is_in_flight() {
        // Ten segments to five: after the k-th delivery ceil(k·5/10) have been sent.
        let mut prr = Prr::new(10, 5_000);
        let mut in_flight = 9;
        let mut sent = Vec::new();
        for _ in 0..4 {
            let window = prr.window(1, in_flight, 5, false);
            prr.sent(window - in_flight);
            sent.push(window - in_flight);
            in_flight = window - 1;
        }
        assert_eq!(sent, [1, 0, 1, 0]);
    }

    #[test]
    fn below_the_target_conserves_and_grows_by_one_for_a_clean_ack() {
        let mut prr = Prr::new(10, 5_000);
        prr.sent(1);
        assert_eq!(prr.window(1, 2, 5, false), 3, "one for one");
        prr.sent(1);
        assert_eq!(prr.window(1, 2, 5, true), 4, "one for one, and one more");
        prr.sent(2);
        assert_eq!(prr.window(3, 4, 5, true), 5, "never past the target");
    }
}
