//! Many runs at once, each reduced to its metrics: nothing of a run is kept but one number a metric.
//!
//! A [`Pool`] does runs in threads of this process. It knows nothing of the search or experiment that submits them.

mod metric;
mod pool;
mod sum;

pub use metric::Metrics;
pub use pool::{Answer, Failure, Pool, Request};
pub use sum::exact_sum;
