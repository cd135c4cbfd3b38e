//! The engine's tables: as NumPy arrays that take over the engine's memory, or, if there are few values, as lists and bytes.

use ecnlab_engine::{Blocks, Column, Table};
use numpy::IntoPyArray;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Most values of all tables together for which NumPy is not imported: importing it takes longer than copying so many values.
const COPIED: usize = 1 << 20;

/// Most values of a column that become a list. Longer ones become bytes, which need no object for each value.
const LISTED: usize = 1 << 10;

/// `{table: {column: values}}`. If there are few values, those of a short column are its Polars type and a list, in which
/// `None` replaces NaN, and those of a long one are [`packed`]; otherwise they are those of [`arrays`].
pub fn to_python(py: Python<'_>, tables: Vec<Table>) -> PyResult<Bound<'_, PyDict>> {
    let count: usize = tables.iter().map(|table| table.rows() * table.columns.len()).sum();
    all(py, tables, if count > COPIED { array } else { copied })
}

/// `{table: {column: values}}`. The values of a column are an array, or `(codes, names)` for text.
pub fn arrays(py: Python<'_>, tables: Vec<Table>) -> PyResult<Bound<'_, PyDict>> {
    all(py, tables, array)
}

fn all(py: Python<'_>, tables: Vec<Table>, values: Values) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for table in tables {
        let name = table.name.clone();
        all.set_item(name, columns(py, table, values)?)?;
    }
    Ok(all)
}

type Values = for<'py> fn(Python<'py>, Column) -> PyResult<Bound<'py, PyAny>>;

fn columns(py: Python<'_>, table: Table, values: Values) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    for (name, column) in table.columns {
        columns.set_item(name, values(py, column)?)?;
    }
    Ok(columns)
}

/// Passes blocks of tables to a Python function: the name of the table, and its columns as in [`arrays`].
pub struct Taker {
    function: Py<PyAny>,
    /// A block was passed on, so NumPy is imported.
    pub has_passed: bool,
    /// Exception raised by the function.
    pub raised: Option<PyErr>,
}

impl Taker {
    /// Creates a receiver that calls `function`.
    pub fn new(function: Py<PyAny>) -> Taker {
        Taker { function, has_passed: false, raised: None }
    }
}

impl Blocks for Taker {
    fn take(&mut self, block: Table) -> bool {
        self.has_passed = true;
        let name = block.name.clone();
        let call = |py: Python<'_>| self.function.call1(py, (name, columns(py, block, array)?)).map(drop);
        self.raised = Python::attach(call).err();
        self.raised.is_none()
    }
}

fn copied(py: Python<'_>, column: Column) -> PyResult<Bound<'_, PyAny>> {
    if column.len() > LISTED { packed(py, column) } else { list(py, column) }
}

/// The Polars type and the values as little-endian bytes; for text, the codes as bytes and the names.
fn packed(py: Python<'_>, column: Column) -> PyResult<Bound<'_, PyAny>> {
    match column {
        Column::U64(values) => ("UInt64", bytes(py, &values, u64::to_le_bytes)?).into_bound_py_any(py),
        Column::U32(values) => ("UInt32", bytes(py, &values, u32::to_le_bytes)?).into_bound_py_any(py),
        Column::F64(values) => ("Float64", bytes(py, &values, f64::to_le_bytes)?).into_bound_py_any(py),
        Column::Bool(_) => list(py, column),
        Column::Text { codes, names } => (bytes(py, &codes, u32::to_le_bytes)?, names).into_bound_py_any(py),
    }
}

fn bytes<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    values: &[T],
    one: impl Fn(T) -> [u8; N],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, N * values.len(), |all| {
        all.as_chunks_mut().0.iter_mut().zip(values).for_each(|(place, &value)| *place = one(value));
        Ok(())
    })
}

fn list(py: Python<'_>, column: Column) -> PyResult<Bound<'_, PyAny>> {
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
