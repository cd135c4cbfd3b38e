//! What the page calls.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use ecnlab_engine::capture::{Capture, Files, Sink};
use ecnlab_engine::{Blocks, Column, Outlets, Table, run_into};
use ecnlab_scenario::Diagnostics;
use js_sys::{Array, BigUint64Array, Float64Array, Function, JSON, Object, Reflect, Uint8Array, Uint32Array};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use crate::kept::Kept;
use crate::{edit, laws, supply, trace as captures};

const TOO_LONG: &str = "the tables of this run need more memory than a page has; shorten the duration, sample less often, or run it with \
                        the command `ecnlab run`";

type Result<T> = std::result::Result<T, JsValue>;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console)]
    fn error(text: &str);
}

/// Writes panics to the console. They end the worker, whose page then shows that.
#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|panic| error(&panic.to_string())));
}

/// The laws by family and name, and the profiles of TCP.
#[wasm_bindgen]
pub fn facts() -> Result<JsValue> {
    object(&json!({"laws": laws::laws(), "profiles": laws::profiles(), "version": env!("CARGO_PKG_VERSION")}))
}

/// The text with other values: `changes` is a JSON list of `[dotted key, value in TOML or null]`.
#[wasm_bindgen]
pub fn edit(text: &str, changes: &str) -> Result<String> {
    let changes: Vec<(String, Option<String>)> = read(changes)?;
    edit::set(text, &changes).map_err(|problem| plain(&problem))
}

/// A valid scenario.
#[wasm_bindgen]
pub struct Scenario(ecnlab_scenario::Scenario);

#[wasm_bindgen]
impl Scenario {
    /// Parses `text`; `files` is JSON, the texts of files by the names that the scenario has for them. Throws
    /// `{diagnostics: [{line, column, width, key, message, help}], text}`.
    #[wasm_bindgen(constructor)]
    pub fn new(path: &str, text: &str, files: &str) -> Result<Scenario> {
        let files: BTreeMap<String, String> = read(files)?;
        supply::scenario(path, text, files).map(Scenario).map_err(|found| refused(&found))
    }

    /// The same scenario with other values: JSON, `{dotted key: value}`.
    pub fn with(&self, overrides: &str) -> Result<Scenario> {
        let overrides: BTreeMap<String, toml::Value> = read(overrides)?;
        let overrides: Vec<_> = overrides.into_iter().collect();
        self.0.with(&overrides).map(Scenario).map_err(|found| refused(&found))
    }

    /// Its title, its hash, every key with all defaults, what the seed draws, its departures from TCP's profiles, the rows of
    /// growing tables (null: unbounded), the names of its links, flows and groups, and the bytes of memory that a run needs.
    pub fn about(&self, seed: u64) -> Result<JsValue> {
        let scenario = &self.0;
        let names = |of: &str| scenario.names(of);
        object(&json!({
            "title": scenario.title(),
            "hash": scenario.hash(),
            "resolved": scenario.resolved(),
            "in_force": scenario.in_force(seed),
            "drawn": scenario.drawn(seed),
            "departures": scenario.departures(),
            "volume": scenario.volume(false),
            "memory": scenario.memory(),
            "names": {"node": names("node"), "link": names("link"), "flow": names("flow"), "group": names("group")},
        }))
    }

    /// Runs with `seed`. `events` logs each packet. `progress` is called with the simulated part of the duration, from 0 to 1. Returns
    /// `{tables: {table: {column: values}}, captures: {file: bytes}}`: counts as 64-bit integers, text as `{codes, names}`.
    /// Throws `{text}`.
    pub fn run(&self, seed: u64, events: bool, progress: &Function) -> Result<JsValue> {
        let mut plan = self.0.plan(seed);
        plan.packet_events |= events;
        let duration = plan.duration.as_secs();
        let plans = self.0.captures();
        let taps: Vec<Capture> = plans.iter().map(|capture| capture.tap.clone()).collect();
        let outs = plans.iter().map(|capture| (&capture.tap, capture.settings, Vec::new()));
        let mut files = Files::new(outs).map_err(|error| plain(&error.to_string()))?;
        let watch = |now: ecnlab_base::Time| {
            // A page that throws in its progress goes on without it.
            let _ = progress.call1(&JsValue::NULL, &(now.as_secs() / duration).into());
            true
        };
        let sink: &mut dyn Sink = &mut files;
        let mut kept = Kept::new(supply::MEMORY as usize / 2);
        let (captures, blocks) = (Some((&taps[..], sink)), Some(&mut kept as &mut dyn Blocks));
        let outlets = Outlets { captures, blocks, watch: Some(&watch), wanted: None };
        let output = match run_into(&plan, seed, &AtomicBool::new(false), outlets) {
            Err(_) if kept.is_full() => return Err(plain(TOO_LONG)),
            other => other.map_err(|error| plain(&error.to_string()))?,
        };
        let written = files.finish().map_err(|error| plain(&error.to_string()))?;
        let result = Object::new();
        put(&result, "tables", &tables(kept.joined(output.tables))?.into())?;
        let all = Object::new();
        for (capture, bytes) in plans.iter().zip(&written) {
            put(&all, &capture.file, &Uint8Array::from(&bytes[..]))?;
        }
        put(&result, "captures", &all)?;
        Ok(result.into())
    }
}

/// Analyses a capture. Returns `{tables: {table: {column: values}}, about}`, columns as those of [`Scenario::run`]; `about` is
/// that of [`captures::tables`]. Throws `{text}` if it is no capture.
#[wasm_bindgen]
pub fn trace(bytes: Vec<u8>) -> Result<JsValue> {
    let (found, about) = captures::tables(bytes).map_err(|error| plain(&captures::problem(&error)))?;
    let result = Object::new();
    put(&result, "tables", &tables(found)?.into())?;
    put(&result, "about", &object(&about)?)?;
    Ok(result.into())
}

/// The packets of one connection of a capture: `{tables: {series: {column: values}}}`. Throws `{text}` if it is no capture.
#[wasm_bindgen]
pub fn series(bytes: Vec<u8>, connection: usize) -> Result<JsValue> {
    let found = captures::series(bytes, connection).map_err(|error| plain(&captures::problem(&error)))?;
    let result = Object::new();
    put(&result, "tables", &tables(vec![found])?.into())?;
    Ok(result.into())
}

fn tables(tables: Vec<Table>) -> Result<Object> {
    let all = Object::new();
    for table in tables {
        let columns = Object::new();
        for (name, column) in &table.columns {
            put(&columns, name, &values(column)?)?;
        }
        put(&all, &table.name, &columns)?;
    }
    Ok(all)
}

fn values(column: &Column) -> Result<JsValue> {
    Ok(match column {
        Column::U64(values) => BigUint64Array::from(&values[..]).into(),
        Column::U32(values) => Uint32Array::from(&values[..]).into(),
        Column::F64(values) => Float64Array::from(&values[..]).into(),
        Column::Bool(values) => {
            Uint8Array::from(&values.iter().map(|&value| u8::from(value)).collect::<Vec<_>>()[..]).into()
        }
        Column::Text { codes, names } => {
            let text = Object::new();
            put(&text, "codes", &Uint32Array::from(&codes[..]))?;
            put(&text, "names", &names.iter().map(|name| JsValue::from_str(name)).collect::<Array>())?;
            text.into()
        }
    })
}

fn put(object: &Object, key: &str, value: &JsValue) -> Result<()> {
    Reflect::set(object, &key.into(), value).map(drop)
}

fn object(value: &Value) -> Result<JsValue> {
    JSON::parse(&value.to_string())
}

fn read<T: serde::de::DeserializeOwned>(json: &str) -> Result<T> {
    serde_json::from_str(json).map_err(|error| plain(&error.to_string()))
}

fn plain(problem: &str) -> JsValue {
    object(&json!({"text": problem, "diagnostics": []})).unwrap_or_else(|error| error)
}

fn refused(found: &Diagnostics) -> JsValue {
    let one = |d: &ecnlab_scenario::Diagnostic| json!({"line": d.line, "column": d.column, "width": d.width, "key": d.key, "message": d.message, "help": d.help, "table": d.table});
    let all: Vec<Value> = found.iter().map(one).collect();
    object(&json!({"text": found.to_string(), "diagnostics": all})).unwrap_or_else(|error| error)
}
