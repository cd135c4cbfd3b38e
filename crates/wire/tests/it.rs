//! All integration tests, one module a file: one program is linked sooner than many.

mod known_bytes;
mod round_trip;
