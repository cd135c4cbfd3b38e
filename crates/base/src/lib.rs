//! Time, units, named random streams and distributions: what every other room stands on.

pub mod dist;
pub mod facts;
mod outside;
pub mod rng;
pub mod time;
pub mod units;

pub use dist::{Dist, Tail};
pub use outside::Outside;
pub use rng::Rng;
pub use time::{Dur, Time};
pub use units::{Bytes, Length, ParseUnitError, Rate};
