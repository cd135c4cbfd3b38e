//! Time, units and named random streams: what every other room stands on.

pub mod rng;
pub mod time;
pub mod units;

pub use rng::Rng;
pub use time::{Dur, Time};
pub use units::{Bytes, Length, ParseUnitError, Rate};
