//! Time, units, named random streams and distributions: what every other room stands on.

pub mod dist;
pub mod facts;
pub mod rng;
pub mod time;
pub mod units;
mod userlaw;

pub use dist::{Dist, Tail};
pub use rng::Rng;
pub use time::{Dur, Time};
pub use units::{Bytes, Length, ParseUnitError, Rate};
pub use userlaw::UserLaw;
