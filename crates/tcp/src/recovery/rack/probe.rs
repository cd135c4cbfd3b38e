//! RFC 8985 §7: tail loss probes.

use super::*;

/// The probe that is not yet accounted for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    /// What was sent when it went ends here (TLP.end_seq).
    pub end: Option<u64>,
    /// It was a retransmission (TLP.is_retrans).
    pub again: bool,
    /// This burst holds it.
    pub just_sent: bool,
}

impl Probe {
    /// Whether an ACK proves a loss that the probe has repaired (§7.4.2); ends the episode where it can.
    pub fn on_ack(&mut self, una: u64, told: &Told) -> bool {
        let Some(end) = self.end.filter(|end| una >= *end) else { return false };
        if self.again && una > end {
            return true;
        }
        // New data has arrived, or a bare duplicate tells that both copies have.
        if !self.again || (told.duplicate && !told.sacked) {
            self.end = None;
        }
        false
    }
}

impl RackState {
    /// §7.2, the kernel's tcp_schedule_loss_probe; whether a probe is due before the timeout. `restarted` says that the
    /// timeout counts from now.
    pub(super) fn schedule_probe(&mut self, tx: &mut Sender, config: &Config, now: Time, restarted: bool) -> bool {
        let Some(head) = self.board.head().filter(|_| matches!(self.state, State::Open | State::Cwr)) else {
            return false;
        };
        let srtt = tx.rto.smoothed(config).0;
        let wait = match (srtt.is_zero(), self.board.len()) {
            (true, _) => config.initial_rto,
            // The ACK of a single segment may be delayed.
            (false, 1) => srtt * 2 + config.min_rto,
            (false, _) => srtt * 2 + SLACK,
        };
        let timeout = if restarted { now } else { head.sent }.saturating_add(tx.rto.current(config));
        let probe = now.saturating_add(wait);
        let at = if timeout > now { probe.min(timeout) } else { probe };
        self.set(tx, Timer::Probe, at);
        true
    }

    /// §7.3: one probe, unless one is under way.
    pub(super) fn on_probe_timer(&mut self, tx: &mut Sender, cx: &mut Cx) {
        if self.probe.end.is_none() {
            self.first = First::Probe;
            // The timeout counts from the probe.
            self.timer = Timer::Timeout;
        }
        self.prefer = Prefer::New;
        self.rearm(tx, cx.config, cx.now);
    }

    /// The probe: a new segment, or the last one again.
    pub(super) fn probe(&mut self, tx: &Sender) -> Option<Chunk> {
        let new = tx.in_order();
        self.probe.again = new.is_none();
        self.probe.just_sent = new.is_some();
        let chunk = new.or_else(|| self.board.tail().map(|s| again(s, tx.una, How::Rescue)))?;
        self.probe.end = Some(tx.max.max(chunk.start + u64::from(chunk.len) + u64::from(chunk.fin)));
        Some(chunk)
    }

    /// §7.4.2: a loss that the probe repaired calls for a reduction.
    pub(super) fn end_probe(&mut self, tx: &mut Sender, told: &Told, cx: &mut Cx) {
        if self.probe.on_ack(tx.una, told) {
            self.begin_reduction(tx, Congestion::Loss, cx);
            self.state = State::Cwr;
            self.end_reduction(tx);
            self.keep_open(tx);
        }
    }
}
