//! All integration tests, one module a file: one program is linked sooner than many.

mod bad_experiments;
mod bad_input;
mod changes;
mod coexist;
mod common;
mod docs;
mod experiments;
mod laws;
mod memory;
mod mutations;
mod remedies;
mod scenarios;
mod schema;
mod userlaws;
mod volume;
mod words;
