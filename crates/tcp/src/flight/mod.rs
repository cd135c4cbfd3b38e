//! A sender's outstanding data, window, timer and recovery state: the state that recovery schemes work on.

mod ack_seen;
mod chunk;
mod context;
mod feedback;
#[expect(clippy::module_inception, reason = "the folder has the parts of what the file has")]
mod flight;
mod last_sent;
mod max_flight;
mod ns2;
mod pacer;
mod peer_window;
mod pipe_ack;
mod rate;
mod rate_limited;
mod rate_limited_state;
mod recovery;
mod reduction;
mod resent;
mod rtt;
mod sampler;
mod scoreboard;
mod segment;
mod segments;
mod timer;

pub(crate) use ack_seen::AckSeen;
pub(crate) use chunk::{Chunk, How, WindowProbe};
pub(crate) use context::Cx;
pub(crate) use feedback::Known;
pub(crate) use flight::{Flight, Opened, timestamp};
pub(crate) use recovery::{Cause, DUP_THRESH};
#[cfg(test)]
pub(crate) use scoreboard::Scoreboard;
pub(crate) use segment::Outstanding;
