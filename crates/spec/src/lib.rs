//! Scenario and experiment files: parse, fill, check, hash, expand.

mod de;
mod diagnostic;
mod path;
mod source;
mod tree;

pub use diagnostic::{Diagnostic, Diagnostics};
