//! Linux's sparing use of the AccECN option: `tcp_ecn_option = 1` with its beacon (include/net/tcp_ecn.h).

use ecnlab_base::{Dur, Time};
use ecnlab_wire::{Ecn, Segment};

use super::counters::Received;

/// Options after a packet with CE or with another codepoint than the one before: two, because one ACK may be lost.
const AFTER_CHANGE: u8 = 2;
/// A counter of bytes is reported at least once in so many.
const REPORTED_BYTES: u32 = 1 << 22;

/// Segments that are to have the option.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Demand {
    /// Number of segments, from the next one on (accecn_opt_demand).
    segments: u8,
    /// Least number of options in a round trip; 0 sets none.
    beacon: u32,
    /// When the last segment with it left, other than a SYN-ACK (accecn_opt_tstamp).
    sent: Option<Time>,
}

impl Demand {
    /// No demand yet, and at least `beacon` options in a round trip.
    pub fn new(beacon: u32) -> Demand {
        Demand { beacon, ..Demand::default() }
    }

    /// At least the next `segments` have it.
    pub fn at_least(&mut self, segments: u8) {
        self.segments = self.segments.max(segments);
    }

    /// A segment is about to be counted as `received`.
    pub fn on_segment(&mut self, received: &Received, segment: &Segment) {
        if received.reaches(segment, REPORTED_BYTES) {
            self.at_least(1);
        }
        if segment.ecn == Ecn::Ce || received.is_another(segment.ecn) {
            self.segments = AFTER_CHANGE;
        }
    }

    /// Whether a segment that leaves at `now` is to have it (tcp_accecn_option_beacon_check).
    pub fn is_due(&self, now: Time, srtt: Dur) -> bool {
        let interval = |sent| now.since(sent).saturating_mul(self.beacon.into());
        self.segments > 0 || self.beacon > 0 && self.sent.is_none_or(|sent| interval(sent) >= srtt)
    }

    /// A segment with it leaves.
    pub fn sent(&mut self, now: Time) {
        self.segments = self.segments.saturating_sub(1);
        self.sent = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_and_each_mark_are_reported_twice() {
        let (mut received, mut demand) = (Received::default(), Demand::new(0));
        let segments = [Ecn::Ect0, Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::Ect0].map(|ecn| {
            let segment = Segment { ecn, len: 1_000, ..Segment::default() };
            demand.on_segment(&received, &segment);
            received.count(ecn, segment.len);
            let due = demand.segments;
            demand.sent(Time::ZERO);
            due
        });
        assert_eq!(segments, [2, 1, 2, 2, 2]);
    }

    #[test]
    fn each_4_mib_of_a_counter_are_reported() {
        // The counter of ECT(0) begins at 1: 4 194 303 bytes more are 2^22.
        let reported = |len| {
            let mut received = Received::default();
            received.count(Ecn::Ect0, 0);
            let mut demand = Demand::new(0);
            demand.on_segment(&received, &Segment { ecn: Ecn::Ect0, len, ..Segment::default() });
            demand.segments
        };
        assert_eq!([4_194_302, 4_194_303].map(reported), [0, 1]);
    }

    #[test]
    fn a_beacon_of_three_in_30_ms_is_due_after_10_ms() {
        let at = |ms: u64| Time::from_ps(ms * 1_000_000_000);
        let due = |beacon, ms| {
            let mut demand = Demand::new(beacon);
            demand.sent(at(100));
            demand.is_due(at(ms), Dur::from_ms(30))
        };
        assert_eq!([109, 110].map(|ms| due(3, ms)), [false, true]);
        assert_eq!([due(0, 1_000), due(1, 129), due(1, 130)], [false, false, true]);
        assert!(Demand::new(3).is_due(at(0), Dur::from_ms(30)), "none was sent");
    }
}
