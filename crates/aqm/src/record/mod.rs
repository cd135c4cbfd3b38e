//! Records of queues: counters, statistics, columns of tables.

pub(crate) mod columns;
pub(crate) mod counters;
pub(crate) mod histogram;
pub(crate) mod interval;
pub(crate) mod rows;
pub(crate) mod stats;
