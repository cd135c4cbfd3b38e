//! A law over one FIFO that stands in a file of the user's own. Whoever runs the scenario supplies its object, which has the
//! methods.

use ecnlab_base::UserLaw;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::Facts;
use crate::contract::userlaw::Supply;
use crate::{Aqm, Impossible, LawParams, LinkContext};

/// What there is to know of it.
pub const FACTS: Facts = Facts {
    name: "user-defined",
    label: "a user-defined law",
    summary: "a class in a file of Python, which has the methods of a law over one FIFO",
    shown: &["python"],
    named_by: Some("python"),
    ..Facts::PLAIN
};

/// Where the law stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Params(pub UserLaw<dyn Supply>);

impl Params {
    /// Refuses what names no file and class.
    pub fn check(&self) -> Result<(), Impossible> {
        self.0.check().map_err(|message| Impossible { key: "python".to_owned(), message })
    }
}

/// The object on one queue.
pub type UserDefined = Box<dyn Aqm>;

/// In place of a law that nobody has supplied: every packet passes. Who runs a scenario refuses such a law.
#[derive(Debug)]
struct Unsupplied;

impl Aqm for Unsupplied {}

impl LawParams for Params {
    type Law = UserDefined;

    fn law(&self, link: LinkContext) -> UserDefined {
        self.0.law().map_or_else(|| Box::new(Unsupplied) as UserDefined, |law| law.object(link))
    }

    fn user_law(&self) -> Option<&UserLaw<dyn Supply>> {
        Some(&self.0)
    }

    fn user_law_mut(&mut self) -> Option<&mut UserLaw<dyn Supply>> {
        Some(&mut self.0)
    }
}
