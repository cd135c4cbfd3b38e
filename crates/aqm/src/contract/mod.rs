//! The interface between laws and queues: the traits that a law implements, the state passed to it, and its static
//! properties.

pub(crate) mod across;
pub mod facts;
pub(crate) mod hooks;
pub(crate) mod impossible;
pub(crate) mod law;
pub(crate) mod params;
pub(crate) mod shape;
pub mod userlaw;
