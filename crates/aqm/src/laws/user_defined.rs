//! A user-defined law for one FIFO. The program that runs the scenario supplies an object with its methods.

use ecnlab_base::UserLaw;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::Facts;
use crate::contract::userlaw::Supply;
use crate::{Aqm, Impossible, LawParams, LinkContext};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "user-defined",
    label: "a user-defined law",
    summary: "a Python class with the methods of a law over one FIFO",
    shown: &["python"],
    named_by: Some("python"),
    ..Facts::PLAIN
};

/// Location of the law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Params(pub UserLaw<dyn Supply>);

impl Params {
    /// Rejects an empty file or class name.
    pub fn check(&self) -> Result<(), Impossible> {
        self.0.check().map_err(|message| Impossible { key: "python".to_owned(), message })
    }
}

/// The object on one queue.
pub type UserDefined = Box<dyn Aqm>;

/// Placeholder of a law that has not been supplied: every packet passes. Engines reject such a law.
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
