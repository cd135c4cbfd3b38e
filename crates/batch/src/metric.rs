//! The metrics of an experiment, evaluated on the tables of one run. `scenario::metric` checks their structure.

use std::collections::BTreeMap;

use ecnlab_engine::{Column, Table};
use serde_json::Value as Json;

use crate::sum::exact_sum;

/// Number of values added before each rounding, as in `python/ecnlab/scenario/metrics.py`.
const ADDED: usize = 1 << 14;

/// Tables of one kind of traffic: only rows of the measured period count, unless a metric states otherwise.
const TRAFFIC: [&str; 2] = ["objects", "transactions"];

/// Metrics in an order in which each stands behind those that it combines.
#[derive(Clone, Debug)]
pub struct Metrics {
    compiled: Vec<Definition>,
    /// Place in `compiled` of each metric, by name.
    places: BTreeMap<String, usize>,
}

#[derive(Clone, Debug)]
enum Definition {
    Pick(Pick),
    Combine { ratio: bool, first: usize, second: usize, minus_one: bool },
}

#[derive(Clone, Debug)]
struct Pick {
    table: String,
    column: Option<String>,
    wanted: Vec<(String, Vec<Json>)>,
    aggregate: String,
}

impl Metrics {
    /// Compiles definitions that [`ecnlab_scenario::parse_metrics`] has accepted.
    pub fn new(definitions: &BTreeMap<String, Json>) -> Metrics {
        let mut metrics = Metrics { compiled: Vec::new(), places: BTreeMap::new() };
        for name in definitions.keys() {
            metrics.place(name, definitions);
        }
        metrics
    }

    /// Names, in the order of [`Metrics::of`].
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.places.keys().map(String::as_str)
    }

    /// Returns whether a metric reads `table`.
    pub fn reads(&self, table: &str) -> bool {
        self.compiled.iter().any(|one| matches!(one, Definition::Pick(pick) if pick.table == table))
    }

    /// Returns each metric of a run with `tables`, in alphabetical order; NaN where it is not defined.
    pub fn of(&self, tables: &[Table]) -> Vec<f64> {
        let mut found: Vec<f64> = Vec::with_capacity(self.compiled.len());
        for one in &self.compiled {
            found.push(finite(match one {
                Definition::Pick(pick) => pick.of(tables),
                &Definition::Combine { ratio, first, second, minus_one } => {
                    let (first, second) = (found[first], found[second]);
                    let both = if ratio { first / second } else { first - second };
                    if minus_one { both - 1.0 } else { both }
                }
            }));
        }
        self.places.values().map(|&place| found[place]).collect()
    }

    fn place(&mut self, name: &str, definitions: &BTreeMap<String, Json>) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let definition = &definitions[name];
        let operands = ["ratio", "difference"].iter().find_map(|how| definition[how].as_array());
        let one = match operands {
            Some(operands) => {
                let mut places = operands.iter().map(|of| self.place(of.as_str().unwrap_or_default(), definitions));
                let (first, second) = (places.next().unwrap_or(0), places.next().unwrap_or(0));
                let minus_one = definition["minus_one"].as_bool().unwrap_or(false);
                Definition::Combine { ratio: !definition["ratio"].is_null(), first, second, minus_one }
            }
            None => Definition::Pick(Pick::new(definition)),
        };
        self.compiled.push(one);
        self.places.insert(name.to_owned(), self.compiled.len() - 1);
        self.compiled.len() - 1
    }
}

impl Pick {
    fn new(definition: &Json) -> Pick {
        let text = |key: &str| definition[key].as_str().map(str::to_owned);
        let table = text("table").unwrap_or_default();
        let mut wanted: Vec<(String, Vec<Json>)> = definition["where"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(column, value)| (column.clone(), value.as_array().cloned().unwrap_or_else(|| vec![value.clone()])))
            .collect();
        if TRAFFIC.contains(&table.as_str()) && !wanted.iter().any(|(column, _)| column == "measured") {
            wanted.push(("measured".to_owned(), vec![Json::Bool(true)]));
        }
        Pick {
            table,
            column: text("column"),
            wanted,
            aggregate: text("aggregate").unwrap_or_else(|| "mean".to_owned()),
        }
    }

    fn of(&self, tables: &[Table]) -> f64 {
        let table = tables.iter().find(|table| table.name == self.table);
        let rows = table.map(|table| self.rows(table)).unwrap_or_default();
        let values = match (&self.column, table) {
            (Some(column), Some(table)) => {
                let column = table.column(column);
                column.map(|column| rows.iter().filter_map(|&row| number(column, row)).collect()).unwrap_or_default()
            }
            (Some(_), None) => Vec::new(),
            (None, _) => return rows.len() as f64,
        };
        aggregated(&self.aggregate, values)
    }

    /// Returns the numbers of the rows that have the wanted values.
    fn rows(&self, table: &Table) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..table.rows()).collect();
        for (name, wanted) in &self.wanted {
            match table.column(name) {
                Some(Column::Text { codes, names }) => {
                    let fits: Vec<bool> = names.iter().map(|name| wanted.iter().any(|want| want == name)).collect();
                    rows.retain(|&row| fits[codes[row] as usize]);
                }
                Some(column) => rows.retain(|&row| wanted.iter().any(|want| equals(column, row, want))),
                None => rows.clear(),
            }
        }
        rows
    }
}

fn equals(column: &Column, row: usize, want: &Json) -> bool {
    match column {
        Column::U64(values) => {
            want.as_u64().map_or_else(|| want.as_f64() == Some(values[row] as f64), |n| n == values[row])
        }
        Column::U32(values) => want.as_f64() == Some(f64::from(values[row])),
        Column::F64(values) => want.as_f64() == Some(values[row]),
        Column::Bool(values) => want.as_bool() == Some(values[row]),
        Column::Text { codes, names } => want == &names[codes[row] as usize],
    }
}

/// Returns a value as a number; `None` if it is missing.
fn number(column: &Column, row: usize) -> Option<f64> {
    match column {
        Column::U64(values) => Some(values[row] as f64),
        Column::U32(values) => Some(f64::from(values[row])),
        Column::F64(values) => Some(values[row]).filter(|value| !value.is_nan()),
        Column::Bool(values) => Some(f64::from(u8::from(values[row]))),
        Column::Text { .. } => None,
    }
}

fn aggregated(aggregate: &str, mut values: Vec<f64>) -> f64 {
    let n = values.len() as f64;
    match aggregate {
        "count" => n,
        "sum" => sum(&values, |x| x),
        "mean" => sum(&values, |x| x) / n,
        // Jain, Chiu and Hawe 1984: (sum x)^2 / (n sum x^2); 1 when all are equal, 1/n when one has all.
        "jain" => {
            let total = sum(&values, |x| x);
            total * total / (n * sum(&values, |x| x * x))
        }
        "min" => values.into_iter().reduce(f64::min).unwrap_or(f64::NAN),
        "max" => values.into_iter().reduce(f64::max).unwrap_or(f64::NAN),
        "p90" => quantile(&mut values, 0.9),
        "p99" => quantile(&mut values, 0.99),
        _ => quantile(&mut values, 0.5),
    }
}

fn sum(values: &[f64], of: impl Fn(f64) -> f64 + Copy) -> f64 {
    exact_sum(values.chunks(ADDED).map(|some| exact_sum(some.iter().map(|&value| of(value)))))
}

/// Returns the quantile `q`, between neighbours as Hyndman and Fan's type 7.
fn quantile(values: &mut [f64], q: f64) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    values.sort_unstable_by(f64::total_cmp);
    let place = (values.len() - 1) as f64 * q;
    let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
    if low == high { low } else { (place - place.floor()) * (high - low) + low }
}

fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { f64::NAN }
}
