//! Drop-tail: never signals. Overflow is handled by the queue's `full` policy, so random drop and drop-front on full
//! are this law with another `full` (RFC 2884 §2; docs/laws/droptail.md).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::facts::Facts;
use crate::{Aqm, Impossible, LawParams, LinkContext};

/// Static properties of the discipline.
pub const FACTS: Facts = Facts {
    name: "droptail",
    label: "drop-tail",
    summary: "FIFO that drops only when it is full",
    reference: "RFC 2884, section 2",
    uses_ecn: false,
    judges_departures: false,
    ..Facts::PLAIN
};

/// Drop-tail has no parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Params {
    /// Always succeeds: there are no parameters.
    pub const fn check(&self) -> Result<(), Impossible> {
        Ok(())
    }
}

/// The law: every packet passes.
#[derive(Clone, Copy, Debug)]
pub struct DropTail;

impl LawParams for Params {
    type Law = DropTail;

    fn law(&self, _link: LinkContext) -> DropTail {
        DropTail
    }
}

impl Aqm for DropTail {
    fn is_indifferent(&self) -> bool {
        true
    }
}
