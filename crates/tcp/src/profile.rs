//! Profiles: a value for every setting, each with its source.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::config::Config;
use crate::registry::SlowStartKind;

/// The value of one setting in a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Key of `[tcp.NAME]`, as in [`Config::read`].
    pub key: String,
    /// The value, as written in a scenario.
    pub value: toml::Value,
    /// Source of the value: RFC and section, kernel source and function, or "from memory".
    pub source: String,
}

/// A named set of values for all settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Name, such as `modern` or `linux-2.0`.
    pub name: &'static str,
    /// One-line description.
    pub summary: String,
    /// Name of the profile from which it has the values that its own file omits, if there is one.
    pub base: Option<&'static str>,
    /// All settings, in the order of their keys.
    pub settings: Vec<Setting>,
    /// The settings as a configuration.
    pub config: Config,
}

/// The reason why a profile's file could not be read. The files are part of the crate, so this is a bug of the crate.
#[derive(Debug, thiserror::Error)]
#[error("profile `{name}`: {problem}")]
pub struct ProfileError {
    name: &'static str,
    problem: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    value: toml::Value,
    source: String,
}

impl Profile {
    /// Reads a profile's file.
    ///
    /// # Errors
    /// If the file is not TOML, lacks a setting or a source, or holds an impossible value.
    pub fn parse(name: &'static str, text: &str) -> Result<Profile, ProfileError> {
        let fail = |problem: String| ProfileError { name, problem };
        let mut table: toml::Table = toml::from_str(text).map_err(|e| fail(e.to_string()))?;
        let summary = match table.remove("summary") {
            Some(toml::Value::String(summary)) => summary,
            _ => return Err(fail("lacks a summary".into())),
        };
        let base = match table.remove("base") {
            Some(base) => Some(base_file(&base).ok_or_else(|| fail(format!("base: there is no profile {base}")))?),
            None => None,
        };
        let mut all: toml::Table =
            base.map_or(Ok(toml::Table::new()), |file| toml::from_str(file.text)).map_err(|e| fail(e.to_string()))?;
        all.remove("summary");
        all.extend(table);
        let mut settings = Vec::new();
        let mut values = toml::Table::new();
        for (key, entry) in all {
            let Entry { value, source } = entry.try_into().map_err(|e| fail(format!("{key}: {e}")))?;
            values.insert(key.clone(), value.clone());
            settings.push(Setting { key, value, source });
        }
        let config = Config::read(values).map_err(|e: toml::de::Error| fail(e.to_string()))?;
        config.check().map_err(|e| fail(e.to_string()))?;
        Ok(Profile { name, summary, base: base.map(|file| file.name), settings, config })
    }

    /// The values as a table, in which a scenario replaces single values before it becomes a [`Config`].
    pub fn table(&self) -> toml::Table {
        self.settings.iter().map(|s| (s.key.clone(), s.value.clone())).collect()
    }
}

/// A profile's file, read when it is first needed.
struct File {
    name: &'static str,
    text: &'static str,
    profile: OnceLock<Option<Profile>>,
}

macro_rules! files {
    ($($name:literal),+) => {
        [$(File {
            name: $name,
            text: include_str!(concat!("../profiles/", $name, ".toml")),
            profile: OnceLock::new(),
        }),+]
    };
}

/// The files of the profiles.
static FILES: [File; 9] =
    files!("modern", "linux-2.0", "linux-2.2", "linux-7", "ns-2.1b6", "ns-2.1b8a", "ns-2.29", "ns-2.35", "l4s");

impl File {
    /// The profile. A test reads each file; an invalid one is omitted here instead of ending a user's run.
    fn profile(&self) -> Option<&Profile> {
        self.profile.get_or_init(|| Profile::parse(self.name, self.text).ok()).as_ref()
    }
}

/// The file of the profile that another one names as its `base`.
fn base_file(base: &toml::Value) -> Option<&'static File> {
    FILES.iter().find(|file| base.as_str() == Some(file.name))
}

impl Config {
    /// Returns this configuration with defaults set for parameters of its window law that depend on the profile, such
    /// as DCTCP's `profile`, and with the window law's own rule for `slow_start = "law"`.
    #[must_use]
    pub fn settled(mut self, profile: &str) -> Config {
        self.congestion.settle(implementation(profile));
        self.slow_start = self.slow_start_rule();
        self
    }

    /// The rule that ends slow start; the window law's own with `slow_start = "law"`.
    pub(crate) fn slow_start_rule(&self) -> SlowStartKind {
        match self.slow_start {
            SlowStartKind::Law => self.congestion.slow_start(),
            rule => rule,
        }
    }
}

/// The profile whose implementation `name` describes: its base, or itself.
fn implementation(name: &str) -> &str {
    profile(name).and_then(|profile| profile.base).unwrap_or(name)
}

/// The profiles of this crate.
pub fn profiles() -> impl Iterator<Item = &'static Profile> {
    FILES.iter().filter_map(File::profile)
}

/// The profile `name`, if there is one.
pub fn profile(name: &str) -> Option<&'static Profile> {
    FILES.iter().find(|file| file.name == name)?.profile()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_profile_with_sources() {
        for File { name, text, .. } in &FILES {
            let profile = Profile::parse(name, text).unwrap();
            assert!(profile.settings.iter().all(|s| s.source.len() > 3), "{name}");
            assert_eq!(Config::read(profile.table()), Ok::<_, toml::de::Error>(profile.config));
        }
        assert_eq!(profiles().count(), FILES.len());
    }

    #[test]
    fn a_profile_with_a_base_differs_only_in_the_keys_of_its_file() {
        let (l4s, linux) = (profile("l4s").unwrap(), profile("linux-7").unwrap());
        let differ = l4s.settings.iter().zip(&linux.settings).filter(|(own, base)| own.value != base.value);
        let keys: Vec<_> = differ.map(|(own, _)| own.key.as_str()).collect();
        assert_eq!((l4s.base, keys), (Some("linux-7"), vec!["congestion", "ecn"]));
        assert_eq!((implementation("l4s"), implementation("modern"), implementation("x")), ("linux-7", "modern", "x"));
        let text = include_str!("../profiles/l4s.toml");
        let wrong = Profile::parse("x", &text.replace("base = \"linux-7\"", "base = \"linux-8\"")).unwrap_err();
        assert!(wrong.to_string().contains("there is no profile \"linux-8\""), "{wrong}");
    }

    /// With `profile = "l4s"` laws that depend on the profile are those of its base.
    #[test]
    fn laws_take_the_implementation_of_the_base() {
        let dctcp = |name| {
            let congestion = serde_json::from_value(serde_json::json!("dctcp")).unwrap();
            Config { congestion, ..profile("linux-7").unwrap().config.clone() }.settled(name)
        };
        assert_eq!(dctcp("l4s"), dctcp("linux-7"));
        assert_ne!(dctcp("l4s"), dctcp("modern"));
    }

    #[test]
    fn the_law_s_own_slow_start_is_hystart_with_linux_s_cubic_alone() {
        let rule = |congestion| {
            let congestion = serde_json::from_value(congestion).unwrap();
            let config = profile("linux-7").unwrap().config.clone();
            Config { congestion, slow_start: SlowStartKind::Law, ..config }.settled("linux-7").slow_start.name()
        };
        let cubic = |profile| rule(serde_json::json!({ "kind": "cubic", "profile": profile }));
        assert_eq!([cubic("linux"), cubic("rfc9438")], ["hystart", "standard"]);
        assert_eq!(["reno", "dctcp", "bbr"].map(|law| rule(law.into())), ["standard"; 3]);
    }

    #[test]
    fn a_missing_or_unknown_knob_is_refused() {
        let text = include_str!("../profiles/modern.toml");
        let without = text.lines().filter(|l| !l.starts_with("exit_growth")).collect::<Vec<_>>().join("\n");
        assert!(Profile::parse("x", &without).unwrap_err().to_string().contains("exit_growth"));
        let without = text.lines().filter(|l| !l.starts_with("rounding")).collect::<Vec<_>>().join("\n");
        assert!(Profile::parse("x", &without).unwrap_err().to_string().contains("rounding"));
        let extra = format!("{text}\nturbo = {{ value = true, source = \"none\" }}\n");
        assert!(Profile::parse("x", &extra).unwrap_err().to_string().contains("turbo"));
    }
}
