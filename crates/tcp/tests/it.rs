//! All integration tests, one module a file: one program is linked sooner than many.

mod branches;
mod endpoint;
mod garbage;
mod laws;
mod rfcs;
mod script;
mod script_language;
