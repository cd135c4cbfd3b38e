//! Two endpoints against each other.

mod counters;
mod ecn;
mod pair;
mod prague;
mod rules;
mod transfer;
