//! User-defined laws over one FIFO: an object of whoever runs the scenario, which the queue calls like a law of this crate.

use crate::{Aqm, LinkContext};

/// Makes the objects of a law, one for each queue.
pub trait Supply: Send + Sync {
    /// The law on a queue that feeds `link`.
    fn object(&self, link: LinkContext) -> Box<dyn Aqm>;
}
