//! pipeACK, by which RFC 7661 validates the congestion window of a rate-limited sender.

use std::collections::VecDeque;

use ecnlab_base::{Dur, Time};

/// The non-validated period, for which an unused window is kept (RFC 7661).
const NON_VALIDATED_PERIOD: Dur = Dur::from_ms(300_000);

/// The shortest sampling period of pipeACK (RFC 7661).
const LEAST_SAMPLING_PERIOD: Dur = Dur::from_ms(1_000);

/// Data acknowledged per round trip, and the phase of the window.
#[derive(Clone, Debug)]
pub(crate) struct PipeAck {
    /// Samples with the time of their last ACK: each is larger than all later ones.
    samples: VecDeque<(Time, u64)>,
    /// A sample was taken since the start and the last reduction.
    defined: bool,
    /// Offsets between which data of the sample in progress lie. They are equal until an ACK begins it.
    start: u64,
    end: u64,
    /// Last time in the validated phase, advanced by a non-validated period with each adjustment at the end of one.
    validated: Time,
    /// The loss in the non-validated phase that is recovered from.
    pub loss: Option<NonValidatedLoss>,
}

/// A loss in the non-validated phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NonValidatedLoss {
    /// Maximum of pipeACK and LossFlightSize, in bytes.
    pub used: u64,
    /// Bytes retransmitted before the recovery, in total.
    pub resent: u64,
}

impl PipeAck {
    /// The state at `now`, with everything before the offset `una` acknowledged.
    pub fn new(una: u64, now: Time) -> PipeAck {
        PipeAck { samples: VecDeque::new(), defined: false, start: una, end: una, validated: now, loss: None }
    }

    /// Makes pipeACK undefined: the next sample begins at `una`.
    pub fn restart(&mut self, una: u64) {
        self.samples.clear();
        self.defined = false;
        (self.start, self.end) = (una, una);
    }

    /// Processes an acknowledgement of everything before `una`, with data sent up to `max`. A sample ends when the data
    /// outstanding at its first ACK are acknowledged, so that a pause of the sender does not split a flight.
    pub fn acknowledge(&mut self, una: u64, max: u64, now: Time) {
        if una <= self.start {
            return;
        }
        if self.end == self.start {
            self.end = max;
        }
        if una < self.end {
            return;
        }
        let sample = una - self.start;
        while self.samples.back().is_some_and(|&(_, smaller)| smaller <= sample) {
            self.samples.pop_back();
        }
        self.samples.push_back((now, sample));
        self.defined = true;
        (self.start, self.end) = (una, max);
    }

    /// pipeACK in bytes: the largest sample of the sampling period, which is three RTTs but at least a second. `None` is
    /// undefined.
    pub fn value(&mut self, now: Time, rtt: Dur) -> Option<u64> {
        let period = rtt.saturating_mul(3).max(LEAST_SAMPLING_PERIOD);
        while self.samples.front().is_some_and(|&(at, _)| now.since(at) > period) {
            self.samples.pop_front();
        }
        self.defined.then(|| self.samples.front().map_or(0, |&(_, largest)| largest))
    }

    /// Whether a window of `cwnd` bytes is in the validated phase: pipeACK is undefined, or at least half of it.
    pub fn is_validated(&mut self, cwnd: u64, now: Time, rtt: Dur) -> bool {
        let validated = self.value(now, rtt).is_none_or(|pipe_ack| 2 * pipe_ack >= cwnd);
        if validated {
            self.validated = now;
        }
        validated
    }

    /// Whether a non-validated period has ended at `now`. The next begins at its end.
    pub fn ends_period(&mut self, now: Time) -> bool {
        let ended = now.since(self.validated) > NON_VALIDATED_PERIOD;
        if ended {
            self.validated += NON_VALIDATED_PERIOD;
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Dur = Dur::from_ms(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    #[test]
    fn a_sample_is_the_data_acknowledged_in_a_round_trip() {
        let mut pipe = PipeAck::new(1, at(0));
        assert_eq!(pipe.value(at(0), RTT), None);
        // A flight of 4000 bytes: its first ACK begins the sample, its last ends it.
        pipe.acknowledge(1_001, 4_001, at(100));
        assert_eq!(pipe.value(at(100), RTT), None);
        pipe.acknowledge(4_001, 4_001, at(103));
        assert_eq!(pipe.value(at(103), RTT), Some(4_000));
        // After a pause 2000 more, acknowledged at once.
        pipe.acknowledge(6_001, 6_001, at(500));
        assert_eq!(pipe.value(at(500), RTT), Some(4_000));
    }

    #[test]
    fn samples_expire_after_three_round_trips_and_at_least_a_second() {
        let mut pipe = PipeAck::new(1, at(0));
        pipe.acknowledge(4_001, 4_001, at(100));
        pipe.acknowledge(6_001, 6_001, at(500));
        assert_eq!(
            [1_100, 1_101, 1_501].map(|ms| pipe.clone().value(at(ms), RTT)),
            [Some(4_000), Some(2_000), Some(0)]
        );
        let slow = Dur::from_ms(400);
        assert_eq!([1_300, 1_301].map(|ms| pipe.clone().value(at(ms), slow)), [Some(4_000), Some(2_000)]);
    }

    #[test]
    fn half_of_the_window_validates_it() {
        let mut pipe = PipeAck::new(1, at(0));
        assert!(pipe.is_validated(1_000_000, at(0), RTT), "pipeACK is undefined");
        pipe.acknowledge(4_001, 4_001, at(100));
        assert_eq!([8_000, 8_001].map(|cwnd| pipe.is_validated(cwnd, at(100), RTT)), [true, false]);
    }

    #[test]
    fn each_five_minutes_end_a_period() {
        let mut pipe = PipeAck::new(1, at(0));
        assert!(!pipe.ends_period(at(300_000)));
        // 11 minutes are two periods and a minute.
        assert_eq!(
            [pipe.ends_period(at(660_000)), pipe.ends_period(at(660_000)), pipe.ends_period(at(660_000))],
            [true, true, false]
        );
    }
}
