//! Call traces: the crate `calltrace` as one function. See `doctord.read.calltrace`.

use std::io;
use std::path::PathBuf;

use ::calltrace::analyse::{Problem, Request, analyse};
use ::calltrace::detect::{Detected, detect};
use ::calltrace::names;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// What a system call does, in the document's word: `read`, `poll`, `fork`...
#[pyfunction]
pub fn call_class(name: &str) -> &'static str {
    names::class(names::index(name.as_bytes())).words()
}

/// What the beginning of a file shows: `calls` one by one, a `summary` of them by call, or neither.
#[pyfunction]
pub fn trace_kind(head: &str) -> Option<&'static str> {
    match detect(head.as_bytes()) {
        Detected::Trace(_) => Some("calls"),
        Detected::Summary(_) => Some("summary"),
        _ => None,
    }
}

/// Analyse the files of one trace; the document as JSON. `watch` is called with the bytes read so far.
#[pyfunction]
#[pyo3(signature = (paths, *, threads=2, most_detail=None, stacks=false, watch=None))]
pub fn analyse_trace<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    threads: usize,
    most_detail: Option<u64>,
    stacks: bool,
    watch: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let request = Request {
        paths,
        threads,
        most_detail,
        stacks,
    };
    let mut interrupted = None;
    let done = py.detach(|| {
        analyse(&request, &mut |bytes| {
            let told = Python::attach(|py| {
                py.check_signals()?;
                watch
                    .as_ref()
                    .map_or(Ok(()), |watch| watch.call1(py, (bytes,)).map(drop))
            });
            told.map_err(|error| {
                interrupted = Some(error);
                io::Error::from(io::ErrorKind::Interrupted)
            })
        })
    });
    match (done, interrupted) {
        (_, Some(error)) => Err(error),
        (Ok(document), None) => Ok(PyBytes::new(py, &document.to_json())),
        (Err(Problem::Io(path, error)), None) => Err(PyOSError::new_err((
            error.raw_os_error(),
            error.to_string(),
            path.display().to_string(),
        ))),
        (Err(Problem::Refused { message, hint }), None) => Err(PyValueError::new_err((message, hint))),
    }
}
