//! Logs of strace (Linux), with any of its options: one line is one event.
//!
//! `[pid 123] 1795213146.359323 read(3, "abc", 8192) = 3 <0.000009>`: columns, the call, its outcome.

mod aside;
mod columns;
mod outcome;
#[cfg(test)]
mod tests;

use memchr::memchr;

use crate::details;
use crate::digits;
use crate::event::{Event, Kind, Line, Reason, Span};
use crate::layout::{Clock, Layout, Tool};
use crate::names::{self, UNKNOWN};

/// How the log is laid out, from its first lines: so that most of them are events. Null when fewer than a quarter are; lines
/// that belong to an event (stacks, dumps) do not count.
pub fn sniff(lines: &[&[u8]]) -> Option<Layout> {
    const CLOCKS: [Clock; 4] = [Clock::None, Clock::Epoch, Clock::Day, Clock::Line];
    let mut best = (0, 0, Layout::default());
    for (clock, has_pid) in CLOCKS.iter().flat_map(|&clock| [(clock, false), (clock, true)]) {
        let layout = Layout {
            tool: Tool::Strace,
            clock,
            has_pid,
            ..Layout::default()
        };
        let (events, skipped) = understood(&layout, lines);
        if events > best.0 {
            best = (events, skipped, layout);
        }
    }
    let (events, skipped, mut layout) = best;
    layout.has_pid |= lines.iter().any(|line| line.starts_with(b"[pid "));
    (events > 0 && events * 3 >= skipped).then_some(layout)
}

/// How many lines are events, and how many are no trace.
fn understood(layout: &Layout, lines: &[&[u8]]) -> (usize, usize) {
    lines.iter().fold((0, 0), |(events, skipped), line| {
        match parse(layout, line, 0, line.len()) {
            Line::Event(_) => (events + 1, skipped),
            Line::Skip(_) => (events, skipped + 1),
            Line::More(_) | Line::Nothing => (events, skipped),
        }
    })
}

/// One line of the chunk, without its newline.
///
/// - Of a signal, `arguments` is what strace says of it: `si_signo=SIGCHLD, ..., si_pid=8195, ...`.
/// - A `remark` that begins with `<` is the path or peer of the returned descriptor (-y).
/// - A call that a message of strace's interrupted is `Unfinished`; the rest of it, on a line without process, time and name,
///   is `Resumed` with an empty name: it belongs to the event just before.
/// - A `Resumed` without result and error is a call that the process did not return from.
pub fn parse(layout: &Layout, chunk: &[u8], start: usize, end: usize) -> Line {
    let line = chunk.get(start..end).unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut event = Event::default();
    match read(layout, line, start, &mut event) {
        Ok(()) => {
            details::fill(&mut event, chunk);
            Line::Event(event)
        }
        Err(reason) => aside::read(line, start, reason),
    }
}

fn read(layout: &Layout, line: &[u8], base: usize, event: &mut Event) -> Result<(), Reason> {
    let body = columns::read(layout, line, event)?;
    match line.get(body) {
        Some(b'<') => resumed(line, base, body, event),
        Some(b'-') => signal(line, base, body, event),
        Some(b'+') => end_of_process(line, base, body, event),
        Some(_) => call(line, base, body, event),
        None => Err(Reason::NotTrace),
    }
}

/// `read(3, ...`
fn call(line: &[u8], base: usize, body: usize, event: &mut Event) -> Result<(), Reason> {
    let len = digits::find_near(b'(', &line[body..]).ok_or(Reason::NotTrace)?;
    name(line, base, body, len, event)?;
    let from = body + len + 1;
    let read = outcome::read(line, base, from, event);
    match read {
        Err(Reason::CutOff) => interrupted(line, base, from, event),
        _ => read,
    }
}

/// Take `len` bytes for the name of a call, when they have the form of one.
fn name(line: &[u8], base: usize, start: usize, len: usize, event: &mut Event) -> Result<(), Reason> {
    let name = &line[start..start + len];
    event.call = names::index(name);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'?');
    if event.call == UNKNOWN && (name.is_empty() || name[0].is_ascii_digit() || !name.iter().all(is_name)) {
        return Err(Reason::NotTrace);
    }
    event.name = Span::new(base + start, base + start + len);
    Ok(())
}

/// `clone(child_stack=NULL, flags=SIGCHLDstrace: Process 340 attached`: its rest stands on the next line.
fn interrupted(line: &[u8], base: usize, from: usize, event: &mut Event) -> Result<(), Reason> {
    let message = aside::message_at_end(&line[from..]).ok_or(Reason::CutOff)?;
    event.kind = Kind::Unfinished;
    event.arguments = Span::new(base + from, base + from + message);
    Ok(())
}

/// `<... read resumed>"abc", 8192) = 3`
fn resumed(line: &[u8], base: usize, body: usize, event: &mut Event) -> Result<(), Reason> {
    const OPENING: &[u8] = b"<... ";
    const RESUMED: &[u8] = b" resumed>";
    let text = line[body..].strip_prefix(OPENING).ok_or(Reason::NotTrace)?;
    let len = digits::find_near(b' ', text).ok_or(Reason::CutOff)?;
    if !text[len..].starts_with(RESUMED) {
        return Err(Reason::CutOff);
    }
    let start = body + OPENING.len();
    name(line, base, start, len, event)?;
    let from = start + len + RESUMED.len();
    let from = from + usize::from(line.get(from) == Some(&b' '));
    outcome::read(line, base, from, event)?;
    if event.kind != Kind::Unfinished {
        event.kind = Kind::Resumed;
    }
    Ok(())
}

/// `--- SIGCHLD {si_signo=SIGCHLD, ...} ---`; a stop (`--- stopped by SIGSTOP ---`) is no signal of its own.
fn signal(line: &[u8], base: usize, body: usize, event: &mut Event) -> Result<(), Reason> {
    let text = between(line, body, b"--- ", b" ---")?;
    if text.starts_with(b"stopped by ") {
        return Err(Reason::NotTrace);
    }
    let len = memchr(b' ', text).unwrap_or(text.len());
    let start = base + body + 4;
    event.kind = Kind::Signal;
    event.name = Span::new(start, start + len);
    let about = text[len..].trim_ascii_start();
    let about_start = start + text.len() - about.len();
    let braces = usize::from(about.starts_with(b"{") && about.ends_with(b"}") && about.len() > 1);
    event.arguments = Span::new(about_start + braces, about_start + about.len() - braces);
    Ok(())
}

/// `+++ exited with 0 +++`, `+++ killed by SIGKILL (core dumped) +++`
fn end_of_process(line: &[u8], base: usize, body: usize, event: &mut Event) -> Result<(), Reason> {
    let text = between(line, body, b"+++ ", b" +++")?;
    if let Some(status) = text.strip_prefix(b"exited with ") {
        event.kind = Kind::Exited;
        event.result = digits::decimal(status).ok_or(Reason::BadNumber)?;
        return Ok(());
    }
    let signal = text.strip_prefix(b"killed by ").ok_or(Reason::NotTrace)?;
    let len = memchr(b' ', signal).unwrap_or(signal.len());
    let start = base + body + 4 + text.len() - signal.len();
    event.kind = Kind::Killed;
    event.name = Span::new(start, start + len);
    Ok(())
}

fn between<'a>(line: &'a [u8], body: usize, opening: &[u8], closing: &[u8]) -> Result<&'a [u8], Reason> {
    let text = line[body..].strip_prefix(opening).ok_or(Reason::NotTrace)?;
    text.strip_suffix(closing).ok_or(Reason::CutOff)
}
