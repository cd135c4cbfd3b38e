//! All integration tests, one module a file: one program is linked sooner than many.

mod coverage;
mod imports;
mod sources;
mod unused;
