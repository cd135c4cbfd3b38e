//! Degree of reordering of a path, and the resulting reordering window (RFC 8985 §6.2 steps 3 and 4; the kernel's
//! tcp_check_sack_reordering and tcp_rack_reo_wnd).

use ecnlab_base::Dur;

use crate::flight::DUP_THRESH;

/// Maximum degree of reordering, in segments (Linux: net.ipv4.tcp_max_reordering).
const MAX_REORDERING: u32 = 300;

/// Reordering state of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reordering {
    /// Minimum RTT; [`Dur`]'s maximum before the first sample (RACK.min_RTT). The kernel discards one after five
    /// minutes.
    least_rtt: Dur,
    /// Degree of reordering, in segments (the kernel's tp->reordering).
    segments: u32,
    /// Reordering was observed (RACK.reordering_seen).
    seen: bool,
}

impl Default for Reordering {
    fn default() -> Reordering {
        Reordering { least_rtt: Dur::from_ps(u64::MAX), segments: DUP_THRESH, seen: false }
    }
}

impl Reordering {
    /// Processes an RTT sample.
    pub fn note_rtt(&mut self, rtt: Dur) {
        self.least_rtt = self.least_rtt.min(rtt);
    }

    /// Whether `rtt` is below the minimum RTT, so that the ACK cannot be of a retransmission.
    pub fn too_soon(&self, rtt: Dur) -> bool {
        rtt < self.least_rtt
    }

    /// Records that the segment at offset `late` arrived after segments sent up to `highest`.
    pub fn note_late(&mut self, late: u64, highest: u64, mss: u32) {
        if late < highest {
            let segments = (highest - late).div_ceil(mss.into()).min(MAX_REORDERING.into()) as u32;
            self.segments = self.segments.max(segments);
            self.seen = true;
        }
    }

    /// Records reordering because more duplicate ACKs arrived than segments can be missing, with `outstanding` segments
    /// before the ACK (the kernel's tcp_check_reno_reordering).
    pub fn note_excess(&mut self, outstanding: u32) {
        self.segments = outstanding.min(MAX_REORDERING);
        self.seen = true;
    }

    /// Whether reordering was observed.
    pub fn was_seen(&self) -> bool {
        self.seen
    }

    /// Degree of reordering in segments: the number of duplicate ACKs that indicate a loss.
    pub fn degree(&self) -> u32 {
        self.segments
    }

    /// Whether the degree exceeds the usual number of duplicate ACKs.
    pub fn is_high(&self) -> bool {
        self.segments > DUP_THRESH
    }

    /// Lowers the degree, on a timeout although more than the usual number of segments was SACKed.
    pub fn lower(&mut self) {
        self.segments = self.segments.min(DUP_THRESH);
    }

    /// The reordering window (RFC 8985 §6.2 step 4) of `steps` quarters of the minimum RTT, with `sacked` segments
    /// reported by SACK and a smoothed RTT of `srtt`.
    pub fn window(&self, in_recovery: bool, sacked: u32, steps: u32, srtt: Dur) -> Dur {
        if !self.seen && (in_recovery || sacked >= self.segments) {
            return Dur::ZERO;
        }
        (self.least_rtt / 4).saturating_mul(steps.into()).min(srtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SRTT: Dur = Dur::from_ms(120);

    fn path() -> Reordering {
        let mut path = Reordering::default();
        [110, 100, 130].into_iter().for_each(|rtt| path.note_rtt(Dur::from_ms(rtt)));
        path
    }

    #[test]
    fn the_window_is_a_quarter_of_the_least_rtt_and_at_most_the_smoothed_one() {
        assert_eq!(path().window(false, 2, 1, SRTT), Dur::from_ms(25));
        assert_eq!(path().window(false, 2, 1, Dur::from_ms(20)), Dur::from_ms(20));
        assert_eq!([2, 4, 5].map(|steps| path().window(false, 2, steps, SRTT)), [50, 100, 120].map(Dur::from_ms));
        assert_eq!(Reordering::default().window(false, 2, 1, SRTT), SRTT, "no RTT is known");
        assert!(path().too_soon(Dur::from_ms(99)) && !path().too_soon(Dur::from_ms(100)));
    }

    #[test]
    fn a_path_that_was_never_seen_to_reorder_waits_for_three_segments_and_in_recovery_for_none() {
        assert_eq!(path().window(false, 3, 1, SRTT), Dur::ZERO);
        assert_eq!(path().window(true, 1, 1, SRTT), Dur::ZERO);
        let mut seen = path();
        seen.note_late(1_001, 1_001, 1_000);
        assert_eq!(seen.window(true, 3, 1, SRTT), Dur::ZERO, "nothing was behind it");
        seen.note_late(1_001, 2_001, 1_000);
        assert_eq!(
            (seen.window(false, 3, 1, SRTT), seen.window(true, 3, 1, SRTT)),
            (Dur::from_ms(25), Dur::from_ms(25))
        );
    }

    #[test]
    fn the_degree_grows_to_the_farthest_and_falls_after_a_timeout() {
        let mut path = path();
        path.note_late(1, 3_001, 1_000);
        assert!(!path.is_high());
        path.note_late(1, 3_002, 1_000);
        assert!(path.is_high() && path.segments == 4);
        path.note_late(1, 1_000_001, 1_000);
        assert_eq!(path.segments, 300);
        path.lower();
        assert_eq!(path.segments, 3);
        // More duplicates than two segments allow: two are enough from now on.
        path.note_excess(2);
        assert_eq!(path.degree(), 2);
        path.note_excess(1_000);
        assert_eq!(path.degree(), 300);
    }
}
