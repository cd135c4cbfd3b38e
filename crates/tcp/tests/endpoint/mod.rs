//! Two endpoints against each other.

mod ecn;
mod pair;
mod prague;
mod rules;
mod transfer;
