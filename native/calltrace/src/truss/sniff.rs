//! Finds the columns of a trace of truss from its first lines.
//!
//! Of -d, -D and -E any subset stands there, in that order, without a heading. What they are shows in how they behave.

use std::collections::HashMap;

use super::columns::{self, Columns};
use super::{body, expected};
use crate::event::{Event, Kind, Line, NO_TIME};
use crate::layout::{Clock, Layout, Tool};
use crate::names::{self, Class};

/// Stamps have four decimals: a difference of two may be off by one in the last.
const ROUNDING_NS: u64 = 150_000;
/// No call that waits uses as much CPU.
const CPU_OF_A_WAIT_NS: i64 = 10_000_000;

struct Row {
    columns: Columns,
    event: Event,
}

/// How the trace is laid out; null when no line is a call as truss writes it.
pub fn sniff(lines: &[&[u8]]) -> Option<Layout> {
    let mut rows: Vec<Row> = lines.iter().filter_map(|line| row(line)).collect();
    let with = |count: usize| rows.iter().filter(|row| row.columns.count == count).count();
    let count = (0..=3)
        .max_by_key(|&count| with(count))
        .filter(|&count| with(count) > 0)?;
    rows.retain(|row| row.columns.count == count);
    if count == 0 && !is_certain(&rows, lines.len()) {
        return None;
    }
    let mut layout = Layout {
        tool: Tool::Truss,
        has_pid: rows.iter().any(|row| row.columns.pid != 0),
        stamped_at_return: true,
        ..Layout::default()
    };
    let has_base = lines.iter().any(|line| line.starts_with(b"Base time stamp:"));
    fill_columns(&mut layout, &rows, count, has_base);
    debug_assert_eq!(expected(&layout), count);
    Some(layout)
}

/// Without columns a text must hold outcomes, not only `exit(0)`, as many programs do; and not only here and there.
fn is_certain(rows: &[Row], lines: usize) -> bool {
    rows.iter().any(|row| row.event.kind != Kind::NoReturn) && rows.len() * 10 >= lines
}

fn row(line: &[u8]) -> Option<Row> {
    let columns = columns::read(line);
    match body(line, 0, &columns, Event::default()) {
        Some(Line::Event(event)) if event.kind != Kind::Signal && !columns.times.contains(&NO_TIME) => {
            Some(Row { columns, event })
        }
        _ => None,
    }
}

fn fill_columns(layout: &mut Layout, rows: &[Row], count: usize, has_base: bool) {
    let has_stamp = count == 3 || count > 0 && (has_base || never_falls(rows));
    if has_stamp {
        layout.clock = Clock::Start;
    }
    let others = count - usize::from(has_stamp);
    layout.has_delta = others == 2 || others == 1 && if has_stamp { is_difference(rows) } else { !is_cpu(rows) };
    layout.has_cpu = others > usize::from(layout.has_delta);
    // Deltas count from the process's own last event: of a single one they are a clock.
    let first = rows.first().map(|row| row.columns.pid);
    if layout.has_delta && !has_stamp && rows.iter().all(|row| Some(row.columns.pid) == first) {
        layout.clock = Clock::Line;
    }
}

/// The first column never falls within a thread: it counts from the start.
fn never_falls(rows: &[Row]) -> bool {
    let mut last = HashMap::new();
    rows.iter().all(|row| {
        let time_ns = row.columns.times[0];
        let before_ns = last.insert((row.columns.pid, row.columns.thread), time_ns);
        before_ns.is_none_or(|before_ns| before_ns <= time_ns)
    })
}

/// The second column is, on most lines, how much the first grew since the thread's line before.
fn is_difference(rows: &[Row]) -> bool {
    let mut last = HashMap::new();
    let (mut equal, mut known) = (0, 0);
    for row in rows {
        let [stamp_ns, delta_ns, _] = row.columns.times;
        if let Some(before_ns) = last.insert((row.columns.pid, row.columns.thread), stamp_ns) {
            let grown_ns = i64::saturating_sub(stamp_ns, before_ns);
            known += 1;
            equal += u32::from(grown_ns.abs_diff(delta_ns) <= ROUNDING_NS);
        }
    }
    equal * 2 > known
}

/// The only column is CPU time when calls that wait are there and none of them takes long.
fn is_cpu(rows: &[Row]) -> bool {
    let waits = |row: &&Row| matches!(names::class(row.event.call), Class::Poll | Class::Sleep | Class::Wait);
    let mut waited = rows.iter().filter(waits).map(|row| row.columns.times[0]).peekable();
    waited.peek().is_some() && waited.all(|time_ns| time_ns < CPU_OF_A_WAIT_NS)
}
