//! Packet-timed rounds: one is over when something is delivered that was sent after it began ("BBR.round_count").

use super::RateSample;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    /// BBR.round_count.
    pub count: u64,
    /// BBR.round_start: the ACK at hand begins a round.
    pub start: bool,
    /// BBR.rounds_since_probe_up.
    pub since_probe_up: u64,
    /// BBR.next_round_delivered.
    next_delivered: u64,
}

impl Round {
    /// UpdateRound, when `delivered` bytes are delivered in total.
    pub fn update(&mut self, rs: &RateSample, delivered: u64) {
        self.start = rs.prior_delivered >= self.next_delivered;
        if self.start {
            self.restart(delivered);
            self.count += 1;
            self.since_probe_up += 1;
        }
    }

    /// StartRound.
    pub fn restart(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }
}
