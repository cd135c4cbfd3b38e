//! The clock of an end's timestamps (RFC 7323 §4.1), read from what the end has sent.

/// Tick length in nanoseconds: timestamps of Linux and of many other systems count milliseconds.
pub(crate) const TICK: u64 = 1_000_000;

/// Phase of the timestamp clock, bounded by the timestamps seen so far. Times are capture nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    /// A time, and the timestamp sent at that time.
    time: u64,
    stamp: u32,
    /// Bounds of the age of the tick at that time: at least the first, less than the second.
    age: (u64, u64),
}

impl Ticks {
    /// Starts with `stamp`, sent at `time`.
    pub fn new(time: u64, stamp: u32) -> Ticks {
        Ticks { time, stamp, age: (0, TICK) }
    }

    /// Adds `stamp`, sent at `time`. If it contradicts the bounds, the clock restarts from it.
    pub fn note(&mut self, time: u64, stamp: u32) {
        let ticks = i64::from(stamp.wrapping_sub(self.stamp) as i32) * TICK as i64;
        let early = ticks.saturating_sub_unsigned(time.saturating_sub(self.time));
        let (least, most) = self.age;
        let low = least.max(early.max(0).unsigned_abs());
        let high = most.min(early.saturating_add_unsigned(TICK).max(0).unsigned_abs());
        if low < high {
            self.age = (low, high);
        } else {
            *self = Ticks::new(time, stamp);
        }
    }

    /// Returns the most likely clock value at `time`.
    pub fn at(&self, time: u64) -> u32 {
        self.shown(time, self.age.0.midpoint(self.age.1))
    }

    /// Returns the maximum clock value at `time`.
    pub fn latest(&self, time: u64) -> u32 {
        self.shown(time, self.age.1 - 1)
    }

    fn shown(&self, time: u64, age: u64) -> u32 {
        let ticks = (time.saturating_sub(self.time) + age) / TICK;
        self.stamp.wrapping_add(ticks as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Milliseconds and thousandths of them.
    fn at(millis: u64, micros: u64) -> u64 {
        millis * TICK + micros * 1000
    }

    #[test]
    fn a_clock_ticks_between_a_packet_with_the_old_number_and_one_with_the_new() {
        // The tick comes after 0.34 and not after 0.54 of a millisecond: at 0.012 the old number still shows.
        let mut clock = Ticks::new(at(78, 933), 3960);
        clock.note(at(231, 339), 4112);
        clock.note(at(539, 538), 4421);
        clock.note(at(1979, 538), 5861);
        assert_eq!([clock.at(at(2046, 12)), clock.at(at(2046, 330))], [5927; 2]);
        assert_eq!([clock.at(at(2046, 540)), clock.at(at(2047, 330))], [5928; 2]);
    }

    #[test]
    fn after_one_packet_the_tick_is_thought_to_be_half_over() {
        let clock = Ticks::new(at(5, 0), 100);
        assert_eq!([at(5, 499), at(5, 500), at(6, 499), at(6, 500)].map(|time| clock.at(time)), [100, 101, 101, 102]);
        assert_eq!([at(5, 0), at(5, 1), at(6, 0), at(6, 1)].map(|time| clock.latest(time)), [100, 101, 101, 102]);
    }

    #[test]
    fn a_clock_that_cannot_have_ticked_so_is_read_anew() {
        // Ten ticks in a millisecond, then one tick per millisecond, across the wraparound of the timestamp.
        let mut clock = Ticks::new(0, u32::MAX - 11);
        clock.note(at(1, 0), u32::MAX - 1);
        clock.note(at(2, 900), 0);
        assert_eq!([clock.at(at(2, 0)), clock.at(at(2, 900)), clock.at(at(3, 960))], [u32::MAX, 0, 1]);
    }
}
