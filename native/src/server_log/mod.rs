//! Logs of database servers, summed up by the minute: see `doctord.read.server_log`.
//!
//! Text comes in chunks. What may go on in the next chunk is held back; the rest is cut where messages begin, one part
//! for each thread. Every thread keeps sums of its own until the rows are asked for: the sums are of whole numbers, so
//! that the rows do not depend on where the cuts were.

mod csvlog;
mod entry;
mod figures;
mod jsonlog;
mod lines;
mod messages;
mod moment;
mod mysql;
mod prefix;
mod prefixes;
mod report;
mod stderr;
mod syslog;
mod tally;
mod text;
mod told;
mod writing;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::thread;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use self::lines::Part;
use self::prefix::Patterns;
use self::report::Local;
use self::tally::Tally;
use self::told::Told;
use crate::batch::{Batch, value_error};
use crate::sheet::Layouts;

/// A message longer than this is cut: no server writes such.
const LONGEST_MESSAGE: usize = 1 << 26;
/// Less than this is not worth a second thread.
const SMALLEST_PART: usize = 1 << 16;

/// How a log is written.
enum Form {
    Stderr(Patterns),
    Syslog(Patterns, syslog::Header),
    Csv,
    Json,
    MySqlSlow,
    MySqlError,
}

impl Form {
    fn of(name: &str, head: &[u8], latest: (i64, i64)) -> Option<Self> {
        Some(match name {
            "stderr" => Self::Stderr(stderr::patterns(head)),
            "syslog" => {
                let header = syslog::Header::of(head, latest);
                Self::Syslog(stderr::patterns(&header.plain(head)), header)
            }
            "csvlog" => Self::Csv,
            "jsonlog" => Self::Json,
            "mysql slow" => Self::MySqlSlow,
            "mysql error" => Self::MySqlError,
            _ => return None,
        })
    }

    fn is_start(&self, line: &[u8]) -> bool {
        match self {
            Self::Stderr(_) => stderr::is_start(line),
            Self::Syslog(..) => true,
            Self::Csv => csvlog::is_start(line),
            Self::Json => line.first() == Some(&b'{'),
            Self::MySqlSlow => mysql::slow::is_start(line),
            Self::MySqlError => mysql::error::is_start(line),
        }
    }

    fn read(&self, bytes: &[u8], part: &mut Part) {
        match self {
            Self::Stderr(patterns) => stderr::read(bytes, patterns, part),
            Self::Syslog(patterns, header) => syslog::read(bytes, header, patterns, part),
            Self::Csv => csvlog::read(bytes, part),
            Self::Json => jsonlog::read(bytes, part),
            Self::MySqlSlow => mysql::slow::read(bytes, part),
            Self::MySqlError => mysql::error::read(bytes, part),
        }
    }
}

/// The severities of PostgreSQL's messages in the languages that the server writes, but the English ones: all, or those
/// that mean one of the English.
#[pyfunction]
#[pyo3(signature = (of=None))]
pub fn foreign_severities(of: Option<&str>) -> Vec<&'static str> {
    messages::languages::severities(of).collect()
}

/// What a client was told, in English where a server in another language turned it away; else null.
#[pyfunction]
pub fn refusal_in_english(text: &str) -> Option<String> {
    messages::refusals::in_english(text)
}

#[pyclass(module = "doctord._native")]
pub struct ServerLog {
    form: Form,
    parts: Vec<Part>,
    pending: Vec<u8>,
    lines: u64,
    /// Bytes read so far.
    place: u64,
    skipped: Vec<(u64, String)>,
    is_cut: bool,
}

#[pymethods]
impl ServerLog {
    #[new]
    #[pyo3(signature = (form, head, *, threads=2, latest=(1970, 12), prefix=None))]
    fn new(form: &str, head: &[u8], threads: usize, latest: (i64, i64), prefix: Option<&str>) -> PyResult<Self> {
        let set = prefix.map(|prefix| Form::Stderr(Patterns::set(prefix)));
        let found = set
            .filter(|_| form == "stderr")
            .or_else(|| Form::of(form, head, latest));
        let form = found.ok_or_else(|| PyValueError::new_err(format!("no form of a log: {form}")))?;
        // In syslog a message may lie anywhere among others: one thread gathers them.
        let threads = if matches!(form, Form::Syslog(..)) { 1 } else { threads };
        Ok(Self {
            form,
            parts: (0..threads.max(1)).map(|_| Part::default()).collect(),
            pending: Vec::new(),
            lines: 0,
            place: 0,
            skipped: Vec::new(),
            is_cut: false,
        })
    }

    /// The server itself said what its prefix is, where it was found out from lines so far.
    fn set_prefix(&mut self, prefix: &str) {
        if let Form::Stderr(patterns) = &mut self.form {
            *patterns = Patterns::set(prefix);
        }
    }

    /// Takes the next piece of the log.
    fn add(&mut self, py: Python<'_>, chunk: &[u8]) {
        py.detach(|| self.take(chunk));
    }

    /// What was said since the last call, whatever its times: how often each error came, by its name; how many sessions
    /// were refused; readings; and what happened, each with its kind. `is_all`: nothing follows the last message so far.
    fn told(&mut self, py: Python<'_>, is_all: bool) -> Told {
        py.detach(|| {
            if is_all {
                self.end();
            }
            self.skipped.clear();
            told::of(self.parts.iter_mut().map(|part| std::mem::take(&mut part.tally)))
        })
    }

    /// The log has ended: zones and beginnings of the quarters of an hour in which something was, but for those in UTC.
    fn quarters(&mut self, py: Python<'_>) -> BTreeSet<Local> {
        py.detach(|| self.end());
        report::quarters(&self.tallies())
    }

    /// Whether no line tells a time: sums of the whole, and no rates.
    #[getter]
    fn is_untimed(&self) -> bool {
        matches!(&self.form, Form::Stderr(patterns) if patterns.is_untimed)
    }

    /// The rows of all that was added. `placed` are the moments in UTC of its `quarters`; `untimed_us` is that of all of
    /// it, where it tells none.
    #[pyo3(signature = (component, db, host, layouts, placed, untimed_us=None))]
    fn rows(
        &mut self,
        component: String,
        db: String,
        host: Option<String>,
        layouts: Layouts,
        placed: HashMap<Local, i64>,
        untimed_us: Option<i64>,
    ) -> PyResult<Vec<Batch>> {
        let server = writing::Server {
            component,
            db,
            host,
            layouts,
        };
        report::rows(&self.tallies(), &server, placed, untimed_us).map_err(value_error)
    }

    /// Lines that were of no use, and why: some of each part.
    #[getter]
    fn skipped(&self) -> Vec<(u64, String)> {
        self.skipped.clone()
    }

    #[getter]
    fn skipped_lines(&self) -> u64 {
        self.parts.iter().map(|part| part.skipped_lines).sum()
    }

    /// Whether the last line was cut off, and left out.
    #[getter]
    fn is_cut(&self) -> bool {
        self.is_cut
    }
}

impl ServerLog {
    fn tallies(&self) -> Vec<&Tally> {
        self.parts.iter().map(|part| &part.tally).collect()
    }

    fn take(&mut self, chunk: &[u8]) {
        self.pending.extend_from_slice(chunk);
        let whole = self.last_start();
        let rest = self.pending.split_off(whole);
        let bytes = std::mem::replace(&mut self.pending, rest);
        self.read(&bytes);
    }

    fn end(&mut self) {
        let mut bytes = std::mem::take(&mut self.pending);
        let end = memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1);
        if end < bytes.len() {
            self.is_cut = true;
            bytes.truncate(end);
        }
        self.read(&bytes);
        if let Form::Syslog(patterns, _) = &self.form {
            syslog::end(patterns, &mut self.parts[0]);
        }
    }

    /// Where the last message begins; all is taken where none begins for long.
    fn last_start(&self) -> usize {
        let bytes = &self.pending;
        let mut end = memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1);
        while end > 0 {
            let begin = memchr::memrchr(b'\n', &bytes[..end - 1]).map_or(0, |before| before + 1);
            if self.form.is_start(&bytes[begin..end]) {
                return begin;
            }
            end = begin;
        }
        if bytes.len() > LONGEST_MESSAGE { bytes.len() } else { 0 }
    }

    /// Reads whole messages, each thread that may be started a part of them after the other.
    fn read(&mut self, bytes: &[u8]) {
        let cuts = self.cuts(bytes);
        for (part, begin) in self.parts.iter_mut().zip(&cuts) {
            part.tally.place = self.place + *begin as u64;
        }
        self.place += bytes.len() as u64;
        let form = &self.form;
        let pieces = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).zip(&mut self.parts);
        let pieces = Mutex::new(pieces);
        let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            while let Some((piece, part)) = next() {
                form.read(piece, part);
            }
        };
        thread::scope(|scope| {
            for _ in 2..cuts.len() {
                let _ = thread::Builder::new().spawn_scoped(scope, work); // where none may be started, this one does it all
            }
            work();
        });
        for part in &mut self.parts {
            let before = self.lines;
            let named = part
                .skipped
                .drain(..)
                .map(|(line, reason)| (before + line, reason.to_string()));
            self.skipped.extend(named);
            self.lines += std::mem::take(&mut part.lines);
        }
    }

    fn cuts(&self, bytes: &[u8]) -> Vec<usize> {
        let number = self.parts.len().min(bytes.len() / SMALLEST_PART).max(1);
        let mut cuts = vec![0];
        for part in 1..number {
            let from = bytes.len() * part / number;
            cuts.push(self.next_start(bytes, from).max(cuts[part - 1]));
        }
        cuts.push(bytes.len());
        cuts
    }

    /// Where the next message after a place begins.
    fn next_start(&self, bytes: &[u8], from: usize) -> usize {
        let line = memchr::memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |end| from + end + 1);
        let starts = lines::of(&bytes[line..]).find(|(_, text)| self.form.is_start(text));
        starts.map_or(bytes.len(), |(begin, _)| line + begin)
    }
}
