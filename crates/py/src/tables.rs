//! The engine's tables: long columns as NumPy arrays that take over the engine's memory, short columns as lists.

use ecnlab_engine::{Blocks, Column, Table};
use numpy::IntoPyArray;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Most rows of a column that becomes a list. A run with only such columns does not import NumPy, which takes as long as
/// lists of more than a million values. Blocks of growing tables are longer.
const SHORT: usize = 1 << 14;

/// `{table: {column: values}}`. The values of a long column are an array, or `(codes, names)` for text; those of a short
/// column are its Polars type and a list, in which `None` replaces NaN.
pub fn to_python(py: Python<'_>, tables: Vec<Table>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for table in tables {
        let name = table.name.clone();
        all.set_item(name, columns(py, table)?)?;
    }
    Ok(all)
}

fn columns(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    for (name, column) in table.columns {
        columns.set_item(name, values(py, column)?)?;
    }
    Ok(columns)
}

/// Passes blocks of tables to a Python function: its name, and its columns as in [`to_python`].
pub struct Taker {
    function: Py<PyAny>,
    /// Exception raised by the function.
    pub raised: Option<PyErr>,
}

impl Taker {
    /// Creates a receiver that calls `function`.
    pub fn new(function: Py<PyAny>) -> Taker {
        Taker { function, raised: None }
    }
}

impl Blocks for Taker {
    fn take(&mut self, block: Table) -> bool {
        let name = block.name.clone();
        let call = |py: Python<'_>| self.function.call1(py, (name, columns(py, block)?)).map(drop);
        self.raised = Python::attach(call).err();
        self.raised.is_none()
    }
}

fn values(py: Python<'_>, column: Column) -> PyResult<Bound<'_, PyAny>> {
    if column.len() > SHORT {
        return array(py, column);
    }
    match column {
        Column::U64(values) => ("UInt64", values).into_bound_py_any(py),
        Column::U32(values) => ("UInt32", values).into_bound_py_any(py),
        Column::F64(values) => ("Float64", without_nan(values)).into_bound_py_any(py),
        Column::Bool(values) => ("Boolean", values).into_bound_py_any(py),
        Column::Text { codes, names } => ("String", texts(&codes, &names)).into_bound_py_any(py),
    }
}

fn without_nan(values: Vec<f64>) -> Vec<Option<f64>> {
    values.into_iter().map(|value| Some(value).filter(|value| !value.is_nan())).collect()
}

fn texts<'n>(codes: &[u32], names: &'n [String]) -> Vec<&'n str> {
    codes.iter().map(|&code| names[code as usize].as_str()).collect()
}

fn array(py: Python<'_>, column: Column) -> PyResult<Bound<'_, PyAny>> {
    match column {
        Column::U64(values) => Ok(values.into_pyarray(py).into_any()),
        Column::U32(values) => Ok(values.into_pyarray(py).into_any()),
        Column::F64(values) => Ok(values.into_pyarray(py).into_any()),
        Column::Bool(values) => Ok(values.into_pyarray(py).into_any()),
        Column::Text { codes, names } => (codes.into_pyarray(py), names).into_bound_py_any(py),
    }
}
