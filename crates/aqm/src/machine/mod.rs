//! The queue that carries out verdicts: FIFO, tree, scheduler, room and books.

pub(crate) mod books;
pub(crate) mod bucket;
pub(crate) mod coupling;
pub(crate) mod fifo;
pub(crate) mod make;
pub(crate) mod memory;
pub(crate) mod queue;
pub(crate) mod recipe;
pub mod replay;
pub(crate) mod room;
pub(crate) mod scheduler;
pub(crate) mod tree;
