//! From a profile and its departures to a configuration.

use ecnlab_tcp::{Config, profile};
use serde_json::{Map, Value};

use crate::{Case, Failure, Setting};

/// The case's profile with each `set` applied, the last of a key winning.
pub fn config(case: &Case) -> Result<Config, Failure> {
    let first = case.steps[0].place.clone();
    let profile = profile(&case.profile)
        .ok_or_else(|| Failure::new(&first, format!("no profile is called `{}`", case.profile)))?;
    let mut config = profile.config.clone();
    for setting in &case.settings {
        config = depart(&config, setting).map_err(|message| Failure::new(&setting.place, message))?;
    }
    let config = config.settled(&case.profile);
    config.check().map_err(|e| Failure::new(&first, e.to_string()))?;
    Ok(config)
}

fn depart(config: &Config, Setting { key, value, .. }: &Setting) -> Result<Config, String> {
    let keys = serde_json::to_value(config).and_then(serde_json::from_value::<Map<String, Value>>);
    let mut keys = keys.map_err(|e| e.to_string())?;
    // `true` and `10` are what they look like; anything else is a string: `200 ms`, `newreno`.
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.clone()));
    *keys.get_mut(key).ok_or_else(|| format!("a TCP has no setting `{key}`"))? = value;
    Config::read(keys).map_err(|e: serde_json::Error| format!("`{key}`: {e}"))
}
