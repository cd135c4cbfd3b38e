//! Time, units, named random streams, distributions and tables, which every other crate may use.

#[cfg(any(test, feature = "coverage-marks"))]
pub mod coverage;
pub mod dist;
pub mod facts;
pub mod level;
pub mod rng;
pub mod steps;
mod table;
pub mod time;
pub mod traces;
pub mod units;
mod userlaw;
pub mod varying;

pub use dist::{Dist, Tail};
pub use rng::Rng;
pub use steps::Steps;
pub use table::{Column, Table};
pub use time::{Dur, Time};
pub use units::{Bytes, Length, ParseUnitError, Rate};
pub use userlaw::UserLaw;
pub use varying::Varying;

/// Names the branch of a law that it stands in, so that a test must reach it (see [`coverage`]). Without the feature
/// `coverage-marks` it expands to nothing.
#[cfg(feature = "coverage-marks")]
#[macro_export]
macro_rules! coverage_mark {
    ($name:literal) => {
        $crate::coverage::reach($name)
    };
}

/// Names the branch of a law that it stands in, so that a test must reach it. Without the feature `coverage-marks`, as here, it
/// expands to nothing.
#[cfg(not(feature = "coverage-marks"))]
#[macro_export]
macro_rules! coverage_mark {
    ($name:literal) => {};
}
