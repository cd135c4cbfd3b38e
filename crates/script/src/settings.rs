//! From a profile and its departures to a configuration.

use ecnlab_tcp::{Config, profile};
use serde_json::{Map, Value};

use crate::{Case, Failure, Place, Setting};

/// The case's profile with each `set` applied, the last of a key winning.
pub fn config(case: &Case) -> Result<Config, Failure> {
    let first = case.steps[0].place.clone();
    let profile = profile(&case.profile)
        .ok_or_else(|| Failure::new(&first, format!("no profile is called `{}`", case.profile)))?;
    let config = depart(&profile.config, &case.settings)?;
    let config = config.settled(&case.profile);
    config.check().map_err(|e| Failure::new(&first, e.to_string()))?;
    Ok(config)
}

/// `config` with other values at some keys. All are read at once; an error is that of the first setting with which reading fails.
fn depart(config: &Config, settings: &[Setting]) -> Result<Config, Failure> {
    let keys = serde_json::to_value(config).and_then(serde_json::from_value::<Map<String, Value>>);
    let keys = keys.expect("a configuration is a table");
    let with = |settings: &[Setting]| {
        let mut keys = keys.clone();
        for Setting { key, value, .. } in settings {
            // `true` and `10` are what they look like; anything else is a string: `200 ms`, `newreno`.
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.clone()));
            *keys.get_mut(key).ok_or_else(|| format!("a TCP has no setting `{key}`"))? = value;
        }
        Config::read(keys).map_err(|e: serde_json::Error| {
            settings.last().map_or_else(|| e.to_string(), |last| format!("`{}`: {e}", last.key))
        })
    };
    let blamed = |(i, setting): (usize, &Setting)| Some(Failure::new(&setting.place, with(&settings[..=i]).err()?));
    with(settings).map_err(|all| {
        settings.iter().enumerate().find_map(blamed).unwrap_or_else(|| Failure::new(&Place::default(), all))
    })
}
