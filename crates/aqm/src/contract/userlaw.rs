//! User-defined laws for one FIFO: the trait that a user's object implements so that the queue can call it like a
//! built-in law.

use crate::{Aqm, LinkContext};

/// Creates the objects of a law, one per queue.
pub trait Supply: Send + Sync {
    /// The law on a queue that feeds `link`.
    fn object(&self, link: LinkContext) -> Box<dyn Aqm>;
}
