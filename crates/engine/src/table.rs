//! Tables as columns, for transfer without copying.

use crate::plan::Plan;

/// Names of the objects that a run refers to by number.
#[derive(Clone, Debug)]
pub struct Labels {
    /// Links.
    pub links: Vec<String>,
    /// Flows.
    pub flows: Vec<String>,
    /// Groups.
    pub groups: Vec<String>,
    /// The group of each flow.
    pub group_of: Vec<u32>,
}

impl Labels {
    /// Creates the names of `plan`.
    pub fn of(plan: &Plan) -> Labels {
        Labels {
            links: plan.links.iter().map(|l| l.name.clone()).collect(),
            flows: plan.flows.iter().map(|f| f.name.clone()).collect(),
            groups: plan.groups.clone(),
            group_of: plan.flows.iter().map(|f| f.group as u32).collect(),
        }
    }
}

/// Receiver of growing tables in blocks, so that the run need not store them.
pub trait Blocks {
    /// Takes the next rows of a table. Returning false stops the run.
    fn take(&mut self, block: Table) -> bool;
}

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
