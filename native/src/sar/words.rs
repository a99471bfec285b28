//! What Python says of headings, header lines and times.

use pyo3::prelude::*;

use super::block::{GivenBlock, GivenFigure};

/// Python's side: `doctord.read.sysstat.vocabulary.Vocabulary`.
pub struct Words {
    words: Py<PyAny>,
}

/// Host, where its figures come from, and the day on which its times begin (days since 1970-01-01).
pub type Header = (Option<String>, String, Option<i64>);

/// What a key of sadf's JSON is: whether it names what a line is about, and the figure that it is.
pub type Field = (bool, Option<GivenFigure>);

impl Words {
    pub fn new(words: Py<PyAny>) -> Self {
        Self { words }
    }

    pub fn header(&self, line: &str) -> PyResult<Header> {
        Python::attach(|py| self.words.call_method1(py, "header", (line,))?.extract(py))
    }

    /// The day of a first time of day where no header told it.
    pub fn day(&self, second: i64) -> PyResult<i64> {
        Python::attach(|py| self.words.call_method1(py, "day", (second,))?.extract(py))
    }

    /// The moment (microseconds since 1970 in UTC) of a local time, given as if it were UTC; `again`: of the hour that
    /// comes twice, the later one.
    pub fn place(&self, local_s: i64, again: bool) -> PyResult<i64> {
        Python::attach(|py| self.words.call_method1(py, "place", (local_s, again))?.extract(py))
    }

    /// The columns of a heading; nothing when it is none that sar prints.
    pub fn heading(&self, columns: &[&str]) -> PyResult<Option<GivenBlock>> {
        Python::attach(|py| self.words.call_method1(py, "heading", (columns.to_vec(),))?.extract(py))
    }

    /// A section of sadf's JSON; nothing when it only holds others.
    pub fn section(&self, name: &str) -> PyResult<Option<GivenBlock>> {
        Python::attach(|py| self.words.call_method1(py, "section", (name,))?.extract(py))
    }

    /// A key in a section.
    pub fn field(&self, section: &str, key: &str) -> PyResult<Field> {
        Python::attach(|py| self.words.call_method1(py, "field", (section, key))?.extract(py))
    }
}
