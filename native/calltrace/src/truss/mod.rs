//! Logs of truss (Solaris, illumos, AIX), with any of its options: a call is one line, its details follow on others.
//!
//! `15697: 1.5489 0.0011 0.0000 read(13, "..".., 8208) = 240`: columns, the call, its outcome.

mod columns;
mod outcome;
mod sniff;
#[cfg(test)]
mod tests;

use memchr::memchr;

use crate::details;
use crate::event::{Event, Kind, Line, NO_TIME, Reason, Span};
use crate::layout::{Clock, Layout};
use crate::names;
use columns::Columns;
pub use sniff::sniff;

/// One line of the chunk, without its newline.
///
/// - `stamp_ns` is when the call returned (-d), `delta_ns` the time since its thread's last event (-D), `cpu_ns` the CPU time of
///   the call (-E). Without -d, and of a single process, the deltas stand in `stamp_ns` too (`Clock::Line`).
/// - A call found asleep is `Unfinished`; truss writes it again, whole, as a `Call`, when it returns.
/// - A second returned value is the `remark`: `[15]`. So is the number of arguments of a successful exec, whose result is 0.
/// - `Child` is the return of a fork in the child; the result is the parent's pid.
/// - Of a `Signal` the remark is what became of it: `[caught]`.
pub fn parse(layout: &Layout, chunk: &[u8], start: usize, end: usize) -> Line {
    let Some(line) = chunk.get(start..end) else {
        return Line::Nothing;
    };
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let columns = columns::read(line);
    if columns.times.contains(&NO_TIME) {
        return Line::Skip(Reason::BadNumber);
    }
    if columns.count == expected(layout)
        && let Some(mut parsed) = body(line, start, &columns, stamped(layout, &columns))
    {
        if let Line::Event(event) = &mut parsed {
            details::fill(event, chunk);
        }
        return parsed;
    }
    aside(layout, line, start, &columns)
}

/// How many times stand on each line.
fn expected(layout: &Layout) -> usize {
    usize::from(layout.clock == Clock::Start) + usize::from(layout.has_delta) + usize::from(layout.has_cpu)
}

fn stamped(layout: &Layout, columns: &Columns) -> Event {
    let mut event = Event {
        pid: columns.pid,
        thread: columns.thread,
        ..Event::default()
    };
    let (has_stamp, mut at) = (layout.clock == Clock::Start, 0);
    let kinds = [
        (has_stamp, &mut event.stamp_ns),
        (layout.has_delta, &mut event.delta_ns),
        (layout.has_cpu, &mut event.cpu_ns),
    ];
    for (is_there, time_ns) in kinds {
        if is_there {
            *time_ns = columns.times[at];
            at += 1;
        }
    }
    if layout.clock == Clock::Line {
        event.stamp_ns = event.delta_ns;
    }
    event
}

/// What stands behind the columns, when it is a call, a signal, or another event that truss writes with them.
fn body(line: &[u8], base: usize, columns: &Columns, event: Event) -> Option<Line> {
    let text = &line[columns.body..];
    match text.first()? {
        b'R' if text.starts_with(SIGNAL) => signal(text, base + columns.body, event),
        b'I' | b'S' | b'C' if is_interruption(text) => Some(Line::Nothing),
        b'-' | b'<' if text.starts_with(b"-> ") || text.starts_with(b"<- ") => Some(Line::Nothing),
        _ => call(line, base, columns, event),
    }
}

/// `read(13, ...`; AIX pads names.
fn call(line: &[u8], base: usize, columns: &Columns, mut event: Event) -> Option<Line> {
    const LONGEST: usize = 40;
    let at = columns.body;
    let text = &line[at..];
    let len = text.iter().take(LONGEST).take_while(|byte| is_name(**byte)).count();
    let opening = match columns.count {
        0 => len,
        _ => columns::blanks(text, len),
    };
    if len == 0 || text[0].is_ascii_digit() || text.get(opening) != Some(&b'(') {
        return None;
    }
    event.call = names::index(&text[..len]);
    event.name = Span::new(base + at, base + at + len);
    match outcome::read(line, base, at + opening + 1, &mut event) {
        Ok(()) => Some(Line::Event(event)),
        Err(reason) if columns.count > 0 || event.call != names::UNKNOWN => Some(Line::Skip(reason)),
        Err(_) => None,
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'#'
}

const SIGNAL: &[u8] = b"Received signal #";

/// `Received signal #18, SIGCLD, in waitid() [caught]`
fn signal(text: &[u8], base: usize, mut event: Event) -> Option<Line> {
    let name = memchr(b' ', &text[SIGNAL.len()..])? + SIGNAL.len() + 1;
    let len = text[name..].iter().take_while(|byte| is_name(**byte)).count();
    let remark = memchr(b'[', text).unwrap_or(text.len());
    event.kind = Kind::Signal;
    event.name = Span::new(base + name, base + name + len);
    event.remark = Span::new(base + remark, base + text.len());
    Some(Line::Event(event))
}

/// Faults (a signal follows), stops and what ends them.
fn is_interruption(text: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 3] = [b"Incurred fault #", b"Stopped by signal #", b"Continued with signal #"];
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}

/// Lines without the columns of an event: details of the one before, what truss says itself, and what is no trace.
#[cold]
fn aside(layout: &Layout, line: &[u8], base: usize, columns: &Columns) -> Line {
    let text = line.trim_ascii();
    let body = line[columns.body..].trim_ascii();
    if body.starts_with(b"*** ") {
        return remark(body, columns);
    }
    if body.is_empty() || is_heading(text) {
        return Line::Nothing;
    }
    let is_indented = matches!(line.first(), Some(b' ' | b'\t'));
    if columns.count == 0 && (columns.is_named || is_indented && !layout.has_pid) {
        return Line::More(Span::new(base + columns.body, base + columns.body + body.len()));
    }
    let is_text =
        std::str::from_utf8(line).is_ok() && !line.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t');
    Line::Skip(if is_text { Reason::NotTrace } else { Reason::NotText })
}

/// `*** process killed ***`, `*** lost control of process ***`
fn remark(text: &[u8], columns: &Columns) -> Line {
    if !text.starts_with(b"*** process killed") {
        return Line::Nothing;
    }
    Line::Event(Event {
        kind: Kind::Killed,
        pid: columns.pid,
        thread: columns.thread,
        ..Event::default()
    })
}

/// What stands at the head of a trace: Solaris' base time, AIX' date, remarks of truss.
fn is_heading(text: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 3] = [b"Base time stamp:", b"(Warning: ", b"truss: "];
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning)) || is_date(text)
}

/// `Fri Nov  7 13:10:39 2014`
fn is_date(text: &[u8]) -> bool {
    const DAYS: [&[u8]; 7] = [b"Mon ", b"Tue ", b"Wed ", b"Thu ", b"Fri ", b"Sat ", b"Sun "];
    let is_clock = |time: &[u8]| time.len() == 8 && time[2] == b':' && time[5] == b':';
    DAYS.iter().any(|day| text.starts_with(day)) && text.split(|byte| *byte == b' ').any(is_clock)
}
