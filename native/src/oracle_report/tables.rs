//! `ReportTable`: a table of a report, whatever the report is written in. Scanners (`html`, `text`)
//! fill a `Draft` with its cells; Python takes columns out of the table, as texts, numbers, times or counts.
//!
//! Cells are kept as one text with their ends, so that a table of a hundred thousand cells is three allocations, and
//! tables cut out of it (`select`, `only`) share them.

use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use rustc_hash::FxHashMap;

use super::figures::{share, vote};
use super::reading::Reading;

// No report has more columns; a broken one may have a million cells in a row.
const MOST_COLUMNS: usize = 512;

/// What a scanner fills: everything about a table but what is decided from the whole report.
#[derive(Default)]
pub struct Draft {
    pub title: String,
    pub summary: String,
    pub above: Vec<String>,
    pub line: usize,
    pub names: Vec<String>,
    text: String,
    ends: Vec<usize>,
    rows: Vec<usize>,
}

impl Draft {
    /// A table below a heading and these paragraphs, without anything in it yet.
    pub fn new(title: String, above: Vec<String>, line: usize) -> Self {
        Self {
            title,
            above,
            line,
            ..Self::default()
        }
    }

    /// Add a cell to the row.
    pub fn cell(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    /// End the row. One without anything in it is not kept.
    pub fn end_row(&mut self) {
        let begin = self.rows.last().copied().unwrap_or(0);
        let last = self.ends.len();
        if last > begin && self.start(begin) < self.text.len() {
            self.rows.push(last);
        } else {
            self.ends.truncate(begin);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn start(&self, cell: usize) -> usize {
        if cell == 0 { 0 } else { self.ends[cell - 1] }
    }

    fn get(&self, row: usize, column: usize) -> &str {
        let begin = if row == 0 { 0 } else { self.rows[row - 1] };
        let cell = begin + column;
        if cell < self.rows[row] {
            &self.text[self.start(cell)..self.ends[cell]]
        } else {
            ""
        }
    }

    fn width(&self) -> usize {
        let mut begin = 0;
        let widths = self.rows.iter().map(|&end| end - std::mem::replace(&mut begin, end));
        widths.max().unwrap_or(0).max(self.names.len()).min(MOST_COLUMNS)
    }

    fn votes(&self) -> i32 {
        let cells = (0..self.ends.len()).map(|cell| vote(&self.text[self.start(cell)..self.ends[cell]]));
        cells.sum()
    }
}

/// The tables of a report; whether its decimals have a comma is decided from all its figures.
pub fn finish(drafts: Vec<Draft>) -> Vec<ReportTable> {
    let comma = drafts.iter().map(Draft::votes).sum::<i32>() > 0;
    drafts.into_iter().map(|draft| ReportTable::new(draft, comma)).collect()
}

/// See `doctord._native.ReportTable`.
#[pyclass(frozen, module = "doctord._native")]
pub struct ReportTable {
    draft: Arc<Draft>,
    comma: bool,
    names: Vec<String>,
    /// The same for Python, once it asked for them.
    told: PyOnceLock<Py<PyTuple>>,
    keys: Vec<String>,
    columns: Vec<usize>,
    rows: Vec<usize>,
}

impl ReportTable {
    fn new(draft: Draft, comma: bool) -> Self {
        let columns: Vec<usize> = (0..draft.width()).collect();
        let names: Vec<String> = columns
            .iter()
            .map(|&column| draft.names.get(column).cloned().unwrap_or_default())
            .collect();
        Self {
            rows: (0..draft.rows.len()).collect(),
            draft: Arc::new(draft),
            comma,
            keys: keys(&names),
            told: PyOnceLock::new(),
            names,
            columns,
        }
    }

    /// The numbers of a column; nothing where a cell holds none.
    pub fn read(&self, column: usize, reading: Reading) -> PyResult<impl Iterator<Item = Option<f64>>> {
        let cells = self.column(column)?;
        Ok(cells.map(move |cell| reading.of(cell, self.comma)))
    }

    fn column(&self, column: usize) -> PyResult<impl Iterator<Item = &str>> {
        let Some(&inner) = self.columns.get(column) else {
            return Err(PyIndexError::new_err(format!(
                "{:?} has no column {column}",
                self.draft.title
            )));
        };
        Ok(self.rows.iter().map(move |&row| self.draft.get(row, inner)))
    }
}

/// A name as it is compared: without blanks, in small letters, and told from one before that reads the same.
fn keys(names: &[String]) -> Vec<String> {
    let mut seen = FxHashMap::<String, usize>::default();
    let numbered = names.iter().map(|name| {
        let key = key(name);
        let count = seen.entry(key.clone()).or_default();
        *count += 1;
        if *count == 1 { key } else { format!("{key}#{count}") }
    });
    numbered.collect()
}

fn key(name: &str) -> String {
    if name.is_ascii() {
        let letters = name.bytes().filter(|letter| !letter.is_ascii_whitespace());
        return letters.map(|letter| letter.to_ascii_lowercase() as char).collect();
    }
    name.chars()
        .filter(|letter| !letter.is_whitespace())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether this is the key of a name, without making it.
fn is_key(name: &str, key: &str) -> bool {
    if !name.is_ascii() {
        return self::key(name) == key;
    }
    let letters = name.bytes().filter(|letter| !letter.is_ascii_whitespace());
    letters.map(|letter| letter.to_ascii_lowercase()).eq(key.bytes())
}

#[pymethods]
impl ReportTable {
    #[staticmethod]
    #[pyo3(signature = (title, names, rows, above=Vec::new(), *, comma=false))]
    fn made(title: String, names: Vec<String>, rows: Vec<Vec<String>>, above: Vec<String>, comma: bool) -> Self {
        let mut draft = Draft::new(title, above, 0);
        draft.names = names;
        for row in &rows {
            row.iter().for_each(|cell| draft.cell(cell));
            draft.end_row();
        }
        Self::new(draft, comma)
    }

    #[getter]
    fn title(&self) -> &str {
        &self.draft.title
    }

    #[getter]
    fn summary(&self) -> &str {
        &self.draft.summary
    }

    #[getter]
    fn above(&self) -> Vec<String> {
        self.draft.above.clone()
    }

    #[getter]
    fn line(&self) -> usize {
        self.draft.line
    }

    #[getter]
    fn names(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        let told = self
            .told
            .get_or_try_init(py, || PyTuple::new(py, &self.names).map(Bound::unbind))?;
        Ok(told.clone_ref(py))
    }

    pub fn __len__(&self) -> usize {
        self.rows.len()
    }

    #[pyo3(signature = (*aliases))]
    fn find(&self, aliases: Vec<PyBackedStr>) -> Option<usize> {
        let mut aliases = aliases.iter();
        aliases.find_map(|alias| self.keys.iter().position(|key| is_key(alias, key)))
    }

    fn texts(&self, column: usize) -> PyResult<Vec<Option<&str>>> {
        Ok(self
            .column(column)?
            .map(|cell| Some(cell).filter(|cell| !cell.is_empty()))
            .collect())
    }

    #[pyo3(signature = (column, *, kilo=1000.0, by=1.0, over=1.0))]
    fn numbers(&self, column: usize, kilo: f64, by: f64, over: f64) -> PyResult<Vec<Option<f64>>> {
        let numbers = self.read(column, Reading::Number { kilo, by })?;
        Ok(numbers.map(|number| number.map(|number| number / over)).collect())
    }

    #[pyo3(signature = (column, *, bare="s", to="s", over=1.0))]
    fn times(&self, column: usize, bare: &str, to: &str, over: f64) -> PyResult<Vec<Option<f64>>> {
        let times = self.read(column, Reading::time(bare, to)?)?;
        Ok(times.map(|time| time.map(|time| time / over)).collect())
    }

    fn counts(&self, column: usize, totals: Vec<Option<f64>>) -> PyResult<Vec<Option<i64>>> {
        let cells = self.column(column)?.zip(totals);
        Ok(cells
            .map(|(cell, total)| share(cell, self.comma, total.unwrap_or(0.0)))
            .collect())
    }

    fn select(&self, columns: Vec<usize>, names: Vec<String>) -> PyResult<Self> {
        let inner = columns.iter().map(|&column| {
            let found = self.columns.get(column).copied();
            found.ok_or_else(|| PyIndexError::new_err(format!("{:?} has no column {column}", self.draft.title)))
        });
        let columns = inner.collect::<PyResult<Vec<_>>>()?;
        if names.len() != columns.len() {
            return Err(PyValueError::new_err("a name for each column, please"));
        }
        Ok(Self {
            draft: self.draft.clone(),
            comma: self.comma,
            keys: keys(&names),
            told: PyOnceLock::new(),
            names,
            columns,
            rows: self.rows.clone(),
        })
    }

    fn only(&self, rows: Vec<usize>) -> PyResult<Self> {
        let inner = rows.iter().map(|&row| {
            let found = self.rows.get(row).copied();
            found.ok_or_else(|| PyIndexError::new_err(format!("{:?} has no row {row}", self.draft.title)))
        });
        Ok(Self {
            rows: inner.collect::<PyResult<_>>()?,
            draft: self.draft.clone(),
            comma: self.comma,
            names: self.names.clone(),
            told: PyOnceLock::new(),
            keys: self.keys.clone(),
            columns: self.columns.clone(),
        })
    }
}
