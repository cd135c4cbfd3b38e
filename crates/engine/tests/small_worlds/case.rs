//! The settings of both endpoints in a world.

use std::sync::Arc;

use ecnlab_tcp::Config;
use ecnlab_tcp::registry::{EcnKind, RecoveryKind, WindowLaw, laws};

/// Full segments of a transfer; with AccECN, whose option makes them smaller, one more of 168 bytes.
const SEGMENTS: u64 = 14;
/// Bytes of a transfer: 14 segments of 1448 bytes.
pub const BYTES: u64 = SEGMENTS * 1448;

/// Settings that differ from those of a profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    pub profile: &'static str,
    pub feedback: EcnKind,
    pub recovery: RecoveryKind,
    /// Name of the window law.
    pub law: &'static str,
}

/// A window of four segments: the first twelve packets are those of the first round trips.
const INITIAL_WINDOW: u32 = 4;

impl Case {
    /// The configuration; `None` if the laws do not fit.
    pub fn config(&self) -> Option<Arc<Config>> {
        let mut config = ecnlab_tcp::profile(self.profile)?.config.clone();
        let name = serde_json::Value::String(self.law.to_owned());
        config.congestion = serde_json::from_value::<WindowLaw>(name).ok()?;
        (config.ecn, config.recovery, config.initial_window) = (self.feedback, self.recovery, INITIAL_WINDOW);
        config.sack = self.recovery.needs_sack();
        config.dsack = config.sack && self.feedback.wants_dsack();
        let config = config.settled(self.profile);
        config.check().is_ok().then(|| Arc::new(config))
    }

    /// Whether the recovery scheme is one of Linux, whose window counts data in flight without inflation.
    pub fn is_linux(&self) -> bool {
        matches!(self.recovery, RecoveryKind::Rack | RecoveryKind::LinuxNewReno)
    }

    /// The settings as keys and TOML values of `[tcp.NAME]`.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let sack = self.recovery.needs_sack();
        vec![
            ("ecn", self.feedback.name().to_owned()),
            ("recovery", self.recovery.name().to_owned()),
            ("congestion", self.law.to_owned()),
            ("initial_window", INITIAL_WINDOW.to_string()),
            ("sack", sack.to_string()),
            ("dsack", (sack && self.feedback.wants_dsack()).to_string()),
        ]
    }
}

/// Every combination of `feedbacks`, a recovery scheme and a built-in window law that the endpoint permits.
pub fn all(profile: &'static str, feedbacks: &[EcnKind]) -> Vec<Case> {
    let windows = || laws().filter(|law| law.family == "congestion" && law.facts.name != "user-defined");
    let mut cases = Vec::new();
    for &feedback in feedbacks {
        for &recovery in RecoveryKind::ALL {
            cases.extend(windows().map(|law| Case { profile, feedback, recovery, law: law.facts.name }));
        }
    }
    cases.retain(|case| case.config().is_some());
    cases
}
