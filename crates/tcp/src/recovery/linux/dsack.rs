//! Use of D-SACKs (RFC 2883): the segments that arrived twice, and the reordering window that they widen (RFC 8985 §6.2
//! step 4), as in the kernel's tcp_check_dsack, tcp_dsack_seen and tcp_rack_update_reo_wnd.

use std::ops::Range;

use ecnlab_base::Time;

use super::tail_probe::TailProbe;
use crate::flight::Flight;

/// Number of recoveries for which a wider reordering window is kept (TCP_RACK_RECOVERY_THRESH).
const RECOVERIES: u8 = 16;

/// What the D-SACK of an ACK reports.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Duplicates {
    /// Segments that arrived twice; zero if the ACK has no D-SACK that can be of this sender's retransmissions.
    pub segments: u32,
    /// The outstanding tail loss probe arrived twice (FLAG_DSACK_TLP).
    pub of_probe: bool,
    /// The lowest offset of an outstanding segment that was SACKed, retransmitted, and arrived twice.
    pub late: Option<u64>,
}

/// Numbers of retransmitted segments and of segments reported by D-SACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DuplicateCount {
    retransmitted: u64,
    reported: u64,
}

impl DuplicateCount {
    /// Records a retransmission, also of a tail loss probe.
    pub fn retransmitted(&mut self) {
        self.retransmitted += 1;
    }

    /// Reads a D-SACK of `block`. It cannot be of this sender's retransmissions if it is larger than the peer's window, or
    /// if more segments are reported than were retransmitted.
    pub fn read(&mut self, tx: &Flight, block: &Range<u64>, probe: &TailProbe) -> Duplicates {
        let (bytes, mss) = (block.end - block.start, u64::from(tx.mss));
        if bytes > tx.peer_window.greatest {
            return Duplicates::default();
        }
        let segments = bytes.div_ceil(mss);
        self.reported += segments;
        let credible = self.reported <= self.retransmitted;
        Duplicates {
            segments: if credible { segments as u32 } else { 0 },
            of_probe: segments == 1 && probe.ends_at(block.end),
            late: None,
        }
    }
}

/// The reordering window in steps of a quarter of the minimum RTT.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReorderingSteps {
    steps: u8,
    /// Recoveries until the window returns to one step (RACK.reo_wnd_persist).
    persist: u8,
    /// A D-SACK has not yet widened the window.
    pending: bool,
    /// Time of the last widening.
    widened: Time,
}

impl Default for ReorderingSteps {
    fn default() -> ReorderingSteps {
        ReorderingSteps { steps: 1, persist: 0, pending: false, widened: Time::ZERO }
    }
}

impl ReorderingSteps {
    /// The number of steps.
    pub fn get(&self) -> u32 {
        self.steps.into()
    }

    /// Records a D-SACK on a path that reorders.
    pub fn note_duplicate(&mut self) {
        self.pending = true;
    }

    /// Whether [`adapt`](Self::adapt) has an effect.
    #[inline]
    pub fn may_change(&self) -> bool {
        self.pending || self.steps > 1
    }

    /// Widens the window for a D-SACK, at most once per round trip. `newest` is the send time of the segment sent last among
    /// those that an ACK delivers.
    pub fn adapt(&mut self, newest: Option<Time>, now: Time) {
        let Some(newest) = newest else { return };
        if std::mem::take(&mut self.pending) && newest >= self.widened {
            *self = ReorderingSteps {
                steps: self.steps.saturating_add(1),
                persist: RECOVERIES,
                pending: false,
                widened: now,
            };
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// Records the end of a recovery that was not undone.
    pub fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// Records a reduction undone because of D-SACKs.
    pub fn undone(&mut self) {
        self.persist = (self.persist + 1).min(RECOVERIES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;
    use ecnlab_base::Dur;
    use ecnlab_wire::Seq;

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    #[test]
    fn no_more_segments_arrive_twice_than_were_retransmitted() {
        let config = &profile("linux-7").unwrap().config;
        let mut tx = Flight::new(config, Seq(0));
        tx.mss = 1_000;
        tx.set_peer_window(4_000, config);
        let (mut count, mut probe) = (DuplicateCount::default(), TailProbe::default());
        probe.sent(9_001, true);
        (0..3).for_each(|_| count.retransmitted());
        let mut read = |block: Range<u64>| {
            let duplicates = count.read(&tx, &block, &probe);
            (duplicates.segments, duplicates.of_probe)
        };
        assert_eq!(read(1..4_002), (0, false), "larger than the window");
        assert_eq!(read(1..1_002), (2, false));
        assert_eq!(read(8_001..9_001), (1, true));
        assert_eq!(read(8_001..9_001), (0, true), "a fourth of three");
    }

    #[test]
    fn the_window_widens_once_a_round_trip_for_sixteen_recoveries() {
        let mut steps = ReorderingSteps::default();
        let adapt = |steps: &mut ReorderingSteps, newest: Option<u64>, now| {
            steps.note_duplicate();
            steps.adapt(newest.map(at), at(now));
            steps.get()
        };
        assert_eq!(adapt(&mut steps, None, 100), 1, "nothing was delivered: the next ACK counts");
        steps.adapt(Some(at(0)), at(100));
        assert_eq!(steps.get(), 2);
        // Sent before the last step, then after it.
        assert_eq!([(99, 199), (100, 200)].map(|(newest, now)| adapt(&mut steps, Some(newest), now)), [2, 3]);
        (0..15).for_each(|_| steps.recovered());
        steps.adapt(Some(at(300)), at(400));
        assert_eq!(steps.get(), 3);
        steps.recovered();
        steps.adapt(Some(at(300)), at(400));
        assert_eq!(steps.get(), 1);
    }

    #[test]
    fn an_undone_recovery_does_not_count_and_255_steps_are_most() {
        let mut steps = ReorderingSteps::default();
        for ms in 0..300 {
            steps.note_duplicate();
            steps.adapt(Some(at(ms)), at(ms));
        }
        assert_eq!(steps.get(), 255);
        steps.undone();
        (0..16).for_each(|_| steps.recovered());
        steps.undone();
        steps.adapt(Some(at(300)), at(400));
        assert_eq!(steps.get(), 255);
        steps.recovered();
        steps.adapt(Some(at(300)), at(400));
        assert_eq!(steps.get(), 1);
    }
}
