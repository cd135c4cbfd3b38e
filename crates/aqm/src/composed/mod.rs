//! Disciplines made of several queues: classes, fair queueing and shapers.

pub mod cake;
pub mod cbq;
pub mod classes;
pub mod fq;
pub mod fq_codel;
pub mod fq_pie;
pub mod htb;
pub(crate) mod members;
pub(crate) mod sharing;
pub mod tbf;
