//! The window law as a configuration names it: its name, or a table of its name and parameters.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use ecnlab_base::facts::{Column, union};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::json;

use crate::registry::{CONGESTION, WindowLaw};

impl WindowLaw {
    /// What these `laws` add to a trace, each name once, in the order of the registry: columns of `flow_series`.
    pub fn columns<'a>(laws: impl IntoIterator<Item = &'a WindowLaw>) -> Vec<Column> {
        let names: BTreeSet<&str> = laws.into_iter().map(WindowLaw::name).collect();
        union(CONGESTION.iter().filter(|row| names.contains(row.facts.name)).map(|row| row.facts.columns))
    }
}

impl<'de> Deserialize<'de> for WindowLaw {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<WindowLaw, D::Error> {
        d.deserialize_any(NameOrTable)
    }
}

struct NameOrTable;

impl<'de> de::Visitor<'de> for NameOrTable {
    type Value = WindowLaw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a window law or a table with its kind")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<WindowLaw, E> {
        // What `remote` derives, not this trait's.
        WindowLaw::deserialize(MapDeserializer::new([("kind", name)].into_iter()))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, table: A) -> Result<WindowLaw, A::Error> {
        WindowLaw::deserialize(MapAccessDeserializer::new(table))
    }
}

impl Serialize for WindowLaw {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        // A law without parameters is its name, so that each is written in one way only.
        if self.has_params() { WindowLaw::serialize(self, s) } else { s.serialize_str(self.name()) }
    }
}

impl JsonSchema for WindowLaw {
    fn schema_name() -> Cow<'static, str> {
        "WindowLaw".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let laws = WindowLaw::schemas(generator);
        // A law with a required key is no mere name.
        let needs = |name: &str| laws.iter().any(|(law, params)| *law == name && params.get("required").is_some());
        let named = CONGESTION.iter().filter(|law| !needs(law.facts.name));
        let names = named.map(|law| json!({ "const": law.facts.name, "description": law.facts.summary }));
        let tables = laws.iter().filter_map(|(name, params)| table(name, params.clone()));
        let choices: Vec<_> = names.chain(tables).collect();
        json_schema!({ "oneOf": choices })
    }
}

/// The table of a law: its `kind` and its parameters, if it has any.
fn table(kind: &str, params: Schema) -> Option<serde_json::Value> {
    let mut schema = params.to_value();
    let keys = schema.get_mut("properties")?;
    keys["kind"] = json!({ "const": kind });
    if !WindowLaw::named_by().any(|(_, law)| law == kind) {
        schema["required"] = json!(["kind"]);
    }
    Some(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a configuration prints for a law written as `text` in TOML.
    fn printed(text: &str) -> Result<serde_json::Value, String> {
        let table: toml::Table = toml::from_str(&format!("law = {text}")).unwrap();
        let law: WindowLaw = table["law"].clone().try_into().map_err(|e: toml::de::Error| e.to_string())?;
        Ok(serde_json::to_value(law).unwrap())
    }

    #[test]
    fn a_name_and_a_table_print_the_parameters_that_hold() {
        let full = json!({ "kind": "ecn-alpha-beta", "alpha": 0.2, "beta": 0.875 });
        assert_eq!(printed("\"ecn-alpha-beta\""), Ok(full.clone()));
        assert_eq!(printed("{ kind = \"ecn-alpha-beta\" }"), Ok(full));
        assert_eq!(printed("{ kind = \"abe\", beta = 0.85 }"), Ok(json!({ "kind": "abe", "beta": 0.85 })));
        assert_eq!(printed("\"reno\""), Ok(json!("reno")));
        // What has no default is left out.
        let cubic = json!({ "kind": "cubic", "beta": 0.7, "c": 0.4, "fast_convergence": true });
        assert_eq!(printed("\"cubic\""), Ok(cubic));
        assert_eq!(printed("{ kind = \"reno\" }"), Ok(json!("reno")));
    }

    #[test]
    fn a_trace_has_the_columns_of_the_laws_in_use_in_the_order_of_the_registry() {
        let law = |name: &str| -> WindowLaw { serde_json::from_value(json!(name)).unwrap() };
        let names = |laws: &[WindowLaw]| WindowLaw::columns(laws).iter().map(|column| column.name).collect::<Vec<_>>();
        assert_eq!(
            names(&[law("prague"), law("reno"), law("dctcp")]),
            ["alpha", "prague_alpha", "prague_cwnd_segments"]
        );
        assert!(names(&[law("reno"), law("cubic")]).is_empty());
    }

    #[test]
    fn what_is_no_law_or_no_parameter_of_it_is_refused() {
        for wrong in
            ["\"renault\"", "3", "{ beta = 0.5 }", "{ kind = \"abe\", alpha = 1.0 }", "{ kind = \"reno\", beta = 0.5 }"]
        {
            assert!(printed(wrong).is_err(), "{wrong}");
        }
    }
}
