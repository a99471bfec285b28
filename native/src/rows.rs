//! `Rows`: rows of one table that are found piece by piece, each piece by columns. What readers of reports fill.

use arrow_array::builder::{ArrayBuilder, Float64Builder, Int64Builder, StringBuilder, TimestampMicrosecondBuilder};
use arrow_array::{ArrayAccessor, ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use rustc_hash::FxHashSet;
use std::sync::Arc;

use crate::batch::{Batch, value_error};
use crate::table::{Layout, schema};

enum Column {
    F64(Float64Builder),
    I64(Int64Builder),
    Str(StringBuilder),
    Ts(TimestampMicrosecondBuilder),
}

impl Column {
    fn new(kind: &str) -> Self {
        match kind {
            "f64" => Column::F64(Float64Builder::new()),
            "i64" => Column::I64(Int64Builder::new()),
            "str" => Column::Str(StringBuilder::new()),
            _ => Column::Ts(TimestampMicrosecondBuilder::new().with_timezone("UTC")),
        }
    }

    fn len(&self) -> usize {
        match self {
            Column::F64(builder) => builder.len(),
            Column::I64(builder) => builder.len(),
            Column::Str(builder) => builder.len(),
            Column::Ts(builder) => builder.len(),
        }
    }

    fn nulls(&mut self, count: usize) {
        match self {
            Column::F64(builder) => builder.append_nulls(count),
            Column::I64(builder) => builder.append_nulls(count),
            Column::Str(builder) => (0..count).for_each(|_| builder.append_null()),
            Column::Ts(builder) => builder.append_nulls(count),
        }
    }

    /// A value so many times. A float that is no number is null.
    fn repeat(&mut self, value: &Bound<'_, PyAny>, count: usize) -> PyResult<()> {
        if value.is_none() {
            self.nulls(count);
            return Ok(());
        }
        match self {
            Column::F64(builder) => {
                let number = Some(value.extract::<f64>()?).filter(|number| number.is_finite());
                (0..count).for_each(|_| builder.append_option(number));
            }
            Column::I64(builder) => {
                let number = value.extract::<i64>()?;
                (0..count).for_each(|_| builder.append_value(number));
            }
            Column::Str(builder) => {
                let text = value.cast::<PyString>()?.to_str()?;
                (0..count).for_each(|_| builder.append_value(text));
            }
            Column::Ts(builder) => {
                let number = value.extract::<i64>()?;
                (0..count).for_each(|_| builder.append_value(number));
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Column::F64(builder) => Arc::new(builder.finish()),
            Column::I64(builder) => Arc::new(builder.finish()),
            Column::Str(builder) => Arc::new(builder.finish()),
            Column::Ts(builder) => Arc::new(builder.finish()),
        }
    }
}

#[pyclass(module = "doctord._native")]
pub struct Rows {
    table: String,
    schema: SchemaRef,
    names: Vec<Py<PyString>>,
    columns: Vec<Column>,
    count: usize,
}

#[pymethods]
impl Rows {
    #[new]
    fn new(py: Python<'_>, table: String, layout: Layout) -> PyResult<Self> {
        Ok(Self {
            schema: schema(&table, &layout).map_err(value_error)?,
            names: layout
                .iter()
                .map(|(name, _)| PyString::intern(py, name).unbind())
                .collect(),
            columns: layout.iter().map(|(_, kind)| Column::new(kind)).collect(),
            table,
            count: 0,
        })
    }

    fn __len__(&self) -> usize {
        self.count
    }

    /// Add rows by columns: a list of `count` values, or one value for all; a column that is left out is null.
    fn add(&mut self, py: Python<'_>, count: usize, values: &Bound<'_, PyDict>) -> PyResult<()> {
        let added = self.append(py, count, values);
        if added.is_err() {
            // A piece is added whole or not at all: what stands too far goes with all that was held before.
            self.columns.iter_mut().for_each(|column| {
                column.finish();
            });
            self.count = 0;
        }
        added
    }

    /// Add those rows in which these columns, each a list, hold something (a text that is empty holds nothing); how many
    /// there are.
    fn add_known(
        &mut self,
        py: Python<'_>,
        count: usize,
        values: &Bound<'_, PyDict>,
        needed: Vec<String>,
    ) -> PyResult<usize> {
        let mut known = vec![true; count];
        for name in needed {
            let Some(list) = values.get_item(&name)? else {
                return Err(PyValueError::new_err(format!("{}.{name} is not given", self.table)));
            };
            for (known, value) in known.iter_mut().zip(list.cast::<PyList>()?.iter()) {
                *known &= !value.is_none() && value.cast::<PyString>().map_or(Ok(true), |text| text.is_truthy())?;
            }
        }
        let rows: Vec<usize> = (0..count).filter(|row| known[*row]).collect();
        if rows.len() == count {
            self.add(py, count, values)?;
        } else if !rows.is_empty() {
            let chosen = PyDict::new(py);
            for (name, value) in values {
                match value.cast::<PyList>() {
                    Ok(each) => {
                        let each = rows.iter().map(|row| each.get_item(*row));
                        chosen.set_item(name, PyList::new(py, each.collect::<PyResult<Vec<_>>>()?)?)?;
                    }
                    Err(_) => chosen.set_item(name, value)?,
                }
            }
            self.add(py, rows.len(), &chosen)?;
        }
        Ok(rows.len())
    }

    /// The values of a column so far, of all rows or of these; of times, microseconds.
    #[pyo3(signature = (name, rows=None))]
    fn column<'py>(&self, py: Python<'py>, name: &str, rows: Option<Vec<usize>>) -> PyResult<Bound<'py, PyList>> {
        let at = self.schema.index_of(name).map_err(value_error)?;
        let rows = rows.unwrap_or_else(|| (0..self.count).collect());
        if rows.iter().any(|row| *row >= self.count) {
            return Err(PyIndexError::new_err("there is no such row"));
        }
        match &self.columns[at] {
            Column::F64(builder) => values(py, &rows, &builder.finish_cloned()),
            Column::I64(builder) => values(py, &rows, &builder.finish_cloned()),
            Column::Str(builder) => values(py, &rows, &builder.finish_cloned()),
            Column::Ts(builder) => values(py, &rows, &builder.finish_cloned()),
        }
    }

    /// The numbers of the rows that are the first with their values in these columns.
    fn firsts(&self, names: Vec<String>) -> PyResult<Vec<usize>> {
        let mut keys = vec![Vec::new(); self.count];
        for name in names {
            let at = self.schema.index_of(&name).map_err(value_error)?;
            match &self.columns[at] {
                Column::F64(builder) => {
                    extend(
                        &mut keys,
                        builder
                            .finish_cloned()
                            .iter()
                            .map(|n| n.map(|n| n.to_bits().to_le_bytes())),
                    );
                }
                Column::I64(builder) => {
                    extend(
                        &mut keys,
                        builder.finish_cloned().iter().map(|n| n.map(i64::to_le_bytes)),
                    );
                }
                Column::Str(builder) => extend(&mut keys, builder.finish_cloned().iter()),
                Column::Ts(builder) => {
                    extend(
                        &mut keys,
                        builder.finish_cloned().iter().map(|n| n.map(i64::to_le_bytes)),
                    );
                }
            }
        }
        let mut seen = FxHashSet::default();
        let numbered = keys.iter().enumerate();
        Ok(numbered
            .filter(|(_, key)| seen.insert(*key))
            .map(|(row, _)| row)
            .collect())
    }

    /// The rows so far; none are held afterwards.
    fn batch(&mut self) -> PyResult<Batch> {
        self.count = 0;
        let arrays = self.columns.iter_mut().map(Column::finish).collect();
        Ok(Batch {
            table: self.table.clone(),
            rows: RecordBatch::try_new(self.schema.clone(), arrays).map_err(value_error)?,
        })
    }
}

fn values<'py, A: ArrayAccessor>(py: Python<'py>, rows: &[usize], array: A) -> PyResult<Bound<'py, PyList>>
where
    Option<A::Item>: IntoPyObject<'py>,
{
    let held = rows.iter().map(|row| array.is_valid(*row).then(|| array.value(*row)));
    PyList::new(py, held)
}

/// Adds a column's values to the keys, each with its length before it, so that no two keys of other values are alike.
fn extend<V: AsRef<[u8]>>(keys: &mut [Vec<u8>], values: impl Iterator<Item = Option<V>>) {
    for (key, value) in keys.iter_mut().zip(values) {
        match value {
            Some(value) => {
                let bytes = value.as_ref();
                key.extend((bytes.len() as u32).to_le_bytes());
                key.extend(bytes);
            }
            None => key.extend(u32::MAX.to_le_bytes()),
        }
    }
}

impl Rows {
    fn append(&mut self, py: Python<'_>, count: usize, values: &Bound<'_, PyDict>) -> PyResult<()> {
        for (name, column) in self.names.iter().zip(&mut self.columns) {
            match values.get_item(name.bind(py))? {
                None => column.nulls(count),
                Some(value) => match value.cast::<PyList>() {
                    Ok(each) => each.iter().try_for_each(|value| column.repeat(&value, 1))?,
                    Err(_) => column.repeat(&value, count)?,
                },
            }
            if column.len() != self.count + count {
                let wrong = column.len() - self.count;
                return Err(PyValueError::new_err(format!(
                    "{}.{}: {wrong} values for {count} rows",
                    self.table,
                    name.bind(py)
                )));
            }
        }
        self.count += count;
        Ok(())
    }
}
