//! Names in tables, and receivers of tables that grow.

use ecnlab_base::Table;

use crate::plan::Plan;

/// Names of the objects that a run refers to by number.
#[derive(Clone, Debug)]
pub struct Labels {
    /// Links.
    pub links: Vec<String>,
    /// Flows.
    pub flows: Vec<String>,
    /// Groups.
    pub groups: Vec<String>,
    /// The group of each flow.
    pub group_of: Vec<u32>,
}

impl Labels {
    /// Creates the names of `plan`.
    pub fn of(plan: &Plan) -> Labels {
        Labels {
            links: plan.links.iter().map(|l| l.name.clone()).collect(),
            flows: plan.flows.iter().map(|f| f.name.clone()).collect(),
            groups: plan.groups.clone(),
            group_of: plan.flows.iter().map(|f| f.group as u32).collect(),
        }
    }
}

/// Receiver of growing tables in blocks, so that the run need not store them.
pub trait Blocks {
    /// Takes the next rows of a table. Returning false stops the run.
    fn take(&mut self, block: Table) -> bool;
}
