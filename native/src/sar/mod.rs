//! Figures of sysstat and of the sar of other systems, from text or JSON into tables. See `doctord.read.sysstat`.
//!
//! Python says what the columns under a heading are (`block.rs`), once for each heading; the scanners (`text.rs`,
//! `lines.rs`, `json.rs`) hand the figures of each line to the sheet (`sheet.rs`), which makes rows of them.

mod block;
mod derived;
mod grid;
mod interner;
mod json;
mod json_token;
mod lines;
mod number;
mod sheet;
mod stamp;
mod statistics;
mod text;
mod words;

use std::collections::HashMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::batch::Batch;
use crate::table::Layout;
use sheet::Sheet;
use words::Words;

/// Rows of statistics that wait before they are handed on.
const MANY_ROWS: usize = 50_000;

/// Reads a text piece by piece.
trait Scanner: Send + Sync {
    /// Takes the next piece; it ends where a line ends, or where the text does.
    fn feed(&mut self, piece: &[u8], sheet: &mut Sheet) -> PyResult<()>;

    /// The text has ended.
    fn finish(&mut self, sheet: &mut Sheet) -> PyResult<()>;

    /// Whether all figures of a moment come together, so that rows need not wait for later ones.
    fn by_moment(&self) -> bool;
}

/// Makes rows of what sar or sadf printed. `form` is `text`, `lines` (sadf -d) or `json` (sadf -j).
#[pyclass(module = "doctord._native")]
pub struct SarScanner {
    scanner: Box<dyn Scanner>,
    sheet: Sheet,
}

#[pymethods]
impl SarScanner {
    #[new]
    fn new(form: &str, words: Py<PyAny>, layouts: HashMap<String, Layout>) -> PyResult<Self> {
        let words = Words::new(words);
        let scanner: Box<dyn Scanner> = match form {
            "text" => Box::new(text::Text::new(words)),
            "lines" => Box::new(lines::Lines::new(words)),
            "json" => Box::new(json::Json::new(words)),
            other => return Err(PyValueError::new_err(format!("no form {other:?}"))),
        };
        let sheet = Sheet::new(&layouts).map_err(crate::batch::value_error)?;
        Ok(Self { scanner, sheet })
    }

    /// Takes the next piece; rows that are complete.
    fn feed(&mut self, py: Python<'_>, piece: &[u8]) -> PyResult<Vec<Batch>> {
        py.detach(|| {
            self.scanner.feed(piece, &mut self.sheet)?;
            match (self.sheet.waiting() > MANY_ROWS, self.scanner.by_moment()) {
                (false, _) => Ok(Vec::new()),
                (true, true) => self.sheet.take_but_the_latest(),
                (true, false) => self.sheet.take_statistics(),
            }
        })
    }

    /// The text has ended; the rows that are left.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Vec<Batch>> {
        py.detach(|| {
            self.scanner.finish(&mut self.sheet)?;
            self.sheet.take_all()
        })
    }

    /// Lines that could not be used since the last call, and why.
    fn skipped(&mut self) -> Vec<(u64, String)> {
        std::mem::take(&mut self.sheet.skipped)
    }
}
