//! Figures of sysstat and of the sar of other systems, from text or JSON into tables. See `doctord.read.sysstat`.
//!
//! Python hands down what sar's columns are (`vocabulary.rs`) and what it knows of the times (`local_time.rs`); the scanners
//! (`text.rs`, `lines.rs`, `json.rs`) hand the figures of each line to the tables (`tables.rs`), which make rows of them.

mod block;
mod derived;
mod grid;
mod interner;
mod json;
mod json_token;
mod lines;
mod local_time;
mod number;
mod stamp;
mod statistics;
mod tables;
mod text;
mod vocabulary;

use std::collections::HashMap;

use arrow_schema::ArrowError;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::batch::{Batch, value_error};
use crate::table::Layout;
use local_time::LocalTime;
use tables::{Limits, Tables};
use vocabulary::Activity;
pub use vocabulary::SarVocabulary;

/// Rows of statistics that wait before they are handed on.
const MANY_ROWS: usize = 50_000;

/// What the line tells with which the text of a report begins: `doctord.read.sysstat.scan.Header`.
#[derive(FromPyObject)]
struct Header {
    host: Option<String>,
    component: String,
    /// The day on which its times begin, since 1970.
    day: Option<i64>,
    /// Activities as this machine counts them.
    activities: Vec<Activity>,
}

type Done = Result<(), ArrowError>;

/// Reads a text piece by piece.
trait Scanner: Send + Sync {
    /// Takes the next piece, which ends where a line ends or the text does: all of it, or what comes before a line that
    /// begins a report; how many bytes.
    fn feed(&mut self, piece: &[u8], tables: &mut Tables) -> Result<usize, ArrowError>;

    /// A line that begins a report; only the text of sar has such.
    fn header(&mut self, _: Header, _: &mut Tables) {}

    /// The text has ended.
    fn finish(&mut self, _: &mut Tables) {}

    fn times(&mut self) -> &mut LocalTime;

    /// Whether all figures of a moment come together, so that rows need not wait for later ones.
    fn by_moment(&self) -> bool;
}

/// Makes rows of what sar or sadf printed. `form` is `text`, `lines` (sadf -d) or `json` (sadf -j).
#[pyclass(module = "doctord._native")]
pub struct SarScanner {
    scanner: Box<dyn Scanner>,
    tables: Tables,
}

#[pymethods]
impl SarScanner {
    #[new]
    fn new(
        form: &str,
        vocabulary: Py<SarVocabulary>,
        layouts: HashMap<String, Layout>,
        limits: Limits,
        offsets: Option<Vec<(i64, i64)>>,
        latest_s: i64,
    ) -> PyResult<Self> {
        let times = LocalTime::new(offsets.as_deref(), latest_s);
        let scanner: Box<dyn Scanner> = match form {
            "text" => Box::new(text::Text::new(vocabulary, times)),
            "lines" => Box::new(lines::Lines::new(vocabulary, times)),
            "json" => Box::new(json::Json::new(vocabulary, times)),
            other => return Err(PyValueError::new_err(format!("no form {other:?}"))),
        };
        let tables = Tables::new(&layouts, &limits).map_err(value_error)?;
        Ok(Self { scanner, tables })
    }

    /// A line that begins a report.
    fn header(&mut self, header: Header) {
        self.scanner.header(header, &mut self.tables);
    }

    /// Takes a piece from one of its bytes on; rows that are complete, and the byte at which a line stands that begins a
    /// report: the end where there is none.
    fn feed(&mut self, py: Python<'_>, piece: &[u8], begin: usize) -> PyResult<(Vec<Batch>, usize)> {
        let taken = py.detach(|| {
            let end = begin + self.scanner.feed(&piece[begin..], &mut self.tables)?;
            let rows = match (self.tables.waiting() > MANY_ROWS, self.scanner.by_moment()) {
                (false, _) => Vec::new(),
                (true, true) => self.tables.take_but_the_latest()?,
                (true, false) => self.tables.take_statistics()?,
            };
            Ok::<_, ArrowError>((rows, end))
        });
        taken.map_err(value_error)
    }

    /// The text has ended; the rows that are left.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Vec<Batch>> {
        let rows = py.detach(|| {
            self.scanner.finish(&mut self.tables);
            self.tables.take_all()
        });
        rows.map_err(value_error)
    }

    /// Lines that could not be used since the last call, and why.
    fn skipped(&mut self) -> Vec<(u64, String)> {
        std::mem::take(&mut self.tables.skipped)
    }

    /// What was assumed since the last call: a day (since 1970), and whether local times were taken for UTC.
    fn assumed(&mut self) -> (Option<i64>, bool) {
        let times = self.scanner.times();
        (times.assumed_day.take(), std::mem::take(&mut times.is_utc_assumed))
    }
}
