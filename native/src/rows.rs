//! `Rows`: rows of one table that are found piece by piece, each piece by columns. What readers of reports fill.

use arrow_array::{ArrayAccessor, RecordBatch};
use arrow_schema::SchemaRef;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::collections::HashSet;

use crate::batch::{Batch, value_error};
use crate::column::Column;
use crate::oracle_report::{ReportFigure, ReportTable};
use crate::table::{Layout, schema};

/// A number for all rows of a table, or one for each.
#[derive(FromPyObject)]
enum Numbers {
    One(f64),
    Each(Vec<f64>),
}

impl Numbers {
    fn each(self, count: usize) -> PyResult<Vec<f64>> {
        match self {
            Self::One(number) => Ok(vec![number; count]),
            Self::Each(numbers) => fit(numbers.len(), count).map(|()| numbers),
        }
    }
}

fn fit(values: usize, count: usize) -> PyResult<()> {
    if values == count {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("{values} values for {count} rows")))
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
        self.whole(added)
    }

    /// Add a row for each cell of the figures' columns that holds a number, if its row holds something in the column
    /// `needed`; how many there are. The number, divided by `seconds` where it is a total and multiplied by `factors`,
    /// goes into the column `into`, a figure's texts into theirs; of `values` each is a list with a value for each row
    /// of the table, or one for all.
    #[pyo3(signature = (table, figures, into, values, *, seconds, factors=Numbers::One(1.0), needed=None))]
    #[allow(clippy::too_many_arguments, reason = "Python gives them by name")]
    fn add_figures(
        &mut self,
        py: Python<'_>,
        table: &ReportTable,
        figures: Vec<PyRef<'_, ReportFigure>>,
        into: &str,
        values: &Bound<'_, PyDict>,
        seconds: Numbers,
        factors: Numbers,
        needed: Option<&str>,
    ) -> PyResult<usize> {
        let (before, count) = (self.count, table.__len__());
        let given = self.given(py, count, values)?;
        let (seconds, factors) = (seconds.each(count)?, factors.each(count)?);
        let mut known = vec![true; count];
        needed.map_or(Ok(()), |name| self.hold(&mut known, values, name))?;
        for figure in figures {
            let over = |row: usize| if figure.is_total { seconds[row] } else { 1.0 };
            let numbers = table.read(figure.column, figure.reading)?.enumerate();
            let (rows, numbers): (Vec<usize>, Vec<f64>) = numbers
                .filter(|(row, _)| known[*row])
                .filter_map(|(row, number)| number.map(|number| (row, number / over(row) * factors[row])))
                .unzip();
            let added = self.append_figure(&figure, into, &given, &rows, &numbers);
            self.whole(added)?;
        }
        Ok(self.count - before)
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
            self.hold(&mut known, values, &name)?;
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

    /// The numbers of the rows that have one of these texts in a column.
    #[pyo3(name = "where")]
    fn having(&self, name: &str, texts: HashSet<String>) -> PyResult<Vec<usize>> {
        let Column::Str(held) = &self.columns[self.schema.index_of(name).map_err(value_error)?] else {
            return Err(PyValueError::new_err(format!("{}.{name} holds no texts", self.table)));
        };
        let held = held.finish_cloned();
        let rows = held.iter().enumerate();
        Ok(rows
            .filter(|(_, text)| text.is_some_and(|text| texts.contains(text)))
            .map(|(row, _)| row)
            .collect())
    }

    /// The numbers of the rows that are the first with their values in these columns.
    fn firsts(&self, names: Vec<String>) -> PyResult<Vec<usize>> {
        let found = names.iter().map(|name| self.schema.index_of(name).map_err(value_error));
        let columns = found
            .map(|at| at.map(|at| &self.columns[at]))
            .collect::<PyResult<Vec<_>>>()?;
        let (mut keys, mut ends) = (Vec::new(), vec![0]);
        for row in 0..self.count {
            columns.iter().for_each(|column| column.key(row, &mut keys));
            ends.push(keys.len());
        }
        let mut seen = FxHashSet::with_capacity_and_hasher(self.count, FxBuildHasher);
        Ok((0..self.count)
            .filter(|row| seen.insert(&keys[ends[*row]..ends[row + 1]]))
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

impl Rows {
    /// A piece is added whole or not at all: what stands too far goes with all that was held before.
    fn whole(&mut self, added: PyResult<()>) -> PyResult<()> {
        if added.is_err() {
            self.columns.iter_mut().for_each(|column| {
                column.finish();
            });
            self.count = 0;
        }
        added
    }

    /// What is given for each column: a value, or a list of so many.
    fn given<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        values: &Bound<'py, PyDict>,
    ) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
        let found = self.names.iter().map(|name| values.get_item(name.bind(py)));
        let found = found.collect::<PyResult<Vec<_>>>()?;
        let mut lists = found.iter().flatten().filter_map(|value| value.cast::<PyList>().ok());
        lists.try_for_each(|list| fit(list.len(), count))?;
        Ok(found)
    }

    /// Which rows hold something in a column (a text that is empty holds nothing).
    fn hold(&self, known: &mut [bool], values: &Bound<'_, PyDict>, name: &str) -> PyResult<()> {
        let Some(list) = values.get_item(name)? else {
            return Err(PyValueError::new_err(format!("{}.{name} is not given", self.table)));
        };
        for (known, value) in known.iter_mut().zip(list.cast::<PyList>()?.iter()) {
            *known &= !value.is_none() && value.cast::<PyString>().map_or(Ok(true), |text| text.is_truthy())?;
        }
        Ok(())
    }

    fn append_figure(
        &mut self,
        figure: &ReportFigure,
        into: &str,
        given: &[Option<Bound<'_, PyAny>>],
        rows: &[usize],
        numbers: &[f64],
    ) -> PyResult<()> {
        for ((field, column), value) in self.schema.fields().iter().zip(&mut self.columns).zip(given) {
            match (figure.texts.get(field.name()), value) {
                _ if field.name() == into => column.numbers(numbers)?,
                (Some(text), _) => column.text(text, rows.len())?,
                (None, None) => column.nulls(rows.len()),
                (None, Some(value)) => match value.cast::<PyList>() {
                    Ok(each) => rows
                        .iter()
                        .try_for_each(|row| column.repeat(&each.get_item(*row)?, 1))?,
                    Err(_) => column.repeat(value, rows.len())?,
                },
            }
        }
        self.count += rows.len();
        Ok(())
    }

    fn append(&mut self, py: Python<'_>, count: usize, values: &Bound<'_, PyDict>) -> PyResult<()> {
        for (name, column) in self.names.iter().zip(&mut self.columns) {
            match values.get_item(name.bind(py))? {
                None => column.nulls(count),
                Some(value) => match value.cast::<PyList>() {
                    Ok(each) => each.iter().try_for_each(|value| column.repeat(&value, 1))?,
                    Err(_) => column.repeat(&value, count)?,
                },
            }
            if column.filled() != self.count + count {
                let wrong = column.filled() - self.count;
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
