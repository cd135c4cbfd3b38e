//! Errors in a configuration, and the settings that resolve them.

use ecnlab_base::Dur;
use serde::Serialize;

use crate::config::{Config, EcnResponse, Estimator, InitialSsthresh, RttSampling};
use crate::registry::{EcnKind, RecoveryKind, SlowStartKind};

/// A value that no TCP can have, by itself or together with other values.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{key}` {problem}")]
pub struct Invalid {
    /// The key of [`Config`] at fault, with a dot before one of its table.
    pub key: &'static str,
    /// The problem, in words that follow the key.
    pub problem: String,
    /// The setting that resolves a combination; `None` for a value that is impossible by itself.
    pub remedy: Option<Remedy>,
}

/// A setting that resolves a refused combination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Remedy {
    /// `ecn`.
    Ecn(EcnKind),
    /// `dsack`.
    Dsack(bool),
    /// `sack`.
    Sack(bool),
    /// `window_scaling`.
    WindowScaling(bool),
    /// `recovery`.
    Recovery(RecoveryKind),
    /// `slow_start`.
    SlowStart(SlowStartKind),
    /// `initial_ssthresh`.
    InitialSsthresh(InitialSsthresh),
    /// `rtt_sampling`.
    RttSampling(RttSampling),
    /// `ecn_response`.
    EcnResponse(EcnResponse),
    /// `rto_estimator`.
    RtoEstimator(Estimator),
    /// `max_rto`.
    MaxRto(Dur),
}

/// All problems of a configuration, and the settings that resolve them.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The problems, also those that a setting in `remedies` would cause without the others; never empty.
    pub problems: Vec<Invalid>,
    /// Settings with which the configuration is accepted: keys, and values as in a scenario. Empty if a value is
    /// impossible by itself.
    pub remedies: Vec<(&'static str, toml::Value)>,
}

impl Remedy {
    /// Key in `[tcp.NAME]`.
    pub const fn key(self) -> &'static str {
        match self {
            Remedy::Ecn(_) => "ecn",
            Remedy::Dsack(_) => "dsack",
            Remedy::Sack(_) => "sack",
            Remedy::WindowScaling(_) => "window_scaling",
            Remedy::Recovery(_) => "recovery",
            Remedy::SlowStart(_) => "slow_start",
            Remedy::InitialSsthresh(_) => "initial_ssthresh",
            Remedy::RttSampling(_) => "rtt_sampling",
            Remedy::EcnResponse(_) => "ecn_response",
            Remedy::RtoEstimator(_) => "rto_estimator",
            Remedy::MaxRto(_) => "max_rto",
        }
    }

    /// The value, as in a scenario; `None` if it has no form in TOML, which a test excludes.
    fn value(self) -> Option<toml::Value> {
        fn toml(value: impl Serialize) -> Option<toml::Value> {
            toml::Value::try_from(value).ok()
        }
        match self {
            Remedy::Ecn(value) => toml(value),
            Remedy::Dsack(value) | Remedy::Sack(value) | Remedy::WindowScaling(value) => toml(value),
            Remedy::Recovery(value) => toml(value),
            Remedy::SlowStart(value) => toml(value),
            Remedy::InitialSsthresh(value) => toml(value),
            Remedy::RttSampling(value) => toml(value),
            Remedy::EcnResponse(value) => toml(value),
            Remedy::RtoEstimator(value) => toml(value),
            Remedy::MaxRto(value) => toml(value),
        }
    }

    fn apply(self, config: &mut Config) {
        match self {
            Remedy::Ecn(value) => config.ecn = value,
            Remedy::Dsack(value) => config.dsack = value,
            Remedy::Sack(value) => config.sack = value,
            Remedy::WindowScaling(value) => config.window_scaling = value,
            Remedy::Recovery(value) => config.recovery = value,
            Remedy::SlowStart(value) => config.slow_start = value,
            Remedy::InitialSsthresh(value) => config.initial_ssthresh = value,
            Remedy::RttSampling(value) => config.rtt_sampling = value,
            Remedy::EcnResponse(value) => config.ecn_response = value,
            Remedy::RtoEstimator(value) => config.rto_estimator = value,
            Remedy::MaxRto(value) => config.max_rto = value,
        }
    }
}

impl Refusal {
    /// All problems of `config`; `None` if it is valid.
    ///
    /// A remedy may lack settings itself: feedback that counts marks needs D-SACK. So remedies are applied until none
    /// is left, which ends because each round resolves a problem and no remedy undoes another.
    pub(crate) fn of(config: &Config) -> Option<Refusal> {
        let (mut config, mut problems, mut remedies) = (config.clone(), Vec::new(), Vec::new());
        let mut left = config.problems();
        for _ in 0..MOST_ROUNDS {
            let (found, fixes) = (left.clone(), left.iter().filter_map(|problem| problem.remedy));
            for fix in fixes {
                fix.apply(&mut config);
                remedies.retain(|(key, _)| *key != fix.key());
                remedies.extend(fix.value().map(|value| (fix.key(), value)));
            }
            problems.extend(found.into_iter().filter(|problem| !problems.contains(problem)).collect::<Vec<_>>());
            left = config.problems();
            if left.iter().all(|problem| problem.remedy.is_none()) {
                break;
            }
        }
        if !left.is_empty() {
            remedies.clear();
        }
        (!problems.is_empty()).then_some(Refusal { problems, remedies })
    }
}

/// Maximum number of rounds of remedies: more than the longest chain (law, feedback, D-SACK; law, recovery, SACK).
const MOST_ROUNDS: usize = 8;

pub(crate) fn ensure(holds: bool, key: &'static str, problem: impl FnOnce() -> String) -> Result<(), Invalid> {
    if holds { Ok(()) } else { Err(Invalid { key, problem: problem(), remedy: None }) }
}

/// [`ensure`] for values that exclude each other; `remedy` resolves that.
pub(crate) fn ensure_fit(
    holds: bool,
    key: &'static str,
    remedy: Remedy,
    problem: impl FnOnce() -> String,
) -> Result<(), Invalid> {
    ensure(holds, key, problem).map_err(|invalid| Invalid { remedy: Some(remedy), ..invalid })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;
    use crate::registry::CONGESTION;

    /// Every combination of the laws of a TCP, in each profile.
    fn tables() -> impl Iterator<Item = toml::Table> {
        profile::profiles().iter().flat_map(|profile| {
            let laws = CONGESTION.iter().map(|law| law.facts.name).filter(|name| *name != "user-defined");
            laws.flat_map(move |law| {
                EcnKind::ALL.iter().flat_map(move |ecn| {
                    RecoveryKind::ALL.iter().flat_map(move |recovery| {
                        SlowStartKind::ALL.iter().map(move |slow_start| {
                            let named = [
                                ("congestion", law),
                                ("ecn", ecn.name()),
                                ("recovery", recovery.name()),
                                ("slow_start", slow_start.name()),
                            ];
                            let mut table = profile.table();
                            table.extend(named.map(|(key, name)| (key.to_owned(), toml::Value::from(name))));
                            table
                        })
                    })
                })
            })
        })
    }

    fn refusal(table: &toml::Table) -> Option<Refusal> {
        Config::read::<_, toml::de::Error>(table.clone()).unwrap().refusal()
    }

    #[test]
    fn the_remedies_of_every_refused_combination_of_laws_make_it_valid() {
        let mut keys = std::collections::BTreeSet::new();
        for mut table in tables() {
            let Some(refused) = refusal(&table) else { continue };
            assert!(!refused.remedies.is_empty(), "{table}");
            keys.extend(refused.remedies.iter().map(|(key, _)| *key));
            table.extend(refused.remedies.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
            assert_eq!(refusal(&table), None, "{table}");
        }
        let expected =
            ["dsack", "ecn", "ecn_response", "initial_ssthresh", "recovery", "rtt_sampling", "sack", "slow_start"];
        assert_eq!(keys.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn remedies_of_other_combinations_make_them_valid_too() {
        let change = |change: fn(&mut Config)| {
            let mut config = profile::profile("modern").unwrap().config.clone();
            change(&mut config);
            let remedies = config.refusal().unwrap().remedies;
            remedies.into_iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>()
        };
        assert_eq!(change(|c| c.window_scaling = false), ["window_scaling = true"]);
        assert_eq!(change(|c| c.rto_estimator = Estimator::Ns2), ["rto_estimator = \"rfc6298\""]);
        assert_eq!(change(|c| c.max_rto = Dur::from_ms(300)), ["max_rto = \"3 s\""]);
        assert_eq!(change(|c| c.min_rto = Dur::ZERO), [""; 0]);
    }
}
