//! The parameters of a law.

use ecnlab_base::{Length, UserLaw};

use crate::LinkContext;
use crate::contract::userlaw::Supply;

/// The parameters of a law: its keys in a scenario.
pub trait LawParams {
    /// The law: an [`Aqm`](crate::Aqm), an [`Across`](crate::Across), or an object that is one.
    type Law;

    /// The law on a queue that feeds `link`. The parameters have passed their check.
    fn law(&self, link: LinkContext) -> Self::Law;
    /// Returns the effective parameters on a queue of `limit` that feeds `link`: derived values replace keywords and
    /// missing values.
    fn in_force(&self, _link: LinkContext, _limit: Length) -> Self
    where
        Self: Clone,
    {
        self.clone()
    }
    /// The name of the user-defined law, if there is one.
    fn user_law(&self) -> Option<&UserLaw<dyn Supply>> {
        None
    }
    /// The same, as a mutable reference, so that it can be supplied.
    fn user_law_mut(&mut self) -> Option<&mut UserLaw<dyn Supply>> {
        None
    }
}
