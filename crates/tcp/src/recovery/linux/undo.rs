//! Undo of spurious reductions: the Eifel detection by timestamps (RFC 3522), D-SACKs of all retransmissions (RFC 3708)
//! and the response (RFC 4015), as in the kernel's tcp_packet_delayed, tcp_may_undo and tcp_undo_cwnd_reduction.

use crate::cc::{CcState, CongestionControl};
use crate::law::Law;

/// State for undoing a reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Undo {
    /// SND.UNA at the start of the current reduction; `None` if it may not be undone (undo_marker).
    marker: Option<u64>,
    /// Retransmissions in flight since then that no D-SACK has reported; `None` before the first (undo_retrans).
    unreported: Option<u32>,
    /// Window before the reduction in bytes, and the slow-start threshold; `None` if ECN has confirmed the congestion.
    pub window: u64,
    pub ssthresh: Option<u64>,
    /// The timestamp of the first retransmission of this episode.
    stamp: Option<u32>,
}

impl Undo {
    /// Records the start of a reduction that may prove spurious (tcp_init_undo), with `retransmitted` segments in flight
    /// again.
    pub fn arm(&mut self, una: u64, retransmitted: u32) {
        self.marker = Some(una);
        self.unreported = Some(retransmitted).filter(|&segments| segments > 0);
    }

    /// Makes the current reduction permanent.
    pub fn disarm(&mut self) {
        self.marker = None;
    }

    /// SND.UNA at the start of the current reduction, if it may be undone.
    pub fn marker(&self) -> Option<u64> {
        self.marker
    }

    /// Records a retransmission at timestamp `stamp`.
    pub fn retransmitted(&mut self, stamp: u32) {
        self.stamp.get_or_insert(stamp);
        self.unreported = Some(self.unreported.unwrap_or(0) + 1);
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
        self.marker.is_some() && self.stamp.is_none_or(delayed)
    }

    /// Records that D-SACKs report `segments` segments of this episode, up to offset `end`.
    pub fn reported(&mut self, segments: u32, end: u64) {
        if self.marker.is_some_and(|marker| end > marker) {
            self.unreported = self.unreported.map(|left| left.saturating_sub(segments));
        }
    }

    /// Whether D-SACKs have reported every retransmission, so that no data was lost.
    pub fn all_reported(&self) -> bool {
        self.marker.is_some() && self.unreported == Some(0)
    }

    /// Restores window and threshold, unless ECN has confirmed the congestion.
    pub fn take_back(&mut self, law: &mut Law) {
        if let Some(ssthresh) = self.ssthresh {
            law.on_undo(CcState { cwnd: self.window, ssthresh });
        }
        self.marker = None;
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
    use crate::registry::WindowLaw;
    use crate::{Config, profile};

    /// Reno's ten segments of 1460 bytes, halved.
    fn halved() -> (Law, Undo) {
        let congestion = WindowLaw::Reno(Default::default());
        let config = Config { congestion, ..profile("linux-7").unwrap().config.clone() };
        let mut law = Law::new(&config, 1_460);
        let mut undo = Undo { window: law.cwnd(), ssthresh: Some(20 * 1_460), ..Undo::default() };
        law.on_congestion(&event(Congestion::Loss, law.cwnd()));
        undo.arm(1, 0);
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
    fn d_sacks_of_all_retransmissions_prove_that_nothing_was_lost() {
        let mut undo = Undo::default();
        undo.arm(5_001, 0);
        assert!(!undo.all_reported(), "nothing was retransmitted");
        (0..3).for_each(|stamp| undo.retransmitted(stamp));
        undo.reported(1, 6_001);
        // Of data acknowledged before the reduction.
        undo.reported(2, 5_001);
        assert!(!undo.all_reported());
        undo.reported(2, 8_001);
        assert!(undo.all_reported());
        undo.retransmitted(2);
        assert!(!undo.all_reported());
        // A retransmission in flight at the start of a reduction counts, too.
        undo.arm(9_001, 1);
        undo.reported(1, 10_001);
        assert!(undo.all_reported());
        undo.disarm();
        assert!(!undo.all_reported());
    }

    #[test]
    fn window_and_threshold_come_back_and_never_fall() {
        let (mut law, mut undo) = halved();
        assert_eq!((law.cwnd(), law.state().ssthresh), (5 * 1_460, 5 * 1_460));
        undo.take_back(&mut law);
        assert_eq!((law.cwnd(), law.state().ssthresh), (10 * 1_460, 20 * 1_460));
        assert_eq!(undo.marker(), None);
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
