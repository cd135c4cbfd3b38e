//! The largest flight since the last reduction of the window, which limits the growth of a rate-limited sender
//! (draft-ietf-ccwg-ratelimited-increase-10, "Rate-Limited Increase").

/// maxFS of the draft.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MaxFlight {
    /// Maximum of FlightSize in bytes since the last reduction; 0 until FlightSize has been above 0 since.
    bytes: u64,
    /// The congestion window at the last update.
    cwnd: u64,
}

impl MaxFlight {
    /// The initial value: the initial window.
    pub fn new(initial_window: u64) -> MaxFlight {
        MaxFlight { bytes: initial_window, cwnd: initial_window }
    }

    /// Takes note of the window: after a reduction the flight before it does not count.
    pub fn see_window(&mut self, cwnd: u64) {
        if cwnd < self.cwnd {
            self.bytes = 0;
        }
        self.cwnd = cwnd;
    }

    pub fn measure(&mut self, flight: u64, cwnd: u64) {
        self.see_window(cwnd);
        self.bytes = self.bytes.max(flight);
    }

    /// The window that `cwnd` may become when an ACK opens it to `opened`. Growth is limited; a larger window is kept,
    /// because the draft "defines the current method used to increase the cwnd" and no reduction.
    pub fn limited(&self, cwnd: u64, opened: u64, slow_start: bool, mss: u64) -> u64 {
        let limit = match self.bytes {
            0 => return opened,
            most if slow_start => 2 * most,
            most => mss + most,
        };
        opened.min(limit).max(cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_twice_the_flight_in_slow_start_and_a_segment_more_in_congestion_avoidance() {
        let max = MaxFlight { bytes: 10_000, cwnd: 12_000 };
        let limited = |cwnd, opened, slow_start| max.limited(cwnd, opened, slow_start, 1_000);
        assert_eq!([limited(19_000, 20_000, true), limited(19_500, 20_500, true)], [20_000, 20_000]);
        assert_eq!([limited(10_500, 10_600, false), limited(10_990, 11_080, false)], [10_600, 11_000]);
        // A window above the limit is kept.
        assert_eq!([limited(24_000, 25_000, true), limited(12_000, 12_083, false)], [24_000, 12_000]);
    }

    #[test]
    fn a_reduction_forgets_the_flight_until_it_is_measured_again() {
        let mut max = MaxFlight { bytes: 10_000, cwnd: 10_000 };
        max.measure(4_000, 11_000);
        assert_eq!(max.bytes, 10_000);
        max.see_window(5_000);
        assert_eq!((max.bytes, max.limited(5_000, 6_000, false, 1_000)), (0, 6_000));
        max.measure(0, 5_000);
        assert_eq!(max.bytes, 0);
        max.measure(3_000, 5_000);
        max.measure(2_000, 6_000);
        assert_eq!((max.bytes, max.limited(3_500, 6_000, false, 1_000)), (3_000, 4_000));
        // A reduction and the measurement after it, in one update.
        max.measure(1_000, 5_999);
        assert_eq!(max.bytes, 1_000);
    }
}
