//! Scenario and experiment files: parse, fill, check, hash, expand.
//!
//! A file becomes a tree that knows the line of every value ([`parse_scenario`]); the tree becomes
//! typed tables with every default filled in; these are laid out into nodes, links and flows and
//! checked; a checked [`Scenario`] becomes an engine's plan for a seed ([`Scenario::plan`]).
//! Whatever is wrong on the way is a [`Diagnostic`] with its line and a remedy. An [`Experiment`]
//! grafts other values into the tree and goes the same way for each of its cells.
//!
//! Modules are in layers, and each imports only from layers above it in this list:
//!
//! | layer | modules |
//! | --- | --- |
//! | text and places in it | `text`, `source`, `path` |
//! | errors | `diagnostic` |
//! | the file as a tree | `tree` |
//! | reading of a tree | `de`, `findings`, `names`, `profile` |
//! | types of tables | `quantity`, `boxes`, `tunnel`, `wire`, then `file` |
//! | all tables of a scenario | `queue`, then `tables` |
//! | user-defined laws; arrays laid out | `userlaws`, `layout` |
//! | checks | `check`, `memory` |
//! | the grid of an experiment | `grid`, `metric` |
//! | the scenario | `scenario` |
//! | what is made of it | `plan`, `capture`, `volume`, `experiment` |
//! | schema and documentation | `registry`, `schema`, `stored`, `reference` |

mod boxes;
mod capture;
mod check;
mod de;
mod diagnostic;
mod experiment;
mod file;
mod findings;
mod grid;
mod layout;
mod memory;
mod metric;
mod names;
mod path;
mod plan;
mod profile;
mod quantity;
mod queue;
mod reference;
pub mod registry;
mod scenario;
mod schema;
mod source;
mod stored;
mod tables;
mod text;
mod tree;
mod tunnel;
mod userlaws;
mod volume;
mod wire;

pub use capture::CapturePlan;
pub use diagnostic::{Diagnostic, Diagnostics};
pub use experiment::{Experiment, Run, parse_experiment, parse_experiment_with};
pub use file::FORMAT;
pub use plan::{Drawn, DrawnFlow, DrawnLink, DrawnObject, DrawnWeb};
pub use reference::{Block, blocks, law_index, tcp_reference};
pub use scenario::{Departure, Scenario, hex_sha256, parse_scenario, parse_scenario_with};
pub use schema::{experiment_schema, scenario_schema};
pub use userlaws::{Asked, Available, Found, MEMORY_LIMIT, Supplier};

/// Every file of the repository that is generated from the types, profiles and registries, by its path.
pub fn generated() -> [(&'static str, String); 4] {
    [
        ("schema/scenario.schema.json", stored::stored(&scenario_schema())),
        ("schema/experiment.schema.json", stored::stored(&experiment_schema())),
        ("docs/generated/tcp.md", tcp_reference()),
        ("docs/generated/laws.md", law_index()),
    ]
}
