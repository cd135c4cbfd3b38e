//! What tests do with scripts beyond playing them: falsify each claim, and list the rules.

pub mod mutate;
pub mod rules;
