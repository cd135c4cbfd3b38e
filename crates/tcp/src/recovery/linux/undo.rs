//! Undo of spurious reductions: the Eifel detection by timestamps (RFC 3522) and a response to it (RFC 4015), as in the
//! kernel's tcp_packet_delayed and tcp_undo_cwnd_reduction.

use crate::cc::{CcState, CongestionControl};
use crate::law::Law;

/// State for undoing a reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Undo {
    /// The current reduction may be undone.
    armed: bool,
    /// Window before the reduction in bytes, and the slow-start threshold; `None` if ECN has confirmed the congestion.
    pub window: u64,
    pub ssthresh: Option<u64>,
    /// The timestamp of the first retransmission of this episode.
    stamp: Option<u32>,
}

impl Undo {
    /// Records the start of a reduction that may prove spurious.
    pub fn arm(&mut self) {
        self.armed = true;
    }

    /// Makes the current reduction permanent.
    pub fn disarm(&mut self) {
        self.armed = false;
    }

    pub fn is_armed(&self) -> bool {
        self.armed
    }

    /// Records a retransmission at timestamp `stamp`.
    pub fn retransmitted(&mut self, stamp: u32) {
        self.stamp.get_or_insert(stamp);
    }

    /// Whether a segment was retransmitted in this episode.
    pub fn has_stamp(&self) -> bool {
        self.stamp.is_some()
    }

    /// Starts a new episode with the next retransmission.
    pub fn forget_stamp(&mut self) {
        self.stamp = None;
    }

    /// Whether the reduction may be undone: the ACK, which echoes the timestamp `echoed`, was caused by data sent
    /// before the first retransmission, so that no data was lost (RFC 3522 §3.2 step 4).
    pub fn may(&self, echoed: Option<u32>) -> bool {
        let delayed = |stamp| echoed.is_some_and(|echoed| is_before(echoed, stamp));
        self.armed && self.stamp.is_none_or(delayed)
    }

    /// Restores window and threshold, unless ECN has confirmed the congestion.
    pub fn take_back(&mut self, law: &mut Law) {
        if let Some(ssthresh) = self.ssthresh {
            law.on_undo(CcState { cwnd: self.window, ssthresh });
        }
        self.armed = false;
    }
}

/// Whether timestamp `stamp` is older than `other` (RFC 7323 §5.2: modulo 2^32).
pub(crate) fn is_before(stamp: u32, other: u32) -> bool {
    (stamp.wrapping_sub(other) as i32) < 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{Congestion, event};
    use crate::profile;

    /// Ten segments of 1460 bytes, halved.
    fn halved() -> (Law, Undo) {
        let config = &profile("linux-7").unwrap().config;
        let mut law = Law::new(config, 1_460);
        let mut undo = Undo { window: law.cwnd(), ssthresh: Some(20 * 1_460), ..Undo::default() };
        law.on_congestion(&event(Congestion::Loss, law.cwnd()));
        undo.arm();
        (law, undo)
    }

    #[test]
    fn an_echo_from_before_the_first_retransmission_is_needed() {
        let (_, mut undo) = halved();
        assert!(undo.may(None), "nothing was sent again");
        // The clock wraps between the two retransmissions: the first counts.
        undo.retransmitted(u32::MAX);
        undo.retransmitted(5);
        assert!(undo.may(Some(u32::MAX - 1)));
        assert!(!undo.may(Some(u32::MAX)), "it may answer the retransmission");
        assert!(!undo.may(Some(2)));
        assert!(!undo.may(None), "without timestamps nobody knows");
        undo.disarm();
        assert!(!undo.may(Some(u32::MAX - 1)));
    }

    #[test]
    fn window_and_threshold_come_back_and_never_fall() {
        let (mut law, mut undo) = halved();
        assert_eq!((law.cwnd(), law.state().ssthresh), (5 * 1_460, 5 * 1_460));
        undo.take_back(&mut law);
        assert_eq!((law.cwnd(), law.state().ssthresh), (10 * 1_460, 20 * 1_460));
        assert!(!undo.is_armed());
        let (mut law, mut undo) = halved();
        law.set_cwnd(12 * 1_460);
        undo.take_back(&mut law);
        assert_eq!(law.cwnd(), 12 * 1_460, "it has opened beyond what it was");
    }

    #[test]
    fn what_ecn_has_proven_stays() {
        let (mut law, mut undo) = halved();
        undo.ssthresh = None;
        undo.take_back(&mut law);
        assert_eq!((law.cwnd(), law.state().ssthresh), (5 * 1_460, 5 * 1_460));
    }
}
