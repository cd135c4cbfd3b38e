//! State of `rate_limited_growth`, for the values that keep any.

use ecnlab_base::Time;

use super::max_flight::MaxFlight;
use super::pipe_ack::PipeAck;
use crate::config::{Config, RateLimitedGrowth};

/// State of the rule.
#[derive(Clone, Debug)]
pub(crate) enum RateLimited {
    Increase(MaxFlight),
    Rfc7661(PipeAck),
}

impl RateLimited {
    /// The state when a connection is established; `None` if the rule of `config` needs none.
    pub fn new(config: &Config, initial_window: u64, now: Time) -> Option<Box<RateLimited>> {
        match config.rate_limited_growth {
            RateLimitedGrowth::RatelimitedIncrease => Some(RateLimited::Increase(MaxFlight::new(initial_window))),
            RateLimitedGrowth::Rfc7661 => Some(RateLimited::Rfc7661(PipeAck::new(1, now))),
            RateLimitedGrowth::Unlimited | RateLimitedGrowth::WindowLimited => None,
        }
        .map(Box::new)
    }
}
