//! Call traces: the crate `calltrace` as one function. See `doctord.read.tracing.calltrace`.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ::calltrace::analyse::{Problem, Request, analyse};
use ::calltrace::detect::{Detected, detect};
use ::calltrace::document::Trace;
use ::calltrace::names;
use ::calltrace::part::{Part, Told, Value};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

const WATCHED_EVERY: Duration = Duration::from_millis(50);

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

/// The parts of what `analyse_trace` returns, those that others need first: name, meaning, and of each key the name, the
/// type in Python's words and the meaning.
#[pyfunction]
#[allow(clippy::type_complexity)] // a table of words
pub fn trace_parts() -> Vec<(&'static str, &'static str, Vec<(&'static str, String, &'static str)>)> {
    let mut parts: Vec<Part> = Vec::new();
    Trace::parts(&mut parts);
    let row = |part: Part| {
        let keys = part.keys.into_iter().map(|key| (key.name, key.kind, key.meaning));
        (part.name, part.about, keys.collect())
    };
    parts.into_iter().map(row).collect()
}

/// Analyse the files of one trace. `watch` is called with the bytes read so far, some twenty times a second.
#[pyfunction]
#[pyo3(signature = (paths, *, threads=2, most_detail=None, stacks=false, watch=None))]
pub fn analyse_trace<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    threads: usize,
    most_detail: Option<u64>,
    stacks: bool,
    watch: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let request = Request {
        paths,
        threads,
        most_detail,
        stacks,
    };
    let mut interrupted = None;
    let mut watched = Instant::now();
    let done = py.detach(|| {
        analyse(&request, &mut |bytes| {
            // Asking for Python at each chunk would wait for whatever else it does meanwhile.
            if bytes > 0 && watched.elapsed() < WATCHED_EVERY {
                return Ok(());
            }
            watched = Instant::now();
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
        (Ok(trace), None) => object(py, trace.told()),
        (Err(Problem::Io(path, error)), None) => Err(PyOSError::new_err((
            error.raw_os_error(),
            error.to_string(),
            path.display().to_string(),
        ))),
        (Err(Problem::Refused { message, hint }), None) => Err(PyValueError::new_err((message, hint))),
    }
}

/// A value as Python's own.
fn object(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Truth(truth) => truth.into_bound_py_any(py),
        Value::Integer(number) => number.into_bound_py_any(py),
        Value::Number(number) => number.into_bound_py_any(py),
        Value::Text(text) => text.into_bound_py_any(py),
        Value::List(values) => {
            let objects = values.into_iter().map(|value| object(py, value));
            Ok(PyList::new(py, objects.collect::<PyResult<Vec<_>>>()?)?.into_any())
        }
        Value::Keyed(values) => {
            let dict = PyDict::new(py);
            for (key, value) in values {
                dict.set_item(key, object(py, value)?)?;
            }
            Ok(dict.into_any())
        }
    }
}
