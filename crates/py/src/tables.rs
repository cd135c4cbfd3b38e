//! The engine's tables as NumPy arrays, which take over the engine's memory.

use ecnlab_engine::{Column, Table};
use numpy::IntoPyArray;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// `{table: {column: array, or (codes, names) for text}}`.
pub fn to_python(py: Python<'_>, tables: Vec<Table>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for table in tables {
        let columns = PyDict::new(py);
        for (name, column) in table.columns {
            columns.set_item(name, array(py, column)?)?;
        }
        all.set_item(table.name, columns)?;
    }
    Ok(all)
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
