//! Tables as columns, for transfer without copying.

use std::collections::HashMap;

/// A column. Missing values are NaN.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Counts.
    U64(Vec<u64>),
    /// Indices and header fields.
    U32(Vec<u32>),
    /// Measurements.
    F64(Vec<f64>),
    /// Boolean values.
    Bool(Vec<bool>),
    /// Names: indices into a list of strings.
    Text {
        /// Index of each row's name.
        codes: Vec<u32>,
        /// The names.
        names: Vec<String>,
    },
}

/// A named table; its columns have equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Names and columns, in order.
    pub columns: Vec<(&'static str, Column)>,
}

impl Table {
    /// Creates a table without columns.
    pub fn new(name: impl Into<String>) -> Table {
        Table { name: name.into(), columns: Vec::new() }
    }
    /// Adds a column of counts.
    pub fn u64(&mut self, name: &'static str, values: impl IntoIterator<Item = u64>) -> &mut Table {
        self.add(name, Column::U64(values.into_iter().collect()))
    }
    /// Adds a column of indices.
    pub fn u32(&mut self, name: &'static str, values: impl IntoIterator<Item = u32>) -> &mut Table {
        self.add(name, Column::U32(values.into_iter().collect()))
    }
    /// Adds a column of measurements.
    pub fn f64(&mut self, name: &'static str, values: impl IntoIterator<Item = f64>) -> &mut Table {
        self.add(name, Column::F64(values.into_iter().collect()))
    }
    /// Adds a boolean column.
    pub fn bool(&mut self, name: &'static str, values: impl IntoIterator<Item = bool>) -> &mut Table {
        self.add(name, Column::Bool(values.into_iter().collect()))
    }
    /// Adds a column of names, given as indices into `names`.
    pub fn text(&mut self, name: &'static str, codes: impl IntoIterator<Item = u32>, names: &[String]) -> &mut Table {
        self.add(name, Column::Text { codes: codes.into_iter().collect(), names: names.to_vec() })
    }
    /// Adds a column of strings; equal ones are stored once.
    pub fn texts(&mut self, name: &'static str, values: impl IntoIterator<Item = String>) -> &mut Table {
        let (mut places, mut names, mut codes) = (HashMap::new(), Vec::new(), Vec::new());
        for value in values {
            codes.push(*places.entry(value).or_insert_with_key(|value| {
                names.push(value.clone());
                names.len() as u32 - 1
            }));
        }
        self.add(name, Column::Text { codes, names })
    }
    /// Returns the column `name`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(n, _)| *n == name).map(|(_, c)| c)
    }
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, c)| c.len())
    }

    fn add(&mut self, name: &'static str, column: Column) -> &mut Table {
        debug_assert!(self.columns.is_empty() || self.rows() == column.len(), "{}.{name}", self.name);
        self.columns.push((name, column));
        self
    }
}

impl Column {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Column::U64(v) => v.len(),
            Column::U32(v) => v.len(),
            Column::F64(v) => v.len(),
            Column::Bool(v) => v.len(),
            Column::Text { codes, .. } => codes.len(),
        }
    }
    /// Returns whether the column is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
