//! The laboratory in a browser: scenarios, edits of their text, runs and captures with their tables.
//!
//! The page in `studio/` calls the module `web`; the other modules have no JavaScript in them and are tested natively.

pub mod edit;
pub mod kept;
pub mod laws;
pub mod supply;
pub mod trace;
#[cfg(target_arch = "wasm32")]
pub mod web;
