//! `Batch`: rows of one table on their way from a collector to a lake or a dataset.
//!
//! It speaks the Arrow PyCapsule interface, so that pyarrow, Polars and DuckDB take it without copying, and the
//! recorder, which imports none of them, can hand it on to the lake's writer.

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{
    Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, StructArray, TimestampMicrosecondArray,
    new_null_array,
};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyString, PyTuple};

use crate::arrays::take;
use crate::table::{Layout, TableBuilder};

const DAY_US: i64 = 86_400_000_000;

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

    /// Rows given by columns: a list of `count` values, or one value for all rows; a column that is left out is null, an
    /// unknown one a KeyError, one of another length a ValueError.
    #[staticmethod]
    fn from_columns(table: &str, layout: Layout, count: usize, columns: &Bound<'_, PyDict>) -> PyResult<Self> {
        let schema = crate::table::schema(table, &layout).map_err(value_error)?;
        for key in columns.keys() {
            let name: String = key.extract()?;
            if schema.index_of(&name).is_err() {
                return Err(PyKeyError::new_err(format!("table {table} has no column {name}")));
            }
        }
        let arrays = layout
            .iter()
            .zip(schema.fields())
            .map(|((name, kind), field)| match columns.get_item(name)? {
                Some(values) => column(&values, kind, count)
                    .map_err(|error| PyValueError::new_err(format!("{table}.{name}: {error}"))),
                None => Ok(new_null_array(field.data_type(), count)),
            })
            .collect::<PyResult<Vec<_>>>()?;
        Ok(Self {
            table: table.to_string(),
            rows: RecordBatch::try_new(schema, arrays).map_err(value_error)?,
        })
    }

    /// These rows of it, by number, in this order; an IndexError where there is no such row.
    fn only(&self, rows: Vec<u64>) -> PyResult<Self> {
        if rows.iter().any(|row| *row >= self.rows.num_rows() as u64) {
            return Err(PyIndexError::new_err("there is no such row"));
        }
        Ok(Self {
            table: self.table.clone(),
            rows: take(&self.rows, &rows).map_err(value_error)?,
        })
    }

    /// Its rows by the day (UTC) of their `ts`: the earliest moment of each part, in microseconds, and the part. A row
    /// without a time is of the day of the first that has one.
    fn by_day(&self) -> PyResult<Vec<(i64, Self)>> {
        let times = self
            .rows
            .column_by_name("ts")
            .map(|ts| ts.as_primitive_opt::<TimestampMicrosecondType>());
        let Some(Some(times)) = times else {
            return Err(PyValueError::new_err(format!(
                "table {} has no times in ts",
                self.table
            )));
        };
        let known = times.iter().flatten().next().unwrap_or_default();
        let mut days: BTreeMap<i64, (i64, Vec<u64>)> = BTreeMap::new();
        for (row, time) in times.iter().enumerate() {
            let time = time.unwrap_or(known);
            let (first, rows) = days.entry(time.div_euclid(DAY_US)).or_insert((time, Vec::new()));
            *first = time.min(*first);
            rows.push(row as u64);
        }
        if days.len() == 1 {
            let whole = Self {
                table: self.table.clone(),
                rows: self.rows.clone(),
            };
            return Ok(days.into_values().map(|(first, _)| first).zip([whole]).collect());
        }
        days.into_values()
            .map(|(first, rows)| Ok((first, self.only(rows)?)))
            .collect()
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

/// A list of so many values as a column, or one value so many times. A float that is no number is null.
fn column(values: &Bound<'_, PyAny>, kind: &str, count: usize) -> PyResult<ArrayRef> {
    Ok(match kind {
        "str" => Arc::new(StringArray::from(values_of::<String>(values, count)?)),
        "f64" => {
            let numbers = values_of::<f64>(values, count)?;
            Arc::new(Float64Array::from_iter(
                numbers.into_iter().map(|number| number.filter(|n| n.is_finite())),
            ))
        }
        "i64" => Arc::new(Int64Array::from(values_of::<i64>(values, count)?)),
        _ => Arc::new(TimestampMicrosecondArray::from(values_of::<i64>(values, count)?).with_timezone("UTC")),
    })
}

fn values_of<'py, T: Clone + FromPyObjectOwned<'py>>(
    values: &Bound<'py, PyAny>,
    count: usize,
) -> PyResult<Vec<Option<T>>> {
    let one = |value: &Bound<'py, PyAny>| -> PyResult<Option<T>> {
        match value.is_none() {
            true => Ok(None),
            false => value.extract().map(Some).map_err(Into::into),
        }
    };
    if values.is_instance_of::<PyString>() || values.is_none() || values.hasattr("__float__")? {
        return Ok(vec![one(values)?; count]);
    }
    let held = values
        .try_iter()?
        .map(|value| one(&value?))
        .collect::<PyResult<Vec<_>>>()?;
    if held.len() != count {
        return Err(PyValueError::new_err(format!("{} values for {count} rows", held.len())));
    }
    Ok(held)
}
