//! All problems of a configuration, and the settings that resolve them.

use serde::de::DeserializeOwned;

use crate::config::Config;
use crate::invalid::{Invalid, Remedy};

/// Maximum number of rounds of remedies: more than the longest chain (law, feedback, D-SACK; law, recovery, SACK).
const MOST_ROUNDS: usize = 8;

/// All problems of a configuration, and the settings that resolve them.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The problems, also those that a setting in `remedies` would cause without the others; never empty.
    pub problems: Vec<Invalid>,
    /// Settings with which the configuration is accepted: keys, and values as in a scenario. Empty if a value is
    /// impossible by itself.
    pub remedies: Vec<(&'static str, toml::Value)>,
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
            for Remedy { key, value } in left.iter().filter_map(|problem| problem.remedy.clone()) {
                if apply(&mut config, key, &value).is_some() {
                    remedies.retain(|(other, _)| *other != key);
                    remedies.push((key, value));
                }
            }
            problems.extend(left.into_iter().filter(|problem| !problems.contains(problem)).collect::<Vec<_>>());
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

/// Sets `key`; `None` if it is not one that a remedy sets, or cannot have this value, which a test excludes.
fn apply(config: &mut Config, key: &str, value: &toml::Value) -> Option<()> {
    fn set<T: DeserializeOwned>(field: &mut T, value: &toml::Value) -> Option<()> {
        *field = value.clone().try_into().ok()?;
        Some(())
    }
    match key {
        "dsack" => set(&mut config.dsack, value),
        "ecn" => set(&mut config.ecn, value),
        "ecn_control" => set(&mut config.ecn_control, value),
        "ecn_response" => set(&mut config.ecn_response, value),
        "ecn_syn_fallback" => set(&mut config.ecn_syn_fallback, value),
        "idle_restart" => set(&mut config.idle_restart, value),
        "initial_ssthresh" => set(&mut config.initial_ssthresh, value),
        "max_rto" => set(&mut config.max_rto, value),
        "recovery" => set(&mut config.recovery, value),
        "rto_estimator" => set(&mut config.rto_estimator, value),
        "rtt_sampling" => set(&mut config.rtt_sampling, value),
        "sack" => set(&mut config.sack, value),
        "slow_start" => set(&mut config.slow_start, value),
        "window_scaling" => set(&mut config.window_scaling, value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use ecnlab_base::Dur;

    use super::*;
    use crate::profile;
    use crate::registry::{CONGESTION, EcnKind, RecoveryKind, SlowStartKind, WindowLaw};

    /// Each profile with every combination of the laws of a TCP.
    fn configs() -> impl Iterator<Item = Config> {
        let laws = CONGESTION.iter().map(|law| law.facts.name).filter(|name| *name != "user-defined");
        let laws: Vec<WindowLaw> = laws.map(|name| toml::Value::from(name).try_into().unwrap()).collect();
        profile::profiles().flat_map(move |profile| {
            laws.clone().into_iter().flat_map(move |congestion| {
                EcnKind::ALL.iter().flat_map(move |&ecn| {
                    let congestion = congestion.clone();
                    RecoveryKind::ALL.iter().flat_map(move |&recovery| {
                        let congestion = congestion.clone();
                        SlowStartKind::ALL.iter().map(move |&slow_start| {
                            let congestion = congestion.clone();
                            Config { congestion, ecn, recovery, slow_start, ..profile.config.clone() }
                        })
                    })
                })
            })
        })
    }

    #[test]
    fn the_remedies_of_every_refused_combination_of_laws_make_it_valid() {
        let mut keys = std::collections::BTreeSet::new();
        for mut config in configs() {
            let Some(refused) = config.refusal() else { continue };
            assert!(!refused.remedies.is_empty(), "{config:?}");
            for (key, value) in refused.remedies {
                apply(&mut config, key, &value).unwrap();
                keys.insert(key);
            }
            assert_eq!(config.refusal(), None, "{config:?}");
        }
        let expected =
            ["dsack", "ecn", "ecn_response", "initial_ssthresh", "recovery", "rtt_sampling", "sack", "slow_start"];
        assert_eq!(keys.into_iter().collect::<Vec<_>>(), expected);
    }

    fn of_ns2() -> Config {
        profile::profile("ns-2.35").unwrap().config.clone()
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
        assert_eq!(change(|c| c.rto_estimator = of_ns2().rto_estimator), ["rto_estimator = \"rfc6298\""]);
        assert_eq!(change(|c| c.max_rto = Dur::from_ms(300)), ["max_rto = \"3 s\""]);
        assert_eq!(change(|c| c.min_rto = Dur::ZERO), [""; 0]);
    }
}
