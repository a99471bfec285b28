//! Text of `perf trace`: a call is one line, or two when others happened while it ran.
//!
//! `     0.716 ( 0.018 ms): bash/19484 read(fd: 4</etc/hosts>, buf: 0x7ffd1d5f2268, count: 832)     = 832`

mod arguments;
#[cfg(test)]
mod tests;

use memchr::{memchr_iter, memrchr};

use crate::details;
use crate::digits;
use crate::event::{Event, Kind, Line, NO_NUMBER, Reason, Span};
use crate::layout::{Clock, Layout, Tool};
use crate::names::{self, Class};

const CONTINUED: &[u8] = b" ... [continued]: ";
/// perf cuts the name of a thread here; the kernel keeps no more.
const LONGEST_THREAD_NAME: usize = 16;

/// How the log is laid out; null when no line is a call as perf trace writes it.
pub fn sniff(lines: &[&[u8]]) -> Option<Layout> {
    let layout = Layout {
        tool: Tool::PerfTrace,
        clock: Clock::Start,
        ..Layout::default()
    };
    let pids = lines
        .iter()
        .filter_map(|line| match parse(&layout, line, 0, line.len()) {
            Line::Event(event) => Some(event.pid),
            _ => None,
        });
    let most = pids.max()?;
    Some(Layout {
        has_pid: most != 0,
        ..layout
    })
}

/// One line of the chunk, without its newline.
///
/// - `stamp_ns` is when the call began, also on the line of its return; none when perf did not see it begin (`?`).
/// - `pid` is the thread's id: perf names threads as processes.
/// - `Resumed` has no arguments; the time in brackets is that of the whole call.
/// - `Child` is the return of a fork in the child; which process is its parent perf does not say, the result is none.
pub fn parse(_layout: &Layout, chunk: &[u8], start: usize, end: usize) -> Line {
    let Some(line) = chunk.get(start..end) else {
        return Line::Nothing;
    };
    let line = line.trim_ascii_end();
    let mut event = Event::default();
    let parsed = head(line, &mut event).and_then(|body| call(line, start, body, &mut event));
    match parsed {
        Ok(true) => {
            arguments::fill(&mut event, chunk);
            Line::Event(event)
        }
        Ok(false) => Line::Nothing,
        Err(_) if line.is_empty() => Line::Nothing,
        Err(reason) => Line::Skip(reason),
    }
}

/// `     0.716 ( 0.018 ms): `, `         ? (         ): `; returns where it ends.
fn head(line: &[u8], event: &mut Event) -> Result<usize, Reason> {
    let text = line.trim_ascii_start();
    let stamp = number_length(text);
    let bracket = stamp.max(usize::from(text.first() == Some(&b'?')));
    let inside = text[bracket..].strip_prefix(b" (").ok_or(Reason::NotTrace)?;
    let elapsed = inside.trim_ascii_start();
    let len = number_length(elapsed);
    let unit: &[u8] = if len > 0 { b" ms): " } else { b"): " };
    let body = elapsed[len..].strip_prefix(unit).ok_or(Reason::NotTrace)?;
    if bracket == 0 {
        return Err(Reason::NotTrace);
    }
    if stamp > 0 {
        event.stamp_ns = milliseconds_ns(&text[..stamp])?;
    }
    if len > 0 {
        event.elapsed_ns = milliseconds_ns(&elapsed[..len])?;
    }
    Ok(line.len() - body.len())
}

fn number_length(text: &[u8]) -> usize {
    let is_part = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
    text.iter().take_while(is_part).count()
}

/// `0.716` milliseconds: what `seconds_ns` takes for a second is one. Where perf took a later time from an earlier one, the
/// number is out of range.
fn milliseconds_ns(text: &[u8]) -> Result<i64, Reason> {
    digits::seconds_ns(text).map(|ns| ns / 1000).ok_or(Reason::BadNumber)
}

/// `bash/19484 read(...) = 832`; false for what is no call: a page fault, a tracepoint.
fn call(line: &[u8], base: usize, body: usize, event: &mut Event) -> Result<bool, Reason> {
    let Some((at, is_continued)) = name(line, body, event) else {
        return Ok(false);
    };
    let len = name_length(&line[at..]);
    event.call = names::index(&line[at..at + len]);
    event.name = Span::new(base + at, base + at + len);
    let from = at + len + 1;
    outcome(line, base, from, is_continued, event)?;
    Ok(true)
}

/// Where the call's name begins behind `bash/19484 `, `19484 ` or nothing, and whether it is a return.
fn name(line: &[u8], body: usize, event: &mut Event) -> Option<(usize, bool)> {
    let text = &line[body..];
    let ends = memchr_iter(b'/', &text[..text.len().min(LONGEST_THREAD_NAME)]).map(|slash| slash + 1);
    for start in ends.chain([0]) {
        let len = digits::count(&text[start..]);
        let pid = digits::decimal(&text[start..start + len]).and_then(|pid| u32::try_from(pid).ok());
        if let (Some(pid), Some(b' ')) = (pid, text.get(start + len))
            && let Some(found) = name_at(line, body + start + len + 1)
        {
            event.pid = pid;
            return Some(found);
        }
    }
    name_at(line, body)
}

/// A call's name with its bracket here, or behind the mark of a return.
fn name_at(line: &[u8], at: usize) -> Option<(usize, bool)> {
    let text = line.get(at..)?;
    let is_continued = text.starts_with(CONTINUED);
    let at = if is_continued { at + CONTINUED.len() } else { at };
    let len = name_length(&line[at..]);
    (len > 0 && !line[at].is_ascii_digit() && line.get(at + len) == Some(&b'(')).then_some((at, is_continued))
}

fn name_length(text: &[u8]) -> usize {
    const LONGEST: usize = 40;
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    text.iter().take(LONGEST).take_while(is_part).count()
}

/// What stands behind the arguments: `...` while the call runs, otherwise `= 832`.
fn outcome(line: &[u8], base: usize, from: usize, is_continued: bool, event: &mut Event) -> Result<(), Reason> {
    if let Some(arguments) = line.strip_suffix(b" ...").map(<[u8]>::trim_ascii_end)
        && arguments.len() > from
        && arguments.ends_with(b")")
    {
        let returns = event.call != names::index(b"rt_sigreturn");
        event.kind = if returns { Kind::Unfinished } else { Kind::NoReturn };
        event.arguments = Span::new(base + from, base + arguments.len() - 1);
        return Ok(());
    }
    let mut upto = line.len();
    while let Some(equals) = memrchr(b'=', line.get(from..upto).unwrap_or_default()).map(|at| from + at) {
        let before = line[..equals].trim_ascii_end();
        if before.ends_with(b")") && before.len() > from && value(&line[equals + 1..], base + equals + 1, event) {
            event.arguments = Span::new(base + from, base + before.len() - 1);
            if is_continued {
                returned(base + from, event);
            }
            return Ok(());
        }
        upto = equals;
    }
    Err(Reason::CutOff)
}

/// ` 832`, ` 19485 (cat)`, ` -1 ENOENT (No such file or directory)`, ` 11</dev/null>`,
/// ` RDWR|APPEND`, ` ?`, or nothing (a fork in the child).
fn value(text: &[u8], base: usize, event: &mut Event) -> bool {
    let word = |text: &[u8]| text.iter().take_while(|byte| !matches!(byte, b' ' | b'<')).count();
    let trimmed = text.trim_ascii();
    let number = &trimmed[..word(trimmed)];
    let rest = trimmed[number.len()..].trim_ascii_start();
    let error = if rest.first() == Some(&b'E') { word(rest) } else { 0 };
    let remark = rest[error..].trim_ascii_start();
    if !matches!(remark, [] | [b'(', .., b')'] | [b'<', .., b'>']) {
        return false;
    }
    let end = base + text.len();
    event.result = details::number(number).filter(|_| error == 0).unwrap_or(NO_NUMBER);
    event.error = Span::new(end - rest.len(), end - rest.len() + error);
    event.remark = Span::new(end - remark.len(), end);
    if number == b"?" {
        event.kind = Kind::NoReturn;
    }
    matches!(number, [] | b"?" | [b'A'..=b'Z', ..]) || details::number(number).is_some()
}

/// `clone()) = 19981`: the brackets hold nothing, and are closed twice.
fn returned(arguments: usize, event: &mut Event) {
    let is_in_child = names::class(event.call) == Class::Fork && event.result <= 0 && event.error.is_empty();
    event.arguments = Span::new(arguments, arguments);
    event.kind = if is_in_child { Kind::Child } else { Kind::Resumed };
    if is_in_child {
        event.result = NO_NUMBER;
    }
}
