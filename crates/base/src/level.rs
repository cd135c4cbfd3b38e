//! Quantities that may change over time, in whole units.

use std::fmt;

use crate::{Dur, Rate};

/// A quantity that may change over time.
pub trait Level: Copy + fmt::Display + PartialOrd {
    /// A reader's example of steps.
    const EXAMPLE: &'static str;
    /// Names of its column in a CSV file, with the units that one has.
    const COLUMNS: &'static [(&'static str, f64)];
    /// Most units in a file.
    const MAX_UNITS: f64;
    /// What to write for a value that is out of range.
    const RANGE: &'static str;
    /// Its number of units: bits per second, or picoseconds.
    fn units(self) -> u64;
    /// The quantity of that many units.
    fn of_units(units: u64) -> Self;
}

impl Level for Rate {
    const EXAMPLE: &'static str = "[[\"0 s\", \"50 Mbps\"], [\"10 s\", \"1 Mbps\"]]";
    const COLUMNS: &'static [(&'static str, f64)] = &[("rate_bps", 1.0), ("rate_kbps", 1e3), ("rate_mbps", 1e6)];
    const MAX_UNITS: f64 = 1e13;
    const RANGE: &'static str = "write rates from 0 to 10 Tbit/s";
    fn units(self) -> u64 {
        self.bps()
    }
    fn of_units(units: u64) -> Rate {
        Rate::from_bps(units)
    }
}

impl Level for Dur {
    const EXAMPLE: &'static str = "[[\"0 s\", \"20 ms\"], [\"10 s\", \"35 ms\"]]";
    const COLUMNS: &'static [(&'static str, f64)] = &[("delay_ms", 1e9), ("delay_s", 1e12)];
    const MAX_UNITS: f64 = 86_400e12;
    const RANGE: &'static str = "write delays from 0 to 24 h";
    fn units(self) -> u64 {
        self.ps()
    }
    fn of_units(units: u64) -> Dur {
        Dur::from_ps(units)
    }
}
