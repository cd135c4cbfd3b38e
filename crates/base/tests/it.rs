//! All integration tests, one module a file: one program is linked sooner than many.

mod imports;
mod sources;
