//! Scenario and experiment files: parsing, defaults, checks, hashes, expansion.
//!
//! A file is parsed into a tree that records the line of every value ([`parse_scenario`]); the tree is converted to
//! typed tables with all defaults; these are expanded into nodes, links and flows and checked; a checked [`Scenario`]
//! is converted to an engine's plan for a seed ([`Scenario::plan`]). Every error on the way is a [`Diagnostic`] with
//! its line and a remedy. An [`Experiment`] sets other values in the tree and repeats these steps for each of its
//! cells.
//!
//! Modules are in layers; each imports only from layers above it in this list:
//!
//! | layer | modules |
//! | --- | --- |
//! | text and places in it | `text`, `source`, `path` |
//! | errors | `diagnostic` |
//! | the file as a tree | `tree` |
//! | reading of a tree | `de`, `findings`, `names`, `profile` |
//! | types of tables | `quantity`, `aggregation`, `boxes`, `outages`, `tunnel`, `wire`, then `file`, then `changes` |
//! | all tables of a scenario | `queue`, then `tables` |
//! | user-defined laws; traces; arrays laid out | `userlaws`, `traces`, `layout` |
//! | checks | `check`, `memory` |
//! | the grid of an experiment | `grid`, `metric`, `report` |
//! | the scenario | `scenario` |
//! | outputs of a scenario | `plan`, `capture`, `volume`, `experiment` |
//! | schema and documentation | `registry`, `schema`, `stored`, `reference` |

mod absent;
mod aggregation;
mod boxes;
mod capture;
mod changes;
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
mod outages;
mod paste;
mod path;
mod plan;
mod profile;
mod quantity;
mod queue;
mod reference;
pub mod registry;
mod report;
mod scenario;
mod schema;
mod source;
mod stop;
mod stored;
mod synonyms;
mod tables;
mod text;
mod traces;
mod tree;
mod tunnel;
mod userlaws;
mod volume;
mod wire;

pub use capture::CapturePlan;
pub use diagnostic::{Diagnostic, Diagnostics, law_remedy};
pub use experiment::{Experiment, Run, parse_experiment, parse_experiment_with};
pub use file::FORMAT;
pub use metric::parse_metrics;
pub use plan::{Drawn, DrawnChanges, DrawnFlow, DrawnLink, DrawnObject, DrawnWeb};
pub use reference::{Block, blocks, law_index, tcp_reference};
pub use scenario::{Departure, Scenario, hex_sha256, parse_scenario, parse_scenario_with};
pub use schema::{experiment_schema, scenario_schema};
pub use userlaws::{Available, Found, Limit, MEMORY_LIMIT, Requested, Supplier};

/// Returns every file of the repository generated from the types, profiles and registries, with its path.
pub fn generated() -> [(&'static str, String); 3] {
    [
        ("schema/scenario.schema.json", stored::stored(&scenario_schema())),
        ("docs/generated/tcp.md", tcp_reference()),
        ("docs/generated/laws.md", law_index()),
    ]
}
