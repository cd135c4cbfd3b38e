//! The tail loss probe of RACK-TLP (RFC 8985 §7.2, §7.4.2).

use ecnlab_base::Dur;

use crate::config::Config;

/// The probe whose outcome is not yet known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TailProbe {
    /// End of the data sent when the probe was sent (TLP.end_seq).
    end: Option<u64>,
    /// The probe was a retransmission (TLP.is_retrans).
    again: bool,
}

impl TailProbe {
    /// Time added to a timer (Linux: TCP_TIMEOUT_MIN_US).
    pub const SLACK: Dur = Dur::from_ms(2);

    /// The probe timeout (§7.2, PTO), with `outstanding` segments and a smoothed RTT of `srtt`, zero before the first
    /// sample.
    pub fn wait(srtt: Dur, outstanding: u32, config: &Config) -> Dur {
        match (srtt.is_zero(), outstanding) {
            (true, _) => config.initial_rto,
            // The ACK of a single segment may be delayed.
            (false, 1) => srtt * 2 + config.min_rto,
            (false, _) => srtt * 2 + Self::SLACK,
        }
    }

    /// Records that a probe is sent. `end` is the end of all sent data, including the probe. `again` is true for a
    /// retransmission.
    pub fn sent(&mut self, end: u64, again: bool) {
        *self = TailProbe { end: Some(end), again };
    }

    /// Whether a probe is outstanding: only one at a time (§7.3).
    pub fn is_out(&self) -> bool {
        self.end.is_some()
    }

    /// Whether a retransmission is the outstanding probe.
    pub fn is_retransmission_out(&self) -> bool {
        self.again && self.is_out()
    }

    /// Whether a D-SACK that ends at `end` reports the probe.
    pub fn ends_at(&self, end: u64) -> bool {
        self.end == Some(end)
    }

    /// Discards the probe: its outcome is no longer needed.
    pub fn forget(&mut self) {
        self.end = None;
    }

    /// Returns whether an ACK up to `una` proves a loss that the probe has repaired (§7.4.2), and ends the episode if
    /// possible. `duplicate` is true for an ACK that acknowledges and SACKs no new bytes, `reported` for one whose D-SACK
    /// reports the probe.
    pub fn on_ack(&mut self, una: u64, duplicate: bool, reported: bool) -> bool {
        let Some(end) = self.end.filter(|end| una >= *end) else { return false };
        // A D-SACK shows that both copies have arrived. So does a bare duplicate.
        let arrived = !self.again || reported;
        if !arrived && una > end {
            return true;
        }
        if arrived || duplicate {
            self.end = None;
        }
        false
    }
}
