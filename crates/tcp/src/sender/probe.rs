//! Tail loss probes (RFC 8985 §7): after a silence one segment more is sent, whose ACK tells of a loss at the tail.

use ecnlab_base::Dur;

use crate::config::Config;

/// The least time to a timer beyond what it waits for (Linux: TCP_TIMEOUT_MIN_US).
pub(crate) const SLACK: Dur = Dur::from_ms(2);

/// The probe that is not yet accounted for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TailProbe {
    /// What was sent when it went ends here (TLP.end_seq).
    end: Option<u64>,
    /// It was a retransmission (TLP.is_retrans).
    again: bool,
}

impl TailProbe {
    /// How long the silence before a probe lasts (§7.2, PTO), with so many segments `outstanding` and a smoothed RTT of
    /// `srtt`, zero before the first sample.
    pub fn wait(srtt: Dur, outstanding: u32, config: &Config) -> Dur {
        match (srtt.is_zero(), outstanding) {
            (true, _) => config.initial_rto,
            // The ACK of a single segment may be delayed.
            (false, 1) => srtt * 2 + config.min_rto,
            (false, _) => srtt * 2 + SLACK,
        }
    }

    /// A probe leaves. All that was sent, itself included, ends at `end`; it may have been sent before, too (`again`).
    pub fn sent(&mut self, end: u64, again: bool) {
        *self = TailProbe { end: Some(end), again };
    }

    /// Whether one is under way: there is one at a time (§7.3).
    pub fn is_out(&self) -> bool {
        self.end.is_some()
    }

    /// What it may tell is known otherwise.
    pub fn forget(&mut self) {
        self.end = None;
    }

    /// Whether an ACK up to `una` proves a loss that the probe has repaired (§7.4.2); ends the episode where it can. A
    /// `duplicate` acknowledges nothing and reports nothing.
    pub fn on_ack(&mut self, una: u64, duplicate: bool) -> bool {
        let Some(end) = self.end.filter(|end| una >= *end) else { return false };
        if self.again && una > end {
            return true;
        }
        // New data has arrived, or a bare duplicate tells that both copies have.
        if !self.again || duplicate {
            self.end = None;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;

    #[test]
    fn a_probe_waits_two_round_trips_and_for_a_delayed_ack() {
        let config = &profile("linux-7").unwrap().config;
        assert_eq!(TailProbe::wait(Dur::ZERO, 3, config), Dur::from_ms(1_000), "the first timeout");
        assert_eq!(TailProbe::wait(Dur::from_ms(30), 3, config), Dur::from_ms(62));
        assert_eq!(TailProbe::wait(Dur::from_ms(30), 1, config), Dur::from_ms(260));
    }

    #[test]
    fn an_ack_beyond_a_probe_that_was_a_retransmission_tells_of_a_loss() {
        let mut probe = TailProbe::default();
        probe.sent(5_001, true);
        assert!(!probe.on_ack(4_001, false) && !probe.on_ack(5_001, false), "one copy has come");
        assert!(probe.on_ack(6_001, false), "and no second");
        probe.sent(5_001, true);
        assert!(!probe.on_ack(5_001, true) && !probe.is_out(), "both have");
    }

    #[test]
    fn a_probe_of_new_data_tells_of_nothing() {
        let mut probe = TailProbe::default();
        probe.sent(5_001, false);
        assert!(!probe.on_ack(4_001, false) && probe.is_out());
        assert!(!probe.on_ack(5_001, false) && !probe.is_out());
        probe.sent(5_001, false);
        assert!(!probe.on_ack(6_001, false) && !probe.is_out());
    }
}
