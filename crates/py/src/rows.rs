//! Rows of tables as JSON text, for outputs with millions of values.

use std::fmt::Write;

use ecnlab_engine::{Column, Table};

/// The rows as JSON objects, each on a line of its own, with commas between them. NaN and infinity become null.
pub fn json(table: &Table) -> String {
    let columns: Vec<(String, Values<'_>)> =
        table.columns.iter().map(|(name, column)| (format!("{}: ", quoted(name)), Values::of(column))).collect();
    let mut out = String::new();
    for row in 0..table.rows() {
        out.push_str(if row == 0 { "\n  {" } else { ",\n  {" });
        for (i, (name, values)) in columns.iter().enumerate() {
            out.push_str(if i == 0 { "" } else { ", " });
            out.push_str(name);
            values.write(row, &mut out);
        }
        out.push('}');
    }
    out
}

/// A column whose names are JSON strings.
enum Values<'a> {
    Text(&'a [u32], Vec<String>),
    Other(&'a Column),
}

impl Values<'_> {
    fn of(column: &Column) -> Values<'_> {
        match column {
            Column::Text { codes, names } => Values::Text(codes, names.iter().map(|name| quoted(name)).collect()),
            other => Values::Other(other),
        }
    }

    fn write(&self, row: usize, out: &mut String) {
        // Writing to a string does not fail.
        let _ = match self {
            Values::Text(codes, names) => out.write_str(&names[codes[row] as usize]),
            Values::Other(Column::U64(values)) => write!(out, "{}", values[row]),
            Values::Other(Column::U32(values)) => write!(out, "{}", values[row]),
            Values::Other(Column::F64(values)) if values[row].is_finite() => write!(out, "{:?}", values[row]),
            Values::Other(Column::Bool(values)) => write!(out, "{}", values[row]),
            Values::Other(_) => out.write_str("null"),
        };
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
