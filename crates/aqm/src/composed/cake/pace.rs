//! The virtual clock: transmission times of packets at a rate, and the time of the next departure (`cake_set_rate`,
//! `cake_advance_shaper`). Times are nanoseconds.

use super::{Framing, Params};

/// Minimum rate used in calculations, in bytes per second.
const LEAST_RATE: u64 = 64;
/// Maximum bits of the nanoseconds per byte.
const BITS: u32 = 34;

/// A rate as the transmission time of a byte, in fixed point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    /// In units of 2^-`shift` ns; 0 for no rate.
    per_byte: u64,
    shift: u32,
}

impl Pace {
    /// No rate: transmission times are zero.
    pub const NONE: Pace = Pace { per_byte: 0, shift: 0 };

    /// Creates the pace of `rate` bytes per second.
    pub fn of(rate: u64) -> Pace {
        let mut pace = Pace { per_byte: (1_000_000_000 << BITS) / rate.max(LEAST_RATE), shift: BITS };
        while pace.per_byte >> BITS > 0 {
            pace = Pace { per_byte: pace.per_byte >> 1, shift: pace.shift - 1 };
        }
        pace
    }

    /// Returns the transmission time of `bytes`, in nanoseconds.
    pub fn time(&self, bytes: u64) -> u64 {
        (bytes * self.per_byte) >> self.shift
    }

    pub fn is_none(&self) -> bool {
        self.per_byte == 0
    }
}

/// Size of a packet on the wire (`cake_calc_overhead`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    overhead: i32,
    mpu: u32,
    framing: Framing,
}

impl Wire {
    pub fn of(params: &Params) -> Wire {
        let Params { overhead, mpu, framing, .. } = *params;
        Wire { overhead, mpu, framing }
    }

    /// Returns the bytes on the wire of an IP packet of `len` bytes.
    pub fn len(&self, len: u32) -> u64 {
        let len = (i64::from(len) + i64::from(self.overhead)).max(i64::from(self.mpu)).max(0) as u64;
        match self.framing {
            Framing::Plain => len,
            Framing::Atm => len.div_ceil(48) * 53,
            Framing::Ptm => len + len.div_ceil(64),
        }
    }
}

/// The clock of all tins: the time of the next departure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gate {
    pace: Pace,
    next: i64,
    /// Maximum time for which sent packets keep the gate closed, independent of the cost of drops:
    /// `failsafe_next_packet`.
    failsafe: i64,
}

impl Gate {
    pub fn new(pace: Pace) -> Gate {
        Gate { pace, next: 0, failsafe: 0 }
    }

    /// Updates the clock on an arrival at an empty queue.
    pub fn refresh(&mut self, now: i64) {
        if self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
    }

    /// Advances the clock by a packet of `bytes` on the wire, sent or dropped.
    pub fn advance(&mut self, bytes: u64, dropped: bool) {
        let time = self.pace.time(bytes);
        self.next = self.next.saturating_add(time as i64);
        if !dropped {
            self.failsafe = self.failsafe.saturating_add((time + (time >> 1)) as i64);
        }
    }

    /// Time at which the gate opens.
    pub fn opens(&self) -> i64 {
        self.next.min(self.failsafe)
    }
}

/// The clock of a tin: whether it is within its rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    pace: Pace,
    /// Time at which the tin has used up its rate.
    pub next: i64,
}

impl Meter {
    pub fn new(pace: Pace) -> Meter {
        Meter { pace, next: 0 }
    }

    /// Updates the clock on an arrival at an empty tin.
    pub fn refresh(&mut self, now: i64) {
        self.next = self.next.max(now);
    }

    /// Advances the clock by a packet of `bytes` on the wire, sent or dropped.
    pub fn advance(&mut self, bytes: u64, now: i64) {
        let time = self.pace.time(bytes) as i64;
        self.next = if self.next < now { self.next + time } else { self.next.max(now + time) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_nanoseconds_for_a_byte_in_34_bits() {
        // 1,250,000 B/s are 800 ns a byte, 10 bits before the point: 24 are left behind it. 1514 B are 1211.2 µs.
        let pace = Pace::of(1_250_000);
        assert_eq!((pace.per_byte, pace.shift, pace.time(1514)), (800 << 24, 24, 1_211_200));
        // 3 B/s count as 64: 15,625,000 ns a byte.
        assert_eq!(Pace::of(3).time(1), 15_625_000);
        // 125,000,000,000 B/s, 1 Tbit/s: 0.008 ns a byte, 12.112 ns for 1514.
        assert_eq!(Pace::of(125_000_000_000).time(1514), 12);
        assert_eq!((Pace::NONE.time(1514), Pace::NONE.is_none(), pace.is_none()), (0, true, false));
    }

    #[test]
    fn the_wire_adds_what_it_adds() {
        let len = |overhead, mpu, framing, len| Wire { overhead, mpu, framing }.len(len);
        assert_eq!([28, 100].map(|n| len(0, 0, Framing::Plain, n)), [28, 100]);
        // Ethernet: 38 B more, at least 84.
        assert_eq!([40, 46, 47, 1500].map(|n| len(38, 84, Framing::Plain, n)), [84, 84, 85, 1538]);
        // Cells of 48: 40 + 8 is one cell, 41 + 8 two.
        assert_eq!([40, 41, 1500].map(|n| len(8, 0, Framing::Atm, n)), [53, 106, 32 * 53]);
        // 64 and one, 65 and two.
        assert_eq!([64, 65, 1500].map(|n| len(0, 0, Framing::Ptm, n)), [65, 67, 1524]);
        assert_eq!([20, 64, 100].map(|n| len(-64, 0, Framing::Plain, n)), [0, 0, 36]);
    }

    #[test]
    fn the_gate_opens_when_those_before_have_had_their_time() {
        // 8000 ns for 10 B.
        let mut gate = Gate::new(Pace::of(1_250_000));
        gate.refresh(1_000);
        gate.advance(10, false);
        assert_eq!(gate.opens(), 9_000);
        // A packet that comes before it opens changes nothing, one that comes later begins anew.
        gate.refresh(8_999);
        assert_eq!(gate.opens(), 9_000);
        gate.refresh(9_001);
        assert_eq!(gate.opens(), 9_001);
    }

    #[test]
    fn drops_close_the_gate_for_half_of_what_packets_take_at_most() {
        // A packet of 10 B, 8000 ns, has a failsafe at 12,000; drops of 10 B each put the gate to 16,000 and 24,000.
        let mut gate = Gate::new(Pace::of(1_250_000));
        gate.refresh(0);
        gate.advance(10, false);
        assert_eq!(gate.opens(), 8_000);
        gate.advance(10, true);
        gate.advance(10, true);
        assert_eq!((gate.opens(), gate.next), (12_000, 24_000));
    }

    #[test]
    fn a_tin_that_is_late_may_catch_up_and_one_that_is_early_pays_once() {
        // 8000 ns for 10 B. Late by 500 it catches up; not late, it has the packet's time from now on; early by more than
        // that it pays nothing.
        let after = |next, now| {
            let mut meter = Meter { pace: Pace::of(1_250_000), next };
            meter.advance(10, now);
            meter.next
        };
        assert_eq!([after(500, 1_000), after(1_000, 1_000), after(5_000, 1_000)], [8_500, 9_000, 9_000]);
        assert_eq!([after(9_000, 1_000), after(20_000, 1_000)], [9_000, 20_000]);
        let mut meter = Meter::new(Pace::NONE);
        meter.refresh(7);
        meter.refresh(5);
        assert_eq!(meter.next, 7);
    }
}
