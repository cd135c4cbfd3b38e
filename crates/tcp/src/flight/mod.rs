//! What a sender has outstanding, its window, its timer and the state of its recovery: all that recovery schemes work on.

mod ack_seen;
#[expect(clippy::module_inception, reason = "the folder has the parts of what the file has")]
mod flight;
mod ns2;
mod pacer;
mod rate;
mod recovery;
mod reduction;
mod rtt;
mod sampler;
mod scoreboard;

pub(crate) use ack_seen::AckSeen;
pub(crate) use flight::{Chunk, Cx, Flight, How, timestamp};
pub(crate) use recovery::{Cause, DUP_THRESH};
pub(crate) use sampler::Known;
pub(crate) use scoreboard::Outstanding;
#[cfg(test)]
pub(crate) use scoreboard::Scoreboard;
