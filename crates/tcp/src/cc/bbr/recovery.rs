//! The window in recovery (the kernel's bbr_set_cwnd_to_recover_or_restore): packet conservation in the first round,
//! then at most two segments per delivered segment. The end of recovery restores the window. Counts are segments.

use ecnlab_base::coverage_mark;

/// The congestion states that BBR distinguishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum CaState {
    /// Open, Disorder or CWR.
    #[default]
    Open,
    /// Fast recovery.
    Recovery,
    /// The state after a timeout.
    Loss,
}

/// The effect of recovery on the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Restored {
    pub cwnd: u64,
    /// The window is not grown towards the target after this.
    pub conserves: bool,
    /// A fast recovery has started, and with it a round.
    pub begins: bool,
}

/// BBR's recovery state.
#[derive(Clone, Debug, Default)]
pub(super) struct Recovery {
    /// The state at the last ACK that delivered data.
    state: CaState,
    /// Whether the sender is in recovery at the current ACK, and whether the recovery follows a timeout.
    in_recovery: bool,
    after_timeout: bool,
    conserves: bool,
    /// Window before the losses, or before ProbeRTT.
    saved: u64,
}

impl Recovery {
    /// bbr_save_cwnd: a window that is `cut` already, or was by an earlier loss, is saved only if it is larger.
    pub fn save(&mut self, cwnd: u64, cut: bool) {
        let keeps = cut || self.state >= CaState::Recovery;
        self.saved = if keeps { self.saved.max(cwnd) } else { cwnd };
    }

    /// The saved window.
    pub fn saved(&self) -> u64 {
        self.saved
    }

    /// Called at the start of a fast recovery.
    pub fn begin_fast(&mut self) {
        self.after_timeout = false;
    }

    /// Called on a retransmission timeout.
    pub fn begin_after_timeout(&mut self) {
        self.after_timeout = true;
        self.state = CaState::Loss;
    }

    /// Ends packet conservation, at the end of a round.
    pub fn end_conservation(&mut self) {
        self.conserves = false;
    }

    /// Processes an ACK. The end of recovery clears the state after a timeout.
    pub fn on_ack(&mut self, in_recovery: bool) {
        self.in_recovery = in_recovery;
        self.after_timeout &= in_recovery;
    }

    /// Returns the window after an ACK that delivers `acked` segments and marks `lost` segments lost, with `in_flight`
    /// segments left in flight.
    pub fn window(&mut self, cwnd: u64, acked: u64, lost: u64, in_flight: u64) -> Restored {
        let mut cwnd = cwnd.saturating_sub(lost).max(1);
        let state = self.state_now();
        let begins = state == CaState::Recovery && self.state != CaState::Recovery;
        if begins {
            coverage_mark!("bbr.conservation");
            self.conserves = true;
            cwnd = in_flight + acked;
        } else if self.state >= CaState::Recovery && state < CaState::Recovery {
            coverage_mark!("bbr.restored_window");
            self.conserves = false;
            cwnd = cwnd.max(self.saved);
        }
        self.state = state;
        if self.conserves {
            cwnd = cwnd.max(in_flight + acked);
        }
        Restored { cwnd, conserves: self.conserves, begins }
    }

    fn state_now(&self) -> CaState {
        match (self.in_recovery, self.after_timeout) {
            (false, _) => CaState::Open,
            (true, false) => CaState::Recovery,
            (true, true) => CaState::Loss,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of so many segments after an ACK in recovery that delivers two, finds `lost` lost and leaves `in_flight`.
    fn ack(recovery: &mut Recovery, cwnd: u64, lost: u64, in_flight: u64) -> Restored {
        recovery.on_ack(true);
        recovery.window(cwnd, 2, lost, in_flight)
    }

    /// The same after an ACK that ends a recovery, or comes after one.
    fn calm(recovery: &mut Recovery, cwnd: u64) -> u64 {
        recovery.on_ack(false);
        let after = recovery.window(cwnd, 2, 0, 12);
        assert!(!after.conserves && !after.begins);
        after.cwnd
    }

    fn conserved(cwnd: u64) -> Restored {
        Restored { cwnd, conserves: true, begins: false }
    }

    fn begun(cwnd: u64) -> Restored {
        Restored { cwnd, conserves: true, begins: true }
    }

    fn left(cwnd: u64) -> Restored {
        Restored { cwnd, conserves: false, begins: false }
    }

    #[test]
    fn packets_are_conserved_for_a_round_and_the_window_comes_back() {
        let mut recovery = Recovery::default();
        recovery.save(20, false);
        recovery.begin_fast();
        assert_eq!(ack(&mut recovery, 20, 1, 15), begun(17));
        // Four more are lost: 13, but what is in flight and two may be sent.
        assert_eq!(ack(&mut recovery, 17, 4, 12), conserved(14));
        assert_eq!(ack(&mut recovery, 17, 1, 12), conserved(16));
        recovery.end_conservation();
        assert_eq!(ack(&mut recovery, 16, 3, 12), left(13));
        assert_eq!(ack(&mut recovery, 1, 3, 12), left(1), "a segment is the least");
        assert_eq!(calm(&mut recovery, 13), 20);
        assert_eq!(calm(&mut recovery, 13), 13, "once");
    }

    #[test]
    fn a_recovery_that_ends_in_its_first_round_conserves_no_longer() {
        let mut recovery = Recovery::default();
        recovery.save(20, false);
        recovery.begin_fast();
        assert_eq!(ack(&mut recovery, 20, 1, 15), begun(17));
        assert_eq!(calm(&mut recovery, 30), 30, "a greater window stays");
    }

    #[test]
    fn after_a_timeout_nothing_is_conserved_and_the_window_comes_back() {
        let mut recovery = Recovery::default();
        recovery.save(20, false);
        recovery.begin_after_timeout();
        assert_eq!(ack(&mut recovery, 1, 0, 0), left(1));
        // A further loss begins a fast recovery.
        recovery.save(4, false);
        recovery.begin_fast();
        assert_eq!(ack(&mut recovery, 4, 1, 2), begun(4));
        assert_eq!(calm(&mut recovery, 4), 20);
        // The timeout is forgotten with its recovery: the next is a fast one.
        assert!(ack(&mut recovery, 20, 0, 2).begins);
    }

    #[test]
    fn a_timeout_is_forgotten_by_an_ack_that_delivers_nothing() {
        let mut recovery = Recovery::default();
        recovery.begin_after_timeout();
        // It takes the timeout back. What it leaves, ECN-Echo for one, may become a fast recovery without a word.
        recovery.on_ack(false);
        assert_eq!(ack(&mut recovery, 20, 0, 10), begun(12));
    }

    #[test]
    fn a_timeout_in_a_fast_recovery_keeps_the_window_from_before_it() {
        let mut recovery = Recovery::default();
        recovery.save(20, false);
        recovery.begin_fast();
        ack(&mut recovery, 20, 0, 10);
        recovery.save(12, false);
        recovery.begin_after_timeout();
        assert_eq!(recovery.saved(), 20);
        assert_eq!(calm(&mut recovery, 3), 20);
        recovery.save(12, false);
        assert_eq!(recovery.saved(), 12, "outside recovery the last counts");
        recovery.save(11, true);
        assert_eq!(recovery.saved(), 12, "but for a window that is cut");
        recovery.save(13, true);
        assert_eq!(recovery.saved(), 13);
    }
}
