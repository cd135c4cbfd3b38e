//! The queue that executes verdicts: FIFO, tree, scheduler, capacity and counters.

pub(crate) mod books;
pub(crate) mod bucket;
pub(crate) mod coupling;
pub(crate) mod fifo;
pub(crate) mod layout;
pub(crate) mod make;
pub(crate) mod memory;
pub(crate) mod queue;
pub(crate) mod recipe;
pub mod replay;
pub(crate) mod room;
pub(crate) mod scheduler;
pub(crate) mod tree;
