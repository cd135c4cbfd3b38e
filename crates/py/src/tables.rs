//! The engine's tables: short columns as lists, long ones as bytes.

use ecnlab_engine::{Blocks, Column, Table};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Most values of a column that become a list. Longer ones become bytes, which need no object for each value.
const LISTED: usize = 1 << 10;

/// `{table: {column: values}}`. The values of a short column are its Polars type and a list, in which `None` replaces NaN, those of a long
/// one its Polars type and bytes, or for text the codes as bytes and the names.
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
        let values = if column.len() > LISTED { packed(py, column) } else { list(py, column) };
        columns.set_item(name, values?)?;
    }
    Ok(columns)
}

/// Passes blocks of tables to a Python function: the name of the table, and its columns as in [`to_python`].
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

/// The Polars type and the values as little-endian bytes; for text, the codes as bytes and the names.
fn packed(py: Python<'_>, column: Column) -> PyResult<Bound<'_, PyAny>> {
    match column {
        Column::U64(values) => ("UInt64", bytes(py, &values, u64::to_le_bytes)?).into_bound_py_any(py),
        Column::U32(values) => ("UInt32", bytes(py, &values, u32::to_le_bytes)?).into_bound_py_any(py),
        Column::F64(values) => ("Float64", bytes(py, &values, f64::to_le_bytes)?).into_bound_py_any(py),
        Column::Bool(values) => ("Boolean", bytes(py, &values, |value| [u8::from(value)])?).into_bound_py_any(py),
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
