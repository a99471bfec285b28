//! Oracle's extended SQL traces (event 10046), summed up as they are read: see `doctord.read.oracle.logs.trace_10046`.

mod clock;
mod line;
mod sums;

use memchr::memchr_iter;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustc_hash::FxHashMap;

use self::clock::Clock;
use self::line::{Line, parse};
use self::sums::{Executed, Sums};

/// Latencies are kept by columns of a second.
const COLUMN_US: i64 = 1_000_000;
/// After a silence of more columns than this, or a step back so far, a new group of latencies begins.
const MOST_SILENT_COLUMNS: i64 = 600;
/// A group has no more columns than these.
const MOST_COLUMNS: i64 = 100_000;
const LATEST_US: i64 = 1 << 60;
const LONGEST_US: u64 = 1 << 50;
/// A statement's text is kept up to here.
const LONGEST_TEXT: usize = 1 << 16;

const NO_EVENT: &str = "a wait without its event or its time";
const NO_TIME: &str = "a wait before any time of day is known";
const CUT_OFF: &str = "the file ends within this line";
const NO_MOMENT: &str = "a time that cannot be one";

/// Waits of one event: when each ended (microseconds), and how long it took (nanoseconds), 64-bit integers in a row.
type Latencies = (String, Py<PyBytes>, Py<PyBytes>);
/// End of the last column that is complete, and the waits by event.
type Group = (i64, Vec<Latencies>);

/// Figures by name.
type Figures = FxHashMap<&'static str, u64>;

/// Names by number, in the order in which they came.
#[derive(Default)]
struct Names {
    numbers: FxHashMap<Box<[u8]>, u32>,
    names: Vec<String>,
}

impl Names {
    fn number(&mut self, name: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.numbers.insert(name.into(), number);
        self.names.push(String::from_utf8_lossy(name).into_owned());
        number
    }
}

#[derive(Default)]
struct Held {
    times: Vec<i64>,
    latencies: Vec<i64>,
}

/// Something that happened: when, its kind, an error's code, and a name: of the statement, module or action.
type Happened = (i64, &'static str, Option<u32>, Option<String>);

#[pyclass(module = "doctord._native")]
pub struct SqlTrace {
    clock: Clock,
    last_us: Option<i64>,
    lines: u64,
    events: Names,
    statements: Names,
    texts: Vec<Option<String>>,
    cursors: FxHashMap<i64, u32>,
    /// The statement whose text is being read.
    open_text: Option<(u32, Vec<u8>)>,
    sums: Sums,
    newest_end_us: i64,
    held: FxHashMap<u32, Held>,
    groups: Vec<(i64, FxHashMap<u32, Held>)>,
    /// When the first of the held ended.
    held_from_us: i64,
    happened: Vec<Happened>,
    /// Modules and actions that were set since the last line that told the time.
    named: Vec<(&'static str, String)>,
    skipped: Vec<(u64, &'static str)>,
}

#[pymethods]
impl SqlTrace {
    /// Nothing is read yet. Times of traces before 9i are in units of 10,000 microseconds, later ones of 1.
    #[new]
    fn new(unit_us: u32) -> Self {
        Self {
            clock: Clock::new(unit_us),
            last_us: None,
            lines: 0,
            events: Names::default(),
            statements: Names::default(),
            texts: Vec::new(),
            cursors: FxHashMap::default(),
            open_text: None,
            sums: Sums {
                unit_us: u64::from(unit_us),
                ..Sums::default()
            },
            newest_end_us: -LATEST_US,
            held: FxHashMap::default(),
            groups: Vec::new(),
            held_from_us: 0,
            happened: Vec::new(),
            named: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// Takes whole lines. `stamp` is called with the number and the text of each line that begins with `***`, and says
    /// what time of day it is, and whether its zone is known. The latencies of the columns that are complete by now.
    fn take(&mut self, py: Python<'_>, chunk: &[u8], stamp: Py<PyAny>) -> PyResult<Vec<Group>> {
        py.detach(|| self.read(chunk, &stamp))?;
        self.complete();
        Ok(self.ready(py))
    }

    /// The latencies that are still held.
    fn rest(&mut self, py: Python<'_>) -> Vec<Group> {
        let held = std::mem::take(&mut self.held);
        self.groups.push((self.newest_end_us, held));
        self.ready(py)
    }

    /// Lines that were not used since the last call, and why.
    fn skipped(&mut self) -> Vec<(u64, &'static str)> {
        std::mem::take(&mut self.skipped)
    }

    /// Whether there was no date, and whether a time of day had no zone.
    fn assumed(&self) -> (bool, bool) {
        (self.clock.is_from_1970, self.clock.is_zone_assumed)
    }

    /// End of the interval, event, waits that ended in it and their time, time waited within it (microseconds).
    fn waits(&self) -> Vec<(i64, &str, u64, u64, u64)> {
        let rows = self.sums.waits.iter().map(|((end, event), sum)| {
            (
                *end,
                self.events.names[*event as usize].as_str(),
                sum.waits,
                sum.ended_us,
                sum.waited_us,
            )
        });
        rows.collect()
    }

    /// End of the interval, statement, and figures by name.
    fn executed(&self) -> Vec<(i64, &str, Figures)> {
        let rows =
            self.sums.statements.iter().map(|((end, statement), sum)| {
                (*end, self.statements.names[*statement as usize].as_str(), figures(sum))
            });
        rows.collect()
    }

    /// End of the interval, statement, event, and the time of the waits that ended in it (microseconds).
    fn statement_waits(&self) -> Vec<(i64, &str, &str, u64)> {
        let rows = self
            .sums
            .statement_waits
            .iter()
            .map(|((end, statement, event), waited_us)| {
                let (statement, event) = (*statement as usize, *event as usize);
                (
                    *end,
                    self.statements.names[statement].as_str(),
                    self.events.names[event].as_str(),
                    *waited_us,
                )
            });
        rows.collect()
    }

    /// End of the interval, time and CPU time of the session's own calls (microseconds), commits, rollbacks.
    fn load(&self) -> Vec<(i64, u64, u64, u64, u64)> {
        let rows = self.sums.load.iter();
        rows.map(|(end, load)| (*end, load.elapsed_us, load.cpu_us, load.commits, load.rollbacks))
            .collect()
    }

    /// Texts of the statements, as they were typed.
    fn texts(&self) -> Vec<(&str, Option<&str>)> {
        let names = self.statements.names.iter().map(String::as_str);
        names.zip(self.texts.iter().map(Option::as_deref)).collect()
    }

    /// When, what (`error`, `parse error`, `deadlock`, `module`, `action`), an error's code, and a name: of the
    /// statement, the module or the action.
    fn happened(&self) -> Vec<Happened> {
        self.happened.clone()
    }
}

impl SqlTrace {
    fn read(&mut self, chunk: &[u8], stamp: &Py<PyAny>) -> PyResult<()> {
        let mut begin = 0;
        for end in memchr_iter(b'\n', chunk) {
            let line = &chunk[begin..end];
            begin = end + 1;
            self.line(line.strip_suffix(b"\r").unwrap_or(line), stamp)?;
        }
        if begin < chunk.len() {
            self.lines += 1;
            let is_other = matches!(parse(&chunk[begin..]), Line::Other | Line::EndOfStatement);
            if !is_other {
                self.skipped.push((self.lines, CUT_OFF));
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &[u8], stamp: &Py<PyAny>) -> PyResult<()> {
        self.lines += 1;
        match parse(line) {
            Line::Stars => self.stars(line, stamp)?,
            Line::BadWait => self.skipped.push((self.lines, NO_EVENT)),
            Line::Wait {
                cursor,
                event,
                elapsed,
                tim,
            } => self.wait(cursor, event, elapsed, tim),
            Line::Call(call) => {
                self.open_text = None;
                let statement = self.cursors.get(&call.cursor).copied();
                if let Some(end_us) = self.moment(call.tim) {
                    self.sums.call(end_us, &call, statement);
                }
            }
            Line::Parsing { cursor, id, tim } => self.parsing(cursor, id, tim),
            Line::EndOfStatement => self.end_text(),
            Line::End {
                is_rollback,
                is_read_only,
                tim,
            } => {
                if let Some(end_us) = self.moment(tim).filter(|_| !is_read_only || is_rollback) {
                    self.sums.end(end_us, is_rollback);
                }
            }
            Line::Error {
                cursor,
                code,
                is_parse,
                tim,
            } => {
                let kind = if is_parse { "parse error" } else { "error" };
                let statement = self
                    .cursors
                    .get(&cursor)
                    .map(|number| self.statements.names[*number as usize].clone());
                self.happen(tim, kind, Some(code), statement);
            }
            Line::Deadlock => self.happen(None, "deadlock", None, None),
            Line::Other => self.other(line),
        }
        Ok(())
    }

    fn stars(&mut self, line: &[u8], stamp: &Py<PyAny>) -> PyResult<()> {
        let told: Option<(i64, bool)> = Python::attach(|py| {
            let text = String::from_utf8_lossy(line);
            stamp.call1(py, (self.lines, text))?.extract(py)
        })?;
        if let Some((wall_us, has_zone)) = told {
            self.clock.stamp(wall_us, has_zone);
        }
        self.named
            .extend(line::name(line).map(|(kind, name)| (kind, String::from_utf8_lossy(name).into_owned())));
        Ok(())
    }

    /// When a line was written: by its own time, else by that of the last line that had one.
    fn moment(&mut self, tim: Option<i64>) -> Option<i64> {
        if let Some(tim) = tim {
            let at_us = self.clock.wall_us(tim);
            self.last_us = Some(at_us);
            let named = self.named.drain(..);
            self.happened
                .extend(named.map(|(kind, name)| (at_us, kind, None, Some(name))));
        }
        self.last_us.filter(|at_us| (-LATEST_US..LATEST_US).contains(at_us))
    }

    fn wait(&mut self, cursor: i64, event: &[u8], elapsed: u64, tim: Option<i64>) {
        self.open_text = None;
        let at_us = self.moment(tim);
        let elapsed_us = elapsed.saturating_mul(self.sums.unit_us);
        match at_us {
            None if self.last_us.is_none() => self.skipped.push((self.lines, NO_TIME)),
            Some(end_us) if elapsed_us < LONGEST_US => {
                let event = self.events.number(event);
                self.sums
                    .wait(end_us, elapsed_us, event, self.cursors.get(&cursor).copied());
                self.hold(end_us, elapsed_us, event);
            }
            _ => self.skipped.push((self.lines, NO_MOMENT)),
        }
    }

    fn hold(&mut self, end_us: i64, elapsed_us: u64, event: u32) {
        let is_far = end_us.abs_diff(self.newest_end_us) > (MOST_SILENT_COLUMNS * COLUMN_US).unsigned_abs()
            || end_us.abs_diff(self.held_from_us) > (MOST_COLUMNS * COLUMN_US).unsigned_abs();
        if is_far && !self.held.is_empty() {
            let held = std::mem::take(&mut self.held);
            self.groups.push((self.newest_end_us, held));
        }
        if is_far || end_us > self.newest_end_us {
            self.newest_end_us = (end_us - 1).div_euclid(COLUMN_US) * COLUMN_US + COLUMN_US;
        }
        if self.held.is_empty() {
            self.held_from_us = end_us;
        }
        let held = self.held.entry(event).or_default();
        held.times.push(end_us);
        // Below LONGEST_US, which fits in nanoseconds.
        held.latencies.push(elapsed_us as i64 * 1000);
    }

    /// Puts aside the waits of all columns but the newest, which the next lines may go on with.
    fn complete(&mut self) {
        let newest_begin = self.newest_end_us - COLUMN_US;
        let mut done: FxHashMap<u32, Held> = FxHashMap::default();
        for (event, held) in &mut self.held {
            if held.times.iter().all(|end_us| *end_us > newest_begin) {
                continue;
            }
            let all = std::mem::take(held);
            let put = done.entry(*event).or_default();
            for (end_us, latency) in all.times.into_iter().zip(all.latencies) {
                let to = if end_us > newest_begin { &mut *held } else { &mut *put };
                to.times.push(end_us);
                to.latencies.push(latency);
            }
        }
        self.held.retain(|_, held| !held.times.is_empty());
        if !done.is_empty() {
            self.groups.push((newest_begin, done));
        }
    }

    fn ready(&mut self, py: Python<'_>) -> Vec<Group> {
        let packed = |numbers: Vec<i64>| {
            let bytes: Vec<u8> = numbers.into_iter().flat_map(i64::to_ne_bytes).collect();
            PyBytes::new(py, &bytes).unbind()
        };
        let groups = std::mem::take(&mut self.groups);
        let named = groups.into_iter().map(|(until_us, held)| {
            let waits = held.into_iter().filter(|(_, held)| !held.times.is_empty());
            let latencies = waits.map(|(event, held)| {
                (
                    self.events.names[event as usize].clone(),
                    packed(held.times),
                    packed(held.latencies),
                )
            });
            (until_us, latencies.collect())
        });
        named.collect()
    }

    fn parsing(&mut self, cursor: i64, id: &[u8], tim: Option<i64>) {
        self.moment(tim);
        let statement = self.statements.number(id);
        self.texts.resize(self.statements.names.len(), None);
        self.cursors.insert(cursor, statement);
        self.open_text = self.texts[statement as usize]
            .is_none()
            .then(|| (statement, Vec::new()));
    }

    fn end_text(&mut self) {
        if let Some((statement, text)) = self.open_text.take() {
            self.texts[statement as usize] = Some(String::from_utf8_lossy(&text).into_owned());
        }
    }

    fn happen(&mut self, tim: Option<i64>, kind: &'static str, code: Option<u32>, name: Option<String>) {
        if let Some(at_us) = self.moment(tim) {
            self.happened.push((at_us, kind, code, name));
        }
    }

    fn other(&mut self, line: &[u8]) {
        if let Some((_, text)) = self.open_text.as_mut()
            && text.len() + line.len() < LONGEST_TEXT
        {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
    }
}

fn figures(sum: &Executed) -> Figures {
    FxHashMap::from_iter([
        ("parses", sum.parses),
        ("misses", sum.misses),
        ("executions", sum.executions),
        ("fetches", sum.fetches),
        ("elapsed_us", sum.elapsed_us),
        ("cpu_us", sum.cpu_us),
        ("reads", sum.reads),
        ("gets", sum.gets),
        ("rows", sum.rows),
        ("plan", sum.plan),
    ])
}
