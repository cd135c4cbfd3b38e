//! Counters of an endpoint. They never decrease; tests check their balance.

use ecnlab_base::Dur;

/// Counters of one endpoint since its creation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments of any kind sent.
    pub segments_sent: u64,
    /// Segments with payload sent, retransmissions among them.
    pub data_segments_sent: u64,
    /// Payload bytes sent, retransmissions among them.
    pub bytes_sent: u64,
    /// Payload bytes retransmitted.
    pub bytes_retransmitted: u64,
    /// Fast retransmits: each is the segment that begins a recovery.
    pub retransmits_fast: u64,
    /// Segments retransmitted after a retransmission timeout, up to the highest data sent before it; includes SYN and FIN.
    pub retransmits_timeout: u64,
    /// Segments retransmitted during a recovery: partial ACKs, holes in the scoreboard.
    pub retransmits_recovery: u64,
    /// Retransmission timeouts, the handshake's included.
    pub timeouts: u64,
    /// Recoveries begun by duplicate ACKs or SACKs.
    pub fast_recoveries: u64,
    /// Window reductions on ECN-Echo.
    pub ecn_reductions: u64,
    /// SYNs retransmitted without requesting ECN, unlike those before (RFC 3168 §6.1.1.1): at most 1.
    pub ecn_fallbacks: u64,
    /// Number of ECN-Echoes or source quenches at a window of one segment, after which the sender waits for its timer.
    pub ecn_holds: u64,
    /// Window reductions on a source quench.
    pub quench_reductions: u64,
    /// Zero-window probes sent.
    pub window_probes: u64,
    /// Segments of any kind received, including refused ones.
    pub segments_received: u64,
    /// Payload bytes received a second time: retransmissions that were not needed.
    pub duplicate_bytes: u64,
    /// Segments received with CE.
    pub ce_received: u64,
    /// ACKs received with ECN-Echo (without SYN).
    pub ece_received: u64,
    /// This end's bytes that ACKs reported as marked. Feedback that reports only the presence of marks gives the maximum
    /// possible number.
    pub bytes_marked: u64,
    /// Segments sent with ECN-Echo (without SYN).
    pub ece_sent: u64,
    /// Segments received with CWR (without SYN).
    pub cwr_received: u64,
    /// Segments sent with CWR (without SYN).
    pub cwr_sent: u64,
    /// Source quenches received, including ignored ones.
    pub quenches_received: u64,
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
    /// Returns the sum of these and `other`'s counters.
    pub fn plus(&self, other: &Counters) -> Counters {
        let either = |a: Dur, b: Dur| {
            if a.is_zero() {
                b
            } else if b.is_zero() {
                a
            } else {
                a.min(b)
            }
        };
        Counters {
            segments_sent: self.segments_sent + other.segments_sent,
            data_segments_sent: self.data_segments_sent + other.data_segments_sent,
            bytes_sent: self.bytes_sent + other.bytes_sent,
            bytes_retransmitted: self.bytes_retransmitted + other.bytes_retransmitted,
            retransmits_fast: self.retransmits_fast + other.retransmits_fast,
            retransmits_timeout: self.retransmits_timeout + other.retransmits_timeout,
            retransmits_recovery: self.retransmits_recovery + other.retransmits_recovery,
            timeouts: self.timeouts + other.timeouts,
            fast_recoveries: self.fast_recoveries + other.fast_recoveries,
            ecn_reductions: self.ecn_reductions + other.ecn_reductions,
            ecn_fallbacks: self.ecn_fallbacks + other.ecn_fallbacks,
            ecn_holds: self.ecn_holds + other.ecn_holds,
            quench_reductions: self.quench_reductions + other.quench_reductions,
            window_probes: self.window_probes + other.window_probes,
            segments_received: self.segments_received + other.segments_received,
            duplicate_bytes: self.duplicate_bytes + other.duplicate_bytes,
            ce_received: self.ce_received + other.ce_received,
            ece_received: self.ece_received + other.ece_received,
            bytes_marked: self.bytes_marked + other.bytes_marked,
            ece_sent: self.ece_sent + other.ece_sent,
            cwr_received: self.cwr_received + other.cwr_received,
            cwr_sent: self.cwr_sent + other.cwr_sent,
            quenches_received: self.quenches_received + other.quenches_received,
            dupacks_received: self.dupacks_received + other.dupacks_received,
            rtt_samples: self.rtt_samples + other.rtt_samples,
            rtt_sum: self.rtt_sum + other.rtt_sum,
            rtt_min: either(self.rtt_min, other.rtt_min),
            rtt_max: self.rtt_max.max(other.rtt_max),
        }
    }

    /// Returns the counts since `earlier`, an earlier reading of the same counters. Extremes cannot be
    /// separated: those of the whole time are kept.
    pub fn since(&self, earlier: &Counters) -> Counters {
        Counters {
            segments_sent: self.segments_sent - earlier.segments_sent,
            data_segments_sent: self.data_segments_sent - earlier.data_segments_sent,
            bytes_sent: self.bytes_sent - earlier.bytes_sent,
            bytes_retransmitted: self.bytes_retransmitted - earlier.bytes_retransmitted,
            retransmits_fast: self.retransmits_fast - earlier.retransmits_fast,
            retransmits_timeout: self.retransmits_timeout - earlier.retransmits_timeout,
            retransmits_recovery: self.retransmits_recovery - earlier.retransmits_recovery,
            timeouts: self.timeouts - earlier.timeouts,
            fast_recoveries: self.fast_recoveries - earlier.fast_recoveries,
            ecn_reductions: self.ecn_reductions - earlier.ecn_reductions,
            ecn_fallbacks: self.ecn_fallbacks - earlier.ecn_fallbacks,
            ecn_holds: self.ecn_holds - earlier.ecn_holds,
            quench_reductions: self.quench_reductions - earlier.quench_reductions,
            window_probes: self.window_probes - earlier.window_probes,
            segments_received: self.segments_received - earlier.segments_received,
            duplicate_bytes: self.duplicate_bytes - earlier.duplicate_bytes,
            ce_received: self.ce_received - earlier.ce_received,
            ece_received: self.ece_received - earlier.ece_received,
            bytes_marked: self.bytes_marked - earlier.bytes_marked,
            ece_sent: self.ece_sent - earlier.ece_sent,
            cwr_received: self.cwr_received - earlier.cwr_received,
            cwr_sent: self.cwr_sent - earlier.cwr_sent,
            quenches_received: self.quenches_received - earlier.quenches_received,
            dupacks_received: self.dupacks_received - earlier.dupacks_received,
            rtt_samples: self.rtt_samples - earlier.rtt_samples,
            rtt_sum: self.rtt_sum - earlier.rtt_sum,
            rtt_min: self.rtt_min,
            rtt_max: self.rtt_max,
        }
    }

    /// Segments retransmitted for any reason.
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
