//! Tables as columns, ready to be handed over without copying.

use crate::plan::Plan;

/// Names that tables have for what a run knows by number.
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
    /// The names in `plan`.
    pub fn of(plan: &Plan) -> Labels {
        Labels {
            links: plan.links.iter().map(|l| l.name.clone()).collect(),
            flows: plan.flows.iter().map(|f| f.name.clone()).collect(),
            groups: plan.groups.clone(),
            group_of: plan.flows.iter().map(|f| f.group as u32).collect(),
        }
    }
}

/// Takes the tables that grow with a run, in blocks, so that the run need not keep them.
pub trait Blocks {
    /// Takes the next rows of a table. If the answer is no, the run stops.
    fn take(&mut self, block: Table) -> bool;
}

/// One column. A missing number is NaN.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Counts.
    U64(Vec<u64>),
    /// Indices and header fields.
    U32(Vec<u32>),
    /// Measures.
    F64(Vec<f64>),
    /// Yes or no.
    Bool(Vec<bool>),
    /// Names: codes into a list of texts.
    Text {
        /// Index of each row's text.
        codes: Vec<u32>,
        /// The texts.
        names: Vec<String>,
    },
}

/// A named table; its columns are equally long.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Names and columns, in order.
    pub columns: Vec<(&'static str, Column)>,
}

impl Table {
    /// A table without columns yet.
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
    /// Adds a column of measures.
    pub fn f64(&mut self, name: &'static str, values: impl IntoIterator<Item = f64>) -> &mut Table {
        self.add(name, Column::F64(values.into_iter().collect()))
    }
    /// Adds a column of yes or no.
    pub fn bool(&mut self, name: &'static str, values: impl IntoIterator<Item = bool>) -> &mut Table {
        self.add(name, Column::Bool(values.into_iter().collect()))
    }
    /// Adds a column of names, given as indices into `names`.
    pub fn text(&mut self, name: &'static str, codes: impl IntoIterator<Item = u32>, names: &[String]) -> &mut Table {
        self.add(name, Column::Text { codes: codes.into_iter().collect(), names: names.to_vec() })
    }
    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(n, _)| *n == name).map(|(_, c)| c)
    }
    /// How many rows there are.
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
    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Column::U64(v) => v.len(),
            Column::U32(v) => v.len(),
            Column::F64(v) => v.len(),
            Column::Bool(v) => v.len(),
            Column::Text { codes, .. } => codes.len(),
        }
    }
    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
