//! What an endpoint counts. Counters only grow; they are what tests balance.

use ecnlab_base::Dur;

/// Counters of one endpoint, from its birth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments of any kind sent.
    pub segments_sent: u64,
    /// Segments with payload sent, retransmissions among them.
    pub data_segments_sent: u64,
    /// Payload bytes sent, retransmissions among them.
    pub bytes_sent: u64,
    /// Payload bytes sent again.
    pub bytes_retransmitted: u64,
    /// Segments sent again by fast retransmit: the one that begins a recovery.
    pub retransmits_fast: u64,
    /// Segments sent again after a retransmission timeout, up to what had been sent before it; SYN and FIN included.
    pub retransmits_timeout: u64,
    /// Segments sent again in the course of a recovery: partial ACKs, holes in the scoreboard.
    pub retransmits_recovery: u64,
    /// Retransmission timeouts, the handshake's included.
    pub timeouts: u64,
    /// Recoveries begun by duplicate ACKs or SACKs.
    pub fast_recoveries: u64,
    /// Window reductions in answer to ECN-Echo.
    pub ecn_reductions: u64,
    /// Times that ECN-Echo met a window of one segment, so that the timer had to pass first.
    pub ecn_holds: u64,
    /// Zero-window probes sent.
    pub window_probes: u64,
    /// Segments of any kind received, refused ones included.
    pub segments_received: u64,
    /// Payload bytes received a second time: retransmissions that were not needed.
    pub duplicate_bytes: u64,
    /// Segments received with CE.
    pub ce_received: u64,
    /// ACKs received with ECN-Echo (without SYN).
    pub ece_received: u64,
    /// Segments sent with ECN-Echo (without SYN).
    pub ece_sent: u64,
    /// Segments received with CWR (without SYN).
    pub cwr_received: u64,
    /// Segments sent with CWR (without SYN).
    pub cwr_sent: u64,
    /// Duplicate ACKs received (RFC 5681 §2).
    pub dupacks_received: u64,
    /// RTT samples taken.
    pub rtt_samples: u64,
    /// Their sum.
    pub rtt_sum: Dur,
    /// The least; [`Dur::ZERO`] before the first.
    pub rtt_min: Dur,
    /// The greatest.
    pub rtt_max: Dur,
}

impl Counters {
    /// Segments sent again for any reason.
    pub fn retransmits(&self) -> u64 {
        self.retransmits_fast + self.retransmits_timeout + self.retransmits_recovery
    }

    pub(crate) fn rtt(&mut self, rtt: Dur) {
        self.rtt_min = if self.rtt_samples == 0 { rtt } else { self.rtt_min.min(rtt) };
        self.rtt_max = self.rtt_max.max(rtt);
        self.rtt_sum = Dur::from_ps(self.rtt_sum.ps().saturating_add(rtt.ps()));
        self.rtt_samples += 1;
    }
}
