//! Lines that are no call: what strace says itself, stack frames, dumps, summaries, and what is no trace at all.

use memchr::memmem;

use super::outcome;
use crate::digits;
use crate::event::{Event, Kind, Line, Reason, Span};

/// Make something of a line that was refused for `reason` as an event.
#[cold]
pub fn read(line: &[u8], base: usize, reason: Reason) -> Line {
    if line.starts_with(b" > ") || line.starts_with(b" | ") {
        return Line::More(Span::new(base, base + line.len()));
    }
    let text = line.trim_ascii();
    if let Some(event) = message(text) {
        return event;
    }
    if let Some(event) = rest_of_call(line, base) {
        return event;
    }
    if is_no_event(text) {
        return Line::Nothing;
    }
    Line::Skip(match reason {
        Reason::NotTrace if is_binary(line) => Reason::NotText,
        _ => reason,
    })
}

/// `strace: Process 123 attached`, and whatever else it says. Old versions leave out their name.
fn message(text: &[u8]) -> Option<Line> {
    let own = text.strip_prefix(b"strace: ");
    let Some(process) = own.unwrap_or(text).strip_prefix(b"Process ") else {
        return own.map(|_| Line::Nothing);
    };
    let (pid, what) = process.split_at(digits::count(process));
    let result = digits::decimal(pid)?;
    Some(match what {
        [b' ', b'a', b't', b't', b'a', b'c', b'h', b'e', b'd', ..] => Line::Event(Event {
            kind: Kind::Attached,
            result,
            ..Event::default()
        }),
        _ => Line::Nothing,
    })
}

/// Where `strace: Process 123 attached` begins at the end of a line. Before 4.7 it may go on: `(waiting for parent)`.
pub fn message_at_end(line: &[u8]) -> Option<usize> {
    let line = line.strip_suffix(b" (waiting for parent)").unwrap_or(line);
    if !line.ends_with(b" attached") {
        return None;
    }
    let process = memmem::rfind(line, b"Process ")?;
    Some(line[..process].strip_suffix(b"strace: ").map_or(process, <[u8]>::len))
}

/// What follows a call that a message interrupted: `, child_tidptr=0x7f092f143590) = 386 <0.000406>`; where strace before
/// 4.7 wrote the message before all arguments of clone(), these: `child_stack=0, flags=SIGCHLD) = 386`.
fn rest_of_call(line: &[u8], base: usize) -> Option<Line> {
    let mut event = Event::default();
    let follows = line.starts_with(b", ") || line.starts_with(b" => ") || line.starts_with(b")");
    let follows = follows || line.starts_with(b"child_stack=");
    if !follows || outcome::read(line, base, 0, &mut event).is_err() || event.kind == Kind::Unfinished {
        return None;
    }
    event.kind = Kind::Resumed;
    Some(Line::Event(event))
}

/// Blank lines, the end of an interrupted call, the table of -c, remarks of strace in brackets, stops, changes of thread.
fn is_no_event(text: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 4] = [b"% time ", b"------ ", b"System call usage summary", b"[ Process PID="];
    const PARTS: [&[u8]; 2] = [b"--- stopped by ", b"+++ superseded by "];
    text.is_empty()
        || text == b"<unfinished ...>"
        || text == b"<detached ...>"
        || BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
        || PARTS.iter().any(|part| memmem::find(text, part).is_some())
        || is_row_of_summary(text)
}

/// ` 33.33    0.000010           5         2         1 read`
fn is_row_of_summary(text: &[u8]) -> bool {
    let mut words = text.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let (share, seconds, calls) = (words.next(), words.next(), words.next());
    let is_decimal =
        |word: Option<&[u8]>| word.is_some_and(|word| word.contains(&b'.') && digits::seconds_ns(word).is_some());
    let is_count = |word: Option<&[u8]>| word.is_some_and(|word| digits::decimal(word).is_some());
    is_decimal(share) && is_decimal(seconds) && is_count(calls) && words.count() <= 3
}

/// Control characters other than the white ones, or no UTF-8.
fn is_binary(line: &[u8]) -> bool {
    line.iter().any(|&byte| byte < b' ' && !byte.is_ascii_whitespace()) || std::str::from_utf8(line).is_err()
}
