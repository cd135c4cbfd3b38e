//! All integration tests, one module a file: one program is linked sooner than many.

mod accecn;
mod common;
mod files;
mod links;
mod pairing;
mod rack;
mod rules;
mod streams;
