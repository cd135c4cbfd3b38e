//! Two endpoints against each other.

mod ecn;
mod pair;
mod rules;
mod transfer;
