//! The congestion window: twice the bandwidth-delay product, plus a budget for bursts and aggregation. Windows are in
//! segments.

use super::bandwidth::{Bandwidth, UNIT};
use super::recovery::Restored;
use super::{AckSample, LEAST_CWND, Mode, State, us};

/// Window in segments while no RTT is known, and number of delivered segments before the target applies
/// (TCP_INIT_CWND).
const INITIAL_CWND: u64 = 10;

impl State {
    /// bbr_set_cwnd.
    pub(super) fn set_cwnd(&mut self, sample: &AckSample) {
        let mut cwnd = self.cwnd();
        if sample.delivered.packets > 0 {
            cwnd = self.next_cwnd(cwnd, sample);
        }
        if self.mode == Mode::ProbeRtt {
            cwnd = cwnd.min(LEAST_CWND);
        }
        self.window.set_cwnd(cwnd.saturating_mul(self.mss));
    }

    /// The window after recovery, grown towards its target.
    fn next_cwnd(&mut self, cwnd: u64, sample: &AckSample) -> u64 {
        let acked = sample.delivered.packets;
        let lost = (self.lost - self.lost_before).div_ceil(self.mss);
        let Restored { cwnd, conserves, begins } = self.recovery.window(cwnd, acked, lost, sample.in_flight / self.mss);
        if begins {
            self.rounds.began = self.delivered;
        }
        if conserves { cwnd } else { self.grown(cwnd, acked).max(LEAST_CWND) }
    }

    /// Grows the window by the delivered segments up to its target. It may exceed the target only before the pipe is
    /// full.
    fn grown(&self, cwnd: u64, acked: u64) -> u64 {
        let (target, grown) = (self.target(), cwnd.saturating_add(acked));
        if self.pipe.is_full() {
            return grown.min(target);
        }
        // Linux also counts the SYN.
        let begins = self.delivered + self.mss < INITIAL_CWND * self.mss;
        if cwnd < target || begins { grown } else { cwnd }
    }

    /// The target of the window: the inflight target at its gain plus the excess of ACK aggregation.
    fn target(&self) -> u64 {
        let bw = self.bw();
        let excess = if self.pipe.is_full() { self.aggregation.excess(bw) } else { 0 };
        self.with_budget(self.bdp(bw, self.cwnd_gain).saturating_add(excess))
    }

    /// bbr_inflight: the target of data in flight at `gain`.
    pub(super) fn inflight(&self, gain: u64) -> u64 {
        self.with_budget(self.bdp(self.max_bw.get(), gain))
    }

    /// bbr_bdp.
    pub(super) fn bdp(&self, bw: Bandwidth, gain: u64) -> u64 {
        self.min_rtt.get().map_or(INITIAL_CWND, |rtt| bw.product(rtt, gain))
    }

    /// bbr_quantization_budget: adds segments for bursts held at both hosts, and for the first phase of ProbeBW on a
    /// short path.
    fn with_budget(&self, segments: u64) -> u64 {
        let even = segments.saturating_add(3 * self.rate.planned_burst()).saturating_add(1) & !1;
        let probes = self.mode == Mode::ProbeBw && self.cycle.probes();
        even.saturating_add(if probes { 2 } else { 0 })
    }

    /// bbr_packets_in_net_at_edt: the segments of `in_flight` bytes that will be in the network when the pacer admits
    /// the next one.
    pub(super) fn in_network(&self, sample: &AckSample, in_flight: u64) -> u64 {
        let delivered = self.bw().segments(us(sample.departure.since(sample.now)));
        let next = if self.pacing_gain > UNIT { self.rate.planned_burst() } else { 0 };
        (in_flight / self.mss + next).saturating_sub(delivered)
    }
}
