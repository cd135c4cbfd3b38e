//! Window arithmetic of a host: the differences between simulators and kernels that do not depend on the window law.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::invalid::{Invalid, ensure};
use crate::window::Window;

/// Window arithmetic of a host. These are keys of `[tcp.NAME]`, like those of [`crate::Config`], because they belong to
/// a profile and apply to Reno and every law built on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// How ACKs open the window.
    pub growth: Growth,
    /// With `growth = "bytes-acked"`: maximum number of segments that one ACK adds in slow start (L of RFC 3465 §2.2).
    pub growth_limit: u32,
    /// Slow start lasts while cwnd <= ssthresh instead of cwnd < ssthresh.
    pub slow_start_through_ssthresh: bool,
    /// Window after a loss: ssthresh, or half of `reduce_from` without the floor of two segments.
    pub loss_window: LossWindow,
    /// Values rounded down to whole segments on a reduction.
    pub rounding: Rounding,
}

/// How ACKs open the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// One segment per ACK in slow start, then SMSS·SMSS/cwnd per ACK (RFC 5681 §3.1 equation 3).
    PerAck,
    /// The acknowledged bytes in slow start, then one segment per window of acknowledged bytes (RFC 3465).
    BytesAcked,
    /// One segment per ACK in slow start, then one segment when a counter of ACKs has reached the window (Linux 2.0).
    AckCount,
}

/// The window after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossWindow {
    /// ssthresh (RFC 5681 §3.2 step 3).
    Ssthresh,
    /// Half, even if ssthresh is kept at two segments.
    Half,
}

/// Values rounded down to whole segments on a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// Nothing: windows are bytes.
    None,
    /// ssthresh only.
    Ssthresh,
    /// ssthresh and cwnd.
    Both,
}

/// Initial state of a law that uses these rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The initial window.
    pub window: Window,
    /// The host's window arithmetic.
    pub rules: Rules,
    /// After ECN the window is ssthresh, not half.
    pub ecn_keeps_ssthresh: bool,
    /// Minimum window after ECN, in segments.
    pub ecn_least: u64,
}

impl Rules {
    /// The names of these keys; no other key of `[tcp.NAME]` may have one of them.
    pub const KEYS: [&'static str; 5] =
        ["growth", "growth_limit", "slow_start_through_ssthresh", "loss_window", "rounding"];

    /// Rejects values that Reno cannot use.
    pub(crate) fn check(&self) -> Result<(), Invalid> {
        ensure(self.growth_limit >= 1, "growth_limit", || "must be at least 1".into())
    }
}

/// The rules of RFC 5681, and of RFC 3465 with L = 2.
impl Default for Rules {
    fn default() -> Rules {
        Rules {
            growth: Growth::BytesAcked,
            growth_limit: 2,
            slow_start_through_ssthresh: false,
            loss_window: LossWindow::Ssthresh,
            rounding: Rounding::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_of_the_rfcs_has_their_rules() {
        assert_eq!(crate::profile("modern").unwrap().config.rules, Rules::default());
    }

    /// RFC 3465 §2.2: the limit L is of segments that cwnd grows by; with none it never would.
    #[test]
    fn a_growth_limit_of_nothing_is_refused() {
        let with = |growth_limit| Rules { growth_limit, ..Rules::default() }.check();
        assert_eq!(with(0).unwrap_err().key, "growth_limit");
        assert_eq!(with(1), Ok(()));
    }
}
