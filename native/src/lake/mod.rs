//! The lake's native side: segments that survive a crash, their sealing into Parquet, and the checksums of that.

pub mod checks;
mod column_chunk;
pub mod precision;
pub mod seal;
pub mod segment;

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use parquet::errors::ParquetError;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::concat_batches;
use crate::batch::{Batch, value_error};

/// Offset, reason (`torn`, `damaged`) and length in bytes of a part that could not be read.
type Trouble = (u64, &'static str, u64);

fn troubles(problems: Vec<segment::Problem>) -> Vec<Trouble> {
    problems.into_iter().map(|p| (p.offset, p.reason, p.bytes)).collect()
}

/// An error of the operating system keeps its number, as Python's own do.
pub fn python_error(error: std::io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(number) => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_string();
            PyOSError::new_err((number, text))
        }
        None => value_error(error),
    }
}

fn parquet_error(error: ParquetError) -> PyErr {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(io) => python_error(*io),
            Err(other) => PyValueError::new_err(other.to_string()),
        },
        other => value_error(other),
    }
}

/// Gives memory that was freed back to the system: rows live for seconds, and the C library would keep their room.
#[pyfunction]
pub fn give_back_memory(py: Python<'_>) {
    py.detach(trim);
}

fn trim() {
    // SAFETY: malloc_trim has no preconditions.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0)
    };
}

#[pyclass(frozen, module = "doctord._native")]
pub struct SegmentWriter(segment::SegmentWriter);

#[pymethods]
impl SegmentWriter {
    #[new]
    fn new(path: PathBuf) -> Self {
        Self(segment::SegmentWriter::new(path))
    }

    fn append(&self, batch: &Batch) -> PyResult<usize> {
        self.0.append(&batch.table, &batch.rows).map_err(value_error)
    }

    fn sync(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.0.sync()).map_err(python_error)
    }
}

fn other(error: ArrowError) -> std::io::Error {
    std::io::Error::other(error.to_string())
}

#[pyfunction]
#[pyo3(signature = (path, tables=None))]
pub fn read_segment(
    py: Python<'_>,
    path: PathBuf,
    tables: Option<Vec<String>>,
) -> PyResult<(Vec<Batch>, Vec<Trouble>)> {
    let wanted = |frame: &segment::Frame| tables.as_ref().is_none_or(|names| names.contains(&frame.table));
    py.detach(|| {
        let file = segment::open_file(&path)?;
        let (frames, problems) = segment::scan(&file)?;
        let mut parts: Vec<(String, Vec<RecordBatch>)> = Vec::new();
        for frame in frames.iter().filter(|frame| wanted(frame)) {
            let rows = segment::decode(&segment::payload(&file, frame)?, None).map_err(other)?;
            let is_its =
                |part: &&mut (String, Vec<RecordBatch>)| part.0 == frame.table && part.1[0].schema() == rows.schema();
            match parts.iter_mut().find(is_its) {
                Some(part) => part.1.push(rows),
                None => parts.push((frame.table.clone(), vec![rows])),
            }
        }
        let batches = parts
            .into_iter()
            .map(|(table, rows)| concat_batches(&rows).map(|rows| Batch { table, rows }).map_err(other))
            .collect::<std::io::Result<Vec<_>>>()?;
        Ok((batches, troubles(problems)))
    })
    .map_err(python_error)
}

#[pyfunction]
pub fn seal_segment(
    py: Python<'_>,
    segment: PathBuf,
    sealed: PathBuf,
    day: &str,
    entities: HashMap<String, Vec<String>>,
) -> PyResult<(Vec<PathBuf>, Vec<Trouble>)> {
    let outcome = py.detach(|| {
        let outcome = seal::seal(&segment, &sealed, day, &entities);
        trim();
        outcome
    });
    outcome
        .map(|(files, problems)| (files, troubles(problems)))
        .map_err(parquet_error)
}

/// Times of the first and the last row (microseconds), and the rows of each row group.
type Checked = (Option<(i64, i64)>, Vec<u32>);

#[pyfunction]
pub fn read_checks(py: Python<'_>, path: PathBuf) -> PyResult<Option<Checked>> {
    let checks = py.detach(|| checks::read(&segment::open_file(&path)?));
    Ok(checks.map_err(python_error)?.map(|checks| (checks.span, checks.rows())))
}

#[pyfunction]
pub fn damaged_row_groups(py: Python<'_>, path: PathBuf) -> PyResult<Vec<usize>> {
    py.detach(|| {
        let file = segment::open_file(&path)?;
        checks::read(&file)?.map_or(Ok(Vec::new()), |checks| checks.damaged(&file))
    })
    .map_err(python_error)
}

#[pyfunction]
pub fn add_checks(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    py.detach(|| checks::add(&File::options().read(true).write(true).open(path)?))
        .map_err(parquet_error)
}
