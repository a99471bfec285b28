//! `Batch`: rows of one table on their way from a collector to a lake or a chart.
//!
//! It speaks the Arrow PyCapsule interface, so that pyarrow, Polars and DuckDB take it without copying, and the
//! recorder, which imports none of them, can hand it on to the lake's writer.

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::{Array, RecordBatch, StructArray};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use crate::table::{Layout, TableBuilder};

pub fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pyclass(frozen, module = "doctord._native")]
pub struct Batch {
    pub table: String,
    pub rows: RecordBatch,
}

#[pymethods]
impl Batch {
    /// Rows given as dictionaries; a missing key is null, an unknown one a KeyError. Timestamps are whole
    /// microseconds since the epoch.
    #[staticmethod]
    fn from_rows(table: &str, layout: Layout, rows: Vec<Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut builder = TableBuilder::new(table, &layout).map_err(value_error)?;
        for row in rows {
            for (key, value) in row {
                let name: String = key.extract()?;
                let column = builder
                    .column(&name)
                    .map_err(|_| PyKeyError::new_err(format!("table {table} has no column {name}")))?;
                if value.is_none() {
                    continue;
                }
                match layout[column].1.as_str() {
                    "str" => builder.str(column, Some(&value.extract::<String>()?)),
                    "f64" => builder.f64(column, Some(value.extract()?)),
                    _ => builder.i64(column, Some(value.extract()?)),
                }
            }
            builder.end_row();
        }
        match builder.finish().map_err(value_error)? {
            Some(rows) => Ok(Self {
                table: table.to_string(),
                rows,
            }),
            None => {
                let schema = crate::table::schema(table, &layout).map_err(value_error)?;
                Ok(Self {
                    table: table.to_string(),
                    rows: RecordBatch::new_empty(schema),
                })
            }
        }
    }

    #[getter]
    fn table(&self) -> &str {
        &self.table
    }

    #[getter]
    fn num_rows(&self) -> usize {
        self.rows.num_rows()
    }

    fn __len__(&self) -> usize {
        self.rows.num_rows()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.rows.schema().as_ref()).map_err(value_error)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema; // the interface lets a producer ignore it
        let (array, _): (FFI_ArrowArray, FFI_ArrowSchema) =
            to_ffi(&StructArray::from(self.rows.clone()).to_data()).map_err(value_error)?;
        let array = PyCapsule::new_with_value(py, array, c"arrow_array")?;
        PyTuple::new(py, [self.__arrow_c_schema__(py)?, array])
    }
}
